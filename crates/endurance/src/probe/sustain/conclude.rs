//! Conclusions from the record of a run: events, levels, cache and heat, each with its numbers.

use super::options::{MAX_CACHE_SHARE, SustainOptions};
use super::phases::{main_slices, round_s};
use super::record::RunRecord;
use crate::judge::series;
use crate::judge::series::PauseExperiment;
use crate::judge::series::{SeriesCauses, SeriesSlice, SlowdownCause, SpeedStep, find_causes};
use cardscope_model::card_map::property::{Property, PropertyEvidence, SearchCost};
use cardscope_model::statistics::median;
use cardscope_model::sustain::{
    EventKind, MeasuredRun, SpeedLevel, SustainEvent, ThrottleFacts, WorkloadKind,
};
use cardscope_model::units::SpeedMbS;

/// Slices in a second.
const SLICES_PER_SECOND: usize = 4;

/// Limit of confidence if the pause had no effect, since 30 s may be too short to cool down or to empty a cache.
const UNCONFIRMED_CONFIDENCE: f64 = 0.6;

/// Fills the document.
pub(super) fn conclude_run(record: RunRecord, options: &SustainOptions, into: &mut MeasuredRun) {
    let mut events = record.events.clone();
    let write = main_slices(&record.slices, true);
    let read = main_slices(&record.slices, false);
    let mut of_writes = find_causes(&write, record.series_facts(options, true));
    let mut of_reads = find_causes(&read, record.series_facts(options, false));
    if let Some(experiment) = &record.experiment {
        let main = if options.work == WorkloadKind::Read { &mut of_reads } else { &mut of_writes };
        resolve_ambiguity(main, &experiment.proven_causes(), &mut events, &record);
    }
    for (found, slices, op) in [(&of_writes, &write, "write"), (&of_reads, &read, "read")] {
        into.levels.extend(level_rows(found, slices, op));
        events.extend(cause_events(found, slices));
    }
    let main = if options.work == WorkloadKind::Read { (&of_reads, &read) } else { (&of_writes, &write) };
    into.stalls =
        Some(&main.0.stalls).filter(|stalls| stalls.is_notable).map(|stalls| stalls.figures.clone());
    into.throttling =
        throttling_figures(&record, [(&of_writes, write.as_slice()), (&of_reads, read.as_slice())]);
    let bursts = of_writes.interference.as_ref().or(of_reads.interference.as_ref());
    into.interference = bursts.map(|bursts| bursts.figures);
    into.steady_state = series::steady_state(main.1, round_s(options));
    events.extend(steady_event(main.1, round_s(options)));
    report_cache(&of_writes, &write, options, into);
    if let Some(experiment) = full_from_the_start(&record, &of_writes, &write) {
        report_full_cache(experiment, into);
    }
    into.recovery = record.pause_recovery(&of_writes);
    events.extend(into.recovery.as_ref().and_then(|r| record.recovery_end_event(r)));
    events.extend(record.no_answer_event());
    events.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    into.events = events;
    into.read_latency = record.read_latency();
    into.queue_depth = record.queue_depth;
    into.limits = options.card_limits;
    record.report_counted_throttling(into);
    into.max_celsius = max_card_celsius(&record);
    into.ended_by = record.ended_by;
    into.left_out = record.left_out;
    into.series = record.samples;
}

/// Uses the pause to decide between heat and a full cache, if the series left it open.
fn resolve_ambiguity(
    found: &mut SeriesCauses,
    named: &[SlowdownCause],
    events: &mut Vec<SustainEvent>,
    record: &RunRecord,
) {
    if !found.is_ambiguous() {
        return;
    }
    let at_s = record.events.iter().find(|e| e.kind == EventKind::Pause).map_or(0.0, |e| e.at_s);
    let says = match named {
        [] => "nothing: the pause did not make the card faster",
        [SlowdownCause::Throttling] => "heat: reads are faster after the pause",
        [SlowdownCause::CacheEnd] => "a cache: writes are faster after the pause, reads are not",
        _ => "heat and a cache: reads and writes are faster after the pause",
    };
    events.push(SustainEvent::new(EventKind::Experiment, at_s, record.written, 0.9).because("it says", says));
    adjust_confidences(found, named);
}

