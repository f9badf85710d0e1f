//! A card of constant speed, to calibrate against.

use super::check::{Verdict, positive, seconds};
use serde::{Deserialize, Serialize};

/// A card that answers each command in a fixed time plus its bytes at a fixed rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    /// Seconds of any command.
    pub command_s: f64,
    /// Speed of the transfer in MB/s, both ways.
    pub mb_s: f64,
}

impl Constant {
    pub(super) fn check(&self) -> Verdict {
        seconds("constant.command_s", self.command_s)?;
        positive("constant.mb_s", self.mb_s)
    }
}
