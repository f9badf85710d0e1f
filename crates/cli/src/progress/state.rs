//! Accumulates progress events and I/O counters into samples for `--events` and lines for the terminal. Reads no clock.

use super::eta::{ElapsedTime, Eta};
use super::format;
use super::sparkline::SparklineHistory;
use cardscope_engine::event::PlanPosition;
use cardscope_engine::io_counters::IoCounters;
use cardscope_model::progress::{ProgressEvent, ProgressSample, ProgressStep};
use cardscope_model::units::{DecimalSize, MB, SpeedMbS};
use cardscope_model::untrusted_text;
use std::ops::Range;

/// Time constant of the speed's smoothing in seconds.
const SMOOTHING_S: f64 = 1.0;

/// Lowest displayed speed in MB/s.
const MIN_SPEED: f64 = 0.0005;

/// Seconds without an answer after which the wait is displayed.
const SILENCE_S: f64 = 3.0;

const SEPARATOR: &str = " · ";

/// Minimum width for sparklines in columns.
const MIN_SPARKLINE_WIDTH: usize = 50;

/// Counters and waits of the process at one time.
#[derive(Debug, Clone, Default)]
pub(super) struct ProcessState {
    pub(super) counters: IoCounters,
    /// Wall clock seconds since the start of the verb.
    pub(super) wall_s: f64,
    /// Seconds of the longest current wait.
    pub(super) silent_s: f64,
    /// Operation that is waited for, unless it is an I/O.
    pub(super) waits_for: Option<String>,
    /// Set once the user asked to stop.
    pub(super) stopping: Option<PendingRestore>,
}

/// Data to be restored before a stopped verb can end.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct PendingRestore {
    pub(crate) bytes: u64,
    /// Estimated duration, if known.
    pub(crate) seconds: Option<f64>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct ProgressState {
    position: PlanPosition,
    stage: ProgressStep,
    phase: ProgressStep,
    part: Range<f64>,
    /// Start of the plan, the stage and the phase, in seconds.
    began: [f64; 3],
    bytes: Option<u64>,
    /// Largest reported share of the stage; never decreases.
    done: Option<f64>,
    /// End of a wait in seconds, and the number of bytes moved at its start.
    wait: Option<(f64, u64)>,
    first: Option<IoCounters>,
    process: ProcessState,
    now: f64,
    speed: Option<f64>,
    /// Mean latency in µs of the I/Os since the last tick.
    latency_us: Option<f64>,
    eta: Eta,
    history: SparklineHistory,
    /// First estimate of the restoring, and its time.
    stopping: Option<(PendingRestore, f64)>,
}

impl ProgressState {
    /// False until the first stage or phase.
    pub(super) fn has_begun(&self) -> bool {
        !self.stage.name.is_empty() || !self.phase.name.is_empty()
    }

    pub(super) fn apply(&mut self, event: &ProgressEvent) {
        match event {
            ProgressEvent::Plan(plan) => {
                (self.position, self.eta) = (PlanPosition::new(plan.clone()), Eta::default());
                self.began = [self.now; 3];
            }
            ProgressEvent::Stage(step) => {
                self.position.enter_stage(&step.name);
                (self.stage, self.phase, self.done) = (step.clone(), ProgressStep::default(), None);
                self.began = [self.began[0], self.now, self.now];
                self.reset_part(0.0..1.0);
            }
            ProgressEvent::Phase { step, part } => {
                self.phase = step.clone();
                self.began[2] = self.now;
                self.reset_part(part.clone());
            }
            ProgressEvent::Bytes(bytes) => self.bytes = Some(*bytes),
            ProgressEvent::Wait(s) => self.wait = Some((self.now + s, self.process.counters.bytes)),
            _ => {}
        }
        self.update_estimate();
    }

    fn reset_part(&mut self, part: Range<f64>) {
        (self.part, self.bytes, self.wait) = (part, None, None);
    }

