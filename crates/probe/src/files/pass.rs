//! What writing and reading share: where, with which options, until when, and what was counted so far.

use super::meter::Meter;
use super::sorting::Sorted;
use cardscope_engine::event::{Event, Listener};
use cardscope_engine::interrupt::Interrupt;
use cardscope_engine::target::Target;
use cardscope_model::caveat::{self, Caveat};
use cardscope_model::units::Capacity;
use cardscope_model::verify::{FileResult, IoError};
use std::time::{Duration, Instant};

/// Of a budget, writing may take this share: what is written must be read again, which is seldom slower.
const SHARE_OF_WRITING: f64 = 0.5;

/// So many failed I/Os are kept in the document.
const MOST_TROUBLES: usize = 100;

/// A run over the files of one folder.
pub(super) struct Pass<'a, F> {
    /// Where the files lie.
    pub(super) folder: F,
    pub(super) interrupt: Interrupt,
    pub(super) listener: &'a mut dyn Listener,
    pub(super) written: Vec<FileResult>,
    pub(super) write_meter: Meter,
    pub(super) read_meter: Meter,
    pub(super) bytes_written: u64,
    pub(super) bytes_read: u64,
    pub(super) sorted: Sorted,
    pub(super) failed: Vec<IoError>,
    /// Bytes of writes that failed twice.
    pub(super) refused_bytes: u64,
    pub(super) caveats: Vec<Caveat>,
    pub(super) io_path: String,
    begun: Instant,
    budget: Option<Duration>,
}

impl<'a, F> Pass<'a, F> {
    pub(super) fn new(
        folder: F,
        interrupt: &Interrupt,
        listener: &'a mut dyn Listener,
        budget: Option<Duration>,
    ) -> Self {
        Pass {
            folder,
            interrupt: interrupt.clone(),
            listener,
            written: Vec::new(),
            write_meter: Meter::default(),
            read_meter: Meter::default(),
            bytes_written: 0,
            bytes_read: 0,
            sorted: Sorted::default(),
            failed: Vec::new(),
            refused_bytes: 0,
            caveats: Vec::new(),
            io_path: String::new(),
            begun: Instant::now(),
            budget,
        }
    }

    /// Seconds since the start.
    pub(super) fn seconds(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    pub(super) fn writing_is_over(&self) -> bool {
        self.budget.is_some_and(|budget| self.begun.elapsed() >= budget.mul_f64(SHARE_OF_WRITING))
    }

    pub(super) fn is_over(&self) -> bool {
        self.budget.is_some_and(|budget| self.begun.elapsed() >= budget)
    }

    pub(super) fn phase(&mut self, what: &str, bytes: u64) {
        self.listener.event(&Event::Phase { what: what.to_owned(), bytes: Some(bytes), seconds: None });
    }

    pub(super) fn note(&mut self, text: String) {
        self.listener.note(&text);
    }

    /// Something that the reader of the document must know too.
    pub(super) fn doubt(&mut self, text: String) {
        self.note(text.clone());
        self.caveats.push(Caveat::Other { text });
    }

    /// The file system took less than it said was free.
    pub(super) fn note_full(&mut self, written: u64, promised: u64) {
        let lacking = promised.saturating_sub(written);
        // Tables of its own take some of what is free; more than this they do not.
        if lacking > (promised / 20).max(16 << 20) {
            self.doubt(format!(
                "no more could be written after {} of the {} that are said to be free: a quota, or another program took the room",
                Capacity(written),
                Capacity(promised)
            ));
        }
    }

    pub(super) fn wrote(&mut self) {
        let (bytes, seconds) = (self.write_meter.bytes(), self.write_meter.seconds());
        self.listener.event(&Event::Progress { bytes, seconds });
    }

    pub(super) fn read(&mut self) {
        let (bytes, seconds) = (self.read_meter.bytes(), self.read_meter.seconds());
        self.listener.event(&Event::Progress { bytes, seconds });
    }

    /// Takes over what a file's target says of how its I/O went.
    pub(super) fn heard(&mut self, target: &dyn Target) {
        self.io_path = target.info().io_path.to_owned();
        caveat::add(&mut self.caveats, target.caveats());
    }

    pub(super) fn io_errors(&mut self, io_errors: impl IntoIterator<Item = IoError>) {
        let room = MOST_TROUBLES.saturating_sub(self.failed.len());
        self.failed.extend(io_errors.into_iter().take(room));
    }
}
