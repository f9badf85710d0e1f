//! Why a name is not used: each says what is there and what to do.

use rustix::io::Errno;
use std::io;
use std::path::PathBuf;

/// A name that leads to nothing that may be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// Somebody else could lead us anywhere with it.
    #[error("{} is a link owned by user {owner}, which is not followed; name its target \
             folder", link.display())]
    ForeignLink {
        /// The link.
        link: PathBuf,
        /// Its owner's number.
        owner: u32,
    },
    /// The name itself is a link.
    #[error("that is a link, which is not followed; name its target file")]
    Link,
    /// A file that only counts where root or the user made it.
    #[error("it is owned by user {owner}; only your own files or root's are used")]
    Foreign {
        /// Its owner's number.
        owner: u32,
    },
    /// There is something, and it is not a plain file.
    #[error("that is a {0}, not a plain file")]
    NotPlain(&'static str),
    /// A path that ends in `/`, `.` or `..`, or nothing at all.
    #[error("that is not the name of a file")]
    NotAName,
    /// Another file has the name than the one that was judged.
    #[error("another file with that name appeared; it was not changed")]
    Changed,
    /// Another process is making it.
    #[error("another process is writing it; wait for it to end")]
    Busy,
    /// Others may exchange what lies in a folder or above it.
    #[error("user {owner} can replace files in {}", folder.display())]
    Unsettled {
        /// The folder.
        folder: PathBuf,
        /// Who may: its owner's number.
        owner: u32,
    },
    /// As [`Unsettled`](FileError::Unsettled), where a whole group or everybody may.
    #[error("other users can replace files in {}; use `chmod go-w` to prevent it", folder.display())]
    Writable {
        /// The folder.
        folder: PathBuf,
    },
    /// What the system says.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<Errno> for FileError {
    fn from(errno: Errno) -> Self {
        FileError::Io(errno.into())
    }
}

impl From<FileError> for io::Error {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Io(error) => error,
            other => io::Error::other(other),
        }
    }
}

impl FileError {
    /// True where nothing has that name.
    pub fn is_absent(&self) -> bool {
        matches!(self, FileError::Io(error) if error.kind() == io::ErrorKind::NotFound)
    }
}
