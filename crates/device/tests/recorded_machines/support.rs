//! Recorded machines.

use cardscope_device::system::SystemRoots;
use std::path::Path;
use tempfile::TempDir;

/// A recorded machine under construction.
pub(crate) struct Recording {
    pub(crate) dir: TempDir,
}

impl Recording {
    pub(crate) fn new(files: &[(&str, &str)]) -> Recording {
        let recording = Recording { dir: tempfile::tempdir().unwrap() };
        std::fs::create_dir_all(recording.dir.path().join("sys/block")).unwrap();
        for (name, content) in files {
            recording.file(name, content.as_bytes());
        }
        recording
    }

    pub(crate) fn file(&self, name: &str, content: &[u8]) {
        let path = self.dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// A symbolic link with the target as given.
    pub(crate) fn link(&self, name: &str, target: &str) {
        let path = self.dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(Path::new(target), path).unwrap();
    }

    pub(crate) fn system(&self) -> SystemRoots {
        SystemRoots::recorded(self.dir.path())
    }
}
