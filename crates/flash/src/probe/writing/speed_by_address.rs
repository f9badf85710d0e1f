//! Write speed by address, at some of the cells that were read. The first write at each position opens its block
//! and closes another one, so it is not counted.

use super::write_tester::{OPENING_BYTES, WriteTester};
use cardscope_engine::io_driver::{CardExtent, ProbeStop, split_extents};
use cardscope_model::units::MIB;
use cardscope_model::verify::{MapCell, MapSpeed};

/// Most positions, if data must be saved and restored (which doubles the cost) and if not.
const PLACES: (usize, usize) = (16, 48);

/// Bytes per position after the block is open.
const SAMPLE: u64 = MIB;

const WRITE: u32 = 256 << 10;

/// Expected seconds per position: closing a block, and 2 MiB at 10 MB/s.
const PLACE_S: f64 = 0.5;

pub(super) fn measure_addresses(bench: &mut WriteTester<'_, '_, '_>) -> Result<(), ProbeStop> {
    let Some(mut axis) = bench.into.axis.take() else { return Ok(()) };
    let ended = write_cells(bench, &mut axis.cells);
    axis.write = speed_summary(&axis.cells);
    bench.into.axis = Some(axis);
    ended
}

fn write_cells(bench: &mut WriteTester<'_, '_, '_>, cells: &mut [MapCell]) -> Result<(), ProbeStop> {
    let most = if bench.context.saves_first() { PLACES.0 } else { PLACES.1 };
    bench.require_time(PLACE_S * most as f64)?;
    let step = cells.len().div_ceil(most).max(1);
    let mut places: Vec<(usize, u64)> = cells
        .iter()
        .enumerate()
        .step_by(step)
        .filter_map(|(i, cell)| Some((i, block_in_cell(bench, cell)?)))
        .collect();
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
    let opening = std::iter::once(CardExtent { offset: at, len: OPENING_BYTES });
    opening.chain(split_extents(at + u64::from(OPENING_BYTES), at + u64::from(OPENING_BYTES) + SAMPLE, WRITE))
}

/// Erase block boundary near the middle of a cell, if it may be written.
fn block_in_cell(bench: &WriteTester<'_, '_, '_>, cell: &MapCell) -> Option<u64> {
    let unit = bench.slots.unit();
    let at = (cell.start + cell.bytes / 2) / unit * unit;
    let end = at + u64::from(OPENING_BYTES) + SAMPLE;
    (at >= cell.start && end <= cell.start + cell.bytes && bench.slots.contains_range(at, end)).then_some(at)
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
