//! Where a probe measures: the card, what is saved of it, what may still be spent. Every single timing goes through
//! here, so that nothing is written that was not saved or may not go.

use crate::write_scope::{StampPlace, WriteScope};
use cardscope_engine::card::{CardExtent, IoDriver, ProbeStop, ReadAnswer};
use cardscope_engine::content::IoContent;
use cardscope_engine::event::{ByteProgress, Listener};
use cardscope_engine::target::{IoDirection, TargetRegion};
use cardscope_model::card_map::property::SearchCost;
use cardscope_model::random::SeededRandom;
use cardscope_model::units::{Nanos, nanos, seconds};
use cardscope_sd::nvme::SmartLog;
use std::ops::Deref;
use std::time::Duration;

/// The start of a card is left alone unless it is asked for: partition table and file system tables lie there, and the
/// first 4 to 16 MiB may be treated in a way of their own (docs/reference/flash.md#start-of-the-card).
pub const CARD_START: u64 = 16 << 20;

/// What may be used and spent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProbeLimits {
    /// Decides places and order.
    pub seed: u64,
    /// The part of the target that may be used: all of a card, the test file of a directory, or what the user named.
    pub region: TargetRegion,
    /// Bytes that may be written in all.
    pub max_write: Option<u64>,
    /// Time in which all must be done: what would not be over by then, putting back included, is not begun.
    pub budget: Option<Duration>,
}

/// The card, and all that may be done to it. Whatever needs the card ends with a [`Stop`] if it is gone or cannot be driven
/// any more, or the user stopped it; where there is more to it, the function says so.
pub struct ProbeContext<'s, 't> {
    /// Nobody else reaches it: what is not saved cannot be overwritten.
    card: &'s mut IoDriver<'t>,
    scope: WriteScope<'s>,
    /// Hears how far it is.
    pub events: &'s mut dyn Listener,
    /// Places and orders.
    pub random: SeededRandom,
    /// What may be used.
    pub region: TargetRegion,
    /// Of the stamps that are written.
    pub salt: u64,
    generation: u32,
    max_write: u64,
    deadline: Option<f64>,
    was_short: bool,
    longest_write_s: f64,
    /// How far a stage is that writes stamps.
    progress: Option<ByteProgress>,
}

impl<'s, 't> ProbeContext<'s, 't> {
    /// Nothing is saved yet and nothing spent.
    pub fn new(
        card: &'s mut IoDriver<'t>,
        mut scope: WriteScope<'s>,
        limits: &ProbeLimits,
        events: &'s mut dyn Listener,
    ) -> Self {
        let deadline = limits.budget.map(|b| card.seconds() + b.as_secs_f64());
        card.end_at(deadline.map(nanos));
        let stamps = StampPlace {
            salt: salt(limits.seed),
            region: limits.region,
            max_bytes: limits.max_write.unwrap_or(u64::MAX),
        };
        scope.allow_stamps(stamps, deadline.map(nanos));
        ProbeContext {
            card,
            scope,
            events,
            random: SeededRandom::new(limits.seed),
            region: limits.region,
            salt: salt(limits.seed),
            generation: 0,
            max_write: limits.max_write.unwrap_or(u64::MAX),
            deadline,
            was_short: false,
            longest_write_s: 0.0,
            progress: None,
        }
    }

    /// Whether there is time for something that takes about `seconds`.
    pub fn has_time(&mut self, seconds: f64) -> bool {
        let has_time = seconds <= self.seconds_left();
        self.was_short |= !has_time;
        has_time
    }

    /// Whether anything had no time.
    pub fn was_short_of_time(&self) -> bool {
        self.was_short
    }

    /// Seconds until it is time to put back what is saved; without a limit there is no end of them.
    pub fn seconds_left(&mut self) -> f64 {
        self.left_with(&[])
    }

    /// The same once these extents are saved and written, too.
    pub fn left_with(&mut self, extents: &[CardExtent]) -> f64 {
        let takes = |context: &Self| context.scope.seconds(context.card, extents);
        self.deadline.map_or(f64::INFINITY, |end| end - self.card.seconds() - takes(self))
    }

