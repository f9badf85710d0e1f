//! How many blocks a card keeps open, from the speeds that flashbench's `-O` prints for each number of blocks in turn. The
//! limit that explains slow and usual lines best is found, and its probability among all limits.
//!
//! A line of whole blocks is left out: nothing of a block stays open. In the public logs
//! (docs/reference/flash.md#open-blocks) a limit shows as most of the smaller sizes getting slower at once, by half or
//! by a hundred times.

use super::certainty::{MOST_SURE, NOT_IN_LOG, SURE};
use cardscope_model::card_map::property::{Property, PropertyEvidence};
use cardscope_model::flashbench::{FlashbenchTables, OpenAu};
use cardscope_model::statistics::median;
use std::collections::{BTreeMap, BTreeSet};

/// Every write dearer by this is a soft limit; SanDisk cards show 2 to 5 times.
pub const SOFT: f64 = 1.25;

/// From one block to two a write costs more on many cards without any limit: up to 1.25 times in public logs.
pub const SOFT_FIRST: f64 = 1.8;

/// Share of slow lines with few blocks, and beyond a limit, where only some sizes of writes get slower.
const SHARE: (f64, f64) = (0.03, 0.8);

/// The step at a limit is so many times any step below it, in logarithms: 6 times and more in the public logs, 1.4 times
/// on the card there that gets slower with each block more.
const SHARP: f64 = 3.0;

/// A round of so many blocks in turn: the time of a byte by bytes of a write.
type RoundTimes = BTreeMap<u64, f64>;

/// The most blocks that cost no more than few, written in order or out of it.
pub(super) fn limit(tables: &FlashbenchTables, random: bool) -> Property<u32> {
    let rounds = rounds(tables, random);
    let counts: Vec<u32> = rounds.keys().copied().collect();
    let (Some(first), Some(most)) = (counts.first(), counts.last()) else {
        return Property::not_tested(NOT_IN_LOG);
    };
    if first == most {
        return Property::not_tested(format!(
            "only {most} blocks in turn; a limit shows between two numbers"
        ));
    }
    let (limit, sure) = likeliest(&rounds);
    let next = counts.iter().find(|n| **n > limit);
    match next {
        _ if sure < SURE => Property::not_tested(format!("undecided: {limit}, {:.0} % sure", 100.0 * sure)),
        Some(next) if *next > limit + 1 => Property::not_tested(format!(
            "between {limit} and {} blocks: no numbers tested between",
            next - 1
        )),
        Some(_) if !is_sharp(&rounds, limit) => {
            Property::not_tested("no sharp limit: writes get slower with each block")
        }
        Some(_) => Property::measured(limit, sure, evidence(&rounds, limit)),
        // All alike may as well be all beyond the limit where nothing tells what few blocks cost.
        None if *first > 1 => Property::not_tested(format!("fewer than {first} blocks were not tested")),
        None => Property::at_least(limit, sure, evidence(&rounds, limit)),
    }
}

/// The rounds of one order, by number of blocks.
fn rounds(tables: &FlashbenchTables, random: bool) -> BTreeMap<u32, RoundTimes> {
    let Some(au_bytes) = most_tested(tables, random) else { return BTreeMap::new() };
    let mut all: BTreeMap<u32, BTreeMap<u64, Vec<f64>>> = BTreeMap::new();
    let in_order = |row: &&OpenAu| row.random == random && row.au_bytes == au_bytes;
    let open = tables.open_au.iter().filter(in_order).map(|row| (row.au_count, row.block_bytes, row.mb_s));
    // The first blocks of `-f` are written in order, one after the other.
    let single = tables.fat.iter().filter(|_| !random);
    let single = single.flat_map(|row| row.mb_s.iter().map(|mb_s| (Some(1), row.block_bytes, *mb_s)));
    let has_single = tables.open_au.iter().filter(in_order).any(|row| row.au_count == Some(1));
    for (count, block, mb_s) in open.chain(single.filter(|_| !has_single)) {
        if let Some(count) = count.filter(|_| block < au_bytes && mb_s > 0.0) {
            all.entry(count).or_default().entry(block).or_default().push(1.0 / mb_s);
        }
    }
    let round = |times: BTreeMap<u64, Vec<f64>>| -> RoundTimes {
        times.into_iter().filter_map(|(block, times)| Some((block, median(&times)?))).collect()
    };
    all.into_iter().map(|(count, times)| (count, round(times))).collect()
}

