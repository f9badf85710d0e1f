//! Where journals lie: `$XDG_STATE_HOME/cardscope/journal-*`, by default below `~/.local/state` (XDG Base Directory
//! Specification 0.8), never on the card itself, and only where there is room.

use crate::error::Failure;
use cardscope_device::filesystem;
use cardscope_model::units::{BinarySize, MIB};
use std::fs::{DirBuilder, File};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// How the names of journals begin.
pub(super) const PREFIX: &str = "journal-";

/// The folder of the journals, whether it is there or not.
///
/// # Errors
/// If neither `XDG_STATE_HOME` nor `HOME` says where.
pub(crate) fn folder() -> Result<PathBuf, Failure> {
    // The specification has relative paths ignored.
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")));
    state.map(|dir| dir.join("cardscope")).ok_or_else(|| {
        Failure::refused("no place for the journal: neither XDG_STATE_HOME nor HOME is set; set XDG_STATE_HOME to a folder on another disk than the card")
    })
}

/// The folder, made where it was not there, fit to keep `room` bytes of a card.
pub(super) fn ready(target: &str, room: u64) -> Result<PathBuf, Failure> {
    let folder = folder()?;
    if filesystem::lies_on(&folder, target) {
        return Err(Failure::Refused(format!(
            "the journal would lie on the card itself ({} is on {target}), where the test overwrites it; set XDG_STATE_HOME to a folder on another disk",
            folder.display()
        )));
    }
    let cannot = |e: std::io::Error| {
        Failure::Refused(format!(
            "the journal's folder {} cannot be used: {e}; set XDG_STATE_HOME to a folder on another disk",
            folder.display()
        ))
    };
    DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(cannot)?;
    let needed = with_reserve(room);
    let there = filesystem::room(&folder).map_err(cannot)?.free;
    if there < needed {
        return Err(Failure::Refused(format!(
            "the journal may need {} and {} has {} left; make room there, limit the test (--budget, --max-write), or set XDG_STATE_HOME to a folder on another disk",
            BinarySize(needed),
            folder.display(),
            BinarySize(there)
        )));
    }
    Ok(folder)
}

/// A journal that grows looks for room each time it has grown by this, and leaves as much to others.
const GROWTH: u64 = 64 * MIB;

/// Where a journal that has grown to `end` must look for room again.
///
/// # Errors
/// If the disk is nearly full: filling it would stop more than a test.
pub(super) fn room_beyond(journal: &Path, end: u64) -> std::io::Result<u64> {
    match filesystem::room(journal)?.free {
        free if free >= 2 * GROWTH => Ok(end + GROWTH),
        free => Err(std::io::Error::other(format!("only {} are free there", BinarySize(free)))),
    }
}

/// 5 % more than what is kept (3.11): heads, tables, and what others write meanwhile.
fn with_reserve(room: u64) -> u64 {
    room.saturating_add(room / 20)
}

/// The journals that lie there, oldest first.
pub(crate) fn waiting() -> Result<Vec<PathBuf>, Failure> {
    let folder = folder()?;
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => {
            return Err(Failure::Refused(format!("{} cannot be looked at: {e}", folder.display())));
        }
    };
    let ours = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX)) && path.is_file()
    };
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(ours).collect();
    found.sort();
    Ok(found)
}

/// Has the name of a file in its folder on disk.
pub(crate) fn sync_folder(file: &Path) -> std::io::Result<()> {
    let folder = file.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}
