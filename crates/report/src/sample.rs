//! Documents for tests: cards that never were, with figures of the size that cards have, the same each time.

use cardscope_model::card::{CardFacts, Event, EventKind, Price};
use cardscope_model::card_map::property::{Evidence, Property};
use cardscope_model::card_map::{Advice, CardMap, MapReport, Measured, SizePoint};
use cardscope_model::comparison::{
    ComparedTest, Comparison, Differs, Entry, Pair, PrintedSpread, Spread, TwoLevels, Verdict,
};
use cardscope_model::condition::{Condition, Origin};
use cardscope_model::finding::{Finding, Weight};
use cardscope_model::histogram::Histogram;
use cardscope_model::job::{Fit, JobScore};
use cardscope_model::publication::{CardPart, Latencies, Publication, TestSeries};
use cardscope_model::ranking::{Group, Groups, RankedBy, RankedCard, Ranking};
use cardscope_model::report::{Header, Moved, Report};
use cardscope_model::result::ToolPrints;
use cardscope_model::series::Bucket;
use cardscope_model::setting::Setting;
use cardscope_model::sustain::{self, LongRun, Reading, SustainReport};
use cardscope_model::test_name::TestName;
use cardscope_model::verify::{self, MapCell, MapSpeed, Method, SpeedMap, Verification, VerifyReport};

/// Tests in the order of recipes, each with the speed of a middling card in MB/s.
const TESTS: [(&str, f64); 12] = [
    ("SEQ1M Q8T1 read", 92.0),
    ("SEQ1M Q8T1 write", 61.0),
    ("SEQ1M Q1T1 read", 88.0),
    ("SEQ1M Q1T1 write", 55.0),
    ("SEQ128K Q32T1 read", 90.0),
    ("SEQ128K Q32T1 write", 48.0),
    ("RND512K Q1T1 read", 81.0),
    ("RND512K Q1T1 write", 31.0),
    ("RND4K Q32T1 read", 11.2),
    ("RND4K Q32T1 write", 4.1),
    ("RND4K Q1T1 read", 8.4),
    ("RND4K Q1T1 write", 2.6),
];

const NAMES: [&str; 5] =
    ["Alder Swift 64GB", "Birch Endure 128GB", "Cedar 32GB", "Dogwood Pro Plus 256GB", "Elm A2 64GB"];

/// A number from 0 to 1 that looks like chance and is none.
fn chance(seed: u64) -> f64 {
    let mixed = (seed ^ (seed >> 31))
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_left(29)
        .wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 11) as f64 / (1u64 << 53) as f64
}

pub(crate) fn name(number: usize) -> String {
    let name = NAMES[number % NAMES.len()];
    if number < NAMES.len() { name.to_owned() } else { format!("{name}, no. {}", number / NAMES.len() + 1) }
}

pub(crate) fn facts(number: usize) -> CardFacts {
    CardFacts {
        brand: Some(name(number)),
        capacity_bytes: Some(63_864_569_856),
        capacity_label: Some("64GB".into()),
        form: Some("microSDXC".into()),
        marks: vec!["U3".into(), "V30".into(), "A2".into()],
        made: Some("2024-03".into()),
        ..CardFacts::default()
    }
}

pub(crate) fn entry(number: usize, runs: u32) -> Entry {
    let mut condition = Condition::default();
    condition.set("cooling", if number.is_multiple_of(3) { "passive" } else { "active" }, Origin::Stated);
    condition.set("reader", "reader slot", Origin::Read);
    Entry {
        name: name(number),
        card_id: format!("card-{number}"),
        card: facts(number),
        settings: vec![Setting { recipe: "cdm8-default".into(), size_bytes: Some(1 << 30), condition }],
        specimens: 1,
        sessions: 2,
        runs,
        measured: Some(["2026-05-01".into(), "2026-05-17".into()]),
        sources: vec![format!("logs/card-{number}.txt")],
    }
}

fn spread(test: usize, card: usize, runs: u32) -> Spread {
    let level = TESTS[test].1 * (0.6 + 0.9 * chance((card as u64 + 1) * 7919));
    let falls = TESTS[test].0.ends_with("write") && card.is_multiple_of(4);
    let run = |run: u32| {
        let noise = 0.96 + 0.08 * chance((test as u64 * 131 + card as u64) * 1009 + u64::from(run));
        let factor = if falls && run % 3 == 2 { 0.45 } else { 1.0 };
        (level * noise * factor * 1000.0).round() / 1000.0
    };
    of_runs((0..runs).map(run).collect(), falls.then_some(level))
}

