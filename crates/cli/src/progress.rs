//! Progress on stderr: a bar with speed, elapsed and remaining time on a terminal, one line a phase otherwise.

use crate::output;
use cardscope_model::outside;
use cardscope_session::{Event, Listener};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Steps of the bar; the share that is done is told in thousandths.
const STEPS: u64 = 1000;

/// Listens and draws.
pub(crate) struct Progress {
    mode: Mode,
    bytes: Option<u64>,
    seconds: Option<f64>,
}

enum Mode {
    Quiet,
    Lines,
    Bar(ProgressBar, Instant),
}

impl Progress {
    /// A bar on a terminal, lines elsewhere, nothing if `quiet`.
    pub(crate) fn new(quiet: bool) -> Self {
        let mode = match (quiet, std::io::stderr().is_terminal()) {
            (true, _) => Mode::Quiet,
            (false, false) => Mode::Lines,
            (false, true) => Mode::Bar(bar(), Instant::now()),
        };
        Progress { mode, bytes: None, seconds: None }
    }

    fn share(&self, bytes: u64, seconds: f64) -> Option<f64> {
        let by_bytes = self.bytes.filter(|b| *b > 0).map(|all| bytes as f64 / all as f64);
        let by_time = self.seconds.filter(|s| *s > 0.0).map(|all| seconds / all);
        [by_bytes, by_time].into_iter().flatten().reduce(f64::max).map(|s| s.min(1.0))
    }

    fn draw(&mut self, bytes: u64, seconds: f64) {
        let share = self.share(bytes, seconds);
        let Mode::Bar(bar, drawn) = &mut self.mode else { return };
        if drawn.elapsed() < Duration::from_millis(100) {
            return;
        }
        *drawn = Instant::now();
        let speed = if seconds > 0.0 { bytes as f64 / 1e6 / seconds } else { 0.0 };
        let left = match share {
            Some(s) if s > 0.0 => format!(", {:.0} s left", seconds / s - seconds),
            _ => String::new(),
        };
        bar.set_position((share.unwrap_or(0.0) * STEPS as f64) as u64);
        bar.set_message(format!("{speed:.1} MB/s, {seconds:.0} s{left}"));
    }

    fn phase(&mut self, what: &str) {
        match &self.mode {
            Mode::Quiet => {}
            Mode::Lines => {
                output::note(what);
            }
            Mode::Bar(bar, _) => {
                bar.set_position(0);
                bar.set_prefix(outside::line(what).into_owned());
                bar.set_message("");
            }
        }
    }

    fn say(&self, line: &str) {
        match &self.mode {
            Mode::Quiet => {}
            Mode::Lines => {
                output::note(line);
            }
            Mode::Bar(bar, _) => bar.println(outside::line(line)),
        }
    }
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr_with_hz(10));
    if let Ok(style) = ProgressStyle::with_template("{prefix} {wide_bar} {msg}") {
        bar.set_style(style);
    }
    bar
}

impl Listener for Progress {
    fn event(&mut self, event: &Event) {
        match event {
            Event::Phase { what, bytes, seconds } => {
                (self.bytes, self.seconds) = (*bytes, *seconds);
                self.phase(what);
            }
            Event::Progress { bytes, seconds } => self.draw(*bytes, *seconds),
            Event::Figure { what, mb_s, counted } => {
                let remark = if *counted { "" } else { " (discarded)" };
                self.say(&format!("  {what}: {mb_s:.2} MB/s{remark}"));
            }
            Event::Note(text) => self.say(text),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Mode::Bar(bar, _) = &self.mode {
            bar.finish_and_clear();
        }
    }
}
