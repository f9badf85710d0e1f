//! Waiting for a D-Bus answer with a time limit and an interrupt.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

pub(super) const CHECK_INTERVAL: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(super) enum WaitOutcome<T> {
    Answer(T),
    TooLong,
    Interrupted,
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future on this thread until it is ready, the time is over, or `given_up` returns true.
pub(super) fn wait_for<T>(
    answer: impl Future<Output = T>,
    patience: Duration,
    given_up: impl Fn() -> bool,
) -> WaitOutcome<T> {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut answer = pin!(answer);
    let began = Instant::now();
    loop {
        if let Poll::Ready(value) = answer.as_mut().poll(&mut context) {
            return WaitOutcome::Answer(value);
        }
        if given_up() {
            return WaitOutcome::Interrupted;
        }
        if began.elapsed() >= patience {
            return WaitOutcome::TooLong;
        }
        std::thread::park_timeout(CHECK_INTERVAL);
    }
}
