//! Read speed over the address axis, at a hundred places as gnome-disks does (docs/reference/tools.md#gnome-disks),
//! with less to read at each. Slow places are read again before they are reported.

use super::reads::{ReadDeadline, ReadTester};
use super::stages;
use cardscope_engine::card::{CardExtent, ProbeStop, extents};
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::statistics::median;
use cardscope_model::units::{DecimalSize, SpeedMbS};
use cardscope_model::verify::{MapCell, MapSpeed, SpeedMap};
use cardscope_probing::context::ProbeContext;

/// Places.
const PLACES: u64 = 100;

/// A cell is a multiple of it.
const UNIT: u64 = 1 << 20;

/// What is read at a place, the most that there is time for at about 20 MB/s.
const SAMPLES: [(u64, f64); 3] = [(1 << 20, 8.0), (512 << 10, 5.0), (256 << 10, 3.0)];

/// Bytes of a read.
const BLOCK: u32 = 256 << 10;

/// All cells should be read in so many seconds, and what is slow once more in a fourth of it.
const CELLS_S: f64 = 4.0;

/// A place that takes longer than this is one of a slow card (below 17 MB/s), of which half is read at the next …
const SLOW_CELL_S: f64 = 1.5 * CELLS_S / PLACES as f64;

/// … but no less than this.
const LEAST_SAMPLE: u64 = 512 << 10;

/// A cell slower than this share of the middle one is looked at again.
const SLOW: f64 = 0.8;

/// Looks at a slow cell, the first one included; the fastest counts.
const LOOKS: usize = 3;

/// So many slow cells in a row are a range.
const RANGE: usize = 2;

/// Measures it; the write side is left to whoever writes.
pub(super) fn measure(reads: &mut ReadTester<'_, '_, '_>) -> Result<(), ProbeStop> {
    let all = reads.context.card_bytes();
    let cell = all.div_ceil(PLACES).next_multiple_of(UNIT);
    let Some((mut sample, _)) = SAMPLES.into_iter().find(|(_, seconds)| reads.context.has_time(*seconds))
    else {
        return Ok(());
    };
    reads.context.stage(stages::BY_ADDRESS);
    reads.context.shape(BLOCK, 1)?;
    let mut cells: Vec<MapCell> = (0..all.div_ceil(cell))
        .map(|n| n * cell)
        .map(|start| MapCell { start, bytes: cell.min(all - start), ..MapCell::default() })
        .collect();
    let (mut bytes, mut seconds) = (0u64, 0.0);
    let (end, end_again) = (reads.end_of_patience(CELLS_S), reads.end_of_patience(1.25 * CELLS_S));
    let context = &mut *reads.context;
    for cell in &mut cells {
        if end.is_there(context) {
            break;
        }
        if let Some((read, time)) = look(context, cell, sample, end)? {
            cell.read_mb_s = Some(read as f64 / time / 1e6);
            (bytes, seconds) = (bytes + read, seconds + time);
            // A slow card shows its speed with less: what it reads takes as long as on others.
            if time > SLOW_CELL_S && sample > LEAST_SAMPLE {
                sample /= 2;
            }
        }
    }
    let Some(middle) = middle(&cells) else { return Ok(()) };
    for cell in cells.iter_mut().filter(|c| c.read_mb_s.is_some_and(|s| s < SLOW * middle)) {
        for _ in 1..LOOKS {
            let again = look(context, cell, sample, end_again)?.map(|(read, time)| read as f64 / time / 1e6);
            cell.read_mb_s = cell.read_mb_s.zip(again).map(|(a, b)| a.max(b)).or(cell.read_mb_s);
        }
    }
    // Places that were never written answer faster; beside them all others would look slow.
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

/// Reads a sample in the middle of a cell, as far as there is time; bytes and seconds of what succeeded, `None` where
/// nothing did.
fn look(
    context: &mut ProbeContext<'_, '_>,
    cell: &MapCell,
    sample: u64,
    end: ReadDeadline,
) -> Result<Option<(u64, f64)>, ProbeStop> {
    if end.is_there(context) {
        return Ok(None);
    }
    let len = sample.min(cell.bytes);
    let start = cell.start + (cell.bytes - len) / 2 / u64::from(BLOCK) * u64::from(BLOCK);
    // One read to settle, as gnome-disks does: the way there is no speed.
    context.read(CardExtent { offset: start, len: context.sector() })?;
    let (mut bytes, mut seconds) = (0, 0.0);
    for extent in extents(start, start + len, BLOCK) {
        if end.is_there(context) {
            break;
        }
        if let Some(time) = context.read(extent)? {
            (bytes, seconds) = (bytes + u64::from(extent.len), seconds + time);
        }
    }
    Ok((seconds > 0.0).then_some((bytes, seconds)))
}

fn middle(cells: &[MapCell]) -> Option<f64> {
    median(&cells.iter().filter_map(|c| c.read_mb_s).collect::<Vec<_>>())
}

/// The longest run of cells that stayed slow.
fn slow_range(cells: &[MapCell], middle: f64) -> Option<Finding> {
    let slow = |c: &MapCell| c.read_mb_s.is_some_and(|s| s < SLOW * middle);
    let longest =
        cells.chunk_by(|a, b| slow(a) == slow(b)).filter(|run| slow(&run[0])).max_by_key(|run| run.len())?;
    let [first, .., last] = longest else { return None };
    let speeds: Vec<f64> = longest.iter().filter_map(|c| c.read_mb_s).collect();
    let speed = median(&speeds).filter(|_| longest.len() >= RANGE)?;
    let (from, to) = (DecimalSize(first.start), DecimalSize(last.start + last.bytes));
    let verdict = format!(
        "The card reads slowly from {from} to {to}: {}, elsewhere {}.",
        SpeedMbS(speed),
        SpeedMbS(middle)
    );
    Some(
        Finding::new("slow-stretch", FindingWeight::Hint, 0.9, verdict)
            .because("positions in it", longest.len())
            .because("reads of each", LOOKS)
            .advise("Rewrite the data there and measure again: old or worn data reads slowly."),
    )
}
