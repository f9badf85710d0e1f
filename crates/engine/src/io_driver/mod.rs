//! Driver of a target for probes: reads and writes extents with a queue, retries each failed I/O once and records it,
//! counts every byte and error.
//!
//! Memory is `depth` × `block` bytes, whatever the size of the card.

mod costs;
mod extent;
mod timing;

use crate::content::{ContentMatch, IoContent};
use crate::interrupt::InterruptFlag;
use crate::io_counters;
use crate::journal::JournalError;
use crate::target::{
    IoCompletion, IoDirection, IoRequest, LanePlan, Target, TargetError, TargetRegion, TargetResult,
};
use cardscope_model::recipe::KernelPath;
use cardscope_model::suspect_reader::SuspectReader;
use cardscope_model::units::{Nanos, nanos_to_seconds, seconds_to_nanos};
pub use cardscope_model::verify::IoError;
use cardscope_model::verify::{IoCounts, list_failed};
pub use costs::IoCosts;
pub use extent::{CardExtent, ReadAnswer, split_extents};
use extent::{EndedIo, InFlight, compare_bytes};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IoTally {
    /// Without restored data.
    pub written: u64,
    /// Original data written back.
    pub restored: u64,
    pub read: u64,
}

/// Target with its queue, limits and counters. Methods return a [`ProbeStop`] if the card is gone or cannot be driven, the
/// user asked to stop, or the caller's closure returns one; a failing I/O is counted instead.
pub struct IoDriver<'t> {
    target: &'t mut dyn Target,
    interrupt: InterruptFlag,
    block: u32,
    depth: u32,
    tally: IoTally,
    counts: IoCounts,
    /// The first thousand errors; all are counted in `counts`.
    io_errors: Vec<IoError>,
    done: Vec<IoCompletion>,
    costs: IoCosts,
    /// Consecutive timed I/Os that failed twice.
    failed_in_a_row: u32,
    /// Time of the card's clock after which no I/O begins.
    deadline: Option<Nanos>,
    clock: io_counters::ClockReading,
}

type FailedIo = (CardExtent, IoError);
/// Error of an I/O that failed.
type IoOutcome = Option<IoError>;

/// At deeper queues a card divides its time between I/Os, so single latencies say little about its cost per I/O.
const MAX_TIMED_DEPTH: u32 = 2;

const MAX_LISTED_ERRORS: usize = 1000;

/// Multi-sector reads that include the last sectors fail in some USB readers (the kernel's `last_sector_bug` quirk), so
/// they are retried sector by sector.
const LAST_SECTORS: u64 = 8;

/// Some readers fail only long requests, so an extent that failed twice is tried in parts of this many bytes, each of
/// them several times.
const RETRY_PART_BYTES: u32 = 4096;
const RETRY_PART_TRIES: u32 = 3;

impl<'t> IoDriver<'t> {
    /// Prepares a target for I/Os of up to `block` bytes, `depth` at a time.
    pub fn new(card: &'t mut dyn Target, stop: &InterruptFlag, block: u32, depth: u32) -> ProbeResult<Self> {
        let clock = io_counters::ClockReading::new(card.now());
        let mut driver = IoDriver {
            target: card,
            interrupt: stop.clone(),
            block,
            depth,
            tally: IoTally::default(),
            counts: IoCounts::default(),
            io_errors: Vec::new(),
            done: Vec::new(),
            costs: IoCosts::default(),
            failed_in_a_row: 0,
            deadline: None,
            clock,
        };
        driver.plan_lane()?;
        Ok(driver)
    }

    fn plan_lane(&mut self) -> ProbeResult {
        let plan = LanePlan {
            depth: self.depth,
            block: u64::from(self.block),
            path: KernelPath::Direct,
            sync_each: false,
            own_buffers: true,
        };
        Ok(self.target.plan(&plan)?)
    }

    pub fn bytes(&self) -> u64 {
        self.target.info().bytes
    }

    /// Smallest unit of I/O in bytes.
    pub fn sector(&self) -> u32 {
        self.target.info().sector
    }

    pub fn block(&self) -> u32 {
        self.block
    }

    pub fn depth(&self) -> u32 {
        self.depth
    }

    pub fn seconds(&mut self) -> f64 {
        nanos_to_seconds(self.now())
    }

    pub fn now(&mut self) -> Nanos {
        let now = self.target.now();
        self.clock.advance_to(now);
        now
    }

