//! `map`: what is inside a card, as far as timing shows it. Each property says how it was found, how sure that is, on
//! which numbers it rests and what it cost, or why it is not known.

pub mod advice;
pub mod plot;
pub mod profile;
pub mod property;
#[cfg(test)]
mod seed_004;

use crate::finding::Finding;
use crate::report::{ExitStatus, IoTotals, Report, ReportBody};
use crate::verify::SpeedMap;
use plot::Plot;
use property::{Property, SoughtProperty};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Erase blocks that may be open for writing at a time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OpenBlocks {
    /// Written in order inside each block.
    pub linear: Property<u32>,
    /// Written out of order inside each block.
    pub random: Property<u32>,
    /// Unit that was chosen for the search, in bytes; absent where it was the erase block as measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub chosen_unit_bytes: Option<u64>,
}

/// One size of the read or write curve.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SizePoint {
    /// Bytes of an I/O.
    pub bytes: u64,
    /// Speed in MB/s, one I/O after the other.
    pub mb_s: f64,
    /// I/Os per second.
    pub iops: f64,
    /// Median time of one, in microseconds.
    pub p50_us: f64,
    /// How many were timed.
    pub ios: u64,
}

/// What the cost of I/Os of different sizes shows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SizeCurves {
    /// Reads in order.
    pub sequential_read: Vec<SizePoint>,
    /// Reads at random.
    pub random_read: Vec<SizePoint>,
    /// Writes in order.
    pub sequential_write: Vec<SizePoint>,
    /// Writes at random.
    pub random_write: Vec<SizePoint>,
    /// Erase blocks within which the writes at random fell: as many as the card keeps open.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub random_write_blocks: Option<u32>,
}

impl SizeCurves {
    /// All of them.
    pub fn all(&self) -> [&[SizePoint]; 4] {
        [&self.sequential_read, &self.random_read, &self.sequential_write, &self.random_write]
    }
}

/// A raw table in the layout of flashbench, from our own timings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FlashbenchTable {
    /// `align`, `find-fat`, `open-au-linear`, `open-au-random`, `scatter`.
    pub kind: String,
    /// Parameters by name, in bytes or as a count: `blocksize`, `erasesize`, `open-au-nr` …
    pub parameters: BTreeMap<String, u64>,
    /// Rows: of `align` the unit in bytes, then pre, on, post and diff in nanoseconds; of the others the block size in
    /// bytes (of `scatter` the position), then bytes per second for each column (of `scatter` nanoseconds).
    pub rows: Vec<(u64, Vec<f64>)>,
}

/// One line of the summary in the form of a review: a figure and how it was measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ProfileLine {
    /// What: `page size`, `read latency`, `random write 4 KiB` …
    pub what: String,
    /// The figure with its unit, or why there is none.
    pub value: String,
    /// How it was got: which section, how many I/Os.
    pub how: String,
}

/// Advice that follows from what was found, ready to paste.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MapAdvice {
    /// First byte at which a partition should start.
    pub partition_start_bytes: Option<u64>,
    /// ext4: `stride` in blocks of 4 KiB.
    pub ext4_stride: Option<u64>,
    /// ext4: `stripe_width` in blocks of 4 KiB.
    pub ext4_stripe_width: Option<u64>,
    /// F2FS: segments of 2 MiB in a section.
    pub f2fs_segments_per_section: Option<u64>,
    /// exFAT: cluster size in bytes.
    pub exfat_cluster_bytes: Option<u64>,
    /// I/Os smaller than this are slow on this card, in bytes.
    pub slow_below_bytes: Option<u64>,
    /// Mount options worth having.
    pub mount_options: Vec<String>,
    /// Commands ready to paste, each with what it does.
    pub commands: Vec<AdviceCommand>,
    /// What was tried and measured before it was advised: discard, file systems.
    pub tried: Vec<TriedState>,
    /// In sentences.
    pub words: Vec<String>,
}

/// A command ready to paste.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AdviceCommand {
    /// What it does.
    pub what: String,
    /// The command, with the target's own name in it.
    pub command: String,
}

/// Small writes in one state of the card or on one file system.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TriedState {
    /// `as it was`, `after discard`, `ext4`, `f2fs`, `nilfs2`, `exfat`.
    pub what: String,
    /// Random 4 KiB writes, each synced, per second; `None` where it could not be tried.
    pub iops: Option<f64>,
    /// Their 95 % interval.
    pub ci95: Option<(f64, f64)>,
    /// Longest time of one, in seconds.
    pub longest_s: Option<f64>,
    /// Why it could not be tried.
    pub reason: Option<String>,
}

impl MeasuredMap {
    /// Every property, in the order in which their pictures are shown.
    pub fn properties(&self) -> [&dyn SoughtProperty; 17] {
        [
            &self.page_bytes,
            &self.erase_block_bytes,
            &self.map_segment_bytes,
            &self.read_unit_bytes,
            &self.plane_bytes,
            &self.unmapped_share,
            &self.open_blocks.linear,
            &self.open_blocks.random,
            &self.merge,
            &self.copy_mb_s,
            &self.fat_region_bytes,
            &self.small_write_log_bytes,
            &self.random_write_span_bytes,
            &self.slc_cache_bytes,
            &self.after_cache_mb_s,
            &self.queue_depth_effective,
            &self.write_queue_gain,
        ]
    }

