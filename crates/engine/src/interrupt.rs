//! The one flag that Ctrl-C raises. Every wait looks at it, so that no phase of a test outlives it.

use std::io;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Shared flag: raised once, never lowered.
#[derive(Debug, Clone, Default)]
pub struct InterruptFlag(Arc<AtomicBool>);

impl InterruptFlag {
    /// True once somebody asked to stop.
    pub fn raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Asks everybody to stop.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Keeps SIGINT, SIGTERM and SIGHUP from this thread and from those that it starts from now on. The kernel hands a
    /// signal to the first thread that takes it, and one that waits for a card that hangs takes it and never acts on it.
    pub fn keep_signals_from_this_thread() -> io::Result<()> {
        mask(libc::SIG_BLOCK)
    }

    /// Lets them in, for this thread and those that it starts from now on: a program inherits what the thread that started it
    /// kept out, and could not be asked to stop.
    pub fn let_signals_in() -> io::Result<()> {
        mask(libc::SIG_UNBLOCK)
    }

    /// The flag itself, for a signal handler.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}

/// Keeps the signals that ask to stop from this thread, or lets them in.
fn mask(how: i32) -> io::Result<()> {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `sigemptyset` makes the set, which lives until the last call is over; the old mask is not asked for.
    let refused = unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        libc::pthread_sigmask(how, set.as_ptr(), std::ptr::null_mut())
    };
    if refused == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(refused)) }
}
