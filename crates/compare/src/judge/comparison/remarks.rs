//! Remarks on each card, as a reviewer writes them below the tables: the effect of a small test area, the gain by a queue, the
//! application class, and tests in which it is the fastest (as the notes in
//! docs/reference/reports.md#microsd-speed-comparison).

use super::areas::{self, columns_by_card};
use super::columns::{ComparedColumn, TestKey, TestRuns};
use cardscope_model::card::CardFacts;
use cardscope_model::comparison::CardRemark;
use cardscope_model::statistics::mean;
use cardscope_model::test_name::{IoOrder, TestName, TestOp};
use cardscope_model::units::{BinarySize, KIB, MB, SpeedMbS};
use cardscope_sd::mark::Mark;

/// Speed over a large area as a share of that over a small one. Below the first the small area measured a buffer, below the
/// second the card slows down, above the last the area does not matter.
const COLLAPSED_SHARE: f64 = 0.2;
const SLOWER_SHARE: f64 = 0.8;
const SAME_SHARE: f64 = 0.95;

/// I/Os in flight of a deep queue.
const DEEP_QUEUE: u32 = 32;

/// Speed with a queue as a share of that of single requests: below the first the queue is fake, above the second it is a
/// gain (docs/reference/flash.md#queues).
const FAKE_QUEUE_SHARE: f64 = 0.5;
const QUEUE_GAIN: f64 = 1.3;

/// Least ratio of the speed of random 512 KiB blocks to the sequential speed that is remarked on.
const RANDOM_GAIN: f64 = 1.1;

/// Random reads and writes of 4 KiB a second that the application classes require (Physical Layer Specification 4.16).
const CLASS_RATES: [(&str, f64, f64); 2] = [("A2", 4000.0, 2000.0), ("A1", 1500.0, 500.0)];

/// Share of the bus limit from which the bus limits a speed.
const FULL_BUS_SHARE: f64 = 0.9;

/// Small writes a second below which any system that runs from the card stalls.
const STALLING_WRITES: f64 = 20.0;

/// Remarks on all cards that have any.
pub(super) fn card_remarks(columns: &[ComparedColumn]) -> Vec<CardRemark> {
    let cards = columns_by_card(columns);
    let nearest: Vec<ComparedColumn> = cards.iter().filter_map(|own| areas::combine_columns(own)).collect();
    let of = |(own, card): (&Vec<&ComparedColumn>, &ComparedColumn)| {
        let said = [
            area_remark(own),
            queue_remark(card),
            half_mib_remark(card),
            class_remark(card),
            missed_mark_remark(own),
            stalling_writes_remark(card),
            lead_remark(&nearest, card),
        ];
        let words: Vec<String> = said.into_iter().flatten().collect();
        (!words.is_empty()).then(|| CardRemark { name: card.entry.name.clone(), words })
    };
    cards.iter().zip(&nearest).filter_map(of).collect()
}

fn best_speed(column: &ComparedColumn, wanted: impl Fn(&TestName) -> bool) -> Option<f64> {
    let usual = |(_, values): &(TestKey, TestRuns)| mean(&values.mb_s);
    let found = column.tests.iter().filter(|((test, _), _)| wanted(test)).filter_map(usual);
    found.filter(|mb_s| mb_s.is_finite() && *mb_s > 0.0).max_by(f64::total_cmp)
}

fn is_small_random(op: TestOp, flight: u32) -> impl Fn(&TestName) -> bool {
    move |test| {
        let pattern = test.pattern;
        let blocks = pattern.order == IoOrder::Random && pattern.block == 4 * KIB;
        test.op == op && blocks && pattern.queue * pattern.threads == flight
    }
}

fn is_sequential(op: TestOp) -> impl Fn(&TestName) -> bool {
    move |test| test.op == op && test.pattern.order == IoOrder::Sequential && test.pattern.block >= 1024 * KIB
}

