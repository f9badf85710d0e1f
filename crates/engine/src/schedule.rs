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
    let parameters = libc::sched_param { sched_priority: priority };
    // SAFETY: the call reads one sched_param, which outlives it; 0 stands for the calling thread.
    match unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) } {
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
