//! What is on a card, from bytes made by hand and from the tools that make file systems.

use super::*;
use proptest::prelude::*;
use std::process::Command;

const MIB: usize = 1 << 20;

fn put(image: &mut [u8], at: usize, bytes: &[u8]) {
    image[at..at + bytes.len()].copy_from_slice(bytes);
}

fn mbr_entry(image: &mut [u8], record: usize, index: usize, kind: u8, start: u32, sectors: u32) {
    let at = record + 446 + 16 * index;
    image[at + 4] = kind;
    put(image, at + 8, &start.to_le_bytes());
    put(image, at + 12, &sectors.to_le_bytes());
    put(image, record + 510, &[0x55, 0xaa]);
}

/// Formats an image with a real tool and says what is found.
fn made_by(tool: &str, arguments: &[&str], bytes: u64) -> DeviceContents {
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(bytes).unwrap();
    let done = Command::new(tool).args(arguments).arg(file.path()).output();
    let done = done.unwrap_or_else(|error| panic!("{tool} is needed for this test: {error}"));
    assert!(done.status.success(), "{tool}: {}", String::from_utf8_lossy(&done.stderr));
    examine_file(file.as_file(), bytes)
}

#[test]
fn blank_card_is_empty() {
    let contents = examine_source(&vec![0u8; MIB]);
    assert!(contents.is_empty() && contents.blank);
    assert_eq!(contents.sentence(), "nothing (blank first blocks)");
}

#[test]
fn file_systems_are_recognized_with_labels() {
    let cases: &[(&str, &[&str], u64, &str, &str)] = &[
        ("mkfs.vfat", &["-F", "32", "-n", "CAMERA"], 64, "vfat", "CAMERA"),
        ("mkfs.vfat", &["-F", "16", "-n", "OLD"], 16, "vfat", "OLD"),
        ("mkfs.ext4", &["-q", "-F", "-L", "rootfs"], 16, "ext4", "rootfs"),
        ("mkfs.ext4", &["-q", "-F", "-t", "ext3", "-L", "three"], 16, "ext3", "three"),
        ("mkfs.ext4", &["-q", "-F", "-t", "ext2", "-L", "two"], 16, "ext2", "two"),
        ("mkfs.exfat", &["-L", "SDCARD"], 64, "exfat", "SDCARD"),
        ("mkswap", &["-L", "paging"], 16, "swap", "paging"),
    ];
    for (tool, arguments, mib, kind, label) in cases {
        let contents = made_by(tool, arguments, mib * MIB as u64);
        let expected = FoundContent { kind, label: Some((*label).to_owned()) };
        assert_eq!(contents.whole, Some(expected), "{tool} {arguments:?}");
        assert_eq!(contents.table, None, "{tool}: a bare volume has no partition table");
        assert_eq!(contents.sentence(), format!("{kind} {label:?} over the whole device"));
    }
}

#[test]
fn volume_without_label_has_none() {
    assert_eq!(
        made_by("mkfs.vfat", &[], 16 * MIB as u64).whole,
        Some(FoundContent { kind: "vfat", label: None })
    );
}

#[test]
fn mbr_partitions_are_described_with_content() {
    let mut image = vec![0u8; 8 * MIB];
    mbr_entry(&mut image, 0, 0, 0x0c, 2048, 4096);
    mbr_entry(&mut image, 0, 1, 0x83, 6144, 8192);
    put(&mut image, 2048 * 512 + 82, b"FAT32   ");
    put(&mut image, 6144 * 512, b"XFSB");
    let contents = examine_source(&image);
    assert_eq!(
        contents.sentence(),
        "an MBR partition table with 2 partitions (1: vfat, 2 MiB; 2: xfs, 4 MiB)"
    );
}

