//! Distinguishes two reasons for a slow or fast first block: its order in a run of writes, or its address
//! (docs/reference/flash.md#first-block-of-a-run). One block is written as the first and as the second of a run,
//! and the start of the card as the first.

use super::write_tester::{SLOWEST_BYTES_PER_S, WriteTester, contiguous_extents};
use cardscope_engine::io_driver::{CardExtent, ProbeStop};
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::statistics::median;
use cardscope_model::units::{BinarySize, KIB, MIB, three_digits};

/// Parts per block. Each begins with timed writes of a size that shows the effect
/// (docs/reference/reports.md#lexar-review), and ends with one large write.
const PARTS: u64 = 16;
const TIMED: usize = 4;
const SMALL: u64 = 16 * KIB;

/// Erase blocks that are large enough for these parts, and small enough to cost no more than all other tests.
const TESTABLE_UNITS: std::ops::RangeInclusive<u64> = 2 * MIB..=16 * MIB;

/// Least ratio of medians that counts. Blocks differ by 1 to 4 % (docs/reference/flash.md#public-logs), the first
/// of a run by 10 to 30 % (docs/reference/flash.md#first-block-of-a-run).
const MIN_RATIO: f64 = 1.1;

/// Median seconds of small writes in a block.
#[derive(Debug, Clone, Copy)]
struct StartTimes {
    first: f64,
    /// Block after it.
    second: f64,
    /// The same block as the first of another run.
    second_as_first: f64,
    card_start: f64,
}

/// Runs the test if the start of the card may be written.
pub(super) fn measure_start_of_run(bench: &mut WriteTester<'_, '_, '_>) -> Result<(), ProbeStop> {
    // A chosen unit may end within an erase block, and the run would continue in the same one.
    let unit = bench.into.erase_block_bytes.value.unwrap_or_else(|| bench.slots.unit());
    let is_reached = bench.options.fat && bench.context.region.start == 0;
    // Seven units are written: three to prepare, then four timed blocks.
    if !is_reached || !TESTABLE_UNITS.contains(&unit) || !bench.context.may_write(7 * unit) {
        return Ok(());
    }
    bench.require_time(7.0 * unit as f64 / SLOWEST_BYTES_PER_S)?;
    let Some(place) = bench.take_range(2 * unit) else { return Ok(()) };
    // All blocks start from the same state.
    bench.write_in_order(place, 2 * unit)?;
    bench.write_in_order(0, unit)?;
    let first = time_block(bench, place, unit)?;
    let second = time_block(bench, place + unit, unit)?;
    let second_as_first = time_block(bench, place + unit, unit)?;
    let card_start = time_block(bench, 0, unit)?;
    if let [Some(first), Some(second), Some(second_as_first), Some(card_start)] =
        [first, second, second_as_first, card_start]
    {
        let starts = StartTimes { first, second, second_as_first, card_start };
        bench.into.findings.extend(judge_starts(starts, unit, bench.into.fat_region_bytes.value.is_some()));
    }
    Ok(())
}

/// Writes a block sequentially. Returns the median of its small writes, or `None` if a write failed.
fn time_block(bench: &mut WriteTester<'_, '_, '_>, place: u64, unit: u64) -> Result<Option<f64>, ProbeStop> {
    let part = unit / PARTS / SMALL * SMALL;
    let small = || std::iter::repeat_n(SMALL, TIMED);
    let parts = (0..PARTS).flat_map(|_| small().chain([part - TIMED as u64 * SMALL]));
    let writes: Vec<CardExtent> = contiguous_extents(place, parts);
    let times = bench.write_all(&writes)?;
    if times.len() < writes.len() {
        return Ok(None);
    }
    let timed = writes.iter().zip(times).filter(|(write, _)| u64::from(write.len) == SMALL);
    Ok(median(&timed.map(|(_, seconds)| seconds).collect::<Vec<_>>()))
}

