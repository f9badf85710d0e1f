//! What happens while a card is worked on, for progress lines and live pages.

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Something begins.
    Phase {
        /// What, in a few words: `run 2 of 10: RND4K Q32T1 read`.
        what: String,
        /// Bytes it will move, where that is what ends it.
        bytes: Option<u64>,
        /// Seconds it will take, where that is what ends it.
        seconds: Option<f64>,
    },
    /// How far it is.
    Progress {
        /// Bytes moved so far.
        bytes: u64,
        /// Seconds passed on the target's clock.
        seconds: f64,
    },
    /// A figure came out.
    Figure {
        /// Of what.
        what: String,
        /// Speed in MB/s.
        mb_s: f64,
        /// False for a loop that the recipe discards.
        counted: bool,
    },
    /// Something worth saying at once.
    Note(String),
}

/// Hears what happens: the one way in which probes, the runner and the verbs report.
pub trait Listener {
    /// Takes one event.
    fn event(&mut self, event: &Event);

    /// Something begins: what, in a few words, and what will end it, where that is known.
    fn phase(&mut self, what: &str, bytes: Option<u64>, seconds: Option<f64>) {
        self.event(&Event::Phase { what: what.to_owned(), bytes, seconds });
    }

    /// How far it is since the phase began; seconds of the target's clock.
    fn progress(&mut self, bytes: u64, seconds: f64) {
        self.event(&Event::Progress { bytes, seconds });
    }

    /// Something worth saying at once.
    fn note(&mut self, text: &str) {
        self.event(&Event::Note(text.to_owned()));
    }
}

/// Hears nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Listener for Silent {
    fn event(&mut self, _event: &Event) {}
}

/// Bytes after which progress is reported again.
const TELL_EVERY: u64 = 4 << 20;

/// How far a pass over some bytes is, reported not too often.
#[derive(Debug)]
pub struct Steps {
    began: f64,
    done: u64,
    reported: u64,
}

impl Steps {
    /// A pass over so many bytes begins, at `now` seconds of the target's clock.
    pub fn begin(what: &str, bytes: u64, now: f64, events: &mut dyn Listener) -> Self {
        events.phase(what, Some(bytes), None);
        Steps { began: now, done: 0, reported: 0 }
    }

    /// So many bytes more are done.
    pub fn done(&mut self, bytes: u64, now: f64, events: &mut dyn Listener) {
        self.done += bytes;
        if self.done >= self.reported + TELL_EVERY {
            self.reported = self.done;
            events.progress(self.done, now - self.began);
        }
    }
}
