//! Why a device is not written to, each with what to do about it.

use cardscope_model::shell::quoted;

/// A device that must not be written to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Nothing of this name.
    #[error("{0} does not exist; `cardscope list` shows the devices")]
    NotFound(String),
    /// A file, a directory or a character device of this name.
    #[error(
        "{0} is not a block device; name the card itself, as `cardscope list` shows it (an NVMe card by its \
         namespace, e.g. /dev/nvme0n1)"
    )]
    NotABlockDevice(String),
    /// A device of this kernel name with 0 sectors.
    #[error(
        "/dev/{0} has 0 sectors: no card is in it, or one that does not answer this reader; insert the card \
         again, or try another reader"
    )]
    Empty(String),
    /// A device of this kernel name whose size the system does not say.
    #[error("the size of /dev/{0} is unknown; plug it in again and check `cardscope list`")]
    SizeUnknown(String),
    /// It holds the running system.
    #[error(
        "/dev/{device} holds the running system ({used} is {mount_point}{through}); test it from another \
         computer"
    )]
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
    #[error(
        "/dev/{device} is in use: {used} is mounted at {mount_point}{through}; unmount it (umount {}) and start again",
        quoted(mount_point)
    )]
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
    #[error(
        "/dev/{device} is in use: {swap} is swap of this computer{through}; switch it off (swapoff {swap}) and start again"
    )]
    Swap {
        /// Kernel name.
        device: String,
        /// Partition or file that is swapped to.
        swap: String,
        /// What lies between, as text; empty if nothing does.
        through: String,
    },
    /// Something stands on it: LVM, RAID, LUKS …
    #[error("/dev/{device} is in use: {part} is part of {holder}; {advice} and start again")]
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
    #[error(
        "/dev/{device} is read-only ({part}): check the lock switch of card or adapter; a worn-out card \
         also locks itself"
    )]
    ReadOnly {
        /// Kernel name.
        device: String,
        /// Which disk or partition says so.
        part: String,
    },
    /// A plain file that is a loop device's.
    #[error("{file} is in use by /dev/{device}; detach it (losetup -d /dev/{device}) and start again")]
    UnderLoop {
        /// As named.
        file: String,
        /// Kernel name of the loop device.
        device: String,
    },
    /// A plain file of this name that is swap.
    #[error("{0} is in use: it is swap of this computer; switch it off (swapoff {0}) and start again")]
    SwapFile(String),
    /// A plain file that a virtual machine, a database or the like has locked.
    #[error("{file} is locked by {by}; end that program and start again")]
    LockedFile {
        /// As named.
        file: String,
        /// Who, ready to stand in a sentence.
        by: String,
    },
    /// Another program has it.
    #[error(
        "/dev/{device} is opened exclusively by another program{by}, perhaps another Cardscope; end it and start again"
    )]
    InUse {
        /// Kernel name.
        device: String,
        /// Who, as far as can be seen: ` (fio, process 12)`; empty if unknown.
        by: String,
    },
}
