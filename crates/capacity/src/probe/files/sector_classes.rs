//! Classifies the sectors of all files: counts, first error, ranges of losses, and distances between the expected
//! and the actual content.
//!
//! The classes are those of f3read and h2testw (docs/reference/tools.md#f3-and-h2testw-files): the first word of a
//! sector claims its offset, and the rest is compared with the pattern that starts with it.

use super::file_names::file_name;
use cardscope_engine::content::h2w::{FILE_BYTES, sector_words};
use cardscope_engine::io_driver::ReadAnswer;
use cardscope_model::verify::{AddressDisproof, FirstError, SectorCounts, SectorFound};
use cardscope_probing::sector::{MAX_FLIPS, SECTOR, judge_foreign, wrong_bits};
use std::collections::HashMap;
use std::ops::Range;

const MAX_DISPROOFS: usize = 16;

/// Most separate ranges of losses; a card with more is damaged everywhere.
const MAX_LOST_RANGES: usize = 1 << 16;

const MAX_REREADS: usize = 64;

const MAX_SHIFTS: usize = 4096;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LostRange {
    pub(super) range: Range<u64>,
    pub(super) lost: u64,
}

/// Extent with errors, to be read again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SuspectExtent {
    pub(super) number: u64,
    pub(super) offset_in_file: u64,
    pub(super) len: u32,
    pub(super) counts: SectorCounts,
}

/// Results so far. Offsets refer to the whole data.
#[derive(Debug, Default)]
pub(super) struct SortedSectors {
    /// Ranges that the files hold; content from these ranges is from this test.
    pub(super) tested: Vec<Range<u64>>,
    pub(super) counts: SectorCounts,
    pub(super) first_error: Option<FirstError>,
    pub(super) disproofs: Vec<AddressDisproof>,
    pub(super) runs: Vec<LostRange>,
    pub(super) suspects: Vec<SuspectExtent>,
    /// Displaced content by its distance in bytes.
    pub(super) shifts: HashMap<i64, ContentShift>,
}

/// Content displaced by one distance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ContentShift {
    pub(super) count: u64,
    /// Offset of the first of them …
    pub(super) expected: u64,
    /// … and the tested offset to which its content belongs.
    pub(super) found: u64,
}

/// Position in a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct FileOffset {
    /// Number in the file's name.
    pub(super) number: u64,
    /// Number of the file's content.
    pub(super) content: u64,
    pub(super) offset_in_file: u64,
}

impl FileOffset {
    fn offset(self) -> u64 {
        (self.content - 1) * FILE_BYTES + self.offset_in_file
    }
}

impl SortedSectors {
    /// Counts the sectors of a read of `len` bytes.
    pub(super) fn add_answer(&mut self, at: FileOffset, len: u64, answer: &ReadAnswer<'_>) -> SectorCounts {
        match answer {
            ReadAnswer::Same => {
                let counts = SectorCounts { ok: len / SECTOR as u64, ..SectorCounts::default() };
                self.counts.add_counts(&counts);
                counts
            }
            ReadAnswer::Differs { bytes, .. } => self.add_differing(at, bytes),
            ReadAnswer::Failed(_) => self.add_unreadable(at, len),
        }
    }

    pub(super) fn add_differing(&mut self, place: FileOffset, bytes: &[u8]) -> SectorCounts {
        let mut counts = SectorCounts::default();
        for (at, sector) in bytes.as_chunks::<SECTOR>().0.iter().enumerate() {
            let offset = place.offset() + (at * SECTOR) as u64;
            let found = classify_sector(sector, offset);
            count_sector(&mut counts, found, &self.tested);
            if found == SectorFound::Expected {
                continue;
            }
            if let SectorFound::Elsewhere { address } = found {
                self.add_shift(offset, address);
            }
            self.add_loss(place, (at * SECTOR) as u64, Some(first_word(sector)), found);
        }
        self.add_extent(place, bytes.len() as u64, counts);
        counts
    }

