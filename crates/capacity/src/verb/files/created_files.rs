//! Files created by this run. At its end these are removed and no others: before a removal or a read the file is
//! compared with the created one.

use super::mounted_folder::MountedFolder;
use crate::probe::files::{TestFolder, file_name, holds_pattern};
use cardscope_device::filesystem;
use cardscope_engine::cause::ErrorCause;
use cardscope_engine::real::{RealOptions, RealTarget};
use cardscope_engine::target::Target;
use cardscope_files::{FileIdentity, FileUse, is_plain};
use cardscope_probing::sector::SECTOR;
use rustix::fs::{Stat, fstat};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Error, ErrorKind};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

/// File systems without persistent inode numbers, whose files may get a new number at each lookup.
const WITHOUT_INODES: [&str; 2] = ["vfat", "exfat"];

pub(super) struct CreatedFiles {
    pub(super) folder: MountedFolder,
    options: RealOptions,
    files: Vec<CreatedFile>,
    /// File that is being written.
    last: Option<(u64, File)>,
}

#[derive(Debug, Clone, Copy)]
struct CreatedFile {
    number: u64,
    identity: FileIdentity,
    bytes: u64,
}

impl CreatedFiles {
    pub(super) fn new(folder: MountedFolder, options: RealOptions) -> Self {
        CreatedFiles { folder, options, files: Vec::new(), last: None }
    }

    /// Records a created file, or its new length.
    fn record_created(&mut self, number: u64, file: &File) -> io::Result<()> {
        let found = fstat(file)?;
        self.files.retain(|own| own.number != number);
        let (identity, bytes) = (FileIdentity::from(&found), file_bytes(&found));
        self.files.push(CreatedFile { number, identity, bytes });
        Ok(())
    }

    /// Opens a file for reading. A file of this run must still be the created one.
    fn open_checked(&self, number: u64) -> io::Result<File> {
        let file = self.folder.held.open_file(OsStr::new(&file_name(number)), FileUse::Read)?;
        let Some(own) = self.files.iter().find(|own| own.number == number) else { return Ok(file) };
        let found = fstat(&file)?;
        let ours = own.is_same_file(&found) || has_volatile_inodes(&self.folder) && own.may_be_same(&found);
        if ours { Ok(file) } else { Err(replaced_error()) }
    }

