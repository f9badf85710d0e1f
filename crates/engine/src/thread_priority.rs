//! Scheduling policies of the calling thread (sched(7)) that keep latencies short; neither the standard library nor
//! rustix has a call for them. Threads started afterwards inherit them.

use std::io;

/// Runs the calling thread only on idle cores (`SCHED_IDLE`); any other thread preempts it at once.
pub fn run_when_idle() -> io::Result<()> {
    set_policy(libc::SCHED_IDLE, 0)
}

/// Runs the calling thread before all ordinary ones (`SCHED_RR`, lowest real-time priority). Needs root,
/// `CAP_SYS_NICE`, or a limit `RLIMIT_RTPRIO` above 0.
pub fn run_realtime() -> io::Result<()> {
    set_policy(libc::SCHED_RR, 1)
}

fn set_policy(policy: libc::c_int, priority: libc::c_int) -> io::Result<()> {
    // The system call itself, since musl's function always fails: POSIX means processes, not threads.
    let thread: libc::pid_t = 0;
    // SAFETY: the call reads one number, which outlives it; 0 means the calling thread.
    match unsafe { libc::syscall(libc::SYS_sched_setscheduler, thread, policy, &raw const priority) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn idle_policy_needs_no_privilege() {
        std::thread::spawn(|| super::run_when_idle().unwrap()).join().unwrap();
    }
}
