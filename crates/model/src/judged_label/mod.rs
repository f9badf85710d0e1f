//! Holds a label against what is possible, what the card says of itself, and what was seen of it.

mod capacity;
mod marks;
mod speed;

use crate::finding::Finding;
use crate::identity::Identity;
use cardscope_sd::label::Label;

/// Sequential speeds that were measured, one figure a run, in MB/s (10^6).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measured {
    /// Reading.
    pub read_mb_s: Vec<f64>,
    /// Writing.
    pub write_mb_s: Vec<f64>,
    /// What reader or bus carry, where known.
    pub ceiling_mb_s: Option<f64>,
}

/// What was seen of a card; what is not known is left out.
#[derive(Debug, Clone, Default)]
pub struct Seen<'a> {
    /// Bytes that the card announces.
    pub announced_bytes: Option<u64>,
    /// Bytes that can be trusted, where that was tested and came to an answer.
    pub usable_bytes: Option<u64>,
    /// How sure that answer is, 0 to 1.
    pub usable_confidence: f64,
    /// What it says of itself.
    pub identity: Option<&'a Identity>,
    /// How fast it was.
    pub measured: Measured,
}

/// What is untrue or odd about a label, and what was found to be true.
#[must_use]
pub fn judge(label: &Label, seen: &Seen<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    capacity::judge(label, seen, &mut findings);
    marks::judge(label, seen, &mut findings);
    speed::judge(label, seen, &mut findings);
    findings
}
