//! Write speed by I/O size, sequential and random, as in docs/reference/reports.md#lexar-review.

use super::reader_splits;
use super::write_tester::{MAX_WRITE, WriteTester, contiguous_extents};
use crate::probe::curve::{curve_plot, size_point};
use cardscope_engine::io_driver::{CardExtent, ProbeStop};
use cardscope_model::units::{KIB, MIB};

/// Sizes with their number of writes, enough that one slow write does not decide the mean; 31 MiB in sequence.
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

/// Bytes written before the sequence is timed, since the first write to a new block closes another one.
const LEAD_BYTES: u64 = MAX_WRITE as u64;

/// Most blocks under random writes, even if the card keeps more open; five as in
/// docs/reference/reports.md#lexar-review.
const MAX_BLOCKS: u32 = 5;

/// New blocks are used after 1/2 of the blocks' bytes was written, as a card must merge worn ones.
const WORN_DIVISOR: u64 = 2;

/// Seconds after which one size ends if each write closes a block, though not before the second write.
const MAX_SIZE_S: f64 = 1.0;

/// Random writes of one size that are saved at once: in the first batch, and in later ones.
const BATCH: (usize, usize) = (2, 8);

pub(super) fn measure_sizes(bench: &mut WriteTester<'_, '_, '_>) -> Result<(), ProbeStop> {
    time_sequential(bench)?;
    time_random(bench)?;
    let curves = &bench.into.curves;
    let (in_order, at_random) = (&curves.sequential_write, &curves.random_write);
    let plot = curve_plot("write speed by size", "size of a write", in_order, at_random);
    bench.into.plots.push(plot);
    reader_splits::measure_splitting(bench)
}

fn supported_sizes(bench: &WriteTester<'_, '_, '_>) -> impl Iterator<Item = (u64, usize)> + use<> {
    let sector = u64::from(bench.context.sector());
    SIZES.into_iter().filter(move |(size, _)| *size >= sector)
}

/// Sequential writes from the largest size down, contiguous: each write starts at a multiple of its size, and no
/// block remains half written. The largest sizes are skipped if the range is too small.
fn time_sequential(bench: &mut WriteTester<'_, '_, '_>) -> Result<(), ProbeStop> {
    let mut wanted: Vec<(u64, usize)> = supported_sizes(bench).collect();
    let all =
        |wanted: &[(u64, usize)]| LEAD_BYTES + wanted.iter().map(|(size, n)| size * *n as u64).sum::<u64>();
    let room = bench.slots.bytes() / 2;
    while wanted.len() > 1 && all(&wanted) > room {
        wanted.remove(0);
    }
    let Some(start) = bench.take_range(all(&wanted)) else { return Ok(()) };
    bench.write_in_order(start, LEAD_BYTES)?;
    let mut at = start + LEAD_BYTES;
    for (size, n) in wanted {
        bench.require_time(0.1)?;
        let times = bench.write_all(&contiguous_extents(at, std::iter::repeat_n(size, n)))?;
        at += size * n as u64;
        bench.into.curves.sequential_write.extend(size_point(size, &times));
    }
    bench.into.curves.sequential_write.sort_by_key(|p| p.bytes);
    Ok(())
}

/// Random writes in as many new blocks as the card keeps open, its best case
/// (docs/reference/reports.md#lexar-review). With more blocks each write closes one, which the parts `open` and
/// `span` measure.
fn time_random(bench: &mut WriteTester<'_, '_, '_>) -> Result<(), ProbeStop> {
    let unit = bench.slots.unit();
    let open = &bench.into.open_blocks.random;
    // A single block if the limit is unknown.
    let n = open.value.or(open.bound).unwrap_or(1).clamp(1, MAX_BLOCKS);
    let mut blocks = RandomBlocks { n, places: Vec::new(), left: 0 };
    // The smallest size first, since it wears the blocks least.
    let wanted: Vec<(u64, usize)> = supported_sizes(bench).filter(|(size, _)| *size <= unit).collect();
    for (size, n) in wanted.into_iter().rev() {
        bench.require_time(0.1)?;
        let times = time_random_size(bench, &mut blocks, size, n)?;
        bench.into.curves.random_write.extend(size_point(size, &times));
    }
    bench.into.curves.random_write_blocks = Some(blocks.n);
    bench.into.curves.random_write.sort_by_key(|p| p.bytes);
    Ok(())
}

struct RandomBlocks {
    n: u32,
    places: Vec<u64>,
    /// Bytes that may be written before new blocks are opened.
    left: u64,
}

impl RandomBlocks {
    /// `n` random extents in open blocks; empty if new blocks are needed and unavailable.
    fn extents(
        &mut self,
        bench: &mut WriteTester<'_, '_, '_>,
        size: u64,
        n: usize,
    ) -> Result<Vec<CardExtent>, ProbeStop> {
        let unit = bench.slots.unit();
        if self.left < size * n as u64 {
            self.places = bench.take_positions(self.n as usize).unwrap_or_default();
            self.left = (u64::from(self.n) * unit / WORN_DIVISOR).max(size * n as u64);
            // Opening the blocks closes those of earlier tests, so these writes are not timed.
            bench.open_blocks(&self.places)?;
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

/// Seconds of random writes of one size, at most `n` or [`MAX_SIZE_S`].
fn time_random_size(
    bench: &mut WriteTester<'_, '_, '_>,
    blocks: &mut RandomBlocks,
    size: u64,
    n: usize,
) -> Result<Vec<f64>, ProbeStop> {
    let mut times: Vec<f64> = Vec::with_capacity(n);
    while times.len() < n && times.iter().sum::<f64>() < MAX_SIZE_S {
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