    pub(super) fn add_unreadable(&mut self, place: FileOffset, len: u64) -> SectorCounts {
        let counts = SectorCounts { unreadable: len.div_ceil(SECTOR as u64), ..SectorCounts::default() };
        self.add_loss(place, 0, None, SectorFound::Error);
        self.add_extent(place, len, counts);
        counts
    }

    fn add_shift(&mut self, expected: u64, found: u64) {
        let shift = found.wrapping_sub(expected).cast_signed();
        let known = self.shifts.len() < MAX_SHIFTS || self.shifts.contains_key(&shift);
        if known && self.tested.iter().any(|range| range.contains(&found)) {
            self.shifts.entry(shift).or_insert(ContentShift { count: 0, expected, found }).count += 1;
        }
    }

    fn add_loss(&mut self, place: FileOffset, at: u64, word: Option<u64>, found: SectorFound) {
        let offset = place.offset() + at;
        if self.first_error.as_ref().is_none_or(|first| offset < first.offset) {
            self.first_error = Some(FirstError {
                offset,
                file: file_name(place.number),
                offset_in_file: place.offset_in_file + at,
                expected: sector_words(offset)[0],
                found: word,
            });
        }
        if self.disproofs.len() < MAX_DISPROOFS {
            let expected = format!("h2w sector of offset {offset}, in {}", file_name(place.number));
            self.disproofs.push(AddressDisproof { address: offset, expected, found, seen: 1 });
        }
    }

    fn add_extent(&mut self, place: FileOffset, len: u64, counts: SectorCounts) {
        self.counts.add_counts(&counts);
        if counts.lost_sectors() == 0 {
            return;
        }
        if self.suspects.len() < MAX_REREADS {
            let FileOffset { number, offset_in_file, .. } = place;
            self.suspects.push(SuspectExtent { number, offset_in_file, len: len as u32, counts });
        }
        let range = place.offset()..place.offset() + len;
        let room = self.runs.len() < MAX_LOST_RANGES;
        match self.runs.iter_mut().rev().take(8).find(|run| run.range.end == range.start) {
            Some(run) => {
                run.range.end = range.end;
                run.lost += counts.lost_sectors();
            }
            None if room => self.runs.push(LostRange { range, lost: counts.lost_sectors() }),
            None => {}
        }
    }
}

/// Classifies the sector that was read at `offset` of the whole data.
fn classify_sector(sector: &[u8; SECTOR], offset: u64) -> SectorFound {
    let first = first_word(sector);
    let bits = wrong_bits(sector, sector_words(first).map(u64::to_le_bytes).as_flattened());
    match first == offset {
        true if bits == 0 => SectorFound::Expected,
        true if bits <= MAX_FLIPS => SectorFound::Flipped { bits },
        // Patterns start at multiples of a sector; any other first word is chance, or has a flipped bit.
        false if bits <= MAX_FLIPS && first.is_multiple_of(SECTOR as u64) => {
            SectorFound::Elsewhere { address: first }
        }
        _ => judge_foreign(sector),
    }
}

/// First word of a sector: the offset that it claims.
pub(super) fn first_word(sector: &[u8; SECTOR]) -> u64 {
    sector.first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
}

/// True if a sector holds the unchanged pattern of any offset.
pub fn holds_pattern(sector: &[u8; SECTOR]) -> bool {
    classify_sector(sector, first_word(sector)) == SectorFound::Expected
}