#[test]
fn logical_partitions_start_at_five_and_loops_end() {
    let mut image = vec![0u8; 8 * MIB];
    mbr_entry(&mut image, 0, 0, 0x05, 2048, 8192);
    let first = 2048 * 512;
    mbr_entry(&mut image, first, 0, 0x83, 64, 1000);
    mbr_entry(&mut image, first, 1, 0x05, 2048, 2048);
    let second = (2048 + 2048) * 512;
    mbr_entry(&mut image, second, 0, 0x82, 64, 500);
    let numbers =
        |image: &Vec<u8>| examine_source(image).partitions.iter().map(|p| p.number).collect::<Vec<_>>();
    assert_eq!(numbers(&image), [1, 5, 6]);
    assert_eq!(examine_source(&image).partitions[2].start, (4096 + 64) * 512);
    mbr_entry(&mut image, second, 1, 0x05, 2048, 2048);
    assert!(numbers(&image).len() <= 70, "a ring must end");
}

#[test]
fn gpt_is_read_for_both_sector_sizes() {
    for sector in [512usize, 4096] {
        let mut image = vec![0u8; 4 * MIB];
        mbr_entry(&mut image, 0, 0, 0xee, 1, u32::MAX);
        put(&mut image, sector, b"EFI PART");
        put(&mut image, sector + 72, &2u64.to_le_bytes());
        put(&mut image, sector + 80, &128u32.to_le_bytes());
        put(&mut image, sector + 84, &128u32.to_le_bytes());
        let entry = 2 * sector;
        // Linux file system data: 0fc63daf-8483-4772-8e79-3d69d8477de4
        put(&mut image, entry, b"\xaf\x3d\xc6\x0f\x83\x84\x72\x47\x8e\x79\x3d\x69\xd8\x47\x7d\xe4");
        put(&mut image, entry + 32, &256u64.to_le_bytes());
        put(&mut image, entry + 40, &(255 + (MIB / sector) as u64).to_le_bytes());
        put(&mut image, entry + 56, &"data".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
        let contents = examine_source(&image);
        assert_eq!(contents.table, Some(TableKind::Gpt));
        assert_eq!(contents.partitions.len(), 1);
        let part = &contents.partitions[0];
        assert_eq!((part.start, part.bytes), (256 * sector as u64, MIB as u64));
        assert_eq!(part.type_id, "0fc63daf-8483-4772-8e79-3d69d8477de4");
        assert_eq!(
            contents.sentence(),
            "a GPT partition table with 1 partition (1: \"data\", not recognised, 1 MiB)"
        );
    }
}

#[test]
fn volume_members_and_rare_file_systems_are_recognized() {
    let cases: &[(usize, &[u8], &str)] = &[
        (0, b"LUKS\xba\xbe\0\x01", "LUKS"),
        (512 + 24, b"LVM2 001", "LVM2"),
        (4096, &[0xfc, 0x4e, 0x2b, 0xa9, 1, 0, 0, 0], "RAID"),
        (2 * MIB - 65536, &[0xfc, 0x4e, 0x2b, 0xa9], "RAID"),
        (65536 + 64, b"_BHRfS_M", "btrfs"),
        (1024, &[0x10, 0x20, 0xf5, 0xf2], "f2fs"),
        (1030, &[0x34, 0x34], "nilfs2"),
        (3, b"NTFS    ", "ntfs"),
        (32769, b"CD001", "iso9660"),
        (0, b"hsqs", "squashfs"),
        (128 << 10, &[0x0c, 0xb1, 0xba, 0, 0, 0, 0, 0], "zfs"),
    ];
    for (at, magic, kind) in cases {
        let mut image = vec![0u8; 2 * MIB];
        put(&mut image, *at, magic);
        assert_eq!(examine_source(&image).whole.map(|found| found.kind), Some(*kind));
    }
}

#[test]
fn luks2_label_is_sanitized() {
    let mut image = vec![0u8; MIB];
    put(&mut image, 0, b"LUKS\xba\xbe\0\x02");
    put(&mut image, 24, b"my\x1b[2Jcard");
    assert_eq!(examine_source(&image).whole.unwrap().label.as_deref(), Some("my?[2Jcard"));
}

#[test]
fn truncated_file_is_unreadable() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let contents = examine_file(file.as_file(), 1 << 30);
    assert!(contents.unreadable && contents.sentence().contains("unreadable"));
}

