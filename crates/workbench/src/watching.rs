//! A probe's progress as events.

use crate::event::{Event, Listener};
use cardscope_probe::watch::Watch;

/// Hands what a probe says to a listener.
pub(crate) struct Watching<'a>(pub(crate) &'a mut dyn Listener);

impl Watch for Watching<'_> {
    fn phase(&mut self, what: &str, bytes: Option<u64>, seconds: Option<f64>) {
        self.0.event(&Event::Phase { what: what.to_owned(), bytes, seconds });
    }

    fn progress(&mut self, bytes: u64, seconds: f64) {
        self.0.event(&Event::Progress { bytes, seconds });
    }

    fn note(&mut self, text: &str) {
        self.0.event(&Event::Note(text.to_owned()));
    }
}
