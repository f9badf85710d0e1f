//! Evidence against a reader: reads of one place that gave different data.

use crate::units::{BinarySize, grouped};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Claim of the finding that a test on such a reader has.
pub const CLAIM: &str = "suspect-reader";

/// One read command. In bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadRequest {
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
}

/// Two reads of one place that gave different data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadDifference {
    /// First byte of the first sector that differs.
    pub offset: u64,
    /// The earlier read.
    pub first: ReadRequest,
    /// The later read.
    pub second: ReadRequest,
}

/// Step of a test in which reads differed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadStage {
    /// Before the first write.
    BeforeWriting,
    /// While data was saved that the test was about to overwrite.
    Saving,
    /// While what had been written was read back.
    ReadingBack,
}

/// A reader (or a card) that does not give the same data each time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuspectReader {
    /// When it showed.
    pub stage: ReadStage,
    /// Reads that were compared.
    pub reads: u64,
    /// Reads that differed from an earlier one.
    pub differing_reads: u64,
    /// The first of them.
    pub differences: Vec<ReadDifference>,
    /// True where the test ended for it; false where nothing was to be preserved.
    pub ended_test: bool,
}

impl SuspectReader {
    /// Differences that are listed at most.
    pub const LISTED: usize = 16;
}

impl fmt::Display for SuspectReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SuspectReader { reads, differing_reads, .. } = self;
        write!(
            f,
            "{} of {} reads gave other data than an earlier read",
            grouped(*differing_reads),
            grouped(*reads)
        )?;
        let Some(ReadDifference { offset, first, second }) = self.differences.first() else { return Ok(()) };
        write!(f, " of the same place (first at byte {}: ", grouped(*offset))?;
        let (one, other) = (BinarySize(first.len), BinarySize(second.len));
        match first == second {
            true => write!(f, "two reads of {one} differ)"),
            false => write!(f, "{one} and {other} reads differ)"),
        }
    }
}