    pub fn tally(&self) -> IoTally {
        self.tally
    }

    /// The first thousand I/O errors.
    pub fn io_errors(&self) -> &[IoError] {
        &self.io_errors
    }

    pub fn counts(&self) -> IoCounts {
        self.counts
    }

    pub fn costs(&self) -> &IoCosts {
        &self.costs
    }

    /// Sets the time of the card's clock after which no I/O begins; a queue that reaches it ends with [`ProbeStop::Limit`].
    pub fn set_deadline(&mut self, end: Option<Nanos>) {
        self.deadline = end;
    }

    /// True if the deadline lies less than `later` ahead.
    fn is_past_deadline(&mut self, later: Nanos) -> bool {
        self.deadline.is_some_and(|end| self.now().saturating_add(later) > end)
    }

    /// Returns an error once the user asked to stop; for loops over single I/Os.
    pub fn check_interrupt(&self) -> ProbeResult {
        if self.interrupt.is_raised() { Err(ProbeStop::Interrupted) } else { Ok(()) }
    }

    /// Flushes the card's cache. A failed flush counts as an I/O error and is retried once.
    pub fn flush(&mut self) -> ProbeResult {
        let began = self.now();
        let flushed = self.target.flush();
        let took = self.now().saturating_sub(began);
        self.costs.add_flush(nanos_to_seconds(took));
        let Err(error) = flushed else { return Ok(()) };
        let first = to_io_error(error)?;
        let again = self.target.flush().err().map(to_io_error).transpose()?;
        self.record_retry(first, again);
        Ok(())
    }

    /// Closes and reopens the card, to drop the caches of the host.
    pub fn reopen(&mut self) -> ProbeResult {
        self.target.reopen()?;
        self.plan_lane()
    }

    pub fn idle(&mut self, time: std::time::Duration) {
        self.target.idle(time);
        self.now();
    }

    /// Discards a range; false if the card does not support it.
    pub fn discard(&mut self, start: u64, len: u64) -> ProbeResult<bool> {
        match self.target.discard(TargetRegion { start, len }) {
            Ok(()) => Ok(true),
            Err(error) if error.is_final() => Err(error.into()),
            Err(_) => Ok(false),
        }
    }

    /// Writes extents in order. `each` gets every extent when its write ends, with the time and the error if it failed
    /// twice; retried ones come last. After an early end, writes in flight may or may not be on the card.
    pub fn write(
        &mut self,
        extents: impl IntoIterator<Item = CardExtent>,
        content: IoContent,
        mut each: impl FnMut(CardExtent, Nanos, Option<&IoError>),
    ) -> ProbeResult {
        let (mut extents, mut failed) = (extents.into_iter().fuse(), Vec::new());
        let mut next = |_: &mut Self| extents.next();
        let mut answer = |card: &mut Self, _, extent: CardExtent, at, error| {
            match error {
                Some(error) => failed.push((extent, error)),
                None => {
                    card.tally.written += u64::from(extent.len);
                    each(extent, at, None);
                }
            }
            Ok(())
        };
        let driven = self.drive_queue(IoDirection::Write, content, &mut next, &mut answer);
        for (extent, first) in self.failures_to_retry(failed, &driven) {
            self.tally.written += u64::from(extent.len);
            let io_error = self.retry_write(&extent.request(0, IoDirection::Write, content), first)?;
            each(extent, self.target.now(), io_error.as_ref());
        }
        driven
    }

    /// Returns the failed I/Os to retry: also after the deadline, since the retries are evidence. If the card is gone
    /// or the user asked to stop, they are counted only.
    fn failures_to_retry(&mut self, failed: Vec<FailedIo>, driven: &ProbeResult) -> Vec<FailedIo> {
        if matches!(driven, Ok(()) | Err(ProbeStop::Limit)) && !self.interrupt.is_raised() {
            return failed;
        }
        self.counts.failed_once += failed.len() as u64;
        Vec::new()
    }

