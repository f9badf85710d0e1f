//! Failed I/Os, and the content of wrong sectors.

use serde::{Deserialize, Serialize};

/// Failed I/O, with its position and the outcome of the second try.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoError {
    pub operation: String,
    pub offset: u64,
    pub len: u64,
    /// Errno; 0 if there is none.
    pub errno: i32,
    pub reason: String,
    pub recovered: bool,
    /// True if small requests succeeded for the same bytes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_parts: bool,
}

/// Adds a failed I/O to a list of at most `most`. If it is full, one that failed twice replaces one that recovered.
pub fn list_failed(listed: &mut Vec<IoError>, most: usize, io_error: IoError) {
    if listed.len() < most {
        listed.push(io_error);
    } else if !io_error.recovered
        && let Some(recovered) = listed.iter().rposition(|other| other.recovered)
    {
        listed[recovered] = io_error;
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct IoCounts {
    /// All I/Os, without second tries.
    pub ios: u64,
    pub failed_once: u64,
    pub failed_twice: u64,
}

impl IoCounts {
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

/// Content of a sector that should hold a stamp of the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "found")]
pub enum SectorFound {
    Expected,
    /// Expected data with a few wrong bits.
    Flipped {
        bits: u32,
    },
    /// Data of this run for another address.
    Elsewhere {
        /// Byte address in the stamp. The JSON object of the proof has the sector's own `address` on the same level.
        #[serde(rename = "found_address", default)]
        address: u64,
    },
    /// Data of this address and run, but of another write than the last one.
    Stale {
        generation: u32,
    },
    /// Stamp of another run or another card.
    Foreign {
        /// Byte address in the stamp.
        #[serde(rename = "found_address", default)]
        address: u64,
        salt: u64,
    },
    Constant {
        byte: u8,
    },
    /// Older content or noise.
    Other,
    Error,
}