/// A spread as it follows from its runs.
pub(crate) fn of_runs(runs: Vec<f64>, falls_from: Option<f64>) -> Spread {
    let n = runs.len().max(1) as f64;
    let mean = runs.iter().sum::<f64>() / n;
    let deviation = (runs.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0)).sqrt();
    let half = 2.26 * deviation / n.sqrt();
    let mut sorted = runs.clone();
    sorted.sort_by(f64::total_cmp);
    let own = |value: f64| ToolPrints { value: (value * 100.0).round() / 100.0, unit: "MB/s".into() };
    let median = sorted.get(sorted.len() / 2).copied().unwrap_or_default();
    let (worst, best) =
        (sorted.first().copied().unwrap_or_default(), sorted.last().copied().unwrap_or_default());
    Spread {
        n: runs.len() as u32,
        mean,
        iops: None,
        median,
        best,
        worst,
        ci95: (runs.len() > 1).then_some([mean - half, mean + half]),
        levels: falls_from.map(|high| TwoLevels { low: high * 0.45, high, share_low: 0.3 }),
        as_printed: Some(PrintedSpread {
            mean: own(mean),
            median: own(median),
            best: own(best),
            worst: own(worst),
        }),
        runs,
    }
}

fn pair(first: usize, second: usize, spreads: &[Option<Spread>]) -> Option<Pair> {
    let (a, b) = (spreads[first].as_ref()?, spreads[second].as_ref()?);
    let factor = b.mean / a.mean;
    let verdict = match factor {
        f if f > 1.1 => Verdict::SecondFaster,
        f if f < 0.9 => Verdict::FirstFaster,
        f if (f - 1.0).abs() < 0.02 => Verdict::Alike,
        _ => Verdict::CannotTell,
    };
    Some(Pair {
        first,
        second,
        factor,
        factor_ci95: Some([factor * 0.96, factor * 1.04]),
        percent: (factor - 1.0) * 100.0,
        p: Some((0.2 - (factor - 1.0).abs()).clamp(0.0002, 1.0)),
        verdict,
        more_runs: (verdict == Verdict::CannotTell).then_some(8),
        not_the_card_alone: if first == 0 && second == 1 { vec!["cooling".into()] } else { vec![] },
    })
}

/// So many cards with so many runs of each of so many tests; the last of several tests was not measured of
/// the last card.
pub(crate) fn comparison(cards: usize, runs: u32, tests: usize) -> Comparison {
    let compared = |test: usize| {
        let mut spreads: Vec<Option<Spread>> =
            (0..cards).map(|card| Some(spread(test, card, runs))).collect();
        if test + 1 == tests && tests > 1 && cards > 1 {
            spreads[cards - 1] = None;
        }
        let pairs = (0..cards).flat_map(|a| (a + 1..cards).map(move |b| (a, b)));
        let pairs = pairs.filter_map(|(a, b)| pair(a, b, &spreads)).collect();
        let test = TESTS[test].0.parse::<TestName>().unwrap();
        let block_bytes = test.pattern.block;
        for spread in spreads.iter_mut().flatten() {
            spread.iops = cardscope_model::comparison::iops(spread.mean, block_bytes);
        }
        ComparedTest { test, step: None, block_bytes, spreads, pairs }
    };
    let cooling = |card: usize| Some(if card.is_multiple_of(3) { "passive" } else { "active" }.to_owned());
    Comparison {
        entries: (0..cards).map(|card| entry(card, runs)).collect(),
        by: None,
        tests: (0..tests.min(TESTS.len())).map(compared).collect(),
        differs: vec![Differs { what: "cooling".into(), values: (0..cards).map(cooling).collect() }],
        findings: vec![
            Finding::new("cooling-differs", Weight::Hint, 0.9, "Not all cards were cooled alike.")
                .because("cooling", "active and passive")
                .advise("Measure them once more under one fan."),
        ],
    }
}

/// An order of so many cards for a job, the first two not to be told apart.
pub(crate) fn ranking(cards: usize) -> Ranking {
    let score = |card: usize| 91.5 - 60.0 * card as f64 / cards.max(1) as f64;
    let place = |card: usize| RankedCard {
        place: if card < 2 { 1 } else { card as u32 + 1 },
        shared_by: if card < 2 { 2 } else { 1 },
        entry: entry(card, 10),
        value: score(card),
        ci95: Some([score(card) - 4.0, score(card) + 3.0]),
        job: Some(JobScore {
            job: "pi-boot".into(),
            title: "system of a small computer".into(),
            score: Some(score(card)),
            fit: if card < 2 { Fit::Good } else { Fit::Fair },
            meaning: vec![format!("boot: {:.1} s", 18.0 + card as f64)],
            seconds: vec![("boot".into(), 18.0 + card as f64)],
            missed: vec![],
            missing: vec![],
        }),
        spread: None,
        price: Some(Price { amount: 9.9 + card as f64, currency: "EUR".into() }),
        per_price: Some(score(card) / (9.9 + card as f64)),
        capped: if card == 0 { vec!["sequential read".into()] } else { vec![] },
        doubts: vec![],
    };
    Ranking {
        by: RankedBy::Job("pi-boot".into()),
        on: Some("Raspberry Pi 4".into()),
        places: (0..cards).map(place).collect(),
        not_placed: vec![("Fir 8GB".into(), "random writes were not measured".into())],
        groups: Some(Groups {
            by: "mark".into(),
            groups: vec![Group {
                name: "A2".into(),
                cards: 2,
                mean: 80.0,
                median: 81.0,
                worst: 70.0,
                best: 91.5,
            }],
            explained: Some(0.12),
            p: Some(0.41),
            verdict: format!(
                "what the mark says about the score for \"pi-boot\" cannot be told from chance with {cards} cards; 12 % of the \
                 spread between cards lies between the groups (by chance alone: 0.410)"
            ),
        }),
        findings: vec![],
    }
}

