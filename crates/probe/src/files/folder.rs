//! The folder that is tested, as far as the test must know it.

use super::names::Named;
use cardscope_engine::card::Stop;
use cardscope_engine::target::Target;
use std::io;
use std::path::PathBuf;

/// Why a file was not made or opened, in words that name it.
pub type Reason = Box<dyn std::error::Error + Send + Sync>;

/// A folder on a mounted card, with its files by number: `1.h2w` is 1. Whoever implements it sees to it that no file of
/// the user's is written to or removed.
pub trait TestFolder {
    /// Where a file lies, for messages.
    fn path(&self, number: u64) -> PathBuf;

    /// Makes a file, of up to so many bytes; `None` where the file system is full.
    ///
    /// # Errors
    /// If it cannot be made, or is there already.
    fn create(&mut self, number: u64, bytes: u64) -> Result<Option<Box<dyn Target>>, FilesError>;

    /// The file that was made last is as long as this: takes away what a failed extent may have left behind the last
    /// whole one, and blocks that were promised for more.
    ///
    /// # Errors
    /// If it cannot be cut, or says no more what it is.
    fn finish(&mut self, bytes: u64) -> Result<(), FilesError>;

    /// Removes a file that this run made.
    ///
    /// # Errors
    /// If it would not go, or is another one by now.
    fn remove(&mut self, number: u64) -> io::Result<()>;

    /// Opens a file for reading; one that this run made only while it is that very file.
    ///
    /// # Errors
    /// If it cannot be opened.
    fn open(&self, number: u64) -> Result<Box<dyn Target>, Reason>;

    /// Reads bytes of a file that may lie anywhere in it.
    ///
    /// # Errors
    /// As for [`open`](TestFolder::open), and if they cannot be read.
    fn read_at(&self, number: u64, offset: u64, into: &mut [u8]) -> io::Result<()>;

    /// Where on the card a byte of a file lies; `None` where the file system does not tell.
    fn on_card(&self, number: u64, offset: u64) -> Option<u64>;

    /// Files of the pattern that were there before, by number, and names that only look like it.
    fn there(&self) -> (Vec<Named>, Vec<String>);
}

/// Why a test of files ended before its end.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// The card, the user or a limit ended it.
    #[error(transparent)]
    Stop(#[from] Stop),
    /// Something about one file failed.
    #[error("{path}: {source}", path = .path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// What failed.
        source: io::Error,
    },
    /// A file could not be made or opened.
    #[error(transparent)]
    Folder(Reason),
    /// The kernel gave the file system up while this file was written.
    #[error(
        "the file system went read-only while {0} was written: the kernel gave it up after errors; see the kernel's log (dmesg)"
    )]
    ReadOnly(String),
}
