//! Pseudo file systems (sysfs, proc …), refused as test targets: reading their files can act on a device, writing can
//! switch something, and none stores data.

use rustix::fd::AsFd;
use rustix::fs::fstatfs;
use std::path::{Path, PathBuf};

/// Magic number and name, from `include/uapi/linux/magic.h` of the Linux kernel; configfs, fusectl, pidfs, mqueue,
/// rpc_pipefs, nfsd and functionfs from the sources of each.
const KINDS: &[(u32, &str)] = &[
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
#[error(
    "{name} belongs to {file_system}, where the kernel shows its own state and stores no data; name a card \
     (`cardscope list`), a directory or an image file", name = .name.display()
)]
pub struct KernelFile {
    pub name: PathBuf,
    pub file_system: &'static str,
}

/// Refuses an object on a pseudo file system. Passes if the file system cannot be determined.
pub fn refuse_kernel_file(object: impl AsFd, name: &Path) -> Result<(), KernelFile> {
    let magic = fstatfs(object).map_or(0, |found| found.f_type as u32);
    match KINDS.iter().find(|kind| kind.0 == magic) {
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
        for (at, (magic, name)) in KINDS.iter().enumerate() {
            assert!(KINDS[..at].iter().all(|before| before.0 != *magic), "{name}");
            assert!(matches!(super::super::kinds::name_by_magic(*magic), None | Some("hugetlbfs")), "{name}");
        }
    }
}
