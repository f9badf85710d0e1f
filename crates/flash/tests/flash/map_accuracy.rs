//! Accuracy of `map` on random simulated cards within the ranges of measured ones, each mapped with permission to
//! erase and compared with its true geometry. Fixed and fresh seeds. `UPDATE_DOCS=1 CARDSCOPE_LONG=1 cargo test
//! --profile long -p cardscope-flash --test flash map_accuracy -- --nocapture` writes the table in
//! `docs/accuracy.md`.
use cardscope_engine::event::Silent;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::io_driver::IoDriver;
use cardscope_engine::target::{Target, TargetRegion};
use cardscope_flash::probe::{MapOptions, measure_map};
use cardscope_model::card_map::MeasuredMap;
use cardscope_model::card_map::property::{Property, PropertyStatus};
use cardscope_probing::context::ProbeLimits;
use cardscope_probing::write_scope::WriteScope;
use cardscope_simulator::archetype::{Archetype, FakeKind, StartContent, WriteTimes as Engine};
use cardscope_simulator::{SimTarget, random};
use cardscope_testkit::measured_tables::update_table;
use std::fmt::Write;

/// Fixed cards in the quick run and in the long one, and fresh ones in the long one.
const FEW: u64 = 20;
const MANY: u64 = 260;
const FRESH: u64 = 40;

/// Results of one card.
struct MappedCard {
    seed: u64,
    card: Archetype,
    found: MeasuredMap,
    written: u64,
    reading_s: f64,
    seconds: f64,
}

fn map_card(seed: u64) -> MappedCard {
    let card = random::random_card(seed);
    let name = format!("sim:{}{seed}", random::RANDOM_PREFIX);
    let mut target = SimTarget::open_named(&name).unwrap();
    let region = TargetRegion { start: 0, len: target.info().bytes };
    let interrupt = InterruptFlag::default();
    let mut drive = IoDriver::new(&mut target, &interrupt, 1 << 20, 1).unwrap();
    let options = MapOptions {
        limits: ProbeLimits { seed, region, max_write: None, budget: None },
        card_addresses: true,
        writes: false,
        fat: true,
        max_cache_bytes: u64::MAX,
        claimed_unit: None,
        open_block_unit: None,
        flashbench_tables: false,
        only: Vec::new(),
    };
    let mut found = MeasuredMap::default();
    measure_map(&mut drive, WriteScope::new(None), &options, &mut Silent, &mut found).unwrap();
    let reading_s = drive.seconds();
    let options = MapOptions { writes: true, ..options };
    let mut found = MeasuredMap::default();
    measure_map(&mut drive, WriteScope::new(None), &options, &mut Silent, &mut found).unwrap();
    let (seconds, written) = (drive.seconds() - reading_s, drive.tally().written);
    MappedCard { seed, card, found, written, reading_s, seconds }
}

/// Right and wrong results of a property.
#[derive(Default)]
struct AccuracyScore {
    right: u32,
    of: u32,
    wrong: Vec<String>,
}

impl AccuracyScore {
    fn add(&mut self, right: bool, what: impl FnOnce() -> String) {
        self.of += 1;
        self.right += u32::from(right);
        if !right {
            self.wrong.push(what());
        }
    }

    fn share(&self) -> f64 {
        if self.of == 0 { 1.0 } else { f64::from(self.right) / f64::from(self.of) }
    }
}

/// True if written data changes the time of reads.
fn is_mapped(card: &Archetype) -> bool {
    card.state.start != StartContent::Factory || card.read.is_none_or(|r| r.unmapped_s.is_none())
}

fn is_hybrid(card: &Archetype) -> bool {
    matches!(card.write, Some(Engine::Hybrid(_)))
}

/// True if reads across a page take longer, or the write engine charges partial pages.
fn page_shows(card: &Archetype) -> bool {
    is_hybrid(card) || is_mapped(card) && card.read.is_some_and(|r| r.page_step_s > 0.0)
}