    /// Removes all files of this run, and returns those that stay with the reason.
    pub(super) fn remove_all(&mut self) -> Vec<String> {
        let own = std::mem::take(&mut self.files).into_iter();
        let stayed = |own: CreatedFile| {
            let why = own.remove(&self.folder).err()?;
            Some(format!("{} ({why})", self.folder.file_path(own.number).display()))
        };
        own.filter_map(stayed).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    fn with_path(&self, number: u64, error: Error) -> ErrorCause {
        ErrorCause::with_message(format!("{}: {error}", self.folder.file_path(number).display()), error)
    }
}

impl TestFolder for CreatedFiles {
    fn create(&mut self, number: u64, bytes: u64) -> Result<Option<Box<dyn Target>>, ErrorCause> {
        let name = file_name(number);
        let file = match self.folder.held.create(OsStr::new(&name), 0o644).map_err(Error::from) {
            Err(e) if matches!(e.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => {
                return Ok(None);
            }
            made => made.map_err(|e| self.with_path(number, e))?,
        };
        let twin = self.record_created(number, &file).and_then(|()| file.try_clone());
        let twin = twin.map_err(|e| self.with_path(number, e))?;
        self.last = Some((number, file));
        let path = self.folder.file_path(number);
        Ok(Some(Box::new(RealTarget::new_file(twin.into(), &path, bytes, self.options.clone())?)))
    }

    fn finish_file(&mut self, bytes: u64) -> Result<(), ErrorCause> {
        let Some((number, file)) = self.last.take() else { return Ok(()) };
        let cut = truncate_to(&file, bytes);
        let noted = self.record_created(number, &file);
        cut.and(noted).map_err(|e| self.with_path(number, e))
    }

    fn remove(&mut self, number: u64) -> Result<(), ErrorCause> {
        let Some(at) = self.files.iter().position(|own| own.number == number) else { return Ok(()) };
        Ok(self.files.remove(at).remove(&self.folder)?)
    }

    fn open(&self, number: u64) -> Result<Box<dyn Target>, ErrorCause> {
        let path = self.folder.file_path(number);
        let cannot = |e| ErrorCause::with_message(format!("opening {} for reading: {e}", path.display()), e);
        let file = self.open_checked(number).map_err(cannot)?;
        Ok(Box::new(RealTarget::existing_file(file.into(), &path, self.options.clone())?))
    }

    fn read_at(&self, number: u64, offset: u64, into: &mut [u8]) -> Result<(), ErrorCause> {
        Ok(self.open_checked(number)?.read_exact_at(into, offset)?)
    }

    fn card_address(&self, number: u64, offset: u64) -> Option<u64> {
        filesystem::device_offset(&self.open_checked(number).ok()?, offset)
    }
}

/// Truncates data of failed I/Os, and releases preallocated blocks.
fn truncate_to(file: &File, bytes: u64) -> io::Result<()> {
    // Reopened, since the kernel reports a failed write once per open file description, and the flush has consumed
    // the report of this one.
    let again = File::options().write(true).open(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    again.set_len(bytes)?;
    again.sync_data()
}

fn replaced_error() -> io::Error {
    io::Error::other("it was replaced by another file")
}

/// True if a file may have another inode number at the next lookup.
fn has_volatile_inodes(folder: &MountedFolder) -> bool {
    WITHOUT_INODES.contains(&folder.system.name.as_str())
}

fn file_bytes(found: &Stat) -> u64 {
    u64::try_from(found.st_size).unwrap_or_default()
}

impl CreatedFile {
    fn is_same_file(&self, found: &Stat) -> bool {
        FileIdentity::from(found) == self.identity && self.may_be_same(found)
    }

    fn may_be_same(&self, found: &Stat) -> bool {
        is_plain(found) && found.st_dev == self.identity.device && file_bytes(found) == self.bytes
    }

    fn remove(self, folder: &MountedFolder) -> io::Result<()> {
        let name = file_name(self.number);
        let name = OsStr::new(&name);
        let Some(found) = folder.held.stat(name)? else { return Ok(()) };
        let ours = self.is_same_file(&found) || self.is_same_by_content(folder, &found);
        if ours && folder.held.remove(name, FileIdentity::from(&found))? {
            Ok(())
        } else {
            Err(replaced_error())
        }
    }

    /// Compares by content if inode numbers are not persistent.
    fn is_same_by_content(&self, folder: &MountedFolder, found: &Stat) -> bool {
        let open = || folder.held.open_file(OsStr::new(&file_name(self.number)), FileUse::Read);
        let may_be = has_volatile_inodes(folder) && self.may_be_same(found);
        may_be && open().is_ok_and(|file| self.holds_the_pattern(&file))
    }

    /// True if the first or last sector has the test pattern of any offset: a card that wraps returns data of
    /// another one, and a bad card may have lost one of the two.
    fn holds_the_pattern(&self, file: &File) -> bool {
        let sectors = self.bytes / SECTOR as u64;
        let Some(last) = sectors.checked_sub(1) else { return self.bytes == 0 };
        [0, last].into_iter().any(|number| {
            let mut sector = [0; SECTOR];
            file.read_exact_at(&mut sector, number * SECTOR as u64).is_ok() && holds_pattern(&sector)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::{Path, PathBuf};

    /// Folder with one file that counts as created by this run.
    fn folder_with_created_file() -> (tempfile::TempDir, CreatedFiles, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let folder = MountedFolder::open(dir.path().to_str().unwrap(), None).unwrap();
        let path = dir.path().join("1.h2w");
        std::fs::write(&path, "ours").unwrap();
        let mut own = CreatedFiles::new(folder, RealOptions::default());
        own.record_created(1, &File::open(&path).unwrap()).unwrap();
        (dir, own, path)
    }

    fn text(path: &Path) -> String {
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn replaced_file_is_not_removed() {
        let (dir, mut own, ours) = folder_with_created_file();
        std::fs::rename(&ours, dir.path().join("kept")).unwrap();
        std::fs::write(&ours, "the user's").unwrap();
        assert_eq!(own.remove_all().len(), 1);
        assert_eq!(text(&ours), "the user's");
    }

    #[test]
    fn equal_length_or_inode_alone_is_not_the_created_file() {
        let (dir, mut own, ours) = folder_with_created_file();
        std::fs::rename(&ours, dir.path().join("kept")).unwrap();
        std::fs::write(&ours, "user").unwrap();
        assert_eq!(own.remove_all().len(), 1, "as long as ours");
        assert_eq!(text(&ours), "user");
        own.record_created(1, &File::open(&ours).unwrap()).unwrap();
        std::fs::write(&ours, "the user wrote into it").unwrap();
        assert_eq!(own.remove_all().len(), 1, "the same inode");
        assert!(ours.exists());
    }

    #[test]
    fn replaced_file_is_not_read() {
        let (dir, own, ours) = folder_with_created_file();
        own.open_checked(1).unwrap();
        std::fs::rename(&ours, dir.path().join("kept")).unwrap();
        std::fs::write(&ours, "user").unwrap();
        assert!(own.open_checked(1).is_err());
        std::fs::rename(&ours, dir.path().join("2.h2w")).unwrap();
        own.open_checked(2).unwrap();
    }

    #[test]
    fn pattern_is_recognized_in_first_or_last_sector() {
        let (_dir, own, path) = folder_with_created_file();
        let mut content: Vec<u8> = (0..4)
            .flat_map(|n| cardscope_engine::content::h2w::sector_words(n * 512))
            .flat_map(u64::to_le_bytes)
            .collect();
        let holds = |content: &[u8]| {
            std::fs::write(&path, content).unwrap();
            let file = File::open(&path).unwrap();
            CreatedFile { bytes: content.len() as u64, ..own.files[0] }.holds_the_pattern(&file)
        };
        assert!(holds(&content) && holds(&[]));
        content[..512].fill(0xff);
        assert!(holds(&content), "its first sector is lost");
        content[1536..].fill(7);
        assert!(!holds(&content));
    }

    #[test]
    fn missing_file_is_no_error_on_removal() {
        let (_dir, mut own, path) = folder_with_created_file();
        std::fs::remove_file(&path).unwrap();
        assert!(own.remove_all().is_empty() && own.is_empty());
    }
}
