//! Capacity by files, as f3write, f3read and h2testw test it: files of their pattern are written until the room or the
//! time ends and read back, and what is not as written is sorted into their classes. Which verdict follows is judged by
//! the shape of the losses, since a file system decides where on the card each byte lies.
//!
//! The folder comes from outside ([`TestFolder`]): its files as targets, and what only their file system knows.

mod folder;
mod folding;
mod meter;
mod names;
mod outcome;
mod pass;
mod reading;
mod sector;
mod sorting;
mod test;
mod there;
mod verdict;
mod writing;

pub use folder::{FilesError, Reason, TestFolder};
pub use names::{Named, file_name, number};
pub use outcome::Outcome;
pub use sector::{SECTOR, is_of_the_pattern};
pub use test::{Facts, FilesTest};
