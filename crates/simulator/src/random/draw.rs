//! Numbers for a random card: all from one seeded generator, so that a seed names the same card everywhere.

use cardscope_model::random::Random;

/// Draws one property after the other.
#[derive(Debug)]
pub(super) struct Draw(Random);

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Draw(Random::from_state(seed))
    }

    /// True with probability `p`.
    pub(super) fn chance(&mut self, p: f64) -> bool {
        self.0.above_zero() <= p
    }

    /// Evenly between two values.
    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.above_zero()
    }

    /// Between two values, evenly in the logarithm: for what spreads over orders of magnitude.
    pub(super) fn around(&mut self, low: f64, high: f64) -> f64 {
        rounded(libm::exp(self.between(libm::log(low), libm::log(high))))
    }

    /// One of the values, by their weights.
    pub(super) fn one_of<T: Copy>(&mut self, weighted: &[(u32, T)]) -> T {
        let all: u32 = weighted.iter().map(|(weight, _)| weight).sum();
        let mut left = (self.0.above_zero() * f64::from(all)).ceil() as u32;
        for (weight, value) in weighted {
            if left <= *weight {
                return *value;
            }
            left -= weight;
        }
        weighted[weighted.len() - 1].1
    }

    /// A whole number below `limit`.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0.next_u64() % limit.max(1)
    }
}

/// Three digits: a card's file should be readable, and no property is known better.
pub(super) fn rounded(value: f64) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    let scale = 10f64.powi(2 - libm::log10(value.abs()).floor() as i32);
    (value * scale).round() / scale
}
