//! The device that is asked, opened anew for each question, and known again each time: after a re-plug another card may
//! answer to its name.

use crate::block::BlockDevice;
use rustix::fd::OwnedFd;
use rustix::fs::{Dev, Mode, OFlags};
use rustix::io::Errno;
use std::path::{Path, PathBuf};

/// Where to ask, and which device that was when it was found.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    /// The disk, or an NVMe card's controller.
    path: PathBuf,
    /// Number behind the path; `None` where there was nothing.
    number: Option<Dev>,
    disk: BlockDevice,
    /// Number of its coming; `None` before Linux 5.15.
    sequence: Option<u64>,
}

impl Asked {
    pub(super) fn at(path: PathBuf, disk: &BlockDevice) -> Asked {
        let number = rustix::fs::stat(&path).ok().map(|stat| stat.st_rdev);
        Asked { number, sequence: disk.sequence(), disk: disk.clone(), path }
    }

    /// For each question: a descriptor kept on a block device would keep its page cache, too.
    ///
    /// # Errors
    /// `NXIO` where the device is gone or another one; else as the kernel says.
    pub(super) fn open(&self) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = rustix::fs::open(&self.path, flags, Mode::empty()).map_err(|errno| match errno {
            // Its file is gone because the device is.
            Errno::NOENT | Errno::NODEV => Errno::NXIO,
            other => other,
        })?;
        // Asked after opening: it is then that the kernel notices another card in a reader.
        let same = self.number == Some(rustix::fs::fstat(&fd)?.st_rdev) && self.is_same();
        if same { Ok(fd) } else { Err(Errno::NXIO) }
    }

    /// False where the disk went, or came anew.
    pub(super) fn is_same(&self) -> bool {
        self.disk.sequence() == self.sequence
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::System;

    #[test]
    fn another_card_under_the_same_name_is_not_asked() {
        let dir = tempfile::tempdir().unwrap();
        let sequence = dir.path().join("block/sda/diskseq");
        std::fs::create_dir_all(sequence.parent().unwrap()).unwrap();
        std::fs::write(&sequence, "7\n").unwrap();
        let disk = BlockDevice::named(&System::recorded(dir.path()), "sda").unwrap();
        let asked = Asked::at("/dev/null".into(), &disk);
        assert!(asked.open().is_ok());
        std::fs::write(&sequence, "8\n").unwrap();
        assert_eq!(asked.open().map(drop), Err(Errno::NXIO), "it came anew");
        std::fs::write(&sequence, "7\n").unwrap();
        let other = Asked { path: "/dev/zero".into(), ..asked.clone() };
        assert_eq!(other.open().map(drop), Err(Errno::NXIO), "another number");
        std::fs::remove_dir_all(dir.path().join("block/sda")).unwrap();
        assert_eq!(asked.open().map(drop), Err(Errno::NXIO), "it went");
    }

    #[test]
    fn on_a_kernel_that_does_not_count_the_number_has_to_do() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("block/sda")).unwrap();
        let disk = BlockDevice::named(&System::recorded(dir.path()), "sda").unwrap();
        assert!(Asked::at("/dev/null".into(), &disk).open().is_ok());
        assert_eq!(Asked::at("/dev/none-such".into(), &disk).open().map(drop), Err(Errno::NXIO));
    }
}
