//! Pattern of h2testw's and f3's `N.h2w` files: sectors of 64 little-endian words, of which the first is the sector's
//! byte offset o in the whole data and each further one r = r · 4294967311 + 17 (mod 2^64), from r = o on
//! (docs/reference/tools.md#f3-and-h2testw-files, checked against files that f3write made).
//!
//! A chain of 63 multiplications would be the bottleneck. But word i is A_i · o + C_i with constants, so from one
//! sector to the next it only grows by 512 · A_i: one addition per word, and all 64 at once.

use super::generator::{BLOCK, widest};

const MULTIPLIER: u64 = 4_294_967_311;
const INCREMENT: u64 = 17;

pub const SECTOR_WORDS: usize = BLOCK / 8;

/// Bytes of a full `N.h2w` file; the last one on a card may be shorter.
pub const FILE_BYTES: u64 = 1 << 30;

/// A_i and C_i: word i of the sector at offset o is A_i · o + C_i.
const FORMS: ([u64; SECTOR_WORDS], [u64; SECTOR_WORDS]) = {
    let (mut factors, mut addends) = ([1; SECTOR_WORDS], [0; SECTOR_WORDS]);
    let mut i = 1;
    while i < SECTOR_WORDS {
        factors[i] = MULTIPLIER.wrapping_mul(factors[i - 1]);
        addends[i] = MULTIPLIER.wrapping_mul(addends[i - 1]).wrapping_add(INCREMENT);
        i += 1;
    }
    (factors, addends)
};

const STEPS: [u64; SECTOR_WORDS] = {
    let mut steps = FORMS.0;
    let mut i = 0;
    while i < SECTOR_WORDS {
        steps[i] = steps[i].wrapping_mul(BLOCK as u64);
        i += 1;
    }
    steps
};

pub(super) struct H2wSectors {
    /// Sector whose words are in `words`.
    number: u64,
    words: [u64; SECTOR_WORDS],
}

impl H2wSectors {
    pub(super) fn new(number: u64) -> Self {
        Self { number, words: sector_words(number.wrapping_mul(BLOCK as u64)) }
    }

    /// Writes sector `number`; fast if it follows the previous one.
    #[inline]
    pub(super) fn make(&mut self, number: u64, out: &mut [u8; BLOCK]) {
        self.seek_to(number);
        make(self, out);
    }

    /// True if `found` holds sector `number`; fast if it follows the previous one.
    #[inline]
    pub(super) fn same(&mut self, number: u64, found: &[u8; BLOCK]) -> bool {
        self.seek_to(number);
        same(self, found)
    }

    #[inline]
    fn seek_to(&mut self, number: u64) {
        if number != self.number {
            *self = Self::new(number);
        }
    }

    #[inline(always)]
    fn portable(&mut self, out: &mut [u8; BLOCK]) {
        let (places, _) = out.as_chunks_mut::<8>();
        for ((place, word), step) in places.iter_mut().zip(&mut self.words).zip(&STEPS) {
            *place = word.to_le_bytes();
            *word = word.wrapping_add(*step);
        }
        self.number = self.number.wrapping_add(1);
    }

    #[inline(always)]
    fn portable_same(&mut self, found: &[u8; BLOCK]) -> bool {
        let (places, _) = found.as_chunks::<8>();
        let mut wrong = 0;
        for ((place, word), step) in places.iter().zip(&mut self.words).zip(&STEPS) {
            wrong |= u64::from_le_bytes(*place) ^ *word;
            *word = word.wrapping_add(*step);
        }
        self.number = self.number.wrapping_add(1);
        wrong == 0
    }
}

widest! {
    fn make(sectors: &mut H2wSectors, out: &mut [u8; BLOCK]) -> () = H2wSectors::portable, (sectors, out);
    "avx2" if "avx2"
}

widest! {
    fn same(sectors: &mut H2wSectors, found: &[u8; BLOCK]) -> bool = H2wSectors::portable_same, (sectors, found);
    "avx2" if "avx2"
}

/// Words of the sector at byte `offset` of the whole data.
pub fn sector_words(offset: u64) -> [u64; SECTOR_WORDS] {
    std::array::from_fn(|i| FORMS.0[i].wrapping_mul(offset).wrapping_add(FORMS.1[i]))
}