    /// Updates the state with new counters of the process.
    pub(super) fn tick(&mut self, process: ProcessState) {
        let last = std::mem::replace(&mut self.process, process);
        let (pulse, first) = (self.process.counters, *self.first.get_or_insert(self.process.counters));
        // A simulated card's clock runs ahead of the wall clock; the clock of a hanging card stops.
        self.now = (pulse.card_seconds - first.card_seconds).max(self.process.wall_s).max(self.now);
        let passed = pulse.card_seconds - last.counters.card_seconds;
        if passed > 0.0 && last.counters.card_seconds >= first.card_seconds {
            let speed = pulse.bytes.saturating_sub(last.counters.bytes) as f64 / MB / passed;
            let before = self.speed.unwrap_or(speed);
            self.speed = Some(before + (speed - before) * (1.0 - (-passed / SMOOTHING_S).exp()));
        }
        if pulse.ios > last.counters.ios {
            let seconds = (pulse.latency_sum_s - last.counters.latency_sum_s).max(0.0);
            self.latency_us = Some(seconds * 1e6 / (pulse.ios - last.counters.ios) as f64);
        }
        if self.wait.is_some_and(|(until, bytes)| self.now >= until || pulse.bytes > bytes) {
            self.wait = None;
        }
        if self.position.plan.long {
            self.history.push(pulse);
        }
        let stopping = self.process.stopping.clone().map(|pending| (pending, self.now));
        self.stopping = self.stopping.take().or(stopping);
        self.update_estimate();
    }

    fn update_estimate(&mut self) {
        if let Some(share) = self.share_of_step() {
            let done = self.part.start + share * (self.part.end - self.part.start);
            self.done = Some(self.done.map_or(done, |before| before.max(done))).filter(|done| *done > 0.0);
        }
        let (elapsed, in_stage) = (self.now - self.began[0], self.now - self.began[1]);
        self.eta.update(ElapsedTime { position: &self.position, elapsed, in_stage, done: self.done });
    }

    fn current_step(&self) -> &ProgressStep {
        let phase = &self.phase;
        let begun = phase.bytes.is_some() || phase.seconds.is_some() || !phase.name.is_empty();
        if begun { phase } else { &self.stage }
    }

    fn seconds_in_step(&self) -> f64 {
        self.now - self.began[2]
    }

    fn share_of_step(&self) -> Option<f64> {
        let ProgressStep { bytes: all, seconds, .. } = self.current_step();
        let by_bytes = all.filter(|all| *all > 0).zip(self.bytes).map(|(all, done)| done as f64 / all as f64);
        let by_time = seconds.filter(|all| *all > 0.0).map(|all| self.seconds_in_step() / all);
        [by_bytes, by_time].into_iter().flatten().reduce(f64::max).map(|share| share.clamp(0.0, 1.0))
    }

    /// Lines for the terminal, each at most `width` columns wide.
    pub(super) fn lines(&self, width: usize) -> Vec<String> {
        if let Some((pending, since)) = &self.stopping {
            let left = pending.seconds.map(|seconds| seconds - (self.now - since));
            let seconds = left.filter(|left| *left > 0.0);
            let pending = PendingRestore { bytes: self.bytes_to_restore(pending), seconds };
            return vec![format::cut_to_width(&stop_message(&pending), width)];
        }
        let mut lines = vec![self.main_line(width)];
        if width >= MIN_SPARKLINE_WIDTH {
            lines.extend(self.history.lines(width));
        }
        lines
    }

    /// Sample for `--events`.
    pub(super) fn to_sample(&self) -> ProgressSample {
        let share = self.position.stage_share();
        let of_all = |done: f64| share.start + done * (share.end - share.start);
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let waits = (self.process.silent_s >= SILENCE_S)
            .then(|| self.process.waits_for.clone().unwrap_or_else(|| "an answer".to_owned()));
        ProgressSample {
            at: self.now - self.began[0],
            stage: self.stage.name.clone(),
            stage_number: count(self.position.number()),
            stages: count(self.position.plan.stages.len()),
            phase: self.phase.name.clone(),
            done: (self.position.number() > 0 || self.done.is_some())
                .then(|| of_all(self.done.unwrap_or_default()).clamp(0.0, 1.0)),
            bytes: self.bytes,
            total_bytes: self.current_step().bytes,
            mb_s: self.speed.filter(|_| self.wait.is_none()),
            latency_us: self.latency_us,
            celsius: self.process.counters.celsius,
            left_s: self.eta.seconds(),
            waits_for: waits,
        }
    }

    /// Bytes still to be restored; all of them until the restoring begins.
    fn bytes_to_restore(&self, pending: &PendingRestore) -> u64 {
        let done = self.done.filter(|_| self.stage.restores).unwrap_or_default();
        (pending.bytes as f64 * (1.0 - done)) as u64
    }

