//! What is on a device, for the question that a destroying verb asks: partition table and file systems; and how it is laid
//! out: where its partitions and their files begin.
//!
//! Built from bytes alone, tolerant of garbage: a card may hold anything. Nothing here is a reason to refuse.

mod magic;
mod reader;
mod table;
mod unlike;

pub use magic::FoundContent;
pub use reader::ByteSource;
pub use table::{TableKind, TablePartition};
pub use unlike::UnlikeCard;

use cardscope_model::present_layout::{AllocationUnit, PresentLayout, Read};
use cardscope_sd::layout::boot::{self, BootVolume};
use reader::FileBytes;
use serde::Serialize;
use std::fs::File;

/// What was found on a device.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct DeviceContents {
    /// The partition table, if there is one.
    pub table: Option<TableKind>,
    /// Bytes of the sectors that it counts in, where that is certain.
    #[serde(skip)]
    pub table_sector: Option<u64>,
    /// End of its last partition, on the card or beyond; 0 without one.
    #[serde(skip)]
    pub partitions_end: u64,
    /// The partitions it lists.
    pub partitions: Vec<TablePartition>,
    /// A file system, swap or member of a volume that takes the whole device.
    pub whole: Option<FoundContent>,
    /// True where the first bytes could not be read, so that nothing could be found.
    pub unreadable: bool,
    /// True where those first bytes were all the same, as on a fresh or erased card.
    pub blank: bool,
}

/// Describes what is on an open device or image of `bytes` bytes. Reads some hundred KiB, aligned, so that a
/// descriptor opened with `O_DIRECT` serves as well.
pub fn describe(file: &File, bytes: u64) -> DeviceContents {
    examine(&FileBytes { file, bytes })
}

/// Why an open file of `bytes` bytes does not look like the image of a card; `None` where it does.
pub fn unlike_card(file: &File, bytes: u64) -> Option<UnlikeCard> {
    unlike_card_of(&FileBytes { file, bytes })
}

fn unlike_card_of(source: &dyn ByteSource) -> Option<UnlikeCard> {
    let contents = examine(source);
    unlike::look(source, !contents.is_empty() || contents.blank)
}

fn examine(source: &dyn ByteSource) -> DeviceContents {
    let Some(head) = source.read(0, 4096.min(source.len())) else {
        return DeviceContents { unreadable: true, ..DeviceContents::default() };
    };
    let whole = magic::recognise(source, 0, source.len());
    // The boot sector of a FAT or NTFS volume ends like an MBR, its code would be read as partitions.
    let bare_volume =
        whole.as_ref().is_some_and(|found| matches!(found.kind, "vfat" | "exfat" | "ntfs" | "BitLocker"));
    let listed = if bare_volume { None } else { table::read(source) };
    let (table_sector, partitions_end) = listed.as_ref().map_or((None, 0), |l| (l.sector, l.end));
    let (table, mut partitions) = listed.map_or((None, Vec::new()), |l| (Some(l.table), l.parts));
    for part in partitions.iter_mut().filter(|part| !part.extended()) {
        part.found = magic::recognise(source, part.start, part.bytes);
    }
    DeviceContents {
        table,
        table_sector,
        partitions_end,
        partitions,
        whole,
        unreadable: false,
        blank: head.windows(2).all(|pair| pair[0] == pair[1]),
    }
}

impl DeviceContents {
    /// True where nothing was recognised.
    pub fn is_empty(&self) -> bool {
        self.table.is_none() && self.whole.is_none() && !self.unreadable
    }

    /// What is on it, to stand after "it holds": `an MBR partition table with 1 partition (1: vfat "boot", 256 MiB)`.
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
        let parts: Vec<String> = self.partitions.iter().map(TablePartition::phrase).collect();
        match parts.len() {
            0 => format!("{table} without partitions"),
            1 => format!("{table} with 1 partition ({})", parts[0]),
            n => format!("{table} with {n} partitions ({})", parts.join("; ")),
        }
    }
}

impl TablePartition {
    fn phrase(&self) -> String {
        let what = match (&self.found, &self.name) {
            (Some(found), _) => found.to_string(),
            (None, Some(name)) => format!("{name:?}, not recognised"),
            (None, None) => format!("type {}, not recognised", self.type_id),
        };
        format!("{}: {what}, {}", self.number, size(self.bytes))
    }
}

/// A size as a person would say it, in binary units with one decimal.
fn size(bytes: u64) -> String {
    let (unit, name) = match bytes {
        n if n >= 1 << 40 => (1u64 << 40, "TiB"),
        n if n >= 1 << 30 => (1 << 30, "GiB"),
        n if n >= 1 << 20 => (1 << 20, "MiB"),
        n if n >= 1 << 10 => (1 << 10, "KiB"),
        n => return format!("{n} bytes"),
    };
    if bytes.is_multiple_of(unit) {
        format!("{} {name}", bytes / unit)
    } else {
        format!("{:.1} {name}", bytes as f64 / unit as f64)
    }
}

/// The layout on an open device or image of `bytes` bytes; `stated` is the card's own allocation unit, where known.
/// `None` where its first blocks cannot be read.
pub fn present_of(file: &File, bytes: u64, stated: Option<AllocationUnit>) -> Option<PresentLayout> {
    present(&FileBytes { file, bytes }, stated)
}

/// The layout of anything that bytes can be read from.
pub fn present(source: &dyn ByteSource, stated: Option<AllocationUnit>) -> Option<PresentLayout> {
    let contents = examine(source);
    if contents.unreadable {
        return None;
    }
    let table = contents.table.map(|table| match table {
        TableKind::Mbr => "mbr".to_owned(),
        TableKind::Gpt => "gpt".to_owned(),
    });
    let read = if contents.table.is_some() { partitions(source, &contents) } else { whole(source) };
    Some(PresentLayout {
        sector_bytes: Some(source.sector()),
        table_sector_bytes: contents.table_sector,
        partitions_end_bytes: Some(contents.partitions_end).filter(|end| *end > 0),
        ..PresentLayout::new(source.len(), table, read, stated)
    })
}

fn partitions(source: &dyn ByteSource, contents: &DeviceContents) -> Vec<Read> {
    let read = |p: &TablePartition| (Some(p.number), p.start, p.bytes, volume(source, p.start));
    contents.partitions.iter().filter(|p| !p.extended()).map(read).collect()
}

/// A volume over the whole card, without a table.
fn whole(source: &dyn ByteSource) -> Vec<Read> {
    volume(source, 0).map(|volume| (None, 0, source.len(), Some(volume))).into_iter().collect()
}

fn volume(source: &dyn ByteSource, start: u64) -> Option<BootVolume> {
    let room = source.len().checked_sub(start)?;
    boot::read(&source.read(start, room.min(boot::HEAD as u64))?)
}

#[cfg(test)]
mod tests;
