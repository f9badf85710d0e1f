//! A pass over the files of one folder: what writing and reading share, until when, and what was counted so far.

use super::meter::SpeedMeter;
use super::names::file_name;
use super::sorting::{FileOffset, SortedSectors};
use cardscope_engine::card::{IoDriver, ProbeStop};
use cardscope_engine::cause::ErrorCause;
use cardscope_engine::content::IoContent;
use cardscope_engine::content::h2w::FILE_BYTES;
use cardscope_engine::event::Listener;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::target::Target;
use cardscope_model::caveat::{self, Caveat};
use cardscope_model::progress::StagePlan;
use cardscope_model::report::IoTotals;
use cardscope_model::units::DecimalSize;
use cardscope_model::verify::FileResult;
use std::time::{Duration, Instant};

/// A folder on a mounted card, with its files by number: `1.h2w` is 1. Whoever implements it sees to it that no file of
/// the user's is written to or removed.
pub trait TestFolder {
    /// Makes a file, for `bytes` at most; `None` where there is no room for another one.
    ///
    /// # Errors
    /// If it cannot be made, or is there already.
    fn create(&mut self, number: u64, bytes: u64) -> Result<Option<Box<dyn Target>>, ErrorCause>;

    /// Ends the file that was made last: what a failed I/O may have left behind its first so many bytes is taken away.
    ///
    /// # Errors
    /// If it cannot be cut.
    fn finish(&mut self, bytes: u64) -> Result<(), ErrorCause>;

    /// Removes a file that this run made.
    ///
    /// # Errors
    /// If it would not go, or is another one by now.
    fn remove(&mut self, number: u64) -> Result<(), ErrorCause>;

    /// Opens a file for reading; one that this run made only while it is that very file.
    ///
    /// # Errors
    /// If it cannot be opened, or is another one.
    fn open(&self, number: u64) -> Result<Box<dyn Target>, ErrorCause>;

    /// Reads bytes of a file wherever they lie in it.
    ///
    /// # Errors
    /// As [`TestFolder::open`], and if they cannot be read.
    fn read_at(&self, number: u64, offset: u64, into: &mut [u8]) -> Result<(), ErrorCause>;

    /// Where on the card a byte of a file lies, where the file system tells.
    fn on_card(&self, number: u64, offset: u64) -> Option<u64>;
}

/// Why a pass ended before its end.
#[derive(Debug, Clone, thiserror::Error)]
pub enum FilesError {
    /// The card or its user stopped it.
    #[error(transparent)]
    Stop(#[from] ProbeStop),
    /// A file could not be made, opened or kept.
    #[error("{0}")]
    File(ErrorCause),
    /// The kernel gave the file system up while this file was written.
    #[error("the file system became read-only while {0} was written; see the kernel log (dmesg)")]
    ReadOnly(String),
}

impl From<ErrorCause> for FilesError {
    fn from(cause: ErrorCause) -> Self {
        FilesError::File(cause)
    }
}

/// A file by what it holds, and what is known of it.
#[derive(Debug, Clone)]
pub(super) struct TestedFile {
    /// The number whose content is expected; another than that of the name where a file was renamed.
    pub(super) content: u64,
    pub(super) result: FileResult,
}

impl TestedFile {
    /// One that holds its own content, of which nothing is known yet.
    pub(super) fn new(number: u64, bytes: u64) -> Self {
        let result = FileResult { name: file_name(number), number, bytes, ..FileResult::default() };
        TestedFile { content: number, result }
    }

    /// The part of the whole data that it holds.
    pub(super) fn range(&self) -> std::ops::Range<u64> {
        let start = (self.content - 1) * FILE_BYTES;
        start..start.saturating_add(self.result.bytes)
    }

    /// True while some of it is to be read; less than a sector at the end of an odd file never is.
    pub(super) fn is_unread(&self) -> bool {
        self.result.read_bytes + 512 <= self.result.bytes
    }

    pub(super) fn place(&self, offset_in_file: u64) -> FileOffset {
        FileOffset { number: self.result.number, content: self.content, offset_in_file }
    }

