//! How a card is laid out: the SD Association's file system for its capacity (`format`), and which images fit it (`fit`).
#![forbid(unsafe_code)]

pub mod page {
    pub mod fit;
    pub mod format;
}
pub mod verb {
    pub mod fit;
    pub mod format;
}
