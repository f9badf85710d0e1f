//! Fills the free space of a mounted card with files identical to those of h2testw and f3write, reads them back and
//! classifies each sector; or reads files that exist already.
//!
//! Files are [targets](cardscope_engine::target::Target) that the caller opens ([`TestFolder`]), who also decides
//! what may be written and removed. Facts about the file system are passed in as plain data.

use crate::probe::Result;
use cardscope_engine::cause::ErrorCause;
use cardscope_engine::content::IoContent;
use cardscope_engine::content::h2w::FILE_BYTES;
use cardscope_engine::event::Listener;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::io_driver::{IoDriver, ProbeStop};
use cardscope_engine::target::Target;
use cardscope_model::caveat::{self, Caveat};
use cardscope_model::report::IoTotals;
use cardscope_model::units::DecimalSize;
use cardscope_model::verify::FileResult;
use sector_classes::{FileOffset, SortedSectors};
use speed_meter::SpeedMeter;
use std::time::{Duration, Instant};

mod existing_files;
mod file_names;
mod outcome;
mod reading;
mod sector_classes;
mod speed_meter;
mod writing;

pub use file_names::{NumberedFile, file_name, parse_number};
pub use sector_classes::holds_pattern;

pub const WRITING: &str = "writing files";

pub const READING: &str = "reading files";

/// Folder on a mounted card, with its files by number: `1.h2w` is 1. Implementations ensure that no file of the
/// user is written or removed.
pub trait TestFolder {
    /// Creates a file for at most `bytes`. Returns `None` if there is no room for another one, and an error if it
    /// exists.
    fn create(&mut self, number: u64, bytes: u64) -> Result<Option<Box<dyn Target>>, ErrorCause>;

    /// Completes the last created file: truncates what a failed I/O may have left after its first `bytes`.
    fn finish_file(&mut self, bytes: u64) -> Result<(), ErrorCause>;

    /// Removes a file that this run created, and fails if another file has its name now.
    fn remove(&mut self, number: u64) -> Result<(), ErrorCause>;

    /// Opens a file for reading. A file that this run created must still be the same one.
    fn open(&self, number: u64) -> Result<Box<dyn Target>, ErrorCause>;

    fn read_at(&self, number: u64, offset: u64, into: &mut [u8]) -> Result<(), ErrorCause>;

    /// Address on the card of a byte of a file, if the file system reports it.
    fn card_address(&self, number: u64, offset: u64) -> Option<u64>;
}

#[derive(Debug, Clone, thiserror::Error)]
pub enum FilesError {
    /// The card or the user stopped it.
    #[error(transparent)]
    Stop(#[from] ProbeStop),
    #[error("{0}")]
    File(ErrorCause),
    /// The kernel switched the file system to read-only while this file was written.
    #[error("the file system became read-only while {0} was written; see the kernel log (dmesg)")]
    ReadOnly(String),
}

impl From<ErrorCause> for FilesError {
    fn from(cause: ErrorCause) -> Self {
        FilesError::File(cause)
    }
}

/// File with its expected content and results.
#[derive(Debug, Clone)]
struct TestedFile {
    /// Number of the expected content. It differs from the name's if the file was renamed.
    content: u64,
    result: FileResult,
}

impl TestedFile {
    fn new(number: u64, bytes: u64) -> Self {
        let result = FileResult { name: file_name(number), number, bytes, ..FileResult::default() };
        TestedFile { content: number, result }
    }

    /// Part of the whole data that the file holds.
    fn range(&self) -> std::ops::Range<u64> {
        let start = (self.content - 1) * FILE_BYTES;
        start..start.saturating_add(self.result.bytes)
    }

    /// True while something is left to read. Less than a sector at the end of an odd file is never read.
    fn is_unread(&self) -> bool {
        self.result.read_bytes + 512 <= self.result.bytes
    }

    fn file_offset(&self, offset_in_file: u64) -> FileOffset {
        FileOffset { number: self.result.number, content: self.content, offset_in_file }
    }

