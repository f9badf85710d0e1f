//! Evaluates a watch of a system in use: summary, time until it was idle, bottleneck, and comparison of two watches
//! (docs/reference/reports.md#microsd-speed-comparison: a new card ended ten minutes of waiting after each start).
//!
//! Waiting is the kernel's pressure (PSI), or without it the number of blocked tasks and the processors' I/O wait.

mod compare;

pub use compare::{WatchSide, compare_watches};

use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::observe::{CalmMoment, ObserveSample, ObserveSummary, SettledStatus, SystemBottleneck};
use cardscope_model::units::SpeedMbS;

/// Most time that tasks may wait for I/O, or the device may be busy, in an idle system, as shares.
const CALM_PRESSURE: f64 = 0.10;
const CALM_UTILISATION: f64 = 0.20;

/// Seconds over which load is averaged, so that one busy second does not count, and seconds for which it must stay low.
const SMOOTH_SECONDS: f64 = 5.0;
const CALM_SECONDS: f64 = 30.0;

/// Shares of a busy device, waiting tasks and idle processors that make the device the bottleneck.
const BUSY_DEVICE: f64 = 0.7;
const WAITING: f64 = 0.2;
const IDLE_CPU: f64 = 0.3;

/// Share of busy processors that makes them the bottleneck.
const BUSY_CPU: f64 = 0.85;

/// Share of tasks waiting for memory, and swapped bytes a second, that make memory the bottleneck.
const MEMORY_WAITING: f64 = 0.1;
const SWAPPING: f64 = 1e6;

/// Least share of the watch, and least seconds, that tell a bottleneck. Fewer seconds do if they are half of the watch.
const LEAST_LOAD: (f64, f64) = (0.05, 3.0);
const ENOUGH_SHARE: f64 = 0.5;

/// Highest confidence of a bottleneck that only few seconds show.
const BRIEF_CONFIDENCE: f64 = 0.6;

/// Largest small I/O in bytes.
const SMALL: f64 = 16384.0;

/// Summarizes a watch that began at `began` seconds since boot; `None` without samples.
pub fn summarize_watch(samples: &[ObserveSample], began: f64) -> Option<ObserveSummary> {
    let seconds = total_seconds(samples.iter());
    if seconds <= 0.0 {
        return None;
    }
    let ios: u64 = samples.iter().map(ObserveSample::ios).sum();
    let waited: f64 = samples.iter().filter_map(|s| Some(s.wait_ms? * s.ios() as f64)).sum();
    let small = |s: &&ObserveSample| s.mean_io_bytes().is_some_and(|bytes| bytes <= SMALL);
    let small: u64 = samples.iter().filter(small).map(ObserveSample::ios).sum();
    let share = |part: f64| (ios > 0).then(|| part / ios as f64);
    let loaded: Vec<&ObserveSample> = samples.iter().filter(|s| is_loaded(s)).collect();
    Some(ObserveSummary {
        seconds,
        reads: samples.iter().map(|s| s.reads).sum(),
        writes: samples.iter().map(|s| s.writes).sum(),
        read_bytes: samples.iter().map(|s| s.read_bytes).sum(),
        write_bytes: samples.iter().map(|s| s.write_bytes).sum(),
        wait_ms: share(waited),
        small_share: share(small as f64),
        utilisation: mean_over_time(samples, |s| Some(s.utilisation)).unwrap_or_default(),
        queue_max: samples.iter().map(|s| s.queue).fold(0.0, f64::max),
        io_some_seconds: mean_over_time(samples, |s| s.io_some).map(|share| share * seconds),
        io_full_seconds: mean_over_time(samples, |s| s.io_full).map(|share| share * seconds),
        cpu_busy: mean_over_time(samples, |s| s.cpu_busy),
        iowait: mean_over_time(samples, |s| s.iowait),
        swap_bytes: samples.iter().map(|s| s.swap_bytes).sum::<Option<u64>>(),
        loaded_seconds: total_seconds(loaded.iter().copied()),
        settled: idle_since(samples, began),
        bottleneck: MeanLoad::from_samples(&loaded).bottleneck(seconds),
    })
}

/// Mean over time of the samples that have the value.
fn mean_over_time<'a>(
    samples: impl IntoIterator<Item = &'a ObserveSample>,
    of: impl Fn(&ObserveSample) -> Option<f64>,
) -> Option<f64> {
    let known = samples.into_iter().filter_map(|s| Some((of(s)?, s.seconds)));
    let (sum, time) = known.fold((0.0, 0.0), |(sum, time), (v, t)| (sum + v * t, time + t));
    (time > 0.0).then(|| sum / time)
}

