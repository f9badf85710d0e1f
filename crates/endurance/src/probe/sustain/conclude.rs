//! Conclusions from the record of a run: events, levels, cache and heat, each with its numbers.

use super::record::RunRecord;
use super::{MAX_CACHE_SHARE, SustainOptions};
use crate::judge::series::{self, PauseExperiment, SeriesCauses, SeriesSlice, SlowdownCause, SpeedStep};
use cardscope_model::card_map::property::{Property, PropertyEvidence, SearchCost};
use cardscope_model::statistics::median;
use cardscope_model::sustain::{
    EventKind, MeasuredRun, SpeedLevel, SteadyState, SustainEvent, ThrottleFacts,
};
use cardscope_model::units::SpeedMbS;
use cardscope_sd::nvme::SmartLog;

/// Slices in a second.
const SLICES_PER_SECOND: usize = 4;

/// Limit of confidence if the pause had no effect, since 30 s may be too short to cool down or to empty a cache.
const UNCONFIRMED_CONFIDENCE: f64 = 0.6;

/// Slices between two hot levels that belong to one period of heat.
const HEAT_BRIDGE: usize = 8;

/// Fills the document.
pub(super) fn conclude_run(record: RunRecord, options: &SustainOptions, into: &mut MeasuredRun) {
    let mut events = record.events.clone();
    let mut sides = [true, false].map(|writes| {
        let slices = record.main_slices(writes);
        (series::find_causes(&slices, record.series_facts(options, writes)), slices)
    });
    let main = usize::from(!options.writes());
    if let Some(experiment) = &record.experiment {
        events.extend(decide_cause(&mut sides[main].0, &experiment.proven_causes(), &record));
    }
    for ((found, slices), op) in sides.iter().zip(["write", "read"]) {
        into.levels.extend(level_rows(found, slices, op));
        events.extend(cause_events(found, slices));
    }
    let (found, slices) = &sides[main];
    into.stalls = found.stalls.is_notable.then(|| found.stalls.figures.clone());
    into.throttling = sides.iter().find_map(|(found, slices)| throttle_facts(&record, found, slices));
    into.interference = sides.iter().find_map(|(found, _)| Some(found.interference.as_ref()?.figures));
    into.steady_state = series::steady_state(slices, options.round_s());
    events.extend(into.steady_state.and_then(|window| steady_event(slices, window)));
    let (written, writes) = &sides[0];
    add_cache(written, writes, options, into);
    if let Some(experiment) = full_from_the_start(&record, written, writes) {
        report_full_cache(experiment, into);
    }
    into.recovery = record.pause_recovery(written);
    events.extend(into.recovery.as_ref().and_then(|r| record.recovery_end_event(r)));
    events.extend(record.no_answer_event());
    events.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    into.events = events;
    into.read_latency = record.read_latency();
    into.queue_depth = record.queue_depth;
    into.limits = options.card_limits;
    into.max_celsius = max_card_celsius(&record);
    into.left_out.clone_from(&record.left_out);
    record.report_counted_throttling(into);
    into.ended_by = record.ended_by;

    into.series = record.samples;
}

/// Uses the pause to decide between heat and a full cache, if the series left it open.
fn decide_cause(found: &mut SeriesCauses, proven: &[SlowdownCause], run: &RunRecord) -> Option<SustainEvent> {
    if !found.is_ambiguous() {
        return None;
    }
    let at_s = run.events.iter().find(|e| e.kind == EventKind::Pause).map_or(0.0, |e| e.at_s);
    let says = match proven {
        [] => "nothing: the pause did not make the card faster",
        [SlowdownCause::Throttling] => "heat: reads are faster after the pause",
        [SlowdownCause::CacheEnd] => "a cache: writes are faster after the pause, reads are not",
        _ => "heat and a cache: reads and writes are faster after the pause",
    };
    adjust_confidences(found, proven);
    Some(SustainEvent::new(EventKind::Experiment, at_s, run.written, 0.9).because("it says", says))
}

/// Adjusts the confidence of causes to the result of the pause.
fn adjust_confidences(found: &mut SeriesCauses, proven: &[SlowdownCause]) {
    let [heat, cache] = [SlowdownCause::Throttling, SlowdownCause::CacheEnd].map(|c| proven.contains(&c));
    if heat && !cache {
        found.cache_ends.retain(|end| end.confidence >= 0.9);
    }
    if cache && !heat {
        found.heat.retain(|step| step.figures.counted);
    }
    for end in &mut found.cache_ends {
        end.confidence = match cache {
            true => 0.98,
            false if !heat && end.confidence < 0.9 => end.confidence.min(UNCONFIRMED_CONFIDENCE),
            false => end.confidence,
        };
    }
    for step in &mut found.heat {
        step.confidence = match heat {
            true => step.confidence.max(0.95),
            false if !cache && step.confidence < 0.95 => step.confidence.min(UNCONFIRMED_CONFIDENCE),
            false => step.confidence,
        };
    }
}

