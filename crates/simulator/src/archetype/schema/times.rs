//! Times of reads, and of writes by family of mapping (docs/reference/flash.md#mapping).

use super::value_checks::{SECTOR, ValueCheck, check_not_zero, ensure};
use serde::{Deserialize, Serialize};

/// Times of a read. Seconds before the data, unless stated otherwise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadTimes {
    /// Time before the first byte of a 4 KiB read.
    pub base_s: f64,
    /// Time for a read that continues the last one; None for `base_s`.
    pub sequential_s: Option<f64>,
    /// Time from `ramp_bytes` on; None for `base_s`. The time grows linearly up to there.
    pub large_s: Option<f64>,
    /// Length at which `large_s` is reached.
    #[serde(default = "default_ramp_bytes")]
    pub ramp_bytes: u64,
    /// Added if the read crosses a page.
    #[serde(default)]
    pub page_step_s: f64,
    /// Added if it crosses an allocation unit.
    #[serde(default)]
    pub au_step_s: f64,
    /// Added if it crosses a segment of the mapping table.
    #[serde(default)]
    pub segment_step_s: f64,
    /// Time of a whole read within the unit that was read last.
    pub within_read_unit_s: Option<f64>,
    /// Least time between the ends of two reads (t_ser).
    #[serde(default)]
    pub serial_s: f64,
    pub mb_s: f64,
    /// Replaces `base_s` for a range that was never written or was discarded; None for no difference.
    pub unmapped_s: Option<f64>,
    /// Added if the controller's memory lacks that part of the mapping table (t_map).
    #[serde(default)]
    pub map_miss_s: f64,
    /// Bytes of the card whose mapping the controller holds at a time (C_map); None for all of them.
    pub map_cache_bytes: Option<u64>,
}

/// Default end of the range in which base times grow: 512 KiB, as on the Express cards.
fn default_ramp_bytes() -> u64 {
    512 << 10
}

impl ReadTimes {
    pub(super) fn check(&self) -> ValueCheck {
        check_not_zero("read.ramp_bytes", self.ramp_bytes)?;
        check_not_zero("read.map_cache_bytes", self.map_cache_bytes.unwrap_or(u64::MAX))
    }
}

/// Times of a write, by family of mapping.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "engine", rename_all = "kebab-case")]
pub enum WriteTimes {
    /// Blocks mapped whole, a few of them open at a time.
    Hybrid(HybridWrite),
    /// A log for random writes; reclaiming it merges each allocation unit in it.
    Log(LogWrite),
    /// Pages mapped one by one.
    Page(PageWrite),
}

const MIN_GC_UNIT: u64 = 64 << 10;

impl WriteTimes {
    pub(crate) fn mb_s(&self) -> f64 {
        match self {
            WriteTimes::Hybrid(HybridWrite { mb_s, .. })
            | WriteTimes::Log(LogWrite { mb_s, .. })
            | WriteTimes::Page(PageWrite { mb_s, .. }) => *mb_s,
        }
    }

    pub(super) fn check(&self) -> ValueCheck {
        match self {
            WriteTimes::Hybrid(hybrid) => hybrid.check(),
            WriteTimes::Log(LogWrite { log_bytes, .. }) => {
                ensure!(*log_bytes >= 4096, "write.log_bytes = {log_bytes} must be at least 4096");
                Ok(())
            }
            WriteTimes::Page(page) => {
                check_not_zero("write.ramp_bytes", page.ramp_bytes)?;
                let bytes = page.gc.map_or(MIN_GC_UNIT, |gc| gc.unit_bytes);
                ensure!(
                    bytes >= MIN_GC_UNIT && bytes.is_multiple_of(SECTOR),
                    "write.gc.unit_bytes = {bytes} must be a multiple of 512 and at least 64 KiB"
                );
                Ok(())
            }
        }
    }
}

/// Data that is copied when a block is closed that was not written whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CloseCopy {
    /// Data that was not written since the block was opened; the whole block after writes out of order.
    #[default]
    Partial,
    /// The whole block.
    Full,
    /// Data that was written since the block was opened: a soft limit, a few times slower instead of sixty times.
    Written,
}

/// Log for small writes at any address (docs/reference/flash.md#small-write-log).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SmallLog {
    /// Longest write that goes to the log.
    pub max_write_bytes: u64,
    /// Seconds before the data of such a write.
    pub write_s: f64,
    pub mb_s: f64,
    /// Bytes in the log at which it is emptied.
    pub bytes: u64,
    /// Seconds of emptying it.
    pub merge_s: f64,
    /// True if the log also takes writes that continue an open block, unless they continue the last write.
    #[serde(default)]
    pub takes_turns: bool,
}

