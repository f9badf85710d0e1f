//! Fills the free space of a mounted card with files identical to those of h2testw and f3write, reads them back and
//! classifies each sector; or reads files that exist already.
//!
//! Files are [targets](cardscope_engine::target::Target) that the caller opens ([`TestFolder`]), who also decides
//! what may be written and removed. Facts about the file system are passed in as plain data.

mod existing_files;
mod file_names;
mod outcome;
mod pass;
mod reading;
mod sector_classes;
mod speed_meter;
mod writing;

pub use file_names::{NumberedFile, file_name, parse_number};
pub use outcome::FilesOutcome;
pub use pass::{FilesError, FilesPass, TestFolder};
pub use sector_classes::holds_pattern;

pub const WRITING: &str = "writing files";

pub const READING: &str = "reading files";