    /// Reads extents in order and compares each with the expected content. [`IoContent::Buffer`] expects nothing: every
    /// answer is [`ReadAnswer::Differs`] at 0, with the bytes. `each` gets every extent when its read ends; retried ones
    /// come last.
    pub fn read(
        &mut self,
        extents: impl IntoIterator<Item = CardExtent>,
        expected: IoContent,
        mut each: impl FnMut(CardExtent, Nanos, ReadAnswer<'_>) -> ProbeResult,
    ) -> ProbeResult {
        let (mut extents, mut failed) = (extents.into_iter().fuse(), Vec::new());
        let mut answer = |card: &mut Self, slot, extent: CardExtent, at, error| {
            if let Some(error) = error {
                failed.push((extent, error));
                return Ok(());
            }
            card.tally.read += u64::from(extent.len);
            let found = match expected {
                IoContent::Buffer => ContentMatch::DiffersAt(0),
                _ => card.target.compare(slot, expected)?,
            };
            match found {
                ContentMatch::Same => each(extent, at, ReadAnswer::Same),
                ContentMatch::DiffersAt(first) => {
                    let bytes = &card.target.buffer(slot)?[..extent.len as usize];
                    each(extent, at, ReadAnswer::Differs { bytes, first: first as usize })
                }
            }
        };
        let mut next = |_: &mut Self| extents.next();
        let driven = self.drive_queue(IoDirection::Read, IoContent::Buffer, &mut next, &mut answer);
        for (extent, first) in self.failures_to_retry(failed, &driven) {
            self.tally.read += u64::from(extent.len);
            let mut bytes = Vec::new();
            let io_error = self.retry_read(extent, first, &mut bytes)?;
            let bytes = &bytes[..];
            let answer = match (&io_error, compare_bytes(expected, extent.offset, bytes)) {
                (Some(io_error), _) => ReadAnswer::Failed(io_error),
                (None, ContentMatch::Same) => ReadAnswer::Same,
                (None, ContentMatch::DiffersAt(at)) => ReadAnswer::Differs { bytes, first: at as usize },
            };
            each(extent, self.target.now(), answer)?;
        }
        driven
    }

    /// Reads extents in order. `each` gets the bytes of those that could be read.
    pub fn read_bytes(
        &mut self,
        extents: impl IntoIterator<Item = CardExtent>,
        mut each: impl FnMut(CardExtent, &[u8]),
    ) -> ProbeResult {
        self.read(extents, IoContent::Buffer, |extent, _, answer| {
            if let ReadAnswer::Differs { bytes, .. } = answer {
                each(extent, bytes);
            }
            Ok(())
        })
    }

    /// Writes original data back, counted as restored. Returns the errors of I/Os that failed twice.
    pub fn restore_bytes(&mut self, offset: u64, original: &[u8]) -> ProbeResult<Vec<IoError>> {
        let mut io_errors = Vec::new();
        for extent in split_extents(offset, offset + original.len() as u64, self.block) {
            let from = (extent.offset - offset) as usize;
            let part = &original[from..from + extent.len as usize];
            self.tally.restored += part.len() as u64;
            self.target.buffer(0)?[..part.len()].copy_from_slice(part);
            self.counts.ios += 1;
            let io = extent.request(0, IoDirection::Write, IoContent::Buffer);
            let (_, Some(first)) = self.do_io(&io)? else { continue };
            let (_, again) = self.do_io(&io)?;
            io_errors.extend(self.record_retry(first, again));
        }
        Ok(io_errors)
    }

    /// Writes the given bytes, counted as written. Returns the errors of I/Os that failed twice.
    pub fn write_bytes(&mut self, offset: u64, bytes: &[u8]) -> ProbeResult<Vec<IoError>> {
        let before = self.tally.restored;
        let io_errors = self.restore_bytes(offset, bytes);
        self.tally.written += self.tally.restored - before;
        self.tally.restored = before;
        io_errors
    }

    /// Keeps up to `depth` I/Os in flight until `next_of` returns `None`. `each` gets every completion with its error.
    /// I/Os in flight are awaited, whatever ends the loop.
    fn drive_queue(
        &mut self,
        direction: IoDirection,
        content: IoContent,
        next_of: &mut impl FnMut(&mut Self) -> Option<CardExtent>,
        each: &mut impl FnMut(&mut Self, u32, CardExtent, Nanos, Option<IoError>) -> ProbeResult,
    ) -> ProbeResult {
        let mut flight = InFlight::new(self.depth);
        let mut ended = Ok(());
        // A card works on one I/O at a time, so each took as long as since its submission or since the end of the one
        // before.
        let mut before = 0;
        let mut usual = seconds_to_nanos(self.costs.estimate(direction, 1, 0));
        loop {
            if ended.is_ok() && self.interrupt.is_raised() {
                ended = Err(ProbeStop::Interrupted);
            }
            // Submits one I/O per round, before the next is prepared: the card stays busy while content is generated
            // and answers are compared.
            let mut submitted = false;
            if ended.is_ok()
                && let Some(free) = flight.take_free_slot()
            {
                match next_of(self) {
                    // I/Os in flight must end by then as well.
                    Some(_) if self.is_past_deadline(usual * flight.count_unhandled()) => {
                        ended = Err(ProbeStop::Limit);
                        flight.return_slot(free);
                    }
                    Some(extent) => {
                        let slot = flight.start_io(free, extent, self.now());
                        submitted = true;
                        // I/Os in flight are awaited even if submitting the next failed.
                        if let Err(error) = self.target.submit(&extent.request(slot, direction, content)) {
                            flight.cancel_io(slot);
                            ended = Err(error.into());
                        }
                    }
                    None => flight.return_slot(free),
                }
            }
            if flight.is_empty() {
                return ended;
            }
            let wait = !submitted && !flight.has_completions();
            let mut done = std::mem::take(&mut self.done);
            let completed = self.target.complete(usize::from(wait), &mut done);
            flight.queue_completions(done.drain(..));
            self.done = done;
            // A card that is gone reports it together with its last completions, so all of these are handled.
            while completed.is_err() || !submitted || flight.is_full() {
                let Some(done) = flight.next_completion() else { break };
                let EndedIo { slot, extent, began, at, result } = done;
                let took = at.saturating_sub(began.max(before));
                self.count_time(direction, extent.len, at, took, self.depth <= MAX_TIMED_DEPTH);
                before = before.max(at);
                usual = took;
                self.counts.ios += 1;
                let error = result.err().map(to_io_error).transpose();
                ended = ended.and(error.and_then(|error| each(self, slot, extent, at, error)));
                if completed.is_ok() {
                    break;
                }
            }
            completed?;
        }
    }

    /// Counts an I/O of `len` bytes that took `took` and ended at `at`.
    fn count_time(&mut self, direction: IoDirection, len: u32, at: Nanos, took: Nanos, is_typical: bool) {
        self.clock.advance_to(at);
        io_counters::add_io(direction, u64::from(len), took);
        if is_typical {
            self.costs.add_io(direction, u64::from(len), nanos_to_seconds(took));
        }
    }

    /// Does one I/O in slot 0 with nothing else in flight. Returns its end, and its error if it failed.
    fn do_io(&mut self, io: &IoRequest) -> ProbeResult<(Nanos, Option<IoError>)> {
        let began = self.now();
        self.target.submit(io)?;
        let mut done = Vec::new();
        // A raised interrupt makes `complete` return early, but nothing may stay in flight.
        while done.is_empty() {
            self.target.complete(1, &mut done)?;
        }
        let Some(IoCompletion { at, result, .. }) = done.pop() else { return Ok((began, None)) };
        self.count_time(io.direction, io.len, at, at.saturating_sub(began), true);
        Ok((at, result.err().map(to_io_error).transpose()?))
    }

    /// Does one I/O up to `tries` times. Returns the last error if none succeeded.
    fn do_io_with_tries(&mut self, tries: u32, io: &IoRequest) -> ProbeResult<IoOutcome> {
        let mut failed = None;
        for _ in 0..tries {
            failed = self.do_io(io)?.1;
            if failed.is_none() {
                break;
            }
        }
        Ok(failed)
    }

    /// Retries a failed read, near the end of the card sector by sector. Returns the error if it failed twice.
    fn retry_read(&mut self, at: CardExtent, first: IoError, bytes: &mut Vec<u8>) -> ProbeResult<IoOutcome> {
        let sector = self.sector();
        let last = self.bytes().saturating_sub(LAST_SECTORS * u64::from(sector));
        let at_the_end = at.end() > last && at.len > sector;
        let again = self.read_parts(at, if at_the_end { sector } else { at.len }, 1, bytes)?;
        if at_the_end || again.is_none() || at.len <= RETRY_PART_BYTES {
            let first = IoError { in_parts: at_the_end && again.is_none(), ..first };
            return Ok(self.record_retry(first, again));
        }
        bytes.clear();
        let in_parts = self.read_parts(at, RETRY_PART_BYTES, RETRY_PART_TRIES, bytes)?;
        Ok(self.record_parts_retry(first, in_parts))
    }

    /// Reads an extent in requests of `unit` bytes, up to `tries` times each, and stops at the first that fails.
    fn read_parts(
        &mut self,
        at: CardExtent,
        unit: u32,
        tries: u32,
        bytes: &mut Vec<u8>,
    ) -> ProbeResult<IoOutcome> {
        for part in split_extents(at.offset, at.end(), unit) {
            let io = part.request(0, IoDirection::Read, IoContent::Buffer);
            if let Some(io_error) = self.do_io_with_tries(tries, &io)? {
                return Ok(Some(io_error));
            }
            bytes.extend_from_slice(&self.target.buffer(0)?[..part.len as usize]);
        }
        Ok(None)
    }

    /// Retries a failed write. Returns the error if it failed twice.
    fn retry_write(&mut self, io: &IoRequest, first: IoError) -> ProbeResult<IoOutcome> {
        let (_, again) = self.do_io(io)?;
        // The bytes in the buffer belong to the whole extent, so it cannot be written in parts.
        if again.is_none() || io.len <= RETRY_PART_BYTES || io.content == IoContent::Buffer {
            return Ok(self.record_retry(first, again));
        }
        for CardExtent { offset, len } in split_extents(io.offset, io.extent().end(), RETRY_PART_BYTES) {
            let failed = self.do_io_with_tries(RETRY_PART_TRIES, &IoRequest { offset, len, ..*io })?;
            if failed.is_some() {
                return Ok(self.record_parts_retry(first, failed));
            }
        }
        Ok(self.record_parts_retry(first, None))
    }

    /// Records the result of a retry. Returns the error, with the narrower range, if that failed too.
    fn record_retry(&mut self, first: IoError, again: Option<IoError>) -> Option<IoError> {
        let Some(IoError { offset, len, .. }) = again else {
            self.counts.failed_once += 1;
            self.list_error(IoError { recovered: true, ..first });
            return None;
        };
        self.counts.failed_twice += 1;
        let io_error = IoError { offset, len, ..first };
        self.list_error(io_error.clone());
        Some(io_error)
    }

    /// Records the result of trying an extent in small parts after two failures. Returns the error if a part failed.
    fn record_parts_retry(&mut self, first: IoError, in_parts: Option<IoError>) -> Option<IoError> {
        if in_parts.is_some() {
            return self.record_retry(first, in_parts);
        }
        self.counts.failed_twice += 1;
        self.list_error(IoError { in_parts: true, ..first });
        None
    }

    fn list_error(&mut self, io_error: IoError) {
        list_failed(&mut self.io_errors, MAX_LISTED_ERRORS, io_error);
    }
}

/// Converts the error of one I/O to its record. Returns errors that concern the whole card.
pub fn to_io_error(error: TargetError) -> ProbeResult<IoError> {
    to_io_record(error).map_err(ProbeStop::from)
}

/// Converts like [`to_io_error`], but returns other errors unchanged.
pub(crate) fn to_io_record(error: TargetError) -> TargetResult<IoError> {
    match error {
        TargetError::Io { operation, offset, len, reason, errno } => Ok(IoError {
            operation: operation.to_owned(),
            offset,
            len,
            errno,
            reason,
            recovered: false,
            in_parts: false,
        }),
        other => Err(other),
    }
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ProbeStop {
    /// The card is gone, or cannot be driven.
    #[error(transparent)]
    Target(TargetError),
    #[error("interrupted")]
    Interrupted,
    /// Data could not be saved, so it was not overwritten.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A limit of the user (time, bytes written) is reached.
    #[error("the limits given are reached")]
    Limit,
    /// Reads of one place returned different data, so data read cannot be trusted for saving or restoring.
    #[error("{0}; nothing more was written. Try another reader")]
    SuspectReader(Box<SuspectReader>),
    /// The slot holds another card than the one tested so far.
    #[error(
        "the slot now holds another card ({0}); nothing more was written. Insert the first card and \
             start again"
    )]
    Swapped(String),
}

/// Result of driving a card.
pub type ProbeResult<T = ()> = Result<T, ProbeStop>;

impl From<TargetError> for ProbeStop {
    fn from(error: TargetError) -> Self {
        match error {
            TargetError::WriteLimitReached => ProbeStop::Limit,
            TargetError::Interrupted => ProbeStop::Interrupted,
            other => ProbeStop::Target(other),
        }
    }
}
