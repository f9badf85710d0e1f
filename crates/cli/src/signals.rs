//! Handles SIGINT, SIGTERM and SIGHUP. The first signal is answered within two seconds: the program ends, or reports the
//! work that it must finish, such as restoring a card's data. A second Ctrl-C, or the same signal again, at least half a
//! second later ends the program at once.

use crate::output;
use crate::progress::{self, screen};
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::pending::{PendingCleanup, PendingWait, longest_wait, pending_cleanups};
use cardscope_model::untrusted_text;
use cardscope_session::{Failure, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Minimum gap to a second signal: keys bounce, and the shell and the terminal may both send one.
const SECOND_SIGNAL_AFTER: Duration = Duration::from_millis(500);

/// Time for a verb to end by itself: two seconds minus a margin for printing on a busy machine.
const END_TIMEOUT: Duration = Duration::from_millis(1500);

/// Interval of polling for the end of pending work.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

static INTERRUPT: OnceLock<InterruptFlag> = OnceLock::new();

/// Installs the handlers. Must run before any verb.
pub(crate) fn install_handlers() -> Result<()> {
    let refused = |e: std::io::Error| Failure::io_for(format!("signal handlers cannot be set: {e}"), e);
    let interrupt = INTERRUPT.get_or_init(InterruptFlag::default);
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, interrupt.flag()).map_err(refused)?;
    }
    // A parent such as the server may have blocked the signals.
    InterruptFlag::unblock_signals().map_err(refused)?;
    let signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(refused)?;
    // Threads, because a handler may neither lock nor allocate.
    let thread = |name: &str| std::thread::Builder::new().name(name.into());
    thread("signals").spawn(move || handle_signals(signals)).map_err(refused)?;
    InterruptFlag::block_signals().map_err(refused)
}

/// Returns the flag that signals raise, for a verb that polls it and ends by itself.
pub(crate) fn shared_interrupt() -> InterruptFlag {
    output::set_interruptible();
    INTERRUPT.get_or_init(InterruptFlag::default).clone()
}

/// Waits for signals, and ends the program when one demands it.
fn handle_signals(mut signals: Signals) {
    let mut seen: Vec<(i32, Instant)> = Vec::new();
    for signal in signals.forever() {
        let now = Instant::now();
        if seen.is_empty() {
            let thread = std::thread::Builder::new().name("ending".into());
            if thread.spawn(end_when_idle).is_err() {
                // Without another thread nothing can wait, so pending work is announced and finishes by itself.
                let owed = pending_cleanups();
                if owed.is_empty() {
                    exit_interrupted("");
                }
                write_stderr(&waiting_message(longest_wait(), &owed));
            }
        } else if is_deliberate(&seen, signal, now) {
            exit_interrupted(&abort_message(&pending_cleanups()));
        }
        seen.push((signal, now));
    }
}

/// True if a later signal should end the program at once: Ctrl-C, or the same signal again. Closing terminals and
/// shutdowns send several different or repeated signals, which must not stop the restoring of a card.
fn is_deliberate(seen: &[(i32, Instant)], signal: i32, now: Instant) -> bool {
    let asked = |(before, at): &(i32, Instant)| {
        (signal == SIGINT || signal == *before && signal != SIGHUP)
            && now.duration_since(*at) >= SECOND_SIGNAL_AFTER
    };
    seen.iter().any(asked)
}

