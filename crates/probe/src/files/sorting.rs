//! What the reading found, over all files: counts, the first error, where losses lie, and by how much the address of
//! what stands there instead is off.

use super::names::file_name;
use super::sector::{count, first_word, look};
use crate::sector::{SECTOR, SectorFound};
use cardscope_engine::card::Answer;
use cardscope_engine::content::h2w::{FILE_BYTES, words};
use cardscope_model::verify::{Disproof, FirstError, SectorCounts};
use std::collections::HashMap;
use std::ops::Range;

/// Disproofs that are kept word by word.
const MOST_DISPROOFS: usize = 16;

/// Stretches of losses that are kept apart; a card with more is damaged all over.
const MOST_RUNS: usize = 1 << 16;

/// Pieces that are read a second time.
const MOST_SECOND_LOOKS: usize = 64;

/// Differences of addresses that are counted apart.
const MOST_SHIFTS: usize = 4096;

/// A stretch in which sectors were lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) range: Range<u64>,
    pub(super) lost: u64,
}

/// An extent that was not as written, to be looked at once more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Suspect {
    pub(super) number: u64,
    pub(super) offset_in_file: u64,
    pub(super) len: u32,
    pub(super) counts: SectorCounts,
}

/// What was found so far. Offsets are those of the whole data.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    /// What the files hold by their numbers: content that belongs there came from another place of this test.
    pub(super) tested: Vec<Range<u64>>,
    pub(super) counts: SectorCounts,
    pub(super) first_error: Option<FirstError>,
    pub(super) disproofs: Vec<Disproof>,
    pub(super) runs: Vec<Run>,
    pub(super) suspects: Vec<Suspect>,
    /// Content that was found away from its place, by how many bytes.
    pub(super) shifts: HashMap<i64, Shift>,
}

/// Content that was found so and so far from its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shift {
    /// Sectors.
    pub(super) count: u64,
    /// The offset of the first of them …
    pub(super) expected: u64,
    /// … and the one that its content belongs to, a tested one too.
    pub(super) found: u64,
}

/// An extent of a file, as it was read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// The file's number by its name.
    pub(super) number: u64,
    /// The number by its content.
    pub(super) content: u64,
    pub(super) offset_in_file: u64,
}

impl Place {
    /// Where it lies in the whole data.
    fn offset(self) -> u64 {
        (self.content - 1) * FILE_BYTES + self.offset_in_file
    }
}

impl Sorted {
    /// Takes what a read of `len` bytes found.
    pub(super) fn take(&mut self, place: Place, len: u64, answer: &Answer<'_>) -> SectorCounts {
        match answer {
            Answer::Same => self.same(len),
            Answer::Differs { bytes, .. } => self.differs(place, bytes),
            Answer::Failed(_) => self.unreadable(place, len),
        }
    }

    /// Everything as written.
    fn same(&mut self, bytes: u64) -> SectorCounts {
        let counts = SectorCounts { ok: bytes / SECTOR as u64, ..SectorCounts::default() };
        self.counts.add(&counts);
        counts
    }

    /// Something else: sector by sector.
    pub(super) fn differs(&mut self, place: Place, bytes: &[u8]) -> SectorCounts {
        let mut counts = SectorCounts::default();
        for (at, sector) in bytes.as_chunks::<SECTOR>().0.iter().enumerate() {
            let offset = place.offset() + (at * SECTOR) as u64;
            let found = look(sector, offset);
            count(&mut counts, found, &self.tested);
            if found == SectorFound::Expected {
                continue;
            }
            if let SectorFound::Elsewhere { address } = found {
                self.shifted(offset, address);
            }
            self.lost(place, (at * SECTOR) as u64, Some(first_word(sector)), found);
        }
        self.took(place, bytes.len() as u64, counts);
        counts
    }

    /// It could not be read.
    pub(super) fn unreadable(&mut self, place: Place, len: u64) -> SectorCounts {
        let counts = SectorCounts { unreadable: len.div_ceil(SECTOR as u64), ..SectorCounts::default() };
        self.lost(place, 0, None, SectorFound::Error);
        self.took(place, len, counts);
        counts
    }

    fn shifted(&mut self, expected: u64, found: u64) {
        let shift = found.wrapping_sub(expected).cast_signed();
        let known = self.shifts.len() < MOST_SHIFTS || self.shifts.contains_key(&shift);
        if known && self.tested.iter().any(|range| range.contains(&found)) {
            self.shifts.entry(shift).or_insert(Shift { count: 0, expected, found }).count += 1;
        }
    }

    fn lost(&mut self, place: Place, at: u64, word: Option<u64>, found: SectorFound) {
        let offset = place.offset() + at;
        if self.first_error.as_ref().is_none_or(|first| offset < first.offset) {
            self.first_error = Some(FirstError {
                offset,
                file: file_name(place.number),
                offset_in_file: place.offset_in_file + at,
                expected: words(offset)[0],
                found: word,
            });
        }
        if self.disproofs.len() < MOST_DISPROOFS {
            let expected = format!("h2w sector of offset {offset}, in {}", file_name(place.number));
            self.disproofs.push(Disproof { address: offset, expected, found, seen: 1 });
        }
    }

    fn took(&mut self, place: Place, len: u64, counts: SectorCounts) {
        self.counts.add(&counts);
        if counts.lost() == 0 {
            return;
        }
        if self.suspects.len() < MOST_SECOND_LOOKS {
            let Place { number, offset_in_file, .. } = place;
            self.suspects.push(Suspect { number, offset_in_file, len: len as u32, counts });
        }
        let range = place.offset()..place.offset() + len;
        let room = self.runs.len() < MOST_RUNS;
        match self.runs.iter_mut().rev().take(8).find(|run| run.range.end == range.start) {
            Some(run) => {
                run.range.end = range.end;
                run.lost += counts.lost();
            }
            None if room => self.runs.push(Run { range, lost: counts.lost() }),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_engine::content::{Content, fill};

    fn extent(base: u64, sectors: usize) -> Vec<u8> {
        let mut bytes = vec![0; sectors * SECTOR];
        fill(Content::H2w { base }, 0, &mut bytes);
        bytes
    }

    #[test]
    fn a_wrap_shows_as_one_distance_and_aliases() {
        let mut sorted = Sorted { tested: std::iter::once(0..FILE_BYTES).collect(), ..Sorted::default() };
        let place = Place { number: 1, content: 1, offset_in_file: 4096 };
        let counts = sorted.differs(place, &extent(4096 + (8 << 20), 16));
        assert_eq!((counts.overwritten, counts.aliased, counts.ok), (16, 16, 0));
        let far = Shift { count: 16, expected: 4096, found: 4096 + (8 << 20) };
        assert_eq!(sorted.shifts, HashMap::from([(8 << 20, far)]));
        let first = sorted.first_error.unwrap();
        assert_eq!((first.offset, first.expected, first.found), (4096, 4096, Some(4096 + (8 << 20))));
    }

    #[test]
    fn losses_side_by_side_are_one_run() {
        let mut sorted = Sorted::default();
        for offset_in_file in [0, 8192, 4096, 1 << 20] {
            sorted.differs(Place { number: 2, content: 2, offset_in_file }, &[0; 4096]);
        }
        assert_eq!(sorted.counts.corrupted, 32);
        assert_eq!(sorted.first_error.unwrap().offset, FILE_BYTES);
        assert!(sorted.runs.len() <= 3, "{:?}", sorted.runs);
    }
}
