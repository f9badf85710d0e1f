//! The largest number of blocks in turn that costs no more than few: doubled until it does, then bisected
//! (docs/reference/flash.md#open-blocks).

use super::super::bench::{BLOCK, WriteTester};
use super::judge::{JudgedRound, RoundJudgement, judge};
use super::turns::{PositionOrder, TurnTest, TurnTimes};
use cardscope_engine::card::ProbeStop;
use cardscope_statistics::flashbench::{SOFT, SOFT_FIRST};

/// Where no limit shows up to here, none is looked for.
pub(super) const MOST: u32 = 32;

/// Writes to few blocks that a doubtful round is held against.
const CONTROL: usize = 12;

/// Why a search ended early, where it did.
const NO_PLACES: &str = "too few erase blocks are writable";
const NO_WRITES: &str = "too few writes succeeded";

/// What was found for one order.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenBlockLimit {
    /// Blocks that cost no more than few, where more of them do.
    pub(super) limit: Option<u32>,
    /// Most blocks that cost no more than few; 0 where no number of blocks could be held against another.
    pub(super) free: u32,
    /// Why no more blocks were tried, where something ended the search early.
    pub(super) ended: &'static str,
    /// Every round, by number of blocks.
    pub(super) rounds: Vec<JudgedRound>,
    /// Usual times of a write.
    pub(super) usual: Vec<f64>,
    /// Times just beyond the limit.
    pub(super) beyond: Vec<f64>,
    /// Times with a single block.
    pub(super) single: Vec<f64>,
    /// True where a share of writes that grows with the number of blocks is slow: no limit of open blocks.
    pub(super) graded: bool,
}

impl OpenBlockLimit {
    /// The round with `n` blocks.
    pub(super) fn round(&self, n: u32) -> Option<&JudgedRound> {
        self.rounds.iter().find(|r| r.n == n)
    }

    /// Whether the limit is one at which each write only gets somewhat dearer.
    pub(super) fn is_soft(&self) -> bool {
        let beyond = self.limit.and_then(|limit| self.round(limit + 1));
        beyond.is_some_and(|round| round.judgement == RoundJudgement::Soft)
    }

    /// Probability of the limit, or of there being none, as far as the rounds at its two sides say.
    pub(super) fn confidence(&self) -> f64 {
        let limit = self.limit.unwrap_or(self.free);
        let doubt: f64 = self.rounds.iter().filter(|r| r.n.abs_diff(limit) <= 1).map(|r| r.doubt).sum();
        (1.0 - doubt - 0.005).clamp(0.5, 0.995)
    }
}

/// Searches, with `usual` times to hold rounds of a single block against, and the limit in order, where there are such.
pub(super) fn search(
    bench: &mut WriteTester<'_, '_, '_>,
    order: PositionOrder,
    usual: Option<&[f64]>,
    limit: Option<u32>,
) -> Result<OpenBlockLimit, ProbeStop> {
    let mut found = OpenBlockLimit::default();
    let turns = |n| TurnTest { n, block: BLOCK, order };
    found.ended = NO_PLACES;
    let Some(single) = turns(1).run(bench, |times| times.len() >= 8)? else { return Ok(found) };
    found.ended = NO_WRITES;
    if single.first.is_empty() {
        return Ok(found);
    }
    found.single.clone_from(&single.first);
    if let Some(usual) = usual
        && let Some(judged) = judge(&single, usual, 1, f64::INFINITY)
    {
        found.rounds.push(judged);
    }
    found.usual = single.first;
    let mut free = 1;
    let mut over = None;
    while over.is_none() && free < MOST {
        let n = next(free, limit);
        match round(bench, &mut found, turns(n))? {
            None => break,
            Some(true) => over = Some(n),
            Some(false) => free = n,
        }
    }
    let Some(mut over) = over else { return Ok(found) };
    while over - free > 1 {
        let n = (free + over) / 2;
        match round(bench, &mut found, turns(n))? {
            None => return Ok(found),
            Some(true) => over = n,
            Some(false) => free = n,
        }
    }
    found.graded = found.round(over).is_none_or(|r| !r.is_sharp());
    found.limit = (!found.graded).then_some(free);
    Ok(found)
}

/// Blocks of the next round: twice as many, but no card keeps more open out of order than in order, so the limit in
/// order and one block more are tried as soon as the usual is known.
fn next(free: u32, limit: Option<u32>) -> u32 {
    match limit {
        Some(limit) if free > 1 && free < limit => limit,
        Some(limit) if free == limit => limit + 1,
        _ => free * 2,
    }
}

/// One round: whether it is over the limit. `None` where there are not so many fresh places, or its writes failed.
fn round(
    bench: &mut WriteTester<'_, '_, '_>,
    found: &mut OpenBlockLimit,
    turns: TurnTest,
) -> Result<Option<bool>, ProbeStop> {
    bench.afford(expected_seconds(found, turns.n))?;
    let soft = if turns.n == 2 && turns.order == PositionOrder::Linear { SOFT_FIRST } else { SOFT };
    let usual = found.usual.clone();
    let decided = |times: &[f64]| {
        let timed = TurnTimes { first: times.to_vec(), later: Vec::new() };
        judge(&timed, &usual, turns.n, soft).is_some_and(|j| j.judgement != RoundJudgement::Open)
    };
    found.ended = NO_PLACES;
    let Some(mut times) = turns.run(bench, decided)? else { return Ok(None) };
    found.ended = NO_WRITES;
    let Some(mut judged) = judge(&times, &usual, turns.n, soft) else { return Ok(None) };
    if judged.is_over()
        && !(judged.judgement == RoundJudgement::Hard && judged.is_sharp())
        && let Some(second) = second_look(bench, found, turns, soft, &decided)?
        && !second.1.is_over()
    {
        (times, judged) = second;
    }
    found.rounds.push(judged);
    let over = judged.is_over();
    if over {
        // One block at a time is what the others were held against.
        found.free = found.free.max(1);
        found.beyond = times.first;
    } else {
        found.free = found.free.max(turns.n);
        // From here on the usual is what blocks in turn cost.
        found.usual = if turns.n == 2 { times.first } else { usual };
    }
    Ok(Some(over))
}

/// A card that closes a block at each write does it plainly. Anything less may be a computer that is late for a while, so
/// few blocks and these are looked at once more, one directly after the other. `None` where the limits leave no room.
fn second_look(
    bench: &mut WriteTester<'_, '_, '_>,
    found: &OpenBlockLimit,
    turns: TurnTest,
    soft: f64,
    decided: &dyn Fn(&[f64]) -> bool,
) -> Result<Option<(TurnTimes, JudgedRound)>, ProbeStop> {
    if !bench.context.has_time(2.0 * expected_seconds(found, turns.n)) {
        return Ok(None);
    }
    let few = TurnTest { n: if turns.n > 2 { 2 } else { 1 }, ..turns };
    let mut both = || Ok((few.run(bench, |times| times.len() >= CONTROL)?, turns.run(bench, decided)?));
    match both() {
        Err(ProbeStop::Limit) => Ok(None),
        Err(stop) => Err(stop),
        Ok((Some(control), Some(again))) => {
            Ok(judge(&again, &control.first, turns.n, soft).map(|judged| (again, judged)))
        }
        Ok(_) => Ok(None),
    }
}

/// The first round of a test closes as many blocks as it opens, at worst; before any was seen, nothing is expected.
fn expected_seconds(found: &OpenBlockLimit, n: u32) -> f64 {
    let closing = found.beyond.iter().copied().fold(0.0, f64::max);
    f64::from(n) * closing.max(0.005)
}
