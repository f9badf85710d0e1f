//! Roots of all files that this crate reads: `/sys`, `/proc` and `/dev`, or a directory with copies of them.
//!
//! Any file may be missing, on old kernels as in recorded trees; missing or unreadable files mean unknown, never an
//! error. Recorded trees may hold symbolic links, or directories in their place.

use rustix::io::Errno;
use rustix::process::geteuid;
use std::path::{Path, PathBuf};

const LONGEST_TEXT: u64 = 4 << 20;

#[derive(Debug, Clone)]
pub struct SystemRoots {
    pub(crate) sys: PathBuf,
    pub(crate) proc: PathBuf,
    pub(crate) dev: PathBuf,
    live: bool,
}

impl SystemRoots {
    /// The computer that this program runs on.
    pub fn host() -> SystemRoots {
        SystemRoots { sys: "/sys".into(), proc: "/proc".into(), dev: "/dev".into(), live: true }
    }

    /// Recorded computer: a directory with a copy of its `/sys` (`dir/block` exists), or of `/sys`, `/proc` and `/dev`
    /// (`dir/sys/block` exists).
    ///
    /// It may also have answers of an NVMe controller, in its directory or in `dir/nvme0/` (`identify_controller.bin`,
    /// `identify_namespace.bin`, `smart_log.bin`, `feature_04.bin`, `feature_10.bin`, see the module `nvme`), and the
    /// kernel log as `dir/dmesg`.
    pub fn recorded(dir: &Path) -> SystemRoots {
        let whole = dir.join("sys");
        let sys = if !dir.join("block").exists() && whole.exists() { whole } else { dir.to_owned() };
        let sys = sys.canonicalize().unwrap_or(sys);
        SystemRoots { sys, proc: dir.join("proc"), dev: dir.join("dev"), live: false }
    }

    /// True if `dir` has the structure of a recorded computer.
    pub fn is_recorded(dir: &Path) -> bool {
        holds_disks(&dir.join("block")) || holds_disks(&dir.join("sys/block"))
    }

    /// True for the computer that this program runs on: only there can devices be opened.
    pub fn is_live(&self) -> bool {
        self.live
    }

    /// Follows the links of a path below `/sys`, unless they leave the tree: a recorded tree must not lead to files of
    /// this computer.
    pub(crate) fn resolve(&self, path: &Path) -> PathBuf {
        match path.canonicalize() {
            Ok(real) if real.starts_with(&self.sys) => real,
            _ => path.to_owned(),
        }
    }
}

/// Trimmed text of a file; `None` if it is missing, unreadable or empty.
pub(crate) fn read_text(path: impl AsRef<Path>) -> Option<String> {
    use std::io::Read;
    let path = path.as_ref();
    // A pipe or device instead of a file would block or never end.
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(LONGEST_TEXT).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let trimmed = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!trimmed.is_empty()).then(|| trimmed.to_owned())
}

/// Bytes of a file; `None` if it is missing, unreadable or too long.
pub(crate) fn read_bytes(path: impl AsRef<Path>) -> Option<Vec<u8>> {
    let path = path.as_ref();
    let meta = path.metadata().ok()?;
    (meta.is_file() && meta.len() <= LONGEST_TEXT).then(|| std::fs::read(path).ok()).flatten()
}

/// Number in decimal, or in hexadecimal after `0x`.
pub(crate) fn read_number(path: impl AsRef<Path>) -> Option<u64> {
    let text = read_text(path)?;
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

pub(crate) fn read_flag(path: impl AsRef<Path>) -> Option<bool> {
    read_number(path).map(|n| n != 0)
}

/// Names in a directory in natural order: `loop2` before `loop10`.
pub(crate) fn dir_names(dir: impl AsRef<Path>) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let mut names: Vec<String> = entries.flatten().filter_map(|e| e.file_name().into_string().ok()).collect();
    names.sort_by(|a, b| split_number(a).cmp(&split_number(b)));
    names
}

