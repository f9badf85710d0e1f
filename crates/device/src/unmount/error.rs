//! Errors of unmounting a card, each with advice.

use crate::guard::GuardRefusal;
use crate::object::ObjectError;
use cardscope_model::shell::shell_quote_path;
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnmountError {
    /// The guards refuse the device for another reason than its mounts.
    #[error(transparent)]
    Refused(#[from] GuardRefusal),
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// Not a whole disk.
    #[error("/dev/{part} is a partition of {disk}; name the whole card, /dev/{disk}")]
    Partition { part: String, disk: String },
    /// Kernel name of a disk that is not removable.
    #[error(
        "/dev/{0} is not removable, and only cards and sticks are unmounted from here; use umount for \
             it"
    )]
    Fixed(String),
    #[error("{} is busy: close the programs that use it{by} and try again", .point.display())]
    Busy {
        point: PathBuf,
        /// Programs, such as ` (bash, process 12)`; empty if unknown.
        by: String,
    },
    /// Another file system is mounted in one of its folders.
    #[error("{} is busy: another file system is mounted below it at {}; unmount that (umount {}) and try \
             again", .point.display(), .below.display(), shell_quote_path(below))]
    Below { point: PathBuf, below: PathBuf },
    /// Another file system is mounted over it, or the mount was changed meanwhile.
    #[error("something else is mounted at {} by now; see `cardscope list` and try again", .0.display())]
    Covered(PathBuf),
    #[error("{} is mounted again each time it is unmounted; stop the program that mounts it", .0.display())]
    Again(PathBuf),
    /// No permission, and none was granted on request.
    #[error(
        "no permission to unmount {}: {why}; unmount it as root (sudo umount {})",
        .point.display(), shell_quote_path(point)
    )]
    NotAllowed {
        point: PathBuf,
        /// Reason as a sentence without its end.
        why: String,
    },
    #[error("interrupted while {} was being unmounted; the system may still complete it: see `cardscope \
             list`", .0.display())]
    Interrupted(PathBuf),
    /// Kernel name of a device whose card was removed or replaced.
    #[error(
        "the card in /dev/{0} was removed or changed meanwhile, and nothing more was unmounted; see \
             `cardscope list` and start again"
    )]
    Exchanged(String),
    #[error("{} could not be unmounted ({reason}); check the kernel log and try again", .point.display())]
    Other { point: PathBuf, reason: String },
}
