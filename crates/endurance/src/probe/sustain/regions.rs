//! Regions of a run: the workload's, and one for test reads that the workload never overwrites, so that changes in their
//! time are not caused by new data.

use super::{MIN_REGION, RANDOM_BLOCK, SEQUENTIAL_BLOCK, SustainOptions};
use cardscope_engine::io_driver::CardExtent;
use cardscope_engine::target::TargetRegion;
use cardscope_model::random::SeededRandom;
use cardscope_model::sustain::WorkloadPattern;

/// Most bytes at the start of the region that are only read.
const MAX_READ_ONLY_BYTES: u64 = 64 << 20;

/// Small reads in a slice (docs/reference/flash.md#causes-of-a-slow-spell).
const SMALL_READS: usize = 8;

#[derive(Debug)]
pub(super) struct RegionParts {
    /// Region that is only read.
    pub(super) reads: TargetRegion,
    /// Region of the workload.
    pub(super) work: TargetRegion,
    /// Small reads of each slice.
    pub(super) small: [CardExtent; SMALL_READS],
    pattern: WorkloadPattern,
    /// Next offsets of sequential writes and reads.
    next: [u64; 2],
    random: SeededRandom,
}

impl RegionParts {
    /// Divides a region of at least [`MIN_REGION`] bytes.
    pub(super) fn new(options: &SustainOptions) -> Self {
        let region = options.limits.region;
        debug_assert!(region.len >= MIN_REGION, "the caller refuses less");
        let block = u64::from(SEQUENTIAL_BLOCK);
        let start = region.start.next_multiple_of(block);
        let end = region.end() / block * block;
        let read_only = MAX_READ_ONLY_BYTES.min((end - start) / 8 / block * block).max(block);
        let reads = TargetRegion { start, len: read_only };
        let work = TargetRegion { start: start + read_only, len: end - start - read_only };
        let mut random = SeededRandom::new(options.limits.seed);
        let units = read_only / u64::from(RANDOM_BLOCK);
        let small = std::array::from_fn(|_| {
            let unit = random.below(units);
            CardExtent { offset: start + unit * u64::from(RANDOM_BLOCK), len: RANDOM_BLOCK }
        });
        RegionParts { reads, work, small, pattern: options.pattern, next: [0, 0], random }
    }

    /// Next extent of the workload. It starts over at the end of the region.
    pub(super) fn next_extent(&mut self, writes: bool) -> CardExtent {
        if self.pattern == WorkloadPattern::Sequential {
            return self.next_in_order(writes);
        }
        let unit = self.random.below(self.work.len / u64::from(RANDOM_BLOCK));
        CardExtent { offset: self.work.start + unit * u64::from(RANDOM_BLOCK), len: RANDOM_BLOCK }
    }

    /// Next sequential extent, whatever the pattern.
    pub(super) fn next_in_order(&mut self, writes: bool) -> CardExtent {
        let next = &mut self.next[usize::from(!writes)];
        let offset = self.work.start + *next;
        *next = (*next + u64::from(SEQUENTIAL_BLOCK)) % self.work.len;
        CardExtent { offset, len: SEQUENTIAL_BLOCK }
    }

    /// Extents of a long read, always at the same places.
    pub(super) fn long_read(&self, bytes: u64) -> impl Iterator<Item = CardExtent> + use<> {
        let len = bytes.min(u64::from(SEQUENTIAL_BLOCK)) as u32;
        let (start, count) = (self.reads.start, bytes.min(self.reads.len) / u64::from(len));
        (0..count).map(move |i| CardExtent { offset: start + i * u64::from(len), len })
    }
}
