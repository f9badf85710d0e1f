//! Anomalies between tests of one card: blocks of 512 KiB faster than sequential writes
//! (docs/reference/reports.md#sd-card-round-up), a harmful queue and an optimistic small test
//! (docs/reference/reports.md#microsd-speed-comparison), speeds above the bus, and single 4 KiB reads far below the card's
//! class (docs/reference/reports.md#microsd-express-benchmarks, docs/reference/reports.md#raspberry-pi-comparison).

use super::run_differences::is_over_usb;
use super::test_table::{AnomalyRow, AnomalyTable, speed_list};
use crate::bus_ceiling;
use cardscope_model::condition::Condition;
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::statistics::distinct_values;
use cardscope_model::test_name::{IoOrder, TestName, TestOp};
use cardscope_model::units::{BinarySize, KIB, SpeedMbS, three_digits};

const MIN_FASTER: f64 = 1.1;
/// Speed with a queue as a share of single I/O, below which the queue slows the card, or is fake
/// (docs/reference/flash.md#queues).
const SLOW_QUEUE: f64 = 0.9;
const FAKE_QUEUE: f64 = 0.5;
/// Share of the small test's speed below which the small test measured only a cache or a convenient range.
const LARGE_SLOWER: f64 = 0.8;
const MIN_SIZE_RATIO: u64 = 4;

pub(super) fn test_findings(table: &AnomalyTable<'_>) -> Vec<Finding> {
    let both = [TestOp::Read, TestOp::Write];
    let half_mib = both.iter().filter_map(|op| half_mib_finding(table, *op));
    half_mib.chain(both.iter().filter_map(|op| queue_finding(table, *op))).collect()
}

fn half_mib_finding(table: &AnomalyTable<'_>, op: TestOp) -> Option<Finding> {
    let half = table.rows_of(op, |n| n.pattern.block == 512 * KIB && n.pattern.queue == 1).next()?;
    let in_order = table.fastest_large_sequential(op)?;
    let ratio = half.median() / in_order.median().max(f64::MIN_POSITIVE);
    if ratio < MIN_FASTER {
        return None;
    }
    let blocks = if half.name.pattern.order == IoOrder::Random { "Random blocks" } else { "Blocks" };
    let name = in_order.name;
    let text = format!(
        "{blocks} of 512 KiB are {ratio:.2} × as fast as {name}: the card did housekeeping in between."
    );
    let finding = Finding::new("half-mib-faster", FindingWeight::Hint, 0.8, text);
    Some(with_both_tests(finding, half, in_order).with_advice("Repeat the session after a pause."))
}

fn with_both_tests(finding: Finding, first: &AnomalyRow<'_>, second: &AnomalyRow<'_>) -> Finding {
    let of =
        |row: &AnomalyRow<'_>| format!("{} MB/s ({})", three_digits(row.median()), speed_list(&row.speeds()));
    finding.because(&first.name.to_string(), of(first)).because(&second.name.to_string(), of(second))
}

