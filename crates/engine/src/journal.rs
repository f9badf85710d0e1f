//! Journal interface for tests that overwrite a card: data is saved first and restored later. The test decides what is
//! saved and when, the journal where and how durably.
//!
//! Rules (docs/reference/flash.md#preserving-the-data): within a batch every save precedes the first write; a batch is
//! on disk before the card is touched; every place ends with its oldest content, however a fake maps its addresses
//! (crate `journal`).

use crate::cause::ErrorCause;

/// Saving failed, or saved data cannot be read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(transparent)]
pub struct JournalError(pub ErrorCause);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SavedRange {
    pub offset: u64,
    pub len: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestoreProgress {
    /// Restoring begins: from now on, overwritten places may hold original data again.
    Begun,
    /// Everything is written, but not verified yet.
    Written,
}

/// Store of original data.
pub trait JournalWriter {
    /// Adds the original data of a range to the current batch.
    fn save(&mut self, offset: u64, original: &[u8]) -> Result<(), JournalError>;

    /// Ends the batch, which survives a crash or power loss once this returns.
    fn commit(&mut self) -> Result<(), JournalError>;

    /// Committed ranges: newest batch first, within a batch by address.
    fn saved_ranges(&self) -> Vec<SavedRange>;

    /// Reads the original data of a whole saved range and verifies its checksum.
    fn read_original(&mut self, range: SavedRange, into: &mut Vec<u8>) -> Result<(), JournalError>;

    /// Records the progress of restoring. Failures are ignored, since they must not prevent it.
    fn record_restoring(&mut self, _step: RestoreProgress) {}
}
