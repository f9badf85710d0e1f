//! Write region, limits and timed writes that all writing parts share.

use super::options::{MapOptions, Result};
use super::write_slots::{EVERY_UNIT, WriteSlots};
use cardscope_engine::io_driver::{CardExtent, ProbeStop, split_extents};
use cardscope_model::card_map::MeasuredMap;
use cardscope_model::units::MIB;
use cardscope_probing::context::{CARD_START, ProbeContext};

/// Lowest write speed to plan with, in bytes per second.
pub(super) const SLOWEST_BYTES_PER_S: f64 = 4e6;

pub(super) const MAX_WRITE: u32 = 4 << 20;

/// Bytes of a write that opens a block: whole pages of all sizes up to 48 KiB, so that every position costs the
/// same; larger than the "small" writes that some cards store elsewhere (up to 8 KiB), and below the 120 KiB at
/// which readers split.
pub(super) const OPENING_BYTES: u32 = 48 << 10;

/// Longest duration of a part in seconds. The slowest simulated card needs 16 minutes for its open blocks, while a
/// card that stalls for a minute at each write would need days. The cache is exempt: it is limited by bytes, and a
/// large one takes hours legitimately.
const MAX_PART_S: f64 = 3600.0;

pub(super) struct WriteTester<'b, 's, 't> {
    pub(super) context: &'b mut ProbeContext<'s, 't>,
    pub(super) slots: WriteSlots,
    pub(super) options: &'b MapOptions,
    pub(super) into: &'b mut MeasuredMap,
    /// Start of the current part, in seconds on the card's clock.
    began: f64,
}

impl<'b, 's, 't> WriteTester<'b, 's, 't> {
    /// Returns `None` if the write region is too small.
    pub(super) fn new(
        context: &'b mut ProbeContext<'s, 't>,
        options: &'b MapOptions,
        into: &'b mut MeasuredMap,
    ) -> Option<Self> {
        let known = known_unit(options, into);
        let unit = known.unwrap_or_else(|| assumed_unit(context.region.len, options.claimed_unit));
        let slots = WriteSlots::new(context.region, unit, known.is_some(), first_writable(options))?;
        let began = context.seconds();
        Some(WriteTester { context, slots, options, into, began })
    }

    pub(super) fn begin_part(&mut self, what: &str) {
        self.context.begin_stage(what);
        self.began = self.context.seconds();
    }

    /// Divides the region anew by the erase block found meanwhile, so that positions start on its boundaries.
    pub(super) fn use_measured_unit(&mut self) {
        let (region, from) = (self.context.region, first_writable(self.options));
        let unit = known_unit(self.options, self.into);
        if let Some(slots) = unit.and_then(|unit| WriteSlots::new(region, unit, true, from)) {
            self.slots = slots;
        }
    }

    pub(super) fn take_positions(&mut self, n: usize) -> Option<Vec<u64>> {
        self.slots.take_slots(n, &mut self.context.random)
    }

    /// Unused range that starts at a boundary of every possible erase block, if there is one.
    pub(super) fn take_range(&mut self, bytes: u64) -> Option<u64> {
        let aligns = [EVERY_UNIT, 64 * MIB, self.slots.unit()];
        aligns.iter().find_map(|align| self.slots.take_range(bytes, *align, &mut self.context.random))
    }

    /// Saves all extents at once, writes them in order and returns the seconds of the successful writes.
    /// [`ProbeStop::Limit`] once the time is up.
    pub(super) fn write_all(&mut self, extents: &[CardExtent]) -> Result<Vec<f64>> {
        self.context.save_before_write(extents)?;
        let mut times = Vec::with_capacity(extents.len());
        for extent in extents {
            self.require_time(0.0)?;
            times.extend(self.context.time_write(*extent)?);
        }
        Ok(times)
    }

    /// Writes `bytes` sequentially from `start`, as [`WriteTester::write_all`] does.
    pub(super) fn write_in_order(&mut self, start: u64, bytes: u64) -> Result<Vec<f64>> {
        self.write_all(&split_extents(start, start + bytes, MIB as u32).collect::<Vec<_>>())
    }

    pub(super) fn open_blocks(&mut self, places: &[u64]) -> Result<Vec<f64>> {
        let opening = |offset: &u64| CardExtent { offset: *offset, len: OPENING_BYTES };
        self.write_all(&places.iter().map(opening).collect::<Vec<_>>())
    }

    /// True if the whole card may be written, apart from its start.
    pub(super) fn is_whole_card(&self) -> bool {
        self.options.card_addresses && self.context.region.len == self.context.card_bytes()
    }

    /// True if the time limits of the run and of this part leave about `seconds`.
    pub(super) fn has_time(&mut self, seconds: f64) -> bool {
        self.context.has_time(seconds) && !self.part_took_too_long()
    }

    pub(super) fn part_took_too_long(&mut self) -> bool {
        self.context.seconds() - self.began > MAX_PART_S
    }

    /// [`ProbeStop::Limit`] if less than about `seconds` are left; also ends the part if the user stopped the test.
    pub(super) fn require_time(&mut self, seconds: f64) -> Result<()> {
        self.context.check_interrupt()?;
        if self.has_time(seconds) { Ok(()) } else { Err(ProbeStop::Limit) }
    }
}

pub(super) fn contiguous_extents(start: u64, sizes: impl IntoIterator<Item = u64>) -> Vec<CardExtent> {
    let mut next = start;
    let write = |len: u64| {
        let offset = next;
        next += len;
        CardExtent { offset, len: len as u32 }
    };
    sizes.into_iter().map(write).collect()
}

/// First byte that may be written. The start of a card is excluded.
fn first_writable(options: &MapOptions) -> u64 {
    if options.card_addresses { CARD_START } else { 0 }
}

/// Unit that the user chose, else the measured erase block.
fn known_unit(options: &MapOptions, into: &MeasuredMap) -> Option<u64> {
    options.open_block_unit.or(into.erase_block_bytes.value.filter(|unit| *unit >= 256 << 10))
}

/// Assumed erase block if none is measured: the claimed one or 8 MiB, reduced so that 256 positions fit.
fn assumed_unit(region: u64, claimed: Option<u64>) -> u64 {
    let room = (region / 256).max(1).next_power_of_two().max(MIB);
    claimed.map_or(8 * MIB, |unit| unit.clamp(MIB, 64 * MIB)).min(room)
}
