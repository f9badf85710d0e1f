//! Mixture of normal distributions, for the logarithm of a speed whose error and kind of series are uncertain.

use statrs::function::erf::erfc;
use std::collections::BTreeMap;

/// Weight relative to the heaviest part, below which a part changes no printed digit.
const MIN_WEIGHT: f64 = 1e-7;

/// Parts are merged if the logarithms of their deviations differ by less than this, and their means by less than this many
/// deviations. Mean and variance are kept.
const MERGE_DISTANCE: f64 = 0.4;

/// Bisections for a quantile, which narrow the interval to 10^-12 of its width.
const HALVINGS: usize = 44;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct NormalPart {
    /// Weight. All parts sum to 1.
    pub(super) weight: f64,
    pub(super) mean: f64,
    pub(super) variance: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct NormalMixture {
    parts: Vec<NormalPart>,
}

impl NormalMixture {
    /// Mixture from (log of unnormalized weight, mean, variance). Similar parts are merged. None if no part is usable.
    pub(super) fn from_parts(parts: impl Iterator<Item = (f64, f64, f64)> + Clone) -> Option<NormalMixture> {
        let usable = |(log, mean, variance): &(f64, f64, f64)| {
            log.is_finite() && mean.is_finite() && variance.is_finite() && *variance > 0.0
        };
        let heaviest = parts.clone().filter(usable).map(|part| part.0).fold(f64::NEG_INFINITY, f64::max);
        let least = heaviest + MIN_WEIGHT.ln();
        let mut joined: BTreeMap<(i64, i64), PartSums> = BTreeMap::new();
        for (log, mean, variance) in parts.filter(usable).filter(|part| part.0 >= least) {
            let size = (0.5 * variance.ln() / MERGE_DISTANCE).round();
            let place = (mean / (MERGE_DISTANCE * (size * MERGE_DISTANCE).exp())).floor();
            let sums = joined.entry((size as i64, place as i64)).or_default();
            sums.add((log - heaviest).exp(), mean, variance);
        }
        let total: f64 = joined.values().map(|sums| sums.weight).sum();
        let parts: Vec<NormalPart> = joined.values().map(|sums| sums.part(total)).collect();
        (!parts.is_empty()).then_some(NormalMixture { parts })
    }

    pub fn single(mean: f64, variance: f64) -> NormalMixture {
        NormalMixture { parts: vec![NormalPart { weight: 1.0, mean, variance }] }
    }

    pub fn mean(&self) -> f64 {
        self.parts.iter().map(|part| part.weight * part.mean).sum()
    }

    pub fn variance(&self) -> f64 {
        let mean = self.mean();
        self.parts.iter().map(|p| p.weight * (p.variance + (p.mean - mean).powi(2))).sum()
    }

    pub fn probability_below(&self, value: f64) -> f64 {
        let of = |part: &NormalPart| 0.5 * erfc((part.mean - value) / (2.0 * part.variance).sqrt());
        self.parts.iter().map(|part| part.weight * of(part)).sum::<f64>().clamp(0.0, 1.0)
    }

    /// Probability of a value above `value`. Small ones keep their digits.
    pub fn probability_above(&self, value: f64) -> f64 {
        self.negated().probability_below(-value)
    }

    pub fn quantile(&self, share: f64) -> f64 {
        let reach = |part: &NormalPart| 9.0 * part.variance.sqrt();
        let mut low = self.parts.iter().map(|p| p.mean - reach(p)).fold(f64::INFINITY, f64::min);
        let mut high = self.parts.iter().map(|p| p.mean + reach(p)).fold(f64::NEG_INFINITY, f64::max);
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            if self.probability_below(middle) < share { low = middle } else { high = middle }
        }
        f64::midpoint(low, high)
    }

    pub fn central95(&self) -> [f64; 2] {
        [self.quantile(0.025), self.quantile(0.975)]
    }

    pub(super) fn negated(&self) -> NormalMixture {
        NormalMixture { parts: self.parts.iter().map(|p| NormalPart { mean: -p.mean, ..*p }).collect() }
    }

    pub fn difference(&self, other: &NormalMixture) -> NormalMixture {
        let pair = |a: &NormalPart, b: &NormalPart| {
            ((a.weight * b.weight).ln(), a.mean - b.mean, a.variance + b.variance)
        };
        let parts = self.parts.iter().flat_map(|a| other.parts.iter().map(move |b| pair(a, b)));
        // Finite parts have finite differences, so the fallback is never used.
        NormalMixture::from_parts(parts).unwrap_or_else(|| self.clone())
    }

    #[must_use]
    pub fn widened(&self, variance: f64) -> NormalMixture {
        NormalMixture {
            parts: self.parts.iter().map(|p| NormalPart { variance: p.variance + variance, ..*p }).collect(),
        }
    }

    /// Combines with a prior: values are spread around 0 with these (weight, deviation) pairs.
    pub(crate) fn with_prior(&self, known: impl Iterator<Item = (f64, f64)> + Clone) -> NormalMixture {
        let parts = self.parts.iter().flat_map(|part| {
            known.clone().map(move |(share, deviation)| {
                let (own, prior) = (part.variance, deviation * deviation);
                let both = own + prior;
                let log = (part.weight * share).ln() - 0.5 * both.ln() - 0.5 * part.mean.powi(2) / both;
                (log, part.mean * prior / both, own * prior / both)
            })
        });
        NormalMixture::from_parts(parts).unwrap_or_else(|| self.clone())
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct PartSums {
    weight: f64,
    first: f64,
    second: f64,
}

impl PartSums {
    // Incremental moments keep the precision of means far from 0, which a difference of squares would lose.
    fn add(&mut self, weight: f64, mean: f64, variance: f64) {
        if self.weight == 0.0 {
            *self = PartSums { weight, first: mean, second: variance };
            return;
        }
        let total = self.weight + weight;
        let step = mean - self.first;
        let (before, after) = (self.weight / total, weight / total);
        self.second = before * self.second + after * variance + before * after * step * step;
        self.first += after * step;
        self.weight = total;
    }

    fn part(&self, total: f64) -> NormalPart {
        NormalPart { weight: self.weight / total, mean: self.first, variance: self.second }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn single_normal_has_text_book_quantiles() {
        let one = NormalMixture::single(2.0, 9.0);
        let [low, high] = one.central95();
        assert!(
            (low - (2.0 - 1.959_964 * 3.0)).abs() < 1e-5 && (high - (2.0 + 1.959_964 * 3.0)).abs() < 1e-5
        );
        assert!(
            (one.probability_below(2.0) - 0.5).abs() < 1e-12
                && (one.probability_above(5.0) - 0.158_655).abs() < 1e-6
        );
    }

    #[test]
    fn difference_and_widening_add_variances() {
        let one = NormalMixture::single(1.0, 3.0).difference(&NormalMixture::single(4.0, 1.0)).widened(12.0);
        assert!((one.mean() + 3.0).abs() < 1e-12 && (one.variance() - 16.0).abs() < 1e-12);
    }

    #[test]
    fn prior_moves_uncertain_values_only() {
        let usual = || [(0.5, 0.05), (0.5, 1.0)].into_iter();
        let vague = NormalMixture::single(0.1, 0.01).with_prior(usual());
        let sure = NormalMixture::single(0.1, 1e-6).with_prior(usual());
        assert!(vague.mean() > 0.0 && vague.mean() < 0.09, "{vague:?}");
        assert!((sure.mean() - 0.1).abs() < 0.001, "{sure:?}");
    }

    #[test]
    fn mixture_needs_a_usable_part() {
        assert_eq!(NormalMixture::from_parts([(f64::NAN, 0.0, 1.0), (0.0, 0.0, 0.0)].into_iter()), None);
    }

    proptest! {
        #[test]
        fn merging_keeps_mean_and_variance(
            parts in prop::collection::vec((-5.0..0.0f64, -3.0..3.0f64, 1e-4..2.0f64), 1..60),
        ) {
            let found = NormalMixture::from_parts(parts.iter().copied()).unwrap();
            let total: f64 = parts.iter().map(|p| p.0.exp()).sum();
            let mean = parts.iter().map(|p| p.0.exp() * p.1).sum::<f64>() / total;
            let variance =
                parts.iter().map(|p| p.0.exp() * (p.2 + (p.1 - mean).powi(2))).sum::<f64>() / total;
            prop_assert!((found.mean() - mean).abs() < 1e-9);
            prop_assert!((found.variance() / variance - 1.0).abs() < 1e-9);
            let [low, high] = found.central95();
            prop_assert!((found.probability_below(low) - 0.025).abs() < 1e-6 && (found.probability_above(high) - 0.025).abs() < 1e-6);
        }
    }
}
