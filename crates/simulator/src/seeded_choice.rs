//! Random choice of places by a seed: bad units, units that hold data, weak cells. A pure function of seed and place,
//! so that nothing is stored for it and the truth can be derived without the card.

use crate::archetype::{Archetype, StartContent};
use cardscope_model::random::{self, GOLDEN};
use std::ops::Range;

/// Bytes for which the number of weak cells is drawn at once.
const WEAK_SPAN: u64 = 1 << 20;

/// Limit of weak cells in a span; the schema keeps their mean at 21 or below.
const MAX_WEAK_BITS: u32 = 64;

/// Random numbers of a seed for one purpose.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SeededChance(u64);

impl SeededChance {
    pub(crate) fn new(seed: u64, purpose: u64) -> Self {
        SeededChance(splitmix_step(splitmix_step(seed) ^ purpose))
    }

    #[inline]
    pub(crate) fn number_at(self, n: u64) -> u64 {
        splitmix_step(self.0 ^ splitmix_step(n))
    }

    /// Random number of place `n`, evenly in [0, 1).
    #[inline]
    pub(crate) fn fraction_at(self, n: u64) -> f64 {
        random::bits_to_unit(self.number_at(n))
    }
}

/// A step of SplitMix64 (Steele, Lea, Flood 2014) from a state.
#[inline]
pub(crate) fn splitmix_step(n: u64) -> u64 {
    random::mix_bits(n.wrapping_add(GOLDEN))
}

/// Units of equal size, of which a share is chosen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChosenUnits {
    chance: SeededChance,
    bytes: u64,
    share: f64,
}

impl ChosenUnits {
    pub(crate) fn new(seed: u64, purpose: u64, bytes: u64, share: f64) -> Self {
        ChosenUnits { chance: SeededChance::new(seed, purpose), bytes, share }
    }

    #[inline]
    pub(crate) fn is_chosen(&self, number: u64) -> bool {
        self.chance.fraction_at(number) < self.share
    }

    /// Returns whether the unit at `at` is chosen, and for how many bytes, at most `len`, that answer holds.
    pub(crate) fn run_at(&self, at: u64, len: u64) -> (bool, u64) {
        let mut unit = at / self.bytes;
        let chosen = self.is_chosen(unit);
        unit += 1;
        while unit * self.bytes < at + len && self.is_chosen(unit) == chosen {
            unit += 1;
        }
        (chosen, (unit * self.bytes - at).min(len))
    }

    pub(crate) fn chosen_ranges(self, total: u64) -> impl Iterator<Item = Range<u64>> {
        (0..total.div_ceil(self.bytes))
            .filter(move |unit| self.is_chosen(*unit))
            .map(move |unit| unit * self.bytes..((unit + 1) * self.bytes).min(total))
    }
}

/// Purpose number: each purpose draws random numbers that are independent of the others.
const USED_UNITS: u64 = 0x7573_6564;

/// Address ranges that hold data from the start, in order.
pub(crate) fn mapped_ranges(card: &Archetype, seed: u64) -> impl Iterator<Item = Range<u64>> {
    let (all, unit) = (card.announced_bytes, card.flash.au_bytes);
    let (whole, share) = match card.state.start {
        StartContent::Factory => (None, 0.0),
        StartContent::Filled => (Some(0..all), 0.0),
        StartContent::Used => (None, card.state.used_share),
    };
    let units = (share > 0.0).then(|| ChosenUnits::new(seed, USED_UNITS, unit, share).chosen_ranges(all));
    whole.into_iter().chain(units.into_iter().flatten())
}

/// Cells whose bit is wrong, with a probability for each sector of 512 bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WeakBits {
    chance: SeededChance,
    p: f64,
}

impl WeakBits {
    pub(crate) fn new(seed: u64, purpose: u64, p: f64) -> Self {
        WeakBits { chance: SeededChance::new(seed, purpose), p }
    }

    /// Calls `act` with byte and mask of each weak bit of the medium in `start..end`.
    pub(crate) fn for_each_weak(&self, start: u64, end: u64, mut act: impl FnMut(u64, u8)) {
        for span in start / WEAK_SPAN..end.div_ceil(WEAK_SPAN) {
            for i in 0..self.poisson_count(span, WEAK_SPAN) {
                // Draw 0 of a span is its number of bits; draws 1 to 64 choose them, below the draws of the next span.
                let bit = self.chance.number_at(span << 8 | u64::from(i + 1)) % (WEAK_SPAN * 8);
                let byte = span * WEAK_SPAN + bit / 8;
                if (start..end).contains(&byte) {
                    act(byte, 1 << (bit % 8));
                }
            }
        }
    }

    /// Calls `act` with byte and mask of each bit that is wrong only in read number `read`, counted from its start.
    pub(crate) fn for_each_in_read(&self, read: u64, len: u64, mut act: impl FnMut(u64, u8)) {
        for i in 0..self.poisson_count(read, len) {
            let bit = self.chance.number_at(read << 8 | u64::from(i + 1)) % (len * 8);
            act(bit / 8, 1 << (bit % 8));
        }
    }

    /// Number of weak bits in `len` bytes: Poisson, by inverting the distribution function.
    fn poisson_count(&self, number: u64, len: u64) -> u32 {
        let mean = self.p * (len / 512) as f64;
        let mut left = self.chance.fraction_at(number << 8);
        let mut term = (-mean).exp();
        let mut count = 0;
        while left >= term && count < MAX_WEAK_BITS {
            left -= term;
            count += 1;
            term *= mean / f64::from(count);
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_share_is_met_and_depends_on_seed() {
        let units = |seed| ChosenUnits::new(seed, 1, 4096, 0.16);
        let chosen: Vec<_> = units(1).chosen_ranges(4096 * 100_000).collect();
        assert!((15_500..16_500).contains(&chosen.len()), "{}", chosen.len());
        assert_ne!(chosen, units(2).chosen_ranges(4096 * 100_000).collect::<Vec<_>>());
        assert_eq!(ChosenUnits::new(1, 1, 4096, 1.0).run_at(0, 1 << 20), (true, 1 << 20));
        assert_eq!(ChosenUnits::new(1, 1, 4096, 0.0).run_at(512, 1 << 20), (false, 1 << 20));
    }

    #[test]
    fn run_ends_at_first_unit_of_other_kind() {
        let units = ChosenUnits::new(3, 1, 4096, 0.5);
        let mut at = 512;
        while at < 4096 * 1000 {
            let (chosen, len) = units.run_at(at, 4096 * 1000 - at);
            assert!((at..at + len).step_by(512).all(|a| units.is_chosen(a / 4096) == chosen));
            at += len;
        }
    }

    #[test]
    fn weak_bits_match_probability_and_are_stable() {
        let weak = WeakBits::new(5, 1, 1e-3);
        let all = |start, end| {
            let mut found = Vec::new();
            weak.for_each_weak(start, end, |byte, mask| found.push((byte, mask)));
            found.sort_unstable();
            found
        };
        // 1 GiB has 2 097 152 sectors: 2 097 expected, standard deviation 46.
        let whole = all(0, 1 << 30);
        assert!((1900..2300).contains(&whole.len()), "{}", whole.len());
        let parts: Vec<_> = (0..1024).flat_map(|i| all(i << 20, (i + 1) << 20)).collect();
        assert_eq!(whole, parts);
    }
}