/// Returns the pause if writes after it were faster than in any second before: then the cache was full at the start, and
/// its end does not show. A speed-up of less than a second after each rest does not count.
fn full_from_the_start<'a>(
    record: &'a RunRecord,
    found: &SeriesCauses,
    slices: &[SeriesSlice],
) -> Option<&'a PauseExperiment> {
    let alone = found.named_causes().is_empty() && found.recoveries.is_empty();
    let speeds: Vec<f64> = slices.iter().map(SeriesSlice::speed).collect();
    let fastest = speeds.windows(SLICES_PER_SECOND).filter_map(median).fold(0.0, f64::max);
    let proven = |e: &&PauseExperiment| alone && e.proven_causes() == [SlowdownCause::CacheEnd];
    record.experiment.as_ref().filter(proven).filter(|e| e.writes_exceed(fastest))
}

fn report_full_cache(pause: &PauseExperiment, into: &mut MeasuredRun) {
    let why = "it was full at the start; let the card rest for longer and measure again";
    into.cache_bytes = Property::not_tested(why);
    let evidence = PropertyEvidence::from_method("the speed of writes before and after a pause")
        .with_number("before", pause.writes_before / 1e6, "MB/s")
        .with_number("after", pause.writes_after.max(pause.writes_later) / 1e6, "MB/s");
    into.after_cache_mb_s = Property::measured(pause.writes_before / 1e6, 0.85, evidence);
}

fn level_rows(found: &SeriesCauses, slices: &[SeriesSlice], op: &str) -> Vec<SpeedLevel> {
    let row = |level: &series::SpeedRange| {
        let (first, last) = (&slices[level.from], &slices[level.to - 1]);
        let end = slices.get(level.to).map_or(last.at_bytes + last.bytes, |next| next.at_bytes);
        SpeedLevel {
            op: op.to_owned(),
            mb_s: level.speed / 1e6,
            ci95: level.ci95.map(|v| v / 1e6),
            from_s: first.at_s,
            to_s: last.at_s + last.seconds,
            // Bytes that are moved between its slices belong to a level too.
            bytes: end - first.at_bytes,
            state: level_state(found, level).to_owned(),
        }
    };
    found.levels.iter().map(row).collect()
}

/// State of a level after the end of a cache without other slowdowns.
const CACHE_FULL: &str = "cache full";

/// State of a level in words.
fn level_state(found: &SeriesCauses, level: &series::SpeedRange) -> &'static str {
    let middle = (level.from + level.to) / 2;
    let hot = found.heat.iter().any(|h| (h.from..h.to).contains(&middle));
    let last = |steps: &[SpeedStep]| steps.iter().rev().map(|step| step.slice).find(|slice| *slice <= middle);
    // No step is less than any step.
    let full = last(&found.cache_ends) > last(&found.recoveries);
    match (full, hot) {
        (true, true) => "cache full and hot",
        (true, false) => CACHE_FULL,
        (false, true) => "hot",
        _ if last(&found.unexplained).is_some() => "slower",
        _ if found.levels.len() == 1 => "steady",
        _ if found.named_causes().is_empty() && found.unexplained.is_empty() => "varies",
        _ => "full speed",
    }
}

fn cause_events(found: &SeriesCauses, slices: &[SeriesSlice]) -> Vec<SustainEvent> {
    let mut all: Vec<SustainEvent> = Vec::new();
    for (kind, steps) in [
        (EventKind::CacheEnd, &found.cache_ends),
        (EventKind::CacheRecovered, &found.recoveries),
        (EventKind::Slower, &found.unexplained),
    ] {
        all.extend(steps.iter().map(|step| {
            SustainEvent::new(kind, step.at_s, step.at_bytes, step.confidence)
                .because("before", SpeedMbS(step.before / 1e6))
                .because("after", SpeedMbS(step.after / 1e6))
        }));
    }
    all.extend(heat_events(found, slices));
    all.extend(stall_events(found));
    all.extend(burst_event(found, slices));
    all
}

/// Event at the start of a slice.
fn event_at(kind: EventKind, slice: &SeriesSlice, confidence: f64) -> SustainEvent {
    SustainEvent::new(kind, slice.at_s, slice.at_bytes, confidence)
}