    fn expected_content(&self) -> IoContent {
        IoContent::H2w { base: (self.content - 1) * FILE_BYTES }
    }
}

/// Writing gets half of the time budget, as reading the same data rarely takes longer.
const WRITE_BUDGET_DIVISOR: u32 = 2;

/// Latest end; None without a budget.
#[derive(Debug, Clone, Copy)]
struct Deadline(Option<Instant>);

impl Deadline {
    fn is_over(self) -> bool {
        self.0.is_some_and(|end| Instant::now() >= end)
    }
}

pub struct FilesPass<'a, F> {
    pub folder: F,
    interrupt: InterruptFlag,
    pub events: &'a mut dyn Listener,
    /// Files to read, with the progress of each.
    files: Vec<TestedFile>,
    /// Excluded files with the reason, although their names match.
    excluded_files: Vec<String>,
    written: bool,
    write_meter: SpeedMeter,
    read_meter: SpeedMeter,
    moved: IoTotals,
    sorted: SortedSectors,
    /// Extents that gave another answer when read again.
    changed_answers: u64,
    /// Distance in bytes at which the card's addresses repeat.
    wrap_bytes: Option<u64>,
    refused_bytes: u64,
    caveats: Vec<Caveat>,
    io_path: String,
    begun: Instant,
    budget: Option<Duration>,
}

impl<'a, F: TestFolder> FilesPass<'a, F> {
    /// Creates a pass; `budget` limits its whole duration.
    pub fn new(dir: F, flag: InterruptFlag, events: &'a mut dyn Listener, budget: Option<Duration>) -> Self {
        FilesPass {
            folder: dir,
            interrupt: flag,
            events,
            files: Vec::new(),
            excluded_files: Vec::new(),
            written: false,
            write_meter: SpeedMeter::default(),
            read_meter: SpeedMeter::default(),
            moved: IoTotals { data_kept: true, ..IoTotals::default() },
            sorted: SortedSectors::default(),
            changed_answers: 0,
            wrap_bytes: None,
            refused_bytes: 0,
            caveats: Vec::new(),
            io_path: String::new(),
            begun: Instant::now(),
            budget,
        }
    }

    fn write_deadline(&self) -> Deadline {
        self.deadline_after(self.budget.map(|budget| budget / WRITE_BUDGET_DIVISOR))
    }

    fn read_deadline(&self) -> Deadline {
        self.deadline_after(self.budget)
    }

    fn deadline_after(&self, time: Option<Duration>) -> Deadline {
        Deadline(time.and_then(|time| self.begun.checked_add(time)))
    }

    /// Notes a doubt and adds it to the document's caveats.
    pub fn add_caveat(&mut self, text: String) {
        self.events.report_note(&text);
        self.caveats.push(Caveat::Other { text });
    }

    /// Adds a caveat if the file system accepted much less than it reported as free.
    fn note_full(&mut self, written: u64, promised: u64) {
        let lacking = promised.saturating_sub(written);
        // File system metadata uses some of the free space, but not more than this.
        if lacking > (promised / 20).max(16 << 20) {
            let (written, free) = (DecimalSize(written), DecimalSize(promised));
            self.add_caveat(format!(
                "could write only {written} of the {free} reported free: a quota, or another program used the space"
            ));
        }
    }

    /// Counts bytes written by this time of the target's clock.
    fn count_written(&mut self, clock: f64, bytes: u64) {
        self.write_meter.add_bytes(clock, bytes);
        self.events.report_bytes(self.write_meter.bytes);
    }

    /// Takes over a target's I/O method and caveats.
    fn add_target_caveats(&mut self, target: &dyn Target) {
        self.io_path = target.info().io_path.to_owned();
        caveat::add_new_caveats(&mut self.caveats, target.caveats());
    }

    fn count_failed(&mut self, card: &IoDriver<'_>) {
        self.moved.add_failed(card.counts(), card.io_errors());
    }
}
