//! Master boot record with one partition, as bytes.

use super::types::{CardLayout, ChsGeometry, PartitionScheme};

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
pub fn build_record(layout: &CardLayout, id: u32) -> [u8; 512] {
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
