//! Accuracy of the quick probe: random fakes of every kind and genuine cards in virtual time, compared with their
//! definitions. `UPDATE_DOCS=1 CARDSCOPE_LONG=1 cargo test --profile long -p cardscope-capacity --test capacity
//! random_fakes -- --nocapture` writes the table in `docs/accuracy.md`.

use crate::common::{ProbedCard, options, probe_erasing};
use cardscope_model::verify::{SURE_CONFIDENCE, Verdict};
use cardscope_testkit::fakes::{self, HidingCache, LostWords, PeriodRule, cache_policy, sector_offset};
use cardscope_testkit::measured_tables::update_table;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::fmt::Write;
use std::time::Duration;

/// Cards in the quick run and in the long one.
const FEW: usize = 200;
const MANY: usize = 2400;

/// Least share of right verdicts.
const WANTED: f64 = 0.98;

const MIB: u64 = 1 << 20;

const LOST: LostWords = &["zeros", "ones", "noise", "garbage", "stale", "last", "error"];

/// Bytes of a card: 1 to 512 GiB in whole sectors, log-uniform.
fn card() -> impl Strategy<Value = u64> {
    (30.0..39.0f64).prop_map(|power| power.exp2() as u64 / 512 * 512)
}

/// Cache of 4 KiB to 200 MB, log-uniform, or none.
fn cache() -> impl Strategy<Value = HidingCache> {
    let bytes = (12.0..27.57f64).prop_map(|power| power.exp2() as u64 / 4096 * 4096);
    prop_oneof![1 => Just(HidingCache::None), 3 => (bytes, cache_policy()).prop_map(|(bytes, policy)| HidingCache::Bytes(bytes, policy))]
}

/// Period of any number of sectors, or a power of two.
fn period() -> impl Strategy<Value = PeriodRule> {
    prop_oneof![Just(sector_offset as PeriodRule), Just(power_of_two as PeriodRule)]
}

fn power_of_two(bytes: u64, share: f64) -> u64 {
    1 << sector_offset(bytes, share).ilog2()
}

fn any_card() -> impl Strategy<Value = fakes::FakeCardSpec> {
    let state = proptest::sample::select(&["", "&state=filled", "&state=used"][..]);
    let fake = prop_oneof![
        6 => fakes::limbo(card(), 0.0..0.99, 0.01, LOST, cache()),
        3 => fakes::wraparound(card(), 0.01..0.99, period()),
        6 => fakes::chain(card(), 0.01..0.99, period(), 0.01..0.99, LOST, cache()),
        2 => fakes::address_line(card(), MIB),
        3 => fakes::damaged(card(), 0.01..0.5, 0..7, LOST, cache()),
        1 => fakes::overcommitted(card(), 0.01..0.99),
        1 => fakes::read_only(card()),
        3 => fakes::genuine(card()),
    ];
    (fake, state).prop_map(|((bytes, fake), state)| {
        (bytes, if fake.contains("state=") { fake } else { format!("{fake}{state}") })
    })
}

/// `--max-write` and `--budget`.
type CardLimits = (Option<u64>, Option<Duration>);

/// One limit or both: 1 MiB to 4 GiB, 1 to 200 s.
fn limits() -> impl Strategy<Value = CardLimits> {
    let bytes = (20.0..32.0f64).prop_map(|power| Some(power.exp2() as u64));
    let time = (0.0..7.6f64).prop_map(|power| Some(Duration::from_secs_f64(power.exp2())));
    prop_oneof![(bytes.clone(), Just(None)), (Just(None), time.clone()), (bytes, time),]
}

/// Deterministic sample of a strategy.
fn sample_strategy<T>(count: usize, of: impl Strategy<Value = T>) -> Vec<T> {
    let mut runner = TestRunner::deterministic();
    (0..count).map(|_| of.new_tree(&mut runner).unwrap().current()).collect()
}

fn count() -> usize {
    if cardscope_testkit::is_long() { MANY } else { FEW }
}

