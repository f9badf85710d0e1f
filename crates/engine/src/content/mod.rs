//! What is written, given as a description: a real target makes the bytes, a simulated one keeps the description.
//!
//! Everything goes by address in blocks of 512 bytes, so any part of any content can be made or checked alone, in any
//! order. The generator's speed: docs/reference/tools.md#pattern-generator.

mod generator;
pub mod h2w;
mod stamp;
#[cfg(test)]
mod tests;

pub use stamp::{SectorStamp, read_stamp, read_stamp_header};

use cardscope_model::random::mix;
use generator::BLOCK;
use serde::{Deserialize, Serialize};

/// Content of a write, or what a read is expected to find. Saved states of simulated cards number its kinds in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum IoContent {
    /// Incompressible bytes that nobody will ask for again. A real target makes them once for each slot and
    /// writes the same ones over and over, as fio and CrystalDiskMark do.
    Noise,
    /// One byte, repeated.
    Constant(u8),
    /// An endless incompressible stream by address: byte `a` of the target is byte `a` of the stream of `seed`.
    Stream {
        /// Which stream.
        seed: u64,
    },
    /// Sectors of 512 bytes that say where they belong: address, salt, generation and a checksum, the rest
    /// filled from the stream of the salt and the generation.
    Stamp {
        /// Tells this run's stamps from those of any other.
        salt: u64,
        /// Counts how often this address has been written.
        generation: u32,
    },
    /// Whatever stands in the slot's buffer.
    Buffer,
    /// The pattern of h2testw's and f3's files: byte `a` of the target is byte `base + a` of the whole data, so a
    /// file `N.h2w` has `base` = (N − 1) · 2^30.
    H2w {
        /// Where the target begins in the whole data.
        base: u64,
    },
}

/// What a read found, held against what was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentMatch {
    /// Every byte is as expected.
    Same,
    /// They differ; the first wrong byte's offset within the read.
    DiffersAt(u64),
}

/// Tells the streams of [`Content::Noise`], [`Content::Stream`] and [`Content::Stamp`] apart where their seeds agree.
const NOISE_KEY: u64 = 0x6e6f_6973_6520_6b65;
const STREAM_KEY: u64 = 0x7374_7265_616d_206b;

/// Makes the bytes that `content` has from byte `offset` of the target on. Of [`Content::Noise`] it makes the one
/// stream that all noise is cut from; [`Content::Buffer`] is in place already and stays untouched.
pub fn fill(content: IoContent, offset: u64, bytes: &mut [u8]) {
    match content {
        IoContent::Noise => {
            fill_blocks(offset, bytes, |number, block| generator::block(NOISE_KEY, number, block))
        }
        IoContent::Constant(byte) => bytes.fill(byte),
        IoContent::Stream { seed } => {
            let key = mix(seed ^ STREAM_KEY);
            fill_blocks(offset, bytes, |number, block| generator::block(key, number, block));
        }
        IoContent::Stamp { salt, generation } => {
            let keys = stamp::StampKeys::new(salt, generation);
            fill_blocks(offset, bytes, |number, block| {
                stamp::write(&keys, number * BLOCK as u64, block);
            });
        }
        IoContent::H2w { base } => {
            let start = base.wrapping_add(offset);
            let mut sectors = h2w::H2wSectors::new(start / BLOCK as u64);
            fill_blocks(start, bytes, |number, block| sectors.make(number, block));
        }
        IoContent::Buffer => {}
    }
}

/// The byte that all of them are; `None` where they are not alike, or none.
pub fn constant(bytes: &[u8]) -> Option<u8> {
    let (first, rest) = bytes.split_first()?;
    // Each is held against the next by one comparison of memory, which takes many bytes at a time.
    (*rest == bytes[..rest.len()]).then_some(*first)
}

/// Holds `bytes`, read from byte `offset` on, against `content`. [`Content::Buffer`] is no expectation: whatever
/// came is the same as itself.
pub fn compare(content: IoContent, offset: u64, bytes: &[u8]) -> ContentMatch {
    if content == IoContent::Buffer {
        return ContentMatch::Same;
    }
    // A buffer that stays in the first-level cache: made and compared at memory speed (C.3).
    let mut expected = [0u8; 16 * BLOCK];
    let mut at = same_blocks(content, offset, bytes);
    while at < bytes.len() {
        // The first part ends on a block border, so that every other starts on one and nothing is made twice.
        let room = expected.len() - ((offset + at as u64) % BLOCK as u64) as usize;
        let found = &bytes[at..bytes.len().min(at + room)];
        let wanted = &mut expected[..found.len()];
        fill(content, offset + at as u64, wanted);
        if let Some(first) = first_difference(wanted, found) {
            return ContentMatch::DiffersAt((at + first) as u64);
        }
        at += found.len();
    }
    ContentMatch::Same
}

/// How many bytes at the start are as expected, in whole blocks: held against the rule without making a copy. Content
/// that lies across block borders is left to the caller.
fn same_blocks(content: IoContent, offset: u64, bytes: &[u8]) -> usize {
    let start = match content {
        IoContent::H2w { base } => base.wrapping_add(offset),
        _ => offset,
    };
    if !start.is_multiple_of(BLOCK as u64) {
        return 0;
    }
    let first = start / BLOCK as u64;
    match content {
        IoContent::Noise => {
            leading(first, bytes, |number, block| generator::same(NOISE_KEY, number, &[], block))
        }
        IoContent::Stream { seed } => {
            let key = mix(seed ^ STREAM_KEY);
            leading(first, bytes, |number, block| generator::same(key, number, &[], block))
        }
        IoContent::Stamp { salt, generation } => {
            let keys = stamp::StampKeys::new(salt, generation);
            leading(first, bytes, |number, block| stamp::same(&keys, number * BLOCK as u64, block))
        }
        IoContent::H2w { .. } => {
            let mut sectors = h2w::H2wSectors::new(first);
            leading(first, bytes, |number, block| sectors.same(number, block))
        }
        IoContent::Constant(_) | IoContent::Buffer => 0,
    }
}

/// Bytes of the blocks before the first that is not the same.
fn leading(first: u64, bytes: &[u8], mut same: impl FnMut(u64, &[u8; BLOCK]) -> bool) -> usize {
    let (blocks, _) = bytes.as_chunks::<BLOCK>();
    let equal = blocks.iter().zip(first..).take_while(|(block, number)| same(*number, block)).count();
    equal * BLOCK
}

/// The first byte that is not the same in both, as far as both go.
pub fn first_difference(wanted: &[u8], found: &[u8]) -> Option<usize> {
    // Slice equality is a memcmp; the search byte by byte is for the rare unequal ones.
    if wanted == found { None } else { wanted.iter().zip(found).position(|(a, b)| a != b) }
}

/// Cuts a range into blocks of 512 bytes by address; the ragged ends are made whole aside and copied in part.
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