/// Finds an effect of order if it shows in the second block and the same block as the first, and one of address if
/// the card's start exceeds every effect of order and the card has a FAT region. Without that condition 6 of 4300
/// random cards, all with erase blocks of 12 MiB, would have a false finding.
fn judge_starts(starts: StartTimes, unit: u64, has_region: bool) -> Option<Finding> {
    let StartTimes { first, second, second_as_first, card_start } = starts;
    let by_order = differs_from_all(second, &[first, second_as_first]);
    let by_place = differs_from_all(card_start, &[first, second, second_as_first]);
    let (order, place) = (describe_ratio(second_as_first / second), describe_ratio(card_start / first));
    let size = BinarySize(unit);
    let verdict = match (by_order, by_place) {
        (true, false) => format!(
            "Writes of 16 KiB are {order} in the first {size} of a run, wherever it begins: an effect of order, \
             not of place."
        ),
        (false, true) => format!(
            "Writes of 16 KiB are {place} in the first {size} of the card: an effect of place, not of order."
        ),
        (true, true) => format!(
            "Writes of 16 KiB are {order} in the first {size} of a run, an effect of order, and {place} at the start \
             of the card than at the start of other runs, one of place."
        ),
        (false, false) => return None,
    };
    if by_place && !has_region {
        return None;
    }
    let ms = |seconds: f64| format!("{} ms", three_digits(1e3 * seconds));
    Some(
        Finding::new("start-of-run", FindingWeight::Note, 0.97, verdict)
            .because("first block of a run", ms(first))
            .because("the block after it", ms(second))
            .because("that block as the first of a run", ms(second_as_first))
            .because("start of the card", ms(card_start)),
    )
}

/// True if a time differs from all others in one direction by more than blocks differ.
fn differs_from_all(time: f64, others: &[f64]) -> bool {
    others.iter().all(|other| time > MIN_RATIO * other)
        || others.iter().all(|other| time * MIN_RATIO < *other)
}

/// Difference in speed from a ratio of times, such as `24 % slower`.
fn describe_ratio(ratio: f64) -> String {
    let speed = 100.0 * (1.0 / ratio - 1.0);
    format!("{:.0} % {}", speed.abs(), if speed < 0.0 { "slower" } else { "faster" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict_with_region(first: f64, second: f64, second_as_first: f64, card_start: f64) -> Option<String> {
        verdict_text(StartTimes { first, second, second_as_first, card_start }, true)
    }

    fn verdict_text(starts: StartTimes, has_region: bool) -> Option<String> {
        judge_starts(starts, 4 * MIB, has_region).map(|finding| finding.verdict)
    }

    #[test]
    fn slow_first_blocks_are_an_effect_of_order() {
        // docs/reference/reports.md#lexar-review at 16 KiB: 4.86 against 6.3 MB/s in the first column of each
        // table.
        assert_eq!(
            verdict_with_region(3.37e-3, 2.6e-3, 3.36e-3, 3.38e-3).unwrap(),
            "Writes of 16 KiB are 23 % slower in the first 4 MiB of a run, wherever it begins: an effect of order, \
             not of place."
        );
    }

    #[test]
    fn fast_card_start_is_an_effect_of_place() {
        assert_eq!(
            verdict_with_region(2.6e-3, 2.6e-3, 2.61e-3, 1.3e-3).unwrap(),
            "Writes of 16 KiB are 100 % faster in the first 4 MiB of the card: an effect of place, not of order."
        );
        let both = verdict_with_region(3.4e-3, 2.6e-3, 3.4e-3, 6.8e-3).unwrap();
        assert!(
            both.contains("24 % slower") && both.contains("50 % slower at the start of the card"),
            "{both}"
        );
    }

    #[test]
    fn even_or_unexplained_blocks_have_no_finding() {
        assert_eq!(verdict_with_region(2.6e-3, 2.65e-3, 2.55e-3, 2.7e-3), None);
        assert_eq!(
            verdict_with_region(3.4e-3, 2.6e-3, 2.6e-3, 3.4e-3),
            None,
            "one block is slow, not the first of a run"
        );
        let slow_start =
            StartTimes { first: 2.6e-3, second: 2.6e-3, second_as_first: 2.6e-3, card_start: 5.2e-3 };
        assert_eq!(verdict_text(slow_start, false), None, "the region was looked for and is not there");
        let only_order = verdict_with_region(3.4e-3, 2.6e-3, 3.4e-3, 2.6e-3).unwrap();
        assert!(only_order.contains("not of place"), "the start of the card is as fast as a second block");
    }
}