/// Name of a limit that no probe of this size can overcome, if this result is one.
fn known_limit(probed: &ProbedCard) -> Option<&'static str> {
    let (reported, name) = (&probed.outcome, &probed.name);
    let period = number(name, "wrap_bytes").filter(|_| probed.verdict == "chain").unwrap_or(probed.announced);
    // Addresses without storage, over all periods.
    let lost = probed.announced
        - probed.announced / period * probed.usable
        - (probed.announced % period).min(probed.usable);
    let strict = name.contains("cache_strict=true");
    let cache = number(name, "cache_bytes").unwrap_or(0);
    match probed.verdict.as_str() {
        "overcommitted" if probed.usable > probed.tally.written => {
            Some("a pool larger than all that was written keeps the whole test")
        }
        "damaged" if reported.verdict == Verdict::Genuine => {
            let share = reported.share.map_or(1.0, |s| s.excluded_above);
            let bad = 1.0 - probed.good as f64 / probed.announced as f64;
            let held = (probed.tally.written as f64 * bad) as u64 <= 2 * cache && strict;
            (bad <= share)
                .then_some("a bad share below the bound that is printed")
                .or(held.then_some("a cache that holds nothing but what the holes lose keeps all of it"))
        }
        "dead" if reported.verdict == Verdict::Wraparound && name.contains("lost=stale") => {
            Some("a memory that gives any address the content of its place is addresses that repeat")
        }
        "dead" | "read-only" if [Verdict::Dead, Verdict::ReadOnly].contains(&reported.verdict) => {
            Some("a card that keeps nothing and shows what stood there is worn out to read-only")
        }
        "wraparound" if reported.verdict == Verdict::Dead && probed.usable <= 512 * MIB => {
            Some("addresses that repeat like a memory's are a memory's")
        }
        "wraparound" if reported.verdict == Verdict::ReaderSuspect => {
            Some("addresses that repeat where those of a reader end may be the reader's")
        }
        "limbo" | "chain" if cache >= lost => Some("a cache that holds all that is lost keeps it"),
        _ => None,
    }
}

/// Numeric property in a card's name.
fn number(name: &str, key: &str) -> Option<u64> {
    let values = name.split(['?', '&']).filter_map(|part| part.split_once('='));
    values.filter(|(word, _)| *word == key).find_map(|(_, value)| value.parse().ok())
}

/// Results of one kind of card.
#[derive(Default)]
struct KindResults {
    cards: u32,
    limits: u32,
    right: u32,
    exact: u32,
    over: u32,
    genuine: u32,
    wrong: Vec<String>,
    written: Vec<u64>,
}

impl KindResults {
    fn add(&mut self, probed: &ProbedCard) {
        let reported = &probed.outcome;
        self.cards += 1;
        self.written.push(probed.tally.written);
        if known_limit(probed).is_some() {
            self.limits += 1;
            return;
        }
        let fake = probed.verdict != "genuine";
        let over = fake && reported.usable_bytes.is_some_and(|bytes| bytes > probed.usable + MIB);
        let exact = reported.usable_bytes.is_some_and(|bytes| bytes.abs_diff(probed.usable) <= MIB);
        let right = reported.verdict.word() == probed.verdict;
        self.right += u32::from(right);
        self.exact += u32::from(exact);
        self.over += u32::from(over);
        self.genuine += u32::from(fake && reported.verdict == Verdict::Genuine);
        if over || !right || !exact && !["damaged", "overcommitted"].contains(&probed.verdict.as_str()) {
            let mark = if over {
                "OVER "
            } else if right {
                ""
            } else {
                "KIND "
            };
            self.wrong.push(format!("{mark}{}", probed.summary()));
        }
    }
}

const KINDS: [&str; 9] = [
    "genuine",
    "limbo",
    "wraparound",
    "address line",
    "chain",
    "damaged",
    "overcommitted",
    "read-only",
    "dead",
];

fn kind(probed: &ProbedCard) -> &str {
    if probed.name.contains("fake=address-line") { "address line" } else { &probed.verdict }
}

/// Probes cards with their limits, in parallel.
fn probe_all(cards: &[(fakes::FakeCardSpec, CardLimits)]) -> Vec<(CardLimits, ProbedCard)> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let one = |(i, ((bytes, fake), limits)): (usize, &(fakes::FakeCardSpec, CardLimits))| {
        let mut options = options(false, 1 + i as u64);
        (options.limits.max_write, options.limits.budget) = *limits;
        (*limits, probe_erasing(&format!("sim:constant?announced_bytes={bytes}&{fake}"), &options))
    };
    let part = |n: usize| cards.iter().enumerate().skip(n).step_by(threads).map(one).collect::<Vec<_>>();
    std::thread::scope(|scope| {
        let parts: Vec<_> = (0..threads).map(|n| scope.spawn(move || part(n))).collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    })
}

