//! Sectors that say where they belong, so that a read tells not only that a card lied but what it gave instead:
//! an older generation, another address (a fake that wraps), another run, or nothing of ours.
//!
//! Layout of the 512 bytes, little-endian: 0 magic `CARDSCOP`, 8 address, 16 salt, 24 generation, 28 zero,
//! 32 checksum of bytes 0 to 31, 40 the stream of salt and generation. The whole rest is checked by making it
//! again, so every bit of the sector counts.

use super::generator::{self, BLOCK};

const MAGIC: u64 = u64::from_le_bytes(*b"CARDSCOP");
const BODY: usize = 40;
const STAMP_KEY: u64 = 0x7374_616d_7020_6b65;

/// What a stamped sector says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// The byte address that it was written to, a multiple of 512.
    pub address: u64,
    /// Which run wrote it.
    pub salt: u64,
    /// The how manieth write to that address it was.
    pub generation: u32,
}

/// Reads the stamp of a sector (its first 512 bytes). `None` where it holds no stamp, or where one bit of it is wrong.
#[must_use]
pub fn read_stamp(sector: &[u8]) -> Option<Stamp> {
    let stamp = read_stamp_header(sector)?;
    let mut expected = [0; BLOCK];
    write(stamp, body_key(stamp.salt, stamp.generation), &mut expected);
    (sector.get(BODY..BLOCK)? == &expected[BODY..]).then_some(stamp)
}

/// Reads the stamp of a sector by its header alone: tells where a sector came from whose rest was damaged.
#[must_use]
pub fn read_stamp_header(sector: &[u8]) -> Option<Stamp> {
    let word = |at: usize| sector.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes);
    let header = [word(0)?, word(8)?, word(16)?, word(24)?];
    let generation = u32::try_from(header[3]).ok()?;
    let sound = header[0] == MAGIC && word(32)? == checksum(header);
    sound.then_some(Stamp { address: header[1], salt: header[2], generation })
}

/// Key of the stream that fills the stamps of one salt and generation.
pub(super) fn body_key(salt: u64, generation: u32) -> u64 {
    generator::mix(generator::mix(salt ^ STAMP_KEY).wrapping_add(u64::from(generation)))
}

/// Writes one stamped sector; `key` is its [`body_key`], made once for many sectors.
#[inline]
pub(super) fn write(stamp: Stamp, key: u64, sector: &mut [u8; BLOCK]) {
    generator::block(key, stamp.address / BLOCK as u64, sector);
    let header = [MAGIC, stamp.address, stamp.salt, u64::from(stamp.generation)];
    for (at, word) in header.into_iter().chain([checksum(header)]).enumerate() {
        sector[8 * at..8 * at + 8].copy_from_slice(&word.to_le_bytes());
    }
}

/// A bijection of each word in turn: two headers that differ in one word never share it, others by 1 in 2^64.
fn checksum(header: [u64; 4]) -> u64 {
    header.into_iter().fold(STAMP_KEY, |sum, word| generator::mix(sum ^ word))
}
