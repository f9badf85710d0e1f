//! The writing parts of a map on simulated cards in virtual time: what they find held against what is true.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use cardscope_engine::content::Content;
use cardscope_engine::interrupt::Interrupt;
use cardscope_engine::target::{Region, Target, TargetError};
use cardscope_model::card_map::Measured;
use cardscope_model::card_map::property::{Property, Status};
use cardscope_probe::card::{Answer, Card, Tally, pieces};
use cardscope_probe::keeper::{KeepError, Keeper, Kept};
use cardscope_probe::map::{Options, Part, map};
use cardscope_probe::restore::put_back;
use cardscope_probe::saving::Saving;
use cardscope_probe::site::Limits;
use cardscope_probe::trouble::Stop;
use cardscope_probe::watch::Nobody;
use cardscope_simulator::SimTarget;

/// What a map said, and what it cost.
struct Mapped {
    found: Measured,
    tally: Tally,
    seconds: f64,
    target: SimTarget,
    /// The card died under the test.
    gone: bool,
}

fn options(target: &SimTarget, seed: u64, only: &[Part]) -> Options {
    let region = Region { start: 0, len: target.info().bytes };
    Options {
        limits: Limits { seed, region, max_write: None, budget: None },
        card_addresses: true,
        writes: true,
        fat: false,
        max_cache_bytes: 1 << 30,
        claimed_unit: None,
        tables: false,
        only: only.to_vec(),
    }
}