fn table(rows: &[(&str, KindResults)]) -> String {
    let mut out = String::from(
        "| card | cards | beyond any probe | kind right | usable within 1 MiB | usable too large | called genuine | written, median | most |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for (name, row) in rows.iter().filter(|(_, row)| row.cards > 0) {
        let of = f64::from((row.cards - row.limits).max(1));
        let percent = |n: u32| format!("{:.1} %", f64::from(n) / of * 100.0);
        let mut written = row.written.clone();
        written.sort_unstable();
        let _ = writeln!(
            out,
            "| {name} | {} | {} | {} | {} | {} | {} | {} MB | {} MB |",
            row.cards,
            row.limits,
            percent(row.right),
            percent(row.exact),
            row.over,
            row.genuine,
            written[written.len() / 2] / 1_000_000,
            written[written.len() - 1] / 1_000_000,
        );
    }
    out
}

#[test]
fn random_fakes_get_no_overconfident_answer() {
    let cards = sample_strategy(count(), any_card().prop_map(|card| (card, (None, None))));
    let mut rows = KINDS.map(|name| (name, KindResults::default()));
    for (_, probed) in probe_all(&cards) {
        let kind = kind(&probed).to_owned();
        rows.iter_mut().find(|(name, _)| *name == kind).unwrap().1.add(&probed);
    }
    let table = table(&rows);
    rows.iter().flat_map(|(_, row)| &row.wrong).for_each(|wrong| println!("{wrong}"));
    update_table("accuracy", "fakes", &table);
    let sum = |of: fn(&KindResults) -> u32| rows.iter().map(|(_, row)| of(row)).sum::<u32>();
    assert_eq!(sum(|row| row.over), 0, "a usable size beyond the truth");
    assert_eq!(sum(|row| row.genuine), 0, "a fake called genuine");
    let (_, genuine) = &rows[0];
    assert_eq!(genuine.right, genuine.cards, "a genuine card accused");
    let share = f64::from(sum(|row| row.right)) / f64::from(sum(|row| row.cards - row.limits));
    assert!(share >= WANTED, "{:.1} % of kinds right", share * 100.0);
}

/// Limits may leave questions open, but must not raise the confidence of an answer.
#[test]
fn limited_probes_give_no_overconfident_answer() {
    let cards = sample_strategy(count(), (any_card(), limits()));
    let (mut cut, mut whole, mut right, mut wrong) = (0, 0, 0, Vec::new());
    for (limits, probed) in &probe_all(&cards) {
        let reported = &probed.outcome;
        cut += u32::from(probed.cut_short);
        if !probed.cut_short && known_limit(probed).is_none() {
            whole += 1;
            right += u32::from(reported.verdict.word() == probed.verdict);
        }
        let fake = probed.verdict != "genuine";
        // Genuine so far, with a lower confidence for the caches that were not tested.
        let so_far =
            reported.verdict == Verdict::Genuine && probed.cut_short && reported.confidence < SURE_CONFIDENCE;
        let over = fake && !so_far && reported.usable_bytes.is_some_and(|bytes| bytes > probed.usable + MIB);
        let accused = !fake && reported.verdict.is_bad();
        let sure = probed.cut_short && reported.confidence >= SURE_CONFIDENCE;
        let kind = sure && reported.verdict.word() != probed.verdict;
        let genuine = sure && fake && reported.verdict == Verdict::Genuine;
        if known_limit(probed).is_none() && (over || accused || kind || genuine) {
            wrong.push(format!("{limits:?} {}", probed.summary()));
        }
    }
    println!("{cut} of {} were ended by a limit", cards.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(cut as usize * 4 >= cards.len(), "{cut} only, or this tests nothing");
    let share = f64::from(right) / f64::from(whole);
    assert!(
        share >= WANTED,
        "{:.1} % of the kinds right where no limit is said to have ended it",
        share * 100.0
    );
}
