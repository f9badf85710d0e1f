//! Read speed by I/O size, sequential and random, as in docs/reference/reports.md#lexar-review.

use super::options::Result;
use super::read_tester::{ReadDeadline, ReadTester, stages};
use super::reader_splits;
use super::write_tester::{MAX_WRITE, WriteTester, contiguous_extents};
use cardscope_engine::io_driver::CardExtent;
use cardscope_model::card_map::SizePoint;
use cardscope_model::card_map::plot::AxisScale::{Log2, Log10};
use cardscope_model::card_map::plot::Plot;
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::statistics::median;
use cardscope_model::units::{KIB, MIB};

/// Exponents of the sizes: 512 bytes to 4 MiB.
const READ_SIZES: std::ops::RangeInclusive<u32> = 9..=22;

/// Seconds per point, longest first.
const POINT_S: [f64; 3] = [0.15, 0.08, 0.04];

/// All points take [`POINT_S`] times this, and large reads take [`LARGE_S`] more at 20 MB/s.
const POINTS_FACTOR: f64 = 28.0;
const LARGE_S: f64 = 4.0;

/// Fewest and most reads of a point.
const READS: (usize, usize) = (5, 1000);

/// Measures both curves. Sizes too large for the range are absent. A finding reports sizes that the time limit cut.
pub(super) fn measure_read_sizes(reads: &mut ReadTester) -> Result<()> {
    let all_s = |point_s: f64| point_s * POINTS_FACTOR + LARGE_S;
    let most = POINT_S.into_iter().find(|s| reads.context.has_time(all_s(*s)));
    let Some(point_s) = most else { return Ok(()) };
    let end = reads.generous_deadline(all_s(point_s));
    reads.context.begin_stage(stages::BY_SIZE);
    let sector = u64::from(reads.context.sector());
    let sizes = READ_SIZES.map(|bits| 1u64 << bits);
    let sizes: Vec<u64> = sizes.filter(|s| *s >= sector && s * 8 <= reads.len).collect();
    let Some(largest) = sizes.last() else { return Ok(()) };
    reads.context.set_queue(*largest as u32, 1)?;
    let mut order: Vec<(u64, bool)> = sizes.iter().flat_map(|s| [(*s, false), (*s, true)]).collect();
    reads.context.random.shuffle(&mut order);
    let (wanted, mut cut) = (order.len(), 0);
    for (size, random) in order {
        let Some(point) = time_size(reads, size, random, point_s, end)? else {
            cut += usize::from(end.is_reached(reads.context));
            continue;
        };
        let curves = &mut reads.into.curves;
        let curve = if random { &mut curves.random_read } else { &mut curves.sequential_read };
        curve.push(point);
    }
    let curves = &mut reads.into.curves;
    let (in_order, at_random) = (&mut curves.sequential_read, &mut curves.random_read);
    in_order.sort_by_key(|p| p.bytes);
    at_random.sort_by_key(|p| p.bytes);
    let plot = curve_plot("Speed of reads by their size", "bytes of a read", in_order, at_random);
    reads.into.plots.push(plot);
    let why = end.reason(reads.context).filter(|_| cut > 0);
    reads.into.findings.extend(why.map(|why| missing_points(why, cut, wanted)));
    Ok(())
}

fn missing_points(why: &str, cut: usize, wanted: usize) -> Finding {
    let verdict = format!("Some read sizes were not timed: {why}.");
    Finding::new("read-curve-cut", FindingWeight::Note, 1.0, verdict)
        .because("points missing", format!("{cut} of {wanted}"))
}

/// Times reads of one size. The first read is not counted, since it includes the jump to the position. Returns
/// `None` if too few succeeded before the end.
fn time_size(
    reads: &mut ReadTester,
    size: u64,
    random: bool,
    seconds: f64,
    end: ReadDeadline,
) -> Result<Option<SizePoint>> {
    if end.is_reached(reads.context) {
        return Ok(None);
    }
    let mut next = reads.random_extent(size, size, size);
    let (mut times, mut spent, mut failed) = (Vec::new(), 0.0, 0);
    reads.context.time_read(next)?;
    while times.len() < READS.1 && failed < READS.0 && (times.len() < READS.0 || spent < seconds) {
        if end.is_reached(reads.context) && times.len() < READS.0 {
            return Ok(None);
        }
        next.offset = next.end();
        if random || next.end() > reads.start + reads.len {
            next = reads.random_extent(size, size, size);
        }
        match reads.context.time_read(next)? {
            Some(time) => {
                times.push(time);
                spent += time;
            }
            None => failed += 1,
        }
    }
    Ok(size_point(size, &times).filter(|_| spent > 0.0))
}

