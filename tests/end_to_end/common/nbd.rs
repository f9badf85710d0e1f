//! Simulated cards served over NBD by `cardscope sim serve`.

use super::binary::{Home, Outcome, Running};
use super::until;
use rustix::process::Signal;
use std::time::Duration;

/// Running NBD server.
pub(crate) struct Nbd {
    pub(crate) running: Option<Running>,
    /// Lines that the server printed.
    pub(crate) said: Vec<String>,
}

impl Nbd {
    #[track_caller]
    pub(crate) fn start(home: &Home, names: &[&str], address: &str, options: &[&str]) -> Nbd {
        let mut running = home.start(&[&["sim", "serve"], names, &["--nbd", address], options].concat());
        running.wait_for("is nbd");
        // The lines of all cards are printed together, but may arrive in parts.
        let lines = |running: &Running| running.noted().lines().filter(|l| l.contains(" is nbd")).count();
        until("all cards' addresses", || lines(&running) == names.len());
        let said = running.noted().lines().map(str::to_owned).collect();
        Nbd { running: Some(running), said }
    }

    /// URI of a card for clients.
    pub(crate) fn uri(&self, card: usize) -> &str {
        let line = self.said.iter().filter(|l| l.contains(" is nbd")).nth(card).unwrap();
        line.split_once(" is ").unwrap().1
    }

    /// `host:port`.
    pub(crate) fn host(&self) -> &str {
        self.uri(0).strip_prefix("nbd://").and_then(|u| u.split('/').next()).unwrap()
    }

    #[track_caller]
    pub(crate) fn stop(mut self) -> Outcome {
        let running = self.running.take().unwrap();
        running.signal(Signal::TERM);
        running.finish_within(Duration::from_secs(20))
    }
}
