//! Document of `map`: properties of a card's flash measured by timing. Each has its method, confidence, numbers and
//! cost, or the reason that it is unknown.

pub mod advice;
#[cfg(test)]
mod lexar_card;
pub mod plot;
pub mod profile;
pub mod property;

use crate::finding::Finding;
use crate::present_layout::PresentLayout;
use crate::report::{ExitStatus, IoTotals, Report, ReportBody};
use crate::shell::shell_quote;
use crate::verify::SpeedMap;
use plot::Plot;
use property::{Property, SoughtProperty};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Erase blocks that the card keeps open for writing at a time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OpenBlocks {
    pub linear: Property<u32>,
    pub random: Property<u32>,
    /// Unit of the search in bytes; absent if it was the measured erase block.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub chosen_unit_bytes: Option<u64>,
}

/// Point of a read or write curve.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SizePoint {
    pub bytes: u64,
    pub mb_s: f64,
    pub iops: f64,
    pub p50_us: f64,
    pub ios: u64,
}

/// Speed by I/O size.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SizeCurves {
    pub sequential_read: Vec<SizePoint>,
    pub random_read: Vec<SizePoint>,
    pub sequential_write: Vec<SizePoint>,
    pub random_write: Vec<SizePoint>,
    /// Erase blocks that the random writes were confined to: as many as the card keeps open.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub random_write_blocks: Option<u32>,
}

impl SizeCurves {
    pub fn all_curves(&self) -> [&[SizePoint]; 4] {
        [&self.sequential_read, &self.random_read, &self.sequential_write, &self.random_write]
    }
}

/// Table in the layout of flashbench, from Cardscope's own timings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FlashbenchTable {
    /// `align`, `find-fat`, `open-au-linear`, `open-au-random` or `scatter`.
    pub kind: String,
    /// Parameters by name, in bytes or as a count: `blocksize`, `erasesize`, `open-au-nr` …
    pub parameters: BTreeMap<String, u64>,
    /// Rows: of `align` the unit in bytes, then pre, on, post and diff in nanoseconds; of the others the block size
    /// in bytes (of `scatter` the position), then bytes per second for each column (of `scatter` nanoseconds).
    pub rows: Vec<(u64, Vec<f64>)>,
}

/// Line of the review-style summary.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ProfileLine {
    pub what: String,
    /// Figure with its unit, or the reason for its absence.
    pub value: String,
    pub how: String,
}

/// Advice from a map.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MapAdvice {
    pub partition_start_bytes: Option<u64>,
    /// ext4 `stride` in blocks of 4 KiB.
    pub ext4_stride: Option<u64>,
    /// ext4 `stripe_width` in blocks of 4 KiB.
    pub ext4_stripe_width: Option<u64>,
    /// F2FS segments of 2 MiB per section.
    pub f2fs_segments_per_section: Option<u64>,
    pub exfat_cluster_bytes: Option<u64>,
    /// I/O size in bytes below which the card is slow.
    pub slow_below_bytes: Option<u64>,
    pub mount_options: Vec<String>,
    pub commands: Vec<AdviceCommand>,
    pub tried: Vec<TriedState>,
    pub words: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AdviceCommand {
    pub what: String,
    pub command: String,
}

/// Small writes in one state of the card or on one file system.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TriedState {
    /// `as it was`, `after discard`, `ext4`, `f2fs`, `nilfs2` or `exfat`.
    pub what: String,
    /// Random 4 KiB writes, each synced, per second; None if not tested.
    pub iops: Option<f64>,
    pub ci95: Option<(f64, f64)>,
    pub longest_s: Option<f64>,
    pub reason: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// Block device, or a file or simulation in place of one.
    #[default]
    Card,
    Partition,
    /// Directory on a mounted file system, where partition and file system cannot change.
    Directory,
}

/// Facts about the target that advice depends on, apart from measurements.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AdviceFacts {
    pub target: String,
    pub bytes: u64,
    pub target_kind: TargetKind,
    pub block_device: bool,
    pub claimed_unit: Option<u64>,
    pub layout: Option<PresentLayout>,
    pub trials: Vec<TriedState>,
}

