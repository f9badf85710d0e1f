//! What stands in a sector of an h2w file, in the classes of f3read and h2testw (reference page `peers` 2.10): the
//! first word says whose sector it is, the others are held against the pattern that begins with it.

use crate::sector::{MOST_FLIPS, SECTOR, SectorFound, unlike_any, wrong_bits};
use cardscope_engine::content::h2w::words;
use cardscope_model::verify::SectorCounts;
use std::ops::Range;

/// Looks at the sector that was read from byte `offset` of the whole data.
pub(super) fn look(sector: &[u8; SECTOR], offset: u64) -> SectorFound {
    let first = first_word(sector);
    let bits = wrong_bits(sector, words(first).map(u64::to_le_bytes).as_flattened());
    match first == offset {
        true if bits == 0 => SectorFound::Expected,
        true if bits <= MOST_FLIPS => SectorFound::Flipped { bits },
        // The pattern begins at sector borders only; a word that lies elsewhere is chance, or a flipped first word.
        false if bits <= MOST_FLIPS && first.is_multiple_of(SECTOR as u64) => {
            SectorFound::Elsewhere { address: first }
        }
        _ => unlike_any(sector),
    }
}

/// The first word of a sector: the offset that it claims.
pub(super) fn first_word(sector: &[u8; SECTOR]) -> u64 {
    sector.first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
}

/// Whether a sector is one of the pattern to the bit, wherever it belongs.
pub fn holds_pattern(sector: &[u8; SECTOR]) -> bool {
    look(sector, first_word(sector)) == SectorFound::Expected
}

/// Counts one sector. `tested` are the ranges of the whole data that these same files hold.
pub(super) fn count(counts: &mut SectorCounts, found: SectorFound, tested: &[Range<u64>]) {
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
    use cardscope_engine::content::{Content, fill};

    fn sector(offset: u64) -> [u8; SECTOR] {
        let mut sector = [0; SECTOR];
        fill(Content::H2w { base: 0 }, offset, &mut sector);
        sector
    }

    /// Counts as f3read's "corrupted".
    fn is_corrupted(sector: &[u8; SECTOR], offset: u64) -> bool {
        let mut counts = SectorCounts::default();
        count(&mut counts, look(sector, offset), &[]);
        counts == SectorCounts { corrupted: 1, ..SectorCounts::default() }
    }

    #[test]
    fn a_sector_is_sorted_as_f3read_sorts_it() {
        let own = sector(4096);
        assert_eq!(look(&own, 4096), SectorFound::Expected);
        assert_eq!(look(&sector(8192), 4096), SectorFound::Elsewhere { address: 8192 });
        assert!(is_corrupted(&[0; SECTOR], 4096) && is_corrupted(&[0; SECTOR], 0));
        assert_eq!(look(&[0; SECTOR], 0), SectorFound::Constant { byte: 0 });
        let mut other = sector(8192);
        other[500] ^= 0x55;
        let elsewhere = SectorFound::Elsewhere { address: 8192 };
        assert_eq!(look(&other, 4096), elsewhere, "a few wrong bits are forgiven");
    }

    #[test]
    fn seven_wrong_bits_are_slightly_changed_and_eight_are_corrupted() {
        for at in [8, 100, 511] {
            let mut flipped = sector(4096);
            flipped[at] ^= 0x7f;
            assert_eq!(look(&flipped, 4096), SectorFound::Flipped { bits: 7 }, "byte {at}");
            flipped[at] ^= 0x80;
            assert!(is_corrupted(&flipped, 4096), "byte {at}");
        }
    }

    #[test]
    fn a_flip_in_the_first_word_is_no_other_sector() {
        for bit in 0..64 {
            let mut flipped = sector(4096);
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(is_corrupted(&flipped, 4096), "bit {bit}");
        }
    }

    #[test]
    fn only_what_belongs_to_another_tested_place_is_aliased() {
        let mut counts = SectorCounts::default();
        let tested: Vec<Range<u64>> = std::iter::once(0..1 << 20).collect();
        for address in [512, 1 << 21] {
            count(&mut counts, SectorFound::Elsewhere { address }, &tested);
        }
        assert_eq!((counts.overwritten, counts.aliased), (2, 1));
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic(bytes: [u8; 32], offset: u64) {
            let mut sector = [0; SECTOR];
            sector.as_chunks_mut::<32>().0.fill(bytes);
            let _ = look(&sector, offset);
        }
    }
}
