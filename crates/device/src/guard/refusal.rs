//! Why a device is not written to, each with what to do about it.

use cardscope_model::shell::quoted;
use std::fmt;

/// A device that must not be written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GuardRefusal {
    /// Nothing of this name.
    NotFound(String),
    /// A file, a directory or a character device of this name.
    NotABlockDevice(String),
    /// A device of this kernel name with 0 sectors.
    Empty(String),
    /// A device of this kernel name whose size the system does not say.
    SizeUnknown(String),
    /// It holds the running system.
    System {
        /// Kernel name.
        device: String,
        /// The device that is mounted there.
        used: String,
        /// Where: `/`, `/boot` …
        mount_point: String,
        /// What lies between, as text; empty if nothing does.
        through: String,
    },
    /// It is mounted.
    Mounted {
        /// Kernel name.
        device: String,
        /// The device that is mounted there.
        used: String,
        /// Where.
        mount_point: String,
        /// What lies between, and whose mount it is; empty if nothing is to be said.
        through: String,
    },
    /// It is swap.
    Swap {
        /// Kernel name.
        device: String,
        /// Partition or file that is swapped to.
        swap: String,
        /// What lies between, as text; empty if nothing does.
        through: String,
    },
    /// Something stands on it: LVM, RAID, LUKS …
    Held {
        /// Kernel name.
        device: String,
        /// The disk or partition that is held.
        part: String,
        /// What holds it.
        holder: String,
        /// How to let go.
        advice: String,
    },
    /// It takes no writes.
    ReadOnly {
        /// Kernel name.
        device: String,
        /// Which disk or partition says so.
        part: String,
    },
    /// A plain file that is a loop device's.
    UnderLoop {
        /// As named.
        file: String,
        /// Kernel name of the loop device.
        device: String,
    },
    /// A plain file of this name that is swap.
    SwapFile(String),
    /// A plain file that a virtual machine, a database or the like has locked.
    LockedFile {
        /// As named.
        file: String,
        /// Who, ready to stand in a sentence.
        by: String,
    },
    /// Another program has it.
    InUse {
        /// Kernel name.
        device: String,
        /// Who, as far as can be seen: ` (fio, process 12)`; empty if unknown.
        by: String,
    },
}

impl GuardRefusal {
    /// Name of the device or file as the refusal gives it.
    fn name(&self) -> String {
        match self {
            GuardRefusal::NotFound(name)
            | GuardRefusal::NotABlockDevice(name)
            | GuardRefusal::SwapFile(name) => name.clone(),
            GuardRefusal::UnderLoop { file, .. } | GuardRefusal::LockedFile { file, .. } => file.clone(),
            GuardRefusal::Empty(device)
            | GuardRefusal::SizeUnknown(device)
            | GuardRefusal::System { device, .. }
            | GuardRefusal::Mounted { device, .. }
            | GuardRefusal::Swap { device, .. }
            | GuardRefusal::Held { device, .. }
            | GuardRefusal::ReadOnly { device, .. }
            | GuardRefusal::InUse { device, .. } => format!("/dev/{device}"),
        }
    }

    /// What prevents a test, without the device and without "is": `in use: sda1 is mounted at /a`.
    pub fn cause(&self) -> String {
        match self {
            GuardRefusal::NotFound(_) => "does not exist".to_owned(),
            GuardRefusal::NotABlockDevice(_) => "not a block device".to_owned(),
            GuardRefusal::Empty(_) => {
                "has 0 sectors: no card is in it, or one that does not answer this reader".to_owned()
            }
            GuardRefusal::SizeUnknown(_) => "of unknown size".to_owned(),
            GuardRefusal::System { used, mount_point, through, .. } => {
                format!("holds the running system ({used} is {mount_point}{through})")
            }
            GuardRefusal::Mounted { used, mount_point, through, .. } => {
                format!("in use: {used} is mounted at {mount_point}{through}")
            }
            GuardRefusal::Swap { swap, through, .. } => {
                format!("in use: {swap} is swap of this computer{through}")
            }
            GuardRefusal::Held { part, holder, .. } => format!("in use: {part} is part of {holder}"),
            GuardRefusal::ReadOnly { part, .. } => format!("read-only ({part})"),
            GuardRefusal::UnderLoop { device, .. } => format!("in use by /dev/{device}"),
            GuardRefusal::SwapFile(_) => "in use: it is swap of this computer".to_owned(),
            GuardRefusal::LockedFile { by, .. } => format!("locked by {by}"),
            GuardRefusal::InUse { by, .. } => {
                format!("opened exclusively by another program{by}, perhaps another Cardscope")
            }
        }
    }

    /// What to do about it.
    pub fn advice(&self) -> String {
        match self {
            GuardRefusal::NotFound(_) => "`cardscope list` shows the devices".to_owned(),
            GuardRefusal::NotABlockDevice(_) => {
                "name the card itself, as `cardscope list` shows it (an NVMe card by \
                                            its namespace, e.g. /dev/nvme0n1)"
                    .to_owned()
            }
            GuardRefusal::Empty(_) => "insert the card again, or try another reader".to_owned(),
            GuardRefusal::SizeUnknown(_) => "plug it in again and check `cardscope list`".to_owned(),
            GuardRefusal::System { .. } => "test it from another computer".to_owned(),
            GuardRefusal::Mounted { mount_point, .. } => {
                format!("unmount it (umount {}) and start again", quoted(mount_point))
            }
            GuardRefusal::Swap { swap, .. } => format!("switch it off (swapoff {swap}) and start again"),
            GuardRefusal::Held { advice, .. } => format!("{advice} and start again"),
            GuardRefusal::ReadOnly { .. } => {
                "check the lock switch of card or adapter; a worn-out card also locks itself".to_owned()
            }
            GuardRefusal::UnderLoop { device, .. } => {
                format!("detach it (losetup -d /dev/{device}) and start again")
            }
            GuardRefusal::SwapFile(file) => format!("switch it off (swapoff {file}) and start again"),
            GuardRefusal::LockedFile { .. } => "end that program and start again".to_owned(),
            GuardRefusal::InUse { .. } => "end it and start again".to_owned(),
        }
    }
}

impl fmt::Display for GuardRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is = match self {
            GuardRefusal::NotFound(_) | GuardRefusal::Empty(_) | GuardRefusal::System { .. } => "",
            _ => "is ",
        };
        write!(f, "{} {is}{}; {}", self.name(), self.cause(), self.advice())
    }
}

impl std::error::Error for GuardRefusal {}
