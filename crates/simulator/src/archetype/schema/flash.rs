//! What every card has: the units of its flash, the controller in front of them, commands in flight, the scatter of its
//! times, and the region at its start that many cards treat specially since the file allocation table lies there. Last
//! the card that has none of it and is of constant speed.

use super::check::{SECTOR, ValueCheck, capacity, ensure, whole_sectors};
use cardscope_model::with_defaults;
use serde::{Deserialize, Serialize};

with_defaults! {
    /// Units of the flash, in bytes.
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct FlashUnits {
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

impl FlashUnits {
    /// Bytes of a page that lie on one plane.
    pub fn plane_bytes(&self) -> u64 {
        self.page_bytes / u64::from(self.planes)
    }

    pub(super) fn check(&self) -> ValueCheck {
        let FlashUnits { page_bytes, planes, au_bytes, .. } = *self;
        let segment = self.map_segment_bytes.unwrap_or(self.au_bytes);
        for (key, value) in [
            ("flash.page_bytes", self.page_bytes),
            ("flash.read_unit_bytes", self.read_unit_bytes),
            ("flash.au_bytes", self.au_bytes),
            ("flash.map_segment_bytes", segment),
        ] {
            whole_sectors(key, value)?;
        }
        ensure(au_bytes.is_multiple_of(page_bytes), || {
            format!("flash.au_bytes = {au_bytes} is not a multiple of flash.page_bytes = {page_bytes}")
        })?;
        let plane = page_bytes.checked_rem(u64::from(planes) * SECTOR);
        ensure(plane == Some(0), || {
            format!("flash.planes = {planes} must divide flash.page_bytes = {page_bytes} into whole sectors")
        })?;
        // The model keeps one entry an allocation unit: a unit of one sector on a terabyte would fill the memory.
        ensure(au_bytes >= 64 << 10, || format!("flash.au_bytes = {au_bytes} must be at least 64 KiB"))
    }
}

/// Command path and memory of the controller.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CommandPath {
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

impl CommandPath {
    pub(super) fn check(&self) -> ValueCheck {
        let bytes = self.ram_bytes;
        ensure(bytes.is_multiple_of(SECTOR) && bytes <= 1 << 30, || {
            format!("front.ram_bytes = {bytes} must be a multiple of 512, at most 1 GiB")
        })
    }
}

with_defaults! {
    /// How many commands the card works on at a time.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct CommandQueue {
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

impl CommandQueue {
    pub(super) fn check(&self) -> ValueCheck {
        let depth = self.depth;
        ensure((1..=65536).contains(&depth), || format!("queue.depth = {depth} must be 1 to 65536"))
    }
}

/// Scatter: each cost is multiplied by exp(N(0, σ)), and now and then a hiccup is added.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CostNoise {
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
    pub(super) fn check(&self, announced_bytes: u64) -> ValueCheck {
        whole_sectors("fat_region.bytes", self.bytes)?;
        let bytes = self.bytes;
        ensure(bytes <= announced_bytes, || format!("fat_region.bytes = {bytes} is more than the card has"))
    }
}

/// A card that answers each command in a fixed time plus its bytes at a fixed rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConstantCard {
    /// Seconds of any command.
    pub command_s: f64,
    /// Speed of the transfer in MB/s, both ways.
    pub mb_s: f64,
}

/// How the card is cooled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CoolingKind {
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
    pub struct TestRig {
        /// Cooling of the card.
        pub cooling: CoolingKind = CoolingKind::Active,
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
        /// Reads longer than this repeat their first bytes of this length to their end (Sinetek-rtsx#9: 64 KiB).
        pub repeat_bytes: Option<u64> = None,
        /// One read request in so many, chosen by the seed, comes with one wrong bit; 0 for none.
        pub flip_read_every: u64 = 0,
        /// Reads that do not begin on a multiple of this are answered from the multiple before it.
        pub align_bytes: Option<u64> = None,
        /// Reads that are answered with the data of the read before them.
        pub stale_reads: StaleReads = StaleReads::None,
        /// Capacity that the reader announces in place of the card's: less where it drops bits of it, or more. I/O beyond
        /// the end of the card fails.
        pub shown_bytes: Option<u64> = None,
        /// Sectors that the reader announces beyond that.
        pub extra_sectors: u64 = 0,
        /// Where the reader's addresses end: I/O beyond this fails.
        pub end_bytes: Option<u64> = None,
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

/// Readers that count wrongly announce one sector too many (Linux: `FIX_CAPACITY`).
const MOST_EXTRA_SECTORS: u64 = 2048;

/// Reads that a reader answers with the data of the read before them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StaleReads {
    /// None.
    #[default]
    None,
    /// Those that begin before the last one.
    Backwards,
    /// Those that begin where the last one ended.
    Following,
}

impl TestRig {
    /// True for a reader whose answers to reads are not those of the card.
    pub(crate) fn misreads(&self) -> bool {
        self.repeat_bytes.is_some()
            || self.flip_read_every > 0
            || self.align_bytes.is_some()
            || self.stale_reads != StaleReads::None
    }

    pub(super) fn check(&self) -> ValueCheck {
        whole_sectors("rig.split_bytes", self.split_bytes.unwrap_or(SECTOR))?;
        for (key, bytes) in [
            ("rig.address_limit_bytes", self.address_limit_bytes),
            ("rig.repeat_bytes", self.repeat_bytes),
            ("rig.align_bytes", self.align_bytes),
            ("rig.end_bytes", self.end_bytes),
        ] {
            whole_sectors(key, bytes.unwrap_or(SECTOR))?;
        }
        self.shown_bytes.map_or(Ok(()), |bytes| capacity("rig.shown_bytes", bytes))?;
        let extra = self.extra_sectors;
        ensure(extra <= MOST_EXTRA_SECTORS, || {
            format!(
                "rig.extra_sectors = {extra} must be at most {MOST_EXTRA_SECTORS}; rig.shown_bytes sets any capacity"
            )
        })?;
        let TestRig { reader_cache_bytes: cache, disturb_for_s: lasts, disturb_every_s: every, .. } = *self;
        ensure(cache.is_multiple_of(SECTOR), || {
            format!("rig.reader_cache_bytes = {cache} must be a multiple of 512")
        })?;
        ensure(lasts <= every, || {
            format!("rig.disturb_for_s = {lasts} must be at most rig.disturb_every_s = {every}")
        })?;
        whole_sectors("rig.writeback_bytes", self.writeback_bytes)?;
        whole_sectors("rig.read_ahead_bytes", self.read_ahead_bytes)
    }
}
