//! How a map is made; its parts by name, so that one of them can be asked for alone, and what was not asked for says
//! so.

use cardscope_model::card_map::MeasuredMap;
use cardscope_model::card_map::property::{Property, PropertyStatus};
use cardscope_probing::context::ProbeLimits;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How a map is made.
#[derive(Debug, Clone)]
pub struct MapOptions {
    /// What may be used and spent.
    pub limits: ProbeLimits,
    /// True where offsets are the card's own addresses; in a file they are the file system's, and nothing can be said
    /// about boundaries.
    pub card_addresses: bool,
    /// False where only reading parts are wanted or allowed.
    pub writes: bool,
    /// True where the region at the start of the card may be written to (saved first, like everything).
    pub fat: bool,
    /// True where the cache is written through to its end; otherwise at most `max_cache_bytes`.
    pub max_cache_bytes: u64,
    /// Allocation unit that the card claims (SSR), where it says one: a hint, never the answer.
    pub claimed_unit: Option<u64>,
    /// Unit in which open blocks are searched, instead of the erase block as measured.
    pub unit: Option<u64>,
    /// True where the raw tables of flashbench are wanted too, which cost more I/O.
    pub tables: bool,
    /// The parts that are wanted ([`Options::wants`]); all of them where it is empty.
    pub only: Vec<MapPart>,
}

/// A part of a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MapPart {
    /// Page, read unit, erase block and mapping segment, as reads show them; the share never written.
    Boundaries,
    /// Reads by block size.
    ReadCurve,
    /// What planes or chips share out.
    Planes,
    /// What a queue helps, for reads and for writes.
    Queue,
    /// Speed over the addresses.
    Axis,
    /// Page, unit and small-write log, as writes show them.
    PageWrites,
    /// Open blocks in order and at random, what closing one copies and how fast.
    OpenBlocks,
    /// The region at the start.
    Fat,
    /// The span of small random writes.
    Span,
    /// Writes by block size.
    WriteCurve,
    /// The cache and what comes after it.
    Cache,
}

/// Each part with its name on the command line.
const NAMES: [(&str, MapPart); 11] = [
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
        let named = NAMES.iter().find(|(_, part)| part == self);
        f.write_str(named.map_or("", |(name, _)| name))
    }
}

impl FromStr for MapPart {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = NAMES.iter().find(|(name, _)| *name == text).map(|(_, part)| *part);
        found.ok_or_else(|| {
            let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
            format!("unknown part of a map: {text:?}; the parts are {}", names.join(", "))
        })
    }
}

impl MapOptions {
    /// Whether a part is asked for.
    pub fn wants(&self, part: MapPart) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }
}

/// A property of a map, whatever its value is.
pub(super) trait UnknownProperty {
    /// Whether nobody has measured it or said yet why not.
    fn is_silent(&self) -> bool;
    /// Says why it was not tested.
    fn leave_out(&mut self, why: &str);
}

impl<T> UnknownProperty for Property<T> {
    fn is_silent(&self) -> bool {
        self.status == PropertyStatus::NotTested && self.reason == Self::default().reason
    }

    fn leave_out(&mut self, why: &str) {
        *self = Property::not_tested(why);
    }
}

/// A property, the parts with which it is asked for, and whether writes can show it.
type PropertyParts<'m> = (&'m mut dyn UnknownProperty, &'static [MapPart], bool);

fn properties(into: &mut MeasuredMap) -> [PropertyParts<'_>; 17] {
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

/// Says why nothing is known of what reads at boundaries would show.
pub(super) fn leave_out_boundaries(into: &mut MeasuredMap, why: &str) {
    let shown = properties(into).into_iter().filter(|(_, parts, _)| parts.contains(&MapPart::Boundaries));
    shown.for_each(|(property, ..)| property.leave_out(why));
}

/// Says of everything that writes show, and that nobody has said anything about, why it was left out.
pub(super) fn leave_out_writes(into: &mut MeasuredMap, why: &str) {
    let silent = properties(into).into_iter().filter(|(property, _, writes)| *writes && property.is_silent());
    silent.for_each(|(property, ..)| property.leave_out(why));
}

/// Says of every part that was not asked for that this is why it was left out.
pub(super) fn say_unwanted(options: &MapOptions, into: &mut MeasuredMap) {
    let unwanted = |parts: &[MapPart]| !parts.iter().any(|part| options.wants(*part));
    let silent = properties(into).into_iter().filter(|(p, parts, _)| p.is_silent() && unwanted(parts));
    silent.for_each(|(property, ..)| property.leave_out("not selected with --only"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_is_known_by_the_name_it_prints() {
        for (name, part) in NAMES {
            assert_eq!((name.parse(), part.to_string()), (Ok(part), name.to_owned()));
        }
        assert!("page".parse::<MapPart>().unwrap_err().contains("open-blocks"));
    }
}
