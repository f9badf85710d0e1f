//! What was seen of a card, as far as a label is held against it.

use crate::identity::Identity;

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
