//! Random numbers and permutations: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), with a full period of 2^64 from any
//! seed, and permutations without a table. A seed gives the same numbers on every machine, so that runs can be
//! repeated exactly. Not for secrets.

/// Increment of the generator: 2^64 divided by the golden ratio.
pub const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Seeded generator.
#[derive(Debug, Clone)]
pub struct SeededRandom(u64);

/// Mixes 64 bits so that each input bit changes half of the output (finalizer of SplitMix64).
#[inline]
pub const fn mix_bits(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl SeededRandom {
    /// Starts far from the seed, so that seeds that differ by the generator's increment give unrelated numbers.
    #[inline]
    pub fn new(seed: u64) -> Self {
        SeededRandom(mix_bits(seed ^ GOLDEN))
    }

    /// Starts at the state itself, as the reference implementation does, or continues from a [`SeededRandom::state`].
    #[inline]
    pub fn from_state(state: u64) -> Self {
        SeededRandom(state)
    }

    pub fn state(&self) -> u64 {
        self.0
    }

    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix_bits(self.0)
    }

    /// Returns a number below `n`, by multiplication (bias below n / 2^64); 0 if `n` is 0.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(n)) >> 64) as u64
    }

    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.below(last as u64 + 1) as usize);
        }
    }

    #[inline]
    pub fn below_usize(&mut self, n: usize) -> usize {
        self.below(n as u64) as usize
    }

    /// Returns a uniform number in [0, 1).
    #[inline]
    pub fn unit_interval(&mut self) -> f64 {
        bits_to_unit(self.next_u64())
    }

    /// Returns a uniform number in (0, 1], for logarithms.
    #[inline]
    pub fn above_zero(&mut self) -> f64 {
        ((self.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// Returns a normally distributed number with mean 0 and deviation 1 (Box–Muller transform).
    #[inline]
    pub fn normal(&mut self) -> f64 {
        // 1 - unit lies in (0, 1], so the logarithm is finite.
        let radius = (-2.0 * (1.0 - self.unit_interval()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit_interval()).cos()
    }
}

/// Converts 64 random bits to a number in [0, 1).
#[inline]
pub fn bits_to_unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

/// Permutation of `0..n` by a four-round Feistel network with cycle walking, without a table.
#[derive(Debug, Clone)]
pub struct Permutation {
    n: u64,
    low_bits: u32,
    high_bits: u32,
    key: u64,
}

impl Permutation {
    #[inline]
    pub fn new(n: u64, seed: u64) -> Self {
        let bits = 64 - n.saturating_sub(1).leading_zeros();
        let low_bits = bits / 2;
        Permutation { n, low_bits, high_bits: bits - low_bits, key: mix_bits(seed) }
    }

    /// Returns the position of index `i`, which must be below `n`.
    #[inline]
    pub fn permuted_index(&self, i: u64) -> u64 {
        // Cycle walking: an index beyond `n` is permuted again until the result is below `n`.
        let mut x = i;
        loop {
            x = self.scramble(x);
            if x < self.n {
                return x;
            }
        }
    }

    #[inline]
    fn scramble(&self, x: u64) -> u64 {
        let (mut low, mut high) = (x & bit_mask(self.low_bits), x >> self.low_bits);
        for round in 0..2u64 {
            high = (high ^ round_hash(low, self.key ^ (2 * round))) & bit_mask(self.high_bits);
            low = (low ^ round_hash(high, self.key ^ (2 * round + 1))) & bit_mask(self.low_bits);
        }
        (high << self.low_bits) | low
    }
}

#[inline]
fn bit_mask(bits: u32) -> u64 {
    (1 << bits) - 1
}

/// Hashes one round of the permutation. Cheaper than [`mix_bits`]; four rounds scramble enough for positions on a card.
#[inline]
fn round_hash(x: u64, key: u64) -> u64 {
    let z = (x ^ key).wrapping_mul(GOLDEN);
    z ^ (z >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn splitmix64_matches_reference_values() {
        // Reference values for seed 1234567, as listed with the reference implementation.
        let mut random = SeededRandom::from_state(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.next_u64()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn normal_distribution_has_mean_0_and_deviation_1() {
        let mut random = SeededRandom::from_state(7);
        let n = 100_000;
        let (mut normal, mut square) = (0.0, 0.0);
        for _ in 0..n {
            let z = random.normal();
            normal += z;
            square += z * z;
        }
        let n = f64::from(n);
        assert!((normal / n).abs() < 0.02 && (square / n - 1.0).abs() < 0.03);
    }

    proptest! {
        #[test]
        fn permutation_is_a_bijection(n in 1u64..5000, seed: u64) {
            let p = Permutation::new(n, seed);
            let mut seen: Vec<u64> = (0..n).map(|i| p.permuted_index(i)).collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..n).collect::<Vec<_>>());
        }

        #[test]
        fn below_stays_below_its_bound(n in 1u64.., seed: u64) {
            let mut r = SeededRandom::new(seed);
            prop_assert!((0..50).all(|_| r.below(n) < n));
        }
    }

    /// Neighbouring indices must not be neighbours on the card, or a random test would be sequential.
    #[test]
    fn permutation_separates_neighbours() {
        let p = Permutation::new(1 << 18, 7);
        let close =
            (1..1 << 18).filter(|i| p.permuted_index(*i).abs_diff(p.permuted_index(i - 1)) <= 8).count();
        assert!(close < 60, "{close} of 262144 steps stay within 8 blocks, 16 expected by chance");
    }
}
