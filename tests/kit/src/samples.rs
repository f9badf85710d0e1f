//! Sample documents: invented cards with plausible figures, the same in every run. Parts common to all of them are
//! files in `samples`.

use cardscope_model::card::CardPrice;
use cardscope_model::card_map::MapReport;
use cardscope_model::comparison::{
    ChanceGrade, ComparedEntry, ComparedPair, ComparedTest, Comparison, OverallFactor, PairVerdict,
    PrintedSpread, Spread, TestRange, TwoLevels,
};
use cardscope_model::condition::ConditionOrigin;
use cardscope_model::histogram::LatencyHistogram;
use cardscope_model::import_report::ImportReport;
use cardscope_model::job::{Figures, JobFit};
use cardscope_model::observe::ObserveReport;
use cardscope_model::publication::{CardPart, Publication, TestLatencies, TestSeries};
use cardscope_model::ranking::{AlternativeCard, Placement, RankedCard, Ranking, RankingDecision};
use cardscope_model::result::ToolPrints;
use cardscope_model::series::SeriesBucket;
use cardscope_model::sustain::{PlacedTemperature, SustainReport, SustainSample};
use cardscope_model::test_name::TestName;
use cardscope_model::verify::{FilesReport, MapCell, VerifyReport};
use std::sync::LazyLock;

/// Publication of one card, without the series of each card and test.
static ONE_CARD: LazyLock<Publication> =
    LazyLock::new(|| serde_json::from_str(include_str!("../samples/publication.json")).unwrap());

/// Files of a card that lost 57 KByte.
pub fn lossy_files_report() -> FilesReport {
    serde_json::from_str(include_str!("../samples/files.json")).unwrap()
}

/// Observation of a system that waits for its card.
pub fn observe_report() -> ObserveReport {
    serde_json::from_str(include_str!("../samples/watch.json")).unwrap()
}

/// Import of a log that was parsed but not archived.
pub fn import_report() -> ImportReport {
    serde_json::from_str(include_str!("../samples/import.json")).unwrap()
}

/// Tests in the order of recipes, with the MB/s of an average card.
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

/// Pseudo-random number from 0 to 1.
fn pseudo_random(seed: u64) -> f64 {
    let mixed = (seed ^ (seed >> 31))
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_left(29)
        .wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 11) as f64 / (1u64 << 53) as f64
}

fn card_name(number: usize) -> String {
    let name = NAMES[number % NAMES.len()];
    if number < NAMES.len() { name.to_owned() } else { format!("{name}, no. {}", number / NAMES.len() + 1) }
}

fn cooling_of_card(card: usize) -> &'static str {
    if card.is_multiple_of(3) { "passive" } else { "active" }
}

fn comparison_entry(number: usize, runs: u32) -> ComparedEntry {
    let mut entry = ONE_CARD.comparison.entries[0].clone();
    (entry.name, entry.card_id, entry.runs) = (card_name(number), format!("card-{number}"), runs);
    entry.card.brand = Some(card_name(number));
    entry.settings[0].condition.set("cooling", cooling_of_card(number), ConditionOrigin::Stated);
    entry.sources = vec![format!("logs/card-{number}.txt")];
    entry
}

fn test_spread(test: usize, card: usize, runs: u32) -> Spread {
    let level = TESTS[test].1 * (0.6 + 0.9 * pseudo_random((card as u64 + 1) * 7919));
    let falls = TESTS[test].0.ends_with("write") && card.is_multiple_of(4);
    let run = |run: u32| {
        let noise = 0.96 + 0.08 * pseudo_random((test as u64 * 131 + card as u64) * 1009 + u64::from(run));
        let factor = if falls && run % 3 == 2 { 0.45 } else { 1.0 };
        (level * noise * factor * 1000.0).round() / 1000.0
    };
    spread_of_runs((0..runs).map(run).collect(), falls.then_some(level))
}

