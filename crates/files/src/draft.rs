//! A file in the making: written beside its place, then moved there whole. What had the name before is replaced only
//! if it is the very file that was judged.

use crate::folder::single;
use crate::{FileError, FileIdentity, ResolvedFolder};
use rustix::fs::{Gid, Mode, RenameFlags, Uid, fchmod, fchown, fstat, renameat, renameat_with};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;

/// Names that are tried; two runs never draw the same one but by ill will.
const TRIES: u32 = 16;

/// A file without its name yet; gone with the value unless it was moved into place.
#[derive(Debug)]
pub struct DraftFile<'f> {
    folder: &'f ResolvedFolder,
    name: OsString,
    file: File,
    identity: FileIdentity,
    /// What it is going to replace.
    old: Option<File>,
}

impl<'f> DraftFile<'f> {
    /// Begins one in a folder. `old` is the file that it will replace, as it was judged; where it is `None`, nothing will
    /// be replaced, and the rights are `mode` without what the umask takes away.
    ///
    /// # Errors
    /// If no file can be made there.
    pub fn new(folder: &'f ResolvedFolder, old: Option<File>, mode: u32) -> Result<DraftFile<'f>, FileError> {
        let mode = match &old {
            // Nobody may read the new one, unfinished, who could not read the old one.
            Some(old) => old.metadata()?.mode() & 0o666 | 0o600,
            None => mode,
        };
        let mut tries = TRIES;
        loop {
            let name = OsString::from(format!(".cardscope-{:016x}.part", RandomState::new().hash_one(tries)));
            match folder.create(&name, mode) {
                Ok(file) => {
                    let identity = FileIdentity::of(&file)?;
                    return Ok(DraftFile { folder, name, file, identity, old });
                }
                Err(FileError::Io(e)) if e.kind() == std::io::ErrorKind::AlreadyExists && tries > 0 => {
                    tries -= 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The file to write to.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Syncs it and gives it its name. Where it replaces a file, it takes over the owner and the rights of that file.
    ///
    /// # Errors
    /// If another file than the one to be replaced has the name by now, which stays then; or the system says no.
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
        match renameat_with(self.folder, &self.name, self.folder, single(name)?, RenameFlags::NOREPLACE) {
            Err(errno) if cannot(errno) => {
                // A file system without that promise still makes names exclusively.
                let empty = FileIdentity::of(self.folder.create(name, 0o600)?)?;
                self.rename_over(name, empty).inspect_err(|_| drop(self.folder.remove(name, empty)))
            }
            other => Ok(other?),
        }
    }

    fn replace(&self, name: &OsStr, old: &File) -> Result<(), FileError> {
        let identity = FileIdentity::of(old)?;
        take_over(&self.file, old)?;
        self.file.sync_all()?;
        match self.exchange(name) {
            Err(FileError::Io(e)) if Errno::from_io_error(&e).is_some_and(cannot) => {
                self.rename_over(name, identity)
            }
            other => other.and_then(|()| self.must_have_been(name, identity)),
        }
    }

    /// The two files swap names: what had the name is looked at when it cannot be exchanged for another any more.
    fn exchange(&self, name: &OsStr) -> Result<(), FileError> {
        let flags = RenameFlags::EXCHANGE;
        Ok(renameat_with(self.folder, &self.name, self.folder, single(name)?, flags)?)
    }

    fn must_have_been(&self, name: &OsStr, old: FileIdentity) -> Result<(), FileError> {
        if self.folder.remove(&self.name, old)? {
            return Ok(());
        }
        self.exchange(name)?;
        Err(FileError::Changed)
    }

    /// For file systems that cannot exchange names (NFS, older FAT): between the look and the move a moment is left.
    fn rename_over(&self, name: &OsStr, old: FileIdentity) -> Result<(), FileError> {
        match self.folder.look(name)? {
            Some(found) if FileIdentity::from(&found) == old => {
                Ok(renameat(self.folder, &self.name, self.folder, single(name)?)?)
            }
            _ => Err(FileError::Changed),
        }
    }
}

impl Drop for DraftFile<'_> {
    fn drop(&mut self) {
        // What was moved into place has another name by now, and is not found under this one.
        let _ = self.folder.remove(&self.name, self.identity);
    }
}

fn cannot(errno: Errno) -> bool {
    matches!(errno, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
}

/// Both or neither: rights that were given to one owner and group mean something else for others. No set-user-ID.
fn take_over(file: impl AsFd, old: impl AsFd) -> Result<(), FileError> {
    let old = fstat(old)?;
    let owner = (Some(Uid::from_raw(old.st_uid)), Some(Gid::from_raw(old.st_gid)));
    if fchown(&file, owner.0, owner.1).is_ok() {
        // A file system without rights of its own (FAT) refuses, and needs none.
        let _ = fchmod(&file, Mode::from_raw_mode(old.st_mode & 0o777));
    }
    Ok(())
}
