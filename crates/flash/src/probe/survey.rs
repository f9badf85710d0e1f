//! First sample of positions: do all answer alike, do they hold data, and does a position answer faster after a
//! read nearby?

use super::options::{Result, Sought, UnmeasuredReason, no_time_reason, skip_boundaries};
use super::read_tester::{ReadTester, UNIT_SEARCH_S, stages};
use cardscope_engine::io_driver::CardExtent;
use cardscope_model::card_map::MeasuredMap;
use cardscope_model::card_map::property::{Property, PropertyEvidence};
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::statistics::median;
use cardscope_statistics::boundary::{TimeModes, two_modes};

const METHOD: &str = "reads of two sectors at random positions over the whole card: unwritten positions answer \
                      faster and repeat one byte";
/// Number of sampled positions: 5 % of them are six or seven.
const PLACES: usize = 128;

/// Distance of the second read: outside of any page, within one entry of a cached mapping table.
const NEAR_BYTES: u64 = 64 << 10;

/// Share of the time below which a read is faster because the first one loaded the mapping entry for both.
const WARM_SHARE: f64 = 0.95;

/// Least share of the rarer kind that must be of that kind again. Delays in the card or the computer hit other
/// positions the next time.
const MIN_REPEATED_SHARE: f64 = 0.7;

/// Fast positions are unmapped if at least this share of them holds no data.
const MIN_EMPTY_SHARE: f64 = 0.8;

#[derive(Debug)]
pub(super) struct ReadSurvey {
    /// Fast and slow positions; None if all answer alike.
    pub(super) modes: Option<TimeModes>,
    /// True if the fast positions are unwritten ones.
    pub(super) fast_is_unmapped: bool,
    /// Share of positions that repeat one byte.
    pub(super) constant_share: f64,
    /// True if a position must be read once before its time is valid.
    pub(super) needs_warm_up: bool,
    places: usize,
}

/// Samples the card and records its unwritten share. Returns `None` if too few positions were read for anything
/// that depends on the survey.
pub(super) fn survey_card(reads: &mut ReadTester) -> Result<Option<ReadSurvey>> {
    reads.context.begin_stage(stages::SURVEY);
    if reads.available_seconds(&[1.0]).is_err() {
        skip_boundaries(reads.into, &no_time_reason(1.0));
        let units = [&mut reads.into.page_bytes, &mut reads.into.erase_block_bytes];
        units.into_iter().for_each(|unit| *unit = Property::not_tested(no_time_reason(UNIT_SEARCH_S[0])));
        reads.into.map_segment_bytes = Property::not_tested(no_time_reason(3.0));
        return Ok(None);
    }
    match sample_positions(reads) {
        // Without the survey neither the units nor the unwritten share can be measured.
        Err(UnmeasuredReason::Reason(why)) => {
            skip_boundaries(reads.into, &why);
            Ok(None)
        }
        Err(UnmeasuredReason::Stop(stop)) => Err(stop),
        Ok((survey, share)) => {
            reads.into.unmapped_share = share;
            Ok(Some(survey))
        }
    }
}

fn sample_positions(reads: &mut ReadTester) -> Sought<(ReadSurvey, Property<f64>)> {
    let (before, len) = (reads.context.total_cost(), reads.two_sectors_bytes());
    let end = reads.generous_deadline(1.0);
    reads.context.set_queue(len as u32, 1)?;
    let (mut places, mut times, mut constants, mut warmer) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..PLACES {
        if end.is_reached(reads.context) {
            break;
        }
        let extent = reads.random_extent(4 * NEAR_BYTES, 4 * NEAR_BYTES, len);
        let first = reads.context.time_read(extent)?;
        let second = reads.context.time_read(CardExtent { offset: extent.offset + NEAR_BYTES, ..extent })?;
        let constant = reads.context.is_constant(extent)?;
        let (Some(first), Some(second), Some(constant)) = (first, second, constant) else { continue };
        places.push(extent);
        times.push(first);
        constants.push(constant);
        warmer.push(second / first);
    }
    end.require_samples(reads.context, times.len(), PLACES, "positions in the first sample")?;
    let typical = median(&times).ok_or("no position could be read")?;
    let share = |of: &dyn Fn(f64) -> bool| {
        let all: Vec<bool> = times.iter().zip(&constants).filter(|(t, _)| of(**t)).map(|(_, c)| *c).collect();
        all.iter().filter(|c| **c).count() as f64 / all.len().max(1) as f64
    };
    let modes = match two_modes(&times) {
        Some(modes) if modes_repeat(modes, reads, &places, &times)? => Some(modes),
        _ => None,
    };
    let survey = ReadSurvey {
        modes,
        fast_is_unmapped: modes.is_some_and(|m| share(&|t| t <= m.split) >= MIN_EMPTY_SHARE),
        constant_share: share(&|_| true),
        needs_warm_up: median(&warmer).is_some_and(|ratio| ratio < WARM_SHARE),
        places: times.len(),
    };
    let evidence = evidence(&survey, typical).with_cost(reads.context.cost_since(before));
    let share = unmapped_property(&survey, evidence);
    Ok((survey, share))
}

