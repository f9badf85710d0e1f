//! FAT region at the start of a card: compares the same writes there and in other ranges
//! (docs/reference/flash.md#start-of-the-card). It overwrites the partition table and file allocation table after
//! saving them, and only runs on request.

use super::options::{Result, Sought, reason_as_property};
use super::write_tester::{SLOWEST_BYTES_PER_S, WriteTester, contiguous_extents};
use cardscope_engine::io_driver::CardExtent;
use cardscope_engine::target::TargetRegion;
use cardscope_model::card_map::plot::AxisScale::Linear;
use cardscope_model::card_map::plot::Plot;
use cardscope_model::card_map::property::{Property, PropertyEvidence};
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::statistics::median;
use cardscope_model::units::{BinarySize, KIB, MIB, three_digits};
use cardscope_probing::context::CARD_START;
use cardscope_statistics::robust::robust_deviation;

const REFERENCES: usize = 3;

/// Step and length of the search, in bytes. The largest region on record has 12 MiB; one that reaches the end is
/// reported as "at least".
const STEP: u64 = MIB;
const REACH_BYTES: u64 = 16 * MIB;

/// Bytes of the writes at one position. The first one opens the block and is not counted: the first block of a run
/// is slow on some cards at any address (docs/reference/flash.md#first-block-of-a-run).
const WRITES: [u64; 9] = [64 << 10, 64 << 10, 64 << 10, 64 << 10, 64 << 10, 4096, 4096, 4096, 4096];

const LARGE_WRITES: usize = 5;
const METHOD: &str = "the same writes of 64 and 4 KiB at each MiB of the first 16 MiB and, in the same order, of \
                      other ranges";

/// Least relevant ratio. Effects on record are 0.2 to 0.7 or 4.6 times the speed; the scatter elsewhere is below 5
/// %.
const MIN_RATIO: f64 = 1.25;

pub(super) fn measure_card_start(bench: &mut WriteTester) -> Result<()> {
    if bench.options.card_addresses {
        bench.into.fat_region_bytes = reason_as_property(compare_start(bench))?;
        measure_start_of_run(bench)?;
    }
    Ok(())
}

const NOT_SELECTED: &str =
    "it overwrites the first 16 MiB, partition table included (saved first); select it with --fat";
fn compare_start(bench: &mut WriteTester) -> Sought<Property<u64>> {
    if !bench.options.fat {
        return Err(NOT_SELECTED.into());
    }
    if let Some(why) = why_no_room(bench.context.region) {
        return Err(why.into());
    }
    debug_assert_eq!(REACH_BYTES, CARD_START, "other ranges are tested here");
    let before = bench.context.total_cost();
    // A step within an erase block is written out of order at any address. The other ranges are therefore written
    // in the same steps, and each step of the start is compared with the same step there.
    let mut elsewhere = Vec::new();
    for _ in 0..REFERENCES {
        let Some(place) = bench.take_range(REACH_BYTES) else { break };
        elsewhere.push(profile_range(bench, place)?);
    }
    let start = profile_range(bench, 0)?;
    let cost = bench.context.cost_since(before);
    let why = "too few of its writes succeeded, or there is no other range to compare with";
    let mut property = region_property(&elsewhere, &start).unwrap_or_else(|| Property::not_tested(why));
    property.evidence.cost = cost;
    Ok(property)
}

/// Profile of each step of a range, in order. The whole range is written before, so that all ranges start from the
/// same state, whatever a log of the card still held of them.
fn profile_range(bench: &mut WriteTester, from: u64) -> Result<RangeProfile> {
    let mut steps = Vec::new();
    bench.require_time(REACH_BYTES as f64 / SLOWEST_BYTES_PER_S)?;
    if bench.write_in_order(from, REACH_BYTES)?.is_empty() {
        return Ok(steps);
    }
    for step in (0..REACH_BYTES).step_by(STEP as usize) {
        bench.require_time(1.0)?;
        steps.push(profile_step(bench, from + step)?);
    }
    Ok(steps)
}

