//! Context of a probe: the card, the data saved from it, and the write and time budgets. Every timed I/O goes through
//! here, so that nothing is overwritten that is neither saved nor free to be lost.

use crate::write_scope::{StampPlace, WriteScope};
use cardscope_engine::content::{IoContent, constant_byte};
use cardscope_engine::event::{ByteProgress, Listener};
use cardscope_engine::io_driver::{CardExtent, IoDriver, ProbeResult, ProbeStop, ReadAnswer, split_extents};
use cardscope_engine::target::{IoDirection, TargetRegion};
use cardscope_model::card_map::property::SearchCost;
use cardscope_model::random::SeededRandom;
use cardscope_model::units::{Nanos, nanos_to_seconds, seconds_to_nanos};
use cardscope_sd::nvme::SmartLog;
use std::ops::Deref;
use std::time::Duration;

/// Bytes at the start of a card that are not tested unless the user names them: partition and file system tables lie
/// there, and the first 4 to 16 MiB may be handled differently (docs/reference/flash.md#start-of-the-card).
pub const CARD_START: u64 = 16 << 20;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProbeLimits {
    pub seed: u64,
    /// Usable part of the target: the whole card, the test file of a directory, or the range that the user named.
    pub region: TargetRegion,
    /// Limit of all writes in bytes.
    pub max_write: Option<u64>,
    /// Limit of time, restoring included.
    pub budget: Option<Duration>,
}

/// A card with the budgets of one probe. Every method that drives the card returns a [`ProbeStop`] if the card is gone,
/// cannot be driven any more, or the user stopped the test.
pub struct ProbeContext<'s, 't> {
    /// Private, so that no caller can overwrite what is not saved.
    card: &'s mut IoDriver<'t>,
    scope: WriteScope<'s>,
    pub events: &'s mut dyn Listener,
    pub random: SeededRandom,
    pub region: TargetRegion,
    pub salt: u64,
    generation: u32,
    max_write: u64,
    deadline: Option<f64>,
    was_short_of_time: bool,
    longest_write_s: f64,
    progress: Option<ByteProgress>,
}

impl<'s, 't> ProbeContext<'s, 't> {
    pub fn new(
        card: &'s mut IoDriver<'t>,
        mut scope: WriteScope<'s>,
        limits: &ProbeLimits,
        events: &'s mut dyn Listener,
    ) -> Self {
        let deadline = limits.budget.map(|budget| card.seconds() + budget.as_secs_f64());
        card.set_deadline(deadline.map(seconds_to_nanos));
        let (salt, region) = (stamp_salt(limits.seed), limits.region);
        let max_write = limits.max_write.unwrap_or(u64::MAX);
        scope.allow_stamps(StampPlace { salt, region, max_bytes: max_write }, deadline.map(seconds_to_nanos));
        ProbeContext {
            card,
            scope,
            events,
            random: SeededRandom::new(limits.seed),
            region,
            salt,
            generation: 0,
            max_write,
            deadline,
            was_short_of_time: false,
            longest_write_s: 0.0,
            progress: None,
        }
    }

    /// True if about `seconds` more fit the budget; a refusal is remembered for `was_short_of_time`.
    pub fn has_time(&mut self, seconds: f64) -> bool {
        let has_time = seconds <= self.seconds_left();
        self.was_short_of_time |= !has_time;
        has_time
    }

    /// True if any step was skipped for lack of time.
    pub fn was_short_of_time(&self) -> bool {
        self.was_short_of_time
    }

    /// Seconds until restoring must begin; infinite without a budget.
    pub fn seconds_left(&mut self) -> f64 {
        self.seconds_left_after(&[])
    }

    /// Seconds until restoring must begin, if these extents are saved and written as well.
    pub fn seconds_left_after(&mut self, extents: &[CardExtent]) -> f64 {
        let takes = |context: &Self| context.scope.estimated_seconds(context.card, extents);
        self.deadline.map_or(f64::INFINITY, |end| end - self.card.seconds() - takes(self))
    }

    pub fn may_write(&self, bytes: u64) -> bool {
        self.written().saturating_add(bytes) <= self.max_write
    }

    pub fn written(&self) -> u64 {
        self.card.tally().written
    }

