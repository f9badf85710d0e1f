//! The lines that are drawn anew at the end of a terminal, and what is said above them. One for the process, as there is
//! one terminal.

use crate::output;
use cardscope_model::outside;
use rustix::termios::tcgetwinsize;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Where a terminal does not say how wide it is.
const USUAL: usize = 80;

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());
static DRAWN: AtomicBool = AtomicBool::new(false);
static PAUSED: AtomicBool = AtomicBool::new(false);

/// While it lives nothing is drawn: somebody is asked something, and the question must stay.
pub(crate) struct PausedDisplay(());

/// Takes away what is drawn, until the answer is there.
pub(crate) fn pause() -> PausedDisplay {
    PAUSED.store(true, Ordering::Relaxed);
    let mut lines = lines();
    put(&over(&lines, &[], ""));
    DRAWN.store(false, Ordering::Relaxed);
    lines.clear();
    PausedDisplay(())
}

impl Drop for PausedDisplay {
    fn drop(&mut self) {
        PAUSED.store(false, Ordering::Relaxed);
    }
}

fn lines() -> MutexGuard<'static, Vec<String>> {
    LINES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether lines can be drawn: on a terminal that moves its cursor.
pub(super) fn is_there() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Whether lines stand there now; asked without waiting for whoever draws.
pub(crate) fn is_drawn() -> bool {
    DRAWN.load(Ordering::Relaxed)
}

/// Columns that a line may take: the last one stays free, where some terminals go on to the next line.
pub(super) fn width() -> usize {
    let columns = tcgetwinsize(output::stderr()).map_or(0, |size| usize::from(size.ws_col));
    if columns == 0 { USUAL - 1 } else { columns - 1 }
}

/// Draws lines instead of those that stand there; none takes them away.
pub(super) fn draw(new: Vec<String>) {
    let mut lines = lines();
    // Asked with the lock held: no line is drawn between the pause and the question.
    if *lines == new || PAUSED.load(Ordering::Relaxed) {
        return;
    }
    let drawn = over(&lines, &new, "");
    DRAWN.store(!new.is_empty(), Ordering::Relaxed);
    *lines = new;
    put(&drawn);
}

/// Says something, above what is drawn.
pub(crate) fn say(text: &str) {
    let lines = lines();
    put(&over(&lines, &lines, &format!("{}\n", outside::line(text))));
}

/// What makes `new` of `old`, with a text above.
fn over(old: &[String], new: &[String], above: &str) -> String {
    let mut out = String::new();
    if !old.is_empty() {
        out.push('\r');
        (1..old.len()).for_each(|_| out.push_str("\x1b[A"));
        // Line by line would leave what is longer, or more of them.
        out.push_str("\x1b[J");
    }
    let _ = write!(out, "{above}{}", new.join("\n"));
    out
}

/// In one go, so that no half of it is seen.
fn put(text: &str) {
    let mut stderr = output::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

#[cfg(test)]
mod tests {
    use super::over;

    #[test]
    fn what_stands_there_is_taken_away_before_anything_else_is_written() {
        let [one, three] = [1, 3].map(|n| vec!["line".to_owned(); n]);
        assert_eq!(over(&[], &one, ""), "line");
        assert_eq!(over(&three, &one, ""), "\r\x1b[A\x1b[A\x1b[Jline");
        assert_eq!(over(&one, &three, "said\n"), "\r\x1b[Jsaid\nline\nline\nline");
        assert_eq!(over(&one, &[], ""), "\r\x1b[J");
    }
}
