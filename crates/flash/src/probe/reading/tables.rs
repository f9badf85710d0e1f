//! Two tables of flashbench from timings of our own, in its pattern: `-a` (boundaries) and `-s` (scatter)
//! (docs/reference/tools.md#flashbench). They are for people who read such tables; no verdict rests on them.

use super::reads::{ReadDeadline, ReadTester};
use super::stages;
use crate::probe::flashbench::{lfsr, table};
use cardscope_engine::card::{CardExtent, ProbeStop};
use cardscope_model::card_map::FlashbenchTable;

/// `-b` of the public logs; a sector of 4 KiB takes two of them.
const BLOCK: u64 = 1024;

/// `-c`: of so many reads the fastest counts.
const COUNT: u64 = 8;

/// Places along the card at which a boundary is looked at.
const PLACES: u64 = 7;

/// `-s` with its defaults: 2^9 places of 16 KiB.
const SCATTER: (u64, u64) = (512, 16 << 10);

/// A table takes about so many seconds.
const TABLE_S: f64 = 5.0;

/// Measures both. Lines that there is no time for are left out, and a scatter that there is no time to end.
pub(super) fn measure(reads: &mut ReadTester<'_, '_, '_>) -> Result<(), ProbeStop> {
    reads.context.stage(stages::TABLES);
    let block = BLOCK.max(2 * u64::from(reads.context.sector()));
    if reads.context.card_bytes() / PLACES > 4 * block && reads.context.has_time(TABLE_S) {
        let table = align(reads, block)?;
        reads.into.tables.extend(Some(table).filter(|t| !t.rows.is_empty()));
    }
    if reads.context.card_bytes() >= SCATTER.0 * SCATTER.1 && reads.context.has_time(TABLE_S) {
        let table = scatter(reads)?;
        reads.into.tables.extend(table);
    }
    Ok(())
}

fn align(reads: &mut ReadTester<'_, '_, '_>, block: u64) -> Result<FlashbenchTable, ProbeStop> {
    reads.context.shape(block as u32, 1)?;
    let mut largest = 2 * block;
    while largest < reads.context.card_bytes() / PLACES {
        largest *= 2;
    }
    let end = reads.end_of_patience(TABLE_S);
    let mut rows = Vec::new();
    let mut unit = largest;
    while unit >= 2 * block {
        if let Some(row) = line(reads, block, unit, largest, end)? {
            rows.push((unit, row));
        }
        unit /= 2;
    }
    Ok(table("align", &[("blocksize", block), ("count", COUNT)], rows))
}

/// Before, on, behind and difference in nanoseconds: the fastest read at each place, the mean over the places. `None`
/// where a place could not be read, or the end came before.
fn line(
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
                if end.is_there(reads.context) {
                    return Ok(None);
                }
                let at = unit - block + kind as u64 * block / 2 + place as u64 * largest;
                // Beyond the end it goes on at the start; no read runs across the end itself.
                let at = (at % reads.context.card_bytes()).min(reads.context.card_bytes() - block) / sector
                    * sector;
                if let Some(time) = reads.context.read(CardExtent { offset: at, len: block as u32 })? {
                    *fastest = fastest.min(time * 1e9);
                }
            }
        }
        // A dying card is not asked seven times more.
        if fastest.as_flattened().iter().all(|time| time.is_infinite()) {
            return Ok(None);
        }
    }
    let mean = |kind: usize| fastest.iter().map(|f| f[kind]).sum::<f64>() / PLACES as f64;
    let (pre, on, post) = (mean(0), mean(1), mean(2));
    let row = vec![pre, on, post, on - (pre + post) / 2.0];
    Ok(row.iter().all(|v| v.is_finite()).then_some(row))
}

/// The fastest read at each place, in nanoseconds; `None` where no place could be read, or the end came before.
fn scatter(reads: &mut ReadTester<'_, '_, '_>) -> Result<Option<FlashbenchTable>, ProbeStop> {
    let (places, block) = SCATTER;
    reads.context.shape(block as u32, 1)?;
    let end = reads.end_of_patience(TABLE_S);
    let mut fastest = vec![f64::INFINITY; places as usize];
    for _ in 0..COUNT {
        for place in lfsr(places) {
            if end.is_there(reads.context) {
                return Ok(None);
            }
            if let Some(time) = reads.context.read(CardExtent { offset: place * block, len: block as u32 })? {
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
    Ok(Some(table("scatter", &[("blocksize", block), ("count", COUNT)], rows)))
}
