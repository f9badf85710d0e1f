//! FAT region at the start of a card: compares the same writes there and in other ranges
//! (docs/reference/flash.md#start-of-the-card). It overwrites the partition table and file allocation table after
//! saving them, and only runs on request.

use super::start_of_run;
use super::write_tester::{SLOWEST_BYTES_PER_S, WriteTester, contiguous_extents};
use crate::probe::unmeasured::{UnmeasuredReason, reason_as_property};
use cardscope_engine::io_driver::ProbeStop;
use cardscope_engine::target::TargetRegion;
use cardscope_model::card_map::plot::{AxisScale, Plot, PlotAxis};
use cardscope_model::card_map::property::{Property, PropertyEvidence};
use cardscope_model::statistics::median;
use cardscope_model::units::MIB;
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

/// Least relevant ratio. Effects on record are 0.2 to 0.7 or 4.6 times the speed; the scatter elsewhere is below 5
/// %.
const MIN_RATIO: f64 = 1.25;

pub(super) fn measure_fat_region(bench: &mut WriteTester<'_, '_, '_>) -> Result<(), ProbeStop> {
    if bench.options.card_addresses {
        bench.into.fat_region_bytes = reason_as_property(compare_start(bench))?;
        start_of_run::measure_start_of_run(bench)?;
    }
    Ok(())
}

fn compare_start(bench: &mut WriteTester<'_, '_, '_>) -> Result<Property<u64>, UnmeasuredReason> {
    if !bench.options.fat {
        let why =
            "it overwrites the first 16 MiB, partition table included (saved first); select it with --fat";
        return Err(why.into());
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
fn profile_range(
    bench: &mut WriteTester<'_, '_, '_>,
    from: u64,
) -> Result<Vec<Option<WriteProfile>>, ProbeStop> {
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

fn profile_step(bench: &mut WriteTester<'_, '_, '_>, place: u64) -> Result<Option<WriteProfile>, ProbeStop> {
    let times = bench.write_all(&contiguous_extents(place, WRITES))?;
    if times.len() < WRITES.len() {
        return Ok(None);
    }
    let log = |times: &[f64]| median(times).filter(|t| *t > 0.0).map(f64::ln);
    Ok(log(&times[1..LARGE_WRITES])
        .zip(log(&times[LARGE_WRITES..]))
        .map(|(large, small)| WriteProfile { large, small }))
}

/// Length of the region: the steps before the first one that behaves like elsewhere.
fn region_property(
    elsewhere: &[Vec<Option<WriteProfile>>],
    start: &[Option<WriteProfile>],
) -> Option<Property<u64>> {
    let usual: Vec<Option<WriteProfile>> =
        (0..start.len()).map(|step| median_profile(elsewhere, step)).collect();
    let (large, small) =
        (max_deviation(elsewhere, &usual, |p| p.large)?, max_deviation(elsewhere, &usual, |p| p.small)?);
    let differs = |(is, usual): (&Option<WriteProfile>, &Option<WriteProfile>)| match (is, usual) {
        (Some(is), Some(usual)) => {
            (is.large - usual.large).abs() > large || (is.small - usual.small).abs() > small
        }
        _ => false,
    };
    let special = start.iter().zip(&usual).take_while(|pair| differs(*pair)).count();
    let speeds: Vec<f64> = start
        .iter()
        .zip(&usual)
        .take(special.max(1))
        .filter_map(|(is, usual)| Some((usual.as_ref()?.large - is.as_ref()?.large).exp()))
        .collect();
    let evidence = PropertyEvidence::from_method(
        "the same writes of 64 and 4 KiB at each MiB of the first 16 MiB and, in the same order, of other \
         ranges",
    )
    .with_number("other ranges", elsewhere.len() as f64, "")
    .with_number("speed at the start relative to elsewhere, 64 KiB", median(&speeds)?, "")
    .with_plot(plot(start, &usual, special));
    Some(match special {
        0 => Property::none(0.97, evidence),
        n if n == start.len() => Property::at_least(REACH_BYTES, 0.9, evidence),
        n => Property::measured(n as u64 * STEP, 0.97, evidence),
    })
}

fn median_profile(elsewhere: &[Vec<Option<WriteProfile>>], step: usize) -> Option<WriteProfile> {
    let there: Vec<WriteProfile> = elsewhere.iter().filter_map(|walk| *walk.get(step)?).collect();
    let middle = |pick: fn(&WriteProfile) -> f64| median(&there.iter().map(pick).collect::<Vec<_>>());
    Some(WriteProfile { large: middle(|p| p.large)?, small: middle(|p| p.small)? })
}

/// Largest normal deviation of a step: four times the scatter of the other ranges, over all steps.
fn max_deviation(
    elsewhere: &[Vec<Option<WriteProfile>>],
    usual: &[Option<WriteProfile>],
    pick: fn(&WriteProfile) -> f64,
) -> Option<f64> {
    let apart: Vec<f64> = elsewhere
        .iter()
        .flat_map(|walk| walk.iter().zip(usual))
        .filter_map(|(is, usual)| Some(pick(is.as_ref()?) - pick(usual.as_ref()?)))
        .collect();
    let spread = robust_deviation(&apart, 0.0)?;
    Some((4.0 * spread.max(0.03)).max(MIN_RATIO.ln()))
}

fn plot(start: &[Option<WriteProfile>], usual: &[Option<WriteProfile>], special: usize) -> Plot {
    let points = |profiles: &[Option<WriteProfile>], pick: fn(&WriteProfile) -> f64| {
        let at = |i: usize, p: &Option<WriteProfile>| {
            Some(((i as u64 * STEP) as f64, 1e3 * pick(p.as_ref()?).exp()))
        };
        profiles.iter().enumerate().filter_map(|(i, p)| at(i, p)).collect::<Vec<_>>()
    };
    let (x, y) = (
        PlotAxis::new("address", "bytes", AxisScale::Linear),
        PlotAxis::new("median of a write", "ms", AxisScale::Linear),
    );
    let end = (special > 0).then(|| ((special as u64 * STEP) as f64, "end of the region".to_owned()));
    Plot::new("the same writes over the start of the card", x, y)
        .with_line("64 KiB", points(start, |p| p.large))
        .with_line("64 KiB elsewhere", points(usual, |p| p.large))
        .with_line("4 KiB", points(start, |p| p.small))
        .with_line("4 KiB elsewhere", points(usual, |p| p.small))
        .with_marks(end)
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
}
