//! Magic numbers of file systems, their effect on data on its way to the card, and those of pseudo file systems (sysfs,
//! proc …), which are refused as test targets: reading their files can act on a device, writing can switch something, and
//! none stores data.
//!
//! Numbers: `include/uapi/linux/magic.h` and the headers of each file system in the Linux kernel; bcachefs and ZFS from
//! their own sources.

use crate::mounts::MountEntry;
use rustix::fd::AsFd;
use rustix::fs::fstatfs;
use std::path::{Path, PathBuf};

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

/// Magic number and name, from `include/uapi/linux/magic.h` of the Linux kernel; configfs, fusectl, pidfs, mqueue,
/// rpc_pipefs, nfsd and functionfs from the sources of each.
const PSEUDO_KINDS: &[(u32, &str)] = &[
    (0x6265_6572, "sysfs"),
    (0x0000_9fa0, "proc"),
    (0x6462_6720, "debugfs"),
    (0x7472_6163, "tracefs"),
    (0x7363_6673, "securityfs"),
    (0x0027_e0eb, "cgroup"),
    (0x6367_7270, "cgroup2"),
    (0x6265_6570, "configfs"),
    (0xcafe_4a11, "bpf"),
    (0x6165_676c, "pstore"),
    (0xde5e_81e4, "efivarfs"),
    (0xf97c_ff8c, "selinuxfs"),
    (0x4341_5d53, "smackfs"),
    (0x5a3c_69f0, "apparmorfs"),
    (0x6e73_6673, "nsfs"),
    (0x5049_4446, "pidfs"),
    (0x5049_5045, "pipefs"),
    (0x534f_434b, "sockfs"),
    (0x0904_1934, "anon_inode"),
    (0x4249_4e4d, "binfmt_misc"),
    (0x0000_1cd1, "devpts"),
    (0x6573_5543, "fusectl"),
    (0x9584_58f6, "hugetlbfs"),
    (0x0765_5821, "resctrl"),
    (0x1980_0202, "mqueue"),
    (0x0000_9fa1, "openpromfs"),
    (0x0000_9fa2, "usbdevfs"),
    (0xabba_1974, "xenfs"),
    (0x6c6f_6f70, "binder"),
    (0x0bad_1dea, "futexfs"),
    (0x6264_6576, "bdev"),
    (0x6464_6178, "dax"),
    (0x1130_7854, "mtd_inode"),
    (0x444d_4142, "dmabuf"),
    (0x454d_444d, "devmem"),
    (0x5345_434d, "secretmem"),
    (0x6759_6969, "rpc_pipefs"),
    (0x6e66_7364, "nfsd"),
    (0xa647_361d, "functionfs"),
];

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name} belongs to {file_system}, where the kernel shows its own state and stores no data; name a \
         card (`cardscope list`), a directory or an image file", name = .name.display())]
pub struct KernelFile {
    pub name: PathBuf,
    pub file_system: &'static str,
}

/// Refuses an object on a pseudo file system. Passes if the file system cannot be determined.
pub fn refuse_kernel_file(object: impl AsFd, name: &Path) -> Result<(), KernelFile> {
    let magic = fstatfs(object).map_or(0, |found| found.f_type as u32);
    match PSEUDO_KINDS.iter().find(|kind| kind.0 == magic) {
        None => Ok(()),
        Some((_, file_system)) => Err(KernelFile { name: name.to_owned(), file_system }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    fn refusal(name: &str) -> Option<String> {
        let object = File::open(name).unwrap();
        refuse_kernel_file(&object, Path::new(name)).err().map(|error| error.to_string())
    }

    #[test]
    fn pseudo_file_systems_are_refused() {
        for (name, file_system) in [
            ("/proc", "proc"),
            ("/proc/self/stat", "proc"),
            ("/sys", "sysfs"),
            ("/sys/kernel/notes", "sysfs"),
        ] {
            let refusal = refusal(name).unwrap_or_else(|| panic!("{name} passes"));
            assert!(refusal.starts_with(name) && refusal.contains(file_system), "{refusal}");
        }
        assert_eq!(refusal("/dev/null"), None, "device nodes lie on a tmpfs");
        assert_eq!(refusal(env!("CARGO_MANIFEST_DIR")), None);
    }

    #[test]
    fn magic_numbers_are_unique_and_store_no_data() {
        for (at, (magic, name)) in PSEUDO_KINDS.iter().enumerate() {
            assert!(PSEUDO_KINDS[..at].iter().all(|before| before.0 != *magic), "{name}");
            assert!(matches!(super::super::kinds::name_by_magic(*magic), None | Some("hugetlbfs")), "{name}");
        }
    }
}
