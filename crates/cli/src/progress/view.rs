//! What a progress line says, as a pure function of what was heard and counted: stage n of m, what is being done, done of
//! total, speed, temperature, time left for all of it.

use super::left::{At, Left};
use super::strip::History;
use super::words;
use cardscope_engine::event::{Course, Event, Step};
use cardscope_engine::pulse::Pulse;
use cardscope_model::live::Moment as Told;
use cardscope_model::outside;
use cardscope_model::units::{MB, Size, Speed};
use std::ops::Range;

/// Seconds within which the speed that is shown follows the speed of the moment.
const FOLLOWS_S: f64 = 1.0;

/// A slower speed than this in MB/s is none.
const NO_SPEED: f64 = 0.0005;

/// From so many seconds on it is said that the card does not answer.
const SILENT_S: f64 = 3.0;

/// Between what a line says.
const BETWEEN: &str = " · ";

/// How the stages begin in which the card's data is put back.
const RESTORING: &str = "restoring";

/// Narrower terminals get no strips.
const WIDE: usize = 50;

/// What is known at one moment beside what was heard.
#[derive(Debug, Clone, Default)]
pub(super) struct Moment {
    pub(super) pulse: Pulse,
    /// Seconds since the verb began, by the clock on the wall.
    pub(super) wall_s: f64,
    /// How long something has been waited for.
    pub(super) silent_s: f64,
    /// What that is, where it is not the card's answer to an I/O.
    pub(super) waits_for: Option<String>,
    /// What is still owed, once the user asked to stop.
    pub(super) stopping: Option<Owed>,
}

/// What is done before a verb that is asked to stop ends.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Owed {
    /// Bytes that are put back.
    pub(crate) restores: u64,
    /// Seconds that this takes, about.
    pub(crate) seconds: Option<f64>,
}

/// What was heard, and what follows from it.
#[derive(Debug, Clone, Default)]
pub(super) struct View {
    course: Course,
    stage: Step,
    phase: Step,
    part: Range<f64>,
    /// Seconds of the plan, the stage and the phase when they began.
    began: [f64; 3],
    bytes: Option<u64>,
    /// The largest share of the stage that was known to be done; it never goes back.
    done: Option<f64>,
    /// The end of a wait, and the bytes that were moved when it began.
    wait: Option<(f64, u64)>,
    first: Option<Pulse>,
    moment: Moment,
    now: f64,
    speed: Option<f64>,
    /// Mean latency in microseconds of the I/Os that ended last.
    latency_us: Option<f64>,
    left: Left,
    history: History,
    /// The first estimate of what stopping takes, and when it was made.
    stopping: Option<(Owed, f64)>,
}

impl View {
    /// Whether there is anything to show.
    pub(super) fn has_begun(&self) -> bool {
        !self.stage.what.is_empty() || !self.phase.what.is_empty()
    }

    pub(super) fn hear(&mut self, event: &Event) {
        match event {
            Event::Plan(plan) => {
                (self.course, self.left) = (Course::new(plan.clone()), Left::default());
                self.began = [self.now; 3];
            }
            Event::Stage(step) => {
                self.course.enter(&step.what);
                (self.stage, self.phase, self.done) = (step.clone(), Step::default(), None);
                self.began = [self.began[0], self.now, self.now];
                self.begin(0.0..1.0);
            }
            Event::Phase { step, part } => {
                self.phase = step.clone();
                self.began[2] = self.now;
                self.begin(part.clone());
            }
            Event::Progress { bytes, .. } => self.bytes = Some(*bytes),
            Event::Wait(seconds) => self.wait = Some((self.now + seconds, self.moment.pulse.bytes)),
            Event::Stored(_) | Event::Figure { .. } | Event::Found(_) | Event::Note(_) => {}
        }
        self.advance();
    }

    fn begin(&mut self, part: Range<f64>) {
        (self.part, self.bytes, self.wait) = (part, None, None);
    }

