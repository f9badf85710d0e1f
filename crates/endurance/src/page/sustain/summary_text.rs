//! Summary of a long run in a sentence: speed, and causes of slowdowns.

use cardscope_model::answer::Answer;
use cardscope_model::card_map::property::PropertyStatus;
use cardscope_model::statistics;
use cardscope_model::sustain::{EventKind, LongRun, MeasuredRun, SustainSample, WorkloadPattern};
use cardscope_model::units::three_digits as speed;
use cardscope_model::units::{DecimalSize, KIB, MB};
use cardscope_page::figure::{ANSWER_COLUMNS, duration, to_sentence};

pub(super) fn gives_up(kind: EventKind) -> bool {
    matches!(kind, EventKind::NoMoreWrites | EventKind::NoMoreReads | EventKind::NoAnswer)
}

/// Unit of the workload's speed: IOPS for small random I/Os, else MB/s.
#[derive(Clone, Copy)]
pub(super) enum SpeedUnit {
    MbS,
    Iops(u64),
}

impl SpeedUnit {
    pub(super) fn for_run(run: &LongRun) -> Self {
        match run.pattern {
            WorkloadPattern::Random if run.block_bytes > 0 && run.block_bytes <= MAX_IOPS_BLOCK => {
                SpeedUnit::Iops(run.block_bytes)
            }
            _ => SpeedUnit::MbS,
        }
    }

    pub(super) fn figure(self, mb_s: f64) -> String {
        match self {
            SpeedUnit::MbS => speed(mb_s),
            SpeedUnit::Iops(block) => speed(mb_s * MB / block as f64),
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            SpeedUnit::MbS => "MB/s",
            SpeedUnit::Iops(_) => "IOPS",
        }
    }

    pub(super) fn with_unit(self, mb_s: f64) -> String {
        format!("{} {}", self.figure(mb_s), self.name())
    }
}

/// Largest I/O in bytes for which IOPS are used.
const MAX_IOPS_BLOCK: u64 = 64 * KIB;

/// Summary of sequential I/O in at most 80 columns.
pub fn run_summary(measured: &MeasuredRun) -> String {
    sustain_answer(measured, SpeedUnit::MbS, false).0.into()
}

/// Answer, and the causes that did not fit into it. `early` marks a run that was stopped.
pub(super) fn sustain_answer(measured: &MeasuredRun, unit: SpeedUnit, early: bool) -> (Answer, Vec<String>) {
    let Some(last) = measured.series.last() else {
        return (Answer::with_verdict("NOT TESTED", ": it ended before its first second."), Vec::new());
    };
    let mut causes = cause_texts(measured, unit);
    let head = if early { format!("Stopped after {}: ", duration(last.at_s)) } else { String::new() };
    let unnamed = causes.split_off(fitting_causes(ANSWER_COLUMNS - head.chars().count(), &causes));
    let text = match causes.is_empty() {
        false => causes.join("; "),
        true if early => speed_text(measured, unit),
        true => {
            let steady = if is_steady(measured) { ", steady" } else { "" };
            // The last level belongs to the workload. Later samples are those of the pause and of test reads.
            let end = measured.levels.iter().map(|level| level.to_s).reduce(f64::max).unwrap_or(last.at_s);
            format!("{}{steady} over {}", speed_text(measured, unit), duration(end))
        }
    };
    let answer = if early { format!("{head}{text}.") } else { to_sentence(&text) };
    (answer.into(), unnamed)
}

/// Number of causes, most severe first, that fit into `columns`. At least one.
fn fitting_causes(columns: usize, causes: &[String]) -> usize {
    let fits = |number: &usize| causes[..*number].join("; ").chars().count() < columns;
    (1..=causes.len()).rev().find(fits).unwrap_or(causes.len().min(1))
}

/// Speed of the workload: `writes 19.5 MB/s`, or a range if it changed.
fn speed_text(measured: &MeasuredRun, unit: SpeedUnit) -> String {
    let of = |op: &str| {
        let ends @ [low, high] = lowest_and_highest(measured, op)?;
        let from = if is_same_speed(ends) { String::new() } else { format!("{} to ", unit.figure(low)) };
        Some(format!("{op}s {from}{}", unit.with_unit(high)))
    };
    let over_time = |verb: &str, of: &dyn Fn(&SustainSample) -> Option<f64>| {
        let known: Vec<f64> = measured.series.iter().filter_map(of).collect();
        Some(format!("{verb} {}", unit.with_unit(statistics::mean(&known)?)))
    };
    let mut speeds: Vec<String> = LEVEL_OPS.into_iter().filter_map(of).collect();
    if speeds.is_empty() {
        speeds.extend(over_time("reads", &|sample| sample.read_mb_s));
        speeds.extend(over_time("writes", &|sample| sample.write_mb_s));
    }
    if speeds.is_empty() { "no I/O succeeded".to_owned() } else { speeds.join(", ") }
}

/// Operations of levels.
const LEVEL_OPS: [&str; 2] = ["read", "write"];

fn lowest_and_highest(measured: &MeasuredRun, op: &str) -> Option<[f64; 2]> {
    let all = || measured.levels.iter().filter(|level| level.op == op).map(|level| level.mb_s);
    Some([all().reduce(f64::min)?, all().reduce(f64::max)?])
}

/// True if users would not notice the difference.
fn is_same_speed([low, high]: [f64; 2]) -> bool {
    high <= low * 1.1
}

/// True if the speed was the same from beginning to end.
fn is_steady(measured: &MeasuredRun) -> bool {
    !measured.levels.is_empty()
        && LEVEL_OPS.iter().filter_map(|op| lowest_and_highest(measured, op)).all(is_same_speed)
}

/// Causes of slowdowns, most severe first.
pub(super) fn cause_texts(measured: &MeasuredRun, unit: SpeedUnit) -> Vec<String> {
    let mut causes = Vec::new();
    causes.extend(measured.events.iter().filter(|event| gives_up(event.kind)).map(|e| match e.kind {
        EventKind::NoAnswer => "stops answering".to_owned(),
        kind => format!("{} after {}", kind.words(), duration(e.at_s)),
    }));
    if measured.cache_bytes.status == PropertyStatus::Measured {
        let size = DecimalSize(measured.cache_bytes.value.unwrap_or_default());
        let after = measured.after_cache_mb_s.value.unwrap_or_default();
        causes.push(format!("slows to {} after {size} (cache full)", unit.with_unit(after)));
    }
    let mut others = Vec::new();
    if let Some(heat) = &measured.throttling {
        let at = heat.at_celsius.map(|c| format!(" at {c:.0} °C")).unwrap_or_default();
        others.push(format!("throttles after {}{at}", duration(heat.after_s)));
    }
    if let Some(stalls) = &measured.stalls {
        others.push(format!("stalls for up to {}", duration(stalls.longest_s)));
    }
    if measured.interference.is_some() {
        others.push("other work disturbed the test".to_owned());
    }
    // The text about a full cache already states the speed.
    if causes.is_empty() && !others.is_empty() {
        causes.push(speed_text(measured, unit));
    }
    causes.extend(others);
    causes
}