proptest! {
    #[test]
    fn garbage_never_panics(
        head in proptest::collection::vec(any::<u8>(), 0..6000),
        marks in proptest::collection::vec((0usize..6000, any::<u8>()), 0..20),
        sign in any::<bool>(),
    ) {
        let mut image = head;
        for (at, byte) in marks {
            if let Some(place) = image.get_mut(at) {
                *place = byte;
            }
        }
        if sign && image.len() >= 600 {
            put(&mut image, 510, &[0x55, 0xaa]);
            put(&mut image, 512, b"EFI PART");
            for entry in 0..4 {
                image[446 + 16 * entry] = 0;
            }
        }
        prop_assert!(!examine_source(&image).sentence().is_empty());
    }
}

/// An image behind a reader that counts in sectors of its own.
struct Shown {
    image: Vec<u8>,
    sector: u64,
}

impl ByteSource for Shown {
    fn len(&self) -> u64 {
        ByteSource::len(&self.image)
    }

    fn read(&self, offset: u64, count: u64) -> Option<Vec<u8>> {
        self.image.read(offset, count)
    }

    fn sector(&self) -> u64 {
        self.sector
    }
}

fn contradictions(image: &[u8], sector: u64) -> Vec<String> {
    let layout = read_layout(&Shown { image: image.to_vec(), sector }, None).unwrap();
    layout.contradictions().into_iter().map(|finding| finding.claim).collect()
}

#[test]
fn table_for_other_sector_size_is_reported() {
    for made_for in [512u64, 2048, 4096] {
        let mut mbr = vec![0u8; 16 * MIB];
        mbr_entry(&mut mbr, 0, 0, 0x0c, 256, 512);
        put(&mut mbr, 256 * made_for as usize + 82, b"FAT32   ");
        let mut gpt = vec![0u8; 16 * MIB];
        mbr_entry(&mut gpt, 0, 0, 0xee, 1, u32::MAX);
        put(&mut gpt, made_for as usize, b"EFI PART");
        put(&mut gpt, made_for as usize + 72, &2u64.to_le_bytes());
        put(&mut gpt, made_for as usize + 80, &1u32.to_le_bytes());
        put(&mut gpt, made_for as usize + 84, &128u32.to_le_bytes());
        for shown in [512, 2048, 4096] {
            let wanted: &[&str] = if shown == made_for { &[] } else { &["layout-sector-size"] };
            assert_eq!(contradictions(&mbr, shown), wanted, "MBR for {made_for}, shown {shown}");
            assert_eq!(contradictions(&gpt, shown), wanted, "GPT for {made_for}, shown {shown}");
        }
    }
    // Without a file system nothing tells the sectors of an MBR.
    let mut empty = vec![0u8; 16 * MIB];
    mbr_entry(&mut empty, 0, 0, 0x0c, 256, 512);
    assert_eq!(contradictions(&empty, 4096), [""; 0]);
}

#[test]
fn partition_beyond_card_is_reported() {
    let (start, whole) = (2048, (8 * MIB / 512) as u32 - 2048);
    for (entries, beyond) in [
        (vec![(start, whole)], false),
        (vec![(start, whole + 1)], true),
        // The second one does not even begin on the card.
        (vec![(start, 4096), (64 * MIB as u32 / 512, 4096)], true),
    ] {
        let mut image = vec![0u8; 8 * MIB];
        for (index, (start, sectors)) in entries.iter().enumerate() {
            mbr_entry(&mut image, 0, index, 0x83, *start, *sectors);
        }
        assert_eq!(contradictions(&image, 512) == ["layout-beyond-card"], beyond, "{entries:?}");
    }
}