/// Counts one sector. `tested` has the ranges of the whole data that these files hold.
fn count_sector(counts: &mut SectorCounts, found: SectorFound, tested: &[Range<u64>]) {
    match found {
        SectorFound::Expected => counts.ok += 1,
        SectorFound::Flipped { .. } => counts.changed += 1,
        SectorFound::Elsewhere { address } => {
            counts.overwritten += 1;
            counts.aliased += u64::from(tested.iter().any(|range| range.contains(&address)));
        }
        SectorFound::Error => counts.unreadable += 1,
        _ => counts.corrupted += 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_engine::content::{IoContent, fill_content};

    fn extent(base: u64, sectors: usize) -> Vec<u8> {
        let mut bytes = vec![0; sectors * SECTOR];
        fill_content(IoContent::H2w { base }, 0, &mut bytes);
        bytes
    }

    #[test]
    fn wrap_is_one_distance_with_aliases() {
        let mut sorted =
            SortedSectors { tested: std::iter::once(0..FILE_BYTES).collect(), ..SortedSectors::default() };
        let place = FileOffset { number: 1, content: 1, offset_in_file: 4096 };
        let counts = sorted.add_differing(place, &extent(4096 + (8 << 20), 16));
        assert_eq!((counts.overwritten, counts.aliased, counts.ok), (16, 16, 0));
        let far = ContentShift { count: 16, expected: 4096, found: 4096 + (8 << 20) };
        assert_eq!(sorted.shifts, HashMap::from([(8 << 20, far)]));
        let first = sorted.first_error.unwrap();
        assert_eq!((first.offset, first.expected, first.found), (4096, 4096, Some(4096 + (8 << 20))));
    }

    #[test]
    fn adjacent_losses_are_one_range() {
        let mut sorted = SortedSectors::default();
        for offset_in_file in [0, 8192, 4096, 1 << 20] {
            sorted.add_differing(FileOffset { number: 2, content: 2, offset_in_file }, &[0; 4096]);
        }
        assert_eq!(sorted.counts.corrupted, 32);
        assert_eq!(sorted.first_error.unwrap().offset, FILE_BYTES);
        assert!(sorted.runs.len() <= 3, "{:?}", sorted.runs);
    }

    fn sector(offset: u64) -> [u8; SECTOR] {
        *extent(offset, 1).first_chunk().unwrap()
    }

    /// True if the sector counts as "corrupted", as in f3read.
    fn is_corrupted(sector: &[u8; SECTOR], offset: u64) -> bool {
        let mut counts = SectorCounts::default();
        count_sector(&mut counts, classify_sector(sector, offset), &[]);
        counts == SectorCounts { corrupted: 1, ..SectorCounts::default() }
    }

    #[test]
    fn sectors_are_classified_as_by_f3read() {
        let own = sector(4096);
        assert_eq!(classify_sector(&own, 4096), SectorFound::Expected);
        assert_eq!(classify_sector(&sector(8192), 4096), SectorFound::Elsewhere { address: 8192 });
        assert!(is_corrupted(&[0; SECTOR], 4096) && is_corrupted(&[0; SECTOR], 0));
        assert_eq!(classify_sector(&[0; SECTOR], 0), SectorFound::Constant { byte: 0 });
        let mut other = sector(8192);
        other[500] ^= 0x55;
        let elsewhere = SectorFound::Elsewhere { address: 8192 };
        assert_eq!(classify_sector(&other, 4096), elsewhere, "a few wrong bits are forgiven");
    }

    #[test]
    fn seven_wrong_bits_are_changed_and_eight_corrupted() {
        for at in [8, 100, 511] {
            let mut flipped = sector(4096);
            flipped[at] ^= 0x7f;
            assert_eq!(classify_sector(&flipped, 4096), SectorFound::Flipped { bits: 7 }, "byte {at}");
            flipped[at] ^= 0x80;
            assert!(is_corrupted(&flipped, 4096), "byte {at}");
        }
    }

    #[test]
    fn flipped_first_word_is_not_another_sector() {
        for bit in 0..64 {
            let mut flipped = sector(4096);
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(is_corrupted(&flipped, 4096), "bit {bit}");
        }
    }

    #[test]
    fn only_content_of_tested_ranges_is_aliased() {
        let mut counts = SectorCounts::default();
        let tested: Vec<Range<u64>> = std::iter::once(0..1 << 20).collect();
        for address in [512, 1 << 21] {
            count_sector(&mut counts, SectorFound::Elsewhere { address }, &tested);
        }
        assert_eq!((counts.overwritten, counts.aliased), (2, 1));
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic(bytes: [u8; 32], offset: u64) {
            let mut sector = [0; SECTOR];
            sector.as_chunks_mut::<32>().0.fill(bytes);
            let _ = classify_sector(&sector, offset);
        }
    }
}
