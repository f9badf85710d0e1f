//! Table layout and access order that the flashbench tables share (docs/reference/tools.md#flashbench).

use super::options::Result;
use super::read_tester::{ReadDeadline, ReadTester, stages};
use super::write_tester::{SLOWEST_BYTES_PER_S, WriteTester};
use cardscope_engine::io_driver::CardExtent;
use cardscope_model::card_map::FlashbenchTable;
use cardscope_model::units::{KIB, MIB};

fn new_table(kind: &str, parameters: &[(&str, u64)], rows: Vec<(u64, Vec<f64>)>) -> FlashbenchTable {
    let parameters = parameters.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    FlashbenchTable { kind: kind.to_owned(), parameters, rows }
}

/// Feedback taps of maximal shift registers of 8 to 16 bits, lowest bits first.
const TAPS: [u16; 9] = [0x1d, 0x11, 0x09, 0x05, 0x53, 0x1b, 0x2b, 0x03, 0x2d];

/// Numbers below `n` in flashbench's pseudo-random order: 0, then the states below `n` of a maximal shift register
/// with 8 to 16 bits that starts at 0xace1.
fn shuffled_numbers(n: u64) -> Vec<u64> {
    let width = (64 - n.saturating_sub(1).leading_zeros()).clamp(8, 16);
    let mask = (1u32 << width) - 1;
    let taps = u32::from(TAPS[width as usize - 8]);
    let first = mask & 0xace1;
    let mut state = first;
    let mut order = vec![0];
    loop {
        if u64::from(state) < n {
            order.push(u64::from(state));
        }
        let bit = (state & taps).count_ones() & 1;
        state = state >> 1 | bit << (width - 1);
        if state == first || order.len() as u64 >= n {
            break;
        }
    }
    order
}

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
pub(super) fn measure_read_tables(reads: &mut ReadTester) -> Result<()> {
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

fn align_table(reads: &mut ReadTester, block: u64) -> Result<FlashbenchTable> {
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
    reads: &mut ReadTester,
    block: u64,
    unit: u64,
    largest: u64,
    end: ReadDeadline,
) -> Result<Option<Vec<f64>>> {
    let (all, sector) = (reads.context.card_bytes(), u64::from(reads.context.sector()));
    let mut fastest = [[f64::INFINITY; 3]; PLACES as usize];
    for _ in 0..COUNT {
        for (place, fastest) in fastest.iter_mut().enumerate() {
            for (kind, fastest) in fastest.iter_mut().enumerate() {
                if end.is_reached(reads.context) {
                    return Ok(None);
                }
                let at = unit - block + kind as u64 * block / 2 + place as u64 * largest;
                // Wraps to the start like flashbench; no read crosses the end of the card.
                let at = (at % all).min(all - block) / sector * sector;
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
fn scatter_table(reads: &mut ReadTester) -> Result<Option<FlashbenchTable>> {
    let (places, block) = SCATTER;
    reads.context.set_queue(block as u32, 1)?;
    let end = reads.generous_deadline(TABLE_S);
    let mut fastest = vec![f64::INFINITY; places as usize];
    for _ in 0..COUNT {
        for place in shuffled_numbers(places) {
            if end.is_reached(reads.context) {
                return Ok(None);
            }
            let extent = CardExtent { offset: place * block, len: block as u32 };
            if let Some(time) = reads.context.time_read(extent)? {
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
pub(super) fn measure_write_tables(bench: &mut WriteTester) -> Result<()> {
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

fn find_fat_table(bench: &mut WriteTester, unit: u64) -> Result<()> {
    if bench.context.region.start > 0 || bench.context.region.len < FAT_BLOCKS * unit {
        return Ok(());
    }
    let order = |block: u64| {
        let places = (0..FAT_BLOCKS).flat_map(|i| (0..unit / block).map(move |p| (i, i * unit + p * block)));
        (FAT_BLOCKS, places.collect())
    };
    measure_rows(bench, unit, "find-fat", &[("fat-nr", FAT_BLOCKS)], order)
}

fn open_au_table(bench: &mut WriteTester, unit: u64, n: u64, random: bool) -> Result<()> {
    let from = bench.context.region.start.max(OPEN_START).div_ceil(unit) * unit;
    let end = bench.context.region.end();
    if from + ((n - 1) * OPEN_STEP + 1) * unit > end {
        return Ok(());
    }
    let order = |block: u64| {
        let count = unit / block;
        let positions: Vec<u64> = if random { shuffled_numbers(count) } else { (0..count).collect() };
        let blocks = shuffled_numbers(n);
        let at = |p: u64, i: &u64| (0, from + i * OPEN_STEP * unit + p * block);
        (1, positions.iter().flat_map(|p| blocks.iter().map(|i| at(*p, i))).collect())
    };
    let kind = if random { "open-au-random" } else { "open-au-linear" };
    measure_rows(bench, unit, kind, &[("open-au-nr", n), ("offset", from)], order)
}

/// Number of columns and the writes of a row, each as column and address.
type RowOrder = (u64, Vec<(u64, u64)>);
/// Measures rows while they fit, each with half the block size of the one before. `order` returns the number of
/// columns and the writes of a row, each as column and address.
fn measure_rows(
    bench: &mut WriteTester,
    unit: u64,
    kind: &str,
    parameters: &[(&str, u64)],
    order: impl Fn(u64) -> RowOrder,
) -> Result<()> {
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
        let Some(speeds) = write_row(bench, block, order(block))? else { break };
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
fn close_others(bench: &mut WriteTester, unit: u64, order: impl Fn(u64) -> RowOrder) -> Result<()> {
    let row = order(unit / 2);
    let bytes = row.1.len() as u64 * unit / 2;
    if bench.context.may_write(8 * unit + bytes) && bench.has_time(bytes as f64 / SLOWEST_BYTES_PER_S) {
        write_row(bench, unit / 2, row)?;
    }
    Ok(())
}

/// Writes a row and returns bytes per second of each column, from its mean time. `None` if a write failed or the
/// time is up.
fn write_row(bench: &mut WriteTester, block: u64, (columns, places): RowOrder) -> Result<Option<Vec<f64>>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_contains_every_number_once() {
        for n in [1, 2, 3, 5, 6, 64, 256, 257, 1000, 1024, 4096, 10_000, 65_536] {
            let mut order = shuffled_numbers(n);
            assert_eq!(order.len() as u64, n, "{n}");
            order.sort_unstable();
            assert_eq!(order, (0..n).collect::<Vec<_>>(), "{n}");
        }
    }
}
