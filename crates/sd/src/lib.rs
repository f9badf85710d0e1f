#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod bus;
mod decoded;
pub mod health;
pub mod label;
pub mod layout;
pub mod maker;
pub mod mark;
pub mod nvme;
pub mod registers;