/// Share of time in which tasks waited for I/O: PSI, or else blocked tasks or the processors' I/O wait.
fn waiting_share(sample: &ObserveSample) -> Option<f64> {
    sample.io_some.or_else(|| match (sample.blocked, sample.iowait) {
        (Some(1..), iowait) => Some(iowait.unwrap_or_default().max(WAITING)),
        (_, iowait) => iowait,
    })
}

fn is_loaded(sample: &ObserveSample) -> bool {
    waiting_share(sample).is_some_and(|share| share >= CALM_PRESSURE)
        || sample.utilisation >= BUSY_DEVICE
        || sample.cpu_busy.is_some_and(|share| share >= BUSY_CPU)
        || sample.memory_some.is_some_and(|share| share >= MEMORY_WAITING)
}

/// Means over the samples with load, each a share except `seconds` and `swap_per_s`.
struct MeanLoad {
    seconds: f64,
    utilisation: f64,
    waiting: f64,
    idle: f64,
    busy: f64,
    memory: f64,
    swap_per_s: f64,
    other: f64,
}

/// Total seconds. A fold, because the sum of no floats is -0 and would be printed as such.
fn total_seconds<'a>(samples: impl Iterator<Item = &'a ObserveSample>) -> f64 {
    samples.fold(0.0, |sum, s| sum + s.seconds)
}

impl MeanLoad {
    fn from_samples(loaded: &[&ObserveSample]) -> MeanLoad {
        let over = |of: fn(&_) -> _| mean_over_time(loaded.iter().copied(), of).unwrap_or_default();
        let seconds = total_seconds(loaded.iter().copied());
        let swapped: u64 = loaded.iter().filter_map(|s| s.swap_bytes).sum();
        MeanLoad {
            seconds,
            utilisation: over(|s| Some(s.utilisation)),
            waiting: over(waiting_share),
            idle: over(|s| s.cpu_idle),
            busy: over(|s| s.cpu_busy),
            memory: over(|s| s.memory_some),
            swap_per_s: if seconds > 0.0 { swapped as f64 / seconds } else { 0.0 },
            other: over(|s| s.other_utilisation),
        }
    }

    fn is_brief(&self) -> bool {
        self.seconds < LEAST_LOAD.1
    }

    /// True if anything waits. A device may be busy without that.
    fn has_waiting_tasks(&self) -> bool {
        self.waiting >= CALM_PRESSURE || self.busy >= BUSY_CPU || self.memory >= MEMORY_WAITING
    }

    fn bottleneck(&self, watched: f64) -> SystemBottleneck {
        let brief = self.is_brief() && self.seconds < ENOUGH_SHARE * watched;
        if brief || self.seconds < LEAST_LOAD.0 * watched || !self.has_waiting_tasks() {
            return SystemBottleneck::Nothing;
        }
        let waits = self.waiting >= WAITING;
        if self.memory >= MEMORY_WAITING && self.swap_per_s >= SWAPPING {
            SystemBottleneck::Memory
        } else if self.busy >= BUSY_CPU {
            SystemBottleneck::Cpu
        } else if waits && self.utilisation >= BUSY_DEVICE && self.idle >= IDLE_CPU {
            SystemBottleneck::Card
        } else if waits && self.utilisation < CALM_UTILISATION {
            SystemBottleneck::Elsewhere
        } else {
            SystemBottleneck::Mixed
        }
    }
}

/// First moment from which the system stayed idle for half a minute.
fn idle_since(samples: &[ObserveSample], began: f64) -> CalmMoment {
    let ended = samples.last().map_or(began, |s| s.uptime_seconds);
    let bound = |status, seconds| CalmMoment { status, uptime_seconds: None, bound_seconds: Some(seconds) };
    match first_idle_index(samples) {
        None => bound(SettledStatus::AtLeast, ended),
        Some(0) => bound(SettledStatus::AtMost, began),
        Some(at) => {
            let uptime_seconds = Some(samples[at].uptime_seconds - samples[at].seconds);
            CalmMoment { status: SettledStatus::Measured, uptime_seconds, bound_seconds: None }
        }
    }
}

