//! Keeping what a probe is about to overwrite. The probe decides what and when; where it is kept, and how firmly, is
//! the matter of whoever hands a keeper in.
//!
//! Rules (reference page `flash-behaviour` 3.11): within a batch every save comes before the first write, a batch is on
//! disk before the card is touched, and whatever a fake does with its addresses, every place ends with its oldest
//! content: [`crate::restore`] says how.

/// Could not be kept or not be read again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct KeepError(pub String);

/// One range that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// First byte on the card.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
}

/// How far putting back has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PuttingBack {
    /// It begins: until now the places that were overwritten held what the probe wrote.
    Begun,
    /// Everything was written, if not compared.
    Written,
}

/// Keeps originals.
pub trait Keeper {
    /// Takes the original content of a range into the current batch.
    ///
    /// # Errors
    /// If there is no room, or it cannot be written.
    fn keep(&mut self, offset: u64, original: &[u8]) -> Result<(), KeepError>;

    /// Ends the batch; it survives a crash and a power cut when this returns.
    ///
    /// # Errors
    /// If it cannot be made durable.
    fn commit(&mut self) -> Result<(), KeepError>;

    /// Everything that is committed: newest batch first, within a batch by address.
    fn kept(&self) -> Vec<Kept>;

    /// The original of a range of [`Keeper::kept`], in whole.
    ///
    /// # Errors
    /// If it cannot be read, or its checksum is wrong.
    fn original(&mut self, kept: Kept, into: &mut Vec<u8>) -> Result<(), KeepError>;

    /// Hears how far putting back has come. What cannot be noted down keeps nobody from putting back.
    fn putting_back(&mut self, _step: PuttingBack) {}
}
