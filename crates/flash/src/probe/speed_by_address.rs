//! Read speed by address, at a hundred positions as in gnome-disks (docs/reference/tools.md#gnome-disks) with
//! smaller samples. Slow positions are read again before they are reported.

use super::options::Result;
use super::read_tester::{ReadDeadline, ReadTester, stages};
use super::write_tester::{OPENING_BYTES, WriteTester};
use cardscope_engine::io_driver::{CardExtent, split_extents};
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::statistics::median;
use cardscope_model::units::{DecimalSize, MIB, SpeedMbS};
use cardscope_model::verify::{MapCell, MapSpeed, SpeedMap};
use cardscope_probing::context::ProbeContext;

const PLACES: u64 = 100;

const UNIT: u64 = 1 << 20;

/// Sample sizes in bytes with the seconds they need at about 20 MB/s; the first that fits is used.
const SAMPLES: [(u64, f64); 3] = [(1 << 20, 8.0), (512 << 10, 5.0), (256 << 10, 3.0)];

const BLOCK: u32 = 256 << 10;

/// Expected seconds for all cells; a quarter of it is added to read slow ones again.
const CELLS_S: f64 = 4.0;

/// A cell that takes longer (below 17 MB/s) halves the sample of the next one …
const SLOW_CELL_S: f64 = 1.5 * CELLS_S / PLACES as f64;

/// … down to this many bytes.
const MIN_SAMPLE: u64 = 512 << 10;

/// Cells below this share of the median speed are read again.
const SLOW_SHARE: f64 = 0.8;

/// Reads of a slow cell, including the first; the fastest counts.
const READS_PER_CELL: usize = 3;

const MIN_SLOW_CELLS: usize = 2;

/// Measures the read speed of all cells. Writes fill in their speeds later.
pub(super) fn measure_read_addresses(reads: &mut ReadTester) -> Result<()> {
    let all = reads.context.card_bytes();
    let cell = all.div_ceil(PLACES).next_multiple_of(UNIT);
    let Some((mut sample, _)) = SAMPLES.into_iter().find(|(_, seconds)| reads.context.has_time(*seconds))
    else {
        return Ok(());
    };
    reads.context.begin_stage(stages::BY_ADDRESS);
    reads.context.set_queue(BLOCK, 1)?;
    let mut cells: Vec<MapCell> = (0..all.div_ceil(cell))
        .map(|n| n * cell)
        .map(|start| MapCell { start, bytes: cell.min(all - start), ..MapCell::default() })
        .collect();
    let (mut bytes, mut seconds) = (0u64, 0.0);
    let (end, end_again) = (reads.generous_deadline(CELLS_S), reads.generous_deadline(1.25 * CELLS_S));
    let context = &mut *reads.context;
    for cell in &mut cells {
        if end.is_reached(context) {
            break;
        }
        if let Some((read, time)) = read_cell(context, cell, sample, end)? {
            cell.read_mb_s = Some(read as f64 / time / 1e6);
            (bytes, seconds) = (bytes + read, seconds + time);
            // A smaller sample on a slow card takes as long as a large one on a fast card.
            if time > SLOW_CELL_S && sample > MIN_SAMPLE {
                sample /= 2;
            }
        }
    }
    let Some(middle) = median_speed(&cells) else { return Ok(()) };
    for cell in cells.iter_mut().filter(|c| c.read_mb_s.is_some_and(|s| s < SLOW_SHARE * middle)) {
        for _ in 1..READS_PER_CELL {
            let again = read_cell(context, cell, sample, end_again)?;
            let again = again.map(|(read, time)| read as f64 / time / 1e6);
            cell.read_mb_s = cell.read_mb_s.zip(again).map(|(a, b)| a.max(b)).or(cell.read_mb_s);
        }
    }
    // Unwritten areas answer faster, so written ones would all look slow in comparison.
    if !reads.into.unmapped_share.is_measured() {
        reads.into.findings.extend(slow_range(&cells, middle));
    }
    let speeds = || cells.iter().filter_map(|c| c.read_mb_s);
    let read = MapSpeed {
        min_mb_s: speeds().fold(f64::INFINITY, f64::min),
        mean_mb_s: bytes as f64 / seconds / 1e6,
        max_mb_s: speeds().fold(0.0, f64::max),
        slowest_second: None,
    };
    reads.into.axis = Some(SpeedMap { cell_bytes: cell, cells, write: None, read: Some(read) });
    Ok(())
}

type ReadBytes = Result<Option<(u64, f64)>>;
/// Reads a sample in the middle of a cell until `end`. Returns bytes and seconds of the successful reads, `None` if
/// there were none.
fn read_cell(context: &mut ProbeContext, cell: &MapCell, sample: u64, end: ReadDeadline) -> ReadBytes {
    if end.is_reached(context) {
        return Ok(None);
    }
    let len = sample.min(cell.bytes);
    let start = cell.start + (cell.bytes - len) / 2 / u64::from(BLOCK) * u64::from(BLOCK);
    // One untimed read first, as in gnome-disks, since the jump to the cell would distort its speed.
    context.time_read(CardExtent { offset: start, len: context.sector() })?;
    let (mut bytes, mut seconds) = (0, 0.0);
    for extent in split_extents(start, start + len, BLOCK) {
        if end.is_reached(context) {
            break;
        }
        if let Some(time) = context.time_read(extent)? {
            (bytes, seconds) = (bytes + u64::from(extent.len), seconds + time);
        }
    }
    Ok((seconds > 0.0).then_some((bytes, seconds)))
}

