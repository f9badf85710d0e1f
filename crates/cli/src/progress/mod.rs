//! Progress on stderr: a redrawn line on a terminal, with sparklines in long runs; one line a stage elsewhere; JSON lines with
//! `--events`.

mod eta;
pub(crate) mod format;
pub(crate) mod screen;
mod sparkline;
mod state;

pub(crate) use state::{PendingRestore, stop_message};

use crate::output::{self, OutputOptions};
use cardscope_engine::event::Listener;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::io_counters;
use cardscope_engine::pending::{PendingWait, longest_wait, pending_cleanups};
use cardscope_model::progress::{ProgressEvent, SpeedFigure};
use cardscope_model::units::SpeedMbS;
use cardscope_model::untrusted_text;
use cardscope_page::figure::wrap_text;
use state::{ProcessState, ProgressState};
use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const FRAME_INTERVAL: Duration = Duration::from_millis(100);

/// Interval of samples with `--events`.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(200);

/// Minimum duration in seconds of a wait that is announced in non-interactive output, where it would look like a hang.
const LONG_WAIT_S: f64 = 30.0;

/// Progress listener of the command line.
pub(crate) enum ProgressDisplay {
    Quiet,
    /// Plain lines for output to a file.
    Lines(Box<ProgressState>),
    /// Lines redrawn by a thread.
    Drawn(DisplayThread),
    Events(DisplayThread, InterruptFlag),
}

impl ProgressDisplay {
    /// Chooses the mode by `--quiet`, `--events` and the kind of stderr.
    pub(crate) fn new(options: &OutputOptions, interrupt: &InterruptFlag) -> Self {
        let start = |watch| DisplayThread::start(interrupt, watch);
        let events = |thread| ProgressDisplay::Events(thread, interrupt.clone());
        let drawn = || start(draw_until_over).map(ProgressDisplay::Drawn);
        match (options.quiet, options.events) {
            (true, _) => ProgressDisplay::Quiet,
            (_, true) => start(print_samples_until_over).map_or(ProgressDisplay::Quiet, events),
            _ => screen::can_draw()
                .then(drawn)
                .flatten()
                .unwrap_or_else(|| ProgressDisplay::Lines(Box::default())),
        }
    }
}

impl Listener for ProgressDisplay {
    fn event(&mut self, event: &ProgressEvent) {
        let lines = match (self, event) {
            (ProgressDisplay::Quiet, _) => return,
            (ProgressDisplay::Events(thread, interrupt), _) => {
                lock_state(&thread.state).apply(event);
                if event.is_published() {
                    print_event(event, interrupt);
                }
                return;
            }
            (_, ProgressEvent::Note { text }) => vec![text.clone()],
            (ProgressDisplay::Drawn(_), ProgressEvent::Figure(SpeedFigure { what, mb_s })) => {
                vec![format!("{what}: {}", SpeedMbS(*mb_s))]
            }
            (ProgressDisplay::Drawn(thread), _) => {
                lock_state(&thread.state).apply(event);
                let ProgressEvent::Plan(plan) = event else { return };
                wrap_text(&untrusted_text::escape_line(&plan.says), screen::line_width())
            }
            (ProgressDisplay::Lines(state), _) => {
                state.apply(event);
                match event {
                    ProgressEvent::Stage(_) => vec![state.announcement()],
                    ProgressEvent::Wait(seconds) if *seconds >= LONG_WAIT_S => {
                        vec![state::waiting_message(*seconds)]
                    }
                    ProgressEvent::Plan(plan) if !plan.says.is_empty() => vec![plan.says.clone()],
                    _ => return,
                }
            }
        };
        lines.iter().for_each(|line| screen::print_above(line));
    }
}

/// Returns the data that must be restored before the verb can end.
pub(crate) fn pending_restore() -> PendingRestore {
    let bytes = pending_cleanups().iter().map(|debt| debt.restore_bytes).sum();
    PendingRestore { bytes, seconds: io_counters::estimate_restore_seconds(bytes).filter(|_| bytes > 0) }
}

/// Thread that shows progress even during a single long I/O.
pub(crate) struct DisplayThread {
    state: Arc<Mutex<ProgressState>>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Loop of a watcher, which runs until the flag is set.
type DisplayLoop = fn(&Mutex<ProgressState>, &AtomicBool, &InterruptFlag);

impl DisplayThread {
    /// `None` if the system allows no further thread.
    fn start(interrupt: &InterruptFlag, watch: DisplayLoop) -> Option<Self> {
        let (state, over) = (Arc::default(), Arc::default());
        let (of_thread, end, interrupt) = (Arc::clone(&state), Arc::clone(&over), interrupt.clone());
        let watch = move || watch(&of_thread, &end, &interrupt);
        let thread = std::thread::Builder::new().name("progress".into()).spawn(watch).ok()?;
        Some(DisplayThread { state, over, thread: Some(thread) })
    }
}

impl Drop for DisplayThread {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

fn lock_state(state: &Mutex<ProgressState>) -> MutexGuard<'_, ProgressState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read_process_state(began: Instant, interrupt: &InterruptFlag) -> ProcessState {
    let silent = longest_wait().filter(|(wait, _)| !matches!(wait, PendingWait::OwnershipCheck));
    ProcessState {
        counters: io_counters::snapshot(),
        wall_s: began.elapsed().as_secs_f64(),
        silent_s: silent.as_ref().map_or(0.0, |(_, since)| since.as_secs_f64()),
        waits_for: silent.and_then(|(wait, _)| match wait {
            PendingWait::Call(what) => Some(what.to_string()),
            _ => None,
        }),
        stopping: interrupt.is_raised().then(pending_restore),
    }
}

fn draw_until_over(state: &Mutex<ProgressState>, over: &AtomicBool, interrupt: &InterruptFlag) {
    let began = Instant::now();
    while !over.load(Ordering::Relaxed) {
        let now = read_process_state(began, interrupt);
        let lines = {
            let mut state = lock_state(state);
            state.tick(now);
            if state.has_begun() { state.lines(screen::line_width()) } else { Vec::new() }
        };
        screen::draw_lines(lines);
        std::thread::park_timeout(FRAME_INTERVAL);
    }
    screen::draw_lines(Vec::new());
}

fn print_samples_until_over(state: &Mutex<ProgressState>, over: &AtomicBool, interrupt: &InterruptFlag) {
    let (began, mut last) = (Instant::now(), None);
    loop {
        // Read before the sample is taken, so that the last sample is printed as well.
        let ends = over.load(Ordering::Relaxed);
        let now = read_process_state(began, interrupt);
        let sample = {
            let mut state = lock_state(state);
            state.tick(now);
            state.has_begun().then(|| ProgressEvent::Sample(state.to_sample()))
        };
        if let Some(sample) = sample.filter(|sample| last.as_ref() != Some(sample)) {
            print_event(&sample, interrupt);
            last = Some(sample);
        }
        if ends {
            return;
        }
        std::thread::park_timeout(SAMPLE_INTERVAL);
    }
}

/// Writes a line atomically, since several threads print. A closed pipe interrupts the verb like Ctrl-C, so that a killed
/// server leaves no test behind.
fn print_event(event: &ProgressEvent, interrupt: &InterruptFlag) {
    let Ok(mut line) = serde_json::to_vec(event) else { return };
    line.push(b'\n');
    let mut stderr = output::stderr().lock();
    let written = stderr.write_all(&line).and_then(|()| stderr.flush());
    if written.is_err_and(|error| error.kind() == ErrorKind::BrokenPipe) {
        interrupt.raise();
    }
}
