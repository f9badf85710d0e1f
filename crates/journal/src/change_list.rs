//! List of ranges that may have changed on the card: a text file beside the journal or image, with first byte and
//! length of each range.

use cardscope_engine::journal::SavedRange;
use cardscope_files::{DraftFile, FileError, FileIdentity, ResolvedFolder};
use cardscope_model::report::ChangedBlocks;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::Path;

const PREFIX: &str = "changed-";

/// Name of the list that belongs to a journal or image.
fn list_name(saved: &OsStr) -> OsString {
    let name = saved.to_string_lossy();
    let own = name.strip_prefix(crate::folder::PREFIX).unwrap_or(&name);
    OsString::from(format!("{PREFIX}{own}"))
}

/// Writes the list beside the file `saved`, replacing an older one, and counts its ranges; `None` if there are none.
/// The result names no file if writing failed.
pub(crate) fn save_list(
    folder: &ResolvedFolder,
    saved: &OsStr,
    target: &str,
    ranges: &[SavedRange],
) -> Option<ChangedBlocks> {
    let changed = ChangedBlocks::from_ranges(ranges.iter().map(|range| (range.offset, range.len)))?;
    let name = list_name(saved);
    let written = write_list(folder, &name, target, ranges);
    let file = written.ok().map(|()| folder.path().join(&name).display().to_string());
    Some(ChangedBlocks { file, ..changed })
}

/// Like [`list`], for a file given by its path.
pub(crate) fn save_list_beside(saved: &Path, target: &str, ranges: &[SavedRange]) -> Option<ChangedBlocks> {
    let counted = ChangedBlocks::from_ranges(ranges.iter().map(|range| (range.offset, range.len)));
    match ResolvedFolder::parent_of(saved) {
        Ok((folder, name)) => save_list(&folder, &name, target, ranges),
        Err(_) => counted,
    }
}

fn write_list(at: &ResolvedFolder, name: &OsStr, card: &str, ranges: &[SavedRange]) -> Result<(), FileError> {
    let draft = DraftFile::new(at, at.open_existing(name)?, 0o600)?;
    let target: String = card.escape_debug().collect();
    let mut text = format!("# {target}: ranges that may have changed, first byte and bytes\n");
    ranges.iter().for_each(|range| text.push_str(&format!("{} {}\n", range.offset, range.len)));
    draft.file().write_all(text.as_bytes())?;
    draft.place(name)
}

pub(crate) fn remove_list(folder: &ResolvedFolder, saved: &OsStr) -> Result<(), FileError> {
    let name = list_name(saved);
    if let Some(file) = folder.open_existing(&name)? {
        folder.remove(&name, FileIdentity::of_file(&file)?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn change_list_is_replaced_and_removed_with_its_journal() {
        let dir = tempfile::tempdir().unwrap();
        let folder = ResolvedFolder::open(dir.path()).unwrap();
        let saved = OsStr::new("journal-1");
        let ranges = |n: u64| -> Vec<SavedRange> {
            (0..n).map(|at| SavedRange { offset: at * 8192, len: 512 }).collect()
        };
        for n in [3, 2] {
            let changed = save_list(&folder, saved, "/dev/sd\nz", &ranges(n)).unwrap();
            let file = dir.path().join("changed-1");
            assert_eq!((changed.blocks, changed.bytes, changed.file.as_deref()), (n, n * 512, file.to_str()));
            let text = std::fs::read_to_string(file).unwrap();
            assert_eq!(
                text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>(),
                (0..n).map(|at| format!("{} 512", at * 8192)).collect::<Vec<_>>()
            );
        }
        remove_list(&folder, saved).unwrap();
        remove_list(&folder, saved).unwrap();
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        assert_eq!(save_list(&folder, saved, "/dev/sdz", &[]), None);
    }
}
