//! Alternating writes: one position in each of `n` blocks, then the next position in each. A card that keeps fewer
//! than `n` blocks open closes one at every write, whether it closes the block used or opened longest ago
//! (docs/reference/flash.md#open-blocks).

use crate::probe::options::Result;
use crate::probe::write_tester::WriteTester;
use cardscope_engine::io_driver::CardExtent;

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
        match self.order {
            PositionOrder::Linear => 1,
            PositionOrder::Random => 2,
        }
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
        let at = |place: &u64, p: &u64| CardExtent {
            offset: place + p * u64::from(self.write_bytes),
            len: self.write_bytes,
        };
        let of = |visit: &[u64]| -> Vec<CardExtent> {
            places.iter().flat_map(|place| visit.iter().map(|p| at(place, p)).collect::<Vec<_>>()).collect()
        };
        // Saved together: restored in address order, each block is then opened only once.
        bench.context.read_ahead(&of(&positions))?;
        bench
            .context
            .save_before_write(&of(&positions[..positions.len().min(2 * self.writes_per_turn())]))?;
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
