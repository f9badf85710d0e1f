//! Journal in memory.

use cardscope_engine::journal::{JournalError, JournalWriter, SavedRange};

/// Longest range, as in a journal on disk.
const MAX_RANGE_BYTES: usize = 1 << 20;

#[derive(Debug, Default)]
pub struct MemoryJournal {
    batches: Vec<Vec<(SavedRange, Vec<u8>)>>,
    open: Vec<(SavedRange, Vec<u8>)>,
}

impl MemoryJournal {
    /// Changes the saved data of an address, as a bad read or a bad disk would.
    pub fn change_saved(&mut self, offset: u64, how: impl Fn(&mut Vec<u8>)) {
        let saved = self.batches.iter_mut().flatten().filter(|(kept, _)| kept.offset == offset);
        saved.for_each(|(_, bytes)| how(bytes));
    }
}

impl JournalWriter for MemoryJournal {
    fn save(&mut self, offset: u64, original: &[u8]) -> Result<(), JournalError> {
        let parts = original.chunks(MAX_RANGE_BYTES).zip((offset..).step_by(MAX_RANGE_BYTES));
        self.open.extend(
            parts.map(|(part, at)| (SavedRange { offset: at, len: part.len() as u64 }, part.to_vec())),
        );
        Ok(())
    }
    fn commit(&mut self) -> Result<(), JournalError> {
        self.batches.push(std::mem::take(&mut self.open));
        Ok(())
    }
    fn saved_ranges(&self) -> Vec<SavedRange> {
        let batch = |batch: &Vec<(SavedRange, Vec<u8>)>| {
            let mut ranges: Vec<SavedRange> = batch.iter().map(|(kept, _)| *kept).collect();
            ranges.sort_by_key(|kept| kept.offset);
            ranges
        };
        self.batches.iter().rev().flat_map(batch).collect()
    }
    fn read_original(&mut self, kept: SavedRange, into: &mut Vec<u8>) -> Result<(), JournalError> {
        let found = self.batches.iter().flatten().find(|(k, _)| *k == kept);
        into.clone_from(&found.ok_or_else(|| JournalError("not kept".into()))?.1);
        Ok(())
    }
}