fn why_no_room(region: TargetRegion) -> Option<String> {
    if region.start > 0 {
        return Some("the start of the card is outside the writable range".to_owned());
    }
    let small = region.len < 2 * REACH_BYTES;
    small.then(|| format!("{} bytes are too few to compare the first 16 MiB with the rest", region.len))
}

/// Medians of large and small writes at one position, as logarithms of seconds.
#[derive(Debug, Clone, Copy)]
struct WriteProfile {
    large: f64,
    small: f64,
}
type ProfilePart = fn(&WriteProfile) -> f64;
/// Profile of each step of a range; `None` where a write failed.
type RangeProfile = Vec<Option<WriteProfile>>;

fn profile_step(bench: &mut WriteTester, place: u64) -> Result<Option<WriteProfile>> {
    let times = bench.write_all(&contiguous_extents(place, WRITES))?;
    if times.len() < WRITES.len() {
        return Ok(None);
    }
    let log = |times: &[f64]| median(times).filter(|t| *t > 0.0).map(f64::ln);
    let both = log(&times[1..LARGE_WRITES]).zip(log(&times[LARGE_WRITES..]));
    Ok(both.map(|(large, small)| WriteProfile { large, small }))
}

/// Length of the region: the steps before the first one that behaves like elsewhere.
fn region_property(elsewhere: &[RangeProfile], start: &[Option<WriteProfile>]) -> Option<Property<u64>> {
    let usual: RangeProfile = (0..start.len()).map(|step| median_profile(elsewhere, step)).collect();
    let large = max_deviation(elsewhere, &usual, |p| p.large)?;
    let small = max_deviation(elsewhere, &usual, |p| p.small)?;
    let differs = |(is, usual): (&Option<WriteProfile>, &Option<WriteProfile>)| {
        is.zip(*usual).is_some_and(|(is, usual)| {
            (is.large - usual.large).abs() > large || (is.small - usual.small).abs() > small
        })
    };
    let special = start.iter().zip(&usual).take_while(|pair| differs(*pair)).count();
    let speeds: Vec<f64> = start
        .iter()
        .zip(&usual)
        .take(special.max(1))
        .filter_map(|(is, usual)| Some((usual.as_ref()?.large - is.as_ref()?.large).exp()))
        .collect();
    let evidence = PropertyEvidence::from_method(METHOD)
        .with_number("other ranges", elsewhere.len() as f64, "")
        .with_number("speed at the start relative to elsewhere, 64 KiB", median(&speeds)?, "")
        .with_plot(plot(start, &usual, special));
    Some(match special {
        0 => Property::none(0.97, evidence),
        n if n == start.len() => Property::at_least(REACH_BYTES, 0.9, evidence),
        n => Property::measured(n as u64 * STEP, 0.97, evidence),
    })
}

fn median_profile(elsewhere: &[RangeProfile], step: usize) -> Option<WriteProfile> {
    let there: Vec<WriteProfile> = elsewhere.iter().filter_map(|walk| *walk.get(step)?).collect();
    let middle = |pick: ProfilePart| median(&there.iter().map(pick).collect::<Vec<_>>());
    Some(WriteProfile { large: middle(|p| p.large)?, small: middle(|p| p.small)? })
}

/// Largest normal deviation of a step: four times the scatter of the other ranges, over all steps.
fn max_deviation(elsewhere: &[RangeProfile], usual: &RangeProfile, pick: ProfilePart) -> Option<f64> {
    let apart: Vec<f64> = elsewhere
        .iter()
        .flat_map(|walk| walk.iter().zip(usual))
        .filter_map(|(is, usual)| Some(pick(is.as_ref()?) - pick(usual.as_ref()?)))
        .collect();
    let spread = robust_deviation(&apart, 0.0)?;
    Some((4.0 * spread.max(0.03)).max(MIN_RATIO.ln()))
}

