//! A journal without the places that hold something of later than the test: those are not put back.

use crate::journal::Journal;
use cardscope_engine::journal::{Journal as _, JournalError, Restoring, SavedRange};
use cardscope_engine::ranges::Ranges;
use std::collections::HashMap;

/// What is left of a journal.
pub struct Part<'j> {
    journal: &'j mut Journal,
    /// In the journal's order.
    parts: Vec<SavedRange>,
    /// Of which range each is a part.
    wholes: HashMap<(u64, u64), SavedRange>,
}

impl<'j> Part<'j> {
    /// What of it lies outside of `spared`.
    pub fn new(journal: &'j mut Journal, spared: &[SavedRange]) -> Self {
        let mut left_out = Ranges::default();
        for range in spared {
            left_out.add(range.offset, range.offset + range.len);
        }
        let (mut parts, mut wholes) = (Vec::new(), HashMap::new());
        for whole in journal.saved() {
            for (start, end) in left_out.missing(whole.offset, whole.offset + whole.len) {
                let part = SavedRange { offset: start, len: end - start };
                parts.push(part);
                // Of two that were saved of one place the oldest, which comes last, is what stood there.
                wholes.insert((part.offset, part.len), whole);
            }
        }
        Part { journal, parts, wholes }
    }
}

impl cardscope_engine::journal::Journal for Part<'_> {
    fn save(&mut self, offset: u64, original: &[u8]) -> Result<(), JournalError> {
        self.journal.save(offset, original)
    }

    fn commit(&mut self) -> Result<(), JournalError> {
        self.journal.commit()
    }

    fn saved(&self) -> Vec<SavedRange> {
        self.parts.clone()
    }

    fn original(&mut self, range: SavedRange, into: &mut Vec<u8>) -> Result<(), JournalError> {
        let whole = self.wholes.get(&(range.offset, range.len)).copied().unwrap_or(range);
        self.journal.original(whole, into)?;
        into.drain(..(range.offset - whole.offset) as usize);
        into.truncate(range.len as usize);
        Ok(())
    }

    fn restoring(&mut self, step: Restoring) {
        // What is spared is not written back.
        if step == Restoring::Begun || self.parts == self.journal.saved() {
            self.journal.restoring(step);
        }
    }
}
