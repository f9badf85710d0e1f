//! Where journals lie: `$XDG_STATE_HOME/cardscope/journal-*`, by default below `~/.local/state` (XDG Base Directory
//! Specification 0.8), never on the card itself, and only where there is room.

use crate::error::JournalFailure;
use cardscope_engine::cause::ErrorCause;
use cardscope_files::{FileError, ResolvedFolder, is_plain};
use cardscope_model::units::{BinarySize, MIB};
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// How the names of journals begin.
pub(crate) const PREFIX: &str = "journal-";

/// The folder of the journals, whether it is there or not.
///
/// # Errors
/// If neither `XDG_STATE_HOME` nor `HOME` says where.
pub fn folder() -> Result<PathBuf, JournalFailure> {
    // The specification has relative paths ignored.
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")));
    state.map(|dir| dir.join("cardscope")).ok_or_else(|| {
        JournalFailure::Refused(
            "no place for the journal: set XDG_STATE_HOME or HOME to a folder on another \
                        disk"
                .into(),
        )
    })
}

/// The folder, made where it was not there, fit to hold `room` bytes of a card; `on_card` tells whether a path lies on it.
///
/// # Errors
/// A refusal: it would lie on the card itself, or the disk has not that room and 5 % more.
pub fn ready(
    target: &str,
    on_card: &dyn Fn(&Path) -> bool,
    room: u64,
) -> Result<ResolvedFolder, JournalFailure> {
    let folder = folder()?;
    let off_the_card = |path: &Path| {
        match on_card(path) {
        false => Ok(()),
        true => Err(JournalFailure::Refused(format!(
            "the journal would be on the card itself ({} is on {target}); set XDG_STATE_HOME to a folder on \
             another disk",
            folder.display()
        ).into())),
    }
    };
    let cannot = |e: FileError| {
        JournalFailure::Refused(ErrorCause::worded(
            format!(
                "the journal's folder {} cannot be used: {e}; set XDG_STATE_HOME to a folder on another disk",
                folder.display()
            ),
            e,
        ))
    };
    // Not even a folder is made on the card; and what is held is looked at again, by whatever way it was reached.
    off_the_card(&folder)?;
    let held = ResolvedFolder::make(&folder, 0o700).map_err(cannot)?;
    off_the_card(&held.by_descriptor())?;
    let needed = with_reserve(room);
    let there = held.free().map_err(|e| cannot(e.into()))?;
    if there < needed {
        return Err(JournalFailure::Refused(
            format!(
                "the journal may need {} and {} has {} free; free some space, limit the test (--budget, \
             --max-write), or set XDG_STATE_HOME to a folder on another disk",
                BinarySize(needed),
                folder.display(),
                BinarySize(there)
            )
            .into(),
        ));
    }
    Ok(held)
}

/// A journal that grows looks for room each time it has grown by this, and leaves as much to others.
const GROWTH: u64 = 64 * MIB;

/// Where a journal that has grown to `end` must look for room again.
///
/// # Errors
/// If the disk is nearly full: filling it would stop more than a test.
pub(crate) fn room_beyond(folder: &ResolvedFolder, end: u64) -> std::io::Result<u64> {
    match folder.free()? {
        free if free >= 2 * GROWTH => Ok(end + GROWTH),
        free => Err(std::io::Error::other(format!("only {} free there", BinarySize(free)))),
    }
}

/// 5 % more than what is saved (3.11): heads, tables, and what others write meanwhile.
fn with_reserve(room: u64) -> u64 {
    room.saturating_add(room / 20)
}

/// The journals that lie there, oldest first.
///
/// # Errors
/// If the folder cannot be read.
pub fn waiting() -> Result<Vec<PathBuf>, JournalFailure> {
    let cannot = |e: FileError| {
        JournalFailure::Refused(ErrorCause::worded(format!("the journal folder cannot be read: {e}"), e))
    };
    let folder = match ResolvedFolder::open(&folder()?) {
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
