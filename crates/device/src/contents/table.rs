//! Partition tables: MBR with extended partitions, and GPT.
//!
//! Layouts: UEFI specification 2.10, sections 5.2 (MBR) and 5.3 (GPT); extended partitions as Linux reads them
//! (`block/partitions/msdos.c`).

use super::magic::{FoundContent, recognize_content};
use super::reader::{ByteSource, parse_wide_label, read_le};
use serde::Serialize;
use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TableKind {
    Mbr,
    Gpt,
}

impl fmt::Display for TableKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if *self == TableKind::Mbr { "an MBR" } else { "a GPT" };
        write!(f, "{name} partition table")
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TablePartition {
    pub number: u32,
    pub start: u64,
    pub bytes: u64,
    /// Type in the table: `0c`, or a GPT type id.
    pub type_id: String,
    pub name: Option<String>,
    pub found: Option<FoundContent>,
}

impl TablePartition {
    /// True for the container of logical partitions.
    pub(super) fn is_extended(&self) -> bool {
        u8::from_str_radix(&self.type_id, 16).is_ok_and(|code| EXTENDED.contains(&code))
    }
}

/// No field of a table states its sector size. It is derived from the position of a GPT, which is sector 1, or of the
/// file systems in the partitions of an MBR.
const TABLE_SECTORS: [u64; 3] = [512, 4096, 2048];
const RECORD_BYTES: u64 = 512;
/// Limit, since a chain in garbage may be a loop.
const MAX_LOGICAL: u32 = 60;
/// Limit of GPT entries: twice the usual 128.
const MAX_GPT_ENTRIES: u64 = 256;
/// Types of extended partitions: CHS, LBA, Linux.
const EXTENDED: [u8; 3] = [0x05, 0x0f, 0x85];
const PROTECTIVE: u8 = 0xee;

pub(crate) struct PartitionTable {
    pub(crate) table: TableKind,
    /// Partitions that begin on the card.
    pub(crate) parts: Vec<TablePartition>,
    /// Sector size in bytes, if certain.
    pub(crate) sector: Option<u64>,
    /// End of the last partition in bytes, even beyond the card.
    pub(crate) end: u64,
}

pub(crate) fn read_table(source: &dyn ByteSource) -> Option<PartitionTable> {
    let gpt = TABLE_SECTORS.iter().find_map(|sector| Some((*sector, read_gpt(source, *sector)?)));
    let Some((sector, parts)) = gpt else { return read_mbr(source) };
    let end = parts.iter().map(|part| part.start.saturating_add(part.bytes)).max().unwrap_or(0);
    Some(PartitionTable { table: TableKind::Gpt, parts, sector: Some(sector), end })
}

struct PartitionEntry {
    type_code: u8,
    start: u64,
    sectors: u64,
}

/// Four entries of a boot record; `None` without a signature, or if an entry is implausible.
fn parse_entries(record: &[u8]) -> Option<Vec<PartitionEntry>> {
    if record.get(510..512)? != [0x55, 0xaa] {
        return None;
    }
    let (start, sectors) = (|e: &[u8]| read_le::<4>(e, 8), |e: &[u8]| read_le::<4>(e, 12));
    let entry = |e: &[u8]| PartitionEntry { type_code: e[4], start: start(e), sectors: sectors(e) };
    record[446..510].chunks_exact(16).map(|e| (e[0] & 0x7f == 0).then(|| entry(e))).collect()
}

impl PartitionEntry {
    fn is_extended(&self) -> bool {
        EXTENDED.contains(&self.type_code)
    }

    /// False for empty entries and the protective entry of a GPT.
    fn is_partition(&self) -> bool {
        self.type_code != 0 && self.type_code != PROTECTIVE && self.sectors > 0
    }
}

fn read_mbr(source: &dyn ByteSource) -> Option<PartitionTable> {
    let entries = parse_entries(&source.read(0, RECORD_BYTES)?)?;
    let certain = TABLE_SECTORS.into_iter().find(|sector| holds_volumes(source, &entries, *sector));
    let sector = certain.unwrap_or(source.sector());
    let numbered = (1..).zip(&entries);
    let mut parts: Vec<TablePartition> =
        numbered.filter_map(|(number, entry)| mbr_partition(source, number, 0, entry, sector)).collect();
    let mut next = 5;
    for entry in entries.iter().filter(|entry| entry.is_extended()) {
        parts.extend(read_logical(source, entry.start, &mut next, sector));
    }
    // A protective entry without a GPT, or entries that all lie outside, still form a table.
    let any = entries.iter().any(|entry| entry.type_code != 0);
    let partitions = entries.iter().filter(|entry| entry.is_partition());
    let end = partitions.map(|entry| (entry.start + entry.sectors) * sector).max().unwrap_or(0);
    let table = TableKind::Mbr;
    (any || !parts.is_empty()).then_some(PartitionTable { table, parts, sector: certain, end })
}

