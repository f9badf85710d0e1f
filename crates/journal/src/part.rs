//! A journal without the places that hold something of later than the test: those are not put back.

use crate::journal::Journal;
use cardscope_engine::journal::{Journal as _, JournalError, Restoring, SavedRange};
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
    /// `spared` is in order and does not overlap.
    pub fn new(journal: &'j mut Journal, spared: &[SavedRange]) -> Self {
        let (mut parts, mut wholes) = (Vec::new(), HashMap::new());
        for whole in journal.saved() {
            for part in outside(spared, whole) {
                parts.push(part);
                // Of two that were saved of one place the oldest, which comes last, is what stood there.
                wholes.insert((part.offset, part.len), whole);
            }
        }
        Part { journal, parts, wholes }
    }
}

/// What of a range lies outside the ranges that are spared.
fn outside(spared: &[SavedRange], whole: SavedRange) -> Vec<SavedRange> {
    let (mut parts, mut at, end) = (Vec::new(), whole.offset, whole.offset + whole.len);
    let first = spared.partition_point(|range| range.offset + range.len <= at);
    for range in spared[first..].iter().take_while(|range| range.offset < end) {
        if at < range.offset {
            parts.push(SavedRange { offset: at, len: range.offset - at });
        }
        at = range.offset + range.len;
    }
    if at < end {
        parts.push(SavedRange { offset: at, len: end - at });
    }
    parts
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

    fn original(&mut self, kept: SavedRange, into: &mut Vec<u8>) -> Result<(), JournalError> {
        let whole = self.wholes.get(&(kept.offset, kept.len)).copied().unwrap_or(kept);
        self.journal.original(whole, into)?;
        into.drain(..(kept.offset - whole.offset) as usize);
        into.truncate(kept.len as usize);
        Ok(())
    }

    fn restoring(&mut self, step: Restoring) {
        // What is spared is not written back.
        if step == Restoring::Begun || self.parts == self.journal.saved() {
            self.journal.restoring(step);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_falls_into_the_parts_around_what_is_spared() {
        let kept = |offset, len| SavedRange { offset, len };
        let spared = [kept(0, 10), kept(20, 10), kept(40, 10)];
        assert_eq!(outside(&spared, kept(5, 40)), [kept(10, 10), kept(30, 10)]);
        assert_eq!(outside(&spared, kept(22, 4)), []);
        assert_eq!(outside(&spared, kept(60, 4)), [kept(60, 4)]);
        assert_eq!(outside(&[], kept(0, 4)), [kept(0, 4)]);
    }
}
