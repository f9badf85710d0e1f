//! Options of a map, its parts by their names on the command line, and the reasons for properties that were not
//! tested.

use cardscope_engine::io_driver::ProbeStop;
use cardscope_model::card_map::MeasuredMap;
use cardscope_model::card_map::property::{NO_TIME, Property, PropertyStatus};
use cardscope_probing::context::ProbeLimits;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

#[derive(Debug, Clone)]
pub struct MapOptions {
    pub limits: ProbeLimits,
    /// True where offsets are the card's own addresses. Offsets in a file depend on the file system and show no
    /// boundaries.
    pub card_addresses: bool,
    /// False for a map that only reads.
    pub writes: bool,
    /// True where the start of the card may be written; its data is saved first.
    pub fat: bool,
    /// Most bytes to write in search of the cache's end.
    pub max_cache_bytes: u64,
    /// Allocation unit according to the SD status (SSR). A hint for the search, never a result.
    pub claimed_unit: Option<u64>,
    /// Unit of the search for open blocks, instead of the measured erase block.
    pub open_block_unit: Option<u64>,
    /// True to add raw tables in flashbench's layout, which cost more I/O.
    pub flashbench_tables: bool,
    /// Selected parts; empty selects all.
    pub only: Vec<MapPart>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MapPart {
    /// Page, read unit, erase block, mapping segment and unwritten share, from reads.
    Boundaries,
    /// Reads by I/O size.
    ReadCurve,
    /// Parallel planes or chips. Distance at which two reads no longer wait for each other.
    Planes,
    /// Gain of queued reads and writes.
    Queue,
    /// Speed by address.
    Axis,
    /// Page, write unit and small-write log, from writes.
    PageWrites,
    /// Open blocks, sequential and random, and the cost of closing one.
    OpenBlocks,
    /// FAT region at the start of the card.
    Fat,
    /// Range within which random writes stay fast.
    Span,
    /// Writes by I/O size.
    WriteCurve,
    /// pSLC cache and the speed after it.
    Cache,
}

const PART_NAMES: [(&str, MapPart); 11] = [
    ("boundaries", MapPart::Boundaries),
    ("read-curve", MapPart::ReadCurve),
    ("planes", MapPart::Planes),
    ("queue", MapPart::Queue),
    ("axis", MapPart::Axis),
    ("page-writes", MapPart::PageWrites),
    ("open-blocks", MapPart::OpenBlocks),
    ("fat", MapPart::Fat),
    ("span", MapPart::Span),
    ("write-curve", MapPart::WriteCurve),
    ("cache", MapPart::Cache),
];

impl fmt::Display for MapPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = PART_NAMES.iter().find(|(_, part)| part == self);
        f.write_str(named.map_or("", |(name, _)| name))
    }
}

impl FromStr for MapPart {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = PART_NAMES.iter().find(|(name, _)| *name == text).map(|(_, part)| *part);
        found.ok_or_else(|| {
            let names: Vec<&str> = PART_NAMES.iter().map(|(name, _)| *name).collect();
            format!("unknown part of a map: {text:?}; the parts are {}", names.join(", "))
        })
    }
}

impl MapOptions {
    pub fn wants(&self, part: MapPart) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }
}

pub(super) trait UnknownProperty {
    /// True if neither a result nor a reason is recorded.
    fn has_no_reason(&self) -> bool;
    fn set_not_tested(&mut self, why: &str);
}

impl<T> UnknownProperty for Property<T> {
    fn has_no_reason(&self) -> bool {
        self.status == PropertyStatus::NotTested && self.reason == Self::default().reason
    }

    fn set_not_tested(&mut self, why: &str) {
        *self = Property::not_tested(why);
    }
}

/// Property, the parts that measure it, and true if writes can measure it.
type PropertyParts<'m> = (&'m mut dyn UnknownProperty, &'static [MapPart], bool);

