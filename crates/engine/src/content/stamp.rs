//! Sectors that say where they belong, so that a read tells not only that a card lied but what it gave instead:
//! an older generation, another address (a fake that wraps), another run, or nothing of ours.
//!
//! Layout of the 512 bytes, little-endian: 0 magic `CARDSCOP`, 8 address, 16 salt, 24 generation, 28 zero,
//! 32 checksum of bytes 0 to 31, 40 the stream of salt and generation. The whole rest is checked by making it
//! again, so every bit of the sector counts.

use super::generator::{self, BLOCK};
use cardscope_model::random::mix;

const MAGIC: u64 = u64::from_le_bytes(*b"CARDSCOP");
const BODY: usize = 40;
const STAMP_KEY: u64 = 0x7374_616d_7020_6b65;

/// What a stamped sector says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SectorStamp {
    /// The byte address that it was written to, a multiple of 512.
    pub address: u64,
    /// Which run wrote it.
    pub salt: u64,
    /// The how manieth write to that address it was.
    pub generation: u32,
}

/// Reads the stamp of a sector (its first 512 bytes). `None` where it holds no stamp, or where one bit of it is wrong.
pub fn read_stamp(sector: &[u8]) -> Option<SectorStamp> {
    let stamp = read_stamp_header(sector)?;
    let mut expected = [0; BLOCK];
    write(&StampKeys::new(stamp.salt, stamp.generation), stamp.address, &mut expected);
    (sector.get(BODY..BLOCK)? == &expected[BODY..]).then_some(stamp)
}

/// Reads the stamp of a sector by its header alone: tells where a sector came from whose rest was damaged.
pub fn read_stamp_header(sector: &[u8]) -> Option<SectorStamp> {
    let word = |at: usize| sector.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes);
    let (magic, address, salt) = (word(0)?, word(8)?, word(16)?);
    let generation = u32::try_from(word(24)?).ok()?;
    let valid = magic == MAGIC && word(32)? == StampKeys::new(salt, generation).checksum(address);
    valid.then_some(SectorStamp { address, salt, generation })
}

/// What all stamps of one salt and generation have in common, made once for many sectors.
#[derive(Debug, Clone, Copy)]
pub(super) struct StampKeys {
    salt: u64,
    generation: u32,
    /// Key of the stream that fills them.
    body: u64,
    /// The checksum as far as it does not hang on the address, which comes last for that reason.
    begun: u64,
}

impl StampKeys {
    pub(super) fn new(salt: u64, generation: u32) -> Self {
        let body = mix(mix(salt ^ STAMP_KEY).wrapping_add(u64::from(generation)));
        let words = [MAGIC, salt, u64::from(generation)];
        let begun = words.into_iter().fold(STAMP_KEY, |sum, word| mix(sum ^ word));
        StampKeys { salt, generation, body, begun }
    }

    #[inline]
    fn header(&self, address: u64) -> [u64; BODY / 8] {
        [MAGIC, address, self.salt, u64::from(self.generation), self.checksum(address)]
    }

    /// A bijection of each word in turn: two headers that differ in one word never share it, others by 1 in 2^64.
    #[inline]
    fn checksum(&self, address: u64) -> u64 {
        mix(self.begun ^ address)
    }
}

/// Writes the stamped sector of an address.
#[inline]
pub(super) fn write(keys: &StampKeys, address: u64, sector: &mut [u8; BLOCK]) {
    generator::block(keys.body, address / BLOCK as u64, sector);
    let (words, _) = sector.as_chunks_mut::<8>();
    for (place, word) in words.iter_mut().zip(keys.header(address)) {
        *place = word.to_le_bytes();
    }
}

/// Whether that is what a sector holds.
#[inline]
pub(super) fn same(keys: &StampKeys, address: u64, sector: &[u8; BLOCK]) -> bool {
    generator::same(keys.body, address / BLOCK as u64, &keys.header(address), sector)
}
