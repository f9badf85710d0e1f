//! Stamped sectors that name their own address, so that a read shows what a faulty card returned instead: an older
//! generation, another address (a fake that wraps), another run, or foreign data.
//!
//! Layout of the 512 bytes, little-endian: 0 magic `CARDSCOP`, 8 address, 16 salt, 24 generation, 28 zero, 32 checksum
//! of bytes 0 to 31, 40 the stream of salt and generation. The stream is checked by generating it again, so every bit
//! of the sector counts.

use super::generator::{self, BLOCK};
use cardscope_model::random::mix_bits;

const MAGIC: u64 = u64::from_le_bytes(*b"CARDSCOP");
const BODY: usize = 40;
const STAMP_KEY: u64 = 0x7374_616d_7020_6b65;

/// Header of a stamped sector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SectorStamp {
    /// Byte address at which it was written, a multiple of 512.
    pub address: u64,
    /// Identifies the run that wrote it.
    pub salt: u64,
    /// Number of the write to that address.
    pub generation: u32,
}

/// Reads the stamp from the first 512 bytes of a sector. `None` if there is none, or one bit is wrong.
pub fn read_stamp(sector: &[u8]) -> Option<SectorStamp> {
    let stamp = read_stamp_header(sector)?;
    let mut expected = [0; BLOCK];
    write_stamp(&StampKeys::new(stamp.salt, stamp.generation), stamp.address, &mut expected);
    (sector.get(BODY..BLOCK)? == &expected[BODY..]).then_some(stamp)
}

/// Reads the stamp from its header alone, which shows the origin of a sector that is damaged further on.
pub fn read_stamp_header(sector: &[u8]) -> Option<SectorStamp> {
    let word = |at: usize| sector.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes);
    let (magic, address, salt) = (word(0)?, word(8)?, word(16)?);
    let generation = u32::try_from(word(24)?).ok()?;
    let valid = magic == MAGIC && word(32)? == StampKeys::new(salt, generation).checksum(address);
    valid.then_some(SectorStamp { address, salt, generation })
}

/// Values common to all stamps of one salt and generation, computed once for many sectors.
#[derive(Debug, Clone, Copy)]
pub(super) struct StampKeys {
    salt: u64,
    generation: u32,
    stream_key: u64,
    /// Partial checksum; the address comes last, so that it can be added per sector.
    checksum_prefix: u64,
}

impl StampKeys {
    pub(super) fn new(salt: u64, generation: u32) -> Self {
        let body = mix_bits(mix_bits(salt ^ STAMP_KEY).wrapping_add(u64::from(generation)));
        let words = [MAGIC, salt, u64::from(generation)];
        let begun = words.into_iter().fold(STAMP_KEY, |sum, word| mix_bits(sum ^ word));
        StampKeys { salt, generation, stream_key: body, checksum_prefix: begun }
    }

    #[inline]
    fn header(&self, address: u64) -> [u64; BODY / 8] {
        [MAGIC, address, self.salt, u64::from(self.generation), self.checksum(address)]
    }

    /// Each word enters by a bijection: headers that differ in one word never collide, others with probability 2^-64.
    #[inline]
    fn checksum(&self, address: u64) -> u64 {
        mix_bits(self.checksum_prefix ^ address)
    }
}

#[inline]
pub(super) fn write_stamp(keys: &StampKeys, address: u64, sector: &mut [u8; BLOCK]) {
    generator::block(keys.stream_key, address / BLOCK as u64, sector);
    let (words, _) = sector.as_chunks_mut::<8>();
    for (place, word) in words.iter_mut().zip(keys.header(address)) {
        *place = word.to_le_bytes();
    }
}

#[inline]
pub(super) fn matches_stamp(keys: &StampKeys, address: u64, sector: &[u8; BLOCK]) -> bool {
    generator::same(keys.stream_key, address / BLOCK as u64, &keys.header(address), sector)
}
