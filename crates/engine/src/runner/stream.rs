//! Sequence of one thread's I/Os: their positions, and the end of the stream.

use crate::content::IoContent;
use crate::target::{IoDirection, IoRequest, TargetRegion};
use cardscope_model::random::{Permutation, SeededRandom, mix_bits};
use cardscope_model::recipe::{RandomDraw, WriteData};
use cardscope_model::test_name::{IoOrder, TestOp};

#[derive(Debug, Clone)]
pub(super) struct StreamPlan {
    /// Only whole blocks of it are used.
    pub region: TargetRegion,
    pub block: u32,
    pub order: IoOrder,
    pub draw: RandomDraw,
    pub op: TestOp,
    pub content: IoContent,
    /// I/Os after which the stream ends; `None` for endless.
    pub ios: Option<u64>,
    pub seed: u64,
}

#[derive(Debug)]
pub(super) struct IoStream {
    plan: StreamPlan,
    blocks: u64,
    issued: u64,
    position: u64,
    pass: u64,
    permutation: Permutation,
    random: SeededRandom,
}

impl IoStream {
    pub(super) fn new(plan: StreamPlan) -> Self {
        let blocks = (plan.region.len / u64::from(plan.block)).max(1);
        let permutation = Permutation::new(blocks, plan.seed);
        let random = SeededRandom::new(mix_bits(plan.seed));
        IoStream { plan, blocks, issued: 0, position: 0, pass: 0, permutation, random }
    }

    /// Always inline: an I/O that is returned through memory and copied from there at once stalls the processor for
    /// longer than it takes to generate one.
    #[inline(always)]
    pub(super) fn next(&mut self, slot: u32) -> Option<IoRequest> {
        if self.plan.ios.is_some_and(|most| self.issued >= most) {
            return None;
        }
        self.issued += 1;
        let (len, content) = (self.plan.block, self.plan.content);
        let offset = self.plan.region.start + self.next_block() * u64::from(len);
        Some(IoRequest { slot, direction: self.direction(), offset, len, content })
    }

    pub(super) fn content(&self) -> IoContent {
        self.plan.content
    }

    /// True between two passes over the region.
    #[inline]
    pub(super) fn at_pass_end(&self) -> bool {
        self.issued > 0 && self.position == 0
    }

    #[inline]
    fn direction(&mut self) -> IoDirection {
        match self.plan.op {
            TestOp::Read => IoDirection::Read,
            TestOp::Write => IoDirection::Write,
            TestOp::Mix(reads) if self.random.below(100) < u64::from(reads) => IoDirection::Read,
            TestOp::Mix(_) => IoDirection::Write,
        }
    }

    #[inline]
    fn next_block(&mut self) -> u64 {
        let position = self.position;
        self.position += 1;
        let block = match (self.plan.order, self.plan.draw) {
            (IoOrder::Sequential, _) => position,
            (IoOrder::Random, RandomDraw::Permutation) => self.permutation.permuted_index(position),
            (IoOrder::Random, RandomDraw::Uniform) => self.random.below(self.blocks),
        };
        if self.position == self.blocks {
            self.start_pass();
        }
        block
    }

    fn start_pass(&mut self) {
        self.position = 0;
        self.pass += 1;
        self.permutation = Permutation::new(self.blocks, mix_bits(self.plan.seed.wrapping_add(self.pass)));
    }
}

pub(super) fn data_content(data: WriteData) -> IoContent {
    match data {
        WriteData::Random => IoContent::Noise,
        WriteData::Zero => IoContent::Constant(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn plan(order: IoOrder, draw: RandomDraw, ios: Option<u64>) -> StreamPlan {
        let region = TargetRegion { start: 8192, len: 10 * 4096 + 100 };
        StreamPlan {
            region,
            block: 4096,
            order,
            draw,
            op: TestOp::Read,
            content: IoContent::Noise,
            ios,
            seed: 3,
        }
    }

    #[test]
    fn sequential_stream_wraps_after_last_whole_block() {
        let mut s = IoStream::new(plan(IoOrder::Sequential, RandomDraw::Permutation, Some(12)));
        let offsets: Vec<_> = std::iter::from_fn(|| s.next(0)).map(|io| (io.offset - 8192) / 4096).collect();
        assert_eq!(offsets, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]);
    }

    #[test]
    fn permutation_covers_each_block_once_per_pass() {
        let mut s = IoStream::new(plan(IoOrder::Random, RandomDraw::Permutation, Some(20)));
        let all: Vec<_> = std::iter::from_fn(|| s.next(0)).map(|io| io.offset).collect();
        assert_eq!(all[..10].iter().collect::<HashSet<_>>().len(), 10);
        assert_eq!(all[10..].iter().collect::<HashSet<_>>().len(), 10);
        assert_ne!(all[..10], all[10..]);
    }

    #[test]
    fn mixed_stream_keeps_read_share() {
        let mut s = IoStream::new(StreamPlan {
            op: TestOp::Mix(70),
            ..plan(IoOrder::Random, RandomDraw::Uniform, Some(20_000))
        });
        let reads = std::iter::from_fn(|| s.next(0)).filter(|io| io.direction == IoDirection::Read).count();
        assert!((13_700..14_300).contains(&reads), "{reads} of 20000");
    }
}
