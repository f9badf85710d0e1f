//! Loop devices, mounts and swap for the tests of several crates. Each is undone when dropped, also when a test panics, and
//! undone for good: another process may look at a device at that moment (`cardscope list`, `losetup`, a fork that has not
//! yet become its program), and what stays behind is in the way of the next test that is given the same name.

use rustix::fs::{Mode, OFlags, open};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long others may hold what is to be undone.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs a tool that must be there and must succeed; returns what it printed, without the space around it.
#[track_caller]
pub fn tool(name: &str, arguments: &[&str]) -> String {
    let output = attempt(name, arguments);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{name} {arguments:?} failed (these tests need root)\n{out}\n{err}");
    out.trim().to_owned()
}

/// Runs a tool that must be there, however it ends.
#[track_caller]
pub fn attempt(name: &str, arguments: &[&str]) -> Output {
    let output = command(name, arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{name} is needed for this test: {error}"));
    assert_ne!(output.status.code(), Some(127), "{name} is needed for this test and not installed");
    output
}

/// Runs a tool that undoes something, again while it finds that busy; mostly there is nothing left to undo. Fails where it
/// stays busy, but not a test that fails already.
pub fn undo(name: &str, arguments: &[&str]) {
    let began = Instant::now();
    while let Ok(output) = command(name, arguments).output() {
        let busy = String::from_utf8_lossy(&output.stderr).contains("busy");
        if output.status.success() || !busy {
            return;
        }
        if began.elapsed() > PATIENCE {
            assert!(std::thread::panicking(), "{name} {arguments:?}: busy for {PATIENCE:?}");
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The administrator's tools lie where a user's search path may not lead, and answer here in English.
fn command(name: &str, arguments: &[&str]) -> Command {
    let path = format!("PATH={}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("env");
    command.arg(path).arg("LC_ALL=C").arg(name).args(arguments).stdin(Stdio::null());
    command
}

/// `unshare`, to be given a program that gets mounts of its own. It begins with copies of all others, and a card that a test
/// beside it has mounted would be in use for as long as the program runs: so it lets go of them.
pub fn with_own_mounts(options: &[&str]) -> Command {
    const LET_GO: &str = r#"findmnt -rno TARGET | grep -F "${TMPDIR:-/tmp}/" | sort -r |
        while read -r mount; do umount -l "$(printf %b "$mount")" 2>/dev/null; done
        exec "$@""#;
    let mut command = Command::new("unshare");
    command.arg("--mount").args(options).args(["sh", "-c", LET_GO, "sh"]);
    command
}

/// A file as a block device.
#[derive(Debug)]
pub struct LoopDevice {
    /// Path of the device, as `/dev/loop0`.
    pub path: String,
    /// The file behind it.
    pub image: PathBuf,
    partitions: Vec<u32>,
    pulled_out: bool,
    _dir: Option<TempDir>,
}

impl LoopDevice {
    /// A loop device over a fresh file of `mib` MiB of zeros, in memory: other files that are written don't slow it down.
    #[track_caller]
    pub fn zeros(mib: u64, options: &[&str]) -> LoopDevice {
        Self::in_memory(options, |dir| {
            let image = dir.join("card.img");
            std::fs::File::create(&image).unwrap().set_len(mib << 20).unwrap();
            image
        })
    }

    /// A loop device over the file that `make` leaves in a folder in memory.
    #[track_caller]
    pub fn in_memory(options: &[&str], make: impl FnOnce(&Path) -> PathBuf) -> LoopDevice {
        let dir = tempfile::tempdir_in("/dev/shm").unwrap();
        let mut made = Self::over(make(dir.path()), options);
        made._dir = Some(dir);
        made
    }

    /// A loop device over a file or device that is there.
    #[track_caller]
    pub fn over(image: impl AsRef<Path>, options: &[&str]) -> LoopDevice {
        let image = image.as_ref();
        let arguments = [&["-f", "--show"], options, &[image.to_str().unwrap()]].concat();
        let path = tool("losetup", &arguments);
        LoopDevice { path, image: image.to_owned(), partitions: Vec::new(), pulled_out: false, _dir: None }
    }

    /// The same over its image, with a number that nobody is given who asks for any free one, while lower ones are free: its card
    /// can be swapped.
    #[track_caller]
    pub fn apart(mut self) -> LoopDevice {
        let image = self.image.to_str().unwrap();
        let mut all = (1000..1100).map(|number| format!("/dev/loop{number}"));
        let apart = all.find(|path| attempt("losetup", &[path, image]).status.success()).unwrap();
        tool("losetup", &["-d", &self.path]);
        self.path = apart;
        self
    }

    /// Puts another file behind it, as a card is swapped in a reader that stays; once whoever looks at the first one lets it go.
    #[track_caller]
    pub fn swap(&self, image: &str) {
        tool("losetup", &["-d", &self.path]);
        let began = Instant::now();
        while !attempt("losetup", &[&self.path, image]).status.success() {
            assert!(began.elapsed() < PATIENCE, "{} stays busy for {PATIENCE:?}", self.path);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Name of the device, as `loop0`.
    pub fn name(&self) -> &str {
        self.path.strip_prefix("/dev/").unwrap()
    }

    /// Takes the card out of its slot. Its name is free from now on: the next one that gets it is another test's.
    #[track_caller]
    pub fn pull_out(&mut self) {
        tool("losetup", &["-d", &self.path]);
        self.pulled_out = true;
    }

    /// Waits until nobody claims the device: what a killed program had in flight is written until then, by the kernel and
    /// after the program's end.
    #[track_caller]
    pub fn wait_until_released(&self) {
        let began = Instant::now();
        while open(&self.path, OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC, Mode::empty()).is_err() {
            assert!(began.elapsed() < PATIENCE, "{} stays claimed for {PATIENCE:?}", self.path);
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Tells the kernel of a partition, in sectors of 512 bytes, without writing a table; returns its path.
    #[track_caller]
    pub fn add_partition(&mut self, number: u32, start: u64, sectors: u64) -> String {
        tool("addpart", &[&self.path, &number.to_string(), &start.to_string(), &sectors.to_string()]);
        self.partitions.push(number);
        format!("{}p{number}", self.path)
    }

    /// Bytes that were written to the device so far, as the kernel counts them.
    pub fn written(&self) -> u64 {
        let counts = std::fs::read_to_string(format!("/sys/block/{}/stat", self.name())).unwrap();
        let sectors = counts.split_whitespace().nth(6).unwrap();
        512 * sectors.parse::<u64>().unwrap()
    }

    /// The image's content, after everything the kernel holds back was written to it.
    #[track_caller]
    pub fn content(&self) -> Vec<u8> {
        tool("blockdev", &["--flushbufs", &self.path]);
        tool("sync", &[self.image.to_str().unwrap()]);
        std::fs::read(&self.image).unwrap()
    }
}

impl Drop for LoopDevice {
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
#[derive(Debug)]
pub struct TestMount {
    /// The folder on which it is mounted.
    pub point: PathBuf,
    device: Option<LoopDevice>,
    _dir: TempDir,
}

impl TestMount {
    /// Mounts `what` on a folder of its own.
    #[track_caller]
    pub fn new(options: &[&str], what: &str) -> TestMount {
        let dir = tempfile::tempdir().unwrap();
        let point = dir.path().join("point");
        std::fs::create_dir(&point).unwrap();
        tool("mount", &[options, &[what, point.to_str().unwrap()]].concat());
        TestMount { point, device: None, _dir: dir }
    }

    /// A fresh file system of `mib` MiB on a loop device of its own, made by `mkfs.KIND`.
    #[track_caller]
    pub fn made(kind: &str, make: &[&str], options: &[&str], mib: u64) -> TestMount {
        let device = LoopDevice::zeros(mib, &[]);
        tool(&format!("mkfs.{kind}"), &[make, &[&device.path]].concat());
        let mut mounted = Self::new(&[&["-t", kind], options].concat(), &device.path);
        mounted.device = Some(device);
        mounted
    }

    /// A fresh ext4 of `mib` MiB, all of it for files of anybody.
    #[track_caller]
    pub fn ext4(mib: u64) -> TestMount {
        Self::made("ext4", &["-q", "-F", "-m", "0"], &[], mib)
    }

    /// The folder on which it is mounted, as text.
    pub fn path(&self) -> &str {
        self.point.to_str().unwrap()
    }

    /// Path of the device under it, which it has where it was made with it.
    #[track_caller]
    pub fn device(&self) -> &str {
        &self.device.as_ref().expect("it was made with a device of its own").path
    }
}

impl Drop for TestMount {
    fn drop(&mut self) {
        undo("umount", &[self.path()]);
    }
}

/// A swap area, switched off when dropped.
#[derive(Debug)]
pub struct SwapArea(String);

impl SwapArea {
    /// Switches on a swap area that is there.
    #[track_caller]
    pub fn on(device: &str) -> SwapArea {
        tool("swapon", &[device]);
        SwapArea(device.to_owned())
    }
}

impl Drop for SwapArea {
    fn drop(&mut self) {
        undo("swapoff", &[&self.0]);
    }
}

/// A program that is ended when dropped.
#[derive(Debug)]
pub struct ProgramGuard(pub std::process::Child);

impl Drop for ProgramGuard {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