fn target(name: &str) -> SimTarget {
    SimTarget::named(name).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Maps a card whose content may go, with the erase block told beforehand where reads would have shown it.
fn mapped(name: &str, seed: u64, unit: Option<u64>, only: &[Part], change: impl Fn(&mut Options)) -> Mapped {
    let mut target = target(name);
    let mut options = options(&target, seed, only);
    change(&mut options);
    let mut found = Measured::default();
    if let Some(unit) = unit {
        found.erase_block_bytes = Property::measured(unit, 0.99, Default::default());
    }
    let mut card = Card::new(&mut target, &Interrupt::default(), 4096, 1).unwrap();
    let began = card.seconds();
    let ended = map(&mut card, Saving::new(None), &options, &mut Nobody, &mut found);
    // Some fakes die under the test: that is no error of the map.
    assert!(matches!(ended, Ok(()) | Err(Stop::Target(TargetError::Gone { .. }))), "{name}: {ended:?}");
    let gone = ended.is_err();
    let (tally, seconds) = (card.tally(), card.seconds() - began);
    Mapped { found, tally, seconds, target, gone }
}

/// The unit that reads would show, where they show one.
fn shown_unit(target: &SimTarget) -> Option<u64> {
    let read = target.spec().archetype.read?;
    (read.au_step_s > 0.05 * read.base_s).then(|| target.truth().erase_block_bytes).flatten()
}

#[test]
fn open_blocks_of_the_built_in_cards() {
    for (name, linear, random) in [
        ("lexar-16g-c10", Some(5), Some(5)),
        ("wb6-hard3", Some(3), Some(3)),
        ("wb3-full6", Some(6), Some(6)),
        ("sandisk-su04g", Some(4), Some(4)),
        ("sdsc-2g", Some(1), Some(1)),
        ("usb-stick-tlc", Some(1), Some(0)),
        ("sdnand-0.5g", None, None),
        ("ultra-64g-tlc24", None, None),
        ("evoplus-32g-u1-fakeq", None, None),
        ("samsung-32g-c10", None, None),
        ("toshiba-16g-c10", None, None),
        ("adata-256g-express", None, None),
    ] {
        let name = format!("sim:{name}");
        let unit = shown_unit(&target(&name));
        let map = mapped(&name, 1, unit, &[Part::OpenBlocks], |_| {});
        let open = &map.found.open_blocks;
        println!(
            "{name}: {:?} {:?}, merge {:?} copy {:?}, {:.1} MB, {:.1} s",
            open.linear.value,
            open.random.value,
            map.found.merge.value,
            map.found.copy_mb_s.value,
            map.tally.written as f64 / 1e6,
            map.seconds
        );
        assert_eq!((open.linear.value, open.random.value), (linear, random), "{name}: {open:#?}");
    }
}

/// Seeds of random cards: fixed ones, and some that no run has seen before.
fn seeds(fixed: u64, fresh: u64) -> impl Iterator<Item = u64> {
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    println!("fresh seeds from {clock} on");
    (0..fixed).chain((0..fresh).map(move |i| clock * 1000 + i))
}

#[test]
fn open_blocks_of_random_cards_are_exact_or_none() {
    let (mut with, mut right, mut wrong_none) = (0, 0, Vec::new());
    for seed in seeds(120, 30) {
        let name = format!("sim:random-{seed}");
        let card = target(&name);
        let truth = card.truth().open_blocks;
        let map = mapped(&name, seed, shown_unit(&card), &[Part::OpenBlocks], |_| {});
        if map.gone {
            continue;
        }
        let open = &map.found.open_blocks;
        let said = (open.linear.value, open.random.value);
        let Some(truth) = truth else {
            if said != (None, None) {
                wrong_none.push(format!("{name}: {said:?} of {:?}", card.spec().archetype.write));
            }
            continue;
        };
        with += 1;
        if said == (Some(truth.linear), Some(truth.random)) {
            right += 1;
        } else {
            println!(
                "{name}: {said:?}, true {truth:?}, {:?} {:?}",
                card.spec().archetype.write,
                card.spec().archetype.flash
            );
        }
    }
    println!("{right} of {with}; numbers where there is none: {wrong_none:#?}");
    assert!(wrong_none.is_empty(), "{wrong_none:#?}");
    assert!(f64::from(right) >= 0.95 * f64::from(with), "{right} of {with}");
}

#[test]
fn pages_and_small_write_logs_of_built_in_cards() {
    for (name, page, log) in [
        ("lexar-16g-c10", Some(16384), None),
        ("wb3-full6", Some(16384), None),
        ("wb6-hard3", Some(16384), Some(4096)),
        ("sandisk-su04g", Some(8192), Some(8192)),
        ("ultra-64g-tlc24", None, None),
        ("evoplus-32g-u1-fakeq", None, None),
    ] {
        let name = format!("sim:{name}");
        let unit = shown_unit(&target(&name));
        let map = mapped(&name, 2, unit, &[Part::OpenBlocks, Part::PageWrites], |_| {});
        let said = (map.found.page_bytes.value, map.found.small_write_log_bytes.value);
        assert_eq!(said, (page, log), "{name}: {:#?}", map.found.small_write_log_bytes);
    }
}

#[test]
fn erase_blocks_and_pages_of_random_cards_that_only_closings_show() {
    let (mut with, mut right, mut pages, mut right_pages, mut wrong) = (0, 0, 0, 0, Vec::new());
    for seed in seeds(60, 10) {
        let name = format!("sim:random-{seed}");
        let truth = *target(&name).truth();
        // The card's registers claim a unit: it says how far apart places must lie, and is no answer.
        let map = mapped(&name, seed, None, &[Part::OpenBlocks, Part::PageWrites], |o| {
            o.claimed_unit = truth.erase_block_bytes.map(u64::next_power_of_two);
        });
        let said = map.found.erase_block_bytes.value;
        let page = map.found.page_bytes.value;
        if map.gone {
            continue;
        }
        if truth.open_blocks.is_none() {
            if said.is_some() || page.is_some() {
                wrong.push(format!("{name}: unit {said:?}, page {page:?}"));
            }
            continue;
        }
        with += 1;
        right += u32::from(said == truth.erase_block_bytes);
        pages += 1;
        right_pages += u32::from(page == truth.page_bytes);
        if said != truth.erase_block_bytes || page != truth.page_bytes {
            println!(
                "{name}: unit {said:?} of {:?}, page {page:?} of {:?}, open {:?} of {:?}, {:?}",
                truth.erase_block_bytes,
                truth.page_bytes,
                map.found.open_blocks.linear.value,
                truth.open_blocks,
                target(&name).spec().archetype.write
            );
        }
    }
    println!("unit {right} of {with}, page {right_pages} of {pages}, {wrong:#?}");
    assert!(wrong.is_empty(), "{wrong:#?}");
    // Without any help of reads: nine in ten, of some twenty cards.
    assert!(f64::from(right) >= 0.9 * f64::from(with), "{right} of {with}");
    assert!(f64::from(right_pages) >= 0.9 * f64::from(pages), "{right_pages} of {pages}");
}

#[test]
fn a_fake_queue_is_told_from_one_that_helps() {
    for (name, low, high, fake) in [
        ("evoplus-32g-u1-fakeq", 0.0, 0.1, true),
        ("pro-64g-u3", 2.0, 5.0, false),
        ("lexar-16g-c10", 0.85, 1.2, false),
    ] {
        let name = format!("sim:{name}");
        let unit = shown_unit(&target(&name));
        let map = mapped(&name, 3, unit, &[Part::Queue], |_| {});
        let gain = map.found.write_queue_gain.value.unwrap();
        let said = map.found.findings.iter().any(|f| f.claim == "fake-queue");
        println!("{name}: {gain:.2} in {:.1} s", map.seconds);
        assert!((low..high).contains(&gain) && said == fake, "{name}: {:#?}", map.found.write_queue_gain);
    }
}

#[test]
fn a_reader_that_cuts_at_120_kib_is_named_and_no_other() {
    for (name, cuts) in
        [("usb-stick-tlc", true), ("wb6-hard3", true), ("lexar-16g-c10", false), ("evo-64g-u3", false)]
    {
        let name = format!("sim:{name}");
        let map = mapped(&name, 4, shown_unit(&target(&name)), &[Part::WriteCurve], |_| {});
        let said = map.found.findings.iter().find(|f| f.claim == "reader-splits");
        assert_eq!(said.is_some(), cuts, "{name}: {said:#?}");
        let curves = &map.found.curves;
        assert_eq!((curves.sequential_write.len(), curves.random_write.len()), (14, 14), "{name}");
        for point in curves.sequential_write.iter().chain(&curves.random_write) {
            assert!((point.mb_s * 1e6 / (point.iops * point.bytes as f64) - 1.0).abs() < 1e-9);
        }
    }
}

#[test]
fn the_span_of_random_writes_is_that_of_the_card() {
    for (name, low, high) in [("lexar-16g-c10", 4 << 20, 20 << 20), ("pro-64g-u3", 16 << 20, 256 << 20)] {
        let name = format!("sim:{name}");
        let map = mapped(&name, 5, shown_unit(&target(&name)), &[Part::Span], |_| {});
        let span = map.found.random_write_span_bytes.value.unwrap_or(0);
        assert!((low..=high).contains(&span), "{name}: {:#?}", map.found.random_write_span_bytes);
    }
    let map = mapped("sim:ultra-64g-tlc24", 5, None, &[Part::Span], |_| {});
    assert_eq!(map.found.random_write_span_bytes.status, Status::AtLeast);
}

#[test]
fn the_region_at_the_start_is_found_where_it_is_and_only_when_asked_for() {
    for (name, bytes) in [("wb6-hard3", Some(8 << 20)), ("lexar-16g-c10", None), ("wb3-full6", None)] {
        let name = format!("sim:{name}");
        let unit = shown_unit(&target(&name));
        let map = mapped(&name, 6, unit, &[Part::Fat], |o| o.fat = true);
        let found = &map.found.fat_region_bytes;
        assert_eq!(found.value, bytes, "{name}: {found:#?}");
        let map = mapped(&name, 6, unit, &[Part::Fat], |_| {});
        let said = map.found.fat_region_bytes.reason.unwrap();
        assert!(said.contains("--fat") && map.tally.written == 0, "{said}");
    }
}

#[test]
fn caches_of_built_in_cards_end_where_they_do() {
    for (name, bytes, after) in
        [("pro-64g-u3", 600e6, 45.6), ("usb-stick-tlc", 2e9, 12.2), ("adata-256g-express", 250e9, 300.0)]
    {
        let name = format!("sim:{name}");
        let map =
            mapped(&name, 7, shown_unit(&target(&name)), &[Part::Cache], |o| o.max_cache_bytes = u64::MAX);
        let cache = &map.found.slc_cache_bytes;
        let said = cache.value.unwrap_or_else(|| panic!("{name}: {cache:#?}")) as f64;
        let level = map.found.after_cache_mb_s.value.unwrap();
        println!("{name}: {said:.3e} then {level:.1} MB/s, {:.0} s", map.seconds);
        assert!((said / bytes - 1.0).abs() < 0.1, "{name}: {said}");
        assert!((level / after - 1.0).abs() < 0.1, "{name}: {level}");
    }
    let map = mapped("sim:pro-64g-u3", 7, None, &[Part::Cache], |o| o.max_cache_bytes = 256 << 20);
    assert_eq!(map.found.slc_cache_bytes.status, Status::AtLeast);
    assert!(map.tally.written <= 256 << 20);
}

#[test]
fn caches_of_random_cards_are_right_within_a_tenth_and_none_where_there_is_none() {
    let (mut with, mut right, mut wrong) = (0, 0, Vec::new());
    let long = std::env::var("CARDSCOPE_LONG").is_ok_and(|v| !v.is_empty());
    let (most, fresh) = if long { (120, 30) } else { (60, 6) };
    for seed in seeds(most, fresh) {
        let name = format!("sim:random-{seed}");
        let card = target(&name);
        // A card of hundreds of GB without a cache is written through for nothing but to see that nothing happens.
        if !long && card.truth().slc_cache_bytes.is_none() && card.info().bytes > 40_000_000_000 {
            continue;
        }
        let truth = card.truth().slc_cache_bytes;
        let map = mapped(&name, seed, shown_unit(&card), &[Part::Cache], |o| o.max_cache_bytes = u64::MAX);
        let said = map.found.slc_cache_bytes.value;
        if map.gone {
            continue;
        }
        match truth {
            Some(truth) => {
                with += 1;
                let good = said.is_some_and(|s| (s as f64 / truth as f64 - 1.0).abs() < 0.1);
                right += u32::from(good);
                if !good {
                    println!(
                        "{name}: {said:?} of {truth}, {:?}, {:#?}",
                        card.spec().archetype.cache,
                        map.found.findings
                    );
                }
            }
            None if map.found.slc_cache_bytes.status != Status::None => {
                wrong.push(format!(
                    "{name}: {said:?} {:?} {:?}",
                    map.found.slc_cache_bytes.evidence.numbers,
                    card.spec().archetype.title
                ));
            }
            None => {}
        }
    }
    println!("{right} of {with}; wrong where there is none: {wrong:#?}");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(f64::from(right) >= 0.95 * f64::from(with), "{right} of {with}");
}

#[test]
fn a_whole_map_of_a_class_10_card_stays_within_its_costs() {
    let map = mapped("sim:lexar-16g-c10", 8, Some(4 << 20), &[], |o| {
        o.max_cache_bytes = 0;
        o.fat = true;
    });
    println!("{:.1} MB, {:.1} s", map.tally.written as f64 / 1e6, map.seconds);
    assert!(map.seconds < 240.0, "{} s", map.seconds);
    assert!(map.tally.written < 65_000_000, "{} bytes", map.tally.written);
    drop(map.target);
}

#[test]
fn what_a_budget_leaves_no_room_for_says_so() {
    let map = mapped("sim:lexar-16g-c10", 9, Some(4 << 20), &[], |o| {
        o.limits.max_write = Some(3_000_000);
    });
    assert!(map.tally.written <= 3_000_000);
    let said = map.found.write_queue_gain.reason.unwrap();
    assert!(said.contains("limits"), "{said}");
    let map = mapped("sim:lexar-16g-c10", 9, Some(4 << 20), &[], |o| {
        o.limits.budget = Some(std::time::Duration::from_secs(20));
    });
    assert!(map.seconds < 60.0, "{} s", map.seconds);
    assert_eq!(map.found.slc_cache_bytes.status, Status::NotTested);
}

/// A sum over each MiB of a card.
fn read_all_of(target: &mut SimTarget) -> Vec<u64> {
    let all = target.info().bytes;
    let mut sums = vec![0u64; all.div_ceil(1 << 20) as usize];
    let mut card = Card::new(target, &Interrupt::default(), 1 << 20, 1).unwrap();
    card.read(pieces(0, all, 1 << 20), Content::Buffer, |piece, _, answer| {
        if let Answer::Differs { bytes, .. } = answer {
            let words = bytes.as_chunks::<8>().0.iter();
            sums[(piece.offset >> 20) as usize] =
                words.fold(0u64, |s, w| s.rotate_left(5) ^ u64::from_le_bytes(*w));
        }
        Ok(())
    })
    .unwrap();
    sums
}

/// Keeps originals in memory.
#[derive(Debug, Default)]
struct Memory {
    batches: Vec<Vec<(Kept, Vec<u8>)>>,
    open: Vec<(Kept, Vec<u8>)>,
}

impl Keeper for Memory {
    fn keep(&mut self, offset: u64, original: &[u8]) -> Result<(), KeepError> {
        self.open.push((Kept { offset, len: original.len() as u64 }, original.to_vec()));
        Ok(())
    }
    fn commit(&mut self) -> Result<(), KeepError> {
        self.batches.push(std::mem::take(&mut self.open));
        Ok(())
    }
    fn kept(&self) -> Vec<Kept> {
        let batch = |batch: &Vec<(Kept, Vec<u8>)>| {
            let mut ranges: Vec<Kept> = batch.iter().map(|(kept, _)| *kept).collect();
            ranges.sort_by_key(|kept| kept.offset);
            ranges
        };
        self.batches.iter().rev().flat_map(batch).collect()
    }
    fn original(&mut self, kept: Kept, into: &mut Vec<u8>) -> Result<(), KeepError> {
        let found = self.batches.iter().flatten().find(|(k, _)| *k == kept);
        into.clone_from(&found.ok_or_else(|| KeepError("not kept".to_owned()))?.1);
        Ok(())
    }
}

#[test]
fn a_map_with_a_journal_leaves_everything_as_it_was_and_writes_nowhere_else() {
    let name = "sim:lexar-16g-c10?announced_bytes=768MiB&state=filled";
    let mut target = target(name);
    let before = read_all_of(&mut target);
    let mut options = options(&target, 10, &[]);
    let region = Region { start: 100 << 20, len: 500 << 20 };
    options.limits.region = region;
    options.max_cache_bytes = 96 << 20;
    options.tables = true;
    let mut memory = Memory::default();
    let mut card = Card::new(&mut target, &Interrupt::default(), 4096, 1).unwrap();
    let mut found = Measured::default();
    map(&mut card, Saving::new(Some(&mut memory)), &options, &mut Nobody, &mut found).unwrap();
    assert!(card.tally().written > 10_000_000);
    drop(card);
    let mapped = read_all_of(&mut target);
    let touched: Vec<usize> = (0..before.len()).filter(|i| mapped[*i] != before[*i]).collect();
    assert!(!touched.is_empty() && touched.iter().all(|mib| (100..600).contains(mib)), "{touched:?}");
    let mut card = Card::new(&mut target, &Interrupt::default(), 1 << 20, 4).unwrap();
    put_back(&mut card, &mut memory, &mut Nobody).unwrap();
    drop(card);
    assert!(read_all_of(&mut target) == before, "the card is not as it was");
}

#[test]
fn in_a_file_nothing_is_said_of_boundaries() {
    let map = mapped("sim:lexar-16g-c10", 11, None, &[Part::OpenBlocks, Part::Fat], |o| {
        o.card_addresses = false;
        o.fat = true;
        o.limits.region = Region { start: 1 << 30, len: 1 << 30 };
    });
    for reason in [map.found.erase_block_bytes.reason, map.found.fat_region_bytes.reason] {
        assert!(reason.is_some_and(|r| r.contains("file")));
    }
    assert_eq!(map.found.open_blocks.linear.value, Some(5));
}
