//! Asking at the terminal before data is lost.

use cardscope_workbench::bench::Interrupt;
use cardscope_workbench::consent::{Beforehand, Consent, Question};
use std::io::{BufRead, IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Asks on the terminal, unless consent was given beforehand.
pub(crate) struct AtTerminal {
    /// What was given beforehand.
    pub(crate) given: Option<String>,
    /// Ends the wait for an answer.
    pub(crate) interrupt: Interrupt,
}

impl Consent for AtTerminal {
    fn ask(&mut self, question: &Question) -> Option<String> {
        if self.given.is_some() || !std::io::stdin().is_terminal() {
            return Beforehand(self.given.clone()).ask(question);
        }
        let Question { target, at_stake } = question;
        let mut err = std::io::stderr();
        let _ = write!(err, "This overwrites data on {at_stake}.\nType {target} to go on: ");
        let _ = err.flush();
        let answer = typed(&self.interrupt)?;
        Some(answer.trim_end_matches(['\n', '\r']).to_owned())
    }
}

/// A line typed; `None` after Ctrl-C. Read on a thread of its own, because a read goes on after a signal.
fn typed(interrupt: &Interrupt) -> Option<String> {
    let (hand_over, lines) = channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = std::io::stdin().lock().read_line(&mut line);
        let _ = hand_over.send(read.ok().map(|_| line));
    });
    while !interrupt.raised() {
        match lines.recv_timeout(Duration::from_millis(50)) {
            Ok(line) => return line,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
    None
}
