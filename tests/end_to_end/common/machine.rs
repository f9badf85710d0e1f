//! Loop devices, mounts and swap, undone when dropped; tools that must be there and succeed.

use super::until;
use rustix::fs::{Mode, OFlags, open};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

pub(crate) const MIB: u64 = 1 << 20;

/// Runs a tool that must be there and must succeed; gives what it printed.
#[track_caller]
pub(crate) fn tool(name: &str, arguments: &[&str]) -> String {
    let output = attempt(name, arguments);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{name} {arguments:?} failed (these tests need root)\n{out}\n{err}");
    out.trim().to_owned()
}

/// Runs a tool that must be there, however it ends.
#[track_caller]
pub(crate) fn attempt(name: &str, arguments: &[&str]) -> Output {
    let output = command(name, arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{name} is needed for this test: {error}"));
    assert_ne!(output.status.code(), Some(127), "{name} is needed for this test and not installed");
    output
}

/// Takes something away again; never panics, since a failing test may be unwinding.
pub(crate) fn undo(name: &str, arguments: &[&str]) {
    let _ = command(name, arguments).output();
}

/// The tools of the administrator lie where a user's search path may not lead.
fn command(name: &str, arguments: &[&str]) -> Command {
    let path = format!("PATH={}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("env");
    command.arg(path).arg(name).args(arguments).stdin(Stdio::null());
    command
}

/// A file that stands for a card's content, of so many MiB, with data in it that tells whether it was touched.
pub(crate) fn image(dir: &Path, mib: u64) -> PathBuf {
    let path = dir.join("card.img");
    let words = (1..=512u64).flat_map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes());
    let mut bytes = words.collect::<Vec<u8>>().repeat((mib * MIB / 4096) as usize);
    (0u64..).zip(bytes.chunks_mut(4096)).for_each(|(n, block)| block[..8].copy_from_slice(&n.to_le_bytes()));
    std::fs::write(&path, bytes).unwrap();
    path
}

/// A file as a block device.
pub(crate) struct Loop {
    pub(crate) path: String,
    pub(crate) image: PathBuf,
    partitions: Vec<u32>,
    pulled_out: bool,
    _dir: Option<TempDir>,
}

impl Loop {
    /// A loop device over a fresh image of so many MiB, in memory: nothing else that is written slows it down.
    pub(crate) fn of_mib(mib: u64) -> Self {
        Self::with(mib, &[])
    }

    pub(crate) fn with(mib: u64, options: &[&str]) -> Self {
        let dir = tempfile::tempdir_in("/dev/shm").unwrap();
        let mut made = Self::over(&image(dir.path(), mib), options);
        made._dir = Some(dir);
        made
    }

    /// A loop device over a file that is there.
    pub(crate) fn over(image: &Path, options: &[&str]) -> Self {
        let arguments: Vec<&str> =
            ["-f", "--show"].iter().chain(options).copied().chain([image.to_str().unwrap()]).collect();
        Loop {
            path: tool("losetup", &arguments),
            image: image.to_owned(),
            partitions: Vec::new(),
            pulled_out: false,
            _dir: None,
        }
    }

    /// Takes the card out of its slot. Its name is free from now on: the next one that gets it is another test's.
    pub(crate) fn pull_out(&mut self) {
        tool("losetup", &["-d", &self.path]);
        self.pulled_out = true;
    }

    /// Waits until nobody claims the device: what a killed program had in flight is written until then, by the kernel and
    /// after the program's end.
    pub(crate) fn wait_until_released(&self) {
        let claim = || open(&self.path, OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC, Mode::empty());
        until("the end of what was in flight", || claim().is_ok());
    }

    pub(crate) fn name(&self) -> &str {
        self.path.strip_prefix("/dev/").unwrap()
    }

    /// Tells the kernel of a partition, in sectors of 512 bytes.
    pub(crate) fn add_partition(&mut self, number: u32, start: u64, sectors: u64) -> String {
        tool("addpart", &[&self.path, &number.to_string(), &start.to_string(), &sectors.to_string()]);
        self.partitions.push(number);
        format!("{}p{number}", self.path)
    }

    /// Bytes that were written to the device so far, as the kernel counts them.
    pub(crate) fn written(&self) -> u64 {
        let counts = std::fs::read_to_string(format!("/sys/block/{}/stat", self.name())).unwrap();
        let sectors = counts.split_whitespace().nth(6).unwrap();
        512 * sectors.parse::<u64>().unwrap()
    }

    /// The image's content, after everything the kernel holds back was written to it.
    pub(crate) fn content(&self) -> Vec<u8> {
        tool("blockdev", &["--flushbufs", &self.path]);
        tool("sync", &[self.image.to_str().unwrap()]);
        std::fs::read(&self.image).unwrap()
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        if self.pulled_out {
            return;
        }
        for number in &self.partitions {
            undo("delpart", &[&self.path, &number.to_string()]);
        }
        undo("losetup", &["-d", &self.path]);
    }
}

/// A mount, undone when dropped.
pub(crate) struct Mounted {
    pub(crate) point: PathBuf,
    device: Option<Loop>,
    _dir: TempDir,
}

impl Mounted {
    #[track_caller]
    pub(crate) fn new(options: &[&str], what: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let point = dir.path().join("point");
        std::fs::create_dir(&point).unwrap();
        let arguments: Vec<&str> = options.iter().copied().chain([what, point.to_str().unwrap()]).collect();
        tool("mount", &arguments);
        Mounted { point, device: None, _dir: dir }
    }

    /// A fresh ext4 of so many MiB on a loop device of its own.
    pub(crate) fn ext4(mib: u64) -> Self {
        let device = Loop::of_mib(mib);
        tool("mkfs.ext4", &["-q", "-F", "-m", "0", &device.path]);
        let mut mounted = Self::new(&[], &device.path);
        mounted.device = Some(device);
        mounted
    }

    pub(crate) fn path(&self) -> &str {
        self.point.to_str().unwrap()
    }

    /// The device under it, where it has one of its own.
    #[track_caller]
    pub(crate) fn device(&self) -> &str {
        &self.device.as_ref().expect("it was made with a device of its own").path
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        undo("umount", &[self.path()]);
    }
}

/// A swap area, switched off when dropped.
pub(crate) struct Swap(String);

impl Swap {
    /// Where a kernel short of memory may write at any time: behind the header, up to the end of the area.
    pub(crate) const PAGES: std::ops::Range<usize> = 4 << 10..64 << 10;

    pub(crate) fn on(device: &str) -> Self {
        tool("mkswap", &[device, &(Self::PAGES.end >> 10).to_string()]);
        tool("swapon", &[device]);
        Swap(device.to_owned())
    }
}

impl Drop for Swap {
    fn drop(&mut self) {
        undo("swapoff", &[&self.0]);
    }
}

/// The names in a directory, hidden ones too.
pub(crate) fn names_in(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.retain(|name| name != "lost+found");
    names.sort();
    names
}