    /// True where neither a property nor a speed is known.
    pub fn is_untested(&self) -> bool {
        !self.properties().into_iter().any(SoughtProperty::is_tested)
            && self.curves.all().into_iter().all(<[SizePoint]>::is_empty)
    }

    /// Number of properties that were not tested because a limit came first.
    pub fn out_of_time(&self) -> usize {
        self.properties().into_iter().filter(|property| property.is_out_of_time()).count()
    }
}

/// What was measured. Everything is `not_tested` at first, so that a map that ends early still says what it is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasuredMap {
    /// I/Os that failed meanwhile.
    #[serde(default)]
    pub failed_ios: u64,
    /// Effective page.
    pub page_bytes: Property<u64>,
    /// Bytes that the controller fetches for one read.
    pub read_unit_bytes: Property<u64>,
    /// Erase block, allocation unit.
    pub erase_block_bytes: Property<u64>,
    /// Segment of the mapping table.
    pub map_segment_bytes: Property<u64>,
    /// Share of the card that was never written, as reads show it: 0 to 1.
    pub unmapped_share: Property<f64>,
    /// Erase blocks open at a time.
    pub open_blocks: OpenBlocks,
    /// Region at the start that is treated specially.
    pub fat_region_bytes: Property<u64>,
    /// Writes up to this size go to a log of their own.
    pub small_write_log_bytes: Property<u64>,
    /// What closing a block copies: `all`, `rest`, `written`.
    pub merge: Property<String>,
    /// Speed of the card's own copying in MB/s.
    pub copy_mb_s: Property<f64>,
    /// Span up to which small random writes keep their speed.
    pub random_write_span_bytes: Property<u64>,
    /// Bytes that lie on one plane or chip before the next one takes over: two reads so far apart overlap.
    pub plane_bytes: Property<u64>,
    /// Bytes written before the speed falls for good.
    pub slc_cache_bytes: Property<u64>,
    /// Speed after that, in MB/s.
    pub after_cache_mb_s: Property<f64>,
    /// Commands that the card really works on at a time.
    pub queue_depth_effective: Property<f64>,
    /// IOPS of writes at queue depth 32 over those at 1: below 0.5 the queue is a fake.
    pub write_queue_gain: Property<f64>,
    /// Cost by block size.
    pub curves: SizeCurves,
    /// Speed over the address axis.
    pub axis: Option<SpeedMap>,
    /// Raw tables in flashbench's layout.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub tables: Vec<FlashbenchTable>,
    /// Pictures that belong to no single property.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub plots: Vec<Plot>,
    /// Small writes before a part of the map told the card that nothing on it is of value; they go to the advice, not
    /// to the document's own lines.
    #[serde(skip)]
    pub small_writes: Option<TriedState>,
    /// Conclusions of the detectors that are no property: a fake queue, a reader that splits writes …
    ///
    /// They join the document's own when the map is concluded.
    #[serde(skip)]
    pub findings: Vec<Finding>,
}

/// The word in [`crate::log::Log::other`] under which the document of an import says what a log shows of the flash.
pub const OF_LOG: &str = "map";

/// What people ask of a card's flash first, and all that the log of another tool can show of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FlashGeometry {
    /// Effective page.
    pub page_bytes: Property<u64>,
    /// Erase block, allocation unit.
    pub erase_block_bytes: Property<u64>,
    /// Erase blocks open at a time.
    pub open_blocks: OpenBlocks,
}

impl From<FlashGeometry> for MeasuredMap {
    fn from(geometry: FlashGeometry) -> Self {
        let FlashGeometry { page_bytes, erase_block_bytes, open_blocks } = geometry;
        MeasuredMap { page_bytes, erase_block_bytes, open_blocks, ..MeasuredMap::default() }
    }
}

impl From<&MeasuredMap> for FlashGeometry {
    fn from(measured: &MeasuredMap) -> Self {
        FlashGeometry {
            page_bytes: measured.page_bytes.clone(),
            erase_block_bytes: measured.erase_block_bytes.clone(),
            open_blocks: measured.open_blocks.clone(),
        }
    }
}

/// The document of `map`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CardMap {
    /// What was measured.
    #[serde(flatten)]
    pub measured: MeasuredMap,
    /// What follows from it.
    pub advice: MapAdvice,
    /// Summary in the form of a review, as in docs/reference/reports.md#lexar-review.
    pub profile: Vec<ProfileLine>,
    /// Bytes that the target announces.
    pub announced_bytes: u64,
    /// Bytes moved, and the time it took.
    #[serde(flatten)]
    pub moved: IoTotals,
}

/// The document of `map`.
pub type MapReport = Report<CardMap>;

impl ReportBody for CardMap {
    fn exit_status(&self) -> ExitStatus {
        ExitStatus::not_proven_if(self.measured.is_untested())
    }

    fn moved(&mut self) -> Option<&mut IoTotals> {
        Some(&mut self.moved)
    }
}
