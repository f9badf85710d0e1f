//! Recorded computers for the tests of this crate.

use crate::system::SystemRoots;
use std::path::{Path, PathBuf};

#[cfg(feature = "udisks")]
pub(crate) fn number(device: &cardscope_testkit::devices::LoopDevice) -> crate::block::DeviceNumber {
    crate::block::DeviceNumber::from_raw(rustix::fs::stat(device.path.as_str()).unwrap().st_rdev)
}

/// Builds a recorded computer from lines `NAME = CONTENT` for files and `NAME -> TARGET` for links.
pub(crate) fn machine(tree: &str) -> (tempfile::TempDir, SystemRoots) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("sys/block")).unwrap();
    for line in tree.lines().map(str::trim_start).filter(|line| !line.is_empty()) {
        match line.split_once(" -> ") {
            Some((name, to)) => std::os::unix::fs::symlink(to, room(dir.path(), name)).unwrap(),
            None => {
                let (name, content) = line.split_once(" =").unwrap();
                put(dir.path(), name, content.strip_prefix(' ').unwrap_or(content));
            }
        }
    }
    let system = SystemRoots::recorded(dir.path());
    (dir, system)
}

/// Writes a file of a recorded computer, with its parent folders.
pub(crate) fn put(top: &Path, name: &str, content: &str) {
    std::fs::write(room(top, name), content).unwrap();
}

fn room(top: &Path, name: &str) -> PathBuf {
    let path = top.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    path
}
