//! Tests of one card against each other: blocks of 512 KiB faster than writing in order (seed 002), a queue that makes
//! it slower (seed 001), a small test that flatters (64 MiB against 1 GiB, seed 001), a speed above the bus.

use super::table::{Row, Table, digits, listed};
use crate::ceiling;
use cardscope_model::finding::{Finding, Weight};
use cardscope_model::test_name::{Op, Order, TestName};
use cardscope_model::units::{BinarySize, KIB};

/// So much faster is not noise: within a level runs repeat within 0.4 to 4 %.
const FASTER: f64 = 1.1;
/// A queue below this share of single I/O makes it slower; below the other it is no queue at all (`flash-behaviour` 3.9).
const SLOWER: f64 = 0.9;
const FAKE: f64 = 0.5;
/// A large test below this share of the small one: the small one measured a cache, or a span the card copes with.
const LARGE_SLOWER: f64 = 0.8;
/// Sizes that are called small and large differ by at least this.
const SIZES_APART: u64 = 4;

pub(super) fn all(table: &Table<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> =
        [Op::Read, Op::Write].iter().filter_map(|op| half_mib(table, *op)).collect();
    found.extend([Op::Read, Op::Write].iter().filter_map(|op| queue(table, *op)));
    found
}

fn half_mib(table: &Table<'_>, op: Op) -> Option<Finding> {
    let half = table.of(op, |n| n.pattern.block == 512 * KIB && n.pattern.queue == 1).next()?;
    let in_order = table.in_order(op)?;
    let ratio = half.median() / in_order.median().max(f64::MIN_POSITIVE);
    if ratio < FASTER {
        return None;
    }
    let random = if half.name.pattern.order == Order::Random { "random " } else { "" };
    let text = format!(
        "{random}blocks of 512 KiB are {ratio:.2} times as fast as {}, which should be the fastest: the card tidied up at different times",
        in_order.name
    );
    Some(
        both(Finding::new("half-mib-faster", Weight::Hint, 0.8, text), half, in_order).advise(
            "Repeat the session with a pause before it, so that the card ends what it does by itself.",
        ),
    )
}

fn both(finding: Finding, first: &Row<'_>, second: &Row<'_>) -> Finding {
    let of = |row: &Row<'_>| format!("{} MB/s ({})", digits(row.median()), listed(&row.speeds()));
    finding.because(&first.name.to_string(), of(first)).because(&second.name.to_string(), of(second))
}

fn queue(table: &Table<'_>, op: Op) -> Option<Finding> {
    let (deep, single) = (table.small(op, 32)?, table.small(op, 1)?);
    let ratio = deep.median() / single.median().max(f64::MIN_POSITIVE);
    if ratio >= SLOWER {
        return None;
    }
    let what = if op == Op::Write { "writes" } else { "reads" };
    let (claim, weight, text) = if ratio < FAKE {
        let text = format!(
            "32 random {what} at once are {ratio:.2} times as fast as one at a time: the queue is a fake, and a busy system nearly stops on it"
        );
        ("fake-queue", Weight::Hint, text)
    } else {
        (
            "queue-slower",
            Weight::Note,
            format!("32 random {what} at once are {ratio:.2} times as fast as one at a time"),
        )
    };
    let confidence = if single.results.len() > 1 { 0.9 } else { 0.7 };
    Some(both(Finding::new(claim, weight, confidence, text), deep, single))
}

/// A test with the size of the area it went over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sized {
    /// The test.
    pub test: TestName,
    /// Bytes of the area.
    pub area_bytes: u64,
    /// Speed in MB/s.
    pub mb_s: f64,
}

/// Tests that were run over a small and a large area, in one session or two: where the large one is much slower, the
/// small one measured a cache or a span that the card copes with.
#[must_use]
pub fn small_against_large(all: &[Sized]) -> Vec<Finding> {
    let mut names: Vec<TestName> = Vec::new();
    for one in all {
        if !names.contains(&one.test) {
            names.push(one.test);
        }
    }
    names.iter().filter_map(|name| size_finding(*name, all)).collect()
}

fn size_finding(name: TestName, all: &[Sized]) -> Option<Finding> {
    let of_test = || all.iter().filter(|one| one.test == name && one.mb_s > 0.0);
    let small = of_test().min_by_key(|one| one.area_bytes)?;
    let large = of_test().max_by_key(|one| one.area_bytes)?;
    let ratio = large.mb_s / small.mb_s;
    if large.area_bytes < SIZES_APART.saturating_mul(small.area_bytes) || ratio >= LARGE_SLOWER {
        return None;
    }
    let (of_small, of_large) = (BinarySize(small.area_bytes), BinarySize(large.area_bytes));
    let text = format!(
        "{name} falls to {:.0} % from {of_small} to {of_large}: the small test flatters, what counts in use is the large one",
        ratio * 100.0
    );
    Some(
        Finding::new("small-test-flatters", Weight::Hint, 0.85, text)
            .because(&format!("over {of_small}"), format!("{} MB/s", digits(small.mb_s)))
            .because(&format!("over {of_large}"), format!("{} MB/s", digits(large.mb_s))),
    )
}

/// Speeds that the bus cannot carry are the host's.
pub(super) fn above_bus(table: &Table<'_>, ceiling_mb_s: Option<f64>) -> Option<Finding> {
    let carries = ceiling_mb_s?;
    let above: Vec<(&Row<'_>, f64)> = table
        .rows
        .iter()
        .map(|row| (row, row.speeds().into_iter().fold(0.0, f64::max)))
        .filter(|(_, fastest)| ceiling::above(*fastest, carries).is_some())
        .collect();
    if above.is_empty() {
        return None;
    }
    let text = format!(
        "{} of {} tests are faster than the bus, which carries {} MB/s: a cache of this computer answered, not the card",
        above.len(),
        table.rows.len(),
        digits(carries)
    );
    let finding = Finding::new("above-bus-ceiling", Weight::Hint, 0.95, text)
        .advise("Test the bare device, or a directory whose file system takes direct I/O.");
    Some(above.into_iter().fold(finding, |finding, (row, fastest)| {
        finding.because(&row.name.to_string(), format!("{} MB/s", digits(fastest)))
    }))
}
