//! Directory under test: its file system, free space, existing test files and the bytes that may be written.

use crate::probe::files::{NumberedFile, file_name, parse_number};
use cardscope_device::claimed::ClaimedTarget;
use cardscope_device::filesystem::{self, DiskSpace, FileSystem, refuse_kernel_file};
use cardscope_engine::cause::ErrorCause;
use cardscope_files::{self as files, FileError, is_plain};
use cardscope_model::caveat::Caveat;
use cardscope_model::units::DecimalSize;
use cardscope_session::error::{Failure, Result};
use cardscope_simulator::target_spec;
use std::path::{Path, PathBuf};

/// Bytes that stay free on the file system of the running system, which stops without any space.
const SYSTEM_RESERVE: u64 = 256 << 20;

/// Files in a memory file system may use 1/2 of the available memory, or the computer would stop.
const MEMORY_SHARE: u64 = 2;

#[derive(Debug)]
pub(super) struct MountedFolder {
    /// Path in the spelling of the user, for messages only.
    pub(super) path: PathBuf,
    /// Open directory, through which all files are reached.
    pub(super) held: files::ResolvedFolder,
    pub(super) system: FileSystem,
    pub(super) room: DiskSpace,
    /// Existing files with names of test files.
    pub(super) test_files: Vec<NumberedFile>,
    /// Names that only resemble those of test files.
    pub(super) similar_names: Vec<String>,
}

impl MountedFolder {
    /// Opens the directory, or uses `there` if the caller holds it open. Refuses other targets and unreadable
    /// directories.
    pub(super) fn open(target: &str, there: Option<&ClaimedTarget>) -> Result<Self> {
        let path = Path::new(target);
        let cannot = |what: &str, e: ErrorCause| Failure::refused_for(format!("{target}: {what} ({e})"), e);
        if there.is_none() && (target_spec::is_simulated(target) || !path.is_dir()) {
            return Err(Failure::refused(format!(
                "{target} is not a directory: --files needs one on the mounted card, e.g. /media/card; to \
                 test the card itself, leave out --files"
            )));
        }
        let unreadable = "the directory cannot be read; check its permissions";
        let held = match there {
            None => files::ResolvedFolder::open(path),
            Some(there) => {
                let fd = there.duplicate_fd();
                fd.map(|fd| files::ResolvedFolder::from_fd(fd, path)).map_err(Into::into)
            }
        };
        let held = held.map_err(|e| cannot(unreadable, e.into()))?;
        refuse_kernel_file(&held, path).map_err(Failure::refused)?;
        let inside = held.proc_path();
        let system = filesystem::file_system_at(&inside);
        let system = system.map_err(|e| cannot("the file system cannot be read", e.into()))?;
        let room = filesystem::disk_space(&inside);
        let room = room.map_err(|e| cannot("the free space is unknown", e.into()))?;
        let found = find_test_files(&held);
        let (test_files, similar_names) = found.map_err(|e| cannot(unreadable, e.into()))?;
        Ok(MountedFolder { path: path.to_owned(), held, system, room, test_files, similar_names })
    }

    pub(super) fn file_path(&self, number: u64) -> PathBuf {
        self.path.join(file_name(number))
    }

    /// True for the root of the mount, where a card has its files.
    fn is_root(&self) -> bool {
        let real = self.held.proc_path().canonicalize().ok();
        real.zip(self.system.mounted_at.as_deref()).is_some_and(|(real, point)| real == Path::new(point))
    }