    /// What stands in it.
    pub(super) fn expected(&self) -> IoContent {
        IoContent::H2w { base: (self.content - 1) * FILE_BYTES }
    }
}

/// Of a budget, writing may take half: what is written must be read again, which is seldom slower.
const PARTS: u32 = 2;

/// When something has to be over: never, where there is no budget.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline(Option<Instant>);

impl Deadline {
    pub(super) fn is_over(self) -> bool {
        self.0.is_some_and(|end| Instant::now() >= end)
    }
}

/// A pass over the files of one folder.
pub struct FilesPass<'a, F> {
    /// The folder.
    pub folder: F,
    pub(super) interrupt: InterruptFlag,
    events: &'a mut dyn Listener,
    /// The files to read, and how far that is.
    pub(super) files: Vec<TestedFile>,
    /// Files with a name of the pattern that are none of it, each with the reason.
    pub(super) foreign: Vec<String>,
    pub(super) written: bool,
    pub(super) write_meter: SpeedMeter,
    pub(super) read_meter: SpeedMeter,
    pub(super) moved: IoTotals,
    pub(super) sorted: SortedSectors,
    /// Extents that gave another answer at the second look.
    pub(super) wavering: u64,
    /// In which period the card's addresses repeat, where they do.
    pub(super) wrap: Option<u64>,
    /// Bytes of writes that failed twice.
    pub(super) refused_bytes: u64,
    pub(super) caveats: Vec<Caveat>,
    pub(super) io_path: String,
    pub(super) begun: Instant,
    budget: Option<Duration>,
}

impl<'a, F: TestFolder> FilesPass<'a, F> {
    /// Nothing is done yet; `budget` is the time in which all must be over.
    pub fn new(
        folder: F,
        interrupt: &InterruptFlag,
        events: &'a mut dyn Listener,
        budget: Option<Duration>,
    ) -> Self {
        FilesPass {
            folder,
            interrupt: interrupt.clone(),
            events,
            files: Vec::new(),
            foreign: Vec::new(),
            written: false,
            write_meter: SpeedMeter::default(),
            read_meter: SpeedMeter::default(),
            moved: IoTotals { data_kept: true, ..IoTotals::default() },
            sorted: SortedSectors::default(),
            wavering: 0,
            wrap: None,
            refused_bytes: 0,
            caveats: Vec::new(),
            io_path: String::new(),
            begun: Instant::now(),
            budget,
        }
    }

    /// When writing has to be over.
    pub(super) fn end_of_writing(&self) -> Deadline {
        self.after(self.budget.map(|budget| budget / PARTS))
    }

    /// When all has to be over.
    pub(super) fn end(&self) -> Deadline {
        self.after(self.budget)
    }

    fn after(&self, time: Option<Duration>) -> Deadline {
        Deadline(time.and_then(|time| self.begun.checked_add(time)))
    }

    pub(super) fn stage(&mut self, what: &str, bytes: u64) {
        self.events.stage(what, Some(bytes), None);
    }

    /// What will be done.
    pub fn plan(&mut self, plan: StagePlan) {
        self.events.plan(plan);
    }

    /// Something worth saying at once.
    pub fn note(&mut self, text: &str) {
        self.events.note(text);
    }

    /// Something that the reader of the document must know too.
    pub fn doubt(&mut self, text: String) {
        self.note(&text);
        self.caveats.push(Caveat::Other { text });
    }

    /// The file system took less than it said was free.
    pub(super) fn note_full(&mut self, written: u64, promised: u64) {
        let lacking = promised.saturating_sub(written);
        // Tables of its own take some of what is free; more than this they do not.
        if lacking > (promised / 20).max(16 << 20) {
            self.doubt(format!(
                "could write only {} of the {} reported free: a quota, or another program used the space",
                DecimalSize(written),
                DecimalSize(promised)
            ));
        }
    }

    /// So many bytes were written to a file by then, seconds of its target's clock.
    pub(super) fn wrote(&mut self, clock: f64, bytes: u64) {
        self.write_meter.moved(clock, bytes);
        self.events.progress(self.write_meter.bytes());
    }

    pub(super) fn read(&mut self) {
        self.events.progress(self.read_meter.bytes());
    }

    /// Takes over what a file's target says of how its I/O went.
    pub(super) fn heard(&mut self, target: &dyn Target) {
        self.io_path = target.info().io_path.to_owned();
        caveat::add(&mut self.caveats, target.caveats());
    }

    /// Takes over the I/Os of a file, and those that failed.
    pub(super) fn count_failed(&mut self, card: &IoDriver<'_>) {
        self.moved.add_failed(card.counts(), card.io_errors());
    }
}