/// Ends the program once no work is pending and the verb had its time to end by itself. Reports pending work once.
fn end_when_idle() {
    let mut free_since = Instant::now();
    let (asked, mut said) = (Instant::now(), false);
    let pending = progress::pending_restore();
    // A drawn progress line shows the message in its next frame.
    if pending.bytes > 0 && !screen::is_drawn() {
        write_stderr(&progress::stop_message(&pending));
    }
    loop {
        let owed = pending_cleanups();
        if !owed.is_empty() {
            free_since = Instant::now();
        } else if free_since.elapsed() >= END_TIMEOUT || !output::is_interruptible() {
            exit_interrupted("interrupted\n");
        }
        if !said && !owed.is_empty() && asked.elapsed() >= END_TIMEOUT {
            said = true;
            write_stderr(&waiting_message(longest_wait(), &owed));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Message about the current wait, the pending work, and the effect of a second signal.
fn waiting_message(wait: Option<(PendingWait, Duration)>, owed: &[PendingCleanup]) -> String {
    let (then, left) = (distinct_texts(owed, |debt| &debt.planned).join(", and "), remaining_text(owed));
    let wait = wait.map_or_else(String::new, |(wait, since)| match since.as_secs_f64() {
        short if short < 1.0 => format!("waiting for {wait}; then "),
        long => format!("waiting for {wait}, which has hung for {long:.0} s; then "),
    });
    format!("interrupted: {wait}{then}. Press Ctrl-C again to stop at once{left}\n")
}

/// Final message before an immediate end.
fn abort_message(owed: &[PendingCleanup]) -> String {
    format!("ended at once{}\n", remaining_text(owed))
}

fn remaining_text(owed: &[PendingCleanup]) -> String {
    let left = distinct_texts(owed, |debt| &debt.leftover);
    if left.is_empty() { String::new() } else { format!(": {}", left.join("; ")) }
}

/// Distinct texts of the guards in the order of their end: a text shared by two guards holds until the later one ends.
fn distinct_texts(owed: &[PendingCleanup], words: fn(&PendingCleanup) -> &String) -> Vec<&str> {
    let said: Vec<&str> = owed.iter().map(|debt| words(debt).as_str()).collect();
    let comes_again = |at: usize| said[at + 1..].contains(&said[at]);
    (0..said.len()).filter(|at| !said[*at].is_empty() && !comes_again(*at)).map(|at| said[at]).collect()
}

fn exit_interrupted(words: &str) -> ! {
    write_stderr(words);
    signal_hook::low_level::exit(130)
}

/// Writes through a new non-blocking handle, since the holder of the lock on stderr, or its reader, may hang.
fn write_stderr(words: &str) {
    let mut open = std::fs::OpenOptions::new();
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let words = format!("\n{}\n", untrusted_text::escape_line(words.trim_end()));
    match open.append(true).custom_flags(flags).open("/dev/stderr") {
        Ok(mut stderr) => drop(stderr.write_all(words.as_bytes())),
        // Sockets and other users' terminals cannot be reopened.
        Err(_) if is_stderr_writable() => drop(rustix::io::write(output::stderr(), words.as_bytes())),
        Err(_) => {}
    }
}

/// True if a write to stderr would not block.
fn is_stderr_writable() -> bool {
    let stderr = output::stderr();
    let mut asked = [PollFd::new(&stderr, PollFlags::OUT)];
    poll(&mut asked, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_signal_counts_only_if_deliberate() {
        let start = Instant::now();
        let after = |ms| start + Duration::from_millis(ms);
        let first = |signal| vec![(signal, start)];
        assert!(!is_deliberate(&first(SIGINT), SIGINT, after(499)), "keys bounce");
        assert!(is_deliberate(&first(SIGINT), SIGINT, after(500)));
        assert!(
            is_deliberate(&first(SIGTERM), SIGTERM, after(500))
                && is_deliberate(&first(SIGTERM), SIGINT, after(500))
        );
        assert!(!is_deliberate(&first(SIGHUP), SIGHUP, after(9000)), "a terminal that closes sends several");
        assert!(
            !is_deliberate(&first(SIGINT), SIGTERM, after(9000))
                && !is_deliberate(&first(SIGINT), SIGHUP, after(9000))
        );
    }

    #[test]
    fn waiting_message_names_wait_next_step_and_remainder() {
        let owed = [
            PendingCleanup {
                planned: "the 69.1 MB saved are restored".into(),
                leftover: "the journal j keeps them".into(),
                restore_bytes: 69,
            },
            PendingCleanup {
                planned: "the results are stored in the archive".into(),
                ..PendingCleanup::default()
            },
        ];
        let wait = Some((PendingWait::Call("a flush of /dev/sdx".into()), Duration::from_secs(4)));
        assert_eq!(
            waiting_message(wait, &owed),
            "interrupted: waiting for a flush of /dev/sdx, which has hung for 4 s; then the 69.1 MB saved are restored, and \
             the results are stored in the archive. Press Ctrl-C again to stop at once: the journal j keeps them\n"
        );
        assert_eq!(
            waiting_message(None, &owed[1..]),
            "interrupted: the results are stored in the archive. Press Ctrl-C again to stop at once\n"
        );
        assert_eq!(abort_message(&owed), "ended at once: the journal j keeps them\n");
        // A verify within a check stores its results, and so does the check itself.
        let [restored, stored] = &owed;
        let of_a_check = [stored.clone(), restored.clone(), stored.clone()];
        assert_eq!(waiting_message(None, &of_a_check), waiting_message(None, &owed));
    }
}
