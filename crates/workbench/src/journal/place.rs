//! Where journals lie: `$XDG_STATE_HOME/cardscope/journal-*`, by default below `~/.local/state` (XDG Base Directory
//! Specification 0.8), never on the card itself, and only where there is room.

use crate::error::Failure;
use cardscope_device::filesystem;
use cardscope_files::{FileError, Folder, is_plain};
use cardscope_model::units::{BinarySize, MIB};
use std::ffi::OsStr;
use std::io::ErrorKind;
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

/// The folder, made where it was not there, fit to keep `room` bytes of a card, whose name and path are given.
pub(super) fn ready((target, card): (&str, &str), room: u64) -> Result<Folder, Failure> {
    let folder = folder()?;
    let off_the_card = |path: &Path| match filesystem::lies_on(path, card) {
        false => Ok(()),
        true => Err(Failure::Refused(format!(
            "the journal would lie on the card itself ({} is on {target}), where the test overwrites it; set XDG_STATE_HOME to a folder on another disk",
            folder.display()
        ))),
    };
    let cannot = |e: FileError| {
        Failure::Refused(format!(
            "the journal's folder {} cannot be used: {e}; set XDG_STATE_HOME to a folder on another disk",
            folder.display()
        ))
    };
    // Not even a folder is made on the card; and what is held is looked at again, by whatever way it was reached.
    off_the_card(&folder)?;
    let held = Folder::make(&folder, 0o700).map_err(cannot)?;
    off_the_card(&held.by_descriptor())?;
    let needed = with_reserve(room);
    let there = filesystem::room(&held.by_descriptor()).map_err(|e| cannot(e.into()))?.free;
    if there < needed {
        return Err(Failure::Refused(format!(
            "the journal may need {} and {} has {} left; make room there, limit the test (--budget, --max-write), or set XDG_STATE_HOME to a folder on another disk",
            BinarySize(needed),
            folder.display(),
            BinarySize(there)
        )));
    }
    Ok(held)
}

/// A journal that grows looks for room each time it has grown by this, and leaves as much to others.
const GROWTH: u64 = 64 * MIB;

/// Where a journal that has grown to `end` must look for room again.
///
/// # Errors
/// If the disk is nearly full: filling it would stop more than a test.
pub(super) fn room_beyond(folder: &Path, end: u64) -> std::io::Result<u64> {
    match filesystem::room(folder)?.free {
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
    let cannot = |e: FileError| Failure::Refused(format!("the folder of the journals cannot be read: {e}"));
    let folder = match Folder::open(&folder()?) {
        Ok(folder) => folder,
        Err(e) if e.is_absent() => return Ok(Vec::new()),
        Err(FileError::Io(e)) if e.kind() == ErrorKind::NotADirectory => return Ok(Vec::new()),
        Err(e) => return Err(cannot(e)),
    };
    let ours = |name: &OsStr| {
        name.to_string_lossy().starts_with(PREFIX)
            && folder.look(name).is_ok_and(|found| found.as_ref().is_some_and(is_plain))
    };
    let names = folder.names().map_err(cannot)?;
    Ok(names.iter().filter(|name| ours(name)).map(|name| folder.path().join(name)).collect())
}
