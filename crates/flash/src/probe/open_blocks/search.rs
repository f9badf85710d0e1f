//! Searches the largest number of alternating blocks without extra cost: doubles the number, then bisects
//! (docs/reference/flash.md#open-blocks).

use super::rounds::{JudgedRound, PositionOrder, RoundJudgement, TurnTest, TurnTimes, judge_round};
use crate::probe::options::Result;
use crate::probe::write_tester::{OPENING_BYTES, WriteTester};
use cardscope_engine::io_driver::ProbeStop;
use cardscope_statistics::flashbench::{SOFT_LIMIT_RATIO, SOFT_LIMIT_RATIO_FIRST};

pub(super) const MAX_OPEN_BLOCKS: u32 = 32;

/// Writes to few blocks with which a doubtful round is compared.
const CONTROL: usize = 12;

const NO_PLACES: &str = "too few erase blocks are writable";
const NO_WRITES: &str = "too few writes succeeded";

#[derive(Debug, Clone, Default)]
pub(super) struct OpenBlockLimit {
    /// Most blocks without extra cost, if more of them have some.
    pub(super) limit: Option<u32>,
    /// Largest tested number without extra cost; 0 without any comparison.
    pub(super) most_free: u32,
    pub(super) end_reason: &'static str,
    pub(super) rounds: Vec<JudgedRound>,
    /// Typical seconds of a write, to which rounds are compared.
    pub(super) typical_s: Vec<f64>,
    /// Seconds of writes just above the limit.
    pub(super) beyond_s: Vec<f64>,
    /// Seconds of writes in a single block.
    pub(super) single_s: Vec<f64>,
    /// True if the share of slow writes grows with the number of blocks, which is no limit of open blocks.
    pub(super) is_graded: bool,
}

impl OpenBlockLimit {
    pub(super) fn round(&self, n: u32) -> Option<&JudgedRound> {
        self.rounds.iter().find(|r| r.n == n)
    }

    /// True if writes above the limit are all moderately slower.
    pub(super) fn is_soft(&self) -> bool {
        let beyond = self.limit.and_then(|limit| self.round(limit + 1));
        beyond.is_some_and(|round| round.judgement == RoundJudgement::Soft)
    }

    /// Probability of the result according to the rounds next to the limit.
    pub(super) fn confidence(&self) -> f64 {
        let limit = self.limit.unwrap_or(self.most_free);
        let doubt: f64 = self.rounds.iter().filter(|r| r.n.abs_diff(limit) <= 1).map(|r| r.doubt).sum();
        (1.0 - doubt - 0.005).clamp(0.5, 0.995)
    }
}

/// Runs the search. `usual` and `limit` are the times and the limit of the sequential search, if there was one.
pub(super) fn search_limit(
    bench: &mut WriteTester,
    order: PositionOrder,
    usual: Option<&[f64]>,
    limit: Option<u32>,
) -> Result<OpenBlockLimit> {
    let mut found = OpenBlockLimit::default();
    let turns = |n| TurnTest { blocks: n, write_bytes: OPENING_BYTES, order };
    found.end_reason = NO_PLACES;
    let Some(single) = turns(1).time_turns(bench, |times| times.len() >= 8)? else { return Ok(found) };
    found.end_reason = NO_WRITES;
    if single.first.is_empty() {
        return Ok(found);
    }
    found.single_s.clone_from(&single.first);
    if let Some(usual) = usual
        && let Some(judged) = judge_round(&single, usual, 1, f64::INFINITY)
    {
        found.rounds.push(judged);
    }
    found.typical_s = single.first;
    let mut free = 1;
    let mut over = None;
    while over.is_none() && free < MAX_OPEN_BLOCKS {
        let n = next_number(free, limit);
        match run_round(bench, &mut found, turns(n))? {
            None => break,
            Some(true) => over = Some(n),
            Some(false) => free = n,
        }
    }
    let Some(mut over) = over else { return Ok(found) };
    while over - free > 1 {
        let n = (free + over) / 2;
        match run_round(bench, &mut found, turns(n))? {
            None => return Ok(found),
            Some(true) => over = n,
            Some(false) => free = n,
        }
    }
    found.is_graded = found.round(over).is_none_or(|r| !r.is_sharp());
    found.limit = (!found.is_graded).then_some(free);
    Ok(found)
}

