//! Times of reads, and of writes by the family of the mapping.

use super::check::{SECTOR, ValueCheck, ensure, some_bytes};
use serde::{Deserialize, Serialize};

/// Times of a read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadTimes {
    /// Seconds before the first byte of a 4 KiB read anywhere \[h_r + t_x\].
    pub base_s: f64,
    /// The same for a read that continues the last one; as `base_s` where absent.
    pub sequential_s: Option<f64>,
    /// The same at `ramp_bytes` and more; as `base_s` where absent. In between it is a straight line.
    pub large_s: Option<f64>,
    /// Length at which `large_s` is reached.
    #[serde(default = "ramp_bytes")]
    pub ramp_bytes: u64,
    /// Added where the read crosses a page \[δ_p\].
    #[serde(default)]
    pub page_step_s: f64,
    /// Added where it crosses an allocation unit \[δ_a\].
    #[serde(default)]
    pub au_step_s: f64,
    /// Added where it crosses a segment of the mapping table \[δ_s\].
    #[serde(default)]
    pub segment_step_s: f64,
    /// The whole read, where all of it lies in the unit read last.
    pub within_read_unit_s: Option<f64>,
    /// Least seconds from one read's end to the next one's \[t_ser\].
    #[serde(default)]
    pub serial_s: f64,
    /// Speed of the transfer in MB/s \[B_r\].
    pub mb_s: f64,
    /// The same as `base_s` where nothing was ever written, or was discarded; as `base_s` where absent \[t_u\].
    pub unmapped_s: Option<f64>,
    /// Added where the mapping table of the place is not in the controller's memory \[t_map\].
    #[serde(default)]
    pub map_miss_s: f64,
    /// Bytes of the card whose mapping the controller holds at a time \[C_map\]; all of them where absent.
    pub map_cache_bytes: Option<u64>,
}

/// Where base times that grow with the length end, if a file does not say: half a MiB, as on the Express cards.
fn ramp_bytes() -> u64 {
    512 << 10
}

impl ReadTimes {
    pub(super) fn check(&self) -> ValueCheck {
        some_bytes("read.ramp_bytes", self.ramp_bytes)?;
        some_bytes("read.map_cache_bytes", self.map_cache_bytes.unwrap_or(u64::MAX))
    }
}

/// Times of a write, by the family of the mapping.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "engine", rename_all = "kebab-case")]
pub enum WriteTimes {
    /// Blocks mapped whole, a few of them open at a time.
    Hybrid(HybridWrite),
    /// Random writes go to a log, whose reclaiming costs a merge for each allocation unit in it.
    Log(LogWrite),
    /// Pages mapped one by one.
    Page(PageWrite),
}

impl WriteTimes {
    /// Speed of the transfer and programming in MB/s \[B_w\].
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
            WriteTimes::Log(log) => log.check(),
            WriteTimes::Page(page) => page.check(),
        }
    }
}

/// What closing a block copies that was not written whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CloseCopy {
    /// Only what was not written since it was opened; all of it after writes out of order.
    #[default]
    Partial,
    /// All of it.
    Full,
    /// Only what was written since it was opened: the limit is soft, a few times slower instead of sixty times.
    Written,
}

/// A log in which small writes are gathered wherever they belong (model 1.2, family 2).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SmallLog {
    /// Longest write that goes there \[S_sw\].
    pub max_write_bytes: u64,
    /// Seconds of such a write before its data \[t_sw\].
    pub write_s: f64,
    /// Speed of its data in MB/s.
    pub mb_s: f64,
    /// Bytes that it holds before it is emptied \[C_sw\].
    pub bytes: u64,
    /// Seconds of emptying it \[T_swm\].
    pub merge_s: f64,
    /// True where it also takes writes that continue an open block, as long as they do not continue the last write.
    #[serde(default)]
    pub takes_turns: bool,
}

