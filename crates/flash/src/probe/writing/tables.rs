//! flashbench's own tables of writes by its algorithms (docs/reference/tools.md#flashbench): find-fat over the
//! first erase blocks, open-au sequential and random. As in flashbench the rows start with the largest size; rows
//! that would take too long are skipped.

use super::write_tester::{SLOWEST_BYTES_PER_S, WriteTester};
use crate::probe::flashbench_tables::{new_table, shuffled_numbers};
use cardscope_engine::io_driver::{CardExtent, ProbeStop};
use cardscope_model::units::{KIB, MIB};

/// Smallest block of a row, as with `-b` in docs/reference/reports.md#lexar-review; flashbench's default is 16 KiB.
const SMALLEST: u64 = 4 * KIB;

/// flashbench's defaults: columns of find-fat, and erase block in bytes.
const FAT_BLOCKS: u64 = 6;
const ERASE_BLOCK: u64 = 4 * MIB;

/// Start of open-au in bytes, rounded up to an erase block, and distance of its blocks in erase blocks.
const OPEN_START: u64 = 16 * MIB;
const OPEN_STEP: u64 = 12;

/// Longest duration of a row in seconds; the table ends before a longer one.
const ROW_SECONDS: f64 = 20.0;

const MOST_OPEN: u64 = 8;

/// Measures the tables. Find-fat also needs access to the card's start.
pub(super) fn measure_tables(bench: &mut WriteTester<'_, '_, '_>) -> Result<(), ProbeStop> {
    let unit = bench.options.open_block_unit.or(bench.into.erase_block_bytes.value).unwrap_or(ERASE_BLOCK);
    let limit = u64::from(bench.into.open_blocks.linear.value.unwrap_or(1));
    for n in [limit.clamp(2, MOST_OPEN - 1), limit.clamp(2, MOST_OPEN - 1) + 1] {
        open_au_table(bench, unit, n, false)?;
        open_au_table(bench, unit, n, true)?;
    }
    if bench.options.fat && bench.options.card_addresses {
        find_fat_table(bench, unit)?;
    }
    Ok(())
}

fn find_fat_table(bench: &mut WriteTester<'_, '_, '_>, unit: u64) -> Result<(), ProbeStop> {
    if bench.context.region.start > 0 || bench.context.region.len < FAT_BLOCKS * unit {
        return Ok(());
    }
    let order = |block: u64| {
        let places = (0..FAT_BLOCKS).flat_map(|i| (0..unit / block).map(move |p| (i, i * unit + p * block)));
        (FAT_BLOCKS, places.collect())
    };
    measure_rows(bench, unit, "find-fat", &[("fat-nr", FAT_BLOCKS)], order)
}

fn open_au_table(
    bench: &mut WriteTester<'_, '_, '_>,
    unit: u64,
    n: u64,
    random: bool,
) -> Result<(), ProbeStop> {
    let from = bench.context.region.start.max(OPEN_START).div_ceil(unit) * unit;
    let end = bench.context.region.end();
    if from + ((n - 1) * OPEN_STEP + 1) * unit > end {
        return Ok(());
    }
    let order = |block: u64| {
        let count = unit / block;
        let positions: Vec<u64> = if random { shuffled_numbers(count) } else { (0..count).collect() };
        let blocks = shuffled_numbers(n);
        let places = positions
            .iter()
            .flat_map(|p| blocks.iter().map(move |i| (0, from + i * OPEN_STEP * unit + p * block)));
        (1, places.collect())
    };
    let kind = if random { "open-au-random" } else { "open-au-linear" };
    measure_rows(bench, unit, kind, &[("open-au-nr", n), ("offset", from)], order)
}

/// Measures rows while they fit, each with half the block size of the one before. `order` returns the number of
/// columns and the writes of a row, each as column and address.
fn measure_rows(
    bench: &mut WriteTester<'_, '_, '_>,
    unit: u64,
    kind: &str,
    parameters: &[(&str, u64)],
    order: impl Fn(u64) -> (u64, Vec<(u64, u64)>),
) -> Result<(), ProbeStop> {
    let mut rows = Vec::new();
    let mut block = unit;
    let mut last: f64 = 0.0;
    close_others(bench, unit, &order)?;
    let smallest = SMALLEST.max(u64::from(bench.context.sector()));
    while block >= smallest && block.is_multiple_of(512) {
        let began = bench.context.seconds();
        // If every write closes a block, half the block size takes twice the time.
        if 2.0 * last > ROW_SECONDS || !bench.has_time(2.0 * last) || !bench.context.may_write(8 * unit) {
            break;
        }
        let (columns, places) = order(block);
        let Some(speeds) = write_row(bench, block, columns, places)? else { break };
        rows.push((block, speeds));
        last = bench.context.seconds() - began;
        block /= 2;
    }
    if !rows.is_empty() {
        let parameters = [&[("erasesize", unit), ("blocksize", smallest)], parameters].concat();
        bench.into.tables.push(new_table(kind, &parameters, rows));
    }
    Ok(())
}

/// Writes the blocks of a table once untimed, so that its first row does not pay for closing blocks of earlier
/// tests (docs/reference/flash.md#first-block-of-a-run). Skipped if the limits leave no room.
fn close_others(
    bench: &mut WriteTester<'_, '_, '_>,
    unit: u64,
    order: impl Fn(u64) -> (u64, Vec<(u64, u64)>),
) -> Result<(), ProbeStop> {
    let (columns, places) = order(unit / 2);
    let bytes = places.len() as u64 * unit / 2;
    if bench.context.may_write(8 * unit + bytes) && bench.has_time(bytes as f64 / SLOWEST_BYTES_PER_S) {
        write_row(bench, unit / 2, columns, places)?;
    }
    Ok(())
}

/// Writes a row and returns bytes per second of each column, from its mean time. `None` if a write failed or the
/// time is up.
fn write_row(
    bench: &mut WriteTester<'_, '_, '_>,
    block: u64,
    columns: u64,
    places: Vec<(u64, u64)>,
) -> Result<Option<Vec<f64>>, ProbeStop> {
    let extents: Vec<CardExtent> = places.iter().flat_map(|(_, at)| split_block(*at, block)).collect();
    if !bench.context.try_save_before_write(&extents)? {
        return Ok(None);
    }
    let mut sums = vec![(0.0, 0u32); columns as usize];
    for (column, at) in places {
        let mut seconds = 0.0;
        for extent in split_block(at, block) {
            if !bench.has_time(0.0) {
                return Ok(None);
            }
            let Some(time) = bench.context.time_write(extent)? else { return Ok(None) };
            seconds += time;
        }
        let sum = &mut sums[column as usize];
        *sum = (sum.0 + seconds, sum.1 + 1);
    }
    Ok(Some(sums.iter().map(|(seconds, n)| block as f64 * f64::from(*n) / seconds).collect()))
}

fn split_block(at: u64, block: u64) -> impl Iterator<Item = CardExtent> {
    cardscope_engine::io_driver::split_extents(at, at + block, super::write_tester::MAX_WRITE)
}
