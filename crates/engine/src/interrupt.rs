//! Interrupt flag raised by Ctrl-C. Every wait checks it.

use std::io;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Shared flag that is never lowered.
#[derive(Debug, Clone, Default)]
pub struct InterruptFlag(Arc<AtomicBool>);

impl InterruptFlag {
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Blocks SIGINT, SIGTERM and SIGHUP in this thread and in those that it starts from now on. The kernel may deliver
    /// a signal to any thread that accepts it, and one that hangs with a card would never act on it.
    pub fn block_signals() -> io::Result<()> {
        set_signal_mask(libc::SIG_BLOCK)
    }

    /// Unblocks these signals. Child processes inherit the mask of the thread that starts them, and could not be
    /// stopped otherwise.
    pub fn unblock_signals() -> io::Result<()> {
        set_signal_mask(libc::SIG_UNBLOCK)
    }

    /// The flag itself, for signal handlers.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}

fn set_signal_mask(how: i32) -> io::Result<()> {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `sigemptyset` initializes the set, which outlives all calls; the old mask is not requested.
    let refused = unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        libc::pthread_sigmask(how, set.as_ptr(), std::ptr::null_mut())
    };
    if refused == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(refused)) }
}
