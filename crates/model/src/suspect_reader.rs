//! Evidence against a reader: reads of the same range with different data.

use crate::units::{BinarySize, group_digits};
use serde::{Deserialize, Serialize};
use std::fmt;

pub const SUSPECT_READER_CLAIM: &str = "suspect-reader";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadRequest {
    pub offset: u64,
    pub len: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadDifference {
    pub offset: u64,
    pub first: ReadRequest,
    pub second: ReadRequest,
}

/// Step of a test in which reads differed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadStage {
    BeforeWriting,
    /// While data was saved before it is overwritten.
    Saving,
    /// While written data was verified.
    ReadingBack,
}

/// Reader (or card) that returns inconsistent data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuspectReader {
    pub stage: ReadStage,
    pub reads: u64,
    pub differing_reads: u64,
    pub differences: Vec<ReadDifference>,
    /// True if the test ended because of it; false if no data had to be preserved.
    pub ended_test: bool,
}

impl SuspectReader {
    pub const MAX_LISTED: usize = 16;
}

impl fmt::Display for SuspectReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SuspectReader { reads, differing_reads, .. } = self;
        let (differing, reads) = (group_digits(*differing_reads), group_digits(*reads));
        write!(f, "{differing} of {reads} reads gave other data than an earlier read")?;
        let Some(ReadDifference { offset, first, second }) = self.differences.first() else { return Ok(()) };
        write!(f, " of the same place (first at byte {}: ", group_digits(*offset))?;
        let (one, other) = (BinarySize(first.len), BinarySize(second.len));
        match first == second {
            true => write!(f, "two reads of {one} differ)"),
            false => write!(f, "{one} and {other} reads differ)"),
        }
    }
}
