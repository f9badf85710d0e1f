//! How the kernel schedules the calling thread (sched(7)): the two policies that keep latencies short and for which
//! neither the standard library nor rustix has a call. Threads made afterwards by the same thread inherit them.

use std::io;

/// The calling thread runs only on a core that has nothing else to do (`SCHED_IDLE`); whatever wakes up there takes
/// the core at once.
pub fn run_last() -> io::Result<()> {
    policy(libc::SCHED_IDLE, 0)
}

/// The calling thread runs before all ordinary ones (`SCHED_RR`, lowest real-time priority).
///
/// # Errors
/// The kernel's refusal: it takes root, `CAP_SYS_NICE` or a limit `RLIMIT_RTPRIO` above 0.
pub fn run_first() -> io::Result<()> {
    policy(libc::SCHED_RR, 1)
}

fn policy(policy: libc::c_int, priority: libc::c_int) -> io::Result<()> {
    // The kernel's own call and struct (one number): musl has a function that does nothing but fail, since a thread is not
    // the process that POSIX means.
    let thread: libc::pid_t = 0;
    // SAFETY: the call reads one number, which outlives it; 0 stands for the calling thread.
    match unsafe { libc::syscall(libc::SYS_sched_setscheduler, thread, policy, &raw const priority) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn anybody_may_run_last() {
        std::thread::spawn(|| super::run_last().unwrap()).join().unwrap();
    }
}
