//! Fills a folder under a temporary name and then moves it to its place. An existing folder is replaced only if it has
//! exactly the expected files, and only listed files are removed.

use crate::draft::is_unsupported;
use crate::folder::single_component;
use crate::{FileError, FileIdentity, ResolvedFolder, require_trusted_owner};
use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, RenameFlags};
use rustix::fs::{flock, mkdirat, renameat, renameat_with, unlinkat};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

/// Most levels of folders that are searched. Exports have one or two.
const DEEPEST: usize = 8;

#[derive(Debug)]
pub struct DraftFolder<'f> {
    parent: &'f ResolvedFolder,
    final_name: OsString,
    temporary_name: OsString,
    held: ResolvedFolder,
    /// Lock that separates a draft being written from one that a killed process left behind.
    _lock: OwnedFd,
    files: BTreeSet<PathBuf>,
    placed: bool,
}

impl<'f> DraftFolder<'f> {
    /// Creates a draft, and first removes one of the same name that a killed process left behind. Fails with
    /// [`FileError::Busy`] if another process is writing it.
    pub fn new(parent: &'f ResolvedFolder, last: &OsStr) -> Result<DraftFolder<'f>, FileError> {
        let mut temporary_name = OsString::from(".");
        temporary_name.push(single_component(last)?);
        temporary_name.push(".cardscope-part");
        match mkdirat(parent, &temporary_name, Mode::from_raw_mode(0o777)) {
            Err(Errno::EXIST) => clear_abandoned(parent, &temporary_name)?,
            made => made?,
        }
        let (held, _lock) = open_locked(parent, &temporary_name)?;
        let (final_name, files) = (last.to_owned(), BTreeSet::new());
        Ok(DraftFolder { parent, final_name, temporary_name, held, _lock, files, placed: false })
    }

    /// Creates a file in the folder, with missing folders on the way. The name must not lead out of the folder.
    pub fn create(&mut self, name: &Path) -> Result<File, FileError> {
        let parts = path_components(name)?;
        let (last, folders) = parts.split_last().ok_or(FileError::NotAName)?;
        let mut here = ResolvedFolder::from_fd(self.held.reopen_readable()?, self.held.path());
        for folder in folders {
            match mkdirat(&here, *folder, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => here = here.open_folder(folder)?,
                Err(errno) => return Err(errno.into()),
            }
        }
        // Listed before it exists, so that an incomplete file is removed, too.
        self.files.insert(name.to_owned());
        here.create(last, 0o666)
    }

    /// Gives the folder its name. `old` lists the files of the folder to be replaced, if there is one. Fails with
    /// [`FileError::Changed`] if that folder has other files by now, which stay.
    pub fn place(mut self, old: Option<&BTreeSet<PathBuf>>) -> Result<(), FileError> {
        sync_folders(&self.held, &self.files)?;
        match old {
            None => self.place_new()?,
            Some(old) => self.replace(old)?,
        }
        self.placed = true;
        let _ = self.parent.sync();
        Ok(())
    }

    /// For a name that is free or belongs to an empty folder.
    fn place_new(&self) -> Result<(), FileError> {
        match self.rename(RenameFlags::NOREPLACE) {
            Err(errno) if errno == Errno::EXIST || is_unsupported(errno) => {}
            other => return Ok(other?),
        }
        match renameat(self.parent, &self.temporary_name, self.parent, &self.final_name) {
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => Err(FileError::Changed),
            other => Ok(other?),
        }
    }

    /// Swaps the two names. The old folder can then be checked under a name that nobody else uses.
    fn replace(&self, old: &BTreeSet<PathBuf>) -> Result<(), FileError> {
        match self.rename(RenameFlags::EXCHANGE) {
            Err(errno) if is_unsupported(errno) => return self.replace_in_two_steps(old),
            other => other?,
        }
        let there = self.open_checked(&self.temporary_name, old);
        if there.is_err() {
            self.rename(RenameFlags::EXCHANGE)?;
        }
        remove_listed(self.parent, &self.temporary_name, &there?, old)
    }

    /// Opens a folder that must have exactly these files.
    fn open_checked(&self, name: &OsStr, files: &BTreeSet<PathBuf>) -> Result<ResolvedFolder, FileError> {
        let folder = self.parent.open_folder(name)?;
        if files_below(&folder)? == *files { Ok(folder) } else { Err(FileError::Changed) }
    }

    fn rename(&self, flags: RenameFlags) -> Result<(), Errno> {
        renameat_with(self.parent, &self.temporary_name, self.parent, &self.final_name, flags)
    }

    /// For file systems without RENAME_EXCHANGE (NFS, exFAT). For a short time nothing has the final name.
    fn replace_in_two_steps(&self, old: &BTreeSet<PathBuf>) -> Result<(), FileError> {
        let there = self.open_checked(&self.final_name, old)?;
        let mut aside = self.temporary_name.clone();
        aside.push("-old");
        renameat(self.parent, &self.final_name, self.parent, &aside)?;
        if let Err(errno) = renameat(self.parent, &self.temporary_name, self.parent, &self.final_name) {
            renameat(self.parent, &aside, self.parent, &self.final_name)?;
            return Err(errno.into());
        }
        remove_listed(self.parent, &aside, &there, old)
    }
}

impl Drop for DraftFolder<'_> {
    fn drop(&mut self) {
        let identity = FileIdentity::of_file(&self.held).ok();
        let named = self.parent.stat(&self.temporary_name).ok().flatten();
        if !self.placed && identity.is_some() && identity == named.as_ref().map(FileIdentity::from) {
            let _ = remove_listed(self.parent, &self.temporary_name, &self.held, &self.files);
        }
    }
}