/// An event where heat begins and one where it ends. Consecutive hot levels form one range.
fn heat_events(found: &SeriesCauses, slices: &[SeriesSlice]) -> Vec<SustainEvent> {
    let mut all = Vec::new();
    let near = |a: &series::HotLevel, b: &series::HotLevel| a.to + HEAT_BRIDGE >= b.from;
    for range in found.heat.chunk_by(near) {
        let (first, last) = (&range[0], &range[range.len() - 1]);
        let figures = &first.figures;
        let evidence = [
            ("speed against the cool level", Some(format!("{:.2}", figures.speed_ratio))),
            ("time of reads against it", figures.read_ratio.map(|ratio| format!("{ratio:.2}"))),
            ("temperature", figures.celsius.map(|celsius| format!("{celsius:.0} °C"))),
            ("the card's own counters", figures.counted.then(|| "moved".to_owned())),
        ];
        let known = evidence.into_iter().filter_map(|(what, value)| Some((what, value?)));
        let event = event_at(EventKind::Throttled, &slices[first.from], first.confidence);
        all.push(known.fold(event, |event, (what, value)| event.because(what, value)));
        if last.to + HEAT_BRIDGE < slices.len() {
            all.push(event_at(EventKind::CooledDown, &slices[last.to], last.confidence));
        }
    }
    all
}

fn stall_events(found: &SeriesCauses) -> Vec<SustainEvent> {
    let all: &[series::SeriesStall] = if found.stalls.is_notable { &found.stalls.stalls } else { &[] };
    let longest = all.iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let events = [(EventKind::StallsBegin, all.first()), (EventKind::LongestStall, longest)];
    let event = |(kind, stall): (EventKind, Option<&series::SeriesStall>)| {
        let s = stall?;
        let event = SustainEvent::new(kind, s.at_s, s.at_bytes, 0.97);
        Some(event.because("length", format!("{:.2} s", s.seconds)))
    };
    events.into_iter().filter_map(event).collect()
}

fn burst_event(found: &SeriesCauses, slices: &[SeriesSlice]) -> Option<SustainEvent> {
    let other = found.interference.as_ref()?;
    let first = &slices[other.slices.first()?.0];
    let event = event_at(EventKind::Disturbed, first, 0.97)
        .because("bursts", other.figures.bursts)
        .because("command without flash access", format!("{:.2} times as long", other.figures.ping_ratio))
        .because("speed in them", format!("{:.2} of that outside", other.figures.speed_ratio));
    Some(event)
}

fn steady_event(slices: &[SeriesSlice], window: SteadyState) -> Option<SustainEvent> {
    let first = slices.iter().find(|s| window.reached && s.at_s >= window.from_s)?;
    let event = SustainEvent::new(EventKind::SteadyState, window.from_s, first.at_bytes, 0.95)
        .because("mean of five rounds", SpeedMbS(window.mb_s))
        .because("spread", format!("{:.1} %", window.spread * 100.0))
        .because("trend", format!("{:+.1} %", window.slope * 100.0));
    Some(event)
}

/// Throttling of writes or of reads. None without heat.
fn throttle_facts(record: &RunRecord, found: &SeriesCauses, slices: &[SeriesSlice]) -> Option<ThrottleFacts> {
    let first = found.heat.first()?.figures;
    let load: f64 = slices.iter().map(|s| s.seconds).sum();
    let counted = |of: fn(&SmartLog) -> u32| {
        record.health.as_ref().map(|(before, after)| of(after).saturating_sub(of(before)))
    };
    Some(ThrottleFacts {
        after_s: first.at_s,
        at_celsius: first.celsius,
        share: found.heat.iter().map(|h| h.figures.seconds).sum::<f64>() / load.max(1e-9),
        steps: found.heat.iter().map(|h| h.figures).collect(),
        t1_transitions: counted(|h| h.thermal_management_t1_transitions),
        t2_transitions: counted(|h| h.thermal_management_t2_transitions),
        t1_seconds: counted(|h| h.thermal_management_t1_seconds),
        t2_seconds: counted(|h| h.thermal_management_t2_seconds),
        confidence: found.heat.iter().map(|h| h.confidence).fold(0.0, f64::max),
    })
}

