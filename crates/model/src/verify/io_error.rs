//! What went wrong with one I/O, and what stood in one sector.

use serde::{Deserialize, Serialize};

/// An I/O that failed. Errors are data: recorded with their place and what became of the second try.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoError {
    /// `read`, `write`, `flush` …
    pub operation: String,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
    /// The errno, 0 if there is none.
    pub errno: i32,
    /// Its text.
    pub reason: String,
    /// True where the second try succeeded.
    pub recovered: bool,
}

/// What stands in a sector where a stamp of ours should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "found")]
pub enum SectorFound {
    /// What was written.
    Expected,
    /// What was written, with a few bits wrong.
    Flipped {
        /// How many.
        bits: u32,
    },
    /// Written by this run, but to this other address.
    Elsewhere {
        /// Byte address that the stamp names; the one at which it was found stands beside it.
        #[serde(rename = "found_address", default)]
        address: u64,
    },
    /// Of this address and this run, but of another write than the last one.
    Stale {
        /// The write that it names.
        generation: u32,
    },
    /// A stamp of another run or another card.
    Foreign {
        /// Byte address that the stamp names; the one at which it was found stands beside it.
        #[serde(rename = "found_address", default)]
        address: u64,
        /// The salt of the run that wrote it.
        salt: u64,
    },
    /// One byte, repeated.
    Constant {
        /// Which.
        byte: u8,
    },
    /// Nothing of ours: older content or noise.
    Other,
    /// It could not be read, twice.
    Error,
}
