//! Where reads go: all of a card, or the test file.

use crate::context::Context;
use crate::map::options::Options;
use cardscope_engine::card::Extent;

/// So much of a file: it must be written before it is read, and the largest reads want eight places.
const FILE: u64 = 64 << 20;

/// A part of the target.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    /// First byte.
    pub(super) start: u64,
    /// Bytes.
    pub(super) len: u64,
}

impl Span {
    /// Reading changes nothing, so on a card all of it may be read, whatever part may be written to.
    pub(super) fn of(context: &Context<'_, '_>, options: &Options) -> Span {
        if options.card_addresses {
            Span { start: 0, len: context.card_bytes() }
        } else {
            Span { start: context.region.start, len: context.region.len.min(FILE) }
        }
    }

    /// An extent at a random multiple of `align`, with `room` bytes from its start inside the span.
    pub(super) fn somewhere(self, context: &mut Context<'_, '_>, align: u64, room: u64, len: u64) -> Extent {
        let first = self.start.next_multiple_of(align);
        let last = (self.start + self.len).saturating_sub(room.max(len));
        let places = last.saturating_sub(first) / align + 1;
        Extent { offset: first + context.random.below(places) * align, len: len as u32 }
    }
}

/// Two sectors: the least that straddles a boundary with a whole sector on either side.
pub(super) fn two_sectors(context: &Context<'_, '_>) -> u64 {
    2 * u64::from(context.sector())
}
