//! Delays answers until they are due: sleeps, then spins at the end, since a sleep alone ends tens of microseconds
//! late. Cards answer in order, so one thread is enough for any number in flight.

use cardscope_engine::thread_priority;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Time of spinning. Answers are then late by 0.1 µs (median) to 2 µs (p99), as measured on a development machine.
const SPIN_TIME: Duration = Duration::from_micros(60);

/// Waits below this are not handed to another thread, which would take a good part of them.
pub(super) const SHORT_WAIT: Duration = Duration::from_micros(150);

/// Interval at which a long wait checks for the end of serving.
const END_CHECK: Duration = Duration::from_millis(50);

/// Gives an answer. The argument is false if serving ended before it was due.
pub(super) type DelayedAnswer = Box<dyn FnOnce(bool) + Send>;

#[derive(Default)]
struct DelayQueue {
    waiting: Mutex<VecDeque<(Instant, DelayedAnswer)>>,
    changed: Condvar,
    /// Set only with the lock held, so that a waiting thread cannot miss it.
    is_over: AtomicBool,
    /// True while a reader of requests waits itself; only one may, so that others continue to read.
    inline_busy: AtomicBool,
}

pub(super) struct AnswerDelay {
    queue: Arc<DelayQueue>,
    may_inline: bool,
    thread: Option<std::thread::JoinHandle<()>>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DelayOptions {
    /// Run the thread at real-time priority, if permitted.
    pub(super) real_time: bool,
    /// Let a reader of requests wait for a short answer itself, if none is queued. Needs a second reader.
    pub(super) wait_inline: bool,
}

impl AnswerDelay {
    pub(super) fn start(how: DelayOptions) -> std::io::Result<Self> {
        let queue = Arc::new(DelayQueue::default());
        let theirs = Arc::clone(&queue);
        let thread = std::thread::Builder::new().name("card-delay".to_owned()).spawn(move || {
            set_precise_wakeups(how.real_time);
            while let Some((at, answer)) = theirs.next_answer() {
                answer(theirs.wait_until(at));
            }
        })?;
        Ok(AnswerDelay { queue, may_inline: how.wait_inline, thread: Some(thread) })
    }

    /// Gives an answer at `at`, but not before earlier ones.
    pub(super) fn answer_at(&self, at: Instant, answer: DelayedAnswer) {
        let mut waiting = self.queue.lock();
        let short = self.may_inline && waiting.is_empty() && at < Instant::now() + SHORT_WAIT;
        if short && !self.queue.inline_busy.swap(true, Ordering::Acquire) {
            drop(waiting);
            answer(self.queue.wait_until(at));
            self.queue.inline_busy.store(false, Ordering::Release);
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
        self.queue.is_over.store(true, Ordering::Relaxed);
        drop(waiting);
        self.queue.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl DelayQueue {
    /// Ignores poisoning: a panic leaves each answer either in the queue or out of it.
    fn lock(&self) -> MutexGuard<'_, VecDeque<(Instant, DelayedAnswer)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_answer(&self) -> Option<(Instant, DelayedAnswer)> {
        let idle = |waiting: &mut VecDeque<_>| waiting.is_empty() && !self.is_over.load(Ordering::Relaxed);
        self.changed.wait_while(self.lock(), idle).unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    /// Waits until `at`. Returns false as soon as serving ends: answers still waiting are given at once.
    fn wait_until(&self, at: Instant) -> bool {
        while !self.is_over.load(Ordering::Relaxed) {
            let pause = at.saturating_duration_since(Instant::now()).saturating_sub(SPIN_TIME);
            if pause.is_zero() {
                while Instant::now() < at {
                    std::hint::spin_loop();
                }
                return true;
            }
            std::thread::sleep(pause.min(END_CHECK));
        }
        false
    }
}

/// Makes the calling thread wake up on time: a sleep ends within a microsecond instead of fifty, and with `first`
/// ordinary threads give way.
pub(super) fn set_precise_wakeups(first: bool) {
    // Neither is essential: without them answers are later, which the measured lag shows.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    if first {
        let _ = thread_priority::run_realtime();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn answers_come_in_order_and_never_early() {
        for inline in [false, true] {
            let delay = AnswerDelay::start(DelayOptions { real_time: false, wait_inline: inline }).unwrap();
            let (sender, receiver) = mpsc::channel();
            let start = Instant::now();
            for micros in [50u64, 5_000, 10_000, 20_000] {
                let sender = sender.clone();
                let at = start + Duration::from_micros(micros);
                delay.answer_at(at, Box::new(move |_| sender.send((micros, Instant::now())).unwrap()));
            }
            for micros in [50u64, 5_000, 10_000, 20_000] {
                let (which, when) = receiver.recv().unwrap();
                assert_eq!(which, micros);
                assert!(when - start >= Duration::from_micros(micros));
            }
        }
    }

    #[test]
    fn waiting_answers_are_given_at_drop() {
        let (sender, receiver) = mpsc::channel();
        let delay = AnswerDelay::start(DelayOptions::default()).unwrap();
        let start = Instant::now();
        for _ in 0..2 {
            let sender = sender.clone();
            delay.answer_at(start + Duration::from_secs(30), Box::new(move |_| sender.send(()).unwrap()));
        }
        drop(delay);
        assert_eq!(receiver.try_iter().count(), 2);
        assert!(start.elapsed() < Duration::from_secs(1));
    }
}