/// True if an entry points to a volume or another record in this sector size.
fn holds_volumes(source: &dyn ByteSource, table: &[PartitionEntry], sector: u64) -> bool {
    let holds = |entry: &PartitionEntry| {
        let (start, bytes) = (entry.start * sector, entry.sectors * sector);
        if entry.is_extended() {
            return source.read(start, RECORD_BYTES).is_some_and(|record| parse_entries(&record).is_some());
        }
        recognize_content(source, start, bytes).is_some()
    };
    table.iter().filter(|entry| entry.is_partition() && entry.start > 0).any(holds)
}

fn mbr_partition(
    source: &dyn ByteSource,
    number: u32,
    base: u64,
    entry: &PartitionEntry,
    sector: u64,
) -> Option<TablePartition> {
    let (start, bytes) = ((base + entry.start) * sector, entry.sectors * sector);
    let type_id = format!("{:02x}", entry.type_code);
    let is_on_card = entry.is_partition() && start < source.len();
    is_on_card.then_some(TablePartition { number, start, bytes, type_id, name: None, found: None })
}

/// Follows the chain of records in an extended partition. Each has one partition, relative to the record, and the
/// position of the next record, relative to the extended partition.
fn read_logical(source: &dyn ByteSource, base: u64, next: &mut u32, sector: u64) -> Vec<TablePartition> {
    let (mut parts, mut record) = (Vec::new(), base);
    for _ in 0..MAX_LOGICAL {
        let bytes = source.read(record * sector, RECORD_BYTES);
        let Some(entries) = bytes.and_then(|bytes| parse_entries(&bytes)) else { break };
        if let Some(part) = mbr_partition(source, *next, record, &entries[0], sector) {
            parts.push(part);
            *next += 1;
        }
        if !entries[1].is_extended() || entries[1].start == 0 {
            break;
        }
        record = base + entries[1].start;
    }
    parts
}

fn read_gpt(source: &dyn ByteSource, sector: u64) -> Option<Vec<TablePartition>> {
    let header = source.read(sector, 92)?;
    if &header[..8] != b"EFI PART" {
        return None;
    }
    let place = read_le::<8>(&header, 72).checked_mul(sector)?;
    let count = read_le::<4>(&header, 80).min(MAX_GPT_ENTRIES);
    let size = read_le::<4>(&header, 84);
    if !(128..=4096).contains(&size) {
        return Some(Vec::new());
    }
    let entry = |index: u64| {
        let bytes = source.read(place.checked_add(index * size)?, 128)?;
        gpt_partition(index as u32 + 1, &bytes, sector)
    };
    Some((0..count).filter_map(entry).collect())
}

fn gpt_partition(number: u32, entry: &[u8], sector: u64) -> Option<TablePartition> {
    if entry[..16].iter().all(|byte| *byte == 0) {
        return None;
    }
    let (first, last) = (read_le::<8>(entry, 32), read_le::<8>(entry, 40));
    let sectors = last.checked_sub(first)?.checked_add(1)?;
    Some(TablePartition {
        number,
        start: first.checked_mul(sector)?,
        bytes: sectors.checked_mul(sector)?,
        type_id: format_guid(&entry[..16]),
        name: parse_wide_label(&entry[56..128]),
        found: None,
    })
}

/// Formats a GUID; its first three groups are little-endian.
fn format_guid(bytes: &[u8]) -> String {
    let tail: String = bytes[10..16].iter().map(|byte| format!("{byte:02x}")).collect();
    let (a, b, c) = (read_le::<4>(bytes, 0), read_le::<2>(bytes, 4), read_le::<2>(bytes, 6));
    format!("{a:08x}-{b:04x}-{c:04x}-{:02x}{:02x}-{tail}", bytes[8], bytes[9])
}
