//! Rounds of alternating writes: one position in each of `n` blocks, then the next position in each. A card that
//! keeps fewer than `n` blocks open closes one at every write, whether it closes the block used or opened longest
//! ago. A hard limit makes nearly every write a closing that takes many times as long; a soft one makes all writes
//! some tens of percent slower (docs/reference/flash.md#open-blocks).

use crate::probe::options::Result;
use crate::probe::write_tester::WriteTester;
use cardscope_engine::io_driver::CardExtent;
use cardscope_model::statistics::median;
use cardscope_statistics::robust::{TimeShift, median_shift};
use cardscope_statistics::sprt::{SprtTest, SprtVerdict};

/// Factor over the typical time from which a write is a closing.
const SLOW_FACTOR: f64 = 4.0;

/// Share of slow writes below the limit and above it. In cyclic order every write misses, whether the card closes
/// the block used or opened longest ago; a card that closes a random one still has more than three in four slow.
const SLOW_SHARES: (f64, f64) = (0.03, 0.8);

/// Factor from which a write counts as dear: above the scatter of 3 to 8 %, below every soft limit.
const DEAR_FACTOR: f64 = 1.12;

const ERROR: f64 = 0.01;

const MIN_WRITES: usize = 6;

/// A limit of open blocks is sharp: at most this share of repeated writes to an open block is slow, and at least
/// this share of opening writes is dear. A share that grows with the number of blocks is no such limit.
pub(super) const SHARP_SHARES: (f64, f64) = (0.2, 0.7);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RoundJudgement {
    Hard,
    Soft,
    /// No slower than few blocks.
    Free,
    Undecided,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct JudgedRound {
    pub(super) judgement: RoundJudgement,
    pub(super) slow: f64,
    /// Share of writes above [`DEAR_FACTOR`].
    pub(super) dear: f64,
    /// Share of slow writes among the repeated writes to an open block.
    pub(super) slow_later: f64,
    pub(super) shift: TimeShift,
    /// Probability of a wrong judgement according to the sequential test.
    pub(super) doubt: f64,
    pub(super) median_s: f64,
    /// Number of alternating blocks.
    pub(super) n: u32,
}

/// Judges a round with `n` blocks against typical times; a common factor of at least `soft` is a soft limit.
pub(super) fn judge_round(timed: &TurnTimes, usual: &[f64], n: u32, soft: f64) -> Option<JudgedRound> {
    let times = timed.first.as_slice();
    let tau = median(usual)?;
    let shift = median_shift(usual, times)?;
    let is_slow = |t: &&f64| **t > SLOW_FACTOR * tau;
    let mut test = SprtTest::new(ERROR, ERROR);
    times.iter().for_each(|t| test.add_event(is_slow(&t), SLOW_SHARES.0, SLOW_SHARES.1));
    let slow = times.iter().filter(is_slow).count() as f64 / times.len() as f64;
    let dear = times.iter().filter(|t| **t > DEAR_FACTOR * tau).count() as f64 / times.len() as f64;
    let slow_later = timed.later.iter().filter(is_slow).count() as f64 / timed.later.len().max(1) as f64;
    let judgement = match test.decide() {
        _ if times.len() < MIN_WRITES => RoundJudgement::Undecided,
        SprtVerdict::Alternative => RoundJudgement::Hard,
        _ if times.len() < MIN_WRITES.max(n as usize) => RoundJudgement::Undecided,
        _ if shift.is_above(soft) => RoundJudgement::Soft,
        // Neither clearly slower nor clearly equal, so more writes are needed.
        _ if shift.log_ratio + 2.0 * shift.error > soft.ln() => RoundJudgement::Undecided,
        SprtVerdict::Null => RoundJudgement::Free,
        SprtVerdict::Open => RoundJudgement::Undecided,
    };
    let null = test.null_probability();
    let doubt = if judgement == RoundJudgement::Hard { null } else { (1.0 - null).min(0.5) };
    Some(JudgedRound { judgement, slow, dear, slow_later, shift, doubt, median_s: median(times)?, n })
}

impl JudgedRound {
    /// True if the round is above the limit. An undecided round is judged by its share of slow writes.
    pub(super) fn is_above_limit(&self) -> bool {
        match self.judgement {
            RoundJudgement::Hard | RoundJudgement::Soft => true,
            RoundJudgement::Free => false,
            RoundJudgement::Undecided => self.slow > 0.5,
        }
    }

    /// True for a limit of open blocks: opening writes are dear, repeated ones are not.
    pub(super) fn is_sharp(&self) -> bool {
        self.slow_later <= SHARP_SHARES.0 && self.dear >= SHARP_SHARES.1
    }
}

const MAX_POSITIONS: u64 = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PositionOrder {
    Linear,
    /// Shuffled; no position directly follows the one before it.
    Random,
}

#[derive(Debug, Clone, Default)]
pub(super) struct TurnTimes {
    /// First write of each turn at a block, which includes a closing.
    pub(super) first: Vec<f64>,
    /// Further writes of a turn, to a block that is certainly open.
    pub(super) later: Vec<f64>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct TurnTest {
    pub(super) blocks: u32,
    pub(super) write_bytes: u32,
    pub(super) order: PositionOrder,
}

impl TurnTest {
    /// Writes per turn at a block. A card may keep fewer blocks open once it recognizes random writes, which takes
    /// two of them before the next block is opened.
    fn writes_per_turn(self) -> usize {
        if self.order == PositionOrder::Random { 2 } else { 1 }
    }

    /// Writes until `enough` returns true or no positions are left. The first round is not timed, since it closes
    /// the blocks of earlier tests. Returns `None` without enough unused positions.
    pub(super) fn time_turns(
        self,
        bench: &mut WriteTester,
        mut enough: impl FnMut(&[f64]) -> bool,
    ) -> Result<Option<TurnTimes>> {
        let Some(places) = bench.take_positions(self.blocks as usize) else { return Ok(None) };
        let positions = self.positions(bench);
        let mut times = TurnTimes::default();
        let len = self.write_bytes;
        let at = |place: &u64, p: &u64| CardExtent { offset: place + p * u64::from(len), len };
        let of = |turn: &[u64]| -> Vec<CardExtent> {
            places.iter().flat_map(|place| turn.iter().map(move |p| at(place, p))).collect()
        };
        // Saved together: restored in address order, each block is then opened only once.
        bench.context.read_ahead(&of(&positions))?;
        let first = positions.len().min(2 * self.writes_per_turn());
        bench.context.save_before_write(&of(&positions[..first]))?;
        for (round, visit) in positions.chunks_exact(self.writes_per_turn()).enumerate() {
            let extents = of(visit);
            if round == 0 {
                bench.write_all(&extents)?;
                continue;
            }
            bench.context.read_ahead(&of(&positions[round * self.writes_per_turn()..]))?;
            bench.context.save_before_write(&extents)?;
            for visit in extents.chunks_exact(self.writes_per_turn()) {
                bench.require_time(0.0)?;
                times.first.extend(bench.context.time_write(visit[0])?);
                for more in &visit[1..] {
                    times.later.extend(bench.context.time_write(*more)?);
                }
                if enough(&times.first) {
                    return Ok(Some(times));
                }
            }
        }
        Ok(Some(times))
    }

    /// Random order uses every second position only. A card with many streams would take a write after any older
    /// one as the next of a stream.
    fn positions(self, bench: &mut WriteTester) -> Vec<u64> {
        let stride = self.writes_per_turn() as u64;
        // A block written as a whole is closed for free, so a quarter stays unused; in random order it is half.
        let inside = bench.slots.certain_bytes() * if stride == 1 { 3 } else { 4 } / 4;
        let room = inside / u64::from(self.write_bytes) / stride;
        let mut positions: Vec<u64> = (0..room.clamp(4, MAX_POSITIONS)).map(|i| i * stride).collect();
        if self.order == PositionOrder::Random {
            bench.context.random.shuffle(&mut positions);
        }
        positions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: [f64; 6] = [0.0040, 0.0041, 0.0039, 0.0042, 0.0040, 0.0038];

    fn judgement_of(times: &[f64], n: u32) -> RoundJudgement {
        judge_round(&timed(times), &USUAL, n, 1.25).unwrap().judgement
    }

    fn timed(times: &[f64]) -> TurnTimes {
        TurnTimes { first: times.to_vec(), later: Vec::new() }
    }

    #[test]
    fn slow_writes_are_a_hard_limit_and_one_hiccup_is_not() {
        assert_eq!(judgement_of(&[0.5, 0.6, 0.5, 0.5, 0.6, 0.5], 4), RoundJudgement::Hard);
        assert_eq!(
            judgement_of(&[0.004, 0.004, 0.5, 0.0041, 0.0039, 0.004, 0.0042, 0.004], 4),
            RoundJudgement::Free
        );
        assert_eq!(judgement_of(&[0.004, 0.0041], 4), RoundJudgement::Undecided);
    }

    #[test]
    fn writes_half_slower_are_a_soft_limit() {
        assert_eq!(judgement_of(&[0.006, 0.0061, 0.0059, 0.0062, 0.006, 0.0061], 4), RoundJudgement::Soft);
    }

    #[test]
    fn merges_within_a_turn_are_not_sharp() {
        let visits = TurnTimes { first: vec![0.4; 6], later: vec![0.004, 0.4, 0.004, 0.4, 0.004, 0.004] };
        assert!(!judge_round(&visits, &USUAL, 2, 1.25).unwrap().is_sharp());
    }

    #[test]
    fn merge_at_every_third_write_is_not_sharp() {
        let times = [0.004, 0.004, 0.2, 0.004, 0.004, 0.2, 0.004, 0.004, 0.2, 0.004, 0.004, 0.2];
        assert!(!judge_round(&timed(&times), &USUAL, 6, 1.25).unwrap().is_sharp());
    }
}