/// True if reads across an erase block take longer, or closing one costs a merge.
fn block_shows(card: &Archetype) -> bool {
    card.truth.open_blocks.is_some() || is_mapped(card) && card.read.is_some_and(|r| r.au_step_s > 0.0)
}

fn describe_property<T: std::fmt::Debug>(found: &Property<T>) -> String {
    match found.status {
        PropertyStatus::Measured => format!("{:?} ({:.2})", found.value, found.confidence),
        other => format!("{other:?}"),
    }
}

/// Lower limits of the confidence groups.
const SURE: [f64; 5] = [0.0, 0.5, 0.8, 0.9, 0.97];

/// Right claims and all claims of each confidence group, by property.
#[derive(Default)]
struct ClaimCounts(Vec<(&'static str, [(u32, u32); SURE.len()])>);

impl ClaimCounts {
    fn add<T: Copy>(
        &mut self,
        name: &'static str,
        found: &Property<T>,
        right: impl Fn(PropertyStatus, Option<T>) -> bool,
    ) {
        if found.status == PropertyStatus::NotTested {
            return;
        }
        let said = found.value.or(found.bound);
        let bin = SURE.iter().rposition(|least| found.confidence > *least).unwrap_or(0);
        if !self.0.iter().any(|(known, _)| *known == name) {
            self.0.push((name, Default::default()));
        }
        let (_, bins) = self.0.iter_mut().find(|(known, _)| *known == name).unwrap();
        bins[bin].0 += u32::from(right(found.status, said));
        bins[bin].1 += 1;
    }

    /// Compares every property with the card's definition, even if it cannot show.
    fn add_card(&mut self, MappedCard { card, found, .. }: &MappedCard) {
        let truth = &card.truth;
        let exact = |truth: Option<u64>| {
            move |status: PropertyStatus, said: Option<u64>| match status {
                PropertyStatus::Measured => said == truth,
                PropertyStatus::AtLeast => truth.is_none_or(|is| said.is_some_and(|bound| is >= bound)),
                _ => truth.is_none(),
            }
        };
        let open = |truth: Option<u32>| {
            move |status: PropertyStatus, said: Option<u32>| match status {
                PropertyStatus::Measured => said == truth,
                _ => truth.is_none(),
            }
        };
        self.add("page", &found.page_bytes, exact(truth.page_bytes));
        self.add("read unit", &found.read_unit_bytes, exact(truth.read_unit_bytes));
        self.add("erase block", &found.erase_block_bytes, exact(truth.erase_block_bytes));
        self.add("mapping segment", &found.map_segment_bytes, exact(truth.map_segment_bytes));
        self.add(
            "open blocks in order",
            &found.open_blocks.linear,
            open(truth.open_blocks.map(|o| o.linear)),
        );
        self.add(
            "open blocks at random",
            &found.open_blocks.random,
            open(truth.open_blocks.map(|o| o.random)),
        );
        self.add("FAT region", &found.fat_region_bytes, exact(truth.fat_region_bytes));
        self.add("cache within 10 %", &found.slc_cache_bytes, |status, said| {
            match (status, truth.slc_cache_bytes) {
                (PropertyStatus::Measured, is) => {
                    is.zip(said).is_some_and(|(is, said)| is_near(said as f64, is as f64, 0.1))
                }
                (PropertyStatus::AtLeast, is) => is.is_none_or(|is| said.is_some_and(|bound| is >= bound)),
                (_, is) => is.is_none(),
            }
        });
        self.add("queue within a third", &found.queue_depth_effective, |status, said| match status {
            PropertyStatus::Measured => {
                said.is_some_and(|depth| is_near(depth, f64::from(truth.queue_depth), 0.35))
            }
            _ => truth.queue_depth == 1,
        });
    }

    fn table(&self) -> String {
        let head: Vec<String> =
            SURE[1..].iter().map(|least| format!("above {:.0} %", least * 100.0)).collect();
        let mut out = format!("| claim | even or less | {} |\n", head.join(" | "));
        let _ = writeln!(out, "| --- |{}", " ---: |".repeat(SURE.len()));
        for (name, bins) in &self.0 {
            let cells =
                bins.map(|(right, of)| if of > 0 { format!("{right} of {of}") } else { String::new() });
            let _ = writeln!(out, "| {name} | {} |", cells.join(" | "));
        }
        out
    }

    /// Claims that are right less often than their confidence states, with an allowance for chance.
    fn overconfident_claims(&self) -> Vec<String> {
        let each = self
            .0
            .iter()
            .flat_map(|(name, bins)| bins.iter().zip(SURE).map(move |(bin, least)| (name, bin, least)));
        let wrong = each.filter(|(_, (right, of), least)| {
            let allowed = (1.0 - least) * f64::from(*of);
            *least > 0.0 && f64::from(of - right) > allowed + 2.0 * allowed.sqrt() + 1.0
        });
        wrong.map(|(name, (right, of), least)| format!("{name} above {least}: {right} of {of}")).collect()
    }
}

fn is_near(said: f64, is: f64, share: f64) -> bool {
    (said / is - 1.0).abs() <= share
}

/// Rows of the table, in order.
#[derive(Default)]
struct AccuracyRows(Vec<(&'static str, f64, AccuracyScore)>);

impl AccuracyRows {
    fn row(&mut self, name: &'static str, wanted: f64) -> &mut AccuracyScore {
        let at = match self.0.iter().position(|(n, ..)| *n == name) {
            Some(at) => at,
            None => {
                self.0.push((name, wanted, AccuracyScore::default()));
                self.0.len() - 1
            }
        };
        &mut self.0[at].2
    }

    fn add_unit(
        &mut self,
        shown: (&'static str, &'static str),
        shows: bool,
        truth: Option<u64>,
        found: &Property<u64>,
        seed: u64,
    ) {
        let (name, wanted) = if shows { (shown.0, 0.97) } else { (shown.1, 0.95) };
        let right = if shows {
            found.value == truth
        } else {
            found.status == PropertyStatus::None || found.value == truth
        };
        self.row(name, wanted).add(right, || format!("{seed}: {truth:?} is {}", describe_property(found)));
    }

    fn add_card(&mut self, mapped: &MappedCard) {
        let MappedCard { seed, card, found, .. } = mapped;
        let (truth, seed) = (&card.truth, *seed);
        self.add_unit(
            ("page, where it shows", "no page, where none shows"),
            page_shows(card),
            truth.page_bytes,
            &found.page_bytes,
            seed,
        );
        let block = &found.erase_block_bytes;
        self.add_unit(
            ("erase block, where it shows", "no erase block, where none shows"),
            block_shows(card),
            truth.erase_block_bytes,
            block,
            seed,
        );
        self.add_open_blocks(mapped);
        self.add_cache(mapped);
        self.add_fat_region(mapped);
        self.add_queue(mapped);
    }

    fn add_queue(&mut self, mapped: &MappedCard) {
        let (is, found) = (mapped.card.truth.queue_depth, &mapped.found.queue_depth_effective);
        let right = match found.value {
            Some(depth) => is_near(depth, f64::from(is), 0.35),
            None => found.status == PropertyStatus::None && is == 1,
        };
        let what = || format!("{}: {is} is {}", mapped.seed, describe_property(found));
        self.row("queue depth within a third", 0.95).add(right, what);
    }

    fn add_open_blocks(&mut self, mapped: &MappedCard) {
        let (truth, open) = (&mapped.card.truth, &mapped.found.open_blocks);
        let what = || {
            format!(
                "{}: {:?} is {} / {}",
                mapped.seed,
                truth.open_blocks,
                describe_property(&open.linear),
                describe_property(&open.random)
            )
        };
        match truth.open_blocks {
            Some(is) => {
                let right = open.linear.value == Some(is.linear) && open.random.value == Some(is.random);
                self.row("open blocks, where there is a limit", 0.95).add(right, what);
            }
            None => {
                let right = open.linear.value.is_none() && open.random.value.is_none();
                self.row("no number of open blocks, where there is no limit", 0.95).add(right, what);
            }
        }
    }

    fn add_cache(&mut self, mapped: &MappedCard) {
        let found = &mapped.found.slc_cache_bytes;
        let what = || {
            format!(
                "{}: {:?} is {}",
                mapped.seed,
                mapped.card.truth.slc_cache_bytes,
                describe_property(found)
            )
        };
        match mapped.card.truth.slc_cache_bytes {
            Some(is) => {
                let near = |v: u64| (v as f64 / is as f64 - 1.0).abs() <= 0.1;
                self.row("cache within 10 %", 0.95).add(found.value.is_some_and(near), what);
            }
            None => self.row("no cache, where there is none", 0.99).add(found.value.is_none(), what),
        }
    }

    fn add_fat_region(&mut self, mapped: &MappedCard) {
        let (is, found) = (mapped.card.truth.fat_region_bytes, &mapped.found.fat_region_bytes);
        let what = || format!("{}: {is:?} is {}", mapped.seed, describe_property(found));
        match is {
            Some(_) => self.row("FAT region", 0.95).add(found.value == is, what),
            None => self.row("no FAT region, where there is none", 0.95).add(found.value.is_none(), what),
        }
    }
}

fn seeds() -> Vec<u64> {
    let (fixed, fresh) = if cardscope_testkit::is_long() { (MANY, FRESH) } else { (FEW, 4) };
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    println!("fresh cards: seeds {} to {}", now, now + fresh - 1);
    // Fakes are excluded, as users run `verify` before `map`: beyond the real end no answer is meaningful.
    let genuine = |seed: &u64| random::random_card(*seed).fake.kind == FakeKind::None;
    (0..).filter(genuine).take(fixed as usize).chain((now..).filter(genuine).take(fresh as usize)).collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn table(scores: &AccuracyRows, all: &[MappedCard]) -> String {
    let mut out = String::from("| property | right | of | wanted |\n| --- | ---: | ---: | ---: |\n");
    for (name, wanted, score) in &scores.0 {
        let percent = |share: f64| format!("{:.1} %", share * 100.0);
        let _ =
            writeln!(out, "| {name} | {} | {} | {} |", percent(score.share()), score.of, percent(*wanted));
    }
    let of = |f: &dyn Fn(&MappedCard) -> f64| median(all.iter().map(f).collect());
    let _ = writeln!(
        out,
        "\n{} cards. Median: reading part {:.0} s of the card's time, all parts {:.0} s, {:.0} MB written.",
        all.len(),
        of(&|m| m.reading_s),
        of(&|m| m.seconds),
        of(&|m| m.written as f64 / 1e6)
    );
    out
}

#[test]
fn maps_of_random_cards_reach_the_required_accuracy() {
    let all: Vec<MappedCard> = seeds().into_iter().map(map_card).collect();
    let mut scores = AccuracyRows::default();
    all.iter().for_each(|mapped| scores.add_card(mapped));
    let table = table(&scores, &all);
    update_table("accuracy", "map", &table);
    let mut claims = ClaimCounts::default();
    all.iter().for_each(|mapped| claims.add_card(mapped));
    update_table("accuracy", "map: claims", &claims.table());
    assert_eq!(claims.overconfident_claims(), Vec::<String>::new());
    for (name, _, score) in &scores.0 {
        score.wrong.iter().for_each(|wrong| println!("{name}: {wrong}"));
    }
    // One of few cards may be wrong by chance, whatever share is required.
    for (name, wanted, score) in &scores.0 {
        let allowed = ((1.0 - wanted) * f64::from(score.of)).ceil() + 1.0;
        assert!(f64::from(score.of - score.right) <= allowed, "{name}: {:?}", score.wrong);
    }
}