/// Parameters of the hybrid engine (docs/reference/flash.md#open-blocks). Times are seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HybridWrite {
    pub close: CloseCopy,
    /// Blocks that may be open while they are written in order (K).
    pub open_linear: u32,
    /// Blocks that may be open while one is written out of order; 0 merges at every write out of order.
    pub open_random: u32,
    /// Time before the data of any write.
    pub fixed_s: f64,
    /// Added in the first block of a stream, and when streams take turns.
    #[serde(default)]
    pub new_stream_s: f64,
    /// Added to a write that does not continue the last one.
    #[serde(default)]
    pub jump_s: f64,
    /// Added once when a stream ends that had filled a block.
    #[serde(default)]
    pub stream_end_s: f64,
    /// Added to a write in order that is shorter than a page.
    pub sub_page_s: f64,
    /// Added in addition if such a write does not continue the last one, so that the controller cannot join them.
    #[serde(default)]
    pub sub_page_jump_s: f64,
    /// Added for each end of a longer write in order that lies inside a page; None for `sub_page_s`.
    pub ragged_s: Option<f64>,
    /// Added to any write out of order.
    #[serde(default)]
    pub random_s: f64,
    /// Added to a write out of order that is shorter than a page.
    pub sub_page_random_s: f64,
    pub mb_s: f64,
    /// Speed of copying inside the card.
    pub copy_mb_s: f64,
    /// Added to each closing that copies.
    pub close_s: f64,
    /// Bytes that an open block takes before a write out of order merges it.
    pub random_log_bytes: u64,
    /// Log for small writes; None for a card without one.
    pub small_log: Option<SmallLog>,
}

/// Limit of open blocks, since each write that changes blocks searches them; real cards have 1 to some dozens.
const MAX_OPEN_BLOCKS: u32 = 1024;

impl HybridWrite {
    pub(super) fn check(&self) -> ValueCheck {
        check_not_zero("write.random_log_bytes", self.random_log_bytes)?;
        check_not_zero("write.open_linear", u64::from(self.open_linear))?;
        let (linear, random) = (self.open_linear, self.open_random);
        ensure!(
            linear.max(random) <= MAX_OPEN_BLOCKS,
            "write.open_linear = {linear} and write.open_random = {random} must be at most {MAX_OPEN_BLOCKS}"
        );
        let Some(SmallLog { bytes, max_write_bytes: most, .. }) = self.small_log else { return Ok(()) };
        ensure!(bytes >= most, "write.small_log.bytes = {bytes} must be at least max_write_bytes = {most}");
        check_not_zero("write.small_log.max_write_bytes", most)
    }
}

/// Parameters of the log engine (docs/reference/flash.md#span-of-random-writes). Times are seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogWrite {
    /// Time before the data of a write in order.
    pub fixed_s: f64,
    /// Time of one 4 KiB write out of order (t_b).
    pub random_s: f64,
    pub mb_s: f64,
    /// Bytes that the log holds (L).
    pub log_bytes: u64,
    /// Time of merging one allocation unit (T_m).
    pub merge_s: f64,
}

/// Parameters of the page engine (docs/reference/flash.md#mapping). Times are seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageWrite {
    /// Time before the data of a 4 KiB write.
    pub base_s: f64,
    /// Time from `ramp_bytes` on; None for `base_s`.
    pub large_s: Option<f64>,
    #[serde(default = "default_ramp_bytes")]
    pub ramp_bytes: u64,
    /// Least time between the ends of two writes.
    #[serde(default)]
    pub serial_s: f64,
    pub mb_s: f64,
    /// Added if the controller's memory lacks that part of the mapping table (`read.map_cache_bytes`).
    #[serde(default)]
    pub map_miss_s: f64,
    /// Garbage collection; None if the other times include it.
    pub gc: Option<GarbageCollection>,
}

/// Garbage collection of a card mapped by page.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GarbageCollection {
    /// Flash beyond the announced capacity, as a share of it: 0.07 if 2^30 bytes are sold as 10^9.
    pub spare_share: f64,
    /// Bytes that are collected and erased at a time.
    pub unit_bytes: u64,
    pub copy_mb_s: f64,
    pub erase_s: f64,
}
