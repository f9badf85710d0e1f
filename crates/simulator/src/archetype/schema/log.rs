//! Parameters of the log engine.

use super::check::{Verdict, positive, seconds};
use serde::{Deserialize, Serialize};

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
    pub(super) fn check(&self) -> Verdict {
        seconds("write.fixed_s", self.fixed_s)?;
        seconds("write.random_s", self.random_s)?;
        seconds("write.merge_s", self.merge_s)?;
        positive("write.mb_s", self.mb_s)?;
        if self.log_bytes < 4096 {
            return Err(format!("write.log_bytes = {} must be at least 4096", self.log_bytes));
        }
        Ok(())
    }
}
