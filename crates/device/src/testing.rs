//! Copies of machines, and loop devices, for the tests of this crate.

#[cfg(feature = "udisks")]
use crate::block::DeviceNumber;
use crate::system::System;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A loop device over a file, detached when dropped. Needs root.
pub(crate) struct LoopCard {
    pub(crate) path: String,
    partitions: Vec<u32>,
    _file: tempfile::NamedTempFile,
}

impl LoopCard {
    pub(crate) fn of_mib(mib: u64) -> LoopCard {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(mib << 20).unwrap();
        let path = run("losetup", &["-f", "--show", file.path().to_str().unwrap()]);
        LoopCard { path, partitions: Vec::new(), _file: file }
    }

    pub(crate) fn name(&self) -> &str {
        self.path.strip_prefix("/dev/").unwrap()
    }

    #[cfg(feature = "udisks")]
    pub(crate) fn number(&self) -> DeviceNumber {
        DeviceNumber::from_raw(rustix::fs::stat(self.path.as_str()).unwrap().st_rdev)
    }

    /// Tells the kernel of a partition, by its first MiB and its length, without writing a table.
    pub(crate) fn add_partition(&mut self, first: u32, mib: u32) -> String {
        let number = self.partitions.len() as u32 + 1;
        let sectors = |mib: u32| (mib * 2048).to_string();
        run("addpart", &[&self.path, &number.to_string(), &sectors(first), &sectors(mib)]);
        self.partitions.push(number);
        format!("{}p{number}", self.path)
    }
}

impl Drop for LoopCard {
    fn drop(&mut self) {
        for number in &self.partitions {
            let _ = Command::new("delpart").args([&self.path, &number.to_string()]).status();
        }
        let _ = Command::new("losetup").args(["-d", &self.path]).status();
    }
}

/// Runs a tool that must be there and must succeed.
pub(crate) fn run(tool: &str, arguments: &[&str]) -> String {
    let output = Command::new(tool).args(arguments).output().unwrap();
    assert!(output.status.success(), "{tool} {arguments:?} failed (this test needs root): {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A machine from lines `NAME = CONTENT` for files and `NAME -> TARGET` for links, named from its top.
pub(crate) fn machine(tree: &str) -> (tempfile::TempDir, System) {
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
    let system = System::recorded(dir.path());
    (dir, system)
}

/// Writes a file of such a machine, with the folders above it.
pub(crate) fn put(top: &Path, name: &str, content: &str) {
    std::fs::write(room(top, name), content).unwrap();
}

fn room(top: &Path, name: &str) -> PathBuf {
    let path = top.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    path
}
