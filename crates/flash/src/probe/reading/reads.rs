//! What all reading parts share: where they read, and how long they may take.

use crate::probe::options::MapOptions;
use crate::probe::unmeasured::{UnmeasuredReason, no_time};
use cardscope_engine::card::CardExtent;
use cardscope_model::card_map::MeasuredMap;
use cardscope_model::card_map::property::NO_TIME;
use cardscope_probing::context::ProbeContext;

/// So much of a file: it must be written before it is read, and the largest reads want eight places.
const FILE: u64 = 64 << 20;

/// A part of many short reads ends after so many times the seconds that it should take: a card that stalls for minutes
/// must not stall the map at each read.
const PATIENCE: f64 = 5.0;

/// The least share of what was to be looked at, in random order, from which anything is said: half of 12 pairs of each
/// distance are 6, and hardly ever fewer than 3, so that a hiccup is not the median; of a quarter some distances would
/// have a single pair.
const LEAST_SHARE: f64 = 0.5;

/// Seconds of the card's time that the search for page and erase block may take, the most that there is time for.
pub(super) const LOOK: [f64; 5] = [20.0, 12.0, 6.0, 3.0, 1.5];

/// Everything that a reading part works with.
pub(super) struct ReadTester<'r, 's, 't> {
    pub(super) context: &'r mut ProbeContext<'s, 't>,
    pub(super) options: &'r MapOptions,
    pub(super) into: &'r mut MeasuredMap,
    /// First byte of what is read: all of a card, or the test file.
    pub(super) start: u64,
    /// Bytes of it.
    pub(super) len: u64,
}

impl<'r, 's, 't> ReadTester<'r, 's, 't> {
    /// Reading changes nothing, so on a card all of it may be read, whatever part may be written to.
    pub(super) fn new(
        context: &'r mut ProbeContext<'s, 't>,
        options: &'r MapOptions,
        into: &'r mut MeasuredMap,
    ) -> Self {
        let (start, len) = match options.card_addresses {
            true => (0, context.card_bytes()),
            false => (context.region.start, context.region.len.min(FILE)),
        };
        ReadTester { context, options, into, start, len }
    }

    /// An extent at a random multiple of `align`, with `room` bytes from its start inside what is read.
    pub(super) fn somewhere(&mut self, align: u64, room: u64, len: u64) -> CardExtent {
        let first = self.start.next_multiple_of(align);
        let last = (self.start + self.len).saturating_sub(room.max(len));
        let places = last.saturating_sub(first) / align + 1;
        CardExtent { offset: first + self.context.random.below(places) * align, len: len as u32 }
    }

    /// Two sectors: the least that straddles a boundary with a whole sector on either side.
    pub(super) fn two_sectors(&self) -> u64 {
        2 * u64::from(self.context.sector())
    }

    /// The most time of these that is left, longest first; else why there is none.
    pub(super) fn allowance(&mut self, seconds: &[f64]) -> Result<f64, UnmeasuredReason> {
        let most = seconds.iter().copied().find(|s| self.context.has_time(*s));
        Ok(most.ok_or_else(|| no_time(seconds[0]))?)
    }

    /// After so many seconds, or once the time given is up.
    pub(super) fn end_after(&mut self, seconds: f64) -> ReadDeadline {
        ReadDeadline(self.context.seconds() + seconds.min(self.context.seconds_left()))
    }

    /// Once a part that should take so many seconds has taken many times as long.
    pub(super) fn end_of_patience(&mut self, seconds: f64) -> ReadDeadline {
        self.end_after(PATIENCE * seconds)
    }
}

/// The moment, in seconds of the card's clock, from which on a part reads no more.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadDeadline(f64);

impl ReadDeadline {
    /// Whether it has come.
    pub(super) fn is_there(self, context: &mut ProbeContext<'_, '_>) -> bool {
        context.seconds() >= self.0
    }

    /// Why it came; `None` where it has not.
    pub(super) fn reason(self, context: &mut ProbeContext<'_, '_>) -> Option<&'static str> {
        let in_time = context.has_time(0.0);
        self.is_there(context).then_some(match in_time {
            true => "the card answered too slowly",
            false => NO_TIME,
        })
    }

    /// Why too little was looked at before it came. It is no error where that was enough to say something, or something
    /// else than the time has left things out.
    pub(super) fn enough(
        self,
        context: &mut ProbeContext<'_, '_>,
        seen: usize,
        wanted: usize,
        what: &str,
    ) -> Result<(), UnmeasuredReason> {
        match self.reason(context).filter(|_| (seen as f64) < LEAST_SHARE * wanted as f64) {
            Some(why) => Err(format!("{why}: {seen} of {wanted} {what}").into()),
            None => Ok(()),
        }
    }
}