/// So many runs of one test second by second, with a temperature that rises.
pub(crate) fn courses(card: usize, test: usize, runs: u32) -> Vec<TestSeries> {
    let second = |run: u32, at_s: u32| {
        let speed =
            TESTS[test].1 * (0.9 + 0.2 * chance((card as u64 * 97 + u64::from(run)) * 977 + u64::from(at_s)));
        Bucket {
            at_s,
            seconds: 1,
            sum_us: 0,
            bytes: (speed * 1e6) as u64,
            ios: (speed * 10.0) as u64,
            max_us: 4000.0,
            temperature_c: Some(31.0 + f64::from(at_s) * 0.6),
        }
    };
    let course = |run: u32| TestSeries {
        test: TESTS[test].0.parse().unwrap(),
        step: None,
        run,
        entry: name(card),
        condition: "cooling active · reader slot".into(),
        seconds: (0..25).map(|at_s| second(run, at_s)).collect(),
    };
    (1..=runs).map(course).collect()
}

fn latencies(card: usize, test: usize, runs: u32) -> Latencies {
    let mut histogram = Histogram::default();
    for n in 0..3000_u64 {
        let spread = 1.0 + 9.0 * chance(n * 31 + card as u64 * 7 + test as u64).powi(8);
        histogram.record((120_000.0 * (test as f64 + 1.0) * spread) as u64);
    }
    histogram.record(850_000_000);
    let condition = "cooling active · reader slot".into();
    Latencies {
        test: TESTS[test].0.parse().unwrap(),
        step: None,
        runs,
        entry: name(card),
        condition,
        histogram,
    }
}

/// The document of a test of a card in the reader slot.
fn of_card<B>(body: B) -> Report<B> {
    let header =
        Header { target: "/dev/mmcblk0".into(), io_path: "io_uring".into(), seed: 1, ..Header::default() };
    Report { header, body }
}

/// A map with a page, erase block, open blocks and curves.
pub(crate) fn map(card: usize) -> MapReport {
    let point =
        |(i, mb_s): (usize, f64)| SizePoint { bytes: 4096 << i, mb_s, iops: 0.0, p50_us: 0.0, ios: 100 };
    let curve = |most: f64| {
        (0..11).map(|i| point((i, most / (1.0 + 24.0 / 2f64.powi(i as i32))))).collect::<Vec<_>>()
    };
    let evidence = || Evidence::by("pairs of reads on both sides of each boundary");
    let mut measured = Measured {
        page_bytes: Property::measured(16 << 10, 0.98, evidence()),
        erase_block_bytes: Property::measured(4 << 20, 0.97, evidence()),
        ..Measured::default()
    };
    measured.open_blocks.linear = Property::measured(5, 0.95, evidence());
    measured.open_blocks.random = Property::at_least(6, 0.95, evidence());
    measured.curves.sequential_read = curve(88.0);
    measured.curves.random_write = curve(12.5 + card as f64);
    of_card(CardMap {
        measured,
        advice: Advice {
            words: vec!["Let partitions start at a multiple of 4 MiB.".into()],
            ..Advice::default()
        },
        announced_bytes: 63_864_569_856,
        moved: Moved {
            data_kept: true,
            bytes_written: 1 << 30,
            bytes_restored: 1 << 30,
            bytes_read: 1 << 30,
            seconds: 95.0,
            ..Moved::default()
        },
        ..CardMap::default()
    })
}

