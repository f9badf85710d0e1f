//! What drives a [`Target`](cardscope_engine::target::Target) and ends in findings: is the capacity real, is every
//! block whole, how long does the card last.
//!
//! A probe prints nothing and stores nothing. Where what it overwrites is kept
//! ([`Journal`](cardscope_engine::journal::Journal)) and who hears how far it is
//! ([`Listener`](cardscope_engine::event::Listener)) is handed in.
#![forbid(unsafe_code)]

pub mod ledger;
pub mod reading;
pub mod resume;

pub mod common_distance;
pub mod context;
pub mod double_reading;
pub mod fill;
pub mod io_size;
pub mod reader_check;
pub mod saved_area;
pub mod sector;
pub mod write_scope;
