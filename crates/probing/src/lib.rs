//! Means shared by probes, which drive a [`Target`](cardscope_engine::target::Target): saving data before it is
//! overwritten, stamps, and the judgement of what is read back. Probes print and store nothing: a
//! [`JournalWriter`](cardscope_engine::journal::JournalWriter) and a [`Listener`](cardscope_engine::event::Listener) are passed in.
#![forbid(unsafe_code)]

pub mod bad_ranges;
pub mod previous_pass;
pub mod reading;

pub mod context;
pub mod double_reading;
pub mod io_size;
pub mod reader_check;
pub mod saved_area;
pub mod sector;
pub mod write_scope;
