//! The layout that stands on a card now, held against the one that the SD Association gives its capacity and against
//! the card's own allocation unit.

use crate::finding::{Finding, FindingWeight};
use crate::shell::quoted;
use crate::units::{BinarySize, DecimalSize, grouped};
use cardscope_sd::layout::boot::BootVolume;
use cardscope_sd::layout::{CardLayout, LayoutOptions, SECTOR, plan};
use serde::{Deserialize, Serialize};

/// One partition, or a volume without one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PresentPartition {
    /// Its number; `None` for a volume over the whole card.
    pub number: Option<u32>,
    /// First byte on the card.
    pub start_bytes: u64,
    /// Bytes.
    pub bytes: u64,
    /// What is in it, where its boot sector is understood.
    #[serde(flatten)]
    pub volume: Option<BootVolume>,
    /// Where its files begin, from the card's start; the partition's start where the file system is not known.
    pub data_start_bytes: u64,
    /// True where that is a multiple of the unit.
    pub aligned: bool,
}

/// What stands on a card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PresentLayout {
    /// Bytes that the host sees.
    #[serde(default)]
    pub card_bytes: u64,
    /// Bytes of a sector, as the host counts them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sector_bytes: Option<u64>,
    /// Bytes of the sectors that the partition table was made for, where that is certain.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub table_sector_bytes: Option<u64>,
    /// End of the last partition, on the card or beyond.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub partitions_end_bytes: Option<u64>,
    /// `mbr`, `gpt`; `None` without a partition table.
    pub table: Option<String>,
    /// Its partitions.
    pub partitions: Vec<PresentPartition>,
    /// What data should begin on a multiple of, in bytes.
    pub unit_bytes: u64,
    /// Where that comes from.
    pub unit_source: String,
    /// Boundary unit of the SD Association's layout for this capacity, in bytes.
    pub boundary_bytes: Option<u64>,
    /// What that layout would be.
    pub association: Option<CardLayout>,
    /// True where all partitions begin their data on the unit; `None` where there is nothing to look at.
    pub aligned: Option<bool>,
}

/// What was read from a card: number, start, length and boot sector of each partition.
pub type Read = (Option<u32>, u64, u64, Option<BootVolume>);

/// An allocation unit that the card states, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AllocationUnit {
    /// Bytes.
    pub bytes: u64,
    /// Where it stands.
    pub source: &'static str,
}

impl PresentLayout {
    /// Looks at what was read from a card of `bytes` bytes. `stated` is the card's own allocation unit, where known.
    pub fn new(bytes: u64, table: Option<String>, read: Vec<Read>, stated: Option<AllocationUnit>) -> Self {
        let association = plan(bytes / SECTOR, LayoutOptions::default()).ok();
        let boundary = association.map(|layout| layout.boundary_sectors * SECTOR);
        let by_capacity = AllocationUnit {
            bytes: boundary.unwrap_or(4 << 20),
            source: "boundary unit of the SD Association for this capacity",
        };
        let unit = stated.unwrap_or(by_capacity);
        let partitions: Vec<PresentPartition> =
            read.into_iter().map(|read| partition(read, unit.bytes)).collect();
        let aligned = (!partitions.is_empty()).then(|| partitions.iter().all(|p| p.aligned));
        PresentLayout {
            card_bytes: bytes,
            sector_bytes: None,
            table_sector_bytes: None,
            partitions_end_bytes: None,
            table,
            partitions,
            unit_bytes: unit.bytes,
            unit_source: unit.source.to_owned(),
            boundary_bytes: boundary,
            association,
            aligned,
        }
    }

    /// Contradictions between the partition table and what the reader shows: another reader may show what fits.
    pub fn contradictions(&self) -> Vec<Finding> {
        let hint = |claim, text: String| Finding::new(claim, FindingWeight::Hint, 0.9, text);
        let sectors = self.table_sector_bytes.zip(self.sector_bytes).filter(|(table, host)| table != host);
        let sectors = sectors.map(|(table, host)| {
            let text = format!(
                "The partition table was made for sectors of {table} bytes, but the reader shows {host}: \
                 nothing mounts here."
            );
            hint("layout-sector-size", text)
                .because("sector_bytes", host)
                .because("table_sector_bytes", table)
                .advise("Use another reader; the data is still there.")
        });
        let beyond = self.partitions_end_bytes.filter(|end| *end > self.card_bytes);
        let beyond = beyond.map(|end| {
            let text = format!(
                "A partition ends at {}, beyond the {} shown: the reader cuts the capacity, or the image is cut.",
                DecimalSize(end),
                DecimalSize(self.card_bytes)
            );
            hint("layout-beyond-card", text)
                .because("partitions_end_bytes", end)
                .because("card_bytes", self.card_bytes)
                .advise("Try another reader before you write to the card.")
        });
        sectors.into_iter().chain(beyond).collect()
    }

    /// The conclusion; `None` where nothing stands on the card that could be aligned.
    pub fn finding(&self, target: &str) -> Option<Finding> {
        let unit = BinarySize(self.unit_bytes);
        let odd = self.partitions.iter().find(|p| !p.aligned);
        let found = |weight, text| Finding::new("layout-alignment", weight, 0.9, text);
        let found = match (self.aligned?, odd) {
            (false, Some(odd)) => found(FindingWeight::Hint, odd.complaint(self.unit_bytes)).advise(format!(
                "Run `cardscope format {} --backup FILE` to align it; all data on the card is lost.",
                quoted(target)
            )),
            _ => found(FindingWeight::Note, format!("The data of every partition is aligned to {unit}.")),
        };
        let found = found.because("unit_bytes", self.unit_bytes).because("unit_from", &self.unit_source);
        Some(self.partitions.iter().fold(found, |found, p| found.because(&p.name(), p.data_start_bytes)))
    }
}

fn partition((number, start_bytes, bytes, volume): Read, unit: u64) -> PresentPartition {
    let data_start_bytes = start_bytes.saturating_add(volume.as_ref().map_or(0, |v| v.data_offset));
    let aligned = data_start_bytes.is_multiple_of(unit.max(1));
    PresentPartition { number, start_bytes, bytes, volume, data_start_bytes, aligned }
}

impl PresentPartition {
    /// `partition 1`, or `the volume`.
    pub fn name(&self) -> String {
        self.number.map_or_else(|| "the volume".to_owned(), |n| format!("partition {n}"))
    }

    fn complaint(&self, unit: u64) -> String {
        let what = self.volume.as_ref().map_or_else(String::new, |v| format!(" ({})", v.file_system));
        let past = self.data_start_bytes % unit;
        format!(
            "The data of {}{what} begins at byte {}, {} bytes past a multiple of {}, so a write may cost \
             two.",
            self.name(),
            grouped(self.data_start_bytes),
            grouped(past),
            BinarySize(unit)
        )
    }
}
