//! A remark on each card, as a reviewer writes it under the tables: what a small test hides, what its queue is worth, which
//! application class its speeds reach, and what it is the fastest at (the notes of seed 001).

use super::columns::{Column, TestKey, Values};
use cardscope_model::comparison::CardRemark;
use cardscope_model::statistics::{distinct, mean};
use cardscope_model::test_name::{Op, Order, TestName};
use cardscope_model::units::{BinarySize, KIB, MB, Speed};

/// A large area below this share of a small one shows that the small one measured a buffer; above the other share the size
/// of the test does not matter.
const BUFFERED: f64 = 0.8;
const SAME: f64 = 0.95;

/// Small and large areas differ by at least this.
const SIZES_APART: u64 = 4;

/// Requests in flight of a deep queue.
const DEEP: u32 = 32;

/// A queue below this share of single requests is none; above the other it is worth something (`flash-behaviour` 3.9).
const FAKE: f64 = 0.5;
const WORTH: f64 = 1.3;

/// Blocks of 512 KiB that are so much faster than transfers in order are worth a word.
const FASTER: f64 = 1.1;

/// Random reads and writes of 4 KiB a second that the application classes ask for (PLS 4.16).
const CLASSES: [(&str, f64, f64); 2] = [("A2", 4000.0, 2000.0), ("A1", 1500.0, 500.0)];

/// The remarks on every card that there is something to say of.
pub(super) fn remarks(columns: &[Column]) -> Vec<CardRemark> {
    let cards = distinct(columns.iter().map(|column| column.entry.card_id.clone()));
    let of = |card: String| {
        let own: Vec<&Column> = columns.iter().filter(|column| column.entry.card_id == card).collect();
        let nearest = nearest(own.iter().copied())?;
        let said =
            [buffered(&own), queue(nearest), half_mib(nearest), class(nearest), fastest(columns, nearest)];
        let words: Vec<String> = said.into_iter().flatten().collect();
        let name = own[0].entry.name.split(" · ").next().unwrap_or_default().to_owned();
        (!words.is_empty()).then_some(CardRemark { name, words })
    };
    cards.into_iter().filter_map(of).collect()
}

/// The setting nearest to use: the one with the largest area, of equal ones the first.
fn nearest<'a>(columns: impl DoubleEndedIterator<Item = &'a Column>) -> Option<&'a Column> {
    columns.rev().max_by_key(|column| size(column))
}

fn size(column: &Column) -> u64 {
    column.entry.settings.iter().filter_map(|setting| setting.size_bytes).max().unwrap_or(0)
}

fn speed(column: &Column, wanted: impl Fn(&TestName) -> bool) -> Option<f64> {
    let usual = |(_, values): &(TestKey, Values)| mean(&values.mb_s);
    let found = column.tests.iter().filter(|((test, _), _)| wanted(test)).filter_map(usual);
    found.filter(|mb_s| mb_s.is_finite() && *mb_s > 0.0).max_by(f64::total_cmp)
}

fn small(op: Op, flight: u32) -> impl Fn(&TestName) -> bool {
    move |test| {
        let pattern = test.pattern;
        let blocks = pattern.order == Order::Random && pattern.block == 4 * KIB;
        test.op == op && blocks && pattern.queue * pattern.threads == flight
    }
}

fn in_order(op: Op) -> impl Fn(&TestName) -> bool {
    move |test| test.op == op && test.pattern.order == Order::Sequential && test.pattern.block >= 1024 * KIB
}

/// The test that falls most from the smallest area to the largest, or that none does.
fn buffered(own: &[&Column]) -> Option<String> {
    let sized = own.iter().filter(|column| size(column) > 0);
    let smallest = sized.clone().min_by_key(|column| size(column))?;
    let largest = sized.max_by_key(|column| size(column))?;
    if size(largest) < SIZES_APART.saturating_mul(size(smallest)) {
        return None;
    }
    let shared = smallest.tests.iter().filter_map(|((test, _), values)| {
        let (small, large) = (mean(&values.mb_s)?, speed(largest, |other| other == test)?);
        Some((*test, small, large))
    });
    let (test, small, large) = shared.min_by(|a, b| (a.2 / a.1).total_cmp(&(b.2 / b.1)))?;
    let (from, to) = (BinarySize(size(smallest)), BinarySize(size(largest)));
    let fall = 100.0 * (1.0 - large / small);
    match large / small {
        share if share < BUFFERED => Some(format!(
            "buffers: {test} falls by {fall:.0} % from {from} to {to} ({} to {})",
            Speed(small),
            Speed(large)
        )),
        share if share > SAME => Some(format!("as fast over {to} as over {from}")),
        _ => None,
    }
}

