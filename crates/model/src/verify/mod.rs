//! Document of `verify`: real capacity and integrity of a card.

mod capacity_cause;
pub(crate) mod io_errors;
mod report;

pub use capacity_cause::{CapacityCause, SizeSource, StatedSizes};
pub use io_errors::{
    ErrorPattern, IoCounts, IoError, READER_ERRORS, ReaderFault, SectorFound, TOLERATED_PER_MILLION,
    failures_at_rate, list_failed,
};
pub use report::{
    AddressDisproof, ExcludedShare, FileResult, FilesReport, FirstError, MapCell, MapSpeed, SectorCounts,
    SlowestSecond, SpeedMap, TestMethod, TransferPace, Verification, VerifyReport, cell_bytes,
};

use crate::finding::{Finding, FindingWeight};
use crate::report::ExitStatus;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::RangeInclusive;

/// Confidence from which a card is accused.
pub const SURE_CONFIDENCE: f64 = 0.95;

/// Confidence that card or reader are unstable after one difference between two reads.
pub const READS_DIFFER_CONFIDENCE: f64 = 0.9;

/// Returns the finding about sectors that were bad in one of two readings only, or None if there are none.
pub fn inconsistent_reads_finding(passing_sectors: u64) -> Option<Finding> {
    (passing_sectors > 0).then(|| {
        let text = "The card answered differently at the next try.";
        Finding::new("answers-change", FindingWeight::Hint, READS_DIFFER_CONFIDENCE, text)
            .because("sectors bad in one reading only", passing_sectors)
            .with_advice("Clean the contacts and try another reader.")
    })
}

/// Confidence from which a card without failures is called genuine rather than not proven.
pub const PROVEN_CONFIDENCE: f64 = 0.8;

worded! {
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Verdict: word {
        Genuine = "genuine",
        Limbo = "limbo",
        /// Addresses wrap around, so that several share one block.
        Wraparound = "wraparound",
        /// Addresses wrap around, and a part of the rest is lost.
        Chain = "chain",
        /// Scattered blocks lose or change data.
        Damaged = "damaged",
        Dead = "dead",
        /// Every address works until too many are in use.
        Overcommitted = "overcommitted",
        /// Writes are accepted but dropped; old data remains.
        ReadOnly = "read-only",
        Unstable = "unstable",
        /// The reader may be the cause; another reader must confirm before the card is accused.
        ReaderSuspect = "reader-suspect",
        #[default]
        Inconclusive = "inconclusive",
    }
}

impl Verdict {
    pub fn lacks_capacity(self) -> bool {
        matches!(self, Verdict::Limbo | Verdict::Wraparound | Verdict::Chain | Verdict::Overcommitted)
    }

    /// Returns the verdict for a card that ends or repeats at `bytes`. At the address limit of some readers the
    /// reader is suspected instead.
    pub fn ending_at(self, bytes: Option<u64>) -> Self {
        bytes.map_or(self, |bytes| self.ending_within(bytes..=bytes))
    }

    /// Returns the verdict for an end within a range, since files do not reveal their position on the card.
    pub fn ending_within(self, bytes: RangeInclusive<u64>) -> Self {
        let at_a_limit = READER_LIMITS.iter().any(|limit| bytes.contains(limit));
        if matches!(self, Verdict::Limbo | Verdict::Wraparound) && at_a_limit {
            Verdict::ReaderSuspect
        } else {
            self
        }
    }

    /// Returns verdict and confidence after weighing failed I/Os. `unread` means that only unreadable data was lost.
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
        if counts || by_errors == self {
            (by_errors, confidence.max(SURE_CONFIDENCE))
        } else {
            (self, confidence)
        }
    }

    pub fn is_bad(self) -> bool {
        !matches!(self, Verdict::Genuine | Verdict::ReaderSuspect | Verdict::Inconclusive)
    }

    pub fn exit_status(self, confidence: f64) -> ExitStatus {
        match self {
            Verdict::Genuine if confidence >= PROVEN_CONFIDENCE => ExitStatus::Good,
            Verdict::Genuine | Verdict::ReaderSuspect | Verdict::Inconclusive => ExitStatus::NotProven,
            _ => ExitStatus::Bad,
        }
    }
}

/// Capacities at which the address width of some readers ends: 32 GiB of SDHC readers, and 28 and 32 bits of sectors
/// of 512 bytes (ATA, SCSI READ(10)).
const READER_LIMITS: [u64; 3] = [1 << 35, 1 << 37, 1 << 41];

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