    /// Whether `bytes` more may be written.
    pub fn may_write(&self, bytes: u64) -> bool {
        self.written().saturating_add(bytes) <= self.max_write
    }

    /// Bytes that were written so far.
    pub fn written(&self) -> u64 {
        self.card.tally().written
    }

    /// Saves what stands in extents that are about to be overwritten, many at once: each call syncs the journal.
    ///
    /// # Errors
    /// [`Stop::Limit`] where an extent lies outside of what may be used, or more would be written than may be.
    pub fn prepare(&mut self, extents: &[CardExtent]) -> Result<(), ProbeStop> {
        if self.prepare_in_time(extents)? { Ok(()) } else { Err(ProbeStop::Limit) }
    }

    /// The same for those who have something to show already: false where the time was over before all of it was saved.
    ///
    /// # Errors
    /// As [`Context::prepare`], but for the time.
    pub fn prepare_in_time(&mut self, extents: &[CardExtent]) -> Result<bool, ProbeStop> {
        if !extents.iter().all(|p| inside(self.region, *p))
            || !self.may_write(extents.iter().map(|p| u64::from(p.len)).sum())
        {
            return Err(ProbeStop::Limit);
        }
        if self.left_with(extents) < 0.0 {
            self.was_short = true;
            return Ok(false);
        }
        self.leave_time_to_put_back();
        let saved = self.scope.save(self.card, extents);
        self.leave_time_to_put_back();
        match saved {
            Err(ProbeStop::Limit) => {
                self.was_short = true;
                Ok(false)
            }
            saved => saved.map(|()| true),
        }
    }

    /// When it is time to put back what is saved, by the card's clock.
    fn end(&self) -> Option<Nanos> {
        self.deadline.map(|end| nanos(end - self.scope.seconds(self.card, &[])))
    }

    /// Nothing begins when it is time to put back.
    fn leave_time_to_put_back(&mut self) {
        if let Some(end) = self.end() {
            self.scope.end_at(end);
            self.card.end_at(Some(end));
        }
    }

    /// Reads extents for the first time that are going to be saved soon, one small group after the other; as many of them
    /// as take little time.
    pub fn read_ahead(&mut self, extents: &[CardExtent]) -> Result<(), ProbeStop> {
        self.scope.read_ahead(self.card, extents)
    }

    /// Saves what stands in extents, whatever time that takes. On disk when it returns; what could not be read could not
    /// be saved.
    ///
    /// # Errors
    /// If the journal or the card fails.
    pub fn save(&mut self, extents: &[CardExtent]) -> Result<(), ProbeStop> {
        let saved = self.scope.save(self.card, extents);
        self.end_in_time();
        saved
    }

    /// Lets no row of I/Os go on when it is time to put back.
    pub fn end_in_time(&mut self) {
        self.card.end_at(self.end());
    }

    /// Whether a part of an extent could not be saved.
    pub fn failed_on(&self, extent: CardExtent) -> bool {
        self.scope.failed_on(extent)
    }

