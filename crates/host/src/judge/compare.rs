//! Compares two watches over the time that both cover, since boot or since each began.

use super::summarize_watch;
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::observe::{
    ComparedFigure, ObserveComparison, ObserveSample, ObserveSummary, SettledStatus,
};
use cardscope_model::units::DecimalSize;

/// Seconds since boot before which a watch counts as one of a start.
const START_SECONDS: f64 = 300.0;

/// Least share of the larger figure, and least seconds, of a difference.
const DIFFERENT: (f64, f64) = (0.2, 5.0);

/// Ratio of moved bytes above which two starts did different work.
const OTHER_WORK: f64 = 2.0;

/// Confidence in a comparison of two single starts, which vary.
const CONFIDENCE: f64 = 0.6;

/// Time at which a system was idle, and its kind of bound.
type IdleTime = (SettledStatus, f64);

/// Figures of a watch within the time that both cover, and the time at which the system was idle.
struct ComparedWatch {
    summary: ObserveSummary,
    idle: IdleTime,
}

#[derive(Debug, Clone, Copy)]
pub struct WatchSide<'a> {
    pub samples: &'a [ObserveSample],
    /// Start of the watch in seconds since boot.
    pub began: f64,
}

/// Compares an earlier watch with this one; `None` if they do not overlap.
pub fn compare_watches(
    baseline: &str,
    before: WatchSide<'_>,
    now: WatchSide<'_>,
) -> Option<(ObserveComparison, Vec<Finding>)> {
    let since_boot = before.began < START_SECONDS && now.began < START_SECONDS;
    let origin = |side: WatchSide<'_>| if since_boot { 0.0 } else { side.began };
    let from = (before.began - origin(before)).max(now.began - origin(now));
    let ended = |side: WatchSide<'_>| side.samples.last().map(|s| s.uptime_seconds - origin(side));
    let until = ended(before)?.min(ended(now)?);
    if until <= from {
        return None;
    }
    let cut = |side: WatchSide<'_>| {
        let within = |s: &&ObserveSample| {
            let end = s.uptime_seconds - origin(side);
            end - s.seconds >= from - s.seconds / 2.0 && end <= until + s.seconds / 2.0
        };
        let samples: Vec<ObserveSample> = side.samples.iter().filter(within).cloned().collect();
        summarize_watch(&samples, from + origin(side))
    };
    let compared = |side: WatchSide<'_>| {
        // Idle times come from the whole watches, which the shorter one must not cut off.
        let settled = summarize_watch(side.samples, side.began)?.settled;
        let idle = (settled.status, settled.seconds() - origin(side));
        Some(ComparedWatch { summary: cut(side)?, idle })
    };
    let (was, is) = (compared(before)?, compared(now)?);
    let (figures, findings) = (compared_figures(&was, &is), comparison_findings(&was, &is));
    let span_seconds = until - from;
    Some((ObserveComparison { against: baseline.to_owned(), span_seconds, since_boot, figures }, findings))
}

/// Figures of both watches side by side.
fn compared_figures(was: &ComparedWatch, is: &ComparedWatch) -> Vec<ComparedFigure> {
    let row = |what: &str, unit: &str, before, now| ComparedFigure {
        what: what.to_owned(),
        unit: unit.to_owned(),
        before,
        now,
    };
    let figure = |what: &str, unit: &str, of: &dyn Fn(&ObserveSummary) -> Option<f64>| {
        row(what, unit, of(&was.summary), of(&is.summary))
    };
    let idle = format!("at rest after{}", bound_note(was.idle.0, is.idle.0));
    vec![
        row(&idle, "s", Some(was.idle.1), Some(is.idle.1)),
        figure("some tasks waited for I/O", "s", &|s| s.io_some_seconds),
        figure("all tasks waited for I/O", "s", &|s| s.io_full_seconds),
        figure("device busy", "%", &|s| Some(s.utilisation * 100.0)),
        figure("mean time of an I/O", "ms", &|s| s.wait_ms),
        figure("most I/Os in flight", "", &|s| Some(s.queue_max)),
        figure("read", "MB", &|s| Some(s.read_bytes as f64 / 1e6)),
        figure("written", "MB", &|s| Some(s.write_bytes as f64 / 1e6)),
        figure("I/Os", "", &|s| Some((s.reads + s.writes) as f64)),
        figure("share of small I/Os", "%", &|s| s.small_share.map(|share| share * 100.0)),
        figure("processors busy", "%", &|s| s.cpu_busy.map(|share| share * 100.0)),
    ]
}