/// What its queue does to small writes, else to small reads.
fn queue(column: &Column) -> Option<String> {
    let of = |op: Op| {
        let (single, deep) = (speed(column, small(op, 1))?, speed(column, small(op, DEEP))?);
        Some((deep / single, deep))
    };
    let what = |op: Op| if op == Op::Write { "writes" } else { "reads" };
    let each = [Op::Write, Op::Read].into_iter().filter_map(|op| Some((op, of(op)?)));
    let each: Vec<(Op, (f64, f64))> = each.collect();
    let fake = each.iter().find(|(_, (ratio, _))| *ratio < FAKE).map(|(op, (_, deep))| {
        format!("its queue is fake: {DEEP} {} at once drop to {}", what(*op), Speed(*deep))
    });
    let worth = || {
        let (op, (ratio, _)) = each.iter().find(|(_, (ratio, _))| *ratio > WORTH)?;
        Some(format!("queued {} are {ratio:.1} × as fast as single ones", what(*op)))
    };
    fake.or_else(worth)
}

fn half_mib(column: &Column) -> Option<String> {
    let of = |op: Op| {
        let half =
            |test: &TestName| test.op == op && test.pattern.block == 512 * KIB && test.pattern.queue == 1;
        let (half, whole) = (speed(column, half)?, speed(column, in_order(op))?);
        let what = if op == Op::Write { "writes" } else { "reads" };
        (half > FASTER * whole).then(|| {
            format!("{what} 512 KiB blocks faster than in order ({} against {})", Speed(half), Speed(whole))
        })
    };
    of(Op::Write).or_else(|| of(Op::Read))
}

/// The application class whose rates its small reads and writes reach, with or without a queue.
fn class(column: &Column) -> Option<String> {
    let iops = |op: Op| {
        let best = |flight| speed(column, small(op, flight)).unwrap_or(0.0);
        let mb_s = best(1).max(best(DEEP));
        (mb_s > 0.0).then(|| mb_s * MB / (4 * KIB) as f64)
    };
    let (reads, writes) = (iops(Op::Read)?, iops(Op::Write)?);
    let reached = CLASSES.iter().find(|(_, read, write)| reads >= *read && writes >= *write);
    let rates = format!("{reads:.0} reads and {writes:.0} writes a second");
    Some(match reached {
        Some((class, ..)) => format!("reaches the rates of {class} ({rates})"),
        None => format!("misses the rates of A1 ({rates})"),
    })
}

/// Which tests are meant.
type Wanted<'a> = &'a dyn Fn(&TestName) -> bool;

/// At what it is the fastest of all cards, where several were measured at it, each over its largest area.
fn fastest(columns: &[Column], own: &Column) -> Option<String> {
    let kinds: [(&str, Wanted); 4] = [
        ("large reads", &in_order(Op::Read)),
        ("large writes", &in_order(Op::Write)),
        ("small reads", &small(Op::Read, 1)),
        ("small writes", &small(Op::Write, 1)),
    ];
    let others: Vec<&Column> = distinct(columns.iter().map(|column| column.entry.card_id.as_str()))
        .into_iter()
        .filter(|card| *card != own.entry.card_id)
        .filter_map(|card| nearest(columns.iter().filter(|column| column.entry.card_id == card)))
        .collect();
    let leads = |wanted: Wanted| {
        let best = others.iter().filter_map(|column| speed(column, wanted)).max_by(f64::total_cmp)?;
        Some(speed(own, wanted)? > best)
    };
    let led: Vec<&str> =
        kinds.iter().filter(|(_, wanted)| leads(wanted) == Some(true)).map(|k| k.0).collect();
    (!led.is_empty()).then(|| format!("the fastest at {}", led.join(", ")))
}
