//! Confidence limits for properties that are read from a log.

pub(super) const MIN_CONFIDENCE: f64 = 0.9;

/// Highest probability of a result, because the lines of one table are not independent.
pub(super) const MAX_CONFIDENCE: f64 = 0.995;

pub(super) const NOT_IN_LOG: &str = "not in the log";