/// The size of blocks that was tested with most numbers of them.
fn most_tested(tables: &FlashbenchTables, random: bool) -> Option<u64> {
    let mut counts: BTreeMap<u64, BTreeSet<u32>> = BTreeMap::new();
    for row in tables.open_au.iter().filter(|row| row.random == random) {
        counts.entry(row.au_bytes).or_default().extend(row.au_count);
    }
    counts.into_iter().max_by_key(|(_, counts)| counts.len()).map(|(bytes, _)| bytes)
}

/// The limit with the highest likelihood, and its probability among all: each number of blocks that was tested.
fn likeliest(rounds: &BTreeMap<u32, RoundTimes>) -> (u32, f64) {
    let all: Vec<(u32, f64)> = rounds.keys().map(|limit| (*limit, likelihood(rounds, *limit))).collect();
    let (limit, best) =
        all.iter().copied().fold((0, f64::NEG_INFINITY), |a, b| if b.1 > a.1 { b } else { a });
    let weights: f64 = all.iter().map(|(_, one)| (one - best).exp()).sum();
    (limit, (1.0 / weights).min(MOST_SURE))
}

/// Logarithm of the probability of all lines, were this the limit.
fn likelihood(rounds: &BTreeMap<u32, RoundTimes>, limit: u32) -> f64 {
    let chance = |slow: bool, share: f64| if slow { share.ln() } else { (1.0 - share).ln() };
    let of = |(count, slow): (u32, Vec<bool>)| -> f64 {
        let share = if count <= limit { SHARE.0 } else { SHARE.1 };
        slow.into_iter().map(|slow| chance(slow, share)).sum()
    };
    slow_lines(rounds, limit).map(of).sum()
}

/// Which lines of each round but the first are slow, were this the limit.
fn slow_lines(rounds: &BTreeMap<u32, RoundTimes>, limit: u32) -> impl Iterator<Item = (u32, Vec<bool>)> {
    let mut known = rounds.iter();
    let usual = known.next().map(|(_, first)| first.clone()).unwrap_or_default();
    known.scan((usual, SOFT_FIRST), move |(usual, factor), (count, round)| {
        let slow =
            round.iter().filter_map(|(block, time)| Some(*time > *factor * usual.get(block)?)).collect();
        // Below the limit the dearer of one block and the next number is what the others are held against.
        if *factor > SOFT && *count <= limit {
            round.iter().for_each(|(block, time)| {
                usual.entry(*block).and_modify(|known| *known = known.max(*time)).or_insert(*time);
            });
            *factor = SOFT;
        }
        Some((*count, slow))
    })
}

/// Whether writes get dearer beyond the limit, and not as much with each number of blocks before it.
fn is_sharp(rounds: &BTreeMap<u32, RoundTimes>, limit: u32) -> bool {
    let all: Vec<(&u32, &RoundTimes)> = rounds.iter().collect();
    let steps = all.windows(2).filter_map(|pair| Some((*pair[0].0, step(pair[0].1, pair[1].1)?)));
    let (before, beyond): (Vec<_>, Vec<_>) =
        steps.filter(|(from, _)| *from <= limit).partition(|(from, _)| *from < limit);
    let largest = before.iter().map(|(_, step)| *step).fold(0.0, f64::max);
    beyond.iter().all(|(_, step)| *step > SHARP * largest)
}

/// Logarithm of the factor from one round to the next, by the middle of the sizes of writes.
fn step(from: &RoundTimes, to: &RoundTimes) -> Option<f64> {
    let factors = to.iter().filter_map(|(block, time)| Some((time / from.get(block)?).ln()));
    median(&factors.collect::<Vec<_>>())
}

/// How many lines are slow on the two sides of the limit.
fn evidence(rounds: &BTreeMap<u32, RoundTimes>, limit: u32) -> PropertyEvidence {
    let evidence = PropertyEvidence::by("writes to several blocks in turn (flashbench -O)");
    let near = slow_lines(rounds, limit).filter(|(count, _)| (limit..=limit + 1).contains(count));
    near.fold(evidence, |evidence, (count, slow)| {
        let share = slow.iter().filter(|slow| **slow).count() as f64 / slow.len().max(1) as f64;
        evidence.number(&format!("write sizes slower with {count} blocks"), 100.0 * share, "%")
    })
}
