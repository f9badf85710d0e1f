//! Readers and cards as the system knows them: what is present, what it is, whether it may be written to, and
//! how to open it.
//!
//! Everything is read below the roots of a [`system::System`], so that a directory with a copy of another
//! machine's `/sys` answers as that machine would. Nothing here measures.

pub mod block;
pub mod bus;
pub mod commands;
pub mod contents;
pub mod filesystem;
pub mod guard;
pub mod held;
pub mod host;
mod hwmon;
pub mod inspect;
pub mod list;
mod mounts;
mod nvme;
pub mod object;
pub mod open;
pub mod permission;
mod refused;
pub mod sensors;
pub mod system;
#[cfg(test)]
mod testing;
#[cfg(feature = "udisks")]
mod udisks;
pub mod unmount;
pub mod usb;
pub mod vitals;
pub mod watching;