    /// Caveats that follow from the file system and the position of the directory.
    pub(super) fn caveats(&self) -> Vec<Caveat> {
        let point = self.system.mounted_at.as_deref().unwrap_or("an unknown place");
        let name = &self.system.name;
        let path = self.path.display();
        let below = (!self.is_root()).then(|| {
            format!(
                "{path} is not the root of a mounted card; this tests the free space of the {name} mounted on \
                 {point}"
            )
        });
        let reserve = DecimalSize(SYSTEM_RESERVE);
        let reserve = format!("the running system is on this {name}: {reserve} stay free");
        let reserve = self.room.holds_system.then_some(reserve);
        let effect = self.system.effect.as_deref().unwrap_or_default();
        let folds = ["copy-on-write", "compress", "encrypt"].iter().any(|word| effect.contains(word));
        let hides = folds.then(|| {
            format!(
                "{name} hides which bytes of the card were tested, and may hide bit flips or turn them into \
                 errors"
            )
        });
        [below, reserve, hides].into_iter().flatten().map(|text| Caveat::Other { text }).collect()
    }

    /// Bytes that may be written. Refuses directories with test files, read-only mounts, and file systems that are
    /// unsafe to fill.
    pub(super) fn writable_bytes(&self, most: Option<u64>) -> Result<u64> {
        let path = self.path.display();
        if !self.test_files.is_empty() {
            let names: Vec<String> = self.test_files.iter().map(|named| file_name(named.number)).collect();
            return Err(Failure::refused(format!(
                "{path} already contains {}; verify them with --read-only, or remove them first",
                short_list(&names)
            )));
        }
        if self.room.read_only {
            return Err(Failure::refused(format!(
                "{path} is mounted read-only; check the lock switch, mount it for writing, or verify \
                 existing files with --read-only"
            )));
        }
        let free = self.free_bytes();
        self.check_memory(free, most)?;
        match free.min(most.unwrap_or(u64::MAX)) {
            0..4096 => Err(Failure::refused(format!(
                "{path} has no space for a test file ({free} bytes free for this user); free some space"
            ))),
            bytes => Ok(bytes - bytes % 4096),
        }
    }

    /// Free bytes without the system's reserve.
    pub(super) fn free_bytes(&self) -> u64 {
        let reserve = if self.room.holds_system { SYSTEM_RESERVE } else { 0 };
        self.room.free.saturating_sub(reserve)
    }

    /// Refuses to exceed the available memory on a memory file system.
    fn check_memory(&self, free: u64, most: Option<u64>) -> Result<()> {
        let left = available_memory().unwrap_or(u64::MAX) / MEMORY_SHARE;
        if self.system.is_in_memory() && free.min(most.unwrap_or(u64::MAX)) > left {
            let (path, system) = (self.path.display(), &self.system.name);
            return Err(Failure::refused(format!(
                "{path} is in this computer's memory ({system}); give --max-write of at most {left} bytes"
            )));
        }
        Ok(())
    }
}

/// Bytes of `MemAvailable` in `/proc/meminfo` (proc_meminfo(5)).
fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Test files in a folder by number, and names that only resemble those of test files.
fn find_test_files(folder: &files::ResolvedFolder) -> Result<(Vec<NumberedFile>, Vec<String>), FileError> {
    let (mut found, mut alike) = (Vec::new(), Vec::new());
    for name in folder.names()? {
        let seen = folder.stat(&name).ok().flatten();
        let name = name.to_string_lossy().into_owned();
        match parse_number(&name) {
            Some(number) => found.push(NumberedFile {
                number,
                bytes: seen.map_or(0, |seen| u64::try_from(seen.st_size).unwrap_or_default()),
                is_plain: seen.is_none_or(|seen| is_plain(&seen)),
            }),
            None if name.to_ascii_lowercase().ends_with(".h2w") => alike.push(name),
            None => {}
        }
    }
    found.sort_by_key(|file| file.number);
    alike.sort();
    Ok((found, alike))
}

/// Short list of names: `1.h2w, 2.h2w, 3.h2w and 9 more`.
pub(super) fn short_list(names: &[String]) -> String {
    const MOST: usize = 8;
    match names.len().checked_sub(MOST) {
        None | Some(0) => names.join(", "),
        Some(more) => format!("{} and {more} more", names[..MOST].join(", ")),
    }
}
