//! Loop devices, mounted file systems and the short way to do I/O, for the tests beside this file.

use cardscope_engine::content::{ContentMatch, IoContent};
use cardscope_engine::real::{BlockDevice, IoChoice, RealOptions, RealTarget};
use cardscope_engine::target::{IoCompletion, IoDirection, IoRequest, LanePlan, Target, TargetError};
use cardscope_model::recipe::KernelPath as Way;
use cardscope_testkit::devices::{LoopDevice, TestMount};
use rustix::fs::{Mode, OFlags, open};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

pub(crate) const MIB: u64 = 1 << 20;

/// Options with the way of the I/O chosen, whatever the environment says.
pub(crate) fn by(io: IoChoice) -> RealOptions {
    RealOptions { io, ..RealOptions::default() }
}

pub(crate) fn plan(depth: u32, block: u64) -> LanePlan {
    LanePlan { depth, block, path: Way::Direct, sync_each: false, own_buffers: true }
}

/// True as root; else says that the test is left out.
pub(crate) fn root(test: &str) -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        println!("{test}: left out, it needs root");
    }
    root
}

/// A plain file of `bytes` zeros in tmpfs.
pub(crate) fn file(bytes: u64) -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = directory.path().join("card.img");
    std::fs::File::create(&path).unwrap().set_len(bytes).unwrap();
    (directory, path)
}

/// A plain file as a target.
pub(crate) fn on_file(path: &Path, options: RealOptions) -> Result<RealTarget, TargetError> {
    let file = std::fs::File::options().read(true).write(true).open(path).unwrap();
    RealTarget::open_file(file.into(), path, options)
}

/// The loop device as a target, held as the program holds it.
pub(crate) fn on_device(device: &LoopDevice, options: RealOptions) -> RealTarget {
    let fd = open_exclusively(&device.path).unwrap();
    let bytes = std::fs::metadata(&device.image).unwrap().len();
    let device = BlockDevice { fd, bytes, sector: 512, name: device.path.clone() };
    RealTarget::open_device(device, options).unwrap()
}

pub(crate) fn open_exclusively(path: &str) -> Result<OwnedFd, TargetError> {
    open(path, OFlags::RDWR | OFlags::EXCL | OFlags::DIRECT | OFlags::CLOEXEC, Mode::empty())
        .map_err(|errno| TargetError::Setup { what: format!("opening {path}"), reason: errno.to_string() })
}

/// True once the device can be had exclusively: other tests fork, and a child holds our descriptors until its exec.
pub(crate) fn becomes_free(path: &str) -> bool {
    (0..100).any(|_| {
        let free = open_exclusively(path).is_ok();
        if !free {
            std::thread::sleep(Duration::from_millis(10));
        }
        free
    })
}

/// A file system in memory, or one of `mib` MiB on a loop device.
pub(crate) fn mounted(kind: &str, options: &str, mib: u64) -> TestMount {
    match kind {
        "tmpfs" | "ramfs" => TestMount::new(&["-t", kind, "-o", options], kind),
        _ => TestMount::with_file_system(kind, &[], &["-o", options], mib),
    }
}

/// True where the kernel knows the file system; else says that the test is left out.
pub(crate) fn known(file_system: &str) -> bool {
    let all = std::fs::read_to_string("/proc/filesystems").unwrap();
    let known = all.lines().any(|line| line.trim_start_matches("nodev").trim() == file_system);
    if !known {
        println!("left out: this kernel has no {file_system}");
    }
    known
}

/// One I/O, alone.
pub(crate) fn one(
    target: &mut dyn Target,
    direction: IoDirection,
    offset: u64,
    len: u32,
    content: IoContent,
) -> Result<IoCompletion, TargetError> {
    let mut done = Vec::new();
    target.submit(&IoRequest { slot: 0, direction, offset, len, content })?;
    // Once the interrupt is raised `complete` returns early, and on a busy machine before the I/O has ended.
    while done.is_empty() {
        target.complete(1, &mut done)?;
    }
    Ok(done.remove(0))
}

pub(crate) fn write(
    target: &mut dyn Target,
    offset: u64,
    len: u32,
    content: IoContent,
) -> Result<(), TargetError> {
    one(target, IoDirection::Write, offset, len, content)?.result
}

/// Reads and holds against `expected`.
pub(crate) fn check(
    target: &mut dyn Target,
    offset: u64,
    len: u32,
    expected: IoContent,
) -> Result<ContentMatch, TargetError> {
    one(target, IoDirection::Read, offset, len, IoContent::Noise)?.result?;
    target.compare(0, expected)
}

/// Carries out all I/Os with as many in flight as `depth` says; gives the completions.
pub(crate) fn all(
    target: &mut dyn Target,
    depth: u32,
    ios: impl IntoIterator<Item = IoRequest>,
) -> Vec<IoCompletion> {
    let mut free: Vec<u32> = (0..depth).rev().collect();
    let (mut done, mut total) = (Vec::new(), Vec::new());
    let mut ios = ios.into_iter().peekable();
    while ios.peek().is_some() || free.len() < depth as usize {
        while let (Some(&slot), Some(_)) = (free.last(), ios.peek()) {
            free.pop();
            target.submit(&IoRequest { slot, ..ios.next().expect("peeked") }).unwrap();
        }
        target.complete(1, &mut done).unwrap();
        free.extend(done.iter().map(|completion| completion.slot));
        total.append(&mut done);
    }
    total
}
