//! Deterministic random numbers of a schedule.

use cardscope_model::random::mix_bits;

/// Random numbers from a seed.
#[derive(Debug, Clone)]
pub(super) struct SeededDraw(u64);

impl SeededDraw {
    pub(super) fn from_seed(seed: u64) -> Self {
        SeededDraw(mix_bits(seed ^ 0x7363_6865_6475_6c65))
    }

    /// Number below `n`.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.0 = mix_bits(self.0);
        self.0 % n.max(1)
    }

    /// True with probability 1/n.
    pub(super) fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub(super) fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len() as u64) as usize]
    }
}
