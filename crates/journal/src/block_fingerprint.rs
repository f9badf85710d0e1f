//! Fingerprints of a few blocks, taken before the test, to recognize a card without an identity.
//!
//! Blocks that the test overwrites are in the journal, where they serve as evidence, too.

use crate::record::BlockFingerprint;
use cardscope_engine::content::{IoContent, constant_byte};
use cardscope_engine::target::{IoDirection, IoRequest, LanePlan, Target};
use cardscope_model::recipe::KernelPath;

pub const FINGERPRINT_BYTES: u32 = 4096;

/// Blocks at the start, where partition tables and file systems begin, and blocks spread over the rest.
const START_BLOCKS: u64 = 8;
const SPREAD_BLOCKS: u64 = 24;

/// Most reads that taking fingerprints needs, one at a time.
pub const MAX_FINGERPRINTS: u64 = START_BLOCKS + SPREAD_BLOCKS;

/// Takes the fingerprints, without unreadable blocks.
pub fn take_fingerprints(target: &mut dyn Target) -> Vec<BlockFingerprint> {
    let bytes = target.info().bytes;
    fingerprint_offsets(bytes).filter_map(|offset| fingerprint_at(target, offset)).collect()
}

fn fingerprint_offsets(bytes: u64) -> impl Iterator<Item = u64> {
    let size = u64::from(FINGERPRINT_BYTES);
    let blocks = bytes / size;
    let first = (0..START_BLOCKS).map(|n| n * 256);
    // An offset that grows, so that the blocks do not all have the same position in each unit of the flash.
    let spread = (1..=SPREAD_BLOCKS).map(move |n| blocks / (SPREAD_BLOCKS + 1) * n + n * 7);
    let mut all: Vec<u64> = first.chain(spread).filter(|block| *block < blocks).collect();
    all.sort_unstable();
    all.dedup();
    all.into_iter().map(move |block| block * size)
}

fn fingerprint_at(target: &mut dyn Target, offset: u64) -> Option<BlockFingerprint> {
    let len = FINGERPRINT_BYTES;
    target.plan(&single_read_plan(len)).ok()?;
    let content = IoContent::Buffer;
    target.submit(&IoRequest { slot: 0, direction: IoDirection::Read, offset, len, content }).ok()?;
    let mut done = Vec::new();
    // `complete` returns early after an interrupt, but no I/O may stay in flight.
    while done.is_empty() {
        target.complete(1, &mut done).ok()?;
    }
    done.pop()?.result.ok()?;
    let bytes = &target.buffer(0).ok()?[..len as usize];
    let constant = constant_byte(bytes).is_some();
    Some(BlockFingerprint { offset, len, crc32c: crc32c::crc32c(bytes), constant })
}

/// Plan of single I/Os of `len` bytes.
pub(crate) fn single_read_plan(len: u32) -> LanePlan {
    let block = u64::from(len);
    LanePlan { depth: 1, block, path: KernelPath::Direct, sync_each: false, own_buffers: true }
}
