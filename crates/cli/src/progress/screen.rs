//! Progress lines that are redrawn at the end of the terminal, and messages above them. Global state, since a process has
//! one terminal.

use crate::output;
use cardscope_model::untrusted_text;
use rustix::termios::tcgetwinsize;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Width of a terminal that does not report it.
const DEFAULT_WIDTH: usize = 80;

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());
static DRAWN: AtomicBool = AtomicBool::new(false);
static PAUSED: AtomicBool = AtomicBool::new(false);

/// Guard that suppresses drawing while a question is open.
pub(crate) struct PausedDisplay(());

/// Erases the lines and suppresses drawing until the guard is dropped.
pub(crate) fn pause_drawing() -> PausedDisplay {
    PAUSED.store(true, Ordering::Relaxed);
    let mut lines = lock_lines();
    write_stderr(&replacement(&lines, &[], ""));
    DRAWN.store(false, Ordering::Relaxed);
    lines.clear();
    PausedDisplay(())
}

impl Drop for PausedDisplay {
    fn drop(&mut self) {
        PAUSED.store(false, Ordering::Relaxed);
    }
}

fn lock_lines() -> MutexGuard<'static, Vec<String>> {
    LINES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// True if lines can be drawn: on a terminal that can move its cursor.
pub(super) fn can_draw() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// True if lines are drawn now. Takes no lock, so it never waits for the drawing thread.
pub(crate) fn is_drawn() -> bool {
    DRAWN.load(Ordering::Relaxed)
}

/// Width of a line. The last column stays free, because some terminals wrap after it.
pub(super) fn line_width() -> usize {
    let columns = tcgetwinsize(output::stderr()).map_or(0, |size| usize::from(size.ws_col));
    if columns == 0 { DEFAULT_WIDTH - 1 } else { columns - 1 }
}

/// Replaces the drawn lines; none erases them.
pub(super) fn draw_lines(new: Vec<String>) {
    let mut lines = lock_lines();
    // Checked under the lock, so that no line appears between the pause and the question.
    if *lines == new || PAUSED.load(Ordering::Relaxed) {
        return;
    }
    let drawn = replacement(&lines, &new, "");
    DRAWN.store(!new.is_empty(), Ordering::Relaxed);
    *lines = new;
    write_stderr(&drawn);
}

/// Prints a message above the drawn lines.
pub(crate) fn print_above(text: &str) {
    let lines = lock_lines();
    write_stderr(&replacement(&lines, &lines, &format!("{}\n", untrusted_text::escape_line(text))));
}

/// Terminal output that replaces `old` by `new`, with a text above.
fn replacement(old: &[String], new: &[String], above: &str) -> String {
    let mut out = String::new();
    if !old.is_empty() {
        out.push('\r');
        (1..old.len()).for_each(|_| out.push_str("\x1b[A"));
        // Erases down to the end of the screen, since old lines may be longer or more.
        out.push_str("\x1b[J");
    }
    let _ = write!(out, "{above}{}", new.join("\n"));
    out
}

/// Writes at once, so that no partial frame is visible.
fn write_stderr(text: &str) {
    let mut stderr = output::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

#[cfg(test)]
mod tests {
    use super::replacement;

    #[test]
    fn old_lines_are_erased_before_new_output() {
        let [one, three] = [1, 3].map(|n| vec!["line".to_owned(); n]);
        assert_eq!(replacement(&[], &one, ""), "line");
        assert_eq!(replacement(&three, &one, ""), "\r\x1b[A\x1b[A\x1b[Jline");
        assert_eq!(replacement(&one, &three, "said\n"), "\r\x1b[Jsaid\nline\nline\nline");
        assert_eq!(replacement(&one, &[], ""), "\r\x1b[J");
    }
}
