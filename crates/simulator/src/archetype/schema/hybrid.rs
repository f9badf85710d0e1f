//! Parameters of the hybrid engine.

use super::check::{Verdict, positive, seconds, some_bytes};
use serde::{Deserialize, Serialize};

/// How a block that was written in order but not to its end is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Close {
    /// Only the rest is copied.
    Partial,
    /// All of it is copied.
    Full,
}

/// Parameters of the hybrid engine (model, W-H).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HybridWrite {
    /// How an unfinished block is closed.
    pub close: Close,
    /// Blocks that may be open while they are written in order \[K\].
    pub open_linear: u32,
    /// Blocks that may be open while some are written out of order.
    pub open_random: u32,
    /// Seconds before the data of any write \[t_w0\].
    pub fixed_s: f64,
    /// Added in the first block of a stream, and where blocks take turns \[t_wn\].
    pub new_stream_s: f64,
    /// Paid once where a stream that had run through a whole block is left.
    #[serde(default)]
    pub stream_end_s: f64,
    /// Added to a write in order that is no multiple of the page \[t_sub\].
    pub sub_page_s: f64,
    /// Added to a write out of order that is shorter than a page.
    pub sub_page_random_s: f64,
    /// Speed of the transfer and programming in MB/s \[B_w\].
    pub mb_s: f64,
    /// Speed of copying inside the card in MB/s \[B_copy\].
    pub copy_mb_s: f64,
    /// Added to each closing that copies \[t_c\].
    pub close_s: f64,
    /// Bytes out of order that one block takes before it is merged \[R_log\].
    pub random_log_bytes: u64,
}

impl HybridWrite {
    pub(super) fn check(&self) -> Verdict {
        for (key, value) in [
            ("write.fixed_s", self.fixed_s),
            ("write.new_stream_s", self.new_stream_s),
            ("write.stream_end_s", self.stream_end_s),
            ("write.sub_page_s", self.sub_page_s),
            ("write.sub_page_random_s", self.sub_page_random_s),
            ("write.close_s", self.close_s),
        ] {
            seconds(key, value)?;
        }
        positive("write.mb_s", self.mb_s)?;
        positive("write.copy_mb_s", self.copy_mb_s)?;
        some_bytes("write.random_log_bytes", self.random_log_bytes)?;
        some_bytes("write.open_linear", u64::from(self.open_linear))?;
        some_bytes("write.open_random", u64::from(self.open_random))
    }
}