fn queue_finding(table: &AnomalyTable<'_>, op: TestOp) -> Option<Finding> {
    let (deep, single) = (table.random_4k(op, 32)?, table.random_4k(op, 1)?);
    let ratio = deep.median() / single.median().max(f64::MIN_POSITIVE);
    if ratio >= SLOW_QUEUE {
        return None;
    }
    let what = if op == TestOp::Write { "writes" } else { "reads" };
    let as_fast = format!("at once are {ratio:.2} × as fast as one at a time");
    let (claim, weight, text) = match ratio < FAKE_QUEUE {
        true => ("fake-queue", FindingWeight::Hint, format!("is fake: 32 random {what} {as_fast}")),
        false => ("queue-slower", FindingWeight::Note, format!("slows random {what}: 32 {as_fast}")),
    };
    let text = format!("The command queue {text}.");
    let confidence = if single.results.len() > 1 { 0.9 } else { 0.7 };
    Some(with_both_tests(Finding::new(claim, weight, confidence, text), deep, single))
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizedTest {
    pub test: TestName,
    pub area_bytes: u64,
    pub mb_s: f64,
}

/// Compares results over small and large areas. A small test that is much faster was too optimistic.
pub fn optimistic_small_tests(all: &[SizedTest]) -> Vec<Finding> {
    let names = distinct_values(all.iter().map(|one| one.test));
    names.into_iter().filter_map(|name| size_finding(name, all)).collect()
}

fn size_finding(name: TestName, all: &[SizedTest]) -> Option<Finding> {
    let of_test = || all.iter().filter(|one| one.test == name && one.mb_s > 0.0);
    let small = of_test().min_by_key(|one| one.area_bytes)?;
    let large = of_test().max_by_key(|one| one.area_bytes)?;
    let ratio = large.mb_s / small.mb_s;
    if large.area_bytes < MIN_SIZE_RATIO.saturating_mul(small.area_bytes) || ratio >= LARGE_SLOWER {
        return None;
    }
    let (of_small, of_large) = (BinarySize(small.area_bytes), BinarySize(large.area_bytes));
    let fall = format!("{name} falls to {:.0} % from {of_small} to {of_large}", ratio * 100.0);
    let text = format!("{fall}; the small test is too optimistic.");
    Some(
        Finding::new("small-test-flatters", FindingWeight::Hint, 0.85, text)
            .because(&format!("over {of_small}"), SpeedMbS(small.mb_s))
            .because(&format!("over {of_large}"), SpeedMbS(large.mb_s)),
    )
}

pub(super) fn above_bus_finding(table: &AnomalyTable<'_>, ceiling_mb_s: Option<f64>) -> Option<Finding> {
    let carries = ceiling_mb_s?;
    let fastest = table.rows.iter().map(|row| (row.name, row.speeds().into_iter().fold(0.0, f64::max)));
    let above = fastest.filter(|(_, mb_s)| bus_ceiling::above_ceiling(*mb_s, carries).is_some());
    let above: Vec<(TestName, f64)> = above.collect();
    if above.is_empty() {
        return None;
    }
    let (count, all, bus) = (above.len(), table.rows.len(), three_digits(carries));
    let text = format!(
        "{count} of {all} tests exceed the bus ({bus} MB/s): a cache of this computer answered, not the card."
    );
    let advice = "Test the device itself, or a directory on a file system with direct I/O.";
    let finding = Finding::new("above-bus-ceiling", FindingWeight::Hint, 0.95, text).with_advice(advice);
    let because =
        |finding: Finding, (name, mb_s): (TestName, f64)| finding.because(&name.to_string(), SpeedMbS(mb_s));
    Some(above.into_iter().fold(finding, because))
}

struct PublishedPeers {
    class: &'static str,
    on_pcie: bool,
    from_mb_s: f64,
    /// Least write speed as a share of the read speed, for classes whose figures hold only within the write cache.
    least_write_share: f64,
    mb_s: [f64; 3],
    source: &'static str,
}

/// Fastest class first. The first one that matches is used.
static PUBLISHED_PEERS: [PublishedPeers; 4] = [
    PublishedPeers {
        class: "SD Express, data in the cache",
        on_pcie: true,
        from_mb_s: 300.0,
        least_write_share: 0.6,
        mb_s: [33.0, 34.0, 38.0],
        source: "seven fast runs of two cards, microSD Express Benchmarks, 2025-05-17",
    },
    PublishedPeers {
        class: "SD Express, data behind the cache",
        on_pcie: true,
        from_mb_s: 300.0,
        least_write_share: 0.0,
        mb_s: [10.0, 20.0, 30.0],
        source: "thirteen slow runs of two cards, microSD Express Benchmarks, 2025-05-17",
    },
    PublishedPeers {
        class: "UHS-I",
        on_pcie: false,
        from_mb_s: 30.0,
        least_write_share: 0.0,
        mb_s: [6.57, 7.64, 10.8],
        source: "eight cards on a Raspberry Pi 4, July 2019, one of them (1.58) left out of the low end",
    },
    PublishedPeers {
        class: "High Speed",
        on_pcie: false,
        from_mb_s: 10.0,
        least_write_share: 0.0,
        mb_s: [3.1, 5.3, 9.7],
        source: "p10, median and p90 of 46 flashbench runs of 29 cards, 2013 to 2015",
    },
];

/// Share of the lowest speed of its class below which a read is far below it.
const FAR_BELOW: f64 = 0.5;
/// Least gain by a queue that rules out slow flash. Typical SD Express cards gain 13 to 23 times
/// (docs/reference/reports.md#microsd-express-benchmarks).
const MIN_QUEUE_GAIN: f64 = 25.0;

/// Compares single 4 KiB reads with the card's class. The class follows from the bus, or from the speed if the bus is
/// unknown. Behind USB there may be a card, a stick or a disk, so those are not compared.
pub(super) fn slow_reads_finding(table: &AnomalyTable<'_>, condition: &Condition) -> Option<Finding> {
    if is_over_usb(condition) {
        return None;
    }
    let on_pcie = condition.get("bus_mode").map(|mode| mode.starts_with("PCIe"));
    let single = table.random_4k(TestOp::Read, 1)?.median();
    let in_order = table.fastest_large_sequential(TestOp::Read)?.median();
    let share = table.fastest_large_sequential(TestOp::Write).map_or(0.0, |w| w.median() / in_order);
    let peers = PUBLISHED_PEERS.iter().find(|p| {
        on_pcie.is_none_or(|on_pcie| on_pcie == p.on_pcie)
            && in_order >= p.from_mb_s
            && share >= p.least_write_share
    })?;
    let [low, median, high] = peers.mb_s;
    if single >= FAR_BELOW * low || single <= 0.0 {
        return None;
    }
    let gain = table.random_4k(TestOp::Read, 32).map(|row| row.median() / single);
    let confidence = if gain.is_some_and(|gain| gain > MIN_QUEUE_GAIN) { 0.9 } else { 0.8 };
    let (share, time_us) = (100.0 * single / low, 4096.0 / single);
    let [single, low, median, high] = [single, low, median, high].map(three_digits);
    let speed = format!("{single} MB/s, {share:.0} % of the slowest card of its class ({low} MB/s)");
    let text = format!("The card reads single 4 KiB blocks at {speed}.");
    let usual = format!("{low} to {high} MB/s, median {median} ({})", peers.source);
    let finding = Finding::new("read-below-class", FindingWeight::Hint, confidence, text)
        .because("RND4K Q1T1 read", format!("{single} MB/s, {time_us:.0} µs a read"))
        .because(peers.class, usual)
        .because("reading in order", SpeedMbS(in_order))
        .with_advice("Fill the card and measure again; starting programs depends on such reads.");
    Some(finding.because_some("with 32 at once", gain.map(|gain| format!("{gain:.1} times as fast"))))
}
