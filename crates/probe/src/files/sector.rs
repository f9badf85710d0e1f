//! What stands in a sector of an h2w file, in the classes of f3read and h2testw (reference page `peers` 2.10): the
//! first word says whose sector it is, the others are held against the pattern that begins with it.

use crate::sector::MOST_FLIPS;
use cardscope_engine::content::h2w::{WORDS, words};
use cardscope_model::verify::{SectorCounts, SectorFound};
use std::ops::Range;

/// Bytes of a sector.
pub const SECTOR: usize = 512;

/// What a sector turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// As written.
    Ok,
    /// The right one, with 1 to 7 wrong bits.
    Changed {
        /// How many.
        bits: u32,
    },
    /// That of another place.
    Overwritten {
        /// Byte offset in the whole data that it belongs to.
        of: u64,
    },
    /// Anything else.
    Corrupted,
}

/// Looks at the sector that was read from byte `offset` of the whole data.
pub(super) fn look(sector: &[u8; SECTOR], offset: u64) -> Class {
    let found = first_word(sector);
    match (found == offset, wrong_bits(sector, found)) {
        (true, 0) => Class::Ok,
        (true, bits) if bits <= MOST_FLIPS => Class::Changed { bits },
        // The pattern begins at sector borders only; a word that lies elsewhere is chance, or a flipped first word.
        (false, bits) if bits <= MOST_FLIPS && found.is_multiple_of(SECTOR as u64) => {
            Class::Overwritten { of: found }
        }
        _ => Class::Corrupted,
    }
}

/// The first word of a sector: the offset that it claims.
pub(super) fn first_word(sector: &[u8; SECTOR]) -> u64 {
    sector.first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
}

/// Whether a sector is one of the pattern, wherever it belongs.
pub fn is_of_the_pattern(sector: &[u8; SECTOR]) -> bool {
    look(sector, first_word(sector)) == Class::Ok
}

/// Bits of the words behind the first in which a sector differs from the pattern that begins with `start`.
fn wrong_bits(sector: &[u8; SECTOR], start: u64) -> u32 {
    let expected = words(start);
    let (found, _) = sector.as_chunks::<8>();
    (1..WORDS).map(|i| (u64::from_le_bytes(found[i]) ^ expected[i]).count_ones()).sum()
}

/// The same class in the words of the other methods.
pub(super) fn found(sector: &[u8; SECTOR], class: Class) -> SectorFound {
    match class {
        Class::Ok => SectorFound::Expected,
        Class::Changed { bits } => SectorFound::Flipped { bits },
        Class::Overwritten { of } => SectorFound::Elsewhere { address: of },
        Class::Corrupted if sector.iter().all(|byte| *byte == sector[0]) => {
            SectorFound::Constant { byte: sector[0] }
        }
        Class::Corrupted => SectorFound::Other,
    }
}

/// Counts one class. `tested` are the ranges of the whole data that these same files hold.
pub(super) fn count(counts: &mut SectorCounts, class: Class, tested: &[Range<u64>]) {
    match class {
        Class::Ok => counts.ok += 1,
        Class::Changed { .. } => counts.changed += 1,
        Class::Corrupted => counts.corrupted += 1,
        Class::Overwritten { of } => {
            counts.overwritten += 1;
            counts.aliased += u64::from(tested.iter().any(|range| range.contains(&of)));
        }
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

    #[test]
    fn a_sector_is_sorted_as_f3read_sorts_it() {
        let own = sector(4096);
        assert_eq!(look(&own, 4096), Class::Ok);
        assert_eq!(look(&sector(8192), 4096), Class::Overwritten { of: 8192 });
        assert_eq!(look(&[0; SECTOR], 4096), Class::Corrupted);
        assert_eq!(look(&[0; SECTOR], 0), Class::Corrupted);
        let mut other = sector(8192);
        other[500] ^= 0x55;
        assert_eq!(look(&other, 4096), Class::Overwritten { of: 8192 }, "a few wrong bits are forgiven");
    }

    #[test]
    fn seven_wrong_bits_are_slightly_changed_and_eight_are_corrupted() {
        for (mask, class) in [(0x7fu8, Class::Changed { bits: 7 }), (0xff, Class::Corrupted)] {
            for at in [8, 100, 511] {
                let mut flipped = sector(4096);
                flipped[at] ^= mask;
                assert_eq!(look(&flipped, 4096), class, "byte {at}");
            }
        }
    }

    #[test]
    fn a_flip_in_the_first_word_is_no_other_sector() {
        for bit in 0..64 {
            let mut flipped = sector(4096);
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(look(&flipped, 4096), Class::Corrupted, "bit {bit}");
        }
    }

    #[test]
    fn only_what_belongs_to_another_tested_place_is_aliased() {
        let mut counts = SectorCounts::default();
        let tested: Vec<Range<u64>> = std::iter::once(0..1 << 20).collect();
        for of in [512, 1 << 21] {
            count(&mut counts, Class::Overwritten { of }, &tested);
        }
        assert_eq!((counts.overwritten, counts.aliased), (2, 1));
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic(bytes: [u8; 32], offset: u64) {
            let mut sector = [0; SECTOR];
            sector.as_chunks_mut::<32>().0.fill(bytes);
            let class = look(&sector, offset);
            let _ = found(&sector, class);
        }
    }
}
