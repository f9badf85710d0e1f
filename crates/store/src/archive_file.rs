//! Location and safety checks of the archive's file, before SQLite opens it.
//!
//! The default path follows the XDG Base Directory Specification 0.8; the header is described in
//! <https://www.sqlite.org/fileformat2.html>, section 1.3.

use crate::ArchiveError;
use crate::error::Result;
use cardscope_files::{FileError, FileIdentity, FileUse, ResolvedFolder, is_plain, is_trusted};
use rustix::fs::{Access, access};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Permissions};
use std::io::ErrorKind;
use std::ops::Deref;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// SQLite's application id in the header of each archive: "CSc1".
const APPLICATION_ID: u32 = 0x4353_6331;

const MAGIC: &[u8; 16] = b"SQLite format 3\0";
const HEADER_BYTES: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArchiveFileState {
    /// No file, or an empty one: an archive is to be created.
    Empty,
    /// An archive, judged by its header.
    Archive,
}

pub(crate) fn default_path() -> Result<PathBuf> {
    // The specification has relative paths ignored.
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let data = absolute("XDG_DATA_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/share")));
    Ok(data.ok_or(ArchiveError::NoHome)?.join("cardscope/archive.sqlite"))
}

/// The archive's file and folder, held open while the archive is open.
#[derive(Debug)]
pub(crate) struct ArchiveFile {
    path: PathBuf,
    folder: ResolvedFolder,
    name: OsString,
    file: SharedFile,
    found: ArchiveFileState,
}

/// Creates folder and file for this user alone if missing, and checks them. Only root and this user may own or
/// replace any part of the path, because SQLite opens and removes its files by name.
pub(crate) fn open_checked(path: &Path) -> Result<ArchiveFile> {
    let failed = |e| from_file_error(path, e);
    let (folder, name) = ResolvedFolder::create_parent_of(path).map_err(failed)?;
    folder.require_stable_path().map_err(failed)?;
    let file = open_or_create(&folder, &name).map_err(failed)?;
    let system = |e| ArchiveError::from_io(path, &e);
    let about = file.metadata().map_err(system)?;
    if !is_trusted(about.uid()) {
        return Err(refused(path, format!("it is owned by user {}", about.uid())));
    }
    let mut place = ArchiveFile { path: path.to_owned(), folder, name, file, found: ArchiveFileState::Empty };
    // Another process may be creating the file now. The length is read before the header for "empty", and again
    // after a header was read, so that a file that grows in between is not called damaged.
    let empty = place.sizes()?;
    let header = read_header(&place.file).map_err(system)?;
    let bytes = if header.is_some() { place.sizes()? } else { empty };
    place.found = classify_header(path, bytes, header.as_ref())?;
    // Earlier versions created the file readable by everybody.
    if about.mode() & 0o077 != 0 {
        let _ = place.file.set_permissions(Permissions::from_mode(about.mode() & 0o700));
    }
    Ok(place)
}

impl ArchiveFile {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn state(&self) -> ArchiveFileState {
        self.found
    }

    /// Path with links resolved, for SQLite.
    pub(crate) fn resolved_path(&self) -> PathBuf {
        self.folder.path().join(&self.name)
    }

    /// True if nobody may write to it, root included: a read-only mount or an immutable file.
    pub(crate) fn is_read_only(&self) -> bool {
        access(self.resolved_path(), Access::WRITE_OK).is_err_and(|errno| is_read_only(errno.raw_os_error()))
    }

    /// True if a write-ahead log exists, so that the file alone may be incomplete.
    pub(crate) fn has_log(&self) -> bool {
        self.log_bytes().map_or(true, |bytes| bytes > 0)
    }

    /// Fails if SQLite's path leads to another file than the checked one, or if a neighbour file is foreign. Called
    /// before anything is written to the file that SQLite has opened.
    pub(crate) fn check_unchanged(&self) -> Result<()> {
        let system = |e| ArchiveError::from_io(&self.path, &e);
        let now = self.resolved_path().symlink_metadata().map_err(system)?;
        if FileIdentity::from(&now) != FileIdentity::of_file(&*self.file).map_err(system)? {
            return Err(refused(&self.path, "another file now has its name".to_owned()));
        }
        self.log_bytes().map(drop)
    }

    /// Bytes of the archive and of its write-ahead log.
    fn sizes(&self) -> Result<(u64, u64)> {
        let log = self.log_bytes()?;
        let about = self.file.metadata().map_err(|e| ArchiveError::from_io(&self.path, &e))?;
        Ok((about.len(), log))
    }

    /// Bytes of the write-ahead log. SQLite writes to any file that has the name of its log, so these must be plain
    /// files of this user with one link.
    fn log_bytes(&self) -> Result<u64> {
        let mut log = 0;
        for suffix in ["-wal", "-shm", "-journal"] {
            let mut name = self.name.clone();
            name.push(suffix);
            let Some(found) = self.folder.stat(&name).map_err(|e| from_file_error(&self.path, e))? else {
                continue;
            };
            if !is_plain(&found) || !is_trusted(found.st_uid) || found.st_nlink > 1 {
                let what = format!("{} is not an SQLite file", name.display());
                return Err(refused(&self.path, what));
            }
            if suffix == "-wal" {
                log = u64::try_from(found.st_size).unwrap_or_default();
            }
        }
        Ok(log)
    }

    /// Syncs the file and its directory entry.
    pub(crate) fn sync(&self) -> std::io::Result<()> {
        self.file.sync_all()?;
        Ok(self.folder.sync()?)
    }
}

