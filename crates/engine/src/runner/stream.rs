//! One thread's sequence of I/Os: where the next one goes, and when the stream ends.

use crate::content::Content;
use crate::target::{Direction, Io, Region};
use cardscope_model::random::{Permutation, Random, mix};
use cardscope_model::recipe::{Data, RandomDraw};
use cardscope_model::test_name::{Op, Order};

/// What a stream does.
#[derive(Debug, Clone)]
pub(super) struct StreamPlan {
    /// Where it may go; only whole blocks of it are used.
    pub region: Region,
    /// Bytes of one I/O.
    pub block: u32,
    /// In order or at random.
    pub order: Order,
    /// How random places are drawn.
    pub draw: RandomDraw,
    /// Read, write or both.
    pub op: Op,
    /// What is written.
    pub content: Content,
    /// I/Os after which the stream ends; `None` goes on for ever.
    pub ios: Option<u64>,
    /// Decides every random place.
    pub seed: u64,
}

/// A running stream.
#[derive(Debug)]
pub(super) struct Stream {
    plan: StreamPlan,
    blocks: u64,
    issued: u64,
    /// Position in the present pass.
    position: u64,
    pass: u64,
    permutation: Permutation,
    random: Random,
}

impl Stream {
    pub(super) fn new(plan: StreamPlan) -> Self {
        let blocks = (plan.region.len / u64::from(plan.block)).max(1);
        let permutation = Permutation::new(blocks, plan.seed);
        let random = Random::new(mix(plan.seed));
        Stream { plan, blocks, issued: 0, position: 0, pass: 0, permutation, random }
    }

    /// The next I/O, or `None` when the stream has ended. Always inline: an I/O that is returned through memory and copied
    /// from there at once stalls the processor for longer than it takes to make one.
    #[inline(always)]
    pub(super) fn next(&mut self, slot: u32) -> Option<Io> {
        if self.plan.ios.is_some_and(|most| self.issued >= most) {
            return None;
        }
        self.issued += 1;
        let block = self.next_block();
        let offset = self.plan.region.start + block * u64::from(self.plan.block);
        Some(Io {
            slot,
            direction: self.direction(),
            offset,
            len: self.plan.block,
            content: self.plan.content,
        })
    }

    /// What is written.
    pub(super) fn content(&self) -> Content {
        self.plan.content
    }

    /// True between two passes over the region.
    #[inline]
    pub(super) fn at_pass_end(&self) -> bool {
        self.issued > 0 && self.position == 0
    }

    #[inline]
    fn direction(&mut self) -> Direction {
        match self.plan.op {
            Op::Read => Direction::Read,
            Op::Write => Direction::Write,
            Op::Mix(reads) if self.random.below(100) < u64::from(reads) => Direction::Read,
            Op::Mix(_) => Direction::Write,
        }
    }

    #[inline]
    fn next_block(&mut self) -> u64 {
        let position = self.position;
        self.position += 1;
        let block = match (self.plan.order, self.plan.draw) {
            (Order::Sequential, _) => position,
            (Order::Random, RandomDraw::Permutation) => self.permutation.at(position),
            (Order::Random, RandomDraw::Uniform) => self.random.below(self.blocks),
        };
        if self.position == self.blocks {
            self.start_pass();
        }
        block
    }

    fn start_pass(&mut self) {
        self.position = 0;
        self.pass += 1;
        self.permutation = Permutation::new(self.blocks, mix(self.plan.seed.wrapping_add(self.pass)));
    }
}

/// The description of what a recipe writes.
pub(super) fn content(data: Data) -> Content {
    match data {
        Data::Random => Content::Noise,
        Data::Zero => Content::Constant(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn plan(order: Order, draw: RandomDraw, ios: Option<u64>) -> StreamPlan {
        let region = Region { start: 8192, len: 10 * 4096 + 100 };
        StreamPlan { region, block: 4096, order, draw, op: Op::Read, content: Content::Noise, ios, seed: 3 }
    }

    #[test]
    fn a_sequential_stream_wraps_at_the_last_whole_block() {
        let mut s = Stream::new(plan(Order::Sequential, RandomDraw::Permutation, Some(12)));
        let offsets: Vec<_> = std::iter::from_fn(|| s.next(0)).map(|io| (io.offset - 8192) / 4096).collect();
        assert_eq!(offsets, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]);
    }

    #[test]
    fn a_random_map_covers_each_block_once_in_a_pass_and_differs_between_passes() {
        let mut s = Stream::new(plan(Order::Random, RandomDraw::Permutation, Some(20)));
        let all: Vec<_> = std::iter::from_fn(|| s.next(0)).map(|io| io.offset).collect();
        assert_eq!(all[..10].iter().collect::<HashSet<_>>().len(), 10);
        assert_eq!(all[10..].iter().collect::<HashSet<_>>().len(), 10);
        assert_ne!(all[..10], all[10..]);
    }

    #[test]
    fn a_mix_keeps_its_share() {
        let mut s = Stream::new(StreamPlan {
            op: Op::Mix(70),
            ..plan(Order::Random, RandomDraw::Uniform, Some(20_000))
        });
        let reads = std::iter::from_fn(|| s.next(0)).filter(|io| io.direction == Direction::Read).count();
        assert!((13_700..14_300).contains(&reads), "{reads} of 20000");
    }
}
