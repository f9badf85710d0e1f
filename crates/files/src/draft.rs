//! Writes a file under a temporary name and then moves it to its place. An existing file is replaced only if it is the
//! one that the caller checked.

use crate::folder::single_component;
use crate::{FileError, FileIdentity, ResolvedFolder};
use rustix::fs::{Gid, Mode, RenameFlags, Uid, fchmod, fchown, fstat, renameat, renameat_with};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::ErrorKind;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;

/// Random names to try. Two drafts draw the same name only if somebody wants it.
const TRIES: u32 = 16;

/// Temporary file, removed when dropped unless it was moved to its place.
#[derive(Debug)]
pub struct DraftFile<'f> {
    folder: &'f ResolvedFolder,
    name: OsString,
    file: File,
    identity: FileIdentity,
    /// File to be replaced.
    old: Option<File>,
}

impl<'f> DraftFile<'f> {
    /// Creates a draft. `old` is the file to be replaced, as the caller checked it; without one nothing is replaced,
    /// and the new file gets `mode`, minus the umask.
    pub fn new(folder: &'f ResolvedFolder, old: Option<File>, mode: u32) -> Result<DraftFile<'f>, FileError> {
        let mode = match &old {
            // The unfinished file must not be readable for anybody who could not read the old one.
            Some(old) => old.metadata()?.mode() & 0o666 | 0o600,
            None => mode,
        };
        let mut tries = TRIES;
        let (name, file) = loop {
            let name = OsString::from(format!(".cardscope-{:016x}.part", RandomState::new().hash_one(tries)));
            match folder.create(&name, mode) {
                Err(FileError::Io(e)) if e.kind() == ErrorKind::AlreadyExists && tries > 0 => tries -= 1,
                created => break (name, created?),
            }
        };
        let identity = FileIdentity::of_file(&file)?;
        Ok(DraftFile { folder, name, file, identity, old })
    }

    pub fn file(&self) -> &File {
        &self.file
    }

    /// Syncs the file and gives it its name. A replaced file passes on its owner and mode. Fails with
    /// [`FileError::Changed`], and changes nothing, if the name belongs to another file by now.
    pub fn place(mut self, name: &OsStr) -> Result<(), FileError> {
        match self.old.take() {
            None => self.place_new(name)?,
            Some(old) => self.replace(name, &old)?,
        }
        let _ = self.folder.sync();
        Ok(())
    }

    fn place_new(&self, name: &OsStr) -> Result<(), FileError> {
        self.file.sync_all()?;
        let name = single_component(name)?;
        match self.rename(name, RenameFlags::NOREPLACE) {
            Err(errno) if is_unsupported(errno) => {
                // Without RENAME_NOREPLACE an exclusively created empty file reserves the name.
                let empty = FileIdentity::of_file(self.folder.create(name, 0o600)?)?;
                self.rename_over(name, empty).inspect_err(|_| drop(self.folder.remove(name, empty)))
            }
            other => Ok(other?),
        }
    }

    fn replace(&self, name: &OsStr, old: &File) -> Result<(), FileError> {
        let identity = FileIdentity::of_file(old)?;
        copy_owner(&self.file, old)?;
        self.file.sync_all()?;
        // Swaps the two names. The old file can then be checked where nobody else exchanges it.
        let name = single_component(name)?;
        match self.rename(name, RenameFlags::EXCHANGE) {
            Err(errno) if is_unsupported(errno) => return self.rename_over(name, identity),
            swapped => swapped?,
        }
        match self.folder.remove(&self.name, identity) {
            Ok(true) => Ok(()),
            // It is another file, or cannot be checked: both get their names back.
            kept => {
                self.rename(name, RenameFlags::EXCHANGE)?;
                kept.and(Err(FileError::Changed))
            }
        }
    }

    fn rename(&self, name: &OsStr, flags: RenameFlags) -> Result<(), Errno> {
        renameat_with(self.folder, &self.name, self.folder, name, flags)
    }

    /// For file systems without RENAME_EXCHANGE (NFS, older FAT). A short race between check and rename remains.
    fn rename_over(&self, name: &OsStr, old: FileIdentity) -> Result<(), FileError> {
        if self.folder.stat(name)?.is_none_or(|stat| FileIdentity::from(&stat) != old) {
            return Err(FileError::Changed);
        }
        Ok(renameat(self.folder, &self.name, self.folder, single_component(name)?)?)
    }
}

impl Drop for DraftFile<'_> {
    fn drop(&mut self) {
        // A placed file has another name by now, so nothing is found under this one.
        let _ = self.folder.remove(&self.name, self.identity);
    }
}

pub(crate) fn is_unsupported(errno: Errno) -> bool {
    matches!(errno, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
}

/// Copies owner and mode, or neither: a mode means something else for another owner. Drops set-user-ID bits.
fn copy_owner(file: impl AsFd, old: impl AsFd) -> Result<(), FileError> {
    let old = fstat(old)?;
    let (user, group) = (Uid::from_raw(old.st_uid), Gid::from_raw(old.st_gid));
    if fchown(&file, Some(user), Some(group)).is_ok() {
        // FAT and similar file systems refuse, and store no mode anyway.
        let _ = fchmod(&file, Mode::from_raw_mode(old.st_mode & 0o777));
    }
    Ok(())
}