fn comparison_findings(was: &ComparedWatch, is: &ComparedWatch) -> Vec<Finding> {
    let waited = |s: &ObserveSummary| s.io_some_seconds.unwrap_or(s.utilisation * s.seconds);
    let (waits_was, waits_is) = (waited(&was.summary), waited(&is.summary));
    // A bound on the wrong side of the other figure decides nothing.
    let settled = match (was.idle, is.idle) {
        ((SettledStatus::AtLeast, a), (SettledStatus::AtLeast, b)) if a > 0.0 && b > 0.0 => 0,
        ((_, a), (SettledStatus::AtLeast, b)) | ((SettledStatus::AtMost, a), (_, b)) if b < a => 0,
        ((SettledStatus::AtLeast, a), (_, b)) | ((_, a), (SettledStatus::AtMost, b)) if b > a => 0,
        ((_, a), (_, b)) => compare_times(a, b),
    };
    let change = if settled == 0 { compare_times(waits_was, waits_is) } else { settled };
    let (claim, text) = match change {
        1 => ("start-faster", "The system waits less for the card than before."),
        -1 => ("start-slower", "The system waits longer for the card than before."),
        _ => ("start-alike", "The system waits about as long as before."),
    };
    let mut found = vec![
        Finding::new(claim, FindingWeight::Note, CONFIDENCE, text)
            .because("at rest after, before", idle_time_text(was.idle))
            .because("at rest after, now", idle_time_text(is.idle))
            .because("waiting for I/O, before", format!("{waits_was:.1} s"))
            .because("waiting for I/O, now", format!("{waits_is:.1} s"))
            .with_advice("Observe three starts of each before trusting a small difference."),
    ];
    found.extend(other_work_hint(&was.summary, &is.summary));
    found
}

/// Compares two times: 1 if the second is clearly smaller, -1 if clearly larger, 0 otherwise.
fn compare_times(before: f64, now: f64) -> i8 {
    let apart = (before - now).abs();
    let clear = apart >= DIFFERENT.1 && apart >= DIFFERENT.0 * before.max(now);
    match (clear, now < before) {
        (false, _) => 0,
        (true, true) => 1,
        (true, false) => -1,
    }
}

/// Words that mark which of the two times is only a bound.
fn bound_note(was: SettledStatus, is: SettledStatus) -> String {
    let sides = [("before", bound_word(was)), ("now", bound_word(is))];
    let bounds = sides.into_iter().filter(|(_, word)| !word.is_empty());
    let bounds: Vec<String> = bounds.map(|(when, word)| format!("{when} {}", word.trim_end())).collect();
    if bounds.is_empty() { String::new() } else { format!(" ({})", bounds.join(", ")) }
}

fn bound_word(status: SettledStatus) -> &'static str {
    match status {
        SettledStatus::Measured => "",
        SettledStatus::AtLeast => "at least ",
        SettledStatus::AtMost => "at most ",
    }
}

fn idle_time_text((status, seconds): IdleTime) -> String {
    format!("{}{seconds:.0} s", bound_word(status))
}

/// Hint if the watches moved so different amounts of data that the systems did not do the same.
fn other_work_hint(was: &ObserveSummary, is: &ObserveSummary) -> Option<Finding> {
    let moved = |s: &ObserveSummary| (s.read_bytes + s.write_bytes) as f64;
    let (a, b) = (moved(was), moved(is));
    let text = "The system did different work: the two observations moved very different amounts of data.";
    (a.max(b) > OTHER_WORK * a.min(b)).then(|| {
        Finding::new("starts-did-other-work", FindingWeight::Hint, 0.8, text)
            .because("before", DecimalSize(a as u64))
            .because("now", DecimalSize(b as u64))
            .with_advice("Observe each for longer, or repeat a start.")
    })
}
