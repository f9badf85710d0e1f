//! Blocks written in turn: the same position in each of `n` of them, then the next position in each. A card that keeps
//! fewer than `n` open, whether it closes the one used longest ago or the one opened first, closes one at every write
//! (docs/reference/flash.md#open-blocks).

use super::super::bench::WriteTester;
use cardscope_engine::card::{CardExtent, ProbeStop};

/// Positions inside a block that a test may use at most.
const POSITIONS: u64 = 16;

/// In which order the positions inside a block come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PositionOrder {
    /// One after the other.
    Linear,
    /// Shuffled, none behind the one before it.
    Random,
}

/// Seconds of the writes of a test.
#[derive(Debug, Clone, Default)]
pub(super) struct TurnTimes {
    /// The first of each visit to a block: what had to be closed for it is in there.
    pub(super) first: Vec<f64>,
    /// The others, to a block that is open for sure.
    pub(super) later: Vec<f64>,
}

/// A test with so many blocks in turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct TurnTest {
    /// Blocks.
    pub(super) n: u32,
    /// Bytes of a write.
    pub(super) block: u32,
    /// Order inside the blocks.
    pub(super) order: PositionOrder,
}

impl TurnTest {
    /// Writes of one visit to a block. A card may keep fewer blocks open once it knows one as written out of order,
    /// which takes two writes: so the next block must not be opened before.
    fn visit(self) -> usize {
        match self.order {
            PositionOrder::Linear => 1,
            PositionOrder::Random => 2,
        }
    }

    /// Writes until `enough` says so or there are no positions left, and gives the seconds of the writes.
    /// The first round is left out: it pays for closing what was open before. `None` where there are not so many fresh places.
    pub(super) fn run(
        self,
        bench: &mut WriteTester<'_, '_, '_>,
        mut enough: impl FnMut(&[f64]) -> bool,
    ) -> Result<Option<TurnTimes>, ProbeStop> {
        let Some(places) = bench.places(self.n as usize) else { return Ok(None) };
        let positions = self.positions(bench);
        let mut times = TurnTimes::default();
        let at =
            |place: &u64, p: &u64| CardExtent { offset: place + p * u64::from(self.block), len: self.block };
        let of = |visit: &[u64]| -> Vec<CardExtent> {
            places.iter().flat_map(|place| visit.iter().map(|p| at(place, p)).collect::<Vec<_>>()).collect()
        };
        // The rounds that every test makes are saved together: put back by their addresses, each block is opened once.
        bench.context.read_ahead(&of(&positions))?;
        bench.context.prepare(&of(&positions[..positions.len().min(2 * self.visit())]))?;
        for (round, visit) in positions.chunks_exact(self.visit()).enumerate() {
            let extents = of(visit);
            if round == 0 {
                bench.write_all(&extents)?;
                continue;
            }
            bench.context.read_ahead(&of(&positions[round * self.visit()..]))?;
            bench.context.prepare(&extents)?;
            for visit in extents.chunks_exact(self.visit()) {
                bench.afford(0.0)?;
                times.first.extend(bench.context.write(visit[0])?);
                for more in &visit[1..] {
                    times.later.extend(bench.context.write(*more)?);
                }
                if enough(&times.first) {
                    return Ok(Some(times));
                }
            }
        }
        Ok(Some(times))
    }

    /// Out of order only every second position is used: a card that tells many streams apart takes a write behind any
    /// older one for the next of a stream.
    fn positions(self, bench: &mut WriteTester<'_, '_, '_>) -> Vec<u64> {
        let stride = self.visit() as u64;
        // A block written whole in order is closed for nothing: a quarter stays free. Out of order half of it does.
        let inside = bench.slots.inside() * if stride == 1 { 3 } else { 4 } / 4;
        let room = inside / u64::from(self.block) / stride;
        let mut positions: Vec<u64> = (0..room.clamp(4, POSITIONS)).map(|i| i * stride).collect();
        if self.order == PositionOrder::Random {
            bench.context.random.shuffle(&mut positions);
        }
        positions
    }
}
