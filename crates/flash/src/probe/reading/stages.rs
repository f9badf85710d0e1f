//! Stages of the reading parts, as listeners receive them.

use crate::probe::options::{MapOptions, MapPart};

pub(super) const SURVEY: &str = "surveying read times";
pub(super) const READ_UNIT: &str = "read unit";
pub(super) const BOUNDARIES: &str = "pages and erase blocks";
pub(super) const MAPPING: &str = "mapping table";
pub(super) const PLANES: &str = "planes";
pub(super) const QUEUE: &str = "queue of reads";
pub(super) const BY_SIZE: &str = "reads by size";
pub(super) const BY_ADDRESS: &str = "reads by address";
pub(super) const TABLES: &str = "flashbench tables of reads";

pub(in crate::probe) fn reading_stages(options: &MapOptions) -> Vec<&'static str> {
    let card = options.card_addresses;
    let all = [
        (card && options.wants(MapPart::Boundaries), &[SURVEY, READ_UNIT, BOUNDARIES, MAPPING][..]),
        (card && options.wants(MapPart::Planes), &[PLANES]),
        (options.wants(MapPart::Queue), &[QUEUE]),
        (options.wants(MapPart::ReadCurve), &[BY_SIZE]),
        (card && options.wants(MapPart::Axis), &[BY_ADDRESS]),
        (card && options.flashbench_tables, &[TABLES]),
    ];
    all.into_iter().filter(|(wanted, _)| *wanted).flat_map(|(_, names)| names.iter().copied()).collect()
}