/// Opens the file, or creates it; if another process creates it first, that file is opened.
fn open_or_create(folder: &ResolvedFolder, name: &OsStr) -> Result<SharedFile, FileError> {
    match SharedFile::open(folder, name) {
        Err(e) if e.is_absent() => match SharedFile::create(folder, name) {
            Err(FileError::Io(e)) if e.kind() == ErrorKind::AlreadyExists => SharedFile::open(folder, name),
            made => made,
        },
        opened => opened,
    }
}

fn is_read_only(errno: i32) -> bool {
    [Errno::ROFS, Errno::PERM].iter().any(|known| known.raw_os_error() == errno)
}

fn refused(path: &Path, reason: String) -> ArchiveError {
    ArchiveError::Refused(path.to_owned(), reason)
}

fn from_file_error(path: &Path, error: FileError) -> ArchiveError {
    match error {
        FileError::Io(error) => ArchiveError::from_io(path, &error),
        other => refused(path, other.to_string()),
    }
}

fn read_header(file: &File) -> std::io::Result<Option<[u8; HEADER_BYTES]>> {
    let mut header = [0; HEADER_BYTES];
    match file.read_exact_at(&mut header, 0) {
        Ok(()) => Ok(Some(header)),
        Err(e) if e.kind() == ErrorKind::UnexpectedEof => Ok(None),
        Err(e) => Err(e),
    }
}

fn classify_header(
    path: &Path,
    (bytes, log): (u64, u64),
    header: Option<&[u8; HEADER_BYTES]>,
) -> Result<ArchiveFileState> {
    let not_ours = |what: String| Err(ArchiveError::NotAnArchive(path.to_owned(), what));
    let damaged = |reason: String| Err(ArchiveError::Damaged(path.to_owned(), reason));
    let Some(header) = header else {
        return match (bytes, log) {
            (0, 0) => Ok(ArchiveFileState::Empty),
            (0, log) => damaged(format!("the file is empty, but has a log of {log} bytes")),
            _ => not_ours(format!("a file of {bytes} bytes")),
        };
    };
    if !header.starts_with(MAGIC) {
        return not_ours("a file of another kind".to_owned());
    }
    if read_be32(header, 68) != u64::from(APPLICATION_ID) {
        return not_ours("an SQLite database of another program".to_owned());
    }
    let expected = page_count(header) * page_size(header);
    // A short file with a log may be complete: SQLite restores the missing pages from the log.
    if bytes < expected && log == 0 {
        return damaged(format!("only {bytes} of {expected} bytes"));
    }
    Ok(ArchiveFileState::Archive)
}

fn read_be32(header: &[u8; HEADER_BYTES], at: usize) -> u64 {
    header[at..at + 4].iter().fold(0, |n, byte| n << 8 | u64::from(*byte))
}

fn page_size(header: &[u8; HEADER_BYTES]) -> u64 {
    match u64::from(header[16]) << 8 | u64::from(header[17]) {
        1 => 65_536,
        n => n,
    }
}

/// Pages of the file by its header; 0 unless the change counters agree, as the format demands.
fn page_count(header: &[u8; HEADER_BYTES]) -> u64 {
    if read_be32(header, 24) == read_be32(header, 92) { read_be32(header, 28) } else { 0 }
}

// Closing any descriptor of a file drops all locks of the process on it (fcntl(2), "Record locks"), including SQLite's.
// So all checks of one archive share a descriptor, which is closed when the last user is done.

static OPEN_FILES: Mutex<Vec<(FileIdentity, Weak<File>)>> = Mutex::new(Vec::new());

/// Shared descriptor of the archive's file. Must be dropped after SQLite has closed its own.
#[derive(Debug)]
struct SharedFile(Option<Arc<File>>);

impl SharedFile {
    fn open(folder: &ResolvedFolder, name: &OsStr) -> Result<SharedFile, FileError> {
        let mut open = lock_open_files();
        let there = folder.stat(name)?.as_ref().map(FileIdentity::from);
        let known = open.iter().find(|(identity, _)| Some(*identity) == there);
        if let Some(file) = known.and_then(|(_, file)| file.upgrade()) {
            return Ok(SharedFile(Some(file)));
        }
        let file = match folder.open_file(name, FileUse::Write) {
            // Read-only file systems and immutable files refuse to be opened for writing.
            Err(FileError::Io(e)) if e.raw_os_error().is_some_and(is_read_only) => {
                folder.open_file(name, FileUse::Read)
            }
            opened => opened,
        };
        SharedFile::register(file?, &mut open)
    }

    fn create(folder: &ResolvedFolder, name: &OsStr) -> Result<SharedFile, FileError> {
        let mut open = lock_open_files();
        SharedFile::register(folder.create(name, 0o600)?, &mut open)
    }

    fn register(file: File, open: &mut Vec<(FileIdentity, Weak<File>)>) -> Result<SharedFile, FileError> {
        let (identity, file) = (FileIdentity::of_file(&file)?, Arc::new(file));
        open.retain(|(_, file)| file.strong_count() > 0);
        open.push((identity, Arc::downgrade(&file)));
        Ok(SharedFile(Some(file)))
    }
}

impl Deref for SharedFile {
    type Target = File;

    fn deref(&self) -> &File {
        // Only `drop` takes the file out.
        self.0.as_ref().expect("an archive's file is there until it is dropped")
    }
}

impl Drop for SharedFile {
    /// Holds the list's lock, so that nobody opens the file between its last use and its closing.
    fn drop(&mut self) {
        let _open = lock_open_files();
        self.0 = None;
    }
}

fn lock_open_files() -> MutexGuard<'static, Vec<(FileIdentity, Weak<File>)>> {
    OPEN_FILES.lock().unwrap_or_else(PoisonError::into_inner)
}
