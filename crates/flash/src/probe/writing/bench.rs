//! What all writing parts share: the site, places that have rested, and timing many writes that were saved in one go.

use super::slots::{EVERY_UNIT, WriteSlots};
use crate::probe::options::MapOptions;
use cardscope_engine::card::{CardExtent, ProbeStop, extents};
use cardscope_model::card_map::MeasuredMap;
use cardscope_model::units::MIB;
use cardscope_probing::context::{CARD_START, ProbeContext};

/// What is written for a test comes at so many bytes a second at least, as far as is known before.
pub(super) const SLOWEST: f64 = 4e6;

/// Longest write of a map.
pub(super) const LARGEST: u32 = 4 << 20;

/// Bytes of a write that opens a block: whole pages of every size up to 48 KiB, so that each position costs the same; none of the "small"
/// ones that some cards put elsewhere (up to 8 KiB); below the 120 KiB at which readers cut.
pub(super) const BLOCK: u32 = 48 << 10;

/// A part ends after so many seconds, whatever is left of it: the slowest simulated card needs 16 minutes for its open
/// blocks, closing one every few seconds; a card that stalls for a minute at each write would need days. The cache is
/// left out of this: it is written by bytes, and a large one takes hours by right.
const PATIENCE: f64 = 3600.0;

/// Everything a part works with.
pub(super) struct WriteTester<'b, 's, 't> {
    pub(super) context: &'b mut ProbeContext<'s, 't>,
    pub(super) slots: WriteSlots,
    pub(super) options: &'b MapOptions,
    pub(super) into: &'b mut MeasuredMap,
    /// When the part under way began, in seconds of the card's clock.
    began: f64,
}

impl<'b, 's, 't> WriteTester<'b, 's, 't> {
    /// `None` where what may be written to is too small.
    pub(super) fn new(
        context: &'b mut ProbeContext<'s, 't>,
        options: &'b MapOptions,
        into: &'b mut MeasuredMap,
    ) -> Option<Self> {
        let known = known_unit(options, into);
        let unit = known.unwrap_or_else(|| stand_in(context.region.len, options.claimed_unit));
        let slots = WriteSlots::new(context.region, unit, known.is_some(), first(options))?;
        let began = context.seconds();
        Some(WriteTester { context, slots, options, into, began })
    }

    /// A part begins, with all of its patience.
    pub(super) fn begin(&mut self, what: &str) {
        self.context.stage(what);
        self.began = self.context.seconds();
    }

    /// Takes places of the erase block that was found meanwhile: so they begin on its pages too, whatever those are.
    pub(super) fn lay_out_anew(&mut self) {
        let (region, from) = (self.context.region, first(self.options));
        if let Some(slots) =
            known_unit(self.options, self.into).and_then(|unit| WriteSlots::new(region, unit, true, from))
        {
            self.slots = slots;
        }
    }

    /// `n` places that were not used lately.
    pub(super) fn places(&mut self, n: usize) -> Option<Vec<u64>> {
        self.slots.take(n, &mut self.context.random)
    }

    /// A fresh range that begins on a boundary of every erase block there is, where there is such.
    pub(super) fn range(&mut self, bytes: u64) -> Option<u64> {
        let aligns = [EVERY_UNIT, 64 * MIB, self.slots.unit()];
        aligns.iter().find_map(|align| self.slots.range(bytes, *align, &mut self.context.random))
    }

    /// Saves what stands in extents, in one go, and writes them one after the other: the seconds each took, without
    /// those that failed. [`Stop::Limit`] once the time is up.
    pub(super) fn write_all(&mut self, extents: &[CardExtent]) -> Result<Vec<f64>, ProbeStop> {
        self.context.prepare(extents)?;
        let mut times = Vec::with_capacity(extents.len());
        for extent in extents {
            self.afford(0.0)?;
            times.extend(self.context.write(*extent)?);
        }
        Ok(times)
    }

    /// Writes so many bytes from `start` on in order, as [`Bench::write_all`] does.
    pub(super) fn write_in_order(&mut self, start: u64, bytes: u64) -> Result<Vec<f64>, ProbeStop> {
        self.write_all(&extents(start, start + bytes, MIB as u32).collect::<Vec<_>>())
    }

    /// Opens the block at each of these places with a first write of [`BLOCK`] bytes.
    pub(super) fn open(&mut self, places: &[u64]) -> Result<Vec<f64>, ProbeStop> {
        self.write_all(&places.iter().map(|p| CardExtent { offset: *p, len: BLOCK }).collect::<Vec<_>>())
    }

    /// True where all of the card may be written to, its start left out.
    pub(super) fn is_whole_card(&self) -> bool {
        self.options.card_addresses && self.context.region.len == self.context.card_bytes()
    }

    /// Whether the time given and the patience with this part leave room for something that takes about `seconds`.
    pub(super) fn has_time(&mut self, seconds: f64) -> bool {
        self.context.has_time(seconds) && !self.is_out_of_patience()
    }

    /// Whether this part took longer than any card that is worth it.
    pub(super) fn is_out_of_patience(&mut self) -> bool {
        self.context.seconds() - self.began > PATIENCE
    }

    /// Something that takes about `seconds` is not begun where the time is up, nor once the user asked to stop.
    pub(super) fn afford(&mut self, seconds: f64) -> Result<(), ProbeStop> {
        self.context.go_on()?;
        if self.has_time(seconds) { Ok(()) } else { Err(ProbeStop::Limit) }
    }
}

/// Writes of these sizes, one directly behind the other.
pub(super) fn in_a_row(start: u64, sizes: impl IntoIterator<Item = u64>) -> Vec<CardExtent> {
    let mut next = start;
    let write = |len: u64| {
        let offset = next;
        next += len;
        CardExtent { offset, len: len as u32 }
    };
    sizes.into_iter().map(write).collect()
}

/// First byte that may be written to where the card is as it is.
fn first(options: &MapOptions) -> u64 {
    if options.card_addresses { CARD_START } else { 0 }
}

/// The unit that was chosen, or the erase block as reads showed it.
fn known_unit(options: &MapOptions, into: &MeasuredMap) -> Option<u64> {
    options.unit.or(into.erase_block_bytes.value.filter(|unit| *unit >= 256 << 10))
}

/// What stands for an erase block that is not known: what the card claims, else 8 MiB; but what leaves some 256 places.
fn stand_in(region: u64, claimed: Option<u64>) -> u64 {
    let room = (region / 256).max(1).next_power_of_two().max(MIB);
    claimed.map_or(8 * MIB, |unit| unit.clamp(MIB, 64 * MIB)).min(room)
}
