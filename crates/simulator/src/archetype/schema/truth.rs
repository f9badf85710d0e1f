//! The shape of a card's truth, against which each finding is held. It stands in the archetype's file for people to
//! read; what is used is derived from the parameters.

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

/// What is true of a card's capacity, in the words of `verify`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CapacityVerdict {
    /// All of it is there.
    #[default]
    Genuine,
    /// What lies beyond some address is lost.
    Limbo,
    /// Addresses wrap.
    Wraparound,
    /// Addresses wrap, and part of what is left is lost.
    Chain,
    /// Places here and there lose what they are given, now or later.
    Damaged,
    /// It keeps no block.
    Dead,
    /// Any address works until too many are in use.
    Overcommitted,
    /// Writes are accepted and dropped.
    ReadOnly,
    /// Two reads of one place differ, or a command fails that succeeds the next time.
    Unstable,
}
