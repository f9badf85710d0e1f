//! A small seeded generator for resampling and simulation.
//!
//! SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): one addition and three mixing steps a number, full period of
//! 2^64, any seed is good. Not for secrets.

/// Seeded random numbers; the same seed gives the same numbers on every machine.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    /// A generator that starts at `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Random { state: seed }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A whole number below `n` (0 for `n` = 0). The bias of at most n/2^64 is of no weight here.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// A number from 0 (inclusive) to 1 (exclusive).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// An exponentially distributed number with the given mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }

    /// A normally distributed number with mean 0 and deviation 1 (Box and Muller's transform).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_first_numbers_come_out() {
        // Reference values for seed 1234567, as listed with the reference implementation.
        let mut random = Random::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.bits()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn the_distributions_have_the_moments_they_promise() {
        let mut random = Random::new(7);
        let n = 100_000;
        let (mut exponential, mut normal, mut square) = (0.0, 0.0, 0.0);
        for _ in 0..n {
            exponential += random.exponential(3.0);
            let z = random.normal();
            normal += z;
            square += z * z;
            assert!(random.below(5) < 5);
        }
        let n = f64::from(n);
        assert!((exponential / n - 3.0).abs() < 0.05);
        assert!((normal / n).abs() < 0.02 && (square / n - 1.0).abs() < 0.03);
    }
}
