//! Cost of a write by its size, in order and at random, as in docs/reference/reports.md#lexar-review.

use super::bench::{LARGEST, WriteTester, in_a_row};
use super::reader;
use crate::probe::curve::{plot, point};
use cardscope_engine::card::{CardExtent, ProbeStop};
use cardscope_model::units::{KIB, MIB};

/// Sizes with the number of writes of each: enough for a mean that one slow write does not decide; 31 MiB in order.
const SIZES: [(u64, usize); 14] = [
    (4 * MIB, 3),
    (2 * MIB, 4),
    (MIB, 4),
    (512 * KIB, 4),
    (256 * KIB, 6),
    (128 * KIB, 8),
    (64 * KIB, 12),
    (32 * KIB, 16),
    (16 * KIB, 16),
    (8 * KIB, 16),
    (4 * KIB, 16),
    (2 * KIB, 16),
    (KIB, 16),
    (512, 16),
];

/// Written before the stream is timed: the first write to a fresh block pays for closing another one.
const LEAD: u64 = LARGEST as u64;

/// Most blocks that random writes fall into, however many a card keeps open; five as in
/// docs/reference/reports.md#lexar-review.
const MOST_BLOCKS: u32 = 5;

/// After so much of its blocks was written a card must merge them: fresh ones are taken then.
const WORN_SHARE: u64 = 2;

/// One size at random ends after so many seconds, where each write closes a block: but not before the second write.
const MOST_SECONDS: f64 = 1.0;

/// Writes of one size at random that are saved in one go, at first and then.
const BATCH: (usize, usize) = (2, 8);

/// Measures both curves, then the reader.
pub(super) fn measure(bench: &mut WriteTester<'_, '_, '_>) -> Result<(), ProbeStop> {
    in_order(bench)?;
    at_random(bench)?;
    let curves = &bench.into.curves;
    let (in_order, at_random) = (&curves.sequential_write, &curves.random_write);
    let plot = plot("write speed by size", "size of a write", in_order, at_random);
    bench.into.plots.push(plot);
    reader::measure(bench)
}

/// The sizes that the target takes.
fn sizes(bench: &WriteTester<'_, '_, '_>) -> impl Iterator<Item = (u64, usize)> + use<> {
    let sector = u64::from(bench.context.sector());
    SIZES.into_iter().filter(move |(size, _)| *size >= sector)
}

/// From the largest size down, one directly behind the other: so each write begins on a multiple of its size, and no
/// block is left half written. Where not all of it fits, the largest sizes are left out.
fn in_order(bench: &mut WriteTester<'_, '_, '_>) -> Result<(), ProbeStop> {
    let mut wanted: Vec<(u64, usize)> = sizes(bench).collect();
    let all = |wanted: &[(u64, usize)]| LEAD + wanted.iter().map(|(size, n)| size * *n as u64).sum::<u64>();
    let room = bench.slots.bytes() / 2;
    while wanted.len() > 1 && all(&wanted) > room {
        wanted.remove(0);
    }
    let Some(start) = bench.range(all(&wanted)) else { return Ok(()) };
    bench.write_in_order(start, LEAD)?;
    let mut at = start + LEAD;
    for (size, n) in wanted {
        bench.afford(0.1)?;
        let times = bench.write_all(&in_a_row(at, std::iter::repeat_n(size, n)))?;
        at += size * n as u64;
        bench.into.curves.sequential_write.extend(point(size, &times));
    }
    bench.into.curves.sequential_write.sort_by_key(|p| p.bytes);
    Ok(())
}

/// Random writes within as many fresh blocks as the card keeps open (docs/reference/reports.md#lexar-review): the best
/// that it can do. Beyond that each write closes a block, which the parts `open` and `span` measure.
fn at_random(bench: &mut WriteTester<'_, '_, '_>) -> Result<(), ProbeStop> {
    let unit = bench.slots.unit();
    let open = &bench.into.open_blocks.random;
    // One where it is not known how many.
    let n = open.value.or(open.bound).unwrap_or(1).clamp(1, MOST_BLOCKS);
    let mut blocks = RandomBlocks { n, places: Vec::new(), left: 0 };
    // The smallest first: they leave the least behind for those after them.
    let wanted: Vec<(u64, usize)> = sizes(bench).filter(|(size, _)| *size <= unit).collect();
    for (size, n) in wanted.into_iter().rev() {
        bench.afford(0.1)?;
        let times = scattered(bench, &mut blocks, size, n)?;
        bench.into.curves.random_write.extend(point(size, &times));
    }
    bench.into.curves.random_write_blocks = Some(blocks.n);
    bench.into.curves.random_write.sort_by_key(|p| p.bytes);
    Ok(())
}

/// Blocks under random writes.
struct RandomBlocks {
    n: u32,
    places: Vec<u64>,
    /// Bytes that may be written before fresh ones are taken.
    left: u64,
}

impl RandomBlocks {
    /// `n` places of `size` bytes in open blocks, of which there are none where fresh ones are wanted and not to be had.
    fn extents(
        &mut self,
        bench: &mut WriteTester<'_, '_, '_>,
        size: u64,
        n: usize,
    ) -> Result<Vec<CardExtent>, ProbeStop> {
        let unit = bench.slots.unit();
        if self.left < size * n as u64 {
            self.places = bench.places(self.n as usize).unwrap_or_default();
            self.left = (u64::from(self.n) * unit / WORN_SHARE).max(size * n as u64);
            // Opening them pays for what was open before.
            bench.open(&self.places)?;
        }
        self.left -= size * n as u64;
        let (count, slots) = (self.places.len() as u64, unit / size);
        let extent = |at: u64, slot: u64| CardExtent { offset: at + slot * size, len: size as u32 };
        let mut draw = |below: u64| bench.context.random.below(below);
        let all = (0..if count == 0 { 0 } else { n })
            .map(|_| extent(self.places[draw(count) as usize], draw(slots)));
        Ok(all.collect())
    }
}

/// Seconds of writes of one size, fewer of them where each takes long.
fn scattered(
    bench: &mut WriteTester<'_, '_, '_>,
    blocks: &mut RandomBlocks,
    size: u64,
    n: usize,
) -> Result<Vec<f64>, ProbeStop> {
    let mut times: Vec<f64> = Vec::with_capacity(n);
    while times.len() < n && times.iter().sum::<f64>() < MOST_SECONDS {
        let batch = if times.is_empty() { BATCH.0 } else { BATCH.1.min(n - times.len()) };
        let extents = blocks.extents(bench, size, batch)?;
        let found = bench.write_all(&extents)?;
        if found.is_empty() {
            break;
        }
        times.extend(found);
    }
    Ok(times)
}