    /// Saves extents before they are overwritten; each call syncs the journal, so callers pass many at once. Returns
    /// [`ProbeStop::Limit`] outside of the region, or if a budget does not suffice.
    pub fn save_before_write(&mut self, extents: &[CardExtent]) -> ProbeResult {
        if self.try_save_before_write(extents)? { Ok(()) } else { Err(ProbeStop::Limit) }
    }

    /// Saves extents like [`ProbeContext::save_before_write`], but returns false instead of an error if time ended before all were
    /// saved.
    pub fn try_save_before_write(&mut self, extents: &[CardExtent]) -> ProbeResult<bool> {
        let inside = extents.iter().all(|extent| is_inside(self.region, *extent));
        if !inside || !self.may_write(extents.iter().map(|extent| u64::from(extent.len)).sum()) {
            return Err(ProbeStop::Limit);
        }
        if self.seconds_left_after(extents) < 0.0 {
            self.was_short_of_time = true;
            return Ok(false);
        }
        self.reserve_restore_time();
        let saved = self.scope.save(self.card, extents);
        // The data just saved needs time to be restored, so the deadline is earlier now.
        self.reserve_restore_time();
        self.was_short_of_time |= saved == Err(ProbeStop::Limit);
        if saved == Err(ProbeStop::Limit) { Ok(false) } else { saved.map(|()| true) }
    }

    fn restore_deadline(&self) -> Option<Nanos> {
        self.deadline.map(|end| seconds_to_nanos(end - self.scope.estimated_seconds(self.card, &[])))
    }

    /// Sets the deadline after which no I/O begins: restoring needs the rest of the time.
    fn reserve_restore_time(&mut self) {
        if let Some(end) = self.restore_deadline() {
            self.scope.set_deadline(end);
            self.card.set_deadline(Some(end));
        }
    }

    /// Reads extents, as far as that is quick, that are saved later in small groups: their first of two readings.
    pub fn read_ahead(&mut self, extents: &[CardExtent]) -> ProbeResult {
        self.scope.read_ahead(self.card, extents)
    }

    /// Saves extents however long that takes, and syncs the journal. Unreadable parts are not saved.
    pub fn save(&mut self, extents: &[CardExtent]) -> ProbeResult {
        let saved = self.scope.save(self.card, extents);
        self.apply_restore_deadline();
        saved
    }

    /// Stops the card's I/O once restoring must begin.
    pub fn apply_restore_deadline(&mut self) {
        self.card.set_deadline(self.restore_deadline());
    }

    pub fn is_unsavable(&self, extent: CardExtent) -> bool {
        self.scope.is_unsavable(extent)
    }

    /// Writes the next generation of stamps. Returns it with the extents that failed twice, or, before anything is
    /// written, [`ProbeStop::Limit`] if an extent is neither saved nor free to be lost.
    pub fn write_stamps(&mut self, extents: Vec<CardExtent>) -> Result<(u32, Vec<CardExtent>), ProbeStop> {
        if !extents.iter().all(|extent| self.may_overwrite(*extent)) {
            return Err(ProbeStop::Limit);
        }
        let content = self.next_stamp_content();
        let mut failed = Vec::new();
        let ProbeContext { card, progress, events, .. } = self;
        card.write(extents, content, |extent, _, io_error| {
            failed.extend(io_error.map(|_| extent));
            if let Some(progress) = progress {
                progress.add(u64::from(extent.len), *events);
            }
        })?;
        self.card.flush()?;
        Ok((self.generation, failed))
    }