    /// Time has passed.
    pub(super) fn tick(&mut self, moment: Moment) {
        let last = std::mem::replace(&mut self.moment, moment);
        let (pulse, first) = (self.moment.pulse, *self.first.get_or_insert(self.moment.pulse));
        // The clock of a simulated card runs ahead of the one on the wall; a card that hangs stops its own.
        self.now = (pulse.seconds - first.seconds).max(self.moment.wall_s).max(self.now);
        let passed = pulse.seconds - last.pulse.seconds;
        if passed > 0.0 && last.pulse.seconds >= first.seconds {
            let speed = pulse.bytes.saturating_sub(last.pulse.bytes) as f64 / MB / passed;
            let before = self.speed.unwrap_or(speed);
            self.speed = Some(before + (speed - before) * (1.0 - (-passed / FOLLOWS_S).exp()));
        }
        if pulse.ios > last.pulse.ios {
            let ios = (pulse.ios - last.pulse.ios) as f64;
            self.latency_us = Some((pulse.waited_s - last.pulse.waited_s).max(0.0) * 1e6 / ios);
        }
        if self.wait.is_some_and(|(until, bytes)| self.now >= until || pulse.bytes > bytes) {
            self.wait = None;
        }
        if self.course.plan.long {
            self.history.push(pulse);
        }
        self.stopping = match (&self.moment.stopping, self.stopping.take()) {
            (Some(owed), None) => Some((owed.clone(), self.now)),
            (_, before) => before,
        };
        self.advance();
    }

    /// How far the stage is, and what follows for the time left.
    fn advance(&mut self) {
        if let Some(share) = self.share_of_step() {
            let done = self.part.start + share * (self.part.end - self.part.start);
            self.done = Some(self.done.map_or(done, |before| before.max(done))).filter(|done| *done > 0.0);
        }
        let (elapsed, in_stage) = (self.now - self.began[0], self.now - self.began[1]);
        self.left.update(At { course: &self.course, elapsed, in_stage, done: self.done });
    }

    fn step(&self) -> &Step {
        let of_phase =
            self.phase.bytes.is_some() || self.phase.seconds.is_some() || !self.phase.what.is_empty();
        if of_phase { &self.phase } else { &self.stage }
    }

    fn in_step(&self) -> f64 {
        self.now - self.began[2]
    }

    fn share_of_step(&self) -> Option<f64> {
        let Step { bytes: all, seconds, .. } = self.step();
        let by_bytes = all.filter(|all| *all > 0).zip(self.bytes).map(|(all, done)| done as f64 / all as f64);
        let by_time = seconds.filter(|all| *all > 0.0).map(|all| self.in_step() / all);
        [by_bytes, by_time].into_iter().flatten().reduce(f64::max).map(|share| share.clamp(0.0, 1.0))
    }

    /// The lines, none wider than `width` columns.
    pub(super) fn lines(&self, width: usize) -> Vec<String> {
        if let Some((owed, since)) = &self.stopping {
            let seconds = owed.seconds.map(|seconds| seconds - (self.now - since)).filter(|left| *left > 0.0);
            let owed = Owed { restores: self.restores_left(owed), seconds };
            return vec![words::cut(&stopping(&owed), width)];
        }
        let mut lines = vec![self.line(width)];
        if width >= WIDE {
            lines.extend(self.history.lines(width));
        }
        lines
    }

    /// How far it is, for a program.
    pub(super) fn told(&self) -> Told {
        let share = self.course.share();
        let of_all = |done: f64| share.start + done * (share.end - share.start);
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let waits = (self.moment.silent_s >= SILENT_S)
            .then(|| self.moment.waits_for.clone().unwrap_or_else(|| "an answer".to_owned()));
        Told {
            at: self.now - self.began[0],
            stage: self.stage.what.clone(),
            stage_number: count(self.course.number()),
            stages: count(self.course.plan.stages.len()),
            phase: self.phase.what.clone(),
            done: (self.course.number() > 0 || self.done.is_some())
                .then(|| of_all(self.done.unwrap_or_default()).clamp(0.0, 1.0)),
            bytes: self.bytes,
            total_bytes: self.step().bytes,
            mb_s: self.speed.filter(|_| self.wait.is_none()),
            latency_us: self.latency_us,
            celsius: self.moment.pulse.celsius,
            left_s: self.left.seconds(),
            waits_for: waits,
        }
    }

    /// Bytes that are still to be restored: all of them until that begins.
    fn restores_left(&self, owed: &Owed) -> u64 {
        let done = self.done.filter(|_| self.stage.what.starts_with(RESTORING)).unwrap_or_default();
        (owed.restores as f64 * (1.0 - done)) as u64
    }

