//! The controller in front of the flash.

use super::check::{SECTOR, Verdict, positive, seconds};
use serde::{Deserialize, Serialize};

/// Command path and memory of the controller.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Front {
    /// Seconds of a command that needs no flash: the part of every other time that is the command path \[h\].
    pub path_s: f64,
    /// Speed of the card's interface in MB/s, whatever the reader could do \[B_i\].
    pub interface_mb_s: Option<f64>,
    /// Memory in which writes that continue each other are joined before they go to the flash, in bytes; 0 joins
    /// none. A power cut before a flush would lose it.
    pub ram_bytes: u64,
    /// Seconds of a discard.
    pub discard_s: f64,
}

impl Front {
    pub(super) fn check(&self) -> Verdict {
        seconds("front.path_s", self.path_s)?;
        seconds("front.discard_s", self.discard_s)?;
        positive("front.interface_mb_s", self.interface_mb_s.unwrap_or(1.0))?;
        if !self.ram_bytes.is_multiple_of(SECTOR) || self.ram_bytes > 1 << 30 {
            return Err(format!(
                "front.ram_bytes = {} must be a multiple of 512, at most 1 GiB",
                self.ram_bytes
            ));
        }
        Ok(())
    }
}