/// A full proof of capacity with a slow tenth and a hole.
pub(crate) fn verify() -> VerifyReport {
    let cell = |n: u64| MapCell {
        start: n << 26,
        bytes: 1 << 26,
        write_mb_s: Some(if (400..500).contains(&n) { 11.0 } else { 30.0 + 3.0 * chance(n) }),
        read_mb_s: Some(88.0 + chance(n + 7)),
        bad_bytes: if n == 700 { 1 << 20 } else { 0 },
        ..MapCell::default()
    };
    let whole = |min, mean, max| {
        Some(MapSpeed { min_mb_s: min, mean_mb_s: mean, max_mb_s: max, slowest_second: None })
    };
    let map = SpeedMap {
        cell_bytes: 1 << 26,
        cells: (0..950).map(cell).collect(),
        write: whole(11.0, 27.1, 33.0),
        read: whole(88.0, 88.5, 89.0),
    };
    of_card(Verification {
        method: Method::Full,
        verdict: verify::Verdict::Damaged,
        announced_bytes: 63_864_569_856,
        usable_bytes: Some(46_976_204_800),
        good_bytes: Some(63_863_521_280),
        proven_bytes: 63_863_521_280,
        confidence: 0.999,
        map: Some(map),
        moved: Moved {
            bytes_written: 63_864_569_856,
            bytes_read: 63_864_569_856,
            seconds: 2900.0,
            ..Moved::default()
        },
        ..Verification::default()
    })
}

/// Two minutes of writing in which a cache ends and the card grows warm.
pub(crate) fn long_run() -> SustainReport {
    let sample = |i: u32| sustain::Sample {
        at_s: f64::from(i),
        write_mb_s: Some(if i < 40 { 60.0 } else { 22.0 } + 2.0 * chance(u64::from(i))),
        temperatures: vec![Reading { place: "card".into(), celsius: 30.0 + f64::from(i) * 0.2 }],
        ..sustain::Sample::default()
    };
    let measured = sustain::Measured {
        series: (0..120).map(sample).collect(),
        events: vec![sustain::Event::new(sustain::EventKind::CacheEnd, 40.0, 2_400_000_000, 0.97)],
        cache_bytes: Property::measured(2_400_000_000, 0.97, Evidence::default()),
        after_cache_mb_s: Property::measured(22.0, 0.97, Evidence::default()),
        ended_by: "--duration".into(),
        ..sustain::Measured::default()
    };
    of_card(LongRun {
        work: sustain::Work::Write,
        pattern: sustain::Pattern::Sequential,
        block_bytes: 1 << 20,
        queue_depth: 4,
        region_bytes: 1 << 34,
        measured,
        announced_bytes: 63_864_569_856,
        moved: Moved { bytes_written: 4_000_000_000, seconds: 120.0, ..Moved::default() },
        ..LongRun::default()
    })
}

fn part(card: usize, runs: u32, tests: usize) -> CardPart {
    CardPart {
        card_id: format!("card-{card}"),
        title: name(card),
        card: facts(card),
        pieces: vec!["piece 3f9c".into()],
        events: vec![
            Event {
                date: Some("2025-11".into()),
                kind: EventKind::Bought,
                price: Some(Price { amount: 9.9, currency: "EUR".into() }),
                note: Some("with a reader".into()),
                source: Some("bill.pdf".into()),
            },
            Event { date: None, kind: EventKind::InUse, price: None, note: None, source: None },
        ],
        findings: vec![Finding::new("mark-met", Weight::Note, 0.95, "It does what V30 promises.")],
        courses: (0..tests).flat_map(|test| courses(card, test, runs)).collect(),
        latencies: (0..tests).map(|test| latencies(card, test, runs)).collect(),
        map: card.is_multiple_of(2).then(|| map(card)),
        verify: card.is_multiple_of(5).then(verify),
        sustain: card.is_multiple_of(3).then(long_run),
    }
}

/// A publication of so many cards with so many runs of each of so many tests.
pub(crate) fn publication(cards: usize, runs: u32, tests: usize) -> Publication {
    Publication {
        title: "Cards of the drawer".into(),
        made_on: "2026-05-18".into(),
        tool_version: "0.1.0".into(),
        comparison: comparison(cards, runs, tests),
        rankings: vec![ranking(cards)],
        cards: (0..cards).map(|card| part(card, runs, tests)).collect(),
    }
}

/// The same with the first card measured under two coolings: two entries for one part. Only the first of them was timed.
pub(crate) fn of_two_settings(cards: usize, runs: u32, tests: usize) -> Publication {
    let mut publication = publication(cards, runs, tests);
    let mut warm = entry(0, runs);
    warm.name = format!("{} · cooling active", warm.name);
    warm.settings[0].condition.set("cooling", "active", Origin::Stated);
    publication.comparison.entries.insert(1, warm);
    for (number, test) in publication.comparison.tests.iter_mut().enumerate() {
        test.spreads.insert(1, Some(spread(number, cards + 1, runs)));
        test.pairs.clear();
    }
    publication.comparison.differs.clear();
    publication
}
