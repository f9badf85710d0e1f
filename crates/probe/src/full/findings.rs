//! What a full pass is given, and what it found out.

use cardscope_engine::card::Stop;
use cardscope_model::verify::{Disproof, SpeedMap, Verdict};

/// How a full pass is to go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Tells this pass's stamps from those of any other.
    pub salt: u64,
    /// Everything is written before anything is read.
    pub two_passes: bool,
    /// Bytes from 0 that an interrupted pass of this salt has written.
    pub resumed_at: u64,
    /// Seconds of the card's clock in which all must be over.
    pub budget_s: Option<f64>,
    /// Bytes that may be written.
    pub max_write: Option<u64>,
}

/// What a full pass found out.
#[derive(Debug, Clone)]
pub struct Findings {
    /// The answer.
    pub verdict: Verdict,
    /// The prefix from 0 that can be trusted.
    pub usable_bytes: Option<u64>,
    /// All that works.
    pub good_bytes: Option<u64>,
    /// Distinct bytes that were kept at one time.
    pub proven_bytes: u64,
    /// Period in which addresses repeat.
    pub wrap_bytes: Option<u64>,
    /// Bytes that a cache had answered for.
    pub cache_bytes: Option<u64>,
    /// 0 to 1.
    pub confidence: f64,
    /// Places that disprove the card.
    pub disproofs: Vec<Disproof>,
    /// Bad bytes by kind.
    pub bad: BadBytes,
    /// Speed and bad bytes over the address axis.
    pub map: SpeedMap,
    /// Bytes from 0 that were written, by this pass or the one that it went on from.
    pub written_to: u64,
    /// Bytes from 0 that were read back.
    pub read_to: u64,
    /// Remarks that belong into the document, in whole sentences.
    pub remarks: Vec<String>,
    /// What ended it before its end.
    pub stop: Option<Stop>,
}

/// Bad bytes by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BadBytes {
    /// Nothing of this pass stands there.
    pub lost: u64,
    /// Of those, bytes that hold stamps of another pass, or any other data.
    pub foreign: u64,
    /// They hold what was written to another address.
    pub alias: u64,
    /// Sectors with wrong bits.
    pub flipped: u64,
    /// They cannot be read.
    pub failed: u64,
    /// Sectors that were bad in one reading and good in another; not counted as bad.
    pub passing_sectors: u64,
}
