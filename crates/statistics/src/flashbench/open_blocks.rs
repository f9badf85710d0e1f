//! Number of blocks that a card keeps open, from the open-AU tables of flashbench (`-O`). The limit with the highest
//! likelihood of slow and normal lines is chosen among all numbers of blocks.
//! Writes of whole blocks are ignored, since they leave no block open. In the public logs
//! (docs/reference/flash.md#open-blocks) most smaller sizes become slower at the limit, by 1.5 to 100 times.

use cardscope_model::card_map::property::{Property, PropertyEvidence};
use cardscope_model::flashbench::{FlashbenchTables, OpenAu};
use cardscope_model::statistics::median;
use std::collections::{BTreeMap, BTreeSet};

/// Least probability of a result.
pub(super) const MIN_CONFIDENCE: f64 = 0.9;

/// Highest probability of a result, because the lines of one table are not independent.
pub(super) const MAX_CONFIDENCE: f64 = 0.995;

pub(super) const NOT_IN_LOG: &str = "not in the log";

/// Ratio of write times that marks a soft limit. SanDisk cards show 2 to 5.
pub const SOFT_LIMIT_RATIO: f64 = 1.25;

/// The same from one block to two, where many cards slow by up to 1.25 times without any limit.
pub const SOFT_LIMIT_RATIO_FIRST: f64 = 1.8;

/// Share of slow lines up to the limit and beyond it. Beyond it only some write sizes become slower.
const SLOW_LINE_SHARES: (f64, f64) = (0.03, 0.8);

/// Ratio of the step at the limit to any earlier step, in logarithms: at least 6 in the public logs, 1.4 on a card that
/// slows with each block.
const MIN_SHARPNESS: f64 = 3.0;

type RoundTimes = BTreeMap<u64, f64>;

/// Largest number of blocks open at once that costs nothing extra, for sequential or random writes.
pub(super) fn open_block_limit(tables: &FlashbenchTables, random: bool) -> Property<u32> {
    let rounds = rounds_by_count(tables, random);
    let counts: Vec<u32> = rounds.keys().copied().collect();
    let (Some(first), Some(most)) = (counts.first(), counts.last()) else {
        return Property::not_tested(NOT_IN_LOG);
    };
    if first == most {
        let why = format!("only {most} blocks in turn; a limit shows between two numbers");
        return Property::not_tested(why);
    }
    let (limit, sure) = likeliest_limit(&rounds);
    let next = counts.iter().find(|n| **n > limit);
    match next {
        _ if sure < MIN_CONFIDENCE => {
            Property::not_tested(format!("undecided: {limit}, {:.0} % sure", 100.0 * sure))
        }
        Some(next) if *next > limit + 1 => {
            let most = next - 1;
            Property::not_tested(format!("between {limit} and {most} blocks: no numbers tested between"))
        }
        Some(_) if !is_sharp(&rounds, limit) => {
            Property::not_tested("no sharp limit: writes get slower with each block")
        }
        Some(_) => Property::measured(limit, sure, limit_evidence(&rounds, limit)),
        // If even the fewest blocks may be beyond the limit, equal times prove nothing.
        None if *first > 1 => Property::not_tested(format!("fewer than {first} blocks were not tested")),
        None => Property::at_least(limit, sure, limit_evidence(&rounds, limit)),
    }
}

