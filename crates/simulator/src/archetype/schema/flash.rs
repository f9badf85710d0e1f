//! Parameters that every card has: units of the flash, controller, queue, scatter of times, and the region at the
//! start, which many cards treat differently since the file allocation table lies there. Also the card of constant
//! speed, which has none of these, and the rig.

use super::value_checks::{SECTOR, ValueCheck, check_capacity, check_whole_sectors, ensure};
use cardscope_model::with_defaults;
use serde::{Deserialize, Serialize};

with_defaults! {
    /// Units of the flash (docs/reference/flash.md#erase-blocks).
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct FlashUnits {
        /// Effective page: planes and dies joined (docs/reference/flash.md#pages).
        pub page_bytes: u64 = 16384,
        /// Planes of a page. A write occupies whole planes, and of two queued reads on one plane the second waits.
        #[serde(default = "one_plane")]
        pub planes: u32 = 1,
        /// Bytes that one read fetches into the controller's buffer.
        pub read_unit_bytes: u64 = 4096,
        /// Allocation unit: erase blocks that are mapped as one.
        pub au_bytes: u64 = 4 << 20,
        /// Segment of the mapping table; crossing one costs `read.segment_step_s`.
        pub map_segment_bytes: Option<u64> = None,
    }
}

fn one_plane() -> u32 {
    1
}

impl FlashUnits {
    pub fn plane_bytes(&self) -> u64 {
        self.page_bytes / u64::from(self.planes)
    }

    pub(super) fn check(&self) -> ValueCheck {
        let FlashUnits { page_bytes, planes, au_bytes, .. } = *self;
        for (key, value) in [
            ("flash.page_bytes", self.page_bytes),
            ("flash.read_unit_bytes", self.read_unit_bytes),
            ("flash.au_bytes", self.au_bytes),
            ("flash.map_segment_bytes", self.map_segment_bytes.unwrap_or(SECTOR)),
        ] {
            check_whole_sectors(key, value)?;
        }
        ensure!(
            au_bytes.is_multiple_of(page_bytes),
            "flash.au_bytes = {au_bytes} is not a multiple of flash.page_bytes = {page_bytes}"
        );
        let plane = page_bytes.checked_rem(u64::from(planes) * SECTOR);
        ensure!(
            plane == Some(0),
            "flash.planes = {planes} must divide flash.page_bytes = {page_bytes} into whole sectors"
        );
        // The model keeps an entry for each allocation unit: units of one sector on a terabyte would fill the memory.
        ensure!(au_bytes >= 64 << 10, "flash.au_bytes = {au_bytes} must be at least 64 KiB");
        Ok(())
    }
}

/// Command path and memory of the controller.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CommandPath {
    /// Seconds of a command that needs no flash; all other times include them.
    pub path_s: f64,
    /// Speed of the card's interface in MB/s, independent of the reader.
    pub interface_mb_s: Option<f64>,
    /// Bytes of memory in which writes that continue each other are joined before they go to the flash; 0 joins none. A
    /// power cut before a flush would lose them.
    pub ram_bytes: u64,
    pub discard_s: f64,
}

with_defaults! {
    /// Command queue of the card.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct CommandQueue {
        /// Commands whose access times overlap; 1 without a command queue (Q).
        pub depth: u32 = 1,
        /// Factors on the cost of reads by commands in flight, as steps.
        pub read_cost: Vec<QueueCost> = Vec::new(),
        /// The same for writes. A fake queue has a step far above 1.
        pub write_cost: Vec<QueueCost> = Vec::new(),
        /// Seconds of a flush, after everything in flight has ended.
        pub flush_s: f64 = 0.0,
    }
}

/// Factor on the cost of a command from `in_flight` commands on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueCost {
    /// Commands in flight, this one included.
    pub in_flight: u32,
    pub factor: f64,
    /// Factor for data in the pSLC cache; None for the same factor.
    pub cached: Option<f64>,
}

/// Scatter: each cost is multiplied by exp(N(0, σ)), and now and then a hiccup is added.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CostNoise {
    /// σ of the logarithm of a read's cost.
    pub read_sigma: f64,
    pub write_sigma: f64,
    /// Probability that a command has a hiccup.
    pub hiccup_p: f64,
    /// Mean length of a hiccup in seconds; lengths are distributed exponentially.
    pub hiccup_s: f64,
}

with_defaults! {
    /// First bytes of the card, where they differ: 8 MiB in 7 of 8 such cards
    /// (docs/reference/flash.md#start-of-the-card).
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct FatRegion {
        pub bytes: u64 = 8 << 20,
        /// Factor on the speed of writes; 0.2 to 0.7 in a guarded region.
        pub speed: f64 = 1.0,
        /// Seconds before the data of any write, if the region is mapped by page; such writes open no block.
        pub page_write_s: Option<f64> = None,
    }
}

/// Card that answers each command in a fixed time plus its bytes at a fixed rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConstantCard {
    pub command_s: f64,
    /// Speed of transfers in both directions.
    pub mb_s: f64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CoolingKind {
    #[default]
    Active,
    Passive,
}