/// True if the rarer kind of positions is of that kind again in a second sample.
fn modes_repeat(
    modes: TimeModes,
    reads: &mut ReadTester,
    list: &[CardExtent],
    times: &[f64],
) -> Sought<bool> {
    let end = reads.generous_deadline(1.0);
    let mut again = Vec::with_capacity(list.len());
    for extent in list {
        if end.is_reached(reads.context) {
            break;
        }
        // At a distance, so that the controller's read buffer does not answer.
        let beside = CardExtent { offset: extent.offset + 2 * NEAR_BYTES, ..*extent };
        again.push(reads.context.time_read(beside)?.unwrap_or(f64::NAN));
    }
    let succeeded: Vec<f64> = again.iter().copied().filter(|t| t.is_finite()).collect();
    end.require_samples(reads.context, succeeded.len(), list.len(), "positions in the second sample")?;
    let Some(second) = two_modes(&succeeded) else { return Ok(false) };
    let fast_is_rarer = modes.fast_share < 0.5;
    let rarer = |t: f64, m: TimeModes| (t <= m.split) == fast_is_rarer;
    let both: Vec<bool> = times
        .iter()
        .zip(&again)
        .filter(|(first, again)| again.is_finite() && rarer(**first, modes))
        .map(|(_, again)| rarer(*again, second))
        .collect();
    let kept = both.iter().filter(|same| **same).count();
    Ok(kept > 0 && kept as f64 >= MIN_REPEATED_SHARE * both.len() as f64)
}

fn evidence(survey: &ReadSurvey, typical: f64) -> PropertyEvidence {
    let found = PropertyEvidence::from_method(METHOD)
        .with_number("places", survey.places as f64, "")
        .with_number("positions that repeat one byte", survey.constant_share * 100.0, "%");
    match survey.modes {
        Some(m) => found
            .with_number("read time, fast positions", m.fast * 1e6, "µs")
            .with_number("read time, slow positions", m.slow * 1e6, "µs")
            .with_number("share of fast positions", m.fast_share * 100.0, "%"),
        None => found.with_number("time of a read", typical * 1e6, "µs"),
    }
}

fn unmapped_property(survey: &ReadSurvey, evidence: PropertyEvidence) -> Property<f64> {
    match survey.modes {
        Some(modes) if survey.fast_is_unmapped => Property::measured(modes.fast_share, 0.95, evidence),
        // An empty card has no written positions to compare with.
        None if survey.constant_share > 0.99 => Property::not_tested(
            "all positions repeat one byte and answer alike: the card is unwritten, or unwritten positions \
             are as fast as others",
        ),
        _ => Property::none(0.95, evidence),
    }
}

/// Reports an empty card whose units did not show: unwritten positions need no flash access, so no boundary is
/// crossed.
impl ReadSurvey {
    pub(super) fn unwritten_finding(&self, into: &MeasuredMap) -> Option<Finding> {
        let shows = into.page_bytes.is_measured() || into.erase_block_bytes.is_measured();
        (self.constant_share > 0.99 && !shows).then(|| {
            let verdict = "The card is unwritten or erased, so its reads show neither page nor erase block.";
            Finding::new("nothing-written", FindingWeight::Note, 0.9, verdict)
                .because("places read", self.places)
                .because("positions that repeat one byte", format!("{:.0} %", self.constant_share * 100.0))
                .with_advice("Fill the card once, then run `cardscope map` again without --read-only.")
        })
    }
}