    /// One line: what matters least goes first where there is no room.
    fn line(&self, width: usize) -> String {
        let head = format!("{} {}{}", self.spinner(), self.number(), self.stage.what);
        let (phase, done) = (self.phase.what.clone(), self.done_of_total());
        let [speed, celsius, left] = [self.speed(), self.celsius(), self.left()];
        let full = [phase, done, speed, celsius, left];
        // Of what stands in `full`: temperature, done of total, speed, phase, and last the time left.
        let keeps = [&[0, 1, 2, 3, 4][..], &[0, 1, 2, 4], &[0, 2, 4], &[0, 4], &[4], &[]];
        let lines = keeps.iter().map(|keep| joined(&head, keep.iter().map(|at| (*at, full[*at].as_str()))));
        let mut lines = lines.map(|line| outside::line(&line).into_owned());
        let fitting = lines.find(|line| words::columns(line) <= width);
        fitting.unwrap_or_else(|| words::cut(&outside::line(&head), width))
    }

    /// It turns, so that a line of which nothing else changes is seen to be alive.
    fn spinner(&self) -> char {
        ['|', '/', '-', '\\'][(self.moment.wall_s * 4.0) as usize % 4]
    }

    fn number(&self) -> String {
        let (number, of) = (self.course.number(), self.course.plan.stages.len());
        if of > 1 && number > 0 { format!("{number}/{of} ") } else { String::new() }
    }

    fn done_of_total(&self) -> String {
        if let Some((until, _)) = self.wait {
            return waiting(until - self.now);
        }
        let Step { bytes, seconds, .. } = self.step();
        match (bytes, self.bytes, seconds) {
            (Some(all), done, _) if *all > 0 => words::of_bytes(done.unwrap_or_default().min(*all), *all),
            (_, _, Some(all)) if *all >= 1.0 => words::of_time(self.in_step().min(*all), *all),
            (None, Some(done), _) if done > 0 => Size(done).in_table(),
            _ => String::new(),
        }
    }

    fn speed(&self) -> String {
        if self.moment.silent_s >= SILENT_S {
            let time = words::time(self.moment.silent_s.floor());
            return match &self.moment.waits_for {
                Some(what) => format!("waiting {time} for {what}"),
                None => format!("no answer for {time}"),
            };
        }
        let speed = self.speed.filter(|speed| *speed >= NO_SPEED && self.wait.is_none());
        speed.map(|speed| Speed(speed).to_string()).unwrap_or_default()
    }

    fn celsius(&self) -> String {
        self.moment.pulse.celsius.map_or_else(String::new, |celsius| format!("{celsius:.0} °C"))
    }

    fn left(&self) -> String {
        self.left.seconds().map_or_else(String::new, |left| format!("{} left", words::time(left)))
    }

    /// What is said of a stage where nothing is drawn: which, and what is planned.
    pub(super) fn announcement(&self) -> String {
        let Step { what, bytes, seconds } = &self.stage;
        let bytes = bytes.map(|bytes| Size(bytes).to_string());
        let planned =
            bytes.or(seconds.map(words::time)).map_or_else(String::new, |planned| format!(", {planned}"));
        format!("{}{what}{planned}", self.number())
    }
}

/// The parts that say something, the figures of a phase right behind its name.
fn joined<'a>(head: &str, parts: impl Iterator<Item = (usize, &'a str)>) -> String {
    let (mut line, mut named) = (head.to_owned(), true);
    for (at, part) in parts.filter(|(_, part)| !part.is_empty()) {
        let figures = at == 1 && named && part.starts_with(|c: char| c.is_ascii_digit());
        line.push_str(if figures { " " } else { BETWEEN });
        line.push_str(part);
        named = at == 0;
    }
    line
}

pub(super) fn waiting(seconds: f64) -> String {
    format!("waiting {:.0} s for the card to settle", seconds.max(0.0).ceil())
}

/// What is said as soon as the user asked to stop.
pub(crate) fn stopping(owed: &Owed) -> String {
    match (owed.restores, owed.seconds) {
        (0, _) => "stopping".to_owned(),
        (bytes, None) => format!("stopping: restoring {}", Size(bytes)),
        (bytes, Some(seconds)) => format!("stopping: restoring {}, {}", Size(bytes), words::time(seconds)),
    }
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
