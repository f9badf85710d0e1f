//! Measured properties of a card as table rows (name, value, confidence, evidence), and its partitions as facts.

use crate::figure::{duration, percent, time_us};
use crate::tree::{PageFact, fact};
use cardscope_model::card_map::FlashGeometry;
use cardscope_model::card_map::property::{EvidenceNumber, Property, PropertyStatus};
use cardscope_model::present_layout::{PresentLayout, PresentPartition};
use cardscope_model::units::{BinarySize, DataAmount, DecimalSize, group_digits, three_digits as speed};

/// Evidence numbers that are printed; the document has all of them.
const MAX_EVIDENCE_NUMBERS: usize = 2;

pub struct PropertyRow {
    pub name: &'static str,
    /// Value, or the reason why there is none.
    pub value: String,
    /// Confidence from 0 to 1, None where the property was not tested.
    pub confidence: Option<f64>,
    /// Evidence numbers, time and bytes written.
    pub evidence: String,
}

/// Names and values of the properties that were tested.
pub fn geometry_facts(found: &FlashGeometry) -> Vec<(String, String)> {
    tested_facts(geometry_rows(found).into())
}

pub const GEOMETRY_HEADS: [&str; 4] =
    ["page", "erase block", "open blocks in order", "open blocks at random"];

/// Geometry as cells under [`GEOMETRY_HEADS`]: value and confidence, or the reason up to its first colon.
pub fn geometry_cells(found: &FlashGeometry) -> [String; 4] {
    geometry_rows(found).map(|row| match row.confidence {
        Some(sure) => format!("{} ({})", row.value, percent(sure)),
        None => row.value.split(':').next().unwrap_or_default().to_owned(),
    })
}

pub fn tested_facts(rows: Vec<PropertyRow>) -> Vec<(String, String)> {
    let tested = rows.into_iter().filter_map(|row| Some((row.confidence?, row)));
    let said = |(sure, row): (f64, PropertyRow)| match row.value.as_str() {
        NOT_MEASURABLE => (row.name.to_owned(), row.value),
        found => (row.name.to_owned(), format!("{found} ({})", percent(sure))),
    };
    tested.map(said).collect()
}

/// Value of a property that every card has, but that could not be measured on this one.
pub const NOT_MEASURABLE: &str = "does not show";

pub fn geometry_rows(found: &FlashGeometry) -> [PropertyRow; 4] {
    let size = |bytes: &u64| BinarySize(*bytes).to_string();
    let open = |n: &u32| n.to_string();
    let [page, erase_block, in_order, at_random] = GEOMETRY_HEADS;
    [
        property_row_or(NOT_MEASURABLE, page, &found.page_bytes, size),
        property_row_or(NOT_MEASURABLE, erase_block, &found.erase_block_bytes, size),
        property_row_or("no limit", in_order, &found.open_blocks.linear, open),
        property_row_or("no limit", at_random, &found.open_blocks.random, open),
    ]
}

pub fn property_row<T>(name: &'static str, of: &Property<T>, show: impl Fn(&T) -> String) -> PropertyRow {
    property_row_or("none", name, of, show)
}

/// Row of a property. `none` is its value if the test ran and measured nothing.
pub fn property_row_or<T>(
    none: &str,
    name: &'static str,
    property: &Property<T>,
    show: impl Fn(&T) -> String,
) -> PropertyRow {
    let value = match (property.status, &property.value, &property.bound) {
        (PropertyStatus::Measured, Some(value), _) => show(value),
        (PropertyStatus::AtLeast, _, Some(bound)) => format!("at least {}", show(bound)),
        (PropertyStatus::None, ..) => none.to_owned(),
        _ => {
            let why = property.reason.as_deref().unwrap_or("no reason is known");
            return PropertyRow { name, value: why.to_owned(), confidence: None, evidence: String::new() };
        }
    };
    let numbers = property.evidence.numbers.iter().take(MAX_EVIDENCE_NUMBERS).map(evidence_text);
    let cost = property.evidence.cost;
    let cost = match cost.written_bytes {
        _ if cost.seconds == 0.0 => String::new(),
        0 => format!(" ({})", duration(cost.seconds)),
        bytes => format!(" ({}, {} written)", duration(cost.seconds), DecimalSize(bytes)),
    };
    let evidence = numbers.collect::<Vec<_>>().join(", ") + &cost;
    PropertyRow { name, value, confidence: Some(property.confidence), evidence }
}

/// Name, value and unit of an evidence number.
fn evidence_text(number: &EvidenceNumber) -> String {
    let value = number.value;
    let shown = match number.unit.as_str() {
        "bytes" if value >= 0.0 => DataAmount(value as u64).to_string(),
        "µs" if value >= 0.0 => time_us(value),
        "s" if value >= 0.0 => duration(value),
        "MB/s" => format!("{} MB/s", speed(value)),
        "IOPS" => format!("{} IOPS", speed(value)),
        "" if value.fract() == 0.0 => format!("{value:.0}"),
        "" => speed(value),
        unit => format!("{} {unit}", speed(value)),
    };
    format!("{} {shown}", number.what)
}

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
    let volume = p.volume.as_ref();
    let what = volume.map(|v| format!("{}, clusters of {}", v.file_system, BinarySize(v.cluster_bytes)));
    let what = what.as_deref().unwrap_or("file system not understood");
    let place = if p.aligned { "on the unit" } else { "off the unit" };
    let (start, files) = (group_digits(p.start_bytes), group_digits(p.data_start_bytes));
    format!("{what}; begins at byte {start}, its files at byte {files} ({place})")
}
