//! A few bytes of the card from before the test, so that a card which says nothing of itself is known again.
//!
//! Some will lie where the test writes; those are in the journal then, and tell as much.

use crate::record::BlockFingerprint;
use cardscope_engine::content::{IoContent, constant};
use cardscope_engine::target::{IoDirection, IoRequest, LanePlan, Target};
use cardscope_model::recipe::KernelPath;

/// Bytes of one witness.
pub const BYTES: u32 = 4096;

/// So many places are looked at: the first, where partition tables and file systems begin, and the rest spread evenly.
const FIRST: u64 = 8;
const SPREAD: u64 = 24;

/// Reads that the witnesses take at most, one by one.
pub const WITNESSES: u64 = FIRST + SPREAD;

/// Reads the witnesses; what cannot be read is no witness.
pub fn look(target: &mut dyn Target) -> Vec<BlockFingerprint> {
    let bytes = target.info().bytes;
    places(bytes).filter_map(|offset| one(target, offset)).collect()
}

fn places(bytes: u64) -> impl Iterator<Item = u64> {
    let size = u64::from(BYTES);
    let blocks = bytes / size;
    let first = (0..FIRST).map(|n| n * 256);
    // Odd places, so that they do not all fall on the same place of every unit of the card.
    let spread = (1..=SPREAD).map(move |n| blocks / (SPREAD + 1) * n + n * 7);
    let mut all: Vec<u64> = first.chain(spread).filter(|block| *block < blocks).collect();
    all.sort_unstable();
    all.dedup();
    all.into_iter().map(move |block| block * size)
}

fn one(target: &mut dyn Target, offset: u64) -> Option<BlockFingerprint> {
    let bytes = read(target, offset, BYTES)?;
    let constant = constant(&bytes).is_some();
    Some(BlockFingerprint { offset, len: BYTES, crc32c: crc32c::crc32c(&bytes), constant })
}

/// Reads one range by itself; `None` where it fails.
fn read(target: &mut dyn Target, offset: u64, len: u32) -> Option<Vec<u8>> {
    let plan = LanePlan {
        depth: 1,
        block: u64::from(len),
        path: KernelPath::Direct,
        sync_each: false,
        own_buffers: true,
    };
    target.plan(&plan).ok()?;
    target
        .submit(&IoRequest { slot: 0, direction: IoDirection::Read, offset, len, content: IoContent::Buffer })
        .ok()?;
    let mut done = Vec::new();
    // A raised interrupt makes `complete` return early, but nothing may stay in flight.
    while done.is_empty() {
        target.complete(1, &mut done).ok()?;
    }
    done.pop()?.result.ok()?;
    Some(target.buffer(0).ok()?[..len as usize].to_vec())
}
