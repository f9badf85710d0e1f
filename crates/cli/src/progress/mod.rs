//! Progress on stderr: on a terminal a line that moves, with strips below it in long runs; one line a stage elsewhere; events as
//! JSON for a program that asks for them.

mod left;
pub(crate) mod screen;
mod strip;
mod told;
mod view;
pub(crate) mod words;

pub(crate) use view::{Owed, stopping};

use crate::output::Options;
use cardscope_engine::event::{Event, Listener};
use cardscope_engine::interrupt::Interrupt;
use cardscope_engine::pending::{Wait, debts, longest_wait};
use cardscope_engine::pulse;
use cardscope_model::live::{Moment as ToldMoment, Told};
use cardscope_model::outside;
use cardscope_model::units::Speed;
use cardscope_page::figure::wrapped;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use view::{Moment, View};

/// How often the line is drawn anew.
const FRAME: Duration = Duration::from_millis(100);

/// How often a program is told how far it is.
const TOLD_EVERY: Duration = Duration::from_millis(200);

/// Where nothing is drawn, a wait of so many seconds is said, so that nobody takes it for a hang.
const LONG_WAIT_S: f64 = 30.0;

/// Listens and draws.
pub(crate) struct Progress {
    mode: Mode,
}

enum Mode {
    Quiet,
    Lines(Box<View>),
    Drawn(Watcher),
    Told(Watcher, Interrupt),
}

impl Progress {
    /// A line that moves on a terminal, lines elsewhere; events or nothing where that is asked for.
    pub(crate) fn new(options: &Options, interrupt: &Interrupt) -> Self {
        let mode = match (options.quiet, options.events) {
            (true, _) => Mode::Quiet,
            (_, true) => {
                let told = |watcher| Mode::Told(watcher, interrupt.clone());
                Watcher::start(interrupt, tell).map_or(Mode::Quiet, told)
            }
            _ if screen::is_there() => Watcher::start(interrupt, draw).map_or_else(Mode::lines, Mode::Drawn),
            _ => Mode::lines(),
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
            Mode::Drawn(watcher) | Mode::Told(watcher, _) => locked(&watcher.view).hear(event),
        }
    }
}

impl Listener for Progress {
    fn event(&mut self, event: &Event) {
        if let Mode::Told(watcher, interrupt) = &self.mode {
            locked(&watcher.view).hear(event);
            return told::of(event).iter().for_each(|told| told::tell(told, interrupt));
        }
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

/// Draws or tells by itself, so that a single I/O that takes long is seen to.
struct Watcher {
    view: Arc<Mutex<View>>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// What a watcher does until the end is said.
type Watch = fn(&Mutex<View>, &AtomicBool, &Interrupt);

impl Watcher {
    /// `None` where no thread can be had.
    fn start(interrupt: &Interrupt, watch: Watch) -> Option<Self> {
        let (view, over) = (Arc::default(), Arc::default());
        let (of_thread, end, interrupt) = (Arc::clone(&view), Arc::clone(&over), interrupt.clone());
        let watch = move || watch(&of_thread, &end, &interrupt);
        let thread = std::thread::Builder::new().name("progress".into()).spawn(watch).ok()?;
        Some(Watcher { view, over, thread: Some(thread) })
    }
}

impl Drop for Watcher {
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

/// What is known now, `began` being when the verb did.
fn moment(began: Instant, interrupt: &Interrupt) -> Moment {
    let silent = longest_wait().filter(|(wait, _)| !matches!(wait, Wait::Look));
    Moment {
        pulse: pulse::now(),
        wall_s: began.elapsed().as_secs_f64(),
        silent_s: silent.as_ref().map_or(0.0, |(_, since)| since.as_secs_f64()),
        waits_for: silent.and_then(|(wait, _)| match wait {
            Wait::Call(what) => Some(what.to_string()),
            Wait::Io { .. } | Wait::Look => None,
        }),
        stopping: interrupt.raised().then(owed),
    }
}

fn draw(view: &Mutex<View>, over: &AtomicBool, interrupt: &Interrupt) {
    let began = Instant::now();
    while !over.load(Ordering::Relaxed) {
        let now = moment(began, interrupt);
        let lines = {
            let mut view = locked(view);
            view.tick(now);
            if view.has_begun() { view.lines(screen::width()) } else { Vec::new() }
        };
        screen::draw(lines);
        std::thread::park_timeout(FRAME);
    }
    screen::draw(Vec::new());
}

fn tell(view: &Mutex<View>, over: &AtomicBool, interrupt: &Interrupt) {
    let (began, mut last) = (Instant::now(), ToldMoment::default());
    loop {
        // The last moment is told, too.
        let ends = over.load(Ordering::Relaxed);
        let now = moment(began, interrupt);
        let told = {
            let mut view = locked(view);
            view.tick(now);
            view.has_begun().then(|| view.told())
        };
        if let Some(told) = told.filter(|told| *told != last) {
            told::tell(&Told::Moment(told.clone()), interrupt);
            last = told;
        }
        if ends {
            return;
        }
        std::thread::park_timeout(TOLD_EVERY);
    }
}
