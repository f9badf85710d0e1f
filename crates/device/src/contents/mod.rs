//! Contents of a device: partition table and file systems, for the prompt of a verb that erases; and its layout, the
//! positions of partitions and files.
//!
//! Parses bytes alone and tolerates garbage: a card may hold anything. Contents are no reason for a refusal.

mod card_image;
mod magic;
mod reader;
mod table;

pub use card_image::UnlikeCard;
pub use magic::FoundContent;
pub use reader::ByteSource;
pub use table::{TableKind, TablePartition};

use cardscope_model::present_layout::{AllocationUnit, PresentLayout, Read};
use cardscope_sd::layout::boot::{self, BootVolume};
use reader::FileBytes;
use serde::Serialize;
use std::fs::File;
use table::PartitionTable;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct DeviceContents {
    pub table: Option<TableKind>,
    /// Sector size of the table in bytes, if certain.
    #[serde(skip)]
    pub table_sector: Option<u64>,
    /// End of the last partition in bytes, even beyond the card; 0 without partitions.
    #[serde(skip)]
    pub partitions_end: u64,
    pub partitions: Vec<TablePartition>,
    /// File system, swap or volume member without a partition table.
    pub whole: Option<FoundContent>,
    /// True if the first bytes could not be read.
    pub unreadable: bool,
    /// True if the first bytes are all equal, as on a fresh or erased card.
    pub blank: bool,
}

/// Examines an open device or image of `bytes` bytes. Reads some hundred KiB, aligned for `O_DIRECT`.
pub fn examine_file(file: &File, bytes: u64) -> DeviceContents {
    examine_source(&FileBytes { file, bytes })
}

/// Reason why an open file of `bytes` bytes does not look like the image of a card.
pub fn unlike_card(file: &File, bytes: u64) -> Option<UnlikeCard> {
    unlike_card_of(&FileBytes { file, bytes })
}

fn unlike_card_of(source: &dyn ByteSource) -> Option<UnlikeCard> {
    let contents = examine_source(source);
    card_image::examine_image(source, !contents.is_empty() || contents.blank)
}

fn examine_source(source: &dyn ByteSource) -> DeviceContents {
    let Some(head) = source.read(0, 4096.min(source.len())) else {
        return DeviceContents { unreadable: true, ..DeviceContents::default() };
    };
    let whole = magic::recognize_content(source, 0, source.len());
    // The boot sector of a FAT or NTFS volume ends like an MBR, so its code would be parsed as partitions.
    let is_volume = |found: &FoundContent| ["vfat", "exfat", "ntfs", "BitLocker"].contains(&found.kind);
    let listed = if whole.as_ref().is_some_and(is_volume) { None } else { table::read_table(source) };
    let blank = head.windows(2).all(|pair| pair[0] == pair[1]);
    let mut contents = DeviceContents { whole, blank, ..DeviceContents::default() };
    if let Some(PartitionTable { table, parts, sector, end }) = listed {
        (contents.table, contents.table_sector) = (Some(table), sector);
        (contents.partitions, contents.partitions_end) = (parts, end);
    }
    for part in contents.partitions.iter_mut().filter(|part| !part.is_extended()) {
        part.found = magic::recognize_content(source, part.start, part.bytes);
    }
    contents
}

impl DeviceContents {
    pub fn is_empty(&self) -> bool {
        self.table.is_none() && self.whole.is_none() && !self.unreadable
    }

    /// Phrase to follow "it holds", such as `an MBR partition table with 1 partition (1: vfat "boot", 256 MiB)`.
    pub fn sentence(&self) -> String {
        if self.unreadable {
            return "unreadable first blocks".to_owned();
        }
        let whole = self.whole.as_ref().map(|found| format!("{found} over the whole device"));
        let table = self.table.map(|table| self.table_sentence(table));
        match (table, whole) {
            (Some(table), Some(whole)) => format!("{table}, and {whole}"),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) if self.blank => "nothing (blank first blocks)".to_owned(),
            (None, None) => "no known partition table or file system".to_owned(),
        }
    }

    fn table_sentence(&self, table: TableKind) -> String {
        let parts: Vec<String> = self.partitions.iter().map(TablePartition::partition_text).collect();
        match parts.len() {
            0 => format!("{table} without partitions"),
            1 => format!("{table} with 1 partition ({})", parts[0]),
            n => format!("{table} with {n} partitions ({})", parts.join("; ")),
        }
    }
}

impl TablePartition {
    fn partition_text(&self) -> String {
        let what = match (&self.found, &self.name) {
            (Some(found), _) => found.to_string(),
            (None, Some(name)) => format!("{name:?}, not recognised"),
            (None, None) => format!("type {}, not recognised", self.type_id),
        };
        format!("{}: {what}, {}", self.number, size_text(self.bytes))
    }
}

fn size_text(bytes: u64) -> String {
    let units = [(1u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit) {
        None => format!("{bytes} bytes"),
        Some((unit, name)) if bytes.is_multiple_of(unit) => format!("{} {name}", bytes / unit),
        Some((unit, name)) => format!("{:.1} {name}", bytes as f64 / unit as f64),
    }
}

/// Layout of an open device or image of `bytes` bytes; `None` if its first blocks are unreadable. `stated` is the
/// card's allocation unit from its registers.
pub fn file_layout(file: &File, bytes: u64, stated: Option<AllocationUnit>) -> Option<PresentLayout> {
    read_layout(&FileBytes { file, bytes }, stated)
}

pub fn read_layout(source: &dyn ByteSource, stated: Option<AllocationUnit>) -> Option<PresentLayout> {
    let contents = examine_source(source);
    if contents.unreadable {
        return None;
    }
    let table = contents.table.map(|table| if table == TableKind::Mbr { "mbr" } else { "gpt" }.to_owned());
    let read = match table {
        Some(_) => partition_volumes(source, &contents),
        None => whole_volume(source),
    };
    Some(PresentLayout {
        sector_bytes: Some(source.sector()),
        table_sector_bytes: contents.table_sector,
        partitions_end_bytes: Some(contents.partitions_end).filter(|end| *end > 0),
        ..PresentLayout::new(source.len(), table, read, stated)
    })
}

fn partition_volumes(source: &dyn ByteSource, contents: &DeviceContents) -> Vec<Read> {
    let read = |p: &TablePartition| (Some(p.number), p.start, p.bytes, read_volume(source, p.start));
    contents.partitions.iter().filter(|p| !p.is_extended()).map(read).collect()
}

fn whole_volume(source: &dyn ByteSource) -> Vec<Read> {
    read_volume(source, 0).map(|volume| (None, 0, source.len(), Some(volume))).into_iter().collect()
}

fn read_volume(source: &dyn ByteSource, start: u64) -> Option<BootVolume> {
    let room = source.len().checked_sub(start)?;
    boot::parse_volume(&source.read(start, room.min(boot::BOOT_BYTES as u64))?)
}

#[cfg(test)]
mod tests;
