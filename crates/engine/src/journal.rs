//! The journal as a test that overwrites a card sees it: what is on the card is saved first and restored later. The
//! test decides what is saved and when; the journal decides where it is stored, and how durably.
//!
//! Rules (docs/reference/flash.md#preserving-the-data): within a batch every save comes before the first write, a batch
//! is on disk before the card is touched, and whatever a fake does with its addresses, every place ends with its oldest
//! content: the crate `journal` says how in its module `put_back`.

use crate::cause::ErrorCause;

/// Could not be saved or not be read again.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(transparent)]
pub struct JournalError(pub ErrorCause);

/// A range whose original is saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SavedRange {
    /// First byte on the card.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
}

/// How far putting back has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestoreProgress {
    /// It begins: until now the places that were overwritten held what was written in their stead.
    Begun,
    /// Everything was written, if not compared.
    Written,
}

/// Holds the originals of what is overwritten.
pub trait JournalWriter {
    /// Takes the original content of a range into the current batch.
    ///
    /// # Errors
    /// If there is no room, or it cannot be written.
    fn save(&mut self, offset: u64, original: &[u8]) -> Result<(), JournalError>;

    /// Ends the batch; it survives a crash and a power cut when this returns.
    fn commit(&mut self) -> Result<(), JournalError>;

    /// Every range that is committed: newest batch first, within a batch by address.
    fn saved(&self) -> Vec<SavedRange>;

    /// The original of a range of [`Journal::saved`], in whole.
    ///
    /// # Errors
    /// If it cannot be read, or its checksum is wrong.
    fn original(&mut self, range: SavedRange, into: &mut Vec<u8>) -> Result<(), JournalError>;

    /// Hears how far putting back has come. What cannot be noted down keeps nobody from putting back.
    fn restoring(&mut self, _step: RestoreProgress) {}
}