fn add_cache(found: &SeriesCauses, slices: &[SeriesSlice], options: &SustainOptions, to: &mut MeasuredRun) {
    let Some(last) = slices.last() else {
        let why = "only writes fill a cache";
        (to.cache_bytes, to.after_cache_mb_s) = (Property::not_tested(why), Property::not_tested(why));
        return;
    };
    let written = last.at_bytes + last.bytes;
    let seconds: f64 = slices.iter().map(|s| s.seconds).sum();
    let method =
        "levels of the write speed; reads and the command without flash access exclude heat and other load";
    let cost = SearchCost { read_bytes: 0, written_bytes: written, seconds };
    let evidence = PropertyEvidence::from_method(method).with_cost(cost);
    let Some(end) = found.cache_ends.first() else {
        let evidence = evidence.with_number("written", written as f64, "bytes");
        let all = options.card_bytes.map_or(f64::INFINITY, |b| b as f64);
        // Overwriting the same range takes no more of the cache.
        let distinct = written.min(options.limits.region.len);
        to.cache_bytes = match distinct as f64 > MAX_CACHE_SHARE * all {
            true => Property::none(0.9, evidence),
            false => Property::at_least(distinct, 0.95, evidence),
        };
        to.after_cache_mb_s = Property::not_tested("the end of a cache was not reached");
        return;
    };
    // A cache that fills in several steps has one level that takes most of the time, which is the speed to report.
    let is_full = |l: &&series::SpeedRange| l.to > end.slice + 1 && level_state(found, l) == CACHE_FULL;
    let longest = found.levels.iter().filter(is_full).max_by_key(|level| level.to - level.from);
    let (after, [low, high]) = longest.map_or((end.after, [end.after; 2]), |level| (level.speed, level.ci95));
    let evidence = evidence
        .with_number("speed before", end.before / 1e6, "MB/s")
        .with_number("speed after", after / 1e6, "MB/s")
        .with_number("at", end.at_s, "s");
    to.cache_bytes = Property::measured(end.at_bytes, end.confidence, evidence.clone());
    let evidence = evidence.with_number("95 % from", low / 1e6, "MB/s").with_number("to", high / 1e6, "MB/s");
    to.after_cache_mb_s = Property::measured(after / 1e6, end.confidence, evidence);
}

fn max_card_celsius(record: &RunRecord) -> Option<f64> {
    let of_card = record.samples.iter().flat_map(|s| &s.temperatures).filter(|r| r.is_of_card());
    of_card.map(|r| r.celsius).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::sustain::MIN_REGION;
    use cardscope_engine::target::TargetRegion;
    use cardscope_model::sustain::{TemperatureLimits, ThermalStep, WorkloadKind, WorkloadPattern};
    use cardscope_probing::context::ProbeLimits;
    use std::time::Duration;

    fn doubtful() -> SeriesCauses {
        let figures = ThermalStep {
            at_s: 10.0,
            seconds: 10.0,
            speed_ratio: 0.7,
            read_ratio: Some(1.3),
            ..ThermalStep::default()
        };
        let level = series::HotLevel { from: 40, to: 80, figures, confidence: 0.92 };
        let end = SpeedStep { slice: 20, at_s: 5.0, at_bytes: 1, before: 2.0, after: 1.0, confidence: 0.75 };
        let figures = ThermalStep { counted: true, ..figures };
        let counted = series::HotLevel { figures, confidence: 0.99, ..level };
        SeriesCauses { heat: vec![level, counted], cache_ends: vec![end], ..SeriesCauses::default() }
    }

    /// Confidence of uncounted heat, counted heat and the end of a cache. None if it was removed.
    fn after(named: &[SlowdownCause]) -> [Option<f64>; 3] {
        let mut found = doubtful();
        adjust_confidences(&mut found, named);
        let heat = |counted| found.heat.iter().find(|h| h.figures.counted == counted).map(|h| h.confidence);
        [heat(false), heat(true), found.cache_ends.first().map(|end| end.confidence)]
    }

    #[test]
    fn counted_throttling_without_a_slower_level_is_reported() {
        let new = SmartLog::decode(&[0; 512]).unwrap();
        let counted = SmartLog { thermal_management_t1_transitions: 3, ..new.clone() };
        let record = RunRecord {
            health: Some((new, counted)),
            left_out: vec!["the pause".to_owned()],
            ..RunRecord::default()
        };
        let options = SustainOptions {
            limits: ProbeLimits {
                seed: 1,
                region: TargetRegion { start: 0, len: MIN_REGION },
                max_write: None,
                budget: None,
            },
            work: WorkloadKind::Read,
            pattern: WorkloadPattern::Sequential,
            duration: Duration::from_secs(60),
            bytes: None,
            max_celsius: None,
            card_limits: TemperatureLimits::default(),
            card_bytes: None,
            is_test_file: false,
        };
        let mut into = MeasuredRun::default();
        conclude_run(record, &options, &mut into);
        assert_eq!(into.left_out.len(), 2, "{:?}", into.left_out);
        assert!(into.left_out[1].contains("counted 3 short throttling events"), "{:?}", into.left_out);
    }

    #[test]
    fn pause_resolves_ambiguous_causes() {
        assert_eq!(after(&[SlowdownCause::Throttling]), [Some(0.95), Some(0.99), None]);
        assert_eq!(after(&[SlowdownCause::CacheEnd]), [None, Some(0.99), Some(0.98)]);
        assert_eq!(
            after(&[SlowdownCause::Throttling, SlowdownCause::CacheEnd]),
            [Some(0.95), Some(0.99), Some(0.98)]
        );
        assert_eq!(after(&[]), [Some(0.6), Some(0.99), Some(0.6)]);
    }
}
