//! How sure a reading of a log must be, and how it says that it has nothing to read.

/// What is chosen must be so much more probable than anything else, as a person who reads a column is sure of it.
pub(super) const SURE: f64 = 0.9;

/// No reading of a few lines is surer than this: lines of one table are not independent of each other.
pub(super) const MOST_SURE: f64 = 0.995;

/// Why a property is not known where a log has no table of it.
pub(super) const NOT_IN_LOG: &str = "not in the log";
