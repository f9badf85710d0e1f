//! Partition table and file systems of a card as facts.

use crate::tree::{PageFact, fact};
use cardscope_model::present_layout::{PresentLayout, PresentPartition};
use cardscope_model::units::{BinarySize, group_digits};

/// Facts about partition table, partitions and the unit to which files should be aligned.
pub fn present_facts(present: &PresentLayout) -> Vec<PageFact> {
    let table = present.table.as_ref().map_or_else(|| "none".to_owned(), |table| table.to_uppercase());
    let mut facts = vec![fact("partition table", table)];
    facts.extend(present.partitions.iter().map(|p| (p.name(), partition_text(p))));
    let unit = format!("{}: {}", BinarySize(present.unit_bytes), present.unit_source);
    facts.push(fact("files should begin on", unit));
    facts
}

fn partition_text(p: &PresentPartition) -> String {
    let what = p.volume.as_ref().map_or_else(
        || "file system not understood".to_owned(),
        |v| format!("{}, clusters of {}", v.file_system, BinarySize(v.cluster_bytes)),
    );
    let place = if p.aligned { "on the unit" } else { "off the unit" };
    format!(
        "{what}; begins at byte {}, its files at byte {} ({place})",
        group_digits(p.start_bytes),
        group_digits(p.data_start_bytes)
    )
}