/// Largest loss of speed from the smallest area to the largest, or the absence of any loss.
fn area_remark(own: &[&ComparedColumn]) -> Option<String> {
    let effects = areas::card_area_effects(own);
    let worst = effects.iter().min_by(|a, b| a.large_area_share().total_cmp(&b.large_area_share()))?;
    let (test, [from, to]) = (worst.test, worst.bytes.map(BinarySize));
    let fall = || {
        let ([small, large], percent) = (worst.mb_s.map(SpeedMbS), 100.0 * (1.0 - worst.large_area_share()));
        format!("{test} falls by {percent:.0} % from {from} to {to} ({small} to {large})")
    };
    match worst.large_area_share() {
        share if share < COLLAPSED_SHARE && test.op == TestOp::Write => {
            Some(format!("buffers, and writes collapse behind the buffer: {}", fall()))
        }
        share if share < SLOWER_SHARE => Some(format!("slows down over a large area: {}", fall())),
        share if share > SAME_SHARE => Some(format!("as fast over {to} as over {from}")),
        _ => None,
    }
}

fn op_word(op: TestOp) -> &'static str {
    if op == TestOp::Write { "writes" } else { "reads" }
}

/// Effect of a queue on small writes and small reads.
fn queue_remark(column: &ComparedColumn) -> Option<String> {
    let of = |op: TestOp| {
        let best = |queue| best_speed(column, is_small_random(op, queue));
        Some((op, best(1)?, best(DEEP_QUEUE)?))
    };
    let each: Vec<(TestOp, f64, f64)> = [TestOp::Write, TestOp::Read].into_iter().filter_map(of).collect();
    if let Some((op, single, deep)) = each.iter().find(|(_, single, deep)| deep / single < FAKE_QUEUE_SHARE) {
        let (ops, from, to) = (op_word(*op), SpeedMbS(*single), SpeedMbS(*deep));
        return Some(format!("its queue is fake: {DEEP_QUEUE} {ops} at once drop from {from} to {to}"));
    }
    let gains = each.iter().filter(|(_, single, deep)| deep / single > QUEUE_GAIN);
    let gains = gains.map(|(op, single, deep)| format!("queued {} are {:.1} ×", op_word(*op), deep / single));
    let gains: Vec<String> = gains.collect();
    (!gains.is_empty()).then(|| format!("{} as fast as single ones", gains.join(" and ")))
}

fn half_mib_remark(column: &ComparedColumn) -> Option<String> {
    let of = |op: TestOp| {
        let half = |test: &TestName| {
            let pattern = test.pattern;
            let blocks = pattern.order == IoOrder::Random && pattern.block == 512 * KIB;
            test.op == op && blocks && pattern.queue == 1
        };
        let (half, whole) = (best_speed(column, half)?, best_speed(column, is_sequential(op))?);
        let (ops, speeds) = (op_word(op), format!("{} against {}", SpeedMbS(half), SpeedMbS(whole)));
        let remark = || format!("{ops} 512 KiB blocks at random faster than data in order ({speeds})");
        (half > RANDOM_GAIN * whole).then(remark)
    };
    of(TestOp::Write).or_else(|| of(TestOp::Read))
}

/// Small I/Os a second of one operation, with or without a queue.
fn small_iops(column: &ComparedColumn, op: TestOp) -> Option<f64> {
    let best = |flight| best_speed(column, is_small_random(op, flight)).unwrap_or(0.0);
    let mb_s = best(1).max(best(DEEP_QUEUE));
    (mb_s > 0.0).then(|| mb_s * MB / (4 * KIB) as f64)
}

/// Marks of a card with one of these letters.
fn marks_with_letters<'a>(facts: &'a CardFacts, letters: &'a [char]) -> impl Iterator<Item = Mark> + 'a {
    let all = facts.marks.iter().flat_map(|text| Mark::parse_label(text));
    all.filter(|mark| letters.contains(&mark.letter()))
}

