//! Holds answers back until their time: sleeps, then spins for the last stretch, because a sleep alone wakes up tens
//! of microseconds late. Cards answer in order, so one thread is enough for any number in flight.

use cardscope_engine::schedule;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The last stretch. Overshoot with it: median 0.1 µs, p99 2 µs (DESIGN, Baselines).
const SPIN: Duration = Duration::from_micros(60);

/// A wait so short that handing it to another thread would take a good part of it.
pub(super) const SHORT: Duration = Duration::from_micros(150);

/// How often a long wait looks whether all has ended.
const LOOK: Duration = Duration::from_millis(50);

/// What is done at its time; it is told whether it was waited for, or all ended before.
pub(super) type DelayedAnswer = Box<dyn FnOnce(bool) + Send>;

#[derive(Default)]
struct DelayQueue {
    waiting: Mutex<VecDeque<(Instant, DelayedAnswer)>>,
    changed: Condvar,
    /// Raised with the lock held.
    over: AtomicBool,
    /// One reader at most waits by itself; the others go on reading.
    inline: AtomicBool,
}

pub(super) struct AnswerDelay {
    queue: Arc<DelayQueue>,
    may_inline: bool,
    thread: Option<std::thread::JoinHandle<()>>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DelayOptions {
    /// Its thread runs before ordinary ones, where that is permitted.
    pub(super) first: bool,
    /// A caller with nothing before it waits for a short answer by itself. Others must be there to read requests.
    pub(super) inline: bool,
}

impl AnswerDelay {
    pub(super) fn start(how: DelayOptions) -> std::io::Result<Self> {
        let queue = Arc::new(DelayQueue::default());
        let theirs = Arc::clone(&queue);
        let thread = std::thread::Builder::new().name("card-delay".to_owned()).spawn(move || {
            hurry(how.first);
            theirs.run();
        })?;
        Ok(AnswerDelay { queue, may_inline: how.inline, thread: Some(thread) })
    }

    /// Gives the answer at `at`, but not before those handed in earlier.
    pub(super) fn answer(&self, at: Instant, answer: DelayedAnswer) {
        let mut waiting = self.queue.lock();
        let short = self.may_inline && waiting.is_empty() && at < Instant::now() + SHORT;
        if short && !self.queue.inline.swap(true, Ordering::Acquire) {
            drop(waiting);
            let waited = self.queue.wait_until(at);
            answer(waited);
            self.queue.inline.store(false, Ordering::Release);
            return;
        }
        waiting.push_back((at, answer));
        drop(waiting);
        self.queue.changed.notify_one();
    }
}

impl Drop for AnswerDelay {
    fn drop(&mut self) {
        let waiting = self.queue.lock();
        self.queue.over.store(true, Ordering::Relaxed);
        drop(waiting);
        self.queue.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl DelayQueue {
    /// A panic elsewhere leaves the queue as it was: each answer is either in it or out.
    fn lock(&self) -> MutexGuard<'_, VecDeque<(Instant, DelayedAnswer)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        while let Some((at, answer)) = self.next() {
            answer(self.wait_until(at));
        }
    }

    fn next(&self) -> Option<(Instant, DelayedAnswer)> {
        let mut waiting = self.lock();
        loop {
            if let Some(first) = waiting.pop_front() {
                return Some(first);
            }
            if self.over.load(Ordering::Relaxed) {
                return None;
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits; false as soon as all ends, since what still waits then is given at once.
    fn wait_until(&self, at: Instant) -> bool {
        loop {
            if self.over.load(Ordering::Relaxed) {
                return false;
            }
            let left = at.saturating_duration_since(Instant::now());
            if left <= SPIN {
                break;
            }
            std::thread::sleep((left - SPIN).min(LOOK));
        }
        while Instant::now() < at {
            std::hint::spin_loop();
        }
        true
    }
}

/// Makes the calling thread wake up on time: a sleep ends within a microsecond of its end instead of fifty, and with
/// `first` ordinary threads give way.
pub(super) fn hurry(first: bool) {
    // Both are wishes: without them answers are later, and the lag says so.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    if first {
        let _ = schedule::run_first();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn answers_come_in_order_and_never_early() {
        for inline in [false, true] {
            let delay = AnswerDelay::start(DelayOptions { first: false, inline }).unwrap();
            let (sender, receiver) = mpsc::channel();
            let start = Instant::now();
            for micros in [50u64, 5_000, 10_000, 20_000] {
                let sender = sender.clone();
                let at = start + Duration::from_micros(micros);
                delay.answer(at, Box::new(move |_| sender.send((micros, Instant::now())).unwrap()));
            }
            for micros in [50u64, 5_000, 10_000, 20_000] {
                let (which, when) = receiver.recv().unwrap();
                assert_eq!(which, micros);
                assert!(when - start >= Duration::from_micros(micros));
            }
        }
    }

    #[test]
    fn what_still_waits_at_the_end_is_given_at_once() {
        let (sender, receiver) = mpsc::channel();
        let delay = AnswerDelay::start(DelayOptions::default()).unwrap();
        let start = Instant::now();
        for _ in 0..2 {
            let sender = sender.clone();
            delay.answer(start + Duration::from_secs(30), Box::new(move |_| sender.send(()).unwrap()));
        }
        drop(delay);
        assert_eq!(receiver.try_iter().count(), 2);
        assert!(start.elapsed() < Duration::from_secs(1));
    }
}
