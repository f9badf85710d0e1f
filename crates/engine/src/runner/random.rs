//! Random numbers of the runner: a small fast generator, and permutations that need no memory.
//!
//! Every place of a test follows from the run's seed, so a run can be repeated exactly.

/// SplitMix64: one addition and a mix for each number; passes the usual test batteries.
#[derive(Debug, Clone)]
pub struct Random(u64);

/// Mixes 64 bits so that each input bit changes half of the output (the finaliser of SplitMix64).
#[inline]
#[must_use]
pub fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Random {
    /// Starts from a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Random(mix(seed ^ 0x9E37_79B9_7F4A_7C15))
    }

    /// The next 64 bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// A number below `n`, by multiplication (bias below n / 2^64).
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(n)) >> 64) as u64
    }
}

/// A permutation of `0..n` by a four-round Feistel network with cycle walking: each index once, no table.
#[derive(Debug, Clone)]
pub struct Permutation {
    n: u64,
    low_bits: u32,
    high_bits: u32,
    key: u64,
}

impl Permutation {
    /// The permutation of `0..n` that belongs to a seed.
    #[must_use]
    pub fn new(n: u64, seed: u64) -> Self {
        let bits = 64 - n.saturating_sub(1).leading_zeros();
        let low_bits = bits / 2;
        Permutation { n, low_bits, high_bits: bits - low_bits, key: mix(seed) }
    }

    /// Where index `i` goes; `i` must be below `n`.
    #[inline]
    #[must_use]
    pub fn at(&self, i: u64) -> u64 {
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
        let (mut low, mut high) = (x & mask(self.low_bits), x >> self.low_bits);
        for round in 0..2u64 {
            high = (high ^ hash(low, self.key ^ (2 * round))) & mask(self.high_bits);
            low = (low ^ hash(high, self.key ^ (2 * round + 1))) & mask(self.low_bits);
        }
        (high << self.low_bits) | low
    }
}

#[inline]
fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}

/// Cheaper than [`mix`]: four of these in a row scramble enough for places on a card.
#[inline]
fn hash(x: u64, key: u64) -> u64 {
    let z = (x ^ key).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z ^ (z >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_permutation_visits_every_index_once(n in 1u64..5000, seed: u64) {
            let p = Permutation::new(n, seed);
            let mut seen: Vec<u64> = (0..n).map(|i| p.at(i)).collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..n).collect::<Vec<_>>());
        }

        #[test]
        fn numbers_stay_below_their_bound(n in 1u64.., seed: u64) {
            let mut r = Random::new(seed);
            prop_assert!((0..50).all(|_| r.below(n) < n));
        }
    }

    /// Neighbours in order must not be neighbours on the card, or a "random" test would stream.
    #[test]
    fn a_permutation_leaves_no_runs() {
        let p = Permutation::new(1 << 18, 7);
        let close = (1..1 << 18).filter(|i| p.at(*i).abs_diff(p.at(i - 1)) <= 8).count();
        assert!(close < 60, "{close} of 262144 steps stay within 8 blocks, 16 expected by chance");
    }
}
