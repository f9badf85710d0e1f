//! Folder of the journals: `$XDG_STATE_HOME/cardscope`, by default below `~/.local/state` (XDG Base Directory
//! Specification 0.8), never on the tested card, and with enough free space.

use crate::{JournalFailure, Result};

use cardscope_files::{FileError, ResolvedFolder, is_plain};
use cardscope_model::units::{BinarySize, MIB};
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

pub(crate) const PREFIX: &str = "journal-";

/// Path of the journals' folder, whether or not it exists.
pub fn journal_folder() -> Result<PathBuf> {
    // The specification says to ignore relative paths.
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")));
    let why = "no place for the journal: set XDG_STATE_HOME or HOME to a folder on another disk";
    state.map(|dir| dir.join("cardscope")).ok_or_else(|| JournalFailure::refused(why))
}

/// Creates and opens the folder, with room for `room` bytes and 5 % more. Refuses a folder on the card itself, which
/// `on_card` detects.
pub fn prepare_folder(target: &str, on_card: &dyn Fn(&Path) -> bool, room: u64) -> Result<ResolvedFolder> {
    let folder = journal_folder()?;
    let shown = folder.display();
    let elsewhere = "set XDG_STATE_HOME to a folder on another disk";
    let off_the_card = |path: &Path| match on_card(path) {
        false => Ok(()),
        true => Err(JournalFailure::refused(format!(
            "the journal would be on the card itself ({shown} is on {target}); {elsewhere}"
        ))),
    };
    let cannot = |e: FileError| {
        let text = format!("the journal's folder {shown} cannot be used: {e}; {elsewhere}");
        JournalFailure::refused_for(text, e)
    };
    // Checked before anything is created on the card, and again on the open folder, whichever path led there.
    off_the_card(&folder)?;
    let held = ResolvedFolder::open_or_create(&folder, 0o700).map_err(cannot)?;
    off_the_card(&held.proc_path())?;
    // Headers, tables and the writes of other programs need some more.
    let needed = room.saturating_add(room / 20);
    let free = held.free_bytes().map_err(|e| cannot(e.into()))?;
    if free < needed {
        let (needed, free) = (BinarySize(needed), BinarySize(free));
        return Err(JournalFailure::refused(format!(
            "the journal may need {needed} and {shown} has {free} free; free some space, limit the test (--budget, \
             --max-write), or {elsewhere}"
        )));
    }
    Ok(held)
}

/// Growth after which free space is checked again, and space that is left for others.
const SPACE_CHECK_STEP: u64 = 64 * MIB;

/// Length of the file at which free space must be checked again. Fails if the disk is nearly full: filling it would
/// stop other programs.
pub(crate) fn next_space_check(folder: &ResolvedFolder, end: u64) -> std::io::Result<u64> {
    match folder.free_bytes()? {
        free if free >= 2 * SPACE_CHECK_STEP => Ok(end + SPACE_CHECK_STEP),
        free => Err(std::io::Error::other(format!("only {} free there", BinarySize(free)))),
    }
}

/// Journals in the folder, oldest first.
pub fn pending_journals() -> Result<Vec<PathBuf>> {
    let cannot =
        |e: FileError| JournalFailure::refused_for(format!("the journal folder cannot be read: {e}"), e);
    let folder = match ResolvedFolder::open(&journal_folder()?) {
        Ok(folder) => folder,
        Err(e) if e.is_absent() => return Ok(Vec::new()),
        Err(FileError::Io(e)) if e.kind() == ErrorKind::NotADirectory => return Ok(Vec::new()),
        Err(e) => return Err(cannot(e)),
    };
    let ours = |name: &OsStr| {
        name.to_string_lossy().starts_with(PREFIX)
            && folder.stat(name).is_ok_and(|stat| stat.as_ref().is_some_and(is_plain))
    };
    let names = folder.names().map_err(cannot)?;
    Ok(names.iter().filter(|name| ours(name)).map(|name| folder.path().join(name)).collect())
}
