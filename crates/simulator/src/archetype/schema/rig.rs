//! Reader, bus and host between the card and whoever measures.

use super::check::{SECTOR, Verdict, whole_sectors};
use cardscope_model::with_defaults;
use serde::{Deserialize, Serialize};

/// How the card is cooled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cooling {
    /// With a fan.
    #[default]
    Active,
    /// Without.
    Passive,
}

with_defaults! {
    /// Reader, bus and host (model, X). What is not the card's stands here and nowhere else.
    ///
    /// The host is a small board of 4 GB: Linux makes writers wait at a fifth of its memory and writes back in pieces of
    /// up to 1 MiB. Its memory speed is that of a Raspberry Pi 4. \[I\]
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct Rig {
        /// Cooling of the card.
        pub cooling: Cooling = Cooling::Active,
        /// False for a card that stays at room temperature whatever it does.
        pub heat: bool = true,
        /// What the bus carries, in MB/s.
        pub bus_mb_s: Option<f64> = None,
        /// Speed in MB/s of the source from which the measuring tool takes the data of its writes.
        pub host_source_mb_s: Option<f64> = None,
        /// Seconds that the reader adds to each command.
        pub overhead_s: f64 = 0.0,
        /// The reader cuts commands into pieces of at most so many bytes.
        pub split_bytes: Option<u64> = None,
        /// Memory of the reader in bytes: what was read last is answered from it without asking the card.
        pub reader_cache_bytes: u64 = 0,
        /// True for a reader that fails reads of several sectors within the last eight of the card, as some do.
        pub last_sector_bug: bool = false,
        /// Bytes that the reader can address; what lies beyond begins again at 0, as with readers that cut a block
        /// number to 32 bits.
        pub address_limit_bytes: Option<u64> = None,
        /// Seconds from the beginning of one burst of somebody else's traffic to that of the next; the first begins after
        /// so long. 0 for a card that nobody else uses.
        pub disturb_every_s: f64 = 0.0,
        /// Seconds that a burst lasts.
        pub disturb_for_s: f64 = 0.0,
        /// Share of reader, bus and host that a burst takes: from 0 to 0.95.
        pub disturb_share: f64 = 0.0,
        /// Speed of the host's memory in MB/s, for I/O through the page cache.
        pub host_memory_mb_s: f64 = 2000.0,
        /// Memory that the host has for its page cache, in bytes.
        pub host_memory_bytes: u64 = 3 << 30,
        /// Bytes not yet written at which the host makes a writer wait.
        pub dirty_bytes: u64 = 256 << 20,
        /// Bytes in which the host writes back what was gathered.
        pub writeback_bytes: u64 = 1 << 20,
        /// Bytes in which the host reads ahead.
        pub read_ahead_bytes: u64 = 1 << 20,
    }
}

impl Rig {
    pub(super) fn check(&self) -> Verdict {
        whole_sectors("rig.split_bytes", self.split_bytes.unwrap_or(SECTOR))?;
        whole_sectors("rig.address_limit_bytes", self.address_limit_bytes.unwrap_or(SECTOR))?;
        if !self.reader_cache_bytes.is_multiple_of(SECTOR) {
            return Err(format!(
                "rig.reader_cache_bytes = {} must be a multiple of 512",
                self.reader_cache_bytes
            ));
        }
        if self.disturb_for_s > self.disturb_every_s {
            return Err(format!(
                "rig.disturb_for_s = {} must be at most rig.disturb_every_s = {}",
                self.disturb_for_s, self.disturb_every_s
            ));
        }
        whole_sectors("rig.writeback_bytes", self.writeback_bytes)?;
        whole_sectors("rig.read_ahead_bytes", self.read_ahead_bytes)
    }
}
