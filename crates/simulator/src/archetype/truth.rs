//! The truth about a simulated card, against which each finding is held. It stands in the archetype's file for
//! people to read; what is used is derived from the parameters, so that overrides change it too. A test holds the
//! two together.

use super::capacity::{CapacityVerdict, TrueCapacity};
use super::schema::{Archetype, Write};
use serde::{Deserialize, Serialize};

/// What a probe should find. A property that the card does not have is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Truth {
    /// Effective page in bytes.
    pub page_bytes: Option<u64>,
    /// Bytes fetched by one read.
    pub read_unit_bytes: Option<u64>,
    /// Erase block (allocation unit) in bytes.
    pub erase_block_bytes: Option<u64>,
    /// Segment of the mapping table in bytes, where crossing one shows.
    pub map_segment_bytes: Option<u64>,
    /// The region at the start that is treated specially, in bytes.
    pub fat_region_bytes: Option<u64>,
    /// What is true of the capacity.
    #[serde(default)]
    pub verdict: CapacityVerdict,
    /// The prefix from 0 that keeps what is written to it, in bytes. Where faults begin later, this is what it comes
    /// to.
    pub usable_bytes: u64,
    /// All bytes that keep what is written to them, wherever they lie.
    #[serde(default)]
    pub good_bytes: u64,
    /// Blocks that may be open at a time; absent where there is no limit.
    pub open_blocks: Option<OpenBlocks>,
    /// Bytes that the cache takes at full speed when it is clean and an empty card is written through.
    pub slc_cache_bytes: Option<u64>,
    /// Commands that the card really works on at a time: what more of them in flight gains, in 4 KiB reads of
    /// data just written.
    pub queue_depth: u32,
    /// Light throttling from this temperature on, in °C.
    pub tmt1_c: Option<f64>,
    /// Heavy throttling from this temperature on, in °C.
    pub tmt2_c: Option<f64>,
}

/// Blocks that may be open at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenBlocks {
    /// Written in order.
    pub linear: u32,
    /// Written out of order.
    pub random: u32,
}

impl Truth {
    /// The truth that follows from the parameters and the seed. A card of constant speed has no units.
    #[must_use]
    pub fn of(card: &Archetype, seed: u64) -> Truth {
        let capacity = TrueCapacity::of(card, seed);
        let mapped = card.constant.is_none();
        let unit_shows =
            card.read.as_ref().is_some_and(|r| r.within_read_unit_s.is_some() || card.front.path_s > 0.0);
        let segment_shows = card.read.as_ref().is_some_and(|r| r.segment_step_s > 0.0);
        let heat = card.thermal.as_ref().filter(|_| card.rig.heat);
        Truth {
            page_bytes: mapped.then_some(card.flash.page_bytes),
            read_unit_bytes: unit_shows.then_some(card.flash.read_unit_bytes),
            erase_block_bytes: mapped.then_some(card.flash.au_bytes),
            map_segment_bytes: card.flash.map_segment_bytes.filter(|_| segment_shows),
            fat_region_bytes: card.fat_region.map(|r| r.bytes),
            verdict: capacity.verdict,
            usable_bytes: capacity.usable_bytes,
            good_bytes: capacity.good_bytes,
            open_blocks: open_blocks(card),
            slc_cache_bytes: card.cache.as_ref().map(|c| c.through_bytes(card.announced_bytes) as u64),
            queue_depth: queue_depth(card),
            tmt1_c: heat.map(|t| t.tmt1_c),
            tmt2_c: heat.map(|t| t.tmt2_c),
        }
    }
}

fn open_blocks(card: &Archetype) -> Option<OpenBlocks> {
    match card.write {
        // As many as the card has are no limit.
        Some(Write::Hybrid(h)) if u64::from(h.open_linear) >= card.announced_bytes / card.flash.au_bytes => {
            None
        }
        Some(Write::Hybrid(h)) => Some(OpenBlocks { linear: h.open_linear, random: h.open_random }),
        _ => None,
    }
}

/// The ceiling of one read after the other may stop the gain before the queue does, and so may the transfers, which
/// follow each other on the bus.
fn queue_depth(card: &Archetype) -> u32 {
    let Some(read) = &card.read else { return card.queue.depth };
    let (base_s, serial_s) = card.cache.map_or((read.base_s, read.serial_s), |c| {
        (c.read_base_s.unwrap_or(read.base_s), c.read_serial_s.unwrap_or(read.serial_s))
    });
    let transfer_s = 4096.0 / (read.mb_s.min(card.rig.bus_mb_s.unwrap_or(f64::INFINITY)) * 1e6);
    let gain = ((base_s + transfer_s) / serial_s.max(transfer_s)).round() as u32;
    card.queue.depth.min(gain)
}