impl AdviceFacts {
    /// Returns the shell-quoted name of a disk's first partition. As in the kernel, a `p` separates the number if the
    /// disk's name ends in a digit.
    pub(crate) fn first_partition(&self) -> String {
        let target = &self.target;
        shell_quote(&match (self.target_kind, target.ends_with(|c: char| c.is_ascii_digit())) {
            (TargetKind::Partition, _) => target.clone(),
            (_, true) => format!("{target}p1"),
            (_, false) => format!("{target}1"),
        })
    }
}

impl MapAdvice {
    pub(crate) fn add_command(&mut self, what: &str, command: String) {
        self.commands.push(AdviceCommand { what: what.to_owned(), command });
    }
}

impl MeasuredMap {
    /// Returns every property, in the order of their plots on the page.
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

    /// True if neither a property nor a speed was measured.
    pub fn is_untested(&self) -> bool {
        !self.properties().into_iter().any(SoughtProperty::is_tested)
            && self.curves.all_curves().into_iter().all(<[SizePoint]>::is_empty)
    }

    /// Number of properties that a limit of time or bytes kept from being tested.
    pub fn count_out_of_time(&self) -> usize {
        self.properties().into_iter().filter(|property| property.is_out_of_time()).count()
    }
}

/// Measured properties. All start as `not_tested`, so that a map that ends early is still a valid document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasuredMap {
    #[serde(default)]
    pub failed_ios: u64,
    /// Effective page.
    pub page_bytes: Property<u64>,
    /// Bytes that the controller fetches per read.
    pub read_unit_bytes: Property<u64>,
    /// Erase block (allocation unit).
    pub erase_block_bytes: Property<u64>,
    pub map_segment_bytes: Property<u64>,
    /// Never written share of the card according to reads, 0 to 1.
    pub unmapped_share: Property<f64>,
    pub open_blocks: OpenBlocks,
    /// Region at the start with special treatment.
    pub fat_region_bytes: Property<u64>,
    /// Largest write that goes to a separate log.
    pub small_write_log_bytes: Property<u64>,
    /// Data that is copied when a block is closed: `all`, `rest` or `written`.
    pub merge: Property<String>,
    pub copy_mb_s: Property<f64>,
    /// Span up to which small random writes keep their speed.
    pub random_write_span_bytes: Property<u64>,
    /// Bytes on one plane or chip before the next one follows; two reads at this distance overlap.
    pub plane_bytes: Property<u64>,
    /// Bytes written before the speed falls permanently.
    pub slc_cache_bytes: Property<u64>,
    pub after_cache_mb_s: Property<f64>,
    /// Commands that the card processes at a time.
    pub queue_depth_effective: Property<f64>,
    /// IOPS of writes at queue depth 32 over those at 1; below 0.5 the queue is a fake.
    pub write_queue_gain: Property<f64>,
    pub curves: SizeCurves,
    pub axis: Option<SpeedMap>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub tables: Vec<FlashbenchTable>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub plots: Vec<Plot>,
    /// Small writes before the part of the map that discards the card. They become part of the advice.
    #[serde(skip)]
    pub small_writes: Option<TriedState>,
    /// Findings that are not properties, e.g. a fake queue or a reader that splits writes. They are merged into the
    /// document's findings at the end of the map.
    #[serde(skip)]
    pub findings: Vec<Finding>,
}

/// Key in [`crate::log::CardLog::other`] for the flash geometry in a log.
pub const MAP_KEY: &str = "map";

/// Main properties of a card's flash, and all that logs of other tools contain.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FlashGeometry {
    pub page_bytes: Property<u64>,
    pub erase_block_bytes: Property<u64>,
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

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CardMap {
    #[serde(flatten)]
    pub measured: MeasuredMap,
    pub advice: MapAdvice,
    /// Summary in the form of a review, as in docs/reference/reports.md#lexar-review.
    pub profile: Vec<ProfileLine>,
    pub announced_bytes: u64,
    #[serde(flatten)]
    pub moved: IoTotals,
}

pub type MapReport = Report<CardMap>;

impl ReportBody for CardMap {
    fn exit_status(&self) -> ExitStatus {
        ExitStatus::not_proven_if(self.measured.is_untested())
    }

    fn io_totals(&mut self) -> Option<&mut IoTotals> {
        Some(&mut self.moved)
    }
}