/// Paths of all files below a folder, relative to it. Fails if anything but files and folders is in there.
pub fn files_below(folder: &ResolvedFolder) -> Result<BTreeSet<PathBuf>, FileError> {
    list_files(folder, Path::new(""), DEEPEST)
}

fn list_files(folder: &ResolvedFolder, path: &Path, levels: usize) -> Result<BTreeSet<PathBuf>, FileError> {
    let mut files = BTreeSet::new();
    for name in folder.names()? {
        let Some(stat) = folder.stat(&name)? else { continue };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => files.extend([path.join(&name)]),
            FileType::Directory if levels > 0 => {
                files.extend(list_files(&folder.open_folder(&name)?, &path.join(&name), levels - 1)?);
            }
            FileType::Directory => return Err(FileError::NotPlain("folder")),
            _ => return Err(FileError::NotPlain("link or device")),
        }
    }
    Ok(files)
}

fn path_components(name: &Path) -> Result<Vec<&OsStr>, FileError> {
    let part = |component| match component {
        Component::Normal(part) => Ok(part),
        _ => Err(FileError::NotAName),
    };
    name.components().map(part).collect()
}

/// Opens and locks the folder of a draft. Fails if another process has locked it.
fn open_locked(parent: &ResolvedFolder, name: &OsStr) -> Result<(ResolvedFolder, OwnedFd), FileError> {
    let held = parent.open_folder(name)?;
    require_trusted_owner(&held)?;
    let lock = held.reopen_readable()?;
    match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => Err(FileError::Busy),
        // Without locks an abandoned draft cannot be recognized, so every draft counts as abandoned.
        _ => Ok((held, lock)),
    }
}

/// Empties a draft that a killed process left behind. A folder of this name has nothing else.
fn clear_abandoned(parent: &ResolvedFolder, name: &OsStr) -> Result<(), FileError> {
    let (held, _lock) = open_locked(parent, name)?;
    remove_below(&held, &files_below(&held)?)
}

/// Removes the listed files, then the folder, which stays if it has other files.
fn remove_listed(
    parent: &ResolvedFolder,
    name: &OsStr,
    held: &ResolvedFolder,
    files: &BTreeSet<PathBuf>,
) -> Result<(), FileError> {
    remove_below(held, files)?;
    Ok(unlinkat(parent, name, AtFlags::REMOVEDIR)?)
}

fn remove_below(held: &ResolvedFolder, files: &BTreeSet<PathBuf>) -> Result<(), FileError> {
    let mut folders: BTreeSet<&Path> = BTreeSet::new();
    for file in files {
        folders.extend(file.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()));
        let (folder, last) = step_down(held, file)?;
        match unlinkat(&folder, last, AtFlags::empty()) {
            Err(Errno::NOENT) => {}
            removed => removed?,
        }
    }
    // Reverse order removes subfolders before their parents.
    for path in folders.into_iter().rev() {
        let (folder, last) = step_down(held, path)?;
        unlinkat(&folder, last, AtFlags::REMOVEDIR)?;
    }
    Ok(())
}

fn step_down<'p>(held: &ResolvedFolder, path: &'p Path) -> Result<(ResolvedFolder, &'p OsStr), FileError> {
    let parts = path_components(path)?;
    let (last, folders) = parts.split_last().ok_or(FileError::NotAName)?;
    let here = ResolvedFolder::from_fd(held.reopen_readable()?, held.path());
    Ok((folders.iter().try_fold(here, |here, folder| here.open_folder(folder))?, last))
}