with_defaults! {
    /// Reader, bus and host: everything that does not belong to the card.
    ///
    /// The defaults (assumed) are a small board of 4 GB: Linux makes writers wait at a fifth of its memory and writes
    /// back in pieces of up to 1 MiB. Its memory speed is that of a Raspberry Pi 4.
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct TestRig {
        pub cooling: CoolingKind = CoolingKind::Active,
        /// False for a card that always stays at room temperature.
        pub heat: bool = true,
        pub bus_mb_s: Option<f64> = None,
        /// Speed at which the measuring tool generates the data of its writes.
        pub host_source_mb_s: Option<f64> = None,
        /// Seconds that the reader adds to each command.
        pub overhead_s: f64 = 0.0,
        /// Longest command of the reader; it splits longer ones.
        pub split_bytes: Option<u64> = None,
        /// Memory of the reader: data that was read last is returned without asking the card.
        pub reader_cache_bytes: u64 = 0,
        /// True if the reader fails reads of several sectors within the last eight sectors of the card.
        pub last_sector_bug: bool = false,
        /// Bytes that the reader can address; higher addresses begin again at 0, as in readers that cut a block number
        /// to 32 bits.
        pub address_limit_bytes: Option<u64> = None,
        /// Longest read in full; longer reads repeat their first bytes to the end (Sinetek-rtsx#9: 64 KiB).
        pub repeat_bytes: Option<u64> = None,
        /// Mean number of reads between two with a wrong bit; 0 for none. The seed chooses them.
        pub flip_read_every: u64 = 0,
        /// Alignment of reads: others return the data from the multiple before their start.
        pub align_bytes: Option<u64> = None,
        pub stale_reads: StaleReads = StaleReads::None,
        /// Capacity that the reader announces instead of the card's, lower if it drops bits of it, or higher. I/O
        /// beyond the end of the card fails.
        pub shown_bytes: Option<u64> = None,
        /// Sectors that the reader announces in addition.
        pub extra_sectors: u64 = 0,
        /// End of the reader's addresses: I/O beyond it fails.
        pub end_bytes: Option<u64> = None,
        /// Seconds between the starts of two bursts of other traffic; the first starts after this time. 0 for no other
        /// traffic.
        pub disturb_every_s: f64 = 0.0,
        pub disturb_for_s: f64 = 0.0,
        /// Share of reader, bus and host that a burst takes, 0 to 0.95.
        pub disturb_share: f64 = 0.0,
        /// Speed of the host's memory, for I/O through the page cache.
        pub host_memory_mb_s: f64 = 2000.0,
        pub host_memory_bytes: u64 = 3 << 30,
        /// Unwritten bytes at which the host makes a writer wait.
        pub dirty_bytes: u64 = 256 << 20,
        /// Size of the pieces that the host writes back.
        pub writeback_bytes: u64 = 1 << 20,
        pub read_ahead_bytes: u64 = 1 << 20,
    }
}

/// Readers that count wrongly announce one sector too many (Linux: `FIX_CAPACITY`).
const MAX_EXTRA_SECTORS: u64 = 2048;

/// Reads that return the data of the read before them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StaleReads {
    #[default]
    None,
    /// Reads that begin before the last one.
    Backwards,
    /// Reads that begin where the last one ended.
    Following,
}

impl TestRig {
    /// True for a reader that returns other data than the card's.
    pub(crate) fn falsifies_reads(&self) -> bool {
        self.repeat_bytes.is_some()
            || self.flip_read_every > 0
            || self.align_bytes.is_some()
            || self.stale_reads != StaleReads::None
    }

    pub(super) fn check(&self) -> ValueCheck {
        for (key, bytes) in [
            ("rig.split_bytes", self.split_bytes),
            ("rig.writeback_bytes", Some(self.writeback_bytes)),
            ("rig.read_ahead_bytes", Some(self.read_ahead_bytes)),
            ("rig.address_limit_bytes", self.address_limit_bytes),
            ("rig.repeat_bytes", self.repeat_bytes),
            ("rig.align_bytes", self.align_bytes),
            ("rig.end_bytes", self.end_bytes),
        ] {
            check_whole_sectors(key, bytes.unwrap_or(SECTOR))?;
        }
        self.shown_bytes.map_or(Ok(()), |bytes| check_capacity("rig.shown_bytes", bytes))?;
        let TestRig { extra_sectors: extra, reader_cache_bytes: cache, .. } = *self;
        let TestRig { disturb_for_s: lasts, disturb_every_s: every, .. } = *self;
        ensure!(
            extra <= MAX_EXTRA_SECTORS,
            "rig.extra_sectors = {extra} must be at most {MAX_EXTRA_SECTORS}; rig.shown_bytes sets any capacity"
        );
        ensure!(cache.is_multiple_of(SECTOR), "rig.reader_cache_bytes = {cache} must be a multiple of 512");
        ensure!(lasts <= every, "rig.disturb_for_s = {lasts} must be at most rig.disturb_every_s = {every}");
        Ok(())
    }
}
