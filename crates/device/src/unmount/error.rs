//! Why a card was not unmounted, each with what to do about it.

use crate::guard::GuardRefusal;
use crate::object::ObjectError;
use cardscope_model::shell::quoted_path;
use std::path::PathBuf;

/// A card that was not unmounted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnmountError {
    /// The guards refuse the device for another reason than being mounted.
    #[error(transparent)]
    Refused(#[from] GuardRefusal),
    /// Another card than the one that was named.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// Not a whole disk.
    #[error("/dev/{part} is a partition of {disk}; name the whole card, /dev/{disk}")]
    Partition {
        /// Kernel name of the partition.
        part: String,
        /// That of its disk.
        disk: String,
    },
    /// A disk of this kernel name that cannot be taken out.
    #[error(
        "/dev/{0} is not removable, and only cards and sticks are unmounted from here; use umount for it"
    )]
    Fixed(String),
    /// A program uses it.
    #[error("{} is busy: close the programs that use it{by} and try again", .point.display())]
    Busy {
        /// Where it is mounted.
        point: PathBuf,
        /// Which, as far as can be seen: ` (bash, process 12)`; empty if unknown.
        by: String,
    },
    /// Another file system is mounted in one of its folders.
    #[error(
        "{} is busy: another file system is mounted below it at {}; unmount that (umount {}) and try again",
        .point.display(), .below.display(), quoted_path(below)
    )]
    Below {
        /// Where it is mounted.
        point: PathBuf,
        /// Where the other is.
        below: PathBuf,
    },
    /// Another file system is mounted at the same place, over it, or the mount was changed meanwhile.
    #[error("something else is mounted at {} by now; see `cardscope list` and try again", .0.display())]
    Covered(PathBuf),
    /// Another program mounts it each time.
    #[error("{} is mounted again each time it is unmounted; stop the program that mounts it", .0.display())]
    Again(PathBuf),
    /// No right, and the system did not give it when it was asked.
    #[error(
        "no permission to unmount {}: {why}; unmount it as root (sudo umount {})",
        .point.display(), quoted_path(point)
    )]
    NotAllowed {
        /// Where it is mounted.
        point: PathBuf,
        /// Why not, as a sentence without its end.
        why: String,
    },
    /// Stopped while the system was at it.
    #[error(
        "interrupted while {} was being unmounted; the system may still complete it: see `cardscope list`",
        .0.display()
    )]
    Interrupted(PathBuf),
    /// The card of this kernel name is gone, or another one is in its place.
    #[error(
        "the card in /dev/{0} was removed or changed meanwhile, and nothing more was unmounted; see \
         `cardscope list` and start again"
    )]
    Exchanged(String),
    /// Anything else.
    #[error("{} could not be unmounted ({reason}); check the kernel log and try again", .point.display())]
    Other {
        /// Where it is mounted.
        point: PathBuf,
        /// What the system says.
        reason: String,
    },
}
