//! Progress on stderr: on a terminal a line that moves, with strips below it in long runs; one line a stage elsewhere.

mod left;
pub(crate) mod screen;
mod strip;
mod view;
mod words;

pub(crate) use view::{Owed, stopping};

use cardscope_model::outside;
use cardscope_model::units::Speed;
use cardscope_report::figure::wrapped;
use cardscope_session::bench::Interrupt;
use cardscope_session::pending::{Wait, debts, longest_wait};
use cardscope_session::{Event, Listener, pulse};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use view::{Moment, View};

/// How often the line is drawn anew.
const FRAME: Duration = Duration::from_millis(100);

/// Where nothing is drawn, a wait of so many seconds is said, so that nobody takes it for a hang.
const LONG_WAIT_S: f64 = 30.0;

/// Listens and draws.
pub(crate) struct Progress {
    mode: Mode,
}

enum Mode {
    Quiet,
    Lines(Box<View>),
    Drawn(Drawer),
}

impl Progress {
    /// A line that moves on a terminal, lines elsewhere, nothing if `quiet`.
    pub(crate) fn new(quiet: bool, interrupt: &Interrupt) -> Self {
        let mode = match quiet {
            true => Mode::Quiet,
            false if screen::is_there() => {
                Drawer::start(interrupt.clone()).map_or_else(Mode::lines, Mode::Drawn)
            }
            false => Mode::lines(),
        };
        Progress { mode }
    }
}

impl Mode {
    fn lines() -> Self {
        Mode::Lines(Box::default())
    }

    fn hear(&mut self, event: &Event) {
        match self {
            Mode::Quiet => {}
            Mode::Lines(view) => view.hear(event),
            Mode::Drawn(drawer) => locked(&drawer.view).hear(event),
        }
    }
}

impl Listener for Progress {
    fn event(&mut self, event: &Event) {
        let said = match (&mut self.mode, event) {
            (Mode::Quiet, _) => Vec::new(),
            (_, Event::Note(text)) => vec![text.clone()],
            (Mode::Drawn(_), Event::Figure { what, mb_s }) => {
                let what = what.strip_prefix("measuring ").unwrap_or(what);
                vec![format!("{what}: {}", Speed(*mb_s))]
            }
            (mode, event) => {
                mode.hear(event);
                match (mode, event) {
                    (Mode::Lines(view), Event::Stage(_)) => vec![view.announcement()],
                    (Mode::Lines(_), Event::Wait(seconds)) if *seconds >= LONG_WAIT_S => {
                        vec![view::waiting(*seconds)]
                    }
                    (Mode::Drawn(_), Event::Plan(plan)) if !plan.says.is_empty() => {
                        wrapped(&outside::line(&plan.says), screen::width())
                    }
                    (_, Event::Plan(plan)) if !plan.says.is_empty() => vec![plan.says.clone()],
                    _ => Vec::new(),
                }
            }
        };
        said.iter().for_each(|line| screen::say(line));
    }
}

/// What is still owed by now.
pub(crate) fn owed() -> Owed {
    let restores = debts().iter().map(|debt| debt.restores).sum();
    Owed { restores, seconds: pulse::restoring_takes(restores).filter(|_| restores > 0) }
}

/// Draws by itself, so that a single I/O that takes long is seen to.
struct Drawer {
    view: Arc<Mutex<View>>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drawer {
    /// `None` where no thread can be had.
    fn start(interrupt: Interrupt) -> Option<Self> {
        let (view, over) = (Arc::default(), Arc::default());
        let (of_thread, end) = (Arc::clone(&view), Arc::clone(&over));
        let draw = move || draw(&of_thread, &end, &interrupt);
        let thread = std::thread::Builder::new().name("progress".into()).spawn(draw).ok()?;
        Some(Drawer { view, over, thread: Some(thread) })
    }
}

impl Drop for Drawer {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

fn locked(view: &Mutex<View>) -> MutexGuard<'_, View> {
    view.lock().unwrap_or_else(PoisonError::into_inner)
}

fn draw(view: &Mutex<View>, over: &AtomicBool, interrupt: &Interrupt) {
    let began = Instant::now();
    while !over.load(Ordering::Relaxed) {
        let silent = longest_wait().filter(|(wait, _)| !matches!(wait, Wait::Look));
        let moment = Moment {
            pulse: pulse::now(),
            wall_s: began.elapsed().as_secs_f64(),
            silent_s: silent.as_ref().map_or(0.0, |(_, since)| since.as_secs_f64()),
            waits_for: silent.and_then(|(wait, _)| match wait {
                Wait::Call(what) => Some(what.to_string()),
                Wait::Io { .. } | Wait::Look => None,
            }),
            stopping: interrupt.raised().then(owed),
        };
        let lines = {
            let mut view = locked(view);
            view.tick(moment);
            if view.has_begun() { view.lines(screen::width()) } else { Vec::new() }
        };
        screen::draw(lines);
        std::thread::park_timeout(FRAME);
    }
    screen::draw(Vec::new());
}