/// Spread computed from its runs.
pub fn spread_of_runs(runs: Vec<f64>, falls_from: Option<f64>) -> Spread {
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

fn compared_pair(first: usize, second: usize, spreads: &[Option<Spread>]) -> Option<ComparedPair> {
    let (a, b) = (spreads[first].as_ref()?, spreads[second].as_ref()?);
    let factor = b.mean / a.mean;
    let verdict = match factor {
        f if f > 1.1 => PairVerdict::SecondFaster,
        f if f < 0.9 => PairVerdict::FirstFaster,
        f if (f - 1.0).abs() < 0.02 => PairVerdict::Alike,
        _ => PairVerdict::CannotTell,
    };
    Some(ComparedPair {
        first,
        second,
        factor,
        factor_ci95: Some([factor * 0.96, factor * 1.04]),
        percent: (factor - 1.0) * 100.0,
        p: Some((0.2 - (factor - 1.0).abs()).clamp(0.0002, 1.0)),
        verdict,
        more_runs: (verdict == PairVerdict::CannotTell).then_some(8),
        probability_first_faster: if factor < 1.0 { 0.99 } else { 0.01 },
        probability_notable: (0.5 + 4.0 * (factor - 1.0).abs()).min(0.99),
        grade: ChanceGrade::from_chance((0.5 + 4.0 * (factor - 1.0).abs()).min(0.99)),
        not_the_card_alone: if first == 0 && second == 1 { vec!["cooling".into()] } else { vec![] },
        confounded_by: vec![],
        levels: None,
    })
}

/// Comparison of cards with `runs` runs of each test; with several tests, the last card lacks the last one.
pub fn comparison(cards: usize, runs: u32, tests: usize) -> Comparison {
    let compared = |test: usize| {
        let mut spreads: Vec<Option<Spread>> =
            (0..cards).map(|card| Some(test_spread(test, card, runs))).collect();
        if test + 1 == tests && tests > 1 && cards > 1 {
            spreads[cards - 1] = None;
        }
        let pairs = (0..cards).flat_map(|a| (a + 1..cards).map(move |b| (a, b)));
        let pairs = pairs.filter_map(|(a, b)| compared_pair(a, b, &spreads)).collect();
        let test = TESTS[test].0.parse::<TestName>().unwrap();
        let block_bytes = test.pattern.block;
        for spread in spreads.iter_mut().flatten() {
            spread.iops = cardscope_model::comparison::iops_at_speed(spread.mean, block_bytes);
        }
        ComparedTest { test, step: None, block_bytes, spreads, pairs }
    };
    let mut comparison = ONE_CARD.comparison.clone();
    comparison.entries = (0..cards).map(|card| comparison_entry(card, runs)).collect();
    comparison.tests = (0..tests.min(TESTS.len())).map(compared).collect();
    comparison.overall = if cards > 1 { overall_order(&comparison) } else { Vec::new() };
    comparison.apart = comparison.tests.iter().filter_map(|test| test_distance(test, cards)).collect();
    comparison.differs[0].values = (0..cards).map(|card| Some(cooling_of_card(card).to_owned())).collect();
    comparison
}

/// Distance of three or more cards in a test.
fn test_distance(test: &ComparedTest, cards: usize) -> Option<TestRange> {
    let mean = |card: &usize| test.spreads[*card].as_ref().map_or(f64::NAN, |spread| spread.mean);
    let mut all: Vec<usize> = (0..cards).filter(|card| test.spreads[*card].is_some()).collect();
    all.sort_by(|a, b| mean(b).total_cmp(&mean(a)));
    let (fastest, slowest) = (all.first()?, all.last()?);
    (all.len() > 2).then(|| TestRange {
        test: test.test,
        step: None,
        cards: all.len() as u32,
        fastest: card_name(*fastest),
        fastest_mb_s: mean(fastest),
        slowest: card_name(*slowest),
        slowest_mb_s: mean(slowest),
        factor: mean(fastest) / mean(slowest),
    })
}

/// Geometric means over the tests that all cards have.
fn overall_order(comparison: &Comparison) -> Vec<OverallFactor> {
    let shared: Vec<&ComparedTest> =
        comparison.tests.iter().filter(|test| test.spreads.iter().all(Option::is_some)).collect();
    let log = |card: usize| -> f64 {
        shared.iter().filter_map(|test| test.spreads[card].as_ref()).map(|spread| spread.mean.ln()).sum()
    };
    let mut order: Vec<usize> = (0..comparison.entries.len()).collect();
    order.sort_by(|a, b| log(*b).total_cmp(&log(*a)));
    let count = shared.len().max(1) as f64;
    let place = |(place, card): (usize, &usize)| {
        let factor_to_best = ((log(*card) - log(order[0])) / count).exp();
        OverallFactor {
            name: card_name(*card),
            factor_to_best,
            ci95: if place == 0 { [1.0, 1.0] } else { [0.95 * factor_to_best, 1.05 * factor_to_best] },
            wins: if place == 0 { shared.len() as u32 } else { 0 },
            tests: shared.len() as u32,
            probability_best: if place == 0 { 0.91 } else { 0.09 / (order.len() - 1) as f64 },
            confounded_by: Vec::new(),
        }
    };
    if shared.is_empty() { Vec::new() } else { order.iter().enumerate().map(place).collect() }
}

/// Ranking of cards for a job, the first two equal.
pub fn ranking(cards: usize) -> Ranking {
    let score = |card: usize| 91.5 - 60.0 * card as f64 / cards.max(1) as f64;
    let place = |card: usize| {
        let (amount, first) = (9.9 + card as f64, ONE_CARD.rankings[0].places[0].clone());
        let mut job = first.job.unwrap();
        job.score = Some(score(card));
        job.fit = if card < 2 { JobFit::Good } else { JobFit::Fair };
        job.meaning = vec![format!("boot: {:.1} s", 18.0 + card as f64)];
        job.seconds = vec![("boot".into(), 18.0 + card as f64)];
        RankedCard {
            placement: Placement {
                place: card as u32 + 1,
                tier: if card < 2 { 1 } else { card as u32 },
                probability_best: if card == 0 { 0.83 } else { 0.17 / (cards - 1) as f64 },
            },
            entry: comparison_entry(card, 10),
            value: score(card),
            ci95: Some([score(card) - 4.0, score(card) + 3.0]),
            job: Some(job),
            price: Some(CardPrice { amount, currency: "EUR".into() }),
            priced: Some("2024-03".into()),
            per_price: Some(score(card) / amount),
            gb_per_price: Some(64.0 / amount),
            figures_per_price: Some(Figures {
                read_mb_s: Some(90.0 / amount),
                write_mb_s: Some(60.0 / amount),
                random_read_iops: Some(2600.0 / amount),
                random_write_iops: Some(900.0 / amount),
                ..Figures::default()
            }),
            capped: if card == 0 { first.capped } else { vec![] },
            ..first
        }
    };
    let mut ranking = ONE_CARD.rankings[0].clone();
    ranking.places = (0..cards).map(place).collect();
    ranking.decision = Some(RankingDecision {
        buy: vec![card_name(0)],
        probability: 0.83,
        instead: Some(AlternativeCard {
            name: card_name(1),
            below: CardPrice { amount: 8.5, currency: "EUR".into() },
            costs: None,
        }),
        ..RankingDecision::default()
    });
    for groups in &mut ranking.groups {
        groups.verdict = groups.verdict.replace("1 cards", &format!("{cards} cards"));
    }
    ranking
}

/// Runs of a test second by second, with a rising temperature.
pub fn test_series(card: usize, test: usize, runs: u32) -> Vec<TestSeries> {
    let second = |run: u32, at_s: u32| {
        let speed = TESTS[test].1
            * (0.9 + 0.2 * pseudo_random((card as u64 * 97 + u64::from(run)) * 977 + u64::from(at_s)));
        SeriesBucket {
            at_s,
            seconds: 1,
            sum_us: 0,
            bytes: (speed * 1e6) as u64,
            ios: (speed * 10.0) as u64,
            max_us: 4000.0,
            temperature_c: Some(31.0 + f64::from(at_s) * 0.6),
        }
    };
    let series = |run: u32| TestSeries {
        test: TESTS[test].0.parse().unwrap(),
        step: None,
        run,
        entry: card_name(card),
        condition: "cooling active · reader slot".into(),
        seconds: (0..25).map(|at_s| second(run, at_s)).collect(),
    };
    (1..=runs).map(series).collect()
}

fn test_latencies(card: usize, test: usize, runs: u32) -> TestLatencies {
    let mut histogram = LatencyHistogram::default();
    for n in 0..3000_u64 {
        let spread = 1.0 + 9.0 * pseudo_random(n * 31 + card as u64 * 7 + test as u64).powi(8);
        histogram.record((120_000.0 * (test as f64 + 1.0) * spread) as u64);
    }
    histogram.record(850_000_000);
    let condition = "cooling active · reader slot".into();
    TestLatencies {
        test: TESTS[test].0.parse().unwrap(),
        step: None,
        runs,
        entry: card_name(card),
        condition,
        histogram,
    }
}

/// Map with pages, erase blocks, open blocks and curves, like that of the card of a published review.
pub fn map_report() -> MapReport {
    ONE_CARD.cards[0].map.clone().unwrap()
}

/// Full capacity test with a slow tenth and a hole.
fn verify_report() -> VerifyReport {
    let cell = |n: u64| MapCell {
        start: n << 26,
        bytes: 1 << 26,
        write_mb_s: Some(if (400..500).contains(&n) { 11.0 } else { 30.0 + 3.0 * pseudo_random(n) }),
        read_mb_s: Some(88.0 + pseudo_random(n + 7)),
        bad_bytes: if n == 700 { 1 << 20 } else { 0 },
        ..MapCell::default()
    };
    let mut verify = ONE_CARD.cards[0].verify.clone().unwrap();
    verify.body.map.as_mut().unwrap().cells = (0..950).map(cell).collect();
    verify
}

/// Two minutes of writes, in which a cache is used up and the card warms up.
pub fn sustain_report() -> SustainReport {
    let sample = |i: u32| SustainSample {
        at_s: f64::from(i),
        write_mb_s: Some(if i < 40 { 60.0 } else { 22.0 } + 2.0 * pseudo_random(u64::from(i))),
        temperatures: vec![PlacedTemperature { place: "card".into(), celsius: 30.0 + f64::from(i) * 0.2 }],
        ..SustainSample::default()
    };
    let mut run = ONE_CARD.cards[0].sustain.clone().unwrap();
    run.body.measured.series = (0..120).map(sample).collect();
    run
}

fn card_part(card: usize, runs: u32, tests: usize) -> CardPart {
    let mut part = ONE_CARD.cards[0].clone();
    (part.card_id, part.title, part.card.brand) =
        (format!("card-{card}"), card_name(card), Some(card_name(card)));
    part.courses = (0..tests).flat_map(|test| test_series(card, test, runs)).collect();
    part.latencies = (0..tests).map(|test| test_latencies(card, test, runs)).collect();
    part.map = card.is_multiple_of(2).then(map_report);
    part.verify = card.is_multiple_of(5).then(verify_report);
    part.sustain = card.is_multiple_of(3).then(sustain_report);
    part
}

/// Publication of cards with `runs` runs of each test.
pub fn publication(cards: usize, runs: u32, tests: usize) -> Publication {
    Publication {
        comparison: comparison(cards, runs, tests),
        rankings: vec![ranking(cards)],
        cards: (0..cards).map(|card| card_part(card, runs, tests)).collect(),
        ..ONE_CARD.clone()
    }
}

/// Publication whose first card was measured under two coolings: two entries for one card. Only the first entry has
/// series of its tests.
pub fn publication_of_two_settings(cards: usize, runs: u32, tests: usize) -> Publication {
    let mut publication = publication(cards, runs, tests);
    let mut warm = comparison_entry(0, runs);
    warm.name = format!("{} · cooling active", warm.name);
    warm.settings[0].condition.set("cooling", "active", ConditionOrigin::Stated);
    publication.comparison.entries.insert(1, warm);
    for (number, test) in publication.comparison.tests.iter_mut().enumerate() {
        test.spreads.insert(1, Some(test_spread(number, cards + 1, runs)));
        test.pairs.clear();
    }
    publication.comparison.differs.clear();
    publication
}

/// Compares a text with a file in `samples`; writes the file if UPDATE_SAMPLES is set.
pub fn assert_same_sample(file: &str, text: &str) {
    let path = format!("{}/samples/{file}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_SAMPLES").is_some() {
        std::fs::write(&path, text).expect("the sample can be written");
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(known == text, "{file} differs; UPDATE_SAMPLES=1 writes it anew:\n{text}");
}