/// Application class whose rates small reads and writes reach, compared with the card's mark. A card without such a mark need
/// not reach any.
fn class_remark(column: &ComparedColumn) -> Option<String> {
    let (reads, writes) = (small_iops(column, TestOp::Read)?, small_iops(column, TestOp::Write)?);
    let reached = CLASS_RATES.iter().position(|(_, read, write)| reads >= *read && writes >= *write);
    let reached = reached.map(|at| CLASS_RATES[at].0);
    let rates = format!("{reads:.0} reads and {writes:.0} writes a second");
    let borne = marks_with_letters(&column.entry.card, &['A']).max_by_key(|mark| mark.number());
    match (borne.map(|mark| mark.to_string()), reached) {
        (Some(borne), Some(class)) if borne.as_str() > class => {
            Some(format!("marked {borne}, but reaches the rates of {class} only ({rates})"))
        }
        (Some(borne), None) => {
            let even = if borne == "A1" { "its rates" } else { "even the rates of A1" };
            Some(format!("marked {borne}, but misses {even} ({rates})"))
        }
        (_, Some(class)) => Some(format!("reaches the rates of {class} ({rates})")),
        (None, None) => None,
    }
}

/// Remark that sequential writes over the largest area miss the highest mark in every setting; `None` if they reach it
/// or the bus is the limit.
fn missed_mark_remark(own: &[&ComparedColumn]) -> Option<String> {
    let largest = own.iter().map(|column| areas::area_bytes(column)).max()?;
    let nearest = own.iter().filter(|column| areas::area_bytes(column) == largest);
    let each = nearest.filter_map(|c| Some((best_speed(c, is_sequential(TestOp::Write))?, *c)));
    let (writes, column) = each.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let highest = marks_with_letters(&column.entry.card, &['C', 'U', 'V'])
        .max_by(|a, b| a.demand().write_mb_s.total_cmp(&b.demand().write_mb_s))?;
    let asked = highest.demand().write_mb_s;
    let is_the_bus = column.entry.bus_ceiling_mb_s().is_some_and(|carries| writes > FULL_BUS_SHARE * carries);
    (writes < asked && !is_the_bus).then(|| {
        format!("marked {highest} ({asked} MB/s), but writes no more than {} in order", SpeedMbS(writes))
    })
}

fn stalling_writes_remark(column: &ComparedColumn) -> Option<String> {
    let writes = small_iops(column, TestOp::Write).filter(|writes| *writes < STALLING_WRITES)?;
    let mb_s = SpeedMbS(writes * (4 * KIB) as f64 / MB);
    let count = match writes {
        writes if writes < 1.5 => "one".to_owned(),
        writes => format!("{writes:.0}"),
    };
    Some(format!("hardly writes small blocks: {count} a second ({mb_s})"))
}

type TestFilter<'a> = &'a dyn Fn(&TestName) -> bool;

/// Tests in which the card is the fastest of several, each over its largest area.
fn lead_remark(cards: &[ComparedColumn], own: &ComparedColumn) -> Option<String> {
    let kinds: [(&str, TestFilter); 4] = [
        ("large reads", &is_sequential(TestOp::Read)),
        ("large writes", &is_sequential(TestOp::Write)),
        ("small reads", &is_small_random(TestOp::Read, 1)),
        ("small writes", &is_small_random(TestOp::Write, 1)),
    ];
    let leads = |wanted: TestFilter| {
        let others = cards.iter().filter(|card| card.entry.card_id != own.entry.card_id);
        let best = others.filter_map(|column| best_speed(column, wanted)).max_by(f64::total_cmp)?;
        Some(best_speed(own, wanted)? > best)
    };
    let led = kinds.iter().filter(|(_, wanted)| leads(wanted) == Some(true));
    let led: Vec<&str> = led.map(|(kind, _)| *kind).collect();
    (!led.is_empty()).then(|| format!("the fastest at {}", led.join(", ")))
}
