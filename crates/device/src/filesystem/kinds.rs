//! Magic numbers of file systems and what each does to data on the way to the card.
//!
//! Numbers: `include/uapi/linux/magic.h` and the headers of each file system in the Linux kernel; bcachefs and
//! ZFS from their own sources.

use crate::mounts::Mount;

/// A file system kind.
pub(super) struct Kind {
    magic: u32,
    pub(super) name: &'static str,
    effect: Option<&'static str>,
}

const fn plain(magic: u32, name: &'static str) -> Kind {
    Kind { magic, name, effect: None }
}

const fn layered(magic: u32, name: &'static str, effect: &'static str) -> Kind {
    Kind { magic, name, effect: Some(effect) }
}

const IN_MEMORY: &str = "in memory";
const NETWORK: &str = "over the network";
const PROGRAM: &str = "a user-space program stands between";

const KINDS: &[Kind] = &[
    plain(0x0000_ef53, "ext4"),
    plain(0x5846_5342, "xfs"),
    plain(0x0000_4d44, "vfat"),
    plain(0x2011_bab0, "exfat"),
    plain(0x7366_746e, "ntfs3"),
    plain(0x5346_544e, "ntfs"),
    plain(0x3153_464a, "jfs"),
    plain(0x5265_4973, "reiserfs"),
    plain(0x0000_482b, "hfsplus"),
    plain(0x1501_3346, "udf"),
    plain(0x0000_9660, "isofs"),
    layered(0xf2f5_2010, "f2fs", "log-structured: random writes reach the card in sequence"),
    layered(0x0000_3434, "nilfs2", "log-structured: random writes reach the card in sequence"),
    layered(0x0102_1994, "tmpfs", IN_MEMORY),
    layered(0x8584_58f6, "ramfs", IN_MEMORY),
    layered(0x9584_58f6, "hugetlbfs", IN_MEMORY),
    layered(0x6573_5546, "fuse", PROGRAM),
    layered(0x794c_7630, "overlay", "one file system over others"),
    layered(0x6175_6673, "aufs", "one file system over others"),
    layered(0x0000_f15f, "ecryptfs", "encrypted"),
    layered(0x9123_683e, "btrfs", "copy-on-write, with checksums, may compress"),
    layered(0xca45_1a4e, "bcachefs", "copy-on-write, with checksums, may compress, encrypt or cache"),
    layered(0x2fc1_2fc1, "zfs", "copy-on-write, with a cache of its own, may compress"),
    layered(0x7371_7368, "squashfs", "compressed, read-only"),
    layered(0xe0f5_e1e2, "erofs", "may compress, read-only"),
    layered(0x2405_1905, "ubifs", "compresses, on raw flash"),
    layered(0x0000_72b6, "jffs2", "compresses, on raw flash"),
    layered(0x0000_6969, "nfs", NETWORK),
    layered(0xff53_4d42, "cifs", NETWORK),
    layered(0xfe53_4d42, "smb3", NETWORK),
    layered(0x0000_517b, "smbfs", NETWORK),
    layered(0x0102_1997, "9p", "over the network or from the host of this virtual machine"),
    layered(0x786f_4256, "vboxsf", "from the host of this virtual machine"),
    layered(0x00c3_6400, "ceph", NETWORK),
    layered(0x5346_414f, "afs", NETWORK),
    layered(0x0116_1970, "gfs2", "shared between computers"),
    layered(0x7461_636f, "ocfs2", "shared between computers"),
];

/// The kind with this magic number.
pub(super) fn by_magic(magic: u32) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.magic == magic)
}

/// What a file system does to data; `name` as mounted sharpens it.
pub(super) fn effect(magic: u32, name: &str) -> Option<String> {
    match name {
        "virtiofs" => return Some("from the host of this virtual machine".to_owned()),
        "fuseblk" => return Some(format!("{PROGRAM} (such as ntfs-3g)")),
        _ => {}
    }
    let effect = by_magic(magic)?.effect?;
    match name.strip_prefix("fuse.") {
        Some(program) => Some(format!("{PROGRAM} ({program})")),
        None => Some(effect.to_owned()),
    }
}

/// What the options of a mount add: compression that is switched on.
pub(super) fn mount_effect(mount: &Mount) -> Option<String> {
    let word = mount.options.split(',').find(|word| {
        let name = word.split('=').next().unwrap_or_default();
        matches!(name, "compress" | "compress-force" | "compression" | "compress_algorithm")
    })?;
    (!word.ends_with("=no") && !word.ends_with("=none")).then(|| format!("mounted with {word}"))
}