/// Point of the curve from the seconds of single I/Os; `None` if `times` is empty.
pub(super) fn size_point(size: u64, times: &[f64]) -> Option<SizePoint> {
    let (p50_us, ios) = (median(times)? * 1e6, times.len() as u64);
    let iops = times.len() as f64 / times.iter().sum::<f64>();
    Some(SizePoint { bytes: size, mb_s: iops * size as f64 / 1e6, iops, p50_us, ios })
}

pub(super) fn curve_plot(title: &str, x: &str, in_order: &[SizePoint], at_random: &[SizePoint]) -> Plot {
    let line = |points: &[SizePoint]| points.iter().map(|p| (p.bytes as f64, p.mb_s)).collect::<Vec<_>>();
    Plot::new(title, (x, "bytes", Log2), ("speed", "MB/s", Log10))
        .with_line("in order", line(in_order))
        .with_line("at random", line(at_random))
}

/// Sizes with their number of writes, enough that one slow write does not decide the mean; 31 MiB in sequence.
const WRITE_SIZES: [(u64, usize); 14] = [
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

pub(super) fn measure_write_sizes(bench: &mut WriteTester) -> Result<()> {
    time_sequential(bench)?;
    time_random_sizes(bench)?;
    let curves = &bench.into.curves;
    let (in_order, at_random) = (&curves.sequential_write, &curves.random_write);
    let plot = curve_plot("write speed by size", "size of a write", in_order, at_random);
    bench.into.plots.push(plot);
    reader_splits::measure_splitting(bench)
}

fn supported_sizes(bench: &WriteTester) -> impl Iterator<Item = (u64, usize)> + use<> {
    let sector = u64::from(bench.context.sector());
    WRITE_SIZES.into_iter().filter(move |(size, _)| *size >= sector)
}

/// Sequential writes from the largest size down, contiguous: each write starts at a multiple of its size, and no
/// block remains half written. The largest sizes are skipped if the range is too small.
fn time_sequential(bench: &mut WriteTester) -> Result<()> {
    let mut wanted: Vec<(u64, usize)> = supported_sizes(bench).collect();
    let bytes = |(size, n): &(u64, usize)| size * *n as u64;
    let all = |wanted: &[(u64, usize)]| LEAD_BYTES + wanted.iter().map(bytes).sum::<u64>();
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
fn time_random_sizes(bench: &mut WriteTester) -> Result<()> {
    let unit = bench.slots.unit();
    let open = &bench.into.open_blocks.random;
    // A single block if the limit is unknown.
    let n = open.value.or(open.bound).unwrap_or(1).clamp(1, MAX_BLOCKS);
    let mut blocks = RandomBlocks { n, places: Vec::new(), left: 0 };
    // The smallest size first, since it wears the blocks least.
    let wanted: Vec<(u64, usize)> = supported_sizes(bench).filter(|(size, _)| *size <= unit).collect();
    for (size, n) in wanted.into_iter().rev() {
        bench.require_time(0.1)?;
        let times = time_random(bench, &mut blocks, size, n)?;
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
    fn extents(&mut self, bench: &mut WriteTester, size: u64, n: usize) -> Result<Vec<CardExtent>> {
        let unit = bench.slots.unit();
        if self.left < size * n as u64 {
            self.places = bench.take_positions(self.n as usize).unwrap_or_default();
            self.left = (u64::from(self.n) * unit / WORN_DIVISOR).max(size * n as u64);
            // Not timed: opening these blocks also closes those of earlier tests.
            bench.open_blocks(&self.places)?;
        }
        self.left -= size * n as u64;
        let (count, slots) = (self.places.len() as u64, unit / size);
        let extent = |at: u64, slot: u64| CardExtent { offset: at + slot * size, len: size as u32 };
        let mut draw = |below: u64| bench.context.random.below(below);
        let n = if count == 0 { 0 } else { n };
        Ok((0..n).map(|_| extent(self.places[draw(count) as usize], draw(slots))).collect())
    }
}

/// Seconds of random writes of one size, at most `n` or [`MAX_SIZE_S`].
fn time_random(bench: &mut WriteTester, blocks: &mut RandomBlocks, size: u64, n: usize) -> Result<Vec<f64>> {
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
