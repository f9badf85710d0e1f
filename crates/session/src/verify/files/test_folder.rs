//! The files of a test in a folder of the system: made, opened and removed without touching any of the user's.

use super::folder::Folder;
use super::own::OwnFiles;
use cardscope_device::filesystem;
use cardscope_engine::card::Stop;
use cardscope_engine::real::{RealOptions, RealTarget};
use cardscope_engine::target::Target;
use cardscope_files::Use;
use cardscope_probe::files::{FilesError, Named, Reason, TestFolder, file_name};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// A folder, and what this run made in it.
pub(super) struct Files {
    folder: Folder,
    options: RealOptions,
    own: OwnFiles,
    /// The file that was made last.
    last: Option<(u64, File)>,
}

impl Files {
    pub(super) fn new(folder: Folder, options: RealOptions) -> Self {
        Files { folder, options, own: OwnFiles::default(), last: None }
    }

    /// Removes what this run made; gives what stayed, with the reason.
    pub(super) fn remove_all(&mut self) -> Vec<String> {
        self.own.remove_all(&self.folder)
    }

    /// True where nothing of this run is left.
    pub(super) fn is_empty(&self) -> bool {
        self.own.is_empty()
    }

    /// The folder's name, where it leads to another one by now.
    pub(super) fn was_replaced(&self) -> Option<PathBuf> {
        (!self.folder.held.is_at(&self.folder.path)).then(|| self.folder.path.clone())
    }

    fn file(&self, number: u64) -> io::Result<File> {
        let file = self.folder.held.open_file(OsStr::new(&file_name(number)), Use::Read)?;
        self.own.check(&self.folder, number, &file).map(|()| file)
    }

    fn failed(&self, number: u64, source: io::Error) -> FilesError {
        FilesError::File { path: self.path(number), source }
    }
}

impl TestFolder for Files {
    fn path(&self, number: u64) -> PathBuf {
        self.folder.file(number)
    }

    fn create(&mut self, number: u64, bytes: u64) -> Result<Option<Box<dyn Target>>, FilesError> {
        let file =
            match self.folder.held.create(OsStr::new(&file_name(number)), 0o644).map_err(io::Error::from) {
                Err(e) if matches!(e.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => {
                    return Ok(None);
                }
                made => made.map_err(|e| self.failed(number, e))?,
            };
        let path = self.path(number);
        let noted = self.own.made(number, &file).and_then(|()| file.try_clone());
        let twin = noted.map_err(|e| self.failed(number, e))?;
        self.last = Some((number, file));
        let target =
            RealTarget::new_file(twin.into(), &path, bytes, self.options.clone()).map_err(Stop::Target)?;
        Ok(Some(Box::new(target)))
    }

    fn finish(&mut self, bytes: u64) -> Result<(), FilesError> {
        let Some((number, file)) = self.last.take() else { return Ok(()) };
        let cut = cut_to(&file, bytes);
        let noted = self.own.made(number, &file);
        cut.and(noted).map_err(|e| self.failed(number, e))
    }

    fn remove(&mut self, number: u64) -> io::Result<()> {
        self.own.remove(&self.folder, number)
    }

    fn open(&self, number: u64) -> Result<Box<dyn Target>, Reason> {
        let path = self.path(number);
        let file = self.file(number).map_err(|e| format!("opening {} for reading: {e}", path.display()))?;
        Ok(Box::new(RealTarget::existing_file(file.into(), &path, self.options.clone())?))
    }

    fn read_at(&self, number: u64, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.file(number)?.read_exact_at(into, offset)
    }

    fn on_card(&self, number: u64, offset: u64) -> Option<u64> {
        filesystem::place_of(&self.file(number).ok()?, offset)
    }

    fn there(&self) -> (Vec<Named>, Vec<String>) {
        (self.folder.there.clone(), self.folder.alike.clone())
    }
}

fn cut_to(file: &File, bytes: u64) -> io::Result<()> {
    // Through a description of its own: the kernel tells each of them once what failed to be written, and of this file
    // the flush has told it.
    let again = File::options().write(true).open(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    again.set_len(bytes)?;
    again.sync_data()
}
