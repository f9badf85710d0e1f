//! Ctrl-C, SIGTERM and SIGHUP raise one flag that every wait looks at. What follows, such as putting a card's data back,
//! is ended at once by a further Ctrl-C only, and only by one that was meant: half a second or more after the last.

use cardscope_workbench::Failure;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Keys bounce, and a shell and a terminal may both send one.
const MEANT_AFTER: Duration = Duration::from_millis(500);

const LAST_WORDS: &[u8] = b"\nended at once; what was overwritten on the card may wait in a journal: `cardscope restore` lists it, and `cardscope restore FILE TARGET` puts back an image of --backup\n";

/// Registers the flag.
///
/// # Errors
/// If the kernel refuses the handlers.
pub(crate) fn raise_on_signals(interrupt: &Arc<AtomicBool>) -> Result<(), Failure> {
    let refused = |e: std::io::Error| Failure::io(format!("signal handlers cannot be set: {e}"));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        flag::register(signal, Arc::clone(interrupt)).map_err(refused)?;
    }
    let signals = Signals::new([SIGINT]).map_err(refused)?;
    // A thread and not the handler itself, so that it may do what handlers may not.
    std::thread::Builder::new().name("ctrl-c".into()).spawn(move || watch(signals)).map_err(refused)?;
    Ok(())
}

fn watch(mut signals: Signals) {
    let mut last = None;
    for _ in signals.forever() {
        let now = Instant::now();
        if meant(last.replace(now), now) {
            // By a handle of its own: whoever holds the common one may be stuck.
            if let Ok(mut stderr) = std::fs::OpenOptions::new().append(true).open("/dev/stderr") {
                let _ = stderr.write_all(LAST_WORDS);
            }
            signal_hook::low_level::exit(130);
        }
    }
}

/// Whether a Ctrl-C after another one ends the program.
fn meant(last: Option<Instant>, now: Instant) -> bool {
    last.is_some_and(|last| now.duration_since(last) >= MEANT_AFTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_ctrl_c_counts_when_half_a_second_lies_between() {
        let start = Instant::now();
        let after = |ms| start + Duration::from_millis(ms);
        assert!(!meant(None, start), "the first one only asks");
        assert!(!meant(Some(start), after(499)));
        assert!(meant(Some(start), after(500)));
    }
}