/// Number of blocks of the next round: doubled, except that the sequential limit and the number after it come
/// first, as no card keeps more blocks open at random.
fn next_number(free: u32, limit: Option<u32>) -> u32 {
    match limit {
        Some(limit) if free > 1 && free < limit => limit,
        Some(limit) if free == limit => limit + 1,
        _ => free * 2,
    }
}

/// Runs one round and returns true if it is above the limit; `None` if positions or successful writes are lacking.
fn run_round(bench: &mut WriteTester, found: &mut OpenBlockLimit, turns: TurnTest) -> Result<Option<bool>> {
    bench.require_time(expected_seconds(found, turns.blocks))?;
    let is_first = turns.blocks == 2 && turns.order == PositionOrder::Linear;
    let soft = if is_first { SOFT_LIMIT_RATIO_FIRST } else { SOFT_LIMIT_RATIO };
    let usual = found.typical_s.clone();
    let decided = |times: &[f64]| {
        let timed = TurnTimes { first: times.to_vec(), later: Vec::new() };
        let judged = judge_round(&timed, &usual, turns.blocks, soft);
        judged.is_some_and(|j| j.judgement != RoundJudgement::Undecided)
    };
    found.end_reason = NO_PLACES;
    let Some(mut times) = turns.time_turns(bench, decided)? else { return Ok(None) };
    found.end_reason = NO_WRITES;
    let Some(mut judged) = judge_round(&times, &usual, turns.blocks, soft) else { return Ok(None) };
    if judged.is_above_limit()
        && !(judged.judgement == RoundJudgement::Hard && judged.is_sharp())
        && let Some(second) = repeat_round(bench, found, turns, soft, &decided)?
        && !second.1.is_above_limit()
    {
        (times, judged) = second;
    }
    found.rounds.push(judged);
    let over = judged.is_above_limit();
    if over {
        // The round with few blocks was the reference, so it is free.
        found.most_free = found.most_free.max(1);
        found.beyond_s = times.first;
    } else {
        found.most_free = found.most_free.max(turns.blocks);
        // The cost of two alternating blocks is the reference of all later rounds.
        found.typical_s = if turns.blocks == 2 { times.first } else { usual };
    }
    Ok(Some(over))
}

/// Repeats a round that is above the limit without being plainly so, directly after one with few blocks, since the
/// computer may have been late. Returns `None` if the limits leave no room.
fn repeat_round(
    bench: &mut WriteTester,
    found: &OpenBlockLimit,
    turns: TurnTest,
    soft: f64,
    decided: &dyn Fn(&[f64]) -> bool,
) -> Result<Option<(TurnTimes, JudgedRound)>> {
    if !bench.context.has_time(2.0 * expected_seconds(found, turns.blocks)) {
        return Ok(None);
    }
    let few = TurnTest { blocks: if turns.blocks > 2 { 2 } else { 1 }, ..turns };
    let mut both = || {
        let control = few.time_turns(bench, |times| times.len() >= CONTROL)?;
        Ok(control.zip(turns.time_turns(bench, decided)?))
    };
    let both = match both() {
        Err(ProbeStop::Limit) => None,
        both => both?,
    };
    Ok(both.and_then(|(control, again)| {
        judge_round(&again, &control.first, turns.blocks, soft).map(|judged| (again, judged))
    }))
}

/// The first round closes at most as many blocks as it opens. Before the first closing its cost is unknown.
fn expected_seconds(found: &OpenBlockLimit, n: u32) -> f64 {
    let closing = found.beyond_s.iter().copied().fold(0.0, f64::max);
    f64::from(n) * closing.max(0.005)
}
