//! Card readers and cards on this computer: detection, identity, safety guards, and opening for a test.
//!
//! All files are read below the roots of a [`system::SystemRoots`], so a copy of another computer's `/sys` works like that
//! computer. Nothing here measures.

pub mod block;
pub mod bus;
pub mod claimed;
pub mod commands;
pub mod contents;
pub mod device_counters;
pub mod filesystem;
pub mod guard;
pub mod host;
mod hwmon;
pub mod inspect;
pub mod list;
mod mounts;
mod nvme;
pub mod object;
pub mod open;
pub mod permission;
pub mod sensors;
pub mod system;
#[cfg(test)]
mod testing;
#[cfg(feature = "udisks")]
mod udisks;
pub mod unmount;
pub mod usb;
pub mod vitals;
