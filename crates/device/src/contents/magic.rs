//! Recognition of file systems, swap and volume members by magic numbers.
//!
//! Positions and values: the Linux kernel's headers of each format (`include/uapi/linux/magic.h`, `fs/*/`,
//! `include/uapi/linux/raid/md_p.h`), the LUKS2 and exFAT specifications.

use super::reader::{ByteSource, parse_label, parse_wide_label, read_le};
use serde::Serialize;
use std::fmt;

/// Recognized file system, swap area or volume member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FoundContent {
    /// Name of the format, such as `ext4`, `vfat`, `LUKS`.
    pub kind: &'static str,
    /// Label, if it is cheap to read.
    pub label: Option<String>,
}

impl fmt::Display for FoundContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind)?;
        self.label.as_ref().map_or(Ok(()), |label| write!(f, " {label:?}"))
    }
}

struct MagicNumber(&'static str, u64, &'static [u8]);

/// Ordered by reliability: containers first, since their content may be visible too; FAT last, as its marks are weak.
const MAGICS: &[MagicNumber] = &[
    MagicNumber("LUKS", 0, b"LUKS\xba\xbe"),
    MagicNumber("BitLocker", 3, b"-FVE-FS-"),
    MagicNumber("LVM2", 24, b"LVM2 001"),
    MagicNumber("LVM2", 512 + 24, b"LVM2 001"),
    MagicNumber("LVM2", 1024 + 24, b"LVM2 001"),
    MagicNumber("LVM2", 1536 + 24, b"LVM2 001"),
    MagicNumber("RAID", 0, b"\xfc\x4e\x2b\xa9\x01\0\0\0"),
    MagicNumber("RAID", 4096, b"\xfc\x4e\x2b\xa9\x01\0\0\0"),
    MagicNumber("bcache", 4096 + 24, b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"),
    MagicNumber("bcachefs", 4096 + 24, b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"),
    MagicNumber("swap", 4096 - 10, b"SWAPSPACE2"),
    MagicNumber("swap", 16384 - 10, b"SWAPSPACE2"),
    MagicNumber("swap", 65536 - 10, b"SWAPSPACE2"),
    MagicNumber("xfs", 0, b"XFSB"),
    MagicNumber("squashfs", 0, b"hsqs"),
    MagicNumber("apfs", 32, b"NXSB"),
    MagicNumber("btrfs", 65536 + 64, b"_BHRfS_M"),
    MagicNumber("f2fs", 1024, b"\x10\x20\xf5\xf2"),
    MagicNumber("erofs", 1024, b"\xe2\xe1\xf5\xe0"),
    MagicNumber("ext", 1024 + 56, b"\x53\xef"),
    MagicNumber("nilfs2", 1024 + 6, b"\x34\x34"),
    MagicNumber("hfs+", 1024, b"H+\0\x04"),
    MagicNumber("hfs+", 1024, b"HX\0\x05"),
    MagicNumber("exfat", 3, b"EXFAT   "),
    MagicNumber("ntfs", 3, b"NTFS    "),
    MagicNumber("iso9660", 32768 + 1, b"CD001"),
    MagicNumber("udf", 32768 + 1, b"BEA01"),
    MagicNumber("vfat", 82, b"FAT32   "),
    MagicNumber("vfat", 54, b"FAT16   "),
    MagicNumber("vfat", 54, b"FAT12   "),
    MagicNumber("vfat", 54, b"FAT     "),
];

/// RAID superblocks lie at the end: version 0.90 64 KiB-aligned, 1.0 at least 8 KiB before the end.
const RAID_MAGIC: u64 = 0xa92b_4efc;
/// ZFS has uberblocks of 1 KiB and more from 128 KiB on, in the byte order of the machine that created it.
const ZFS_FIRST: u64 = 128 << 10;
const ZFS_MAGIC: u64 = 0x00ba_b10c;

/// Recognizes the content of `bytes` bytes from `start` on.
pub(crate) fn recognize_content(source: &dyn ByteSource, start: u64, bytes: u64) -> Option<FoundContent> {
    let at = |place: u64, count: u64| source.read(start.checked_add(place)?, count);
    let matches = |magic: &&MagicNumber| {
        let inside = magic.1 + magic.2.len() as u64 <= bytes;
        inside && at(magic.1, magic.2.len() as u64).as_deref() == Some(magic.2)
    };
    let by_table = MAGICS.iter().find(matches).map(|magic| magic.0);
    let others = || raid_at_end(&at, bytes).or_else(|| find_zfs(&at)).or_else(|| unnamed_fat(&at));
    let kind = by_table.or_else(others)?;
    // A disk with a GPT or MBR may begin like an unnamed FAT boot sector; both are reported then.
    let label = find_label(kind, &at);
    Some(FoundContent { kind: if kind == "ext" { ext_version(&at) } else { kind }, label })
}

type ReadAt<'a> = &'a dyn Fn(u64, u64) -> Option<Vec<u8>>;

fn raid_at_end(at: ReadAt<'_>, bytes: u64) -> Option<&'static str> {
    let old = (bytes & !0xffff).checked_sub(0x1_0000)?;
    let new = (bytes.checked_sub(0x2000)?) & !0xfff;
    let is_raid = |place: u64| at(place, 4).is_some_and(|word| read_le::<4>(&word, 0) == RAID_MAGIC);
    (is_raid(old) || is_raid(new)).then_some("RAID")
}

fn find_zfs(at: ReadAt<'_>) -> Option<&'static str> {
    let area = at(ZFS_FIRST, 128 << 10)?;
    let is_uberblock = |block: &[u8]| {
        let word = read_le::<8>(block, 0);
        word == ZFS_MAGIC || word.swap_bytes() == ZFS_MAGIC
    };
    area.chunks_exact(1024).any(is_uberblock).then_some("zfs")
}

/// FAT written by small devices often has no name in its boot sector, so its fields must be plausible.
fn unnamed_fat(at: ReadAt<'_>) -> Option<&'static str> {
    let boot = at(0, 512)?;
    let jump = boot[0] == 0xeb && boot[2] == 0x90 || boot[0] == 0xe9;
    let sector = read_le::<2>(&boot, 11);
    let fits = boot[510..512] == [0x55, 0xaa]
        && jump
        && sector.is_power_of_two()
        && (512..=4096).contains(&sector)
        && boot[13].is_power_of_two()
        && read_le::<2>(&boot, 14) > 0
        && (1..=2).contains(&boot[16])
        && boot[21] >= 0xf0;
    fits.then_some("vfat")
}

/// ext2, 3 or 4 by features, with the kernel's rules for mounting (`fs/ext4/ext4.h`).
fn ext_version(at: ReadAt<'_>) -> &'static str {
    let Some(block) = at(1024, 256) else { return "ext2" };
    let [compatible, incompatible, read_only] = [92, 96, 100].map(|at| read_le::<4>(&block, at));
    // Features of ext3: filetype, recover, meta_bg; sparse_super, large_file, btree_dir.
    match incompatible & !0x16 != 0 || read_only & !0x7 != 0 {
        true => "ext4",
        false if compatible & 0x4 != 0 => "ext3",
        false => "ext2",
    }
}

fn find_label(kind: &str, at: ReadAt<'_>) -> Option<String> {
    let text = |place, count| at(place, count).and_then(|bytes| parse_label(&bytes));
    match kind {
        "ext" => text(1024 + 120, 16),
        "xfs" => text(108, 12),
        "btrfs" => text(65536 + 0x12b, 256),
        "nilfs2" => text(1024 + 152, 80),
        "iso9660" => text(32768 + 40, 32),
        "swap" => text(1024 + 28, 16),
        "f2fs" => at(1024 + 0x7c, 128).and_then(|bytes| parse_wide_label(&bytes)),
        // LUKS1 has no label but the name of a cipher at this position.
        "LUKS" => at(6, 2).filter(|version| *version == [0, 2]).and_then(|_| text(24, 48)),
        "vfat" => fat_label(at),
        "exfat" => exfat_label(at),
        _ => None,
    }
}

fn fat_label(at: ReadAt<'_>) -> Option<String> {
    let boot = at(0, 512)?;
    // FAT32 has no 16-bit FAT size, and its label is 28 bytes further on.
    let place = if read_le::<2>(&boot, 22) == 0 { 71 } else { 43 };
    let signed = boot[place - 5] == 0x29;
    parse_label(&boot[place..place + 11]).filter(|name| signed && name != "NO NAME")
}

/// The label is an entry (type 83h) of the root directory, usually the first.
fn exfat_label(at: ReadAt<'_>) -> Option<String> {
    let boot = at(0, 512)?;
    let sector = 1u64.checked_shl(u32::from(boot[108])).filter(|size| (512..=4096).contains(size))?;
    let cluster = sector.checked_shl(u32::from(boot[109])).filter(|size| *size <= 32 << 20 && *size > 0)?;
    let root = read_le::<4>(&boot, 96).checked_sub(2)?.checked_mul(cluster)?;
    let directory = at(read_le::<4>(&boot, 88).checked_mul(sector)?.checked_add(root)?, 512)?;
    let entry = directory.chunks_exact(32).find(|entry| entry[0] == 0x83)?;
    parse_wide_label(&entry[2..2 + 2 * usize::from(entry[1]).min(11)])
}
