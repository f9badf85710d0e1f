//! What every card has: the units of its flash, the controller in front of them, commands in flight, the scatter of its
//! times, and the region at its start that many cards treat specially since the file allocation table lies there. Last
//! the card that has none of it and is of constant speed.

use super::check::{SECTOR, Verdict, whole_sectors};
use cardscope_model::with_defaults;
use serde::{Deserialize, Serialize};

with_defaults! {
    /// Units of the flash, in bytes.
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct Flash {
        /// Effective page (planes and dies joined) \[P\].
        pub page_bytes: u64 = 16384,
        /// Planes that make up a page: a write that fills only some of them occupies whole ones, and of two queued reads
        /// on one plane the second waits for the first.
        #[serde(default = "one")]
        pub planes: u32 = 1,
        /// What one read fetches into the controller's buffer.
        pub read_unit_bytes: u64 = 4096,
        /// Allocation unit: erase blocks that are mapped as one \[A\].
        pub au_bytes: u64 = 4 << 20,
        /// Segment of the mapping table; crossing one costs `read.segment_step_s`.
        pub map_segment_bytes: Option<u64> = None,
    }
}

fn one() -> u32 {
    1
}

impl Flash {
    /// Bytes of a page that lie on one plane.
    pub fn plane_bytes(&self) -> u64 {
        self.page_bytes / u64::from(self.planes)
    }

    pub(super) fn check(&self) -> Verdict {
        let segment = self.map_segment_bytes.unwrap_or(self.au_bytes);
        for (key, value) in [
            ("flash.page_bytes", self.page_bytes),
            ("flash.read_unit_bytes", self.read_unit_bytes),
            ("flash.au_bytes", self.au_bytes),
            ("flash.map_segment_bytes", segment),
        ] {
            whole_sectors(key, value)?;
        }
        if !self.au_bytes.is_multiple_of(self.page_bytes) {
            let Flash { au_bytes, page_bytes, .. } = self;
            return Err(format!(
                "flash.au_bytes = {au_bytes} is no multiple of flash.page_bytes = {page_bytes}"
            ));
        }
        let plane = self.page_bytes.checked_rem(u64::from(self.planes) * SECTOR);
        if plane != Some(0) {
            return Err(format!(
                "flash.planes = {} must divide flash.page_bytes = {} into whole sectors",
                self.planes, self.page_bytes
            ));
        }
        // The model keeps one entry an allocation unit: a unit of one sector on a terabyte would fill the memory.
        if self.au_bytes < 64 << 10 {
            return Err(format!("flash.au_bytes = {} must be at least 64 KiB", self.au_bytes));
        }
        Ok(())
    }
}

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
        if !self.ram_bytes.is_multiple_of(SECTOR) || self.ram_bytes > 1 << 30 {
            return Err(format!(
                "front.ram_bytes = {} must be a multiple of 512, at most 1 GiB",
                self.ram_bytes
            ));
        }
        Ok(())
    }
}

with_defaults! {
    /// How many commands the card works on at a time.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct Queue {
        /// Commands whose access times overlap; 1 without a command queue \[Q\].
        pub depth: u32 = 1,
        /// Cost of reads by commands in flight, as steps.
        pub read_cost: Vec<QueueCost> = Vec::new(),
        /// Cost of writes by commands in flight, as steps (a fake queue has a step far above 1).
        pub write_cost: Vec<QueueCost> = Vec::new(),
        /// Seconds that a flush takes, besides waiting for what is in flight.
        pub flush_s: f64 = 0.0,
    }
}

/// From `in_flight` commands on, a command costs `factor` times as much.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueCost {
    /// Commands in flight, this one included.
    pub in_flight: u32,
    /// Multiplies the whole cost.
    pub factor: f64,
    /// The same for what lies in the pSLC cache, or goes there; as `factor` where absent.
    pub cached: Option<f64>,
}

impl Queue {
    pub(super) fn check(&self) -> Verdict {
        if self.depth == 0 || self.depth > 65536 {
            return Err(format!("queue.depth = {} must be 1 to 65536", self.depth));
        }
        Ok(())
    }
}

/// Scatter: each cost is multiplied by exp(N(0, σ)), and now and then a hiccup is added.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Noise {
    /// σ of a read's logarithm.
    pub read_sigma: f64,
    /// σ of a write's logarithm.
    pub write_sigma: f64,
    /// Probability of a hiccup per command \[p_o\].
    pub hiccup_p: f64,
    /// Mean length of a hiccup in seconds, exponentially distributed \[t_o\].
    pub hiccup_s: f64,
}

with_defaults! {
    /// What is different in the first bytes of the card: 8 MiB in 7 of the 8 cards that treat some differently.
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct FatRegion {
        /// Its length from 0.
        pub bytes: u64 = 8 << 20,
        /// Multiplies the speed of writes there (0.2 to 0.7 where it is guarded).
        pub speed: f64 = 1.0,
        /// Where it is mapped by page: seconds before the data of a write of any place there, which opens no block.
        pub page_write_s: Option<f64> = None,
    }
}

impl FatRegion {
    pub(super) fn check(&self, announced_bytes: u64) -> Verdict {
        whole_sectors("fat_region.bytes", self.bytes)?;
        if self.bytes > announced_bytes {
            return Err(format!("fat_region.bytes = {} is more than the card has", self.bytes));
        }
        Ok(())
    }
}

/// A card that answers each command in a fixed time plus its bytes at a fixed rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    /// Seconds of any command.
    pub command_s: f64,
    /// Speed of the transfer in MB/s, both ways.
    pub mb_s: f64,
}