    /// Main line, without its least important parts if they do not fit.
    fn main_line(&self, width: usize) -> String {
        let spinner = ['|', '/', '-', '\\'][(self.process.wall_s * 4.0) as usize % 4];
        let head = format!("{spinner} {}{}", self.stage_prefix(), self.stage.name);
        let celsius = self.process.counters.celsius.map(|celsius| format!("{celsius:.0} °C"));
        let left = self.eta.seconds().map(|left| format!("{} left", format::format_time(left)));
        let (phase, done, speed) = (self.phase.name.clone(), self.done_of_total(), self.speed_text());
        let full = [phase, done, speed, celsius.unwrap_or_default(), left.unwrap_or_default()];
        // Indices of `full`. Dropped first: temperature, then done of total, speed, phase, and the time left.
        let keeps = [&[0, 1, 2, 3, 4][..], &[0, 1, 2, 4], &[0, 2, 4], &[0, 4], &[4], &[]];
        let parts = |keep: &&[usize]| join_parts(&head, keep.iter().map(|at| (*at, full[*at].as_str())));
        let mut lines = keeps.iter().map(|keep| untrusted_text::escape_line(&parts(keep)).into_owned());
        let fitting = lines.find(|line| format::columns(line) <= width);
        fitting.unwrap_or_else(|| format::cut_to_width(&untrusted_text::escape_line(&head), width))
    }

    fn stage_prefix(&self) -> String {
        let (number, of) = (self.position.number(), self.position.plan.stages.len());
        if of > 1 && number > 0 { format!("{number}/{of} ") } else { String::new() }
    }

    fn done_of_total(&self) -> String {
        if let Some((until, _)) = self.wait {
            return waiting_message(until - self.now);
        }
        let ProgressStep { bytes, seconds, .. } = self.current_step();
        match (*bytes, self.bytes, *seconds) {
            (Some(all @ 1..), done, _) => format::bytes_of_total(done.unwrap_or_default().min(all), all),
            (_, _, Some(all)) if all >= 1.0 => format::time_of_total(self.seconds_in_step().min(all), all),
            (None, Some(done), _) if done > 0 => DecimalSize(done).in_table(),
            _ => String::new(),
        }
    }

    fn speed_text(&self) -> String {
        if self.process.silent_s >= SILENCE_S {
            let time = format::format_time(self.process.silent_s.floor());
            return match &self.process.waits_for {
                Some(what) => format!("waiting {time} for {what}"),
                None => format!("no answer for {time}"),
            };
        }
        let speed = self.speed.filter(|speed| *speed >= MIN_SPEED && self.wait.is_none());
        speed.map(|speed| SpeedMbS(speed).to_string()).unwrap_or_default()
    }

    /// Name and planned size of the stage, for output to a file.
    pub(super) fn announcement(&self) -> String {
        let ProgressStep { name, bytes, seconds, .. } = &self.stage;
        let bytes = bytes.map(|bytes| format!(", {}", DecimalSize(bytes)));
        let planned = bytes.or(seconds.map(|seconds| format!(", {}", format::format_time(seconds))));
        format!("{}{name}{}", self.stage_prefix(), planned.unwrap_or_default())
    }
}

/// Joins the non-empty parts; figures follow the name of their phase without a separator.
fn join_parts<'a>(head: &str, parts: impl Iterator<Item = (usize, &'a str)>) -> String {
    let (mut line, mut named) = (head.to_owned(), true);
    for (at, part) in parts.filter(|(_, part)| !part.is_empty()) {
        let figures = at == 1 && named && part.starts_with(|c: char| c.is_ascii_digit());
        line.push_str(if figures { " " } else { SEPARATOR });
        line.push_str(part);
        named = at == 0;
    }
    line
}

/// Message about a pause in which the card settles.
pub(super) fn waiting_message(seconds: f64) -> String {
    format!("waiting {:.0} s for the card to settle", seconds.max(0.0).ceil())
}

/// Message after the user asked to stop.
pub(crate) fn stop_message(pending: &PendingRestore) -> String {
    let time = pending.seconds.map(|seconds| format!(", {}", format::format_time(seconds)));
    match pending.bytes {
        0 => "stopping".to_owned(),
        bytes => format!("stopping: restoring {}{}", DecimalSize(bytes), time.unwrap_or_default()),
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
