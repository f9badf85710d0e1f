//! Loop devices, mounts and swap that are undone when dropped, also when a test panics; and recorded trees.
#![allow(dead_code, reason = "each test file uses a part of it")]

use cardscope_device::system::System;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Runs a tool that must be there and must succeed.
pub(crate) fn run(tool: &str, arguments: &[&str]) -> String {
    let output = attempt(tool, arguments);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{tool} {arguments:?} failed (these tests need root): {told}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn attempt(tool: &str, arguments: &[&str]) -> Output {
    Command::new(tool)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("{tool} is needed for this test: {error}"))
}

/// A file as a block device.
pub(crate) struct Loop {
    pub(crate) path: String,
    partitions: Vec<u32>,
    _dir: Option<TempDir>,
}

impl Loop {
    /// A loop device over a fresh file of so many MiB.
    pub(crate) fn of_mib(mib: u64) -> Loop {
        Self::with(mib, &[])
    }

    /// The same, read-only.
    pub(crate) fn read_only(mib: u64) -> Loop {
        Self::with(mib, &["-r"])
    }

    fn with(mib: u64, options: &[&str]) -> Loop {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("card.img");
        std::fs::File::create(&file).unwrap().set_len(mib << 20).unwrap();
        let mut device = Self::over(file.to_str().unwrap(), options);
        device._dir = Some(dir);
        device
    }

    /// A loop device over a file or device that is there.
    pub(crate) fn over(file: &str, options: &[&str]) -> Loop {
        let arguments: Vec<&str> = ["-f", "--show"].iter().chain(options).copied().chain([file]).collect();
        Loop { path: run("losetup", &arguments), partitions: Vec::new(), _dir: None }
    }

    pub(crate) fn name(&self) -> &str {
        self.path.strip_prefix("/dev/").unwrap()
    }

    /// Tells the kernel of a partition, in sectors of 512 bytes, without writing a table.
    pub(crate) fn add_partition(&mut self, number: u32, start: u64, sectors: u64) -> String {
        run("addpart", &[&self.path, &number.to_string(), &start.to_string(), &sectors.to_string()]);
        self.partitions.push(number);
        format!("{}p{number}", self.path)
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        for number in &self.partitions {
            attempt("delpart", &[&self.path, &number.to_string()]);
        }
        attempt("losetup", &["-d", &self.path]);
    }
}

/// A mount, undone when dropped.
pub(crate) struct Mounted {
    pub(crate) point: PathBuf,
    _dir: TempDir,
}

impl Mounted {
    pub(crate) fn new(options: &[&str], what: &str) -> Mounted {
        let dir = tempfile::tempdir().unwrap();
        let point = dir.path().join("point");
        std::fs::create_dir(&point).unwrap();
        let arguments: Vec<&str> = options.iter().copied().chain([what, point.to_str().unwrap()]).collect();
        run("mount", &arguments);
        Mounted { point, _dir: dir }
    }

    pub(crate) fn point(&self) -> &str {
        self.point.to_str().unwrap()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        attempt("umount", &[self.point()]);
    }
}

/// A swap area, switched off when dropped.
pub(crate) struct Swap(pub(crate) String);

impl Swap {
    pub(crate) fn on(path: &str) -> Swap {
        run("swapon", &[path]);
        Swap(path.to_owned())
    }
}

impl Drop for Swap {
    fn drop(&mut self) {
        attempt("swapoff", &[&self.0]);
    }
}

/// A program that is ended when dropped.
pub(crate) struct Program(pub(crate) std::process::Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

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

    pub(crate) fn system(&self) -> System {
        System::recorded(self.dir.path())
    }
}
