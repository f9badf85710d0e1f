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
    /// True where small requests moved the same bytes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_parts: bool,
}

/// Lists an I/O that failed among the first `most`; one that failed twice takes the place of one that did not.
pub fn list_failed(listed: &mut Vec<IoError>, most: usize, io_error: IoError) {
    if listed.len() < most {
        listed.push(io_error);
    } else if !io_error.recovered
        && let Some(recovered) = listed.iter().rposition(|other| other.recovered)
    {
        listed[recovered] = io_error;
    }
}

/// I/Os, and how many of them failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct IoCounts {
    /// All of them, second tries left out.
    pub ios: u64,
    /// I/Os that failed and did not fail again.
    pub failed_once: u64,
    /// I/Os that failed at the second try, too.
    pub failed_twice: u64,
}

impl IoCounts {
    /// I/Os that failed, once or twice.
    pub fn failed(self) -> u64 {
        self.failed_once + self.failed_twice
    }
}

impl std::ops::AddAssign for IoCounts {
    fn add_assign(&mut self, more: IoCounts) {
        self.ios += more.ios;
        self.failed_once += more.failed_once;
        self.failed_twice += more.failed_twice;
    }
}

impl std::ops::Sub for IoCounts {
    type Output = IoCounts;

    fn sub(self, before: IoCounts) -> IoCounts {
        IoCounts {
            ios: self.ios - before.ios,
            failed_once: self.failed_once - before.failed_once,
            failed_twice: self.failed_twice - before.failed_twice,
        }
    }
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
