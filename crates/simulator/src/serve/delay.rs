//! Holds answers back until their time: sleeps, then spins for the last stretch, because a sleep alone wakes up tens
//! of microseconds late. Cards answer in order, so one thread is enough for any number in flight.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The last stretch. Overshoot with it: median 0.1 µs, p99 2 µs (DESIGN, Baselines).
const SPIN: Duration = Duration::from_micros(60);

type Answer = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Queue {
    waiting: Mutex<(VecDeque<(Instant, Answer)>, bool)>,
    changed: Condvar,
    in_flight: AtomicU32,
}

/// Gives answers at their times, in order.
pub(super) struct Delay {
    queue: Arc<Queue>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Delay {
    pub(super) fn start() -> std::io::Result<Self> {
        let queue = Arc::new(Queue::default());
        let theirs = Arc::clone(&queue);
        let thread = std::thread::Builder::new().name("card-delay".to_owned()).spawn(move || theirs.run())?;
        Ok(Delay { queue, thread: Some(thread) })
    }

    /// Answers that are waiting.
    pub(super) fn in_flight(&self) -> u32 {
        self.queue.in_flight.load(Ordering::Relaxed)
    }

    /// Gives the answer at `at`, but not before those handed in earlier.
    pub(super) fn answer(&self, at: Instant, answer: Answer) {
        self.queue.in_flight.fetch_add(1, Ordering::Relaxed);
        self.queue.lock().0.push_back((at, answer));
        self.queue.changed.notify_one();
    }
}

impl Drop for Delay {
    fn drop(&mut self) {
        self.queue.lock().1 = true;
        self.queue.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Queue {
    /// A panic elsewhere leaves the queue as it was: each answer is either in it or out.
    fn lock(&self) -> MutexGuard<'_, (VecDeque<(Instant, Answer)>, bool)> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        while let Some((at, answer)) = self.next() {
            wait_until(at);
            self.in_flight.fetch_sub(1, Ordering::Relaxed);
            answer();
        }
    }

    /// The next answer; what still waits when all ends is given at once.
    fn next(&self) -> Option<(Instant, Answer)> {
        let mut waiting = self.lock();
        loop {
            if let Some((at, answer)) = waiting.0.pop_front() {
                let at = if waiting.1 { Instant::now() } else { at };
                return Some((at, answer));
            }
            if waiting.1 {
                return None;
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn wait_until(at: Instant) {
    let left = at.saturating_duration_since(Instant::now());
    if left > SPIN {
        std::thread::sleep(left - SPIN);
    }
    while Instant::now() < at {
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn answers_come_in_order_and_never_early() {
        let delay = Delay::start().unwrap();
        let (sender, receiver) = mpsc::channel();
        let start = Instant::now();
        for ms in [5u64, 10, 20] {
            let sender = sender.clone();
            delay.answer(start + Duration::from_millis(ms), Box::new(move || sender.send(ms).unwrap()));
        }
        for ms in [5u64, 10, 20] {
            assert_eq!(receiver.recv().unwrap(), ms);
            assert!(start.elapsed() >= Duration::from_millis(ms));
        }
        assert_eq!(delay.in_flight(), 0);
    }

    #[test]
    fn what_still_waits_at_the_end_is_given_at_once() {
        let (sender, receiver) = mpsc::channel();
        let delay = Delay::start().unwrap();
        let start = Instant::now();
        for _ in 0..2 {
            let sender = sender.clone();
            delay.answer(start + Duration::from_millis(300), Box::new(move || sender.send(()).unwrap()));
        }
        drop(delay);
        assert_eq!(receiver.try_iter().count(), 2);
        assert!(start.elapsed() < Duration::from_secs(1));
    }
}
