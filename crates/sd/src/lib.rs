//! What the SD and NVMe specifications say, as types.
#![forbid(unsafe_code)]

pub mod bus;
pub mod label;
pub mod layout;
pub mod maker;
pub mod mark;
pub mod nvme;
pub mod registers;
