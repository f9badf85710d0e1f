//! flashbench's own tables of writes, by its own algorithms (described in the peers' reference, 2.9): find-fat over the
//! first erase blocks, open-au in order and at random. Rows that would take too long are left out, largest sizes first
//! as there.

use super::bench::Bench;
use crate::map::lfsr::lfsr;
use cardscope_engine::card::{Extent, Stop};
use cardscope_model::card_map::FlashbenchTable;
use cardscope_model::units::MIB;
use std::collections::BTreeMap;

/// flashbench's defaults: smallest block of a row, columns of find-fat, erase block.
const SMALLEST: u64 = 16 << 10;
const FAT_BLOCKS: u64 = 6;
const ERASE_BLOCK: u64 = 4 * MIB;

/// Where open-au begins, rounded up to an erase block, and how many of those lie from one to the next.
const OPEN_START: u64 = 16 * MIB;
const OPEN_STEP: u64 = 12;

/// A row that would take longer than this ends the table.
const ROW_SECONDS: f64 = 20.0;

/// Most blocks in turn of a table.
const MOST_OPEN: u64 = 8;

/// Measures the tables where they are wanted.
pub(super) fn measure(bench: &mut Bench<'_, '_, '_>) -> Result<(), Stop> {
    let unit = bench.into.erase_block_bytes.value.unwrap_or(ERASE_BLOCK);
    let limit = u64::from(bench.into.open_blocks.linear.value.unwrap_or(1));
    for n in [limit.clamp(2, MOST_OPEN - 1), limit.clamp(2, MOST_OPEN - 1) + 1] {
        open_au(bench, unit, n, false)?;
        open_au(bench, unit, n, true)?;
    }
    if bench.options.fat && bench.options.card_addresses {
        find_fat(bench, unit)?;
    }
    Ok(())
}

fn find_fat(bench: &mut Bench<'_, '_, '_>, unit: u64) -> Result<(), Stop> {
    if bench.context.region.start > 0 || bench.context.region.len < FAT_BLOCKS * unit {
        return Ok(());
    }
    let column = |_: u64, i: u64, position: u64| (i, i * unit + position);
    let order = |bench: &mut Bench<'_, '_, '_>, block: u64| {
        let places =
            (0..FAT_BLOCKS).flat_map(|i| (0..unit / block).map(move |p| column(block, i, p * block)));
        row(bench, block, FAT_BLOCKS, places.collect())
    };
    let rows = rows(bench, unit, order)?;
    push(bench, "find-fat", &[("erasesize", unit), ("blocksize", SMALLEST), ("fat-nr", FAT_BLOCKS)], rows);
    Ok(())
}

fn open_au(bench: &mut Bench<'_, '_, '_>, unit: u64, n: u64, random: bool) -> Result<(), Stop> {
    let from = bench.context.region.start.max(OPEN_START).div_ceil(unit) * unit;
    let end = bench.context.region.end();
    if from + ((n - 1) * OPEN_STEP + 1) * unit > end {
        return Ok(());
    }
    let order = |bench: &mut Bench<'_, '_, '_>, block: u64| {
        let count = unit / block;
        let positions: Vec<u64> = if random { lfsr(count) } else { (0..count).collect() };
        let blocks = lfsr(n);
        let places = positions
            .iter()
            .flat_map(|p| blocks.iter().map(move |i| (0, from + i * OPEN_STEP * unit + p * block)));
        row(bench, block, 1, places.collect())
    };
    let rows = rows(bench, unit, order)?;
    let kind = if random { "open-au-random" } else { "open-au-linear" };
    push(
        bench,
        kind,
        &[("erasesize", unit), ("blocksize", SMALLEST), ("open-au-nr", n), ("offset", from)],
        rows,
    );
    Ok(())
}

/// One row after the other with half the block each, while they fit.
fn rows(
    bench: &mut Bench<'_, '_, '_>,
    unit: u64,
    mut row: impl FnMut(&mut Bench<'_, '_, '_>, u64) -> Result<Option<Vec<f64>>, Stop>,
) -> Result<Vec<(u64, Vec<f64>)>, Stop> {
    let mut rows = Vec::new();
    let mut block = unit;
    let mut last: f64 = 0.0;
    while block >= SMALLEST && block.is_multiple_of(512) {
        let began = bench.context.seconds();
        // Where every write closes a block, half the size means twice the time.
        if 2.0 * last > ROW_SECONDS || !bench.has_time(2.0 * last) || !bench.context.may_write(8 * unit) {
            break;
        }
        let Some(speeds) = row(bench, block)? else { break };
        rows.push((block, speeds));
        last = bench.context.seconds() - began;
        block /= 2;
    }
    Ok(rows)
}

/// Writes each place with its column, and gives bytes per second of the mean time of each column; `None` where a write
/// failed or the time is up.
fn row(
    bench: &mut Bench<'_, '_, '_>,
    block: u64,
    columns: u64,
    places: Vec<(u64, u64)>,
) -> Result<Option<Vec<f64>>, Stop> {
    let extents: Vec<Extent> = places.iter().flat_map(|(_, at)| cut(*at, block)).collect();
    if !bench.context.prepare_in_time(&extents)? {
        return Ok(None);
    }
    let mut sums = vec![(0.0, 0u32); columns as usize];
    for (column, at) in places {
        let mut seconds = 0.0;
        for extent in cut(at, block) {
            if !bench.has_time(0.0) {
                return Ok(None);
            }
            let Some(time) = bench.context.write(extent)? else { return Ok(None) };
            seconds += time;
        }
        let sum = &mut sums[column as usize];
        *sum = (sum.0 + seconds, sum.1 + 1);
    }
    Ok(Some(sums.iter().map(|(seconds, n)| block as f64 * f64::from(*n) / seconds).collect()))
}

/// A block in writes of what a map writes at most.
fn cut(at: u64, block: u64) -> impl Iterator<Item = Extent> {
    cardscope_engine::card::extents(at, at + block, super::bench::LARGEST)
}

fn push(bench: &mut Bench<'_, '_, '_>, kind: &str, parameters: &[(&str, u64)], rows: Vec<(u64, Vec<f64>)>) {
    if rows.is_empty() {
        return;
    }
    let parameters: BTreeMap<String, u64> = parameters.iter().map(|(k, v)| ((*k).to_owned(), *v)).collect();
    bench.into.tables.push(FlashbenchTable { kind: kind.to_owned(), parameters, rows });
}