    /// Writes the next generation of stamps in order; gives the generation, and the extents that failed twice.
    ///
    /// # Errors
    /// [`Stop::Limit`] where the content of an extent is neither saved nor may go; nothing is written then.
    pub fn stamp(&mut self, extents: Vec<CardExtent>) -> Result<(u32, Vec<CardExtent>), ProbeStop> {
        if !extents.iter().all(|extent| self.may_overwrite(*extent)) {
            return Err(ProbeStop::Limit);
        }
        let content = self.content();
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

    /// Reads extents, each held against what is expected there, and ends in time to put back.
    pub fn look(
        &mut self,
        extents: impl IntoIterator<Item = CardExtent>,
        expected: IoContent,
        each: impl FnMut(CardExtent, Nanos, ReadAnswer<'_>) -> Result<(), ProbeStop>,
    ) -> Result<(), ProbeStop> {
        self.card.read(extents, expected, each)
    }

    /// Times the read of an extent by itself, in seconds; `None` where it failed.
    pub fn read(&mut self, extent: CardExtent) -> Result<Option<f64>, ProbeStop> {
        self.card.time(IoDirection::Read, IoContent::Buffer, extent)
    }

    /// Times the write of an extent by itself, in seconds; `None` where it failed or could not be saved before.
    pub fn write(&mut self, extent: CardExtent) -> Result<Option<f64>, ProbeStop> {
        if !self.may_overwrite(extent) {
            return Ok(None);
        }
        let content = self.content();
        let seconds = self.card.time(IoDirection::Write, content, extent)?;
        self.longest_write_s = self.longest_write_s.max(seconds.unwrap_or(0.0));
        Ok(seconds)
    }

    /// The longest of all writes that were timed by themselves, in seconds.
    pub fn longest_write_s(&self) -> f64 {
        self.longest_write_s
    }

    /// Reads extents in order with as many in flight as the card was shaped for.
    pub fn read_stream(
        &mut self,
        extents: impl IntoIterator<Item = CardExtent>,
        mut each: impl FnMut(CardExtent, f64),
    ) -> Result<(), ProbeStop> {
        let began = self.card.now();
        self.card.stream(None, IoDirection::Read, IoContent::Buffer, extents, |extent, at| {
            each(extent, seconds(at.saturating_sub(began)));
            Ok(())
        })
    }

    /// Keeps the card busy for about `seconds` with as many extents in flight as it was shaped for: no new one begins
    /// after that, nor once many in a row have failed. `each` hears when each ended, in seconds since the first was
    /// submitted, and nothing of what failed. A write that may not be made ends it.
    pub fn stream_for(
        &mut self,
        direction: IoDirection,
        seconds_long: f64,
        extents: &mut impl Iterator<Item = CardExtent>,
        mut each: impl FnMut(CardExtent, f64),
    ) -> Result<(), ProbeStop> {
        let content = self.content();
        let began = self.card.now();
        let until = began.saturating_add(nanos(seconds_long));
        let ProbeContext { card, scope, region, .. } = self;
        let may =
            |p: &CardExtent| direction == IoDirection::Read || (inside(*region, *p) && scope.covers(*p));
        let next = std::iter::from_fn(|| extents.next().filter(may));
        card.stream(Some(until), direction, content, next, |extent, at| {
            each(extent, seconds(at.saturating_sub(began)));
            Ok(())
        })
    }

    /// Times a small read that is asked for while writes are under way, in seconds; `None` where it failed, or
    /// a write may not be made. What of the writes succeeded is in [`Self::spent`].
    pub fn read_among_writes(
        &mut self,
        writes: &[CardExtent],
        read: CardExtent,
    ) -> Result<Option<f64>, ProbeStop> {
        if !writes.iter().all(|p| self.may_overwrite(*p)) {
            return Ok(None);
        }
        let content = self.content();
        self.card.time_among(IoDirection::Write, content, writes, read)
    }

    /// Tells the card that a range holds nothing of value, where its content may go; false where it may not, lies
    /// outside of what may be used, or the card takes no such hint.
    pub fn discard(&mut self, start: u64, len: u64) -> Result<bool, ProbeStop> {
        let inside = start >= self.region.start && start + len <= self.region.end();
        if self.scope.saves_first() || !inside {
            return Ok(false);
        }
        self.card.discard(start, len)
    }

    /// True where what is overwritten is saved first and put back later, which doubles its cost.
    pub fn saves_first(&self) -> bool {
        self.scope.saves_first()
    }

    /// Makes the card ready for I/Os of up to `block` bytes, `depth` at a time.
    pub fn shape(&mut self, block: u32, depth: u32) -> Result<(), ProbeStop> {
        self.card.shape(block, depth)
    }

    /// Times a command that needs no flash, in seconds, where there is one.
    pub fn ping(&mut self) -> Result<Option<f64>, ProbeStop> {
        self.card.ping()
    }

    /// What the card counts of itself, where it counts.
    pub fn health(&mut self) -> Option<SmartLog> {
        self.card.health()
    }

    /// Temperature in °C, where it can be had.
    pub fn temperature(&mut self) -> Option<f64> {
        self.card.temperature()
    }

    /// Has the card store what it accepted.
    pub fn flush(&mut self) -> Result<(), ProbeStop> {
        self.card.flush()
    }

    /// Closes and opens the card again, so that no cache of the host answers for it.
    pub fn reopen(&mut self) -> Result<(), ProbeStop> {
        self.card.reopen()
    }

    /// The same, so that the card comes to rest.
    pub fn settle(&mut self, time: Duration) {
        if !time.is_zero() {
            self.events.wait(time.as_secs_f64());
        }
        self.idle(time);
    }

    /// Lets time pass without I/O.
    pub fn idle(&mut self, time: Duration) {
        self.card.idle(time);
    }

    /// The card's clock, in seconds.
    pub fn seconds(&mut self) -> f64 {
        self.card.seconds()
    }

    /// Bytes that the card announces, whatever part of it may be used.
    pub fn card_bytes(&self) -> u64 {
        self.card.bytes()
    }

    /// Whether every byte of an extent is the same, as it is where nothing was ever written; `None` where it cannot be
    /// read.
    pub fn is_constant(&mut self, extent: CardExtent) -> Result<Option<bool>, ProbeStop> {
        let mut constant = None;
        self.card.read([extent], IoContent::Buffer, |_, _, answer| {
            if let ReadAnswer::Differs { bytes, .. } = answer {
                constant = Some(bytes.windows(2).all(|pair| pair[0] == pair[1]));
            }
            Ok(())
        })?;
        Ok(constant)
    }

    /// Whether the content of an extent is saved, or may go, and it lies in what may be used.
    fn may_overwrite(&self, extent: CardExtent) -> bool {
        inside(self.region, extent) && self.scope.covers(extent)
    }

    /// Stamps, so that what was written is known again when it is put back after a crash.
    fn content(&mut self) -> IoContent {
        self.generation += 1;
        IoContent::Stamp { salt: self.salt, generation: self.generation }
    }

    /// What has been spent so far.
    pub fn spent(&mut self) -> SearchCost {
        let tally = self.card.tally();
        SearchCost { read_bytes: tally.read, written_bytes: tally.written, seconds: self.card.seconds() }
    }

    /// The cost of what was done since `before`.
    pub fn cost_since(&mut self, before: SearchCost) -> SearchCost {
        let now = self.spent();
        SearchCost {
            read_bytes: now.read_bytes - before.read_bytes,
            written_bytes: now.written_bytes - before.written_bytes,
            seconds: now.seconds - before.seconds,
        }
    }

    /// Tells that a stage begins.
    pub fn stage(&mut self, what: &str) {
        self.progress = None;
        self.events.stage(what, None, None);
    }

    /// Tells that a stage begins that writes so many bytes of stamps, and goes on to tell how far it is.
    pub fn stage_of_stamps(&mut self, what: &str, bytes: u64) {
        self.events.stage(what, Some(bytes), None);
        self.progress = Some(ByteProgress::default());
    }

    /// Tells that a part of the stage begins.
    pub fn phase(&mut self, what: &str) {
        self.events.phase(what, None, None);
    }
}

/// What can be asked of the card without any I/O.
impl<'t> Deref for ProbeContext<'_, 't> {
    type Target = IoDriver<'t>;

    fn deref(&self) -> &IoDriver<'t> {
        self.card
    }
}

impl Drop for ProbeContext<'_, '_> {
    /// Whoever uses the card afterwards, to put back above all, is bound by no limit of the probe's.
    fn drop(&mut self) {
        self.card.end_at(None);
    }
}

fn inside(region: TargetRegion, extent: CardExtent) -> bool {
    extent.offset >= region.start && extent.end() <= region.end()
}

/// The salt of the stamps that a probe with this seed writes; a journal notes it before anything is overwritten.
pub fn salt(seed: u64) -> u64 {
    cardscope_model::random::mix(seed ^ 0x7369_7465)
}
