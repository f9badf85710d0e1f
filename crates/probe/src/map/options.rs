//! How a map is made; its parts by name, so that one of them can be asked for alone, and what was not asked for says
//! so.

use crate::context::Limits;
use cardscope_model::card_map::Measured;
use cardscope_model::card_map::property::{Property, Status};
use std::fmt;
use std::str::FromStr;

/// How a map is made.
#[derive(Debug, Clone)]
pub struct Options {
    /// What may be used and spent.
    pub limits: Limits,
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
    /// True where the raw tables of flashbench are wanted too, which cost more I/O.
    pub tables: bool,
    /// The parts that are wanted ([`Options::wants`]); all of them where it is empty.
    pub only: Vec<Part>,
}

/// A part of a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
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
const NAMES: [(&str, Part); 11] = [
    ("boundaries", Part::Boundaries),
    ("read-curve", Part::ReadCurve),
    ("planes", Part::Planes),
    ("queue", Part::Queue),
    ("axis", Part::Axis),
    ("page-writes", Part::PageWrites),
    ("open-blocks", Part::OpenBlocks),
    ("fat", Part::Fat),
    ("span", Part::Span),
    ("write-curve", Part::WriteCurve),
    ("cache", Part::Cache),
];

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = NAMES.iter().find(|(_, part)| part == self);
        f.write_str(named.map_or("", |(name, _)| name))
    }
}

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = NAMES.iter().find(|(name, _)| *name == text).map(|(_, part)| *part);
        found.ok_or_else(|| {
            let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
            format!("{text:?} is no part of a map; the parts are {}", names.join(", "))
        })
    }
}

impl Options {
    /// Whether a part is asked for.
    pub fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }
}

/// Says of every part that was not asked for that this is why it was left out.
pub(super) fn say_unwanted(options: &Options, into: &mut Measured) {
    let any = |parts: &[Part]| parts.iter().any(|part| options.wants(*part));
    if !any(&[Part::Boundaries, Part::PageWrites]) {
        unwanted(&mut into.page_bytes);
        unwanted(&mut into.read_unit_bytes);
    }
    if !any(&[Part::Boundaries, Part::OpenBlocks]) {
        unwanted(&mut into.erase_block_bytes);
    }
    if !options.wants(Part::Boundaries) {
        unwanted(&mut into.map_segment_bytes);
        unwanted(&mut into.unmapped_share);
    }
    if !options.wants(Part::PageWrites) {
        unwanted(&mut into.small_write_log_bytes);
    }
    if !options.wants(Part::OpenBlocks) {
        unwanted(&mut into.open_blocks.linear);
        unwanted(&mut into.open_blocks.random);
        unwanted(&mut into.merge);
        unwanted(&mut into.copy_mb_s);
    }
    if !options.wants(Part::Fat) {
        unwanted(&mut into.fat_region_bytes);
    }
    if !options.wants(Part::Span) {
        unwanted(&mut into.random_write_span_bytes);
    }
    if !options.wants(Part::Planes) {
        unwanted(&mut into.plane_bytes);
    }
    if !options.wants(Part::Cache) {
        unwanted(&mut into.slc_cache_bytes);
        unwanted(&mut into.after_cache_mb_s);
    }
    if !options.wants(Part::Queue) {
        unwanted(&mut into.queue_depth_effective);
        unwanted(&mut into.write_queue_gain);
    }
}

fn unwanted<T>(property: &mut Property<T>) {
    if property.status == Status::NotTested {
        *property = Property::not_tested("only other parts were asked for");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_is_known_by_the_name_it_prints() {
        for (name, part) in NAMES {
            assert_eq!((name.parse(), part.to_string()), (Ok(part), name.to_owned()));
        }
        assert!("page".parse::<Part>().unwrap_err().contains("open-blocks"));
    }
}
