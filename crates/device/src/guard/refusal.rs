//! Refusals of the guards, each with advice.

use cardscope_model::shell::shell_quote;
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GuardRefusal {
    NotFound(String),
    NotABlockDevice(String),
    /// Kernel name of a device with 0 sectors.
    Empty(String),
    /// Kernel name of a device whose size is unknown.
    SizeUnknown(String),
    /// Holds the running system.
    System {
        device: String,
        used: String,
        mount_point: String,
        /// Layers in between as text; empty without any.
        through: String,
    },
    Mounted {
        device: String,
        used: String,
        mount_point: String,
        /// Layers in between, and whose mount it is; may be empty.
        through: String,
    },
    /// Swap area.
    Swap {
        device: String,
        /// Partition or file used as swap.
        swap: String,
        /// Layers in between as text; empty without any.
        through: String,
    },
    /// Part of a volume: LVM, RAID, LUKS and others.
    HasHolder {
        device: String,
        /// Disk or partition that is part of it.
        part: String,
        holder: String,
        advice: String,
    },
    ReadOnly {
        device: String,
        /// Disk or partition that is read-only.
        part: String,
    },
    /// Plain file behind a loop device.
    UnderLoop {
        file: String,
        device: String,
    },
    SwapFile(String),
    /// Plain file locked by a virtual machine, a database or the like.
    LockedFile {
        file: String,
        /// Holder of the lock, worded for a sentence.
        by: String,
    },
    /// Opened exclusively by another program.
    InUse {
        device: String,
        /// Programs, such as ` (fio, process 12)`; empty if unknown.
        by: String,
    },
}

impl GuardRefusal {
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
            | GuardRefusal::HasHolder { device, .. }
            | GuardRefusal::ReadOnly { device, .. }
            | GuardRefusal::InUse { device, .. } => format!("/dev/{device}"),
        }
    }

    /// Reason without the device and without "is", such as `in use: sda1 is mounted at /a`.
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
            GuardRefusal::HasHolder { part, holder, .. } => format!("in use: {part} is part of {holder}"),
            GuardRefusal::ReadOnly { part, .. } => format!("read-only ({part})"),
            GuardRefusal::UnderLoop { device, .. } => format!("in use by /dev/{device}"),
            GuardRefusal::SwapFile(_) => "in use: it is swap of this computer".to_owned(),
            GuardRefusal::LockedFile { by, .. } => format!("locked by {by}"),
            GuardRefusal::InUse { by, .. } => {
                format!("opened exclusively by another program{by}, perhaps another Cardscope")
            }
        }
    }

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
                format!("unmount it (umount {}) and start again", shell_quote(mount_point))
            }
            GuardRefusal::Swap { swap, .. } => format!("switch it off (swapoff {swap}) and start again"),
            GuardRefusal::HasHolder { advice, .. } => format!("{advice} and start again"),
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
