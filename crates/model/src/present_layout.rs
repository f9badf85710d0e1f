//! Present partitions and file systems of a card, and their alignment to the card's allocation unit and to the SD
//! Association's layout.

use crate::finding::{Finding, FindingWeight};
use crate::shell::shell_quote;
use crate::units::{BinarySize, DecimalSize, group_digits};
use cardscope_sd::layout::boot::BootVolume;
use cardscope_sd::layout::{CardLayout, LayoutOptions, SECTOR, plan_layout};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PresentPartition {
    pub number: Option<u32>,
    pub start_bytes: u64,
    pub bytes: u64,
    #[serde(flatten)]
    pub volume: Option<BootVolume>,
    /// Start of the files on the card; start of the partition for an unknown file system.
    pub data_start_bytes: u64,
    /// True if `data_start_bytes` is a multiple of the unit.
    pub aligned: bool,
}

/// Partitions on a card.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PresentLayout {
    #[serde(default)]
    pub card_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sector_bytes: Option<u64>,
    /// Sector size that the partition table was made for, if certain.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub table_sector_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub partitions_end_bytes: Option<u64>,
    /// `mbr`, `gpt`, or None without a partition table.
    pub table: Option<String>,
    pub partitions: Vec<PresentPartition>,
    pub unit_bytes: u64,
    pub unit_source: String,
    pub boundary_bytes: Option<u64>,
    /// Layout of the SD Association for this capacity.
    pub association: Option<CardLayout>,
    pub aligned: Option<bool>,
}

/// Number, start, length and boot sector of a partition.
pub type Read = (Option<u32>, u64, u64, Option<BootVolume>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AllocationUnit {
    pub bytes: u64,
    pub source: &'static str,
}

impl PresentLayout {
    /// Checks the partitions of a card. `stated` is the allocation unit that the card reports.
    pub fn new(bytes: u64, table: Option<String>, read: Vec<Read>, stated: Option<AllocationUnit>) -> Self {
        let association = plan_layout(bytes / SECTOR, LayoutOptions::default()).ok();
        let boundary = association.map(|layout| layout.boundary_sectors * SECTOR);
        let by_capacity = AllocationUnit {
            bytes: boundary.unwrap_or(4 << 20),
            source: "boundary unit of the SD Association for this capacity",
        };
        let unit = stated.unwrap_or(by_capacity);
        let partitions: Vec<_> = read.into_iter().map(|read| check_partition(read, unit.bytes)).collect();
        let aligned = (!partitions.is_empty()).then(|| partitions.iter().all(|p| p.aligned));
        PresentLayout {
            card_bytes: bytes,
            table,
            partitions,
            unit_bytes: unit.bytes,
            unit_source: unit.source.to_owned(),
            boundary_bytes: boundary,
            association,
            aligned,
            ..PresentLayout::default()
        }
    }

    pub fn contradictions(&self) -> Vec<Finding> {
        let hint = |claim, text: String| Finding::new(claim, FindingWeight::Hint, 0.9, text);
        let sectors = self.table_sector_bytes.zip(self.sector_bytes).filter(|(table, host)| table != host);
        let sectors = sectors.map(|(table, host)| {
            let made = format!("The partition table was made for sectors of {table} bytes");
            hint("layout-sector-size", format!("{made}, but the reader shows {host}: nothing mounts here."))
                .because("sector_bytes", host)
                .because("table_sector_bytes", table)
                .with_advice("Use another reader; the data is still there.")
        });
        let beyond = self.partitions_end_bytes.filter(|end| *end > self.card_bytes);
        let beyond = beyond.map(|end| {
            let (end_size, card) = (DecimalSize(end), DecimalSize(self.card_bytes));
            let ends = format!("A partition ends at {end_size}, beyond the {card} shown");
            hint("layout-beyond-card", ends + ": the reader cuts the capacity, or the image is cut.")
                .because("partitions_end_bytes", end)
                .because("card_bytes", self.card_bytes)
                .with_advice("Try another reader before you write to the card.")
        });
        sectors.into_iter().chain(beyond).collect()
    }

    /// Returns the finding about alignment, or None without partitions.
    pub fn finding(&self, target: &str) -> Option<Finding> {
        let unit = BinarySize(self.unit_bytes);
        let odd = self.partitions.iter().find(|p| !p.aligned);
        let found = |weight, text| Finding::new("layout-alignment", weight, 0.9, text);
        let found = match (self.aligned?, odd) {
            (false, Some(odd)) => found(FindingWeight::Hint, odd.misalignment_text(self.unit_bytes))
                .with_advice(format!(
                    "Run `cardscope format {} --backup FILE` to align it; all data on the card is lost.",
                    shell_quote(target)
                )),
            _ => found(FindingWeight::Note, format!("The data of every partition is aligned to {unit}.")),
        };
        let found = found.because("unit_bytes", self.unit_bytes).because("unit_from", &self.unit_source);
        Some(self.partitions.iter().fold(found, |found, p| found.because(&p.name(), p.data_start_bytes)))
    }
}

fn check_partition((number, start_bytes, bytes, volume): Read, unit: u64) -> PresentPartition {
    let data_start_bytes = start_bytes.saturating_add(volume.as_ref().map_or(0, |v| v.data_offset));
    let aligned = data_start_bytes.is_multiple_of(unit.max(1));
    PresentPartition { number, start_bytes, bytes, volume, data_start_bytes, aligned }
}

impl PresentPartition {
    pub fn name(&self) -> String {
        self.number.map_or_else(|| "the volume".to_owned(), |n| format!("partition {n}"))
    }

    fn misalignment_text(&self, unit: u64) -> String {
        let what = self.volume.as_ref().map_or_else(String::new, |v| format!(" ({})", v.file_system));
        let (name, start, unit_size) = (self.name(), group_digits(self.data_start_bytes), BinarySize(unit));
        let past = group_digits(self.data_start_bytes % unit);
        let begins = format!("The data of {name}{what} begins at byte {start}");
        format!("{begins}, {past} bytes past a multiple of {unit_size}, so a write may cost two.")
    }
}
