//! What a read gave, held against what was expected.

use crate::trouble::Trouble;
use cardscope_engine::content::{Content, Match, compare};

/// What became of one read.
#[derive(Debug)]
pub enum Answer<'a> {
    /// Everything as expected.
    Same,
    /// Something else; its bytes, and the first wrong one.
    Differs {
        /// What was read.
        bytes: &'a [u8],
        /// Offset within it.
        first: usize,
    },
    /// It failed twice.
    Failed(&'a Trouble),
}

pub(crate) fn differs(bytes: &[u8], first: u64) -> Answer<'_> {
    Answer::Differs { bytes, first: first as usize }
}

pub(crate) fn compare_bytes(expected: Content, offset: u64, bytes: &[u8]) -> Match {
    match expected {
        Content::Buffer => Match::DiffersAt(0),
        _ => compare(expected, offset, bytes),
    }
}
