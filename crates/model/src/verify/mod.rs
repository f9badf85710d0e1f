//! What `verify` finds out: is the capacity real, is every block whole.

mod cause;
pub(crate) mod error_pattern;
mod files;
pub(crate) mod io_error;
mod map;
mod report;

pub use cause::{CapacityCause, SizeSource, StatedSizes};
pub use error_pattern::{ErrorPattern, READER_ERRORS, ReaderFault, TOLERATED_PER_MILLION, at_rate};
pub use files::{FileResult, FilesReport, FirstError, SectorCounts, TransferPace};
pub use io_error::{IoCounts, IoError, SectorFound, list_failed};
pub use map::{MapCell, MapSpeed, SlowestSecond, SpeedMap, cell_bytes};
pub use report::{AddressDisproof, ExcludedShare, TestMethod, Verification, VerifyReport};

use crate::finding::{Finding, FindingWeight};
use crate::report::ExitStatus;
use crate::worded;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::RangeInclusive;

/// Nobody is accused below this confidence.
pub const SURE: f64 = 0.95;

/// How sure a card, or its reader, is unstable that gave two answers for one place, once.
pub const ANSWERS_DIFFER: f64 = 0.9;

/// Finding for sectors that were bad in one of two readings only; `None` where there were none.
pub fn answers_change(passing_sectors: u64) -> Option<Finding> {
    (passing_sectors > 0).then(|| {
        let text = "The card answered differently at the next try.";
        Finding::new("answers-change", FindingWeight::Hint, ANSWERS_DIFFER, text)
            .because("sectors bad in one reading only", passing_sectors)
            .advise("Clean the contacts and try another reader.")
    })
}

/// Below this confidence a card that failed nowhere is not called genuine, but not proven.
pub const PROVEN: f64 = 0.8;

worded! {
    /// The answer to "is this card genuine and whole".
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Verdict: word {
        /// All of it is there, as far as was looked.
        Genuine = "genuine",
        /// What lies beyond some address is lost.
        Limbo = "limbo",
        /// Addresses wrap: one place answers for several addresses.
        Wraparound = "wraparound",
        /// Addresses wrap, and part of what is left is lost.
        Chain = "chain",
        /// Places here and there lose or change what they are given: holes, flips, late failure.
        Damaged = "damaged",
        /// It keeps no block.
        Dead = "dead",
        /// Any address works until too many are in use.
        Overcommitted = "overcommitted",
        /// Writes are accepted and dropped: what stood there stays.
        ReadOnly = "read-only",
        /// The same question gets different answers.
        Unstable = "unstable",
        /// The reader may be the liar: ask a second one before accusing the card.
        ReaderSuspect = "reader-suspect",
        /// Not enough could be seen to say.
        #[default]
        Inconclusive = "inconclusive",
    }
}

impl Verdict {
    /// Whether it says that the card holds less than it announces, up to a boundary.
    pub fn lacks_capacity(self) -> bool {
        matches!(self, Verdict::Limbo | Verdict::Wraparound | Verdict::Chain | Verdict::Overcommitted)
    }

    /// The verdict on a card that ends, or repeats, at `bytes`: just where the addresses of some readers end it is the
    /// reader that is suspected, whichever way the card was asked.
    pub fn ending_at(self, bytes: Option<u64>) -> Self {
        bytes.map_or(self, |bytes| self.ending_within(bytes..=bytes))
    }

    /// The same of an end that is known to lie in a range: files do not tell where on the card they are.
    pub fn ending_within(self, bytes: RangeInclusive<u64>) -> Self {
        let at_a_limit = READER_LIMITS.iter().any(|limit| bytes.contains(limit));
        if matches!(self, Verdict::Limbo | Verdict::Wraparound) && at_a_limit {
            Verdict::ReaderSuspect
        } else {
            self
        }
    }

    /// The verdict and its confidence once failed I/Os are weighed in; `unread` where nothing was lost but what failed twice.
    pub fn with_errors(self, confidence: f64, pattern: ErrorPattern, unread: bool) -> (Verdict, f64) {
        let by_errors = match pattern {
            ErrorPattern::None | ErrorPattern::Occasional => return (self, confidence),
            ErrorPattern::Frequent => Verdict::Unstable,
            ErrorPattern::Reader(_) => Verdict::ReaderSuspect,
            ErrorPattern::Lasting => Verdict::Damaged,
        };
        let counts = match self {
            Verdict::Genuine | Verdict::Inconclusive => true,
            Verdict::Unstable => by_errors == Verdict::Damaged,
            Verdict::Damaged => by_errors == Verdict::ReaderSuspect && unread,
            _ => false,
        };
        match counts || by_errors == self {
            true => (by_errors, confidence.max(SURE)),
            false => (self, confidence),
        }
    }

    /// True where it speaks against the card.
    pub fn is_bad(self) -> bool {
        !matches!(self, Verdict::Genuine | Verdict::ReaderSuspect | Verdict::Inconclusive)
    }

    /// The conclusion of a test that came to it with this confidence.
    pub fn exit_status(self, confidence: f64) -> ExitStatus {
        match self {
            Verdict::Genuine if confidence >= PROVEN => ExitStatus::Good,
            Verdict::Genuine | Verdict::ReaderSuspect | Verdict::Inconclusive => ExitStatus::NotProven,
            _ => ExitStatus::Bad,
        }
    }
}

/// Where addresses end by their width on the way to a card, not in it: 32 GiB, where readers for SDHC end, and 28 and
/// 32 bits of sectors of 512 bytes (ATA, SCSI READ(10)).
const READER_LIMITS: [u64; 3] = [1 << 35, 1 << 37, 1 << 41];

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
