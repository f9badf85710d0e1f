//! Parameters of the hybrid engine.

use super::check::{Verdict, positive, seconds, some_bytes};
use serde::{Deserialize, Serialize};

/// What closing a block copies that was not written whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Close {
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
    pub close: Close,
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
    #[serde(default)]
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
    #[serde(default)]
    pub small_log: Option<SmallLog>,
}

/// Open blocks are looked through at each write that changes blocks; real cards have 1 to some dozens.
const MOST_OPEN: u32 = 1024;

impl HybridWrite {
    pub(super) fn check(&self) -> Verdict {
        for (key, value) in [
            ("write.fixed_s", self.fixed_s),
            ("write.new_stream_s", self.new_stream_s),
            ("write.jump_s", self.jump_s),
            ("write.stream_end_s", self.stream_end_s),
            ("write.sub_page_s", self.sub_page_s),
            ("write.sub_page_jump_s", self.sub_page_jump_s),
            ("write.ragged_s", self.ragged_s.unwrap_or(0.0)),
            ("write.random_s", self.random_s),
            ("write.sub_page_random_s", self.sub_page_random_s),
            ("write.close_s", self.close_s),
        ] {
            seconds(key, value)?;
        }
        positive("write.mb_s", self.mb_s)?;
        positive("write.copy_mb_s", self.copy_mb_s)?;
        some_bytes("write.random_log_bytes", self.random_log_bytes)?;
        some_bytes("write.open_linear", u64::from(self.open_linear))?;
        if self.open_linear.max(self.open_random) > MOST_OPEN {
            return Err(format!(
                "write.open_linear = {} and write.open_random = {} must be at most {MOST_OPEN}",
                self.open_linear, self.open_random
            ));
        }
        self.small_log.as_ref().map_or(Ok(()), SmallLog::check)
    }
}

impl SmallLog {
    fn check(&self) -> Verdict {
        seconds("write.small_log.write_s", self.write_s)?;
        seconds("write.small_log.merge_s", self.merge_s)?;
        positive("write.small_log.mb_s", self.mb_s)?;
        some_bytes("write.small_log.max_write_bytes", self.max_write_bytes)?;
        if self.bytes < self.max_write_bytes {
            return Err(format!(
                "write.small_log.bytes = {} must be at least max_write_bytes = {}",
                self.bytes, self.max_write_bytes
            ));
        }
        Ok(())
    }
}
