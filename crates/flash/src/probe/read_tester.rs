//! Range, limits and results that all reading parts share.

use super::options::{MapOptions, Sought, no_time_reason};
use cardscope_engine::io_driver::CardExtent;
use cardscope_model::card_map::MeasuredMap;
use cardscope_model::card_map::property::NO_TIME;
use cardscope_probing::context::ProbeContext;

/// Bytes of a test file that are read. It must be written first, and the largest reads need eight positions.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// A part of many short reads ends after this multiple of its expected seconds, so that a card that stalls for
/// minutes does not stall the map at each read.
const DEADLINE_FACTOR: f64 = 5.0;

/// Least share of the planned samples that gives a result. With half of 12 pairs per distance, hardly any distance
/// has fewer than 3, so that a hiccup is not the median; with a quarter some would have one.
const MIN_SAMPLE_SHARE: f64 = 0.5;

/// Seconds on the card's clock for the search of page and erase block, longest first.
pub(super) const UNIT_SEARCH_S: [f64; 5] = [20.0, 12.0, 6.0, 3.0, 1.5];

pub(super) struct ReadTester<'r, 's, 't> {
    pub(super) context: &'r mut ProbeContext<'s, 't>,
    pub(super) options: &'r MapOptions,
    pub(super) into: &'r mut MeasuredMap,
    /// First byte of the range to read: the whole card, or the test file.
    pub(super) start: u64,
    pub(super) len: u64,
}

impl<'r, 's, 't> ReadTester<'r, 's, 't> {
    /// Reads the whole card, whatever part may be written.
    pub(super) fn new(
        context: &'r mut ProbeContext<'s, 't>,
        options: &'r MapOptions,
        into: &'r mut MeasuredMap,
    ) -> Self {
        let (start, len) = match options.card_addresses {
            true => (0, context.card_bytes()),
            false => (context.region.start, context.region.len.min(MAX_FILE_BYTES)),
        };
        ReadTester { context, options, into, start, len }
    }

    /// Extent of `len` bytes at a random multiple of `align`, with at least `room` bytes from its start to the end
    /// of the range.
    pub(super) fn random_extent(&mut self, align: u64, room: u64, len: u64) -> CardExtent {
        let first = self.start.next_multiple_of(align);
        let last = (self.start + self.len).saturating_sub(room.max(len));
        let places = last.saturating_sub(first) / align + 1;
        CardExtent { offset: first + self.context.random.below(places) * align, len: len as u32 }
    }

    /// Bytes of two sectors, the least that crosses a boundary with a whole sector on each side.
    pub(super) fn two_sectors_bytes(&self) -> u64 {
        2 * u64::from(self.context.sector())
    }

    /// Longest of `seconds` (longest first) that is left, or the reason if none is.
    pub(super) fn available_seconds(&mut self, seconds: &[f64]) -> Sought<f64> {
        let most = seconds.iter().copied().find(|s| self.context.has_time(*s));
        Ok(most.ok_or_else(|| no_time_reason(seconds[0]))?)
    }

    pub(super) fn deadline_after(&mut self, seconds: f64) -> ReadDeadline {
        ReadDeadline(self.context.seconds() + seconds.min(self.context.seconds_left()))
    }

    /// Deadline after a multiple of the expected seconds.
    pub(super) fn generous_deadline(&mut self, seconds: f64) -> ReadDeadline {
        self.deadline_after(DEADLINE_FACTOR * seconds)
    }
}

/// Deadline of a part, in seconds on the card's clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadDeadline(f64);

impl ReadDeadline {
    pub(super) fn is_reached(self, context: &mut ProbeContext) -> bool {
        context.seconds() >= self.0
    }

    /// Reason why a part ended at the deadline, or `None` before it.
    pub(super) fn reason(self, context: &mut ProbeContext) -> Option<&'static str> {
        let why = if context.has_time(0.0) { "the card answered too slowly" } else { NO_TIME };
        self.is_reached(context).then_some(why)
    }

    /// Fails if the deadline left fewer samples than a result needs. Samples missing for other reasons are no
    /// error.
    pub(super) fn require_samples(
        self,
        context: &mut ProbeContext,
        seen: usize,
        wanted: usize,
        what: &str,
    ) -> Sought<()> {
        match self.reason(context).filter(|_| (seen as f64) < MIN_SAMPLE_SHARE * wanted as f64) {
            Some(why) => Err(format!("{why}: {seen} of {wanted} {what}").into()),
            None => Ok(()),
        }
    }
}

/// Stages of the reading parts, as listeners receive them.
pub(super) mod stages {
    use crate::probe::options::{MapOptions, MapPart};

    pub(in crate::probe) const SURVEY: &str = "surveying read times";
    pub(in crate::probe) const READ_UNIT: &str = "read unit";
    pub(in crate::probe) const BOUNDARIES: &str = "pages and erase blocks";
    pub(in crate::probe) const MAPPING: &str = "mapping table";
    pub(in crate::probe) const PLANES: &str = "planes";
    pub(in crate::probe) const QUEUE: &str = "queue of reads";
    pub(in crate::probe) const BY_SIZE: &str = "reads by size";
    pub(in crate::probe) const BY_ADDRESS: &str = "reads by address";
    pub(in crate::probe) const TABLES: &str = "flashbench tables of reads";

    pub(in crate::probe) fn reading_stages(options: &MapOptions) -> Vec<&'static str> {
        let card = options.card_addresses;
        let all = [
            (card && options.wants(MapPart::Boundaries), &[SURVEY, READ_UNIT, BOUNDARIES, MAPPING][..]),
            (card && options.wants(MapPart::Planes), &[PLANES]),
            (options.wants(MapPart::Queue), &[QUEUE]),
            (options.wants(MapPart::ReadCurve), &[BY_SIZE]),
            (card && options.wants(MapPart::Axis), &[BY_ADDRESS]),
            (card && options.flashbench_tables, &[TABLES]),
        ];
        all.into_iter().filter(|(wanted, _)| *wanted).flat_map(|(_, names)| names.iter().copied()).collect()
    }
}