    /// Reads extents and compares each with the expected content, until restoring must begin.
    pub fn read_and_compare(
        &mut self,
        extents: impl IntoIterator<Item = CardExtent>,
        expected: IoContent,
        each: impl FnMut(CardExtent, Nanos, ReadAnswer<'_>) -> ProbeResult,
    ) -> ProbeResult {
        self.card.read(extents, expected, each)
    }

    /// Times one read, in seconds; `None` if it failed.
    pub fn time_read(&mut self, extent: CardExtent) -> ProbeResult<Option<f64>> {
        self.card.time_io(IoDirection::Read, IoContent::Buffer, extent)
    }

    /// Times one write, in seconds; `None` if it failed, or the content could not be saved before.
    pub fn time_write(&mut self, extent: CardExtent) -> ProbeResult<Option<f64>> {
        if !self.may_overwrite(extent) {
            return Ok(None);
        }
        let content = self.next_stamp_content();
        let seconds = self.card.time_io(IoDirection::Write, content, extent)?;
        self.longest_write_s = self.longest_write_s.max(seconds.unwrap_or(0.0));
        Ok(seconds)
    }

    /// Longest write timed by [`ProbeContext::time_write`], in seconds.
    pub fn longest_write_s(&self) -> f64 {
        self.longest_write_s
    }

    /// Reads extents in order, at the queue depth of the card.
    pub fn read_stream(
        &mut self,
        extents: impl IntoIterator<Item = CardExtent>,
        mut each: impl FnMut(CardExtent, f64),
    ) -> ProbeResult {
        let began = self.card.now();
        self.card.stream_io(None, IoDirection::Read, IoContent::Buffer, extents, |extent, at| {
            each(extent, nanos_to_seconds(at.saturating_sub(began)));
            Ok(())
        })
    }

    /// Keeps the card busy for about `seconds_long`. Starts no I/O after that, after many failures in a row, or where a
    /// write is not allowed. `each` gets every success with the seconds since the first submission.
    pub fn stream_for(
        &mut self,
        direction: IoDirection,
        seconds_long: f64,
        extents: &mut impl Iterator<Item = CardExtent>,
        mut each: impl FnMut(CardExtent, f64),
    ) -> ProbeResult {
        let content = self.next_stamp_content();
        let began = self.card.now();
        let until = began.saturating_add(seconds_to_nanos(seconds_long));
        let ProbeContext { card, scope, region, .. } = self;
        let may_write = |extent: CardExtent| is_inside(*region, extent) && scope.covers(extent);
        let may = |extent: &CardExtent| direction == IoDirection::Read || may_write(*extent);
        let next = std::iter::from_fn(|| extents.next().filter(may));
        card.stream_io(Some(until), direction, content, next, |extent, at| {
            each(extent, nanos_to_seconds(at.saturating_sub(began)));
            Ok(())
        })
    }

    /// Times a small read while writes are in flight, in seconds; `None` if it failed, or a write is not allowed. The
    /// bytes written are in [`Self::total_cost`].
    pub fn read_among_writes(&mut self, writes: &[CardExtent], read: CardExtent) -> ProbeResult<Option<f64>> {
        if !writes.iter().all(|p| self.may_overwrite(*p)) {
            return Ok(None);
        }
        let content = self.next_stamp_content();
        self.card.time_read_among(IoDirection::Write, content, writes, read)
    }

    /// Discards a range. Returns false if its content is preserved, it lies outside the region, or the card has no
    /// discard.
    pub fn discard(&mut self, start: u64, len: u64) -> ProbeResult<bool> {
        let inside = start >= self.region.start && start + len <= self.region.end();
        if self.scope.saves_first() || !inside {
            return Ok(false);
        }
        self.card.discard(start, len)
    }

    pub fn saves_first(&self) -> bool {
        self.scope.saves_first()
    }

    /// Prepares the card for I/Os of up to `block` bytes, `depth` at a time.
    pub fn set_queue(&mut self, block: u32, depth: u32) -> ProbeResult {
        self.card.set_queue(block, depth)
    }

    /// Times a command that does not touch flash, in seconds; `None` if the card has none.
    pub fn ping(&mut self) -> ProbeResult<Option<f64>> {
        self.card.ping()
    }

    pub fn health(&mut self) -> Option<SmartLog> {
        self.card.health()
    }

    pub fn temperature(&mut self) -> Option<f64> {
        self.card.temperature()
    }

    pub fn flush(&mut self) -> ProbeResult {
        self.card.flush()
    }

    /// Closes and reopens the card, to drop the caches of the host.
    pub fn reopen(&mut self) -> ProbeResult {
        self.card.reopen()
    }

    /// Lets time pass without I/O and announces the wait, so that the card finishes its background work.
    pub fn rest(&mut self, time: Duration) {
        if !time.is_zero() {
            self.events.report_wait(time.as_secs_f64());
        }
        self.idle(time);
    }

    pub fn idle(&mut self, time: Duration) {
        self.card.idle(time);
    }

    pub fn seconds(&mut self) -> f64 {
        self.card.seconds()
    }

    /// Announced size of the whole card in bytes, not of the region.
    pub fn card_bytes(&self) -> u64 {
        self.card.bytes()
    }

    /// True if all bytes of an extent are equal, as in flash that was never written; `None` if it cannot be read.
    pub fn is_constant(&mut self, extent: CardExtent) -> ProbeResult<Option<bool>> {
        let mut constant = None;
        self.card.read_bytes([extent], |_, bytes| constant = Some(constant_byte(bytes).is_some()))?;
        Ok(constant)
    }

    fn may_overwrite(&self, extent: CardExtent) -> bool {
        is_inside(self.region, extent) && self.scope.covers(extent)
    }

    /// Stamps let a restore after a crash recognize what the test wrote.
    fn next_stamp_content(&mut self) -> IoContent {
        self.generation += 1;
        IoContent::Stamp { salt: self.salt, generation: self.generation }
    }

    pub fn total_cost(&mut self) -> SearchCost {
        let tally = self.card.tally();
        SearchCost { read_bytes: tally.read, written_bytes: tally.written, seconds: self.card.seconds() }
    }

    pub fn cost_since(&mut self, before: SearchCost) -> SearchCost {
        let now = self.total_cost();
        SearchCost {
            read_bytes: now.read_bytes - before.read_bytes,
            written_bytes: now.written_bytes - before.written_bytes,
            seconds: now.seconds - before.seconds,
        }
    }

    pub fn begin_stage(&mut self, what: &str) {
        self.progress = None;
        self.events.begin_stage(what, None, None);
    }

    /// Announces a stage that writes `bytes` of stamps, and reports its progress.
    pub fn begin_stamp_stage(&mut self, what: &str, bytes: u64) {
        self.events.begin_stage(what, Some(bytes), None);
        self.progress = Some(ByteProgress::default());
    }

    pub fn begin_phase(&mut self, what: &str) {
        self.events.begin_phase(what, None, None);
    }
}

/// Gives read-only access to the driver: its mutable methods, which do I/O, stay out of reach.
impl<'t> Deref for ProbeContext<'_, 't> {
    type Target = IoDriver<'t>;

