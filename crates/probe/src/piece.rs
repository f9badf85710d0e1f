//! Ranges of a card, cut into the pieces that one I/O each covers.

/// A range of the card that one I/O covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Piece {
    /// First byte.
    pub offset: u64,
    /// Bytes, at most the block of the [`Card`](crate::card::Card).
    pub len: u32,
}

impl Piece {
    /// First byte after it.
    #[must_use]
    pub fn end(self) -> u64 {
        self.offset + u64::from(self.len)
    }
}

/// Cuts a range into pieces of `block` bytes, the last one shorter.
pub fn pieces(start: u64, end: u64, block: u32) -> impl Iterator<Item = Piece> {
    (start..end)
        .step_by(block.max(1) as usize)
        .map(move |offset| Piece { offset, len: u64::from(block).min(end - offset) as u32 })
}