fn rounds_by_count(tables: &FlashbenchTables, random: bool) -> BTreeMap<u32, RoundTimes> {
    let Some(au_bytes) = most_tested_block_size(tables, random) else { return BTreeMap::new() };
    let mut all: BTreeMap<u32, BTreeMap<u64, Vec<f64>>> = BTreeMap::new();
    let in_order = |row: &&OpenAu| row.random == random && row.au_bytes == au_bytes;
    let open = tables.open_au.iter().filter(in_order).map(|row| (row.au_count, row.block_bytes, row.mb_s));
    // The first blocks of `-f` are written in order, one at a time.
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

fn most_tested_block_size(tables: &FlashbenchTables, random: bool) -> Option<u64> {
    let mut counts: BTreeMap<u64, BTreeSet<u32>> = BTreeMap::new();
    for row in tables.open_au.iter().filter(|row| row.random == random) {
        counts.entry(row.au_bytes).or_default().extend(row.au_count);
    }
    counts.into_iter().max_by_key(|(_, counts)| counts.len()).map(|(bytes, _)| bytes)
}

fn likeliest_limit(rounds: &BTreeMap<u32, RoundTimes>) -> (u32, f64) {
    let all: Vec<(u32, f64)> = rounds.keys().map(|n| (*n, limit_likelihood(rounds, *n))).collect();
    let (limit, best) =
        all.iter().copied().fold((0, f64::NEG_INFINITY), |a, b| if b.1 > a.1 { b } else { a });
    let weights: f64 = all.iter().map(|(_, one)| (one - best).exp()).sum();
    (limit, (1.0 / weights).min(MAX_CONFIDENCE))
}

fn limit_likelihood(rounds: &BTreeMap<u32, RoundTimes>, limit: u32) -> f64 {
    let chance = |slow: bool, share: f64| if slow { share.ln() } else { (1.0 - share).ln() };
    let of = |(count, slow): (u32, Vec<bool>)| -> f64 {
        let share = if count <= limit { SLOW_LINE_SHARES.0 } else { SLOW_LINE_SHARES.1 };
        slow.into_iter().map(|slow| chance(slow, share)).sum()
    };
    slow_lines(rounds, limit).map(of).sum()
}

fn slow_lines(rounds: &BTreeMap<u32, RoundTimes>, limit: u32) -> impl Iterator<Item = (u32, Vec<bool>)> {
    let mut known = rounds.iter();
    let usual = known.next().map(|(_, first)| first.clone()).unwrap_or_default();
    known.scan((usual, SOFT_LIMIT_RATIO_FIRST), move |(usual, factor), (count, round)| {
        let slow = round.iter().filter_map(|(block, s)| Some(*s > *factor * usual.get(block)?)).collect();
        // Below the limit the slower of the first two rounds becomes the reference.
        if *factor > SOFT_LIMIT_RATIO && *count <= limit {
            round.iter().for_each(|(block, time)| {
                usual.entry(*block).and_modify(|known| *known = known.max(*time)).or_insert(*time);
            });
            *factor = SOFT_LIMIT_RATIO;
        }
        Some((*count, slow))
    })
}

fn is_sharp(rounds: &BTreeMap<u32, RoundTimes>, limit: u32) -> bool {
    let all: Vec<(&u32, &RoundTimes)> = rounds.iter().collect();
    let steps = all.windows(2).filter_map(|pair| Some((*pair[0].0, log_time_ratio(pair[0].1, pair[1].1)?)));
    let (before, beyond): (Vec<_>, Vec<_>) =
        steps.filter(|(from, _)| *from <= limit).partition(|(from, _)| *from < limit);
    let largest = before.iter().map(|(_, step)| *step).fold(0.0, f64::max);
    beyond.iter().all(|(_, step)| *step > MIN_SHARPNESS * largest)
}

fn log_time_ratio(from: &RoundTimes, to: &RoundTimes) -> Option<f64> {
    let factors = to.iter().filter_map(|(block, time)| Some((time / from.get(block)?).ln()));
    median(&factors.collect::<Vec<_>>())
}

fn limit_evidence(rounds: &BTreeMap<u32, RoundTimes>, limit: u32) -> PropertyEvidence {
    let evidence = PropertyEvidence::from_method("writes to several blocks in turn (flashbench -O)");
    let near = slow_lines(rounds, limit).filter(|(count, _)| (limit..=limit + 1).contains(count));
    near.fold(evidence, |evidence, (count, slow)| {
        let share = slow.iter().filter(|slow| **slow).count() as f64 / slow.len().max(1) as f64;
        evidence.with_number(&format!("write sizes slower with {count} blocks"), 100.0 * share, "%")
    })
}