/// Index of the first sample of the first idle range that is long enough.
fn first_idle_index(samples: &[ObserveSample]) -> Option<usize> {
    let unrest: Vec<f64> = samples.iter().map(load_ratio).collect();
    let mut start = None;
    for (at, sample) in samples.iter().enumerate() {
        if mean_load_ratio(samples, &unrest, at) >= 1.0 {
            start = None;
            continue;
        }
        let from = *start.get_or_insert(at);
        let began = samples[from].uptime_seconds - samples[from].seconds;
        if sample.uptime_seconds - began >= CALM_SECONDS {
            return Some(from);
        }
    }
    None
}

/// Load of a sample; 1 or more if tasks wait for I/O, memory or processors.
fn load_ratio(sample: &ObserveSample) -> f64 {
    // If PSI exists, device utilisation is ignored: a device can be busy while no task waits.
    let io = match sample.io_some {
        Some(share) => share / CALM_PRESSURE,
        None => sample.utilisation / CALM_UTILISATION,
    };
    let of = |share: Option<f64>, most: f64| share.unwrap_or_default() / most;
    io.max(of(sample.cpu_busy, BUSY_CPU)).max(of(sample.memory_some, MEMORY_WAITING))
}

/// Mean over the few seconds from a sample on.
fn mean_load_ratio(samples: &[ObserveSample], unrest: &[f64], at: usize) -> f64 {
    let (mut sum, mut time) = (0.0, 0.0);
    for (sample, value) in samples[at..].iter().zip(&unrest[at..]) {
        sum += value * sample.seconds;
        time += sample.seconds;
        if time >= SMOOTH_SECONDS {
            break;
        }
    }
    if time > 0.0 { sum / time } else { 0.0 }
}

/// Finding on the bottleneck, with its evidence.
pub fn bottleneck_finding(samples: &[ObserveSample], summary: &ObserveSummary) -> Finding {
    let loaded: Vec<&ObserveSample> = samples.iter().filter(|s| is_loaded(s)).collect();
    let load = MeanLoad::from_samples(&loaded);
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let known = samples.iter().any(|s| s.io_some.is_some());
    let (weight, text, advice) = bottleneck_text(summary);
    // Without PSI, waiting is an estimate.
    let confidence: f64 = if known { 0.9 } else { 0.6 };
    let confidence = if load.is_brief() { confidence.min(BRIEF_CONFIDENCE) } else { confidence };
    let mut finding = Finding::new("bottleneck", weight, confidence, text)
        .because("busy seconds", format!("{:.0} of {:.0}", load.seconds, summary.seconds));
    if summary.bottleneck != SystemBottleneck::Nothing {
        let waiting = if known { "tasks waiting for I/O" } else { "waiting for I/O (no PSI)" };
        finding = finding
            .because("device busy in them", percent(load.utilisation))
            .because(waiting, percent(load.waiting))
            .because("processors idle", percent(load.idle))
            .because("processors busy", percent(load.busy))
            .because("tasks waiting for memory", percent(load.memory))
            .because("swap", SpeedMbS(load.swap_per_s / 1e6));
    }
    if summary.bottleneck == SystemBottleneck::Elsewhere {
        finding = finding.because("busiest other disk", percent(load.other));
    }
    Finding { advice: advice.map(str::to_owned), ..finding }
}

fn bottleneck_text(summary: &ObserveSummary) -> (FindingWeight, &'static str, Option<&'static str>) {
    let (hint, note) = (FindingWeight::Hint, FindingWeight::Note);
    match summary.bottleneck {
        SystemBottleneck::Card => (
            hint,
            "The system waits for this card: it is busy while processors are idle.",
            Some("Use a card with faster random I/O; `cardscope bench` measures this one."),
        ),
        SystemBottleneck::Cpu => {
            (note, "The system waits for its processors; a faster card would change little.", None)
        }
        SystemBottleneck::Memory => (
            hint,
            "The system lacks memory and waits for swap.",
            Some("Add memory or run fewer programs; swap also wears out the card."),
        ),
        SystemBottleneck::Elsewhere => (
            note,
            "The system waits for another device, not for this one.",
            Some("Observe the other devices (`cardscope list --all`)."),
        ),
        SystemBottleneck::Mixed => (note, "The system waits for no single cause.", None),
        SystemBottleneck::Nothing if summary.loaded_seconds > 0.0 => {
            (note, "The system waited too little to name a cause.", None)
        }
        SystemBottleneck::Nothing => (note, "The system was idle.", None),
    }
}

#[cfg(test)]
mod tests;