fn sync_folders(held: &ResolvedFolder, files: &BTreeSet<PathBuf>) -> Result<(), FileError> {
    let folders: BTreeSet<&Path> = files.iter().flat_map(|file| file.ancestors().skip(1)).collect();
    for path in folders {
        if path.as_os_str().is_empty() {
            held.sync()?;
        } else {
            let (folder, last) = step_down(held, path)?;
            folder.open_folder(last)?.sync()?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;

    struct Place {
        real: tempfile::TempDir,
        parent: ResolvedFolder,
    }

    fn place() -> Place {
        let real = tempfile::tempdir().unwrap();
        let parent = ResolvedFolder::open(real.path()).unwrap();
        Place { real, parent }
    }

    impl Place {
        fn draft(&self) -> Result<DraftFolder<'_>, FileError> {
            DraftFolder::new(&self.parent, OsStr::new("out"))
        }

        fn filled(&self, content: &str) -> DraftFolder<'_> {
            let mut draft = self.draft().unwrap();
            for name in ["a/year=2026/part", "b"] {
                draft.create(Path::new(name)).unwrap().write_all(content.as_bytes()).unwrap();
            }
            draft
        }

        fn files(&self) -> BTreeSet<PathBuf> {
            files_below(&self.parent.open_folder(OsStr::new("out")).unwrap()).unwrap()
        }

        fn names(&self) -> Vec<OsString> {
            self.parent.names().unwrap()
        }

        fn content(&self) -> String {
            fs::read_to_string(self.real.path().join("out/a/year=2026/part")).unwrap()
        }
    }

    #[test]
    fn folder_that_cannot_be_checked_keeps_its_name() {
        let place = place();
        place.filled("first").place(None).unwrap();
        let old = place.files();
        std::os::unix::fs::symlink("b", place.real.path().join("out/link")).unwrap();
        let refused = place.filled("second").place(Some(&old)).unwrap_err();
        assert!(matches!(refused, FileError::NotPlain("link or device")), "{refused}");
        assert_eq!((place.names(), place.content().as_str()), (vec!["out".into()], "first"));
    }

    #[test]
    fn folder_is_placed_completely_or_not_at_all() {
        let place = place();
        drop(place.filled("half"));
        assert!(place.names().is_empty(), "nothing is left of it: {:?}", place.names());
        place.filled("first").place(None).unwrap();
        assert_eq!((place.names(), place.content().as_str()), (vec!["out".into()], "first"));
        let old = place.files();
        assert_eq!(old.len(), 2);
        drop(place.filled("half"));
        assert_eq!(place.content(), "first");
        place.filled("second").place(Some(&old)).unwrap();
        assert_eq!((place.names(), place.content().as_str()), (vec!["out".into()], "second"));
    }

    #[test]
    fn place_replaces_empty_folders_but_no_unlisted_files() {
        let place = place();
        let out = place.real.path().join("out");
        fs::create_dir(&out).unwrap();
        place.filled("first").place(None).unwrap();
        let old = place.files();
        fs::write(out.join("a/notes.txt"), "mine").unwrap();
        assert!(matches!(place.filled("second").place(Some(&old)), Err(FileError::Changed)));
        assert!(matches!(place.filled("second").place(None), Err(FileError::Changed)));
        assert_eq!(fs::read_to_string(out.join("a/notes.txt")).unwrap(), "mine");
        assert_eq!((place.names(), place.content().as_str()), (vec!["out".into()], "first"));
    }

    #[test]
    fn abandoned_draft_is_cleared_but_one_in_use_is_busy() {
        let place = place();
        let growing = place.filled("half");
        assert!(matches!(place.draft(), Err(FileError::Busy)));
        let left = place.real.path().join(".out.cardscope-part");
        assert!(left.join("b").exists());
        drop(growing);
        fs::create_dir_all(left.join("a")).unwrap();
        fs::write(left.join("a/part"), "half").unwrap();
        place.filled("whole").place(None).unwrap();
        assert_eq!((place.names(), place.content().as_str()), (vec!["out".into()], "whole"));
        assert_eq!(place.files().len(), 2);
    }

    #[test]
    fn draft_refuses_escaping_names_and_links() {
        let place = place();
        let mut draft = place.draft().unwrap();
        for name in ["../x", "/x", "a/../../x", ""] {
            assert!(draft.create(Path::new(name)).is_err(), "{name}");
        }
        drop(draft);
        std::os::unix::fs::symlink("/etc", place.real.path().join(".out.cardscope-part")).unwrap();
        assert!(place.draft().is_err());
    }
}
