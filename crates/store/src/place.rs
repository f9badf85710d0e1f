//! Where the archive lies, and whether what lies there is one: looked at before SQLite may touch it.
//!
//! The default place follows the XDG Base Directory Specification 0.8; the bytes looked at are those of
//! <https://www.sqlite.org/fileformat2.html>, section 1.3.

use crate::ArchiveError;
use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Stands in each archive's header, so that no other program's database is taken for one: "CSc1".
const APPLICATION_ID: u32 = 0x4353_6331;

const MAGIC: &[u8; 16] = b"SQLite format 3\0";
const HEADER: usize = 100;

/// What was found at the archive's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// Nothing, or an empty file: an archive is to be made.
    Nothing,
    /// An archive, as far as its header tells.
    Archive,
}

/// The archive's path where none is given.
pub(crate) fn default_path() -> Result<PathBuf, ArchiveError> {
    // The specification has relative paths ignored.
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let data = absolute("XDG_DATA_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/share")));
    Ok(data.ok_or(ArchiveError::NoHome)?.join("cardscope/archive.sqlite"))
}

/// Makes the folder, opens the file for writing once to hear the system's own reason if it refuses, and looks at
/// what is there.
pub(crate) fn look(path: &Path) -> Result<Found, ArchiveError> {
    if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|e| ArchiveError::of_system(folder, &e))?;
    }
    let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
    let file = open.map_err(|e| ArchiveError::of_system(path, &e))?;
    let bytes = || file.metadata().map(|m| m.len()).map_err(|e| ArchiveError::of_system(path, &e));
    let mut before = bytes()?;
    // Another process may be making it: header and size belong together only where it did not grow in between.
    loop {
        let header = header(&file).map_err(|e| ArchiveError::of_system(path, &e))?;
        let judged = judge(path, before, header.as_ref());
        let after = bytes()?;
        if after == before || judged.is_ok() {
            return judged;
        }
        before = after;
    }
}

fn header(file: &File) -> std::io::Result<Option<[u8; HEADER]>> {
    let mut header = [0; HEADER];
    match file.read_exact_at(&mut header, 0) {
        Ok(()) => Ok(Some(header)),
        Err(e) if e.kind() == ErrorKind::UnexpectedEof => Ok(None),
        Err(e) => Err(e),
    }
}

fn judge(path: &Path, bytes: u64, header: Option<&[u8; HEADER]>) -> Result<Found, ArchiveError> {
    let not_ours = |what: String| Err(ArchiveError::NotAnArchive { path: path.to_owned(), what });
    let damaged = |reason: String| Err(ArchiveError::Damaged { path: path.to_owned(), reason });
    let Some(header) = header else {
        return match (bytes, log_bytes(path)) {
            (0, 0) => Ok(Found::Nothing),
            (0, log) => damaged(format!("the file is empty, and a log of {log} bytes lies beside it")),
            _ => not_ours(format!("a file of {bytes} bytes")),
        };
    };
    if !header.starts_with(MAGIC) {
        return not_ours("a file of another kind".to_owned());
    }
    if number(header, 68) != u64::from(APPLICATION_ID) {
        return not_ours("an SQLite database of another program".to_owned());
    }
    let expected = pages(header) * page_bytes(header);
    // With a log beside it a short file may be whole: SQLite puts the pages back from there.
    if bytes < expected && log_bytes(path) == 0 {
        return damaged(format!("{bytes} bytes of {expected} are there"));
    }
    Ok(Found::Archive)
}

fn number(header: &[u8; HEADER], at: usize) -> u64 {
    header[at..at + 4].iter().fold(0, |n, byte| n << 8 | u64::from(*byte))
}

fn page_bytes(header: &[u8; HEADER]) -> u64 {
    match u64::from(header[16]) << 8 | u64::from(header[17]) {
        1 => 65_536,
        n => n,
    }
}

/// Pages the file says it has; believed only where the change counters agree, as the format demands.
fn pages(header: &[u8; HEADER]) -> u64 {
    if number(header, 24) == number(header, 92) { number(header, 28) } else { 0 }
}

fn log_bytes(path: &Path) -> u64 {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(log).map_or(0, |m| m.len())
}
