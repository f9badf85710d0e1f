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
    /// Refused object, cause and advice.
    fn words(&self) -> (String, String, String) {
        let device = |name: &str| format!("/dev/{name}");
        match self {
            GuardRefusal::NotFound(name) => {
                (name.clone(), "does not exist".into(), "`cardscope list` shows the devices".into())
            }
            GuardRefusal::NotABlockDevice(name) => {
                let advice = "name the card itself, as `cardscope list` shows it (an NVMe card by \
                                            its namespace, e.g. /dev/nvme0n1)";
                (name.clone(), "not a block device".into(), advice.into())
            }
            GuardRefusal::Empty(name) => {
                let cause = "has 0 sectors: no card is in it, or one that does not answer this reader";
                (device(name), cause.into(), "insert the card again, or try another reader".into())
            }
            GuardRefusal::SizeUnknown(name) => {
                (device(name), "of unknown size".into(), "plug it in again and check `cardscope list`".into())
            }
            GuardRefusal::System { device: name, used, mount_point, through } => {
                let cause = format!("holds the running system ({used} is {mount_point}{through})");
                (device(name), cause, "test it from another computer".into())
            }
            GuardRefusal::Mounted { device: name, used, mount_point, through } => {
                let cause = format!("in use: {used} is mounted at {mount_point}{through}");
                (
                    device(name),
                    cause,
                    format!("unmount it (umount {}) and start again", shell_quote(mount_point)),
                )
            }
            GuardRefusal::Swap { device: name, swap, through } => {
                let cause = format!("in use: {swap} is swap of this computer{through}");
                (device(name), cause, format!("switch it off (swapoff {swap}) and start again"))
            }
            GuardRefusal::HasHolder { device: name, part, holder, advice } => {
                let cause = format!("in use: {part} is part of {holder}");
                (device(name), cause, format!("{advice} and start again"))
            }
            GuardRefusal::ReadOnly { device: name, part } => {
                let advice = "check the lock switch of card or adapter; a worn-out card also locks itself";
                (device(name), format!("read-only ({part})"), advice.into())
            }
            GuardRefusal::UnderLoop { file, device: name } => {
                let advice = format!("detach it (losetup -d /dev/{name}) and start again");
                (file.clone(), format!("in use by /dev/{name}"), advice)
            }
            GuardRefusal::SwapFile(file) => {
                let advice = format!("switch it off (swapoff {file}) and start again");
                (file.clone(), "in use: it is swap of this computer".into(), advice)
            }
            GuardRefusal::LockedFile { file, by } => {
                (file.clone(), format!("locked by {by}"), "end that program and start again".into())
            }
            GuardRefusal::InUse { device: name, by } => {
                let cause = format!("opened exclusively by another program{by}, perhaps another Cardscope");
                (device(name), cause, "end it and start again".into())
            }
        }
    }

    /// Reason without the device and without "is", such as `in use: sda1 is mounted at /a`.
    pub fn cause(&self) -> String {
        self.words().1
    }

    pub fn advice(&self) -> String {
        self.words().2
    }
}

impl fmt::Display for GuardRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is = match self {
            GuardRefusal::NotFound(_) | GuardRefusal::Empty(_) | GuardRefusal::System { .. } => "",
            _ => "is ",
        };
        let (object, cause, advice) = self.words();
        write!(f, "{object} {is}{cause}; {advice}")
    }
}

impl std::error::Error for GuardRefusal {}
