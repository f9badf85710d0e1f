//! Copies of machines for the tests of this crate.

use crate::system::System;
use std::path::Path;

/// A machine with files and links, named from its top.
pub(crate) fn machine(files: &[(&str, &str)], links: &[(&str, &str)]) -> (tempfile::TempDir, System) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("sys/block")).unwrap();
    for (name, content) in files {
        put(dir.path(), name, content);
    }
    for (name, to) in links {
        put(dir.path(), name, "");
        std::fs::remove_file(dir.path().join(name)).unwrap();
        std::os::unix::fs::symlink(to, dir.path().join(name)).unwrap();
    }
    let system = System::recorded(dir.path());
    (dir, system)
}

/// Writes a file of such a machine, with the folders above it.
pub(crate) fn put(top: &Path, name: &str, content: &str) {
    let path = top.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}
