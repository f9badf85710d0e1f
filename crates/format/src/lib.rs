//! Card layout: the SD Association's file system for a card's capacity (`format`), and the cards that an image fits
//! (`fit`).
#![forbid(unsafe_code)]

pub mod page {
    pub mod fit;
    pub mod format;
}
pub mod verb {
    pub mod fit;
    pub mod format;
}
