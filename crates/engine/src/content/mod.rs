//! Content of I/Os as a description: real targets generate the bytes, simulated ones keep the description.
//!
//! Content depends on the address in blocks of 512 bytes, so any part can be generated or checked alone, in any order.
//! The generator's speed: docs/reference/tools.md#pattern-generator.

mod generator;
pub mod h2w;
mod stamp;
#[cfg(test)]
mod tests;

pub use stamp::{SectorStamp, read_stamp, read_stamp_header};

use cardscope_model::random::mix_bits;
use generator::BLOCK;
use serde::{Deserialize, Serialize};

/// Content of a write, or expected content of a read. Saved states of simulated cards depend on the order of variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum IoContent {
    /// Incompressible bytes that are never verified. Real targets generate them once per slot and write the same ones
    /// over and over, as fio and CrystalDiskMark do.
    Noise,
    Constant(u8),
    /// Endless incompressible stream: byte `a` of the target is byte `a` of the stream.
    Stream {
        seed: u64,
    },
    /// Sectors of 512 bytes with address, salt, generation and checksum, filled up from the stream of salt and
    /// generation.
    Stamp {
        /// Distinguishes stamps of this run from those of others.
        salt: u64,
        /// Number of the write to this address.
        generation: u32,
    },
    /// Bytes in the slot's buffer.
    Buffer,
    /// Pattern of h2testw's and f3's files: byte `a` of the target is byte `base + a` of the whole data, so a file
    /// `N.h2w` has `base` = (N − 1) · 2^30.
    H2w {
        /// Start of the target in the whole data.
        base: u64,
    },
}

/// Result of comparing a read with the expected content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentMatch {
    Same,
    /// Offset of the first wrong byte within the read.
    DiffersAt(u64),
}

/// Separate keys: the three kinds of streams differ even for equal seeds.
const NOISE_KEY: u64 = 0x6e6f_6973_6520_6b65;
const STREAM_KEY: u64 = 0x7374_7265_616d_206b;

/// Generates `content` from byte `offset` of the target on. [`IoContent::Noise`] uses the stream from which all noise is
/// cut; [`IoContent::Buffer`] leaves the bytes unchanged.
pub fn fill_content(content: IoContent, offset: u64, bytes: &mut [u8]) {
    match content {
        IoContent::Noise | IoContent::Stream { .. } => {
            let key = stream_key(content);
            fill_blocks(offset, bytes, |number, block| generator::block(key, number, block));
        }
        IoContent::Constant(byte) => bytes.fill(byte),
        IoContent::Stamp { salt, generation } => {
            let keys = stamp::StampKeys::new(salt, generation);
            let write = |number, block: &mut _| stamp::write_stamp(&keys, number * BLOCK as u64, block);
            fill_blocks(offset, bytes, write);
        }
        IoContent::H2w { base } => {
            let start = base.wrapping_add(offset);
            let mut sectors = h2w::H2wSectors::new(start / BLOCK as u64);
            fill_blocks(start, bytes, |number, block| sectors.make(number, block));
        }
        IoContent::Buffer => {}
    }
}

/// Key of the generator for noise and streams.
fn stream_key(content: IoContent) -> u64 {
    match content {
        IoContent::Stream { seed } => mix_bits(seed ^ STREAM_KEY),
        _ => NOISE_KEY,
    }
}

/// Value that all bytes share; `None` if they differ or there are none.
pub fn constant_byte(bytes: &[u8]) -> Option<u8> {
    let (first, rest) = bytes.split_first()?;
    // One comparison of the slice with itself shifted by one handles many bytes at a time.
    (*rest == bytes[..rest.len()]).then_some(*first)
}

/// Compares `bytes`, read from byte `offset` on, with `content`. [`IoContent::Buffer`] expects nothing and always
/// matches.
pub fn compare_content(content: IoContent, offset: u64, bytes: &[u8]) -> ContentMatch {
    if content == IoContent::Buffer {
        return ContentMatch::Same;
    }
    // Small enough for the first-level cache, so generating and comparing run at memory speed.
    let mut expected = [0u8; 16 * BLOCK];
    let mut at = count_matching_bytes(content, offset, bytes);
    while at < bytes.len() {
        // The first part ends on a block boundary: all others start on one, and no block is generated twice.
        let room = expected.len() - ((offset + at as u64) % BLOCK as u64) as usize;
        let found = &bytes[at..bytes.len().min(at + room)];
        let wanted = &mut expected[..found.len()];
        fill_content(content, offset + at as u64, wanted);
        if let Some(first) = first_difference(wanted, found) {
            return ContentMatch::DiffersAt((at + first) as u64);
        }
        at += found.len();
    }
    ContentMatch::Same
}

/// Number of bytes at the start that match, in whole blocks, compared without a copy. Returns 0 for content that is not
/// aligned to blocks.
fn count_matching_bytes(content: IoContent, offset: u64, bytes: &[u8]) -> usize {
    let start = match content {
        IoContent::H2w { base } => base.wrapping_add(offset),
        _ => offset,
    };
    if !start.is_multiple_of(BLOCK as u64) {
        return 0;
    }
    let first = start / BLOCK as u64;
    match content {
        IoContent::Noise | IoContent::Stream { .. } => {
            let key = stream_key(content);
            count_leading_blocks(first, bytes, |number, block| generator::same(key, number, &[], block))
        }
        IoContent::Stamp { salt, generation } => {
            let keys = stamp::StampKeys::new(salt, generation);
            let same = |number, block: &_| stamp::matches_stamp(&keys, number * BLOCK as u64, block);
            count_leading_blocks(first, bytes, same)
        }
        IoContent::H2w { .. } => {
            let mut sectors = h2w::H2wSectors::new(first);
            count_leading_blocks(first, bytes, |number, block| sectors.same(number, block))
        }
        IoContent::Constant(_) | IoContent::Buffer => 0,
    }
}

/// Bytes of the blocks before the first mismatch.
fn count_leading_blocks(first: u64, bytes: &[u8], mut same: impl FnMut(u64, &[u8; BLOCK]) -> bool) -> usize {
    let (blocks, _) = bytes.as_chunks::<BLOCK>();
    let equal = blocks.iter().zip(first..).take_while(|(block, number)| same(*number, block)).count();
    equal * BLOCK
}

/// Index of the first byte that differs, within the shorter of the two.
pub fn first_difference(wanted: &[u8], found: &[u8]) -> Option<usize> {
    // Slice equality is a memcmp; the bytewise search is for the rare unequal ones.
    if wanted == found { None } else { wanted.iter().zip(found).position(|(a, b)| a != b) }
}

/// Generates a range in blocks by address; partial blocks at the ends are generated in full and copied in part.
fn fill_blocks(offset: u64, bytes: &mut [u8], mut make: impl FnMut(u64, &mut [u8; BLOCK])) {
    let mut number = offset / BLOCK as u64;
    let lead = (offset % BLOCK as u64) as usize;
    let mut rest = bytes;
    let mut spare = [0u8; BLOCK];
    if lead != 0 {
        let (head, tail) = rest.split_at_mut(rest.len().min(BLOCK - lead));
        make(number, &mut spare);
        head.copy_from_slice(&spare[lead..lead + head.len()]);
        number += 1;
        rest = tail;
    }
    let (whole, tail) = rest.as_chunks_mut::<BLOCK>();
    for block in whole {
        make(number, block);
        number += 1;
    }
    if !tail.is_empty() {
        make(number, &mut spare);
        tail.copy_from_slice(&spare[..tail.len()]);
    }
}
