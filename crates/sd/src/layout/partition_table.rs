//! Partition tables as bytes, each with one partition: the master boot record, and the GPT of SDUC cards above 2 TiB (UEFI
//! specification 2.10, section 5.3).

use super::types::{CardLayout, ChsGeometry, PartitionScheme, SECTOR};

/// Highest cylinder that fits ten bits.
const MAX_CYLINDER: u64 = 1023;
/// Address of all sectors beyond: cylinder 1023, head 254, sector 63.
const CHS_BEYOND_LIMIT: [u8; 3] = [254, 0xff, 0xff];
/// Type of the entry that protects a GPT from tools that know no GPT.
const PROTECTIVE_TYPE: u8 = 0xee;

/// Encodes a sector as cylinder, head and sector of a partition entry.
pub fn encode_chs(sector: u64, geometry: ChsGeometry) -> [u8; 3] {
    let cylinder = sector / geometry.cylinder();
    if cylinder > MAX_CYLINDER {
        return CHS_BEYOND_LIMIT;
    }
    let head = sector / geometry.sectors_per_track % geometry.heads;
    let number = sector % geometry.sectors_per_track + 1;
    [head as u8, (number | cylinder >> 8 << 6) as u8, cylinder as u8]
}

/// Builds the record of a layout, a protective one for a GPT. `id` is the disk signature.
pub fn build_mbr(layout: &CardLayout, id: u32) -> [u8; 512] {
    let mut record = [0u8; 512];
    let (kind, start, sectors) = match layout.scheme {
        PartitionScheme::Mbr => (layout.partition_type, layout.partition_start, layout.partition_sectors),
        PartitionScheme::Gpt => (PROTECTIVE_TYPE, 1, layout.total_sectors - 1),
    };
    record[440..444].copy_from_slice(&id.to_le_bytes());
    let entry = &mut record[446..462];
    entry[1..4].copy_from_slice(&encode_chs(start, layout.geometry));
    entry[4] = kind;
    entry[5..8].copy_from_slice(&encode_chs(start + sectors - 1, layout.geometry));
    // A GPT may be longer than 32 bits of sectors; UEFI defines all ones for that.
    let clipped = |n: u64| u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes();
    entry[8..12].copy_from_slice(&clipped(start));
    entry[12..16].copy_from_slice(&clipped(sectors));
    record[510..].copy_from_slice(&[0x55, 0xaa]);
    record
}

/// Sectors of the backup table: 128 entries of 128 bytes and the header.
pub const BACKUP_SECTORS: u64 = 33;
const ENTRIES: usize = 128;
const ENTRY_BYTES: usize = 128;
const ENTRY_SECTORS: u64 = 32;
const HEADER_BYTES: usize = 92;
/// Partition type "Microsoft basic data", used for exFAT: EBD0A0A2-B9E5-4433-87C0-68B6B72699C7.
const BASIC_DATA: [u8; 16] =
    [0xa2, 0xa0, 0xd0, 0xeb, 0xe5, 0xb9, 0x33, 0x44, 0x87, 0xc0, 0x68, 0xb6, 0xb7, 0x26, 0x99, 0xc7];

/// Primary and backup table of a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GptTables {
    /// Header and entries, from sector 1 on.
    pub primary: Vec<u8>,
    /// Entries and header, the last 33 sectors.
    pub second: Vec<u8>,
    pub second_start: u64,
}

/// Builds the tables of a layout. `disk` and `partition` are random GUIDs.
pub fn build_gpt(layout: &CardLayout, sectors: u64, disk: [u8; 16], partition: [u8; 16]) -> GptTables {
    let entries = build_entries(layout, partition);
    let last = sectors - 1;
    let header = |own: u64, other: u64, table: u64| {
        let mut sector = vec![0u8; SECTOR as usize];
        sector[..8].copy_from_slice(b"EFI PART");
        sector[8..12].copy_from_slice(&[0, 0, 1, 0]);
        write_at(&mut sector, 12, &(HEADER_BYTES as u32).to_le_bytes());
        write_at(&mut sector, 24, &own.to_le_bytes());
        write_at(&mut sector, 32, &other.to_le_bytes());
        write_at(&mut sector, 40, &(2 + ENTRY_SECTORS).to_le_bytes());
        write_at(&mut sector, 48, &(sectors - BACKUP_SECTORS - 1).to_le_bytes());
        write_at(&mut sector, 56, &disk);
        write_at(&mut sector, 72, &table.to_le_bytes());
        write_at(&mut sector, 80, &(ENTRIES as u32).to_le_bytes());
        write_at(&mut sector, 84, &(ENTRY_BYTES as u32).to_le_bytes());
        write_at(&mut sector, 88, &crc32(&entries).to_le_bytes());
        let sum = crc32(&sector[..HEADER_BYTES]);
        write_at(&mut sector, 16, &sum.to_le_bytes());
        sector
    };
    let second_start = sectors - BACKUP_SECTORS;
    GptTables {
        primary: [header(1, last, 2), entries.clone()].concat(),
        second: [entries.clone(), header(last, 1, second_start)].concat(),
        second_start,
    }
}

fn build_entries(layout: &CardLayout, partition: [u8; 16]) -> Vec<u8> {
    let mut entries = vec![0u8; ENTRIES * ENTRY_BYTES];
    write_at(&mut entries, 0, &BASIC_DATA);
    write_at(&mut entries, 16, &partition);
    write_at(&mut entries, 32, &layout.partition_start.to_le_bytes());
    write_at(&mut entries, 40, &(layout.partition_end() - 1).to_le_bytes());
    entries
}

fn write_at(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

/// CRC-32 as in Ethernet and zip: reflected polynomial 0x04C11DB7.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0u32, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}

#[cfg(test)]
mod tests {
    #[test]
    fn crc32_matches_the_catalogue_check_value() {
        // Check value of CRC-32/ISO-HDLC in the catalogue of CRC algorithms.
        assert_eq!(super::crc32(b"123456789"), 0xcbf4_3926);
    }
}