/// Paths in a directory, in the order of [`names`].
pub(crate) fn dir_entries(dir: impl AsRef<Path>) -> Vec<PathBuf> {
    dir_names(&dir).into_iter().map(|name| dir.as_ref().join(name)).collect()
}

pub(crate) fn join_texts(texts: [Option<String>; 2], between: &str) -> Option<String> {
    texts.into_iter().flatten().reduce(|all, next| format!("{all}{between}{next}"))
}

/// True for a name of digits, such as those of processes in `/proc`.
pub(crate) fn is_number(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_digit())
}

pub(crate) fn base_name(path: &Path) -> Option<&str> {
    path.file_name().and_then(|name| name.to_str())
}

pub(crate) fn link_name(path: impl AsRef<Path>) -> Option<String> {
    let target = std::fs::read_link(path).ok()?;
    base_name(&target).map(str::to_owned)
}

/// Error text of a refused command, with advice on permissions.
pub(crate) fn errno_reason(errno: Errno) -> String {
    match errno {
        Errno::ACCESS | Errno::PERM => not_permitted(geteuid().is_root()).to_owned(),
        other => cardscope_files::error_text(&other.into()),
    }
}

fn not_permitted(root: bool) -> &'static str {
    if root { "not permitted here, even to root" } else { "needs root: run with sudo" }
}

fn split_number(name: &str) -> (&str, u64, &str) {
    let digits = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
    let (head, tail) = name.split_at(digits);
    let end = tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len());
    (head, tail[..end].parse().unwrap_or(u64::MAX), &tail[end..])
}

/// `/sys/block` has disks by name, `/dev/block` by number, as in `179:0`.
fn holds_disks(block: &Path) -> bool {
    let by_number = |entry: std::fs::DirEntry| entry.file_name().as_encoded_bytes().contains(&b':');
    block.read_dir().is_ok_and(|entries| !entries.flatten().any(by_number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_not_advised_to_use_sudo() {
        assert!(not_permitted(false).contains("sudo"));
        assert!(!not_permitted(true).contains("sudo"));
    }

    #[test]
    fn recorded_tree_is_sys_or_its_parent() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("sys/block")).unwrap();
        let root = dir.path().canonicalize().unwrap();
        assert_eq!(SystemRoots::recorded(dir.path()).sys, root.join("sys"));
        assert_eq!(SystemRoots::recorded(&dir.path().join("sys")).sys, root.join("sys"));
        assert!(SystemRoots::is_recorded(dir.path()));
        let other = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(other.path().join("block/7:3")).unwrap();
        assert!(!SystemRoots::is_recorded(other.path()) && !SystemRoots::is_recorded(Path::new("/dev")));
    }

    #[test]
    fn links_out_of_recorded_tree_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("block")).unwrap();
        let link = dir.path().join("block/sda");
        std::os::unix::fs::symlink("/proc/self", &link).unwrap();
        assert_eq!(SystemRoots::recorded(dir.path()).resolve(&link), link);
    }

    #[test]
    fn missing_empty_and_invalid_files_are_unknown() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("empty"), "\n").unwrap();
        std::fs::write(dir.path().join("odd"), [0xff, 0xfe, b'4']).unwrap();
        std::fs::write(dir.path().join("hex"), "0x1f\n").unwrap();
        assert_eq!(read_text(dir.path().join("none")), None);
        assert_eq!(read_text(dir.path().join("empty")), None);
        assert_eq!(read_number(dir.path().join("odd")), None);
        assert_eq!(read_number(dir.path().join("hex")), Some(31));
        assert_eq!(read_text(dir.path()), None);
    }

    #[test]
    fn names_are_in_natural_order() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["loop10", "loop2", "sda"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        assert_eq!(dir_names(dir.path()), ["loop2", "loop10", "sda"]);
    }
}
