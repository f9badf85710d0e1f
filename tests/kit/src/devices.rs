//! Loop devices, mounts and swap for tests. Each is undone when dropped, even after a panic, and retried while busy:
//! another process may have a device open for a short time (`cardscope list`, `losetup`, a fork before its exec), and
//! leftovers would disturb the next test that gets the same name.

use rustix::fs::{Mode, OFlags, open};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Time for which others may keep a device busy.
const BUSY_TIMEOUT: Duration = Duration::from_secs(60);

/// Runs a tool that must exist and succeed; returns its output without surrounding space.
#[track_caller]
pub fn run_tool(name: &str, arguments: &[&str]) -> String {
    let output = try_tool(name, arguments);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{name} {arguments:?} failed (these tests need root)\n{out}\n{err}");
    out.trim().to_owned()
}

/// Runs a tool that must exist; it may fail.
#[track_caller]
pub fn try_tool(name: &str, arguments: &[&str]) -> Output {
    let output = tool_command(name, arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{name} is needed for this test: {error}"));
    assert_ne!(output.status.code(), Some(127), "{name} is needed for this test and not installed");
    output
}

/// Runs a tool that undoes something, again while it reports "busy"; other failures mean that nothing is left to undo.
/// Panics if it stays busy, unless the test panics already.
pub fn undo_when_free(name: &str, arguments: &[&str]) {
    let began = Instant::now();
    while let Ok(output) = tool_command(name, arguments).output() {
        let busy = String::from_utf8_lossy(&output.stderr).contains("busy");
        if output.status.success() || !busy {
            return;
        }
        if began.elapsed() > BUSY_TIMEOUT {
            assert!(std::thread::panicking(), "{name} {arguments:?}: busy for {BUSY_TIMEOUT:?}");
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Command with the administrator's folders in its path and with English messages.
fn tool_command(name: &str, arguments: &[&str]) -> Command {
    let path = format!("PATH={}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("env");
    command.arg(path).arg("LC_ALL=C").arg(name).args(arguments).stdin(Stdio::null());
    command
}

/// `unshare` for a program that needs a private set of mounts. The set begins as a copy of all mounts, which would keep
/// the cards of parallel tests in use as long as the program runs; so mounts below the temporary folder are removed
/// from it.
pub fn with_own_mounts(options: &[&str]) -> Command {
    const LET_GO: &str = r#"findmnt -rno TARGET | grep -F "${TMPDIR:-/tmp}/" | sort -r |
        while read -r mount; do umount -l "$(printf %b "$mount")" 2>/dev/null; done
        exec "$@""#;
    let mut command = Command::new("unshare");
    command.arg("--mount").args(options).args(["sh", "-c", LET_GO, "sh"]);
    command
}

/// Loop device: a file as a block device.
#[derive(Debug)]
pub struct LoopDevice {
    /// Path such as `/dev/loop0`.
    pub path: String,
    /// File of the device.
    pub image: PathBuf,
    partitions: Vec<u32>,
    is_detached: bool,
    _dir: Option<TempDir>,
}

impl LoopDevice {
    /// Creates a device of `mib` MiB of zeros in memory, where writes to other files do not slow it down.
    #[track_caller]
    pub fn zeroed(mib: u64, options: &[&str]) -> LoopDevice {
        Self::in_memory(options, |dir| {
            let image = dir.join("card.img");
            std::fs::File::create(&image).unwrap().set_len(mib << 20).unwrap();
            image
        })
    }

    /// Creates a device over the file that `make` creates in a folder in memory.
    #[track_caller]
    pub fn in_memory(options: &[&str], make: impl FnOnce(&Path) -> PathBuf) -> LoopDevice {
        let dir = tempfile::tempdir_in("/dev/shm").unwrap();
        let mut made = Self::over_file(make(dir.path()), options);
        made._dir = Some(dir);
        made
    }

    /// Creates a device over an existing file or device.
    #[track_caller]
    pub fn over_file(image: impl AsRef<Path>, options: &[&str]) -> LoopDevice {
        let image = image.as_ref();
        let arguments = [&["-f", "--show"], options, &[image.to_str().unwrap()]].concat();
        let path = run_tool("losetup", &arguments);
        LoopDevice { path, image: image.to_owned(), partitions: Vec::new(), is_detached: false, _dir: None }
    }

    /// Moves the device to a number above 1000, which the kernel never hands out while lower ones are free, so that its
    /// file can be swapped.
    #[track_caller]
    pub fn with_high_number(mut self) -> LoopDevice {
        let image = self.image.to_str().unwrap();
        let mut all = (1000..1100).map(|number| format!("/dev/loop{number}"));
        let apart = all.find(|path| try_tool("losetup", &[path, image]).status.success()).unwrap();
        run_tool("losetup", &["-d", &self.path]);
        self.path = apart;
        self
    }

    /// Replaces the file of the device, as a card is replaced in a reader; waits while others have the old one open.
    #[track_caller]
    pub fn swap_image(&self, image: &str) {
        run_tool("losetup", &["-d", &self.path]);
        let began = Instant::now();
        while !try_tool("losetup", &[&self.path, image]).status.success() {
            assert!(began.elapsed() < BUSY_TIMEOUT, "{} stays busy for {BUSY_TIMEOUT:?}", self.path);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Name such as `loop0`.
    pub fn name(&self) -> &str {
        self.path.strip_prefix("/dev/").unwrap()
    }

    /// Removes the device, as a card is pulled out. Another test may get its name from then on.
    #[track_caller]
    pub fn detach_now(&mut self) {
        run_tool("losetup", &["-d", &self.path]);
        self.is_detached = true;
    }

    /// Waits until no process claims the device: after a program was killed, the kernel still writes what it had in
    /// flight.
    #[track_caller]
    pub fn wait_until_released(&self) {
        let began = Instant::now();
        while open(&self.path, OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC, Mode::empty()).is_err() {
            assert!(began.elapsed() < BUSY_TIMEOUT, "{} stays claimed for {BUSY_TIMEOUT:?}", self.path);
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Adds a partition to the kernel's view without writing a table; returns its path. Units are sectors of 512 bytes.
    #[track_caller]
    pub fn add_partition(&mut self, number: u32, start: u64, sectors: u64) -> String {
        run_tool("addpart", &[&self.path, &number.to_string(), &start.to_string(), &sectors.to_string()]);
        self.partitions.push(number);
        format!("{}p{number}", self.path)
    }

    /// Bytes written to the device so far, as counted by the kernel.
    pub fn written_bytes(&self) -> u64 {
        let counts = std::fs::read_to_string(format!("/sys/block/{}/stat", self.name())).unwrap();
        let sectors = counts.split_whitespace().nth(6).unwrap();
        512 * sectors.parse::<u64>().unwrap()
    }

    /// Content of the file, after writing back the kernel's caches.
    #[track_caller]
    pub fn content(&self) -> Vec<u8> {
        run_tool("blockdev", &["--flushbufs", &self.path]);
        run_tool("sync", &[self.image.to_str().unwrap()]);
        std::fs::read(&self.image).unwrap()
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        if self.is_detached {
            return;
        }
        for number in &self.partitions {
            undo_when_free("delpart", &[&self.path, &number.to_string()]);
        }
        undo_when_free("losetup", &["-d", &self.path]);
    }
}

/// Mount that is undone when dropped.
#[derive(Debug)]
pub struct TestMount {
    /// Folder of the mount.
    pub point: PathBuf,
    device: Option<LoopDevice>,
    _dir: TempDir,
}

impl TestMount {
    /// Mounts `what` on a new folder.
    #[track_caller]
    pub fn new(options: &[&str], what: &str) -> TestMount {
        let dir = tempfile::tempdir().unwrap();
        let point = dir.path().join("point");
        std::fs::create_dir(&point).unwrap();
        run_tool("mount", &[options, &[what, point.to_str().unwrap()]].concat());
        TestMount { point, device: None, _dir: dir }
    }

    /// Creates a file system of `mib` MiB by `mkfs.KIND` on a new loop device, and mounts it.
    #[track_caller]
    pub fn with_file_system(kind: &str, make: &[&str], options: &[&str], mib: u64) -> TestMount {
        let device = LoopDevice::zeroed(mib, &[]);
        run_tool(&format!("mkfs.{kind}"), &[make, &[&device.path]].concat());
        let mut mounted = Self::new(&[&["-t", kind], options].concat(), &device.path);
        mounted.device = Some(device);
        mounted
    }

    /// Creates an ext4 of `mib` MiB without blocks reserved for root, and mounts it.
    #[track_caller]
    pub fn ext4(mib: u64) -> TestMount {
        Self::with_file_system("ext4", &["-q", "-F", "-m", "0"], &[], mib)
    }

    pub fn path(&self) -> &str {
        self.point.to_str().unwrap()
    }

    /// Path of the device; panics for a mount without one.
    #[track_caller]
    pub fn device_path(&self) -> &str {
        &self.device.as_ref().expect("it was made with a device of its own").path
    }
}

impl Drop for TestMount {
    fn drop(&mut self) {
        undo_when_free("umount", &[self.path()]);
    }
}

/// Swap area that is switched off when dropped.
#[derive(Debug)]
pub struct SwapArea(String);

impl SwapArea {
    /// Switches on an existing swap area.
    #[track_caller]
    pub fn switch_on(device: &str) -> SwapArea {
        run_tool("swapon", &[device]);
        SwapArea(device.to_owned())
    }
}

impl Drop for SwapArea {
    fn drop(&mut self) {
        undo_when_free("swapoff", &[&self.0]);
    }
}

/// Program that is killed when dropped.
#[derive(Debug)]
pub struct ProgramGuard(pub std::process::Child);

impl Drop for ProgramGuard {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