    fn deref(&self) -> &IoDriver<'t> {
        self.card
    }
}

impl Drop for ProbeContext<'_, '_> {
    /// Removes the deadline, so that it does not cut short the restoring that follows.
    fn drop(&mut self) {
        self.card.set_deadline(None);
    }
}

fn is_inside(region: TargetRegion, extent: CardExtent) -> bool {
    extent.offset >= region.start && extent.end() <= region.end()
}

/// Salt of the stamps that a probe with this seed writes. The journal stores it before anything is overwritten.
pub fn stamp_salt(seed: u64) -> u64 {
    cardscope_model::random::mix_bits(seed ^ 0x7369_7465)
}

const WRITE_BYTES: u32 = 1 << 20;

/// The reads that follow need the rest of the time.
const TIME_SHARE: f64 = 0.5;

/// Share of the time limit after which the speed so far predicts the rest. Earlier, one stalled write would distort it.
const PREDICTION_SHARE: f64 = 0.25;

/// Writes a test file before its reads are timed, since file systems answer unwritten extents with zeros, without the
/// card: `len` bytes from `start` on. Returns the reason if it could not be completed.
pub fn write_test_file(card: &mut ProbeContext<'_, '_>, start: u64, len: u64) -> ProbeResult<Option<String>> {
    if !card.may_write(len) {
        return Ok(Some(unwritten_reason("the write limit is too low")));
    }
    card.events.begin_phase("writing the test file", Some(len), None);
    card.set_queue(WRITE_BYTES, 1)?;
    let (began, most) = (card.seconds(), TIME_SHARE * card.seconds_left());
    let end = start + len;
    for extent in split_extents(start, end, WRITE_BYTES).collect::<Vec<CardExtent>>() {
        let (done, spent) = ((extent.offset - start) as f64, card.seconds() - began);
        let known = done > 0.0 && spent >= PREDICTION_SHARE * most;
        let rest = if known { spent / done * (end - extent.offset) as f64 } else { 0.0 };
        if spent + rest > most || !card.has_time(rest) {
            return Ok(Some(unwritten_reason("no time left to write it")));
        }
        card.save_before_write(&[extent])?;
        if card.time_write(extent)?.is_none() {
            return Ok(Some(unwritten_reason("writing it failed")));
        }
        card.events.report_bytes(extent.end() - start);
    }
    card.flush()?;
    Ok(None)
}

pub fn unwritten_reason(why: &str) -> String {
    format!("reads of an unwritten file do not reach the card; {why}")
}