fn property_parts(into: &mut MeasuredMap) -> [PropertyParts<'_>; 17] {
    use MapPart::{Boundaries, Cache, Fat, OpenBlocks, PageWrites, Planes, Queue, Span};
    [
        (&mut into.page_bytes, &[Boundaries, PageWrites], true),
        (&mut into.read_unit_bytes, &[Boundaries], false),
        (&mut into.erase_block_bytes, &[Boundaries, OpenBlocks], true),
        (&mut into.map_segment_bytes, &[Boundaries], false),
        (&mut into.unmapped_share, &[Boundaries], false),
        (&mut into.small_write_log_bytes, &[PageWrites], true),
        (&mut into.open_blocks.linear, &[OpenBlocks], true),
        (&mut into.open_blocks.random, &[OpenBlocks], true),
        (&mut into.merge, &[OpenBlocks], true),
        (&mut into.copy_mb_s, &[OpenBlocks], true),
        (&mut into.fat_region_bytes, &[Fat], true),
        (&mut into.random_write_span_bytes, &[Span], true),
        (&mut into.plane_bytes, &[Planes], false),
        (&mut into.slc_cache_bytes, &[Cache], true),
        (&mut into.after_cache_mb_s, &[Cache], true),
        (&mut into.queue_depth_effective, &[Queue], false),
        (&mut into.write_queue_gain, &[Queue], true),
    ]
}

/// Records a reason for the properties that `skipped` selects by their parts, and true if writes can measure them.
fn skip(into: &mut MeasuredMap, why: &str, skipped: impl Fn(&dyn UnknownProperty, &[MapPart], bool) -> bool) {
    for (property, parts, writes) in property_parts(into) {
        if skipped(property, parts, writes) {
            property.set_not_tested(why);
        }
    }
}
pub(super) fn skip_boundaries(into: &mut MeasuredMap, why: &str) {
    skip(into, why, |_, parts, _| parts.contains(&MapPart::Boundaries));
}

/// Records why properties that need writes were not tested, unless a reason is recorded already.
pub(super) fn skip_writes(into: &mut MeasuredMap, why: &str) {
    skip(into, why, |property, _, writes| writes && property.has_no_reason());
}

pub(super) fn skip_unselected(options: &MapOptions, into: &mut MeasuredMap) {
    let unwanted = |parts: &[MapPart]| !parts.iter().any(|part| options.wants(*part));
    skip(into, "not selected with --only", |p, parts, _| p.has_no_reason() && unwanted(parts));
}

pub(super) type Result<T, E = ProbeStop> = std::result::Result<T, E>;

/// Result of a measurement, or the reason for none.
pub(super) type Sought<T> = Result<T, UnmeasuredReason>;

#[derive(Debug)]
pub(super) enum UnmeasuredReason {
    /// The card, the time or the limits did not allow the measurement.
    Reason(String),
    /// The whole map ends, or the remaining writing parts.
    Stop(ProbeStop),
}

impl From<ProbeStop> for UnmeasuredReason {
    fn from(stop: ProbeStop) -> Self {
        UnmeasuredReason::Stop(stop)
    }
}

impl From<String> for UnmeasuredReason {
    fn from(why: String) -> Self {
        UnmeasuredReason::Reason(why)
    }
}

impl From<&str> for UnmeasuredReason {
    fn from(why: &str) -> Self {
        UnmeasuredReason::Reason(why.to_owned())
    }
}

/// Turns a reason into a property that was not tested. Only [`Stop`] remains an error.
pub(super) fn reason_as_property<T>(found: Sought<Property<T>>) -> Result<Property<T>> {
    match found {
        Err(UnmeasuredReason::Reason(why)) => Ok(Property::not_tested(why)),
        Err(UnmeasuredReason::Stop(stop)) => Err(stop),
        Ok(property) => Ok(property),
    }
}

pub(super) fn no_time_reason(seconds: f64) -> String {
    format!("{NO_TIME} (needs about {seconds:.0} s; `--budget`)")
}

pub(super) const OUT_OF_LIMITS: &str = "no time left, or the write limit was reached";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_names_round_trip() {
        for (name, part) in PART_NAMES {
            assert_eq!((name.parse(), part.to_string()), (Ok(part), name.to_owned()));
        }
        assert!("page".parse::<MapPart>().unwrap_err().contains("open-blocks"));
    }
}