fn plot(start: &[Option<WriteProfile>], usual: &[Option<WriteProfile>], special: usize) -> Plot {
    let points = |profiles: &[Option<WriteProfile>], pick: ProfilePart| {
        let addresses = (0..).map(|i| (i * STEP) as f64);
        let at = |(at, p): (f64, &Option<WriteProfile>)| Some((at, 1e3 * pick(p.as_ref()?).exp()));
        addresses.zip(profiles).filter_map(at).collect::<Vec<_>>()
    };
    let end = (special > 0).then(|| ((special as u64 * STEP) as f64, "end of the region".to_owned()));
    let x = ("address", "bytes", Linear);
    let y = ("median of a write", "ms", Linear);
    Plot::new("the same writes over the start of the card", x, y)
        .with_line("64 KiB", points(start, |p| p.large))
        .with_line("64 KiB elsewhere", points(usual, |p| p.large))
        .with_line("4 KiB", points(start, |p| p.small))
        .with_line("4 KiB elsewhere", points(usual, |p| p.small))
        .with_marks(end)
}

/// Parts per block. Each begins with timed writes of a size that shows the effect
/// (docs/reference/reports.md#lexar-review), and ends with one large write.
const PARTS: u64 = 16;
const TIMED: usize = 4;
const SMALL: u64 = 16 * KIB;

/// Erase blocks that are large enough for these parts, and small enough to cost no more than all other tests.
const TESTABLE_UNITS: std::ops::RangeInclusive<u64> = 2 * MIB..=16 * MIB;

/// Least ratio of medians that counts. Blocks differ by 1 to 4 % (docs/reference/flash.md#public-logs), the first
/// of a run by 10 to 30 % (docs/reference/flash.md#first-block-of-a-run).
const MIN_START_RATIO: f64 = 1.1;

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
pub(super) fn measure_start_of_run(bench: &mut WriteTester) -> Result<()> {
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
    let mut times = [None; 4];
    for (time, at) in times.iter_mut().zip([place, place + unit, place + unit, 0]) {
        *time = time_block(bench, at, unit)?;
    }
    if let [Some(first), Some(second), Some(second_as_first), Some(card_start)] = times {
        let starts = StartTimes { first, second, second_as_first, card_start };
        bench.into.findings.extend(judge_starts(starts, unit, bench.into.fat_region_bytes.value.is_some()));
    }
    Ok(())
}

/// Writes a block sequentially. Returns the median of its small writes, or `None` if a write failed.
fn time_block(bench: &mut WriteTester, place: u64, unit: u64) -> Result<Option<f64>> {
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
    let differs = |slower: f64, faster: f64| slower > MIN_START_RATIO * faster;
    others.iter().all(|other| differs(time, *other)) || others.iter().all(|other| differs(*other, time))
}

/// Difference in speed from a ratio of times, such as `24 % slower`.
fn describe_ratio(ratio: f64) -> String {
    let speed = 100.0 * (1.0 / ratio - 1.0);
    format!("{:.0} % {}", speed.abs(), if speed < 0.0 { "slower" } else { "faster" })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Range with erase blocks of 4 MiB, whose steps out of order are slow; the first `special` steps are slower.
    fn simulated_range(special: usize) -> Vec<Option<WriteProfile>> {
        let at = |i: usize| {
            let out_of_order = if i.is_multiple_of(4) { 0.0 } else { 0.9 };
            Some(WriteProfile {
                large: out_of_order + if i < special { 0.7 } else { 0.0 },
                small: out_of_order,
            })
        };
        (0..16).map(at).collect()
    }

    #[test]
    fn small_card_and_excluded_start_have_different_reasons() {
        let why = |start, len| why_no_room(TargetRegion { start, len });
        assert!(why(0, 24 * MIB).unwrap().contains("too few"));
        assert!(why(MIB, 64 * MIB).unwrap().contains("outside"));
        assert_eq!(why(0, 32 * MIB), None);
    }

    #[test]
    fn region_ends_where_writes_match_other_ranges() {
        let elsewhere = vec![simulated_range(0); 3];
        assert_eq!(region_property(&elsewhere, &simulated_range(8)).unwrap().value, Some(8 * MIB));
        let whole = region_property(&elsewhere, &simulated_range(16)).unwrap();
        assert_eq!((whole.value, whole.bound), (None, Some(REACH_BYTES)));
        let none = region_property(&elsewhere, &simulated_range(0)).unwrap();
        assert_eq!(none.status, cardscope_model::card_map::property::PropertyStatus::None);
    }

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