/// Adjusts the confidence of causes to the result of the pause.
fn adjust_confidences(found: &mut SeriesCauses, named: &[SlowdownCause]) {
    let (heat, cache) =
        (named.contains(&SlowdownCause::Throttling), named.contains(&SlowdownCause::CacheEnd));
    if heat && !cache {
        found.cache_ends.retain(|d| d.confidence >= 0.9);
    }
    if cache && !heat {
        found.heat.retain(|h| h.figures.counted);
    }
    for end in &mut found.cache_ends {
        end.confidence = if cache { 0.98 } else { end.confidence };
    }
    for step in found.heat.iter_mut().filter(|_| heat) {
        step.confidence = step.confidence.max(0.95);
    }
    if named.is_empty() {
        let doubtful = found.cache_ends.iter_mut().filter(|end| end.confidence < 0.9);
        doubtful.for_each(|end| end.confidence = end.confidence.min(UNCONFIRMED_CONFIDENCE));
        let doubtful = found.heat.iter_mut().filter(|step| step.confidence < 0.95);
        doubtful.for_each(|step| step.confidence = step.confidence.min(UNCONFIRMED_CONFIDENCE));
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
    record
        .experiment
        .as_ref()
        .filter(|e| alone && e.proven_causes() == [SlowdownCause::CacheEnd] && e.writes_exceed(fastest))
}

fn report_full_cache(experiment: &PauseExperiment, into: &mut MeasuredRun) {
    into.cache_bytes =
        Property::not_tested("it was full at the start; let the card rest for longer and measure again");
    let evidence = PropertyEvidence::from_method("the speed of writes before and after a pause")
        .with_number("before", experiment.writes_before / 1e6, "MB/s")
        .with_number("after", experiment.writes_after.max(experiment.writes_later) / 1e6, "MB/s");
    into.after_cache_mb_s = Property::measured(experiment.writes_before / 1e6, 0.85, evidence);
}

fn level_rows(found: &SeriesCauses, slices: &[SeriesSlice], op: &str) -> Vec<SpeedLevel> {
    let one = |level: &series::SpeedRange| {
        let part = &slices[level.from..level.to];
        let last = &part[part.len() - 1];
        let end = slices.get(level.to).map_or(last.at_bytes + last.bytes, |next| next.at_bytes);
        SpeedLevel {
            op: op.to_owned(),
            mb_s: level.speed / 1e6,
            ci95: level.ci95.map(|v| v / 1e6),
            from_s: part[0].at_s,
            to_s: last.at_s + last.seconds,
            // Bytes that are moved between its slices belong to a level too.
            bytes: end - part[0].at_bytes,
            state: level_state(found, level),
        }
    };
    found.levels.iter().map(one).collect()
}

/// State of a level after the end of a cache without other slowdowns.
const CACHE_FULL: &str = "cache full";

/// State of a level in words.
fn level_state(found: &SeriesCauses, level: &series::SpeedRange) -> String {
    let middle = (level.from + level.to) / 2;
    let hot = found.heat.iter().any(|h| (h.from..h.to).contains(&middle));
    let last = |steps: &[SpeedStep]| steps.iter().rev().find(|d| d.slice <= middle).map(|d| d.slice);
    let full = match (last(&found.cache_ends), last(&found.recoveries)) {
        (Some(end), Some(again)) => end > again,
        (end, _) => end.is_some(),
    };
    let slower = last(&found.unexplained).is_some();
    match (full, hot, slower) {
        (true, true, _) => "cache full and hot",
        (true, false, _) => CACHE_FULL,
        (false, true, _) => "hot",
        (false, false, true) => "slower",
        _ if found.levels.len() == 1 => "steady",
        _ if found.named_causes().is_empty() && found.unexplained.is_empty() => "varies",
        _ => "full speed",
    }
    .to_owned()
}

fn speed_text_mb_s(speed: f64) -> String {
    SpeedMbS(speed / 1e6).to_string()
}

fn cause_events(found: &SeriesCauses, slices: &[SeriesSlice]) -> Vec<SustainEvent> {
    let step = |kind: EventKind, d: &SpeedStep| {
        SustainEvent::new(kind, d.at_s, d.at_bytes, d.confidence)
            .because("before", speed_text_mb_s(d.before))
            .because("after", speed_text_mb_s(d.after))
    };
    let mut all: Vec<SustainEvent> = Vec::new();
    all.extend(found.cache_ends.iter().map(|d| step(EventKind::CacheEnd, d)));
    all.extend(found.recoveries.iter().map(|d| step(EventKind::CacheRecovered, d)));
    all.extend(found.unexplained.iter().map(|d| step(EventKind::Slower, d)));
    all.extend(heat_events(found, slices));
    all.extend(stall_events(found));
    all.extend(burst_event(found, slices));
    all
}

/// An event where heat begins and one where it ends. Consecutive hot levels form one range.
fn heat_events(found: &SeriesCauses, slices: &[SeriesSlice]) -> Vec<SustainEvent> {
    let mut all = Vec::new();
    for (i, step) in found.heat.iter().enumerate() {
        let follows = i > 0 && found.heat[i - 1].to + 8 >= step.from;
        if !follows {
            let began = &slices[step.from];
            let mut event =
                SustainEvent::new(EventKind::Throttled, began.at_s, began.at_bytes, step.confidence)
                    .because("speed against the cool level", format!("{:.2}", step.figures.speed_ratio));
            if let Some(ratio) = step.figures.read_ratio {
                event = event.because("time of reads against it", format!("{ratio:.2}"));
            }
            if let Some(celsius) = step.figures.celsius {
                event = event.because("temperature", format!("{celsius:.0} °C"));
            }
            if step.figures.counted {
                event = event.because("the card's own counters", "moved");
            }
            all.push(event);
        }
        let goes_on = found.heat.get(i + 1).is_some_and(|next| step.to + 8 >= next.from);
        if !goes_on && step.to + 8 < slices.len() {
            let ended = &slices[step.to];
            all.push(SustainEvent::new(EventKind::CooledDown, ended.at_s, ended.at_bytes, step.confidence));
        }
    }
    all
}

fn stall_events(found: &SeriesCauses) -> Vec<SustainEvent> {
    let stalls = &found.stalls;
    if !stalls.is_notable {
        return Vec::new();
    }
    let longest = stalls.stalls.iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let event = |kind, s: &series::SeriesStall| {
        SustainEvent::new(kind, s.at_s, s.at_bytes, 0.97).because("length", format!("{:.2} s", s.seconds))
    };
    let first = stalls.stalls.first().map(|s| event(EventKind::StallsBegin, s));
    first.into_iter().chain(longest.map(|s| event(EventKind::LongestStall, s))).collect()
}

fn burst_event(found: &SeriesCauses, slices: &[SeriesSlice]) -> Option<SustainEvent> {
    let other = found.interference.as_ref()?;
    let first = &slices[other.slices.first()?.0];
    Some(
        SustainEvent::new(EventKind::Disturbed, first.at_s, first.at_bytes, 0.97)
            .because("bursts", other.figures.bursts)
            .because("command without flash access", format!("{:.2} times as long", other.figures.ping_ratio))
            .because("speed in them", format!("{:.2} of that outside", other.figures.speed_ratio)),
    )
}

fn steady_event(slices: &[SeriesSlice], round_s: f64) -> Option<SustainEvent> {
    let window = series::steady_state(slices, round_s).filter(|w| w.reached)?;
    let first = slices.iter().find(|s| s.at_s >= window.from_s)?;
    Some(
        SustainEvent::new(EventKind::SteadyState, window.from_s, first.at_bytes, 0.95)
            .because("mean of five rounds", speed_text_mb_s(window.mb_s * 1e6))
            .because("spread", format!("{:.1} %", window.spread * 100.0))
            .because("trend", format!("{:+.1} %", window.slope * 100.0)),
    )
}

/// Throttling as shown by writes, else by reads.
fn throttling_figures(record: &RunRecord, of: [(&SeriesCauses, &[SeriesSlice]); 2]) -> Option<ThrottleFacts> {
    let (found, slices) = of.into_iter().find(|(found, _)| !found.heat.is_empty())?;
    let first = found.heat.first()?.figures;
    let load: f64 = slices.iter().map(|s| s.seconds).sum();
    let counted = |of: fn(&cardscope_sd::nvme::SmartLog) -> u32| {
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

fn report_cache(
    found: &SeriesCauses,
    slices: &[SeriesSlice],
    options: &SustainOptions,
    into: &mut MeasuredRun,
) {
    let Some(last) = slices.last() else {
        let why = "only writes fill a cache";
        into.cache_bytes = Property::not_tested(why);
        into.after_cache_mb_s = Property::not_tested(why);
        return;
    };
    let written = last.at_bytes + last.bytes;
    let seconds: f64 = slices.iter().map(|s| s.seconds).sum();
    let cost = SearchCost { read_bytes: 0, written_bytes: written, seconds };
    let evidence = PropertyEvidence::from_method(
        "levels of the write speed; reads and the command without flash access exclude heat and other \
         load",
    )
    .with_cost(cost);
    let Some(end) = found.cache_ends.first() else {
        let evidence = evidence.with_number("written", written as f64, "bytes");
        let all = options.card_bytes.map_or(f64::INFINITY, |b| b as f64);
        // Overwriting the same range takes no more of the cache.
        let distinct = written.min(options.limits.region.len);
        into.cache_bytes = match distinct as f64 > MAX_CACHE_SHARE * all {
            true => Property::none(0.9, evidence),
            false => Property::at_least(distinct, 0.95, evidence),
        };
        into.after_cache_mb_s = Property::not_tested("the end of a cache was not reached");
        return;
    };
    // A cache that fills in several steps has one level that takes most of the time, which is the speed to report.
    let full = found
        .levels
        .iter()
        .filter(|level| level.to > end.slice + 1 && level_state(found, level) == CACHE_FULL);
    let (after, [low, high]) = full
        .max_by_key(|level| level.to - level.from)
        .map_or((end.after, [end.after; 2]), |level| (level.speed, level.ci95));
    let evidence = evidence
        .with_number("speed before", end.before / 1e6, "MB/s")
        .with_number("speed after", after / 1e6, "MB/s")
        .with_number("at", end.at_s, "s");
    into.cache_bytes = Property::measured(end.at_bytes, end.confidence, evidence.clone());
    let evidence = evidence.with_number("95 % from", low / 1e6, "MB/s").with_number("to", high / 1e6, "MB/s");
    into.after_cache_mb_s = Property::measured(after / 1e6, end.confidence, evidence);
}

fn max_card_celsius(record: &RunRecord) -> Option<f64> {
    let of_card = record.samples.iter().flat_map(|s| &s.temperatures).filter(|r| r.is_of_card());
    of_card.map(|r| r.celsius).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::sustain::ThermalStep;

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
