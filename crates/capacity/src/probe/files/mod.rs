//! The free space of a mounted card filled with the files of h2testw and f3write, byte for byte theirs, read back and
//! sorted; and the same of files that were there before.
//!
//! Files come as [targets](cardscope_engine::target::Target) from whoever holds the folder ([`TestFolder`]), who also
//! guards what may be written and removed. What is known of the file system comes as plain data.

mod meter;
mod names;
mod outcome;
mod pass;
mod reading;
mod sorting;
mod there;
mod writing;

pub use names::{NumberedFile, file_name, number};
pub use outcome::FilesOutcome;
pub use pass::{FilesError, FilesPass, TestFolder};
pub use sorting::holds_pattern;

/// The stage in which files are written.
pub const WRITING: &str = "writing files";

/// The stage in which they are read.
pub const READING: &str = "reading files";
