//! Tables of flashbench from our own timings in its access pattern: `-a` (boundaries) and `-s` (scatter)
//! (docs/reference/tools.md#flashbench). Printed for people who read such tables; no finding uses them.

use super::reads::{ReadDeadline, ReadTester};
use super::stages;
use crate::probe::flashbench_tables::{new_table, shuffled_numbers};
use cardscope_engine::io_driver::{CardExtent, ProbeStop};
use cardscope_model::card_map::FlashbenchTable;

/// `-b` of the public logs; raised to two sectors on cards with 4 KiB sectors.
const BLOCK: u64 = 1024;

/// `-c`: repetitions, of which the fastest counts.
const COUNT: u64 = 8;

/// Number of boundaries of a size, spread over the card.
const PLACES: u64 = 7;

/// `-s` with its defaults: 2^9 positions of 16 KiB.
const SCATTER: (u64, u64) = (512, 16 << 10);

const TABLE_S: f64 = 5.0;

/// Measures both tables, without the rows and without an incomplete scatter that the time cuts.
pub(super) fn measure_tables(reads: &mut ReadTester<'_, '_, '_>) -> Result<(), ProbeStop> {
    reads.context.begin_stage(stages::TABLES);
    let block = BLOCK.max(2 * u64::from(reads.context.sector()));
    if reads.context.card_bytes() / PLACES > 4 * block && reads.context.has_time(TABLE_S) {
        let table = align_table(reads, block)?;
        reads.into.tables.extend(Some(table).filter(|t| !t.rows.is_empty()));
    }
    if reads.context.card_bytes() >= SCATTER.0 * SCATTER.1 && reads.context.has_time(TABLE_S) {
        let table = scatter_table(reads)?;
        reads.into.tables.extend(table);
    }
    Ok(())
}

fn align_table(reads: &mut ReadTester<'_, '_, '_>, block: u64) -> Result<FlashbenchTable, ProbeStop> {
    reads.context.set_queue(block as u32, 1)?;
    let mut largest = 2 * block;
    while largest < reads.context.card_bytes() / PLACES {
        largest *= 2;
    }
    let end = reads.generous_deadline(TABLE_S);
    let mut rows = Vec::new();
    let mut unit = largest;
    while unit >= 2 * block {
        if let Some(row) = align_row(reads, block, unit, largest, end)? {
            rows.push((unit, row));
        }
        unit /= 2;
    }
    Ok(new_table("align", &[("blocksize", block), ("count", COUNT)], rows))
}

/// Times before, on and after a boundary and their difference, in nanoseconds: the mean over the positions of the
/// fastest read. `None` if a position could not be read or the time ended.
fn align_row(
    reads: &mut ReadTester<'_, '_, '_>,
    block: u64,
    unit: u64,
    largest: u64,
    end: ReadDeadline,
) -> Result<Option<Vec<f64>>, ProbeStop> {
    let sector = u64::from(reads.context.sector());
    let mut fastest = [[f64::INFINITY; 3]; PLACES as usize];
    for _ in 0..COUNT {
        for (place, fastest) in fastest.iter_mut().enumerate() {
            for (kind, fastest) in fastest.iter_mut().enumerate() {
                if end.is_reached(reads.context) {
                    return Ok(None);
                }
                let at = unit - block + kind as u64 * block / 2 + place as u64 * largest;
                // Wraps to the start like flashbench; no read crosses the end of the card.
                let at = (at % reads.context.card_bytes()).min(reads.context.card_bytes() - block) / sector
                    * sector;
                if let Some(time) = reads.context.time_read(CardExtent { offset: at, len: block as u32 })? {
                    *fastest = fastest.min(time * 1e9);
                }
            }
        }
        // A failing card is spared the remaining repetitions.
        if fastest.as_flattened().iter().all(|time| time.is_infinite()) {
            return Ok(None);
        }
    }
    let mean = |kind: usize| fastest.iter().map(|f| f[kind]).sum::<f64>() / PLACES as f64;
    let (pre, on, post) = (mean(0), mean(1), mean(2));
    let row = vec![pre, on, post, on - (pre + post) / 2.0];
    Ok(row.iter().all(|v| v.is_finite()).then_some(row))
}

/// Fastest read at each position, in nanoseconds. `None` if no position could be read or the time ended.
fn scatter_table(reads: &mut ReadTester<'_, '_, '_>) -> Result<Option<FlashbenchTable>, ProbeStop> {
    let (places, block) = SCATTER;
    reads.context.set_queue(block as u32, 1)?;
    let end = reads.generous_deadline(TABLE_S);
    let mut fastest = vec![f64::INFINITY; places as usize];
    for _ in 0..COUNT {
        for place in shuffled_numbers(places) {
            if end.is_reached(reads.context) {
                return Ok(None);
            }
            if let Some(time) =
                reads.context.time_read(CardExtent { offset: place * block, len: block as u32 })?
            {
                let fastest = &mut fastest[place as usize];
                *fastest = fastest.min(time * 1e9);
            }
        }
        if fastest.iter().all(|time| time.is_infinite()) {
            return Ok(None);
        }
    }
    let rows = fastest.iter().enumerate().filter(|(_, t)| t.is_finite());
    let rows = rows.map(|(place, t)| (place as u64 * block, vec![*t])).collect();
    Ok(Some(new_table("scatter", &[("blocksize", block), ("count", COUNT)], rows)))
}
