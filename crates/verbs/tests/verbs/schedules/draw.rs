//! Everything about a schedule follows from its seed.

use cardscope_model::random::mix;

/// Draws one thing after the other from a seed.
#[derive(Debug, Clone)]
pub(super) struct SeededDraw(u64);

impl SeededDraw {
    pub(super) fn of(seed: u64) -> Self {
        SeededDraw(mix(seed ^ 0x7363_6865_6475_6c65))
    }

    /// A whole number below `n`.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.0 = mix(self.0);
        self.0 % n.max(1)
    }

    /// True once in `n` draws.
    pub(super) fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub(super) fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len() as u64) as usize]
    }
}
