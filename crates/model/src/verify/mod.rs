//! What `verify` finds out: is the capacity real, is every block whole.

mod files;
pub(crate) mod io_error;
mod map;
mod report;

pub use files::{FileResult, FilesReport, FirstError, Pace, SectorCounts};
pub use io_error::{IoError, SectorFound};
pub use map::{MapCell, MapSpeed, SlowestSecond, SpeedMap, cell_bytes};
pub use report::{Disproof, Method, Share, Verification, VerifyReport};

use serde::{Deserialize, Serialize};
use std::fmt;

/// Nobody is accused below this confidence.
pub const SURE: f64 = 0.95;

/// The answer to "is this card genuine and whole".
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// All of it is there, as far as was looked.
    Genuine,
    /// What lies beyond some address is lost.
    Limbo,
    /// Addresses wrap: one place answers for several addresses.
    Wraparound,
    /// Addresses wrap, and part of what is left is lost.
    Chain,
    /// Places here and there lose or change what they are given: holes, flips, late failure.
    Damaged,
    /// It keeps no block.
    Dead,
    /// Any address works until too many are in use.
    Overcommitted,
    /// Writes are accepted and dropped: what stood there stays.
    ReadOnly,
    /// The same question gets different answers.
    Unstable,
    /// The reader may be the liar: ask a second one before accusing the card.
    ReaderSuspect,
    /// Not enough could be seen to say.
    #[default]
    Inconclusive,
}

impl Verdict {
    /// The word in output.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Genuine => "genuine",
            Verdict::Limbo => "limbo",
            Verdict::Wraparound => "wraparound",
            Verdict::Chain => "chain",
            Verdict::Damaged => "damaged",
            Verdict::Dead => "dead",
            Verdict::Overcommitted => "overcommitted",
            Verdict::ReadOnly => "read-only",
            Verdict::Unstable => "unstable",
            Verdict::ReaderSuspect => "reader-suspect",
            Verdict::Inconclusive => "inconclusive",
        }
    }

    /// Whether it says that the card holds less than it announces, up to a boundary.
    pub fn lacks_capacity(self) -> bool {
        matches!(self, Verdict::Limbo | Verdict::Wraparound | Verdict::Chain | Verdict::Overcommitted)
    }

    /// Whether it speaks against the card: exit status 1.
    pub fn is_bad(self) -> bool {
        !matches!(self, Verdict::Genuine | Verdict::ReaderSuspect | Verdict::Inconclusive)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