/// Parameters of the hybrid engine (model, W-H).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HybridWrite {
    /// What closing an unfinished block copies.
    pub close: CloseCopy,
    /// Blocks that may be open while they are written in order \[K\].
    pub open_linear: u32,
    /// Blocks that may be open while some are written out of order; 0 merges at every write out of order.
    pub open_random: u32,
    /// Seconds before the data of any write \[t_w0\].
    pub fixed_s: f64,
    /// Added in the first block of a stream, and where blocks take turns \[t_wn\].
    #[serde(default)]
    pub new_stream_s: f64,
    /// Added to a write that does not continue the last one.
    #[serde(default)]
    pub jump_s: f64,
    /// Paid once where a stream that had run through a whole block is left.
    #[serde(default)]
    pub stream_end_s: f64,
    /// Added to a write in order that is shorter than a page \[t_sub\].
    pub sub_page_s: f64,
    /// Added besides where such a write does not continue the last one: nothing in the controller's memory joins it.
    #[serde(default)]
    pub sub_page_jump_s: f64,
    /// Added for each end of a longer write in order that cuts a page; as `sub_page_s` where absent.
    pub ragged_s: Option<f64>,
    /// Added to any write out of order.
    #[serde(default)]
    pub random_s: f64,
    /// Added to a write out of order that is shorter than a page.
    pub sub_page_random_s: f64,
    /// Speed of the transfer and programming in MB/s \[B_w\].
    pub mb_s: f64,
    /// Speed of copying inside the card in MB/s \[B_copy\].
    pub copy_mb_s: f64,
    /// Added to each closing that copies \[t_c\].
    pub close_s: f64,
    /// Bytes that an open block takes before a write out of order merges it \[R_log\].
    pub random_log_bytes: u64,
    /// Where small writes go; absent without such a log.
    pub small_log: Option<SmallLog>,
}

/// Open blocks are looked through at each write that changes blocks; real cards have 1 to some dozens.
const MOST_OPEN: u32 = 1024;

impl HybridWrite {
    pub(super) fn check(&self) -> ValueCheck {
        some_bytes("write.random_log_bytes", self.random_log_bytes)?;
        some_bytes("write.open_linear", u64::from(self.open_linear))?;
        let (linear, random) = (self.open_linear, self.open_random);
        ensure(linear.max(random) <= MOST_OPEN, || {
            format!(
                "write.open_linear = {linear} and write.open_random = {random} must be at most {MOST_OPEN}"
            )
        })?;
        self.small_log.as_ref().map_or(Ok(()), SmallLog::check)
    }
}

impl SmallLog {
    fn check(&self) -> ValueCheck {
        let (bytes, most) = (self.bytes, self.max_write_bytes);
        some_bytes("write.small_log.max_write_bytes", most)?;
        ensure(bytes >= most, || {
            format!("write.small_log.bytes = {bytes} must be at least max_write_bytes = {most}")
        })
    }
}

/// Parameters of the log engine (model, W-L).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogWrite {
    /// Seconds before the data of a write in order \[t_w0\].
    pub fixed_s: f64,
    /// Seconds of one 4 KiB write out of order \[t_b\].
    pub random_s: f64,
    /// Speed of the transfer and programming in MB/s \[B_w\].
    pub mb_s: f64,
    /// Bytes that the log holds \[L\].
    pub log_bytes: u64,
    /// Seconds of merging one allocation unit \[T_m\].
    pub merge_s: f64,
}

impl LogWrite {
    pub(super) fn check(&self) -> ValueCheck {
        ensure(self.log_bytes >= 4096, || {
            format!("write.log_bytes = {} must be at least 4096", self.log_bytes)
        })
    }
}

/// Parameters of the page engine (model, W-P).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageWrite {
    /// Seconds before the data of a 4 KiB write \[t_b\].
    pub base_s: f64,
    /// The same at `ramp_bytes` and more; as `base_s` where absent.
    pub large_s: Option<f64>,
    /// Length at which `large_s` is reached.
    #[serde(default = "ramp_bytes")]
    pub ramp_bytes: u64,
    /// Least seconds from one write's end to the next one's.
    #[serde(default)]
    pub serial_s: f64,
    /// Speed of the transfer and programming in MB/s \[B_w\].
    pub mb_s: f64,
    /// Added where the mapping table of the place is not in the controller's memory (`read.map_cache_bytes`).
    #[serde(default)]
    pub map_miss_s: f64,
    /// Garbage collection; absent where the levels above contain it.
    pub gc: Option<GarbageCollection>,
}

/// Garbage collection: how a card mapped by page gets erased blocks back.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GarbageCollection {
    /// Flash beyond what is announced, as a share of it: 0.07 where 2^30 bytes are sold as 10^9.
    pub spare_share: f64,
    /// Bytes that are collected and erased at a time \[E\].
    pub unit_bytes: u64,
    /// Speed of copying what is still valid, in MB/s \[B_copy\].
    pub copy_mb_s: f64,
    /// Seconds of erasing a unit \[t_erase\].
    pub erase_s: f64,
}

impl PageWrite {
    pub(super) fn check(&self) -> ValueCheck {
        some_bytes("write.ramp_bytes", self.ramp_bytes)?;
        self.gc.as_ref().map_or(Ok(()), GarbageCollection::check)
    }
}

impl GarbageCollection {
    fn check(&self) -> ValueCheck {
        let bytes = self.unit_bytes;
        ensure(bytes >= 64 << 10 && bytes.is_multiple_of(SECTOR), || {
            format!("write.gc.unit_bytes = {bytes} must be a multiple of 512 and at least 64 KiB")
        })
    }
}
