//! Magic numbers of file systems, and their effect on data on its way to the card.
//!
//! Numbers: `include/uapi/linux/magic.h` and the headers of each file system in the Linux kernel; bcachefs and ZFS from
//! their own sources.

use crate::mounts::MountEntry;

const IN_MEMORY: &str = "in memory";
const NETWORK: &str = "over the network";
const PROGRAM: &str = "through a user-space program";

const KINDS: &[(u32, &str, Option<&str>)] = &[
    (0x0000_ef53, "ext4", None),
    (0x5846_5342, "xfs", None),
    (0x0000_4d44, "vfat", None),
    (0x2011_bab0, "exfat", None),
    (0x7366_746e, "ntfs3", None),
    (0x5346_544e, "ntfs", None),
    (0x3153_464a, "jfs", None),
    (0x5265_4973, "reiserfs", None),
    (0x0000_482b, "hfsplus", None),
    (0x1501_3346, "udf", None),
    (0x0000_9660, "isofs", None),
    (0xf2f5_2010, "f2fs", Some("log-structured: random writes reach the card in sequence")),
    (0x0000_3434, "nilfs2", Some("log-structured: random writes reach the card in sequence")),
    (0x0102_1994, "tmpfs", Some(IN_MEMORY)),
    (0x8584_58f6, "ramfs", Some(IN_MEMORY)),
    (0x9584_58f6, "hugetlbfs", Some(IN_MEMORY)),
    (0x6573_5546, "fuse", Some(PROGRAM)),
    (0x794c_7630, "overlay", Some("one file system over others")),
    (0x6175_6673, "aufs", Some("one file system over others")),
    (0x0000_f15f, "ecryptfs", Some("encrypted")),
    (0x9123_683e, "btrfs", Some("copy-on-write, with checksums, may compress")),
    (0xca45_1a4e, "bcachefs", Some("copy-on-write, with checksums, may compress, encrypt or cache")),
    (0x2fc1_2fc1, "zfs", Some("copy-on-write, with a cache of its own, may compress")),
    (0x7371_7368, "squashfs", Some("compressed, read-only")),
    (0xe0f5_e1e2, "erofs", Some("may compress, read-only")),
    (0x2405_1905, "ubifs", Some("compresses, on raw flash")),
    (0x0000_72b6, "jffs2", Some("compresses, on raw flash")),
    (0x0000_6969, "nfs", Some(NETWORK)),
    (0xff53_4d42, "cifs", Some(NETWORK)),
    (0xfe53_4d42, "smb3", Some(NETWORK)),
    (0x0000_517b, "smbfs", Some(NETWORK)),
    (0x0102_1997, "9p", Some("over the network or from the virtual machine's host")),
    (0x786f_4256, "vboxsf", Some("from the host of this virtual machine")),
    (0x00c3_6400, "ceph", Some(NETWORK)),
    (0x5346_414f, "afs", Some(NETWORK)),
    (0x0116_1970, "gfs2", Some("shared between computers")),
    (0x7461_636f, "ocfs2", Some("shared between computers")),
];

fn by_magic(magic: u32) -> Option<&'static (u32, &'static str, Option<&'static str>)> {
    KINDS.iter().find(|kind| kind.0 == magic)
}

pub(super) fn name_by_magic(magic: u32) -> Option<&'static str> {
    by_magic(magic).map(|kind| kind.1)
}

pub(super) fn is_in_memory(magic: u32) -> bool {
    by_magic(magic).is_some_and(|kind| kind.2 == Some(IN_MEMORY))
}

/// Effect of a file system on data; the name in the mount table distinguishes FUSE programs.
pub(super) fn data_effect(magic: u32, name: &str) -> Option<String> {
    match name {
        "virtiofs" => return Some("from the host of this virtual machine".to_owned()),
        "fuseblk" => return Some(format!("{PROGRAM} (such as ntfs-3g)")),
        _ => {}
    }
    let effect = by_magic(magic)?.2?;
    match name.strip_prefix("fuse.") {
        Some(program) => Some(format!("{PROGRAM} ({program})")),
        None => Some(effect.to_owned()),
    }
}

pub(super) fn mount_effect(mount: &MountEntry) -> Option<String> {
    let word = mount.options.split(',').find(|word| {
        let name = word.split('=').next().unwrap_or_default();
        matches!(name, "compress" | "compress-force" | "compression" | "compress_algorithm")
    })?;
    (!word.ends_with("=no") && !word.ends_with("=none")).then(|| format!("mounted with {word}"))
}