fn median_speed(cells: &[MapCell]) -> Option<f64> {
    median(&cells.iter().filter_map(|c| c.read_mb_s).collect::<Vec<_>>())
}

fn slow_range(cells: &[MapCell], middle: f64) -> Option<Finding> {
    let slow = |c: &MapCell| c.read_mb_s.is_some_and(|s| s < SLOW_SHARE * middle);
    let runs = cells.chunk_by(|a, b| slow(a) == slow(b)).filter(|run| slow(&run[0]));
    let longest = runs.max_by_key(|run| run.len())?;
    let [first, .., last] = longest else { return None };
    let speeds: Vec<f64> = longest.iter().filter_map(|c| c.read_mb_s).collect();
    let speed = median(&speeds).filter(|_| longest.len() >= MIN_SLOW_CELLS)?;
    let (from, to) = (DecimalSize(first.start), DecimalSize(last.start + last.bytes));
    let (speed, usual) = (SpeedMbS(speed), SpeedMbS(middle));
    let verdict = format!("The card reads slowly from {from} to {to}: {speed}, elsewhere {usual}.");
    Some(
        Finding::new("slow-stretch", FindingWeight::Hint, 0.9, verdict)
            .because("positions in it", longest.len())
            .because("reads of each", READS_PER_CELL)
            .with_advice("Rewrite the data there and measure again: old or worn data reads slowly."),
    )
}

/// Most positions, if data must be saved and restored (which doubles the cost) and if not.
const WRITE_PLACES: (usize, usize) = (16, 48);

/// Bytes per position after the block is open.
const WRITE_SAMPLE: u64 = MIB;

const WRITE: u32 = 256 << 10;

/// Expected seconds per position: closing a block, and 2 MiB at 10 MB/s.
const PLACE_S: f64 = 0.5;

pub(super) fn measure_write_addresses(bench: &mut WriteTester) -> Result<()> {
    let Some(mut axis) = bench.into.axis.take() else { return Ok(()) };
    let ended = write_cells(bench, &mut axis.cells);
    axis.write = speed_summary(&axis.cells);
    bench.into.axis = Some(axis);
    ended
}

fn write_cells(bench: &mut WriteTester, cells: &mut [MapCell]) -> Result<()> {
    let most = if bench.context.saves_first() { WRITE_PLACES.0 } else { WRITE_PLACES.1 };
    bench.require_time(PLACE_S * most as f64)?;
    let step = cells.len().div_ceil(most).max(1);
    let some = cells.iter().enumerate().step_by(step);
    let blocks = some.filter_map(|(i, cell)| Some((i, block_in_cell(bench, cell)?)));
    let mut places: Vec<(usize, u64)> = blocks.collect();
    // Random order, or drift would look like a slope over the addresses.
    bench.context.random.shuffle(&mut places);
    let all: Vec<CardExtent> = places.iter().flat_map(|(_, at)| position_writes(*at)).collect();
    bench.context.save_before_write(&all)?;
    for (i, at) in places {
        bench.require_time(PLACE_S)?;
        let mut writes = position_writes(at);
        if let Some(opening) = writes.next() {
            bench.context.time_write(opening)?;
        }
        let (mut bytes, mut seconds) = (0.0, 0.0);
        for write in writes {
            bench.require_time(0.0)?;
            if let Some(time) = bench.context.time_write(write)? {
                (bytes, seconds) = (bytes + f64::from(write.len), seconds + time);
            }
        }
        cells[i].write_mb_s = (seconds > 0.0).then(|| bytes / seconds / 1e6);
    }
    Ok(())
}

fn position_writes(at: u64) -> impl Iterator<Item = CardExtent> {
    let opening = CardExtent { offset: at, len: OPENING_BYTES };
    [opening].into_iter().chain(split_extents(opening.end(), opening.end() + WRITE_SAMPLE, WRITE))
}

/// Erase block boundary near the middle of a cell, if it may be written.
fn block_in_cell(bench: &WriteTester, cell: &MapCell) -> Option<u64> {
    let unit = bench.slots.unit();
    let at = (cell.start + cell.bytes / 2) / unit * unit;
    let end = at + u64::from(OPENING_BYTES) + WRITE_SAMPLE;
    let inside = at >= cell.start && end <= cell.start + cell.bytes;
    (inside && bench.slots.contains_range(at, end)).then_some(at)
}

fn speed_summary(cells: &[MapCell]) -> Option<MapSpeed> {
    let speeds: Vec<f64> = cells.iter().filter_map(|c| c.write_mb_s).collect();
    // All samples have the same size, so total bytes over total time is the harmonic mean.
    let slowness: f64 = speeds.iter().map(|s| 1.0 / s).sum();
    (!speeds.is_empty()).then(|| MapSpeed {
        min_mb_s: speeds.iter().copied().fold(f64::INFINITY, f64::min),
        mean_mb_s: speeds.len() as f64 / slowness,
        max_mb_s: speeds.iter().copied().fold(0.0, f64::max),
        slowest_second: None,
    })
}
