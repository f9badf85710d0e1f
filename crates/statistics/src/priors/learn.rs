//! Learns the spread of a kind of series: the shares of deviations, correlations and jumps with the highest likelihood
//! (empirical Bayes: Efron, Large-Scale Inference, 2010; expectation-maximisation: Dempster, Laird and Rubin, 1977). The
//! prior counts as a number of series, so that a few new ones change little.

use super::series::{HypothesisKind, SeriesHypothesis, series_hypotheses, summary_hypotheses};
use super::spreads::{self, CARD_DISTANCES, KindSpread, LevelStep};

/// EM rounds, after which shares change by less than 1 %.
const EM_ROUNDS: usize = 30;

/// Least log factor between two levels, as [`crate::levels`] accepts no smaller one.
const MIN_LOG_STEP: f64 = 0.14;

#[derive(Debug, Clone, PartialEq)]
pub enum KnownSeries {
    /// Logarithms of the runs, in their order.
    Runs(Vec<f64>),
    Summary {
        mean: f64,
        deviation: f64,
        runs: u32,
    },
}

impl KnownSeries {
    pub fn from_mean(mean: f64, deviation: f64, runs: u32) -> Option<KnownSeries> {
        let usable = mean.is_finite() && mean > 0.0 && deviation.is_finite() && deviation >= 0.0;
        let deviation = log_deviation(mean, deviation);
        usable.then(|| KnownSeries::Summary { mean: mean.ln(), deviation, runs })
    }
}

/// Standard deviation of the logarithm of a log-normal distribution.
pub(super) fn log_deviation(mean: f64, deviation: f64) -> f64 {
    (1.0 + (deviation / mean).powi(2)).ln().sqrt()
}

/// Series prepared for the rounds. The likelihoods of a summary are the same in each.
enum AskedSeries<'a> {
    Runs(&'a [f64]),
    Steady(Vec<(HypothesisKind, f64)>),
}

impl<'a> AskedSeries<'a> {
    fn new(seen: &'a KnownSeries) -> AskedSeries<'a> {
        match seen {
            KnownSeries::Runs(logs) => AskedSeries::Runs(logs),
            KnownSeries::Summary { mean, deviation, runs } => {
                let all = summary_hypotheses(*mean, Some(*deviation), *runs, &KindSpread::even_spread());
                let most = all.iter().map(|h| h.log_weight).fold(f64::NEG_INFINITY, f64::max);
                let mut kinds: Vec<(HypothesisKind, f64)> = Vec::new();
                for found in &all {
                    let likelihood = (found.log_weight - most).exp();
                    // Deviations between those of the table belong to the previous one.
                    match kinds.last_mut().filter(|(kind, _)| *kind == found.kind) {
                        Some((_, sum)) => *sum += likelihood,
                        None => kinds.push((found.kind, likelihood)),
                    }
                }
                AskedSeries::Steady(kinds)
            }
        }
    }
}

pub fn learn_spread(seen: &[KnownSeries], before: &KindSpread, strength: f64) -> KindSpread {
    let asked: Vec<AskedSeries<'_>> = seen.iter().map(AskedSeries::new).collect();
    let mut known = before.clone();
    for _ in 0..EM_ROUNDS {
        let mut counted = CountedSeries::new(&known, before, strength);
        for series in &asked {
            match series {
                AskedSeries::Runs(logs) => counted.add(&series_hypotheses(logs, &known)),
                AskedSeries::Steady(kinds) => counted.add_steady(kinds),
            }
        }
        known = counted.into_spread(before, seen.len() as f64);
    }
    known
}

struct CountedSeries<'a> {
    known: &'a KindSpread,
    spread: KindSpread,
    steady: f64,
    jumping: f64,
    steps: (f64, f64, f64),
}

impl<'a> CountedSeries<'a> {
    fn new(known: &'a KindSpread, before: &KindSpread, strength: f64) -> CountedSeries<'a> {
        let step = before.level_step();
        let jumping = strength * before.jumping;
        let mut spread = before.clone();
        let steady = strength - jumping;
        spread.deviation.iter_mut().chain(&mut spread.correlation).for_each(|share| *share *= steady);
        let of_jumps = spread.within.iter_mut().chain(&mut spread.slow).chain(&mut spread.stay);
        of_jumps.for_each(|share| *share *= jumping);
        let squares = step.variance + step.mean * step.mean;
        let steps = (jumping, jumping * step.mean, jumping * squares);
        CountedSeries { known, spread, steady, jumping, steps }
    }

    /// Adds a series. Hypotheses of an unseen level are ignored, because only the prior could distinguish them from a steady
    /// series, and the prior is what is learned here.
    fn add(&mut self, hypotheses: &[SeriesHypothesis]) {
        let hypotheses: Vec<&SeriesHypothesis> = hypotheses.iter().filter(|h| !h.unseen).collect();
        let most = hypotheses.iter().map(|h| h.log_weight).fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = hypotheses.iter().map(|h| (h.log_weight - most).exp()).sum();
        for hypothesis in hypotheses {
            let weight = (hypothesis.log_weight - most).exp() / total;
            if weight.is_finite() && weight > 0.0 {
                self.count_kind(hypothesis.kind, weight);
            }
        }
    }

    fn add_steady(&mut self, kinds: &[(HypothesisKind, f64)]) {
        let known = self.known;
        let weight = |(kind, likelihood): &(HypothesisKind, f64)| match *kind {
            HypothesisKind::Steady { deviation, correlation } => {
                likelihood * known.deviation[deviation] * known.correlation[correlation]
            }
            HypothesisKind::Jumping { .. } => 0.0,
        };
        let total: f64 = kinds.iter().map(weight).sum();
        for kind in kinds.iter().filter(|_| total > 0.0) {
            self.count_kind(kind.0, weight(kind) / total);
        }
    }

    fn count_kind(&mut self, kind: HypothesisKind, weight: f64) {
        match kind {
            HypothesisKind::Steady { deviation, correlation } => {
                self.steady += weight;
                self.spread.deviation[deviation] += weight;
                self.spread.correlation[correlation] += weight;
            }
            HypothesisKind::Jumping { deviation, slow, stays, step: LevelStep { mean, variance } } => {
                self.jumping += weight;
                self.spread.within[deviation] += weight;
                self.spread.slow[slow] += weight;
                let each = stays.iter().zip(&self.known.stay).map(|(path, share)| path * share);
                let each: Vec<f64> = each.collect();
                let all: f64 = each.iter().sum();
                let shares = self.spread.stay.iter_mut().zip(each);
                shares.for_each(|(sum, of)| *sum += weight * of / all.max(f64::MIN_POSITIVE));
                self.steps.0 += weight;
                self.steps.1 += weight * mean;
                self.steps.2 += weight * (variance + mean * mean);
            }
        }
    }

    fn into_spread(mut self, before: &KindSpread, series: f64) -> KindSpread {
        let KindSpread { deviation, correlation, within, slow, stay, .. } = &mut self.spread;
        [&mut deviation[..], correlation, within, slow, stay].into_iter().for_each(normalize_shares);
        let all = self.steady + self.jumping;
        let (count, sum, squares) = self.steps;
        if count > 0.0 {
            let mean = (sum / count).max(MIN_LOG_STEP);
            self.spread.factor = mean.exp();
            self.spread.factor_deviation = (squares / count - (sum / count).powi(2)).max(0.01).sqrt();
        }
        KindSpread {
            series: before.series + series,
            jumping: if all > 0.0 { self.jumping / all } else { before.jumping },
            ..self.spread
        }
    }
}

fn normalize_shares(shares: &mut [f64]) {
    let total: f64 = shares.iter().sum();
    if total > 0.0 {
        shares.iter_mut().for_each(|share| *share /= total);
    }
}

/// Shares of distances between cards, from the logarithms of factors. The prior counts as one observation.
pub fn learn_distances(logs: &[f64]) -> [f64; CARD_DISTANCES.len()] {
    let mut shares: [f64; CARD_DISTANCES.len()] = spreads::even_shares();
    for _ in 0..EM_ROUNDS {
        let mut counted = [1.0 / CARD_DISTANCES.len() as f64; CARD_DISTANCES.len()];
        for log in logs {
            let of = |(share, d): (f64, f64)| share / d * (-0.5 * (log / d).powi(2)).exp();
            let each: Vec<f64> = shares.into_iter().zip(CARD_DISTANCES).map(of).collect();
            let total: f64 = each.iter().sum();
            let sums = counted.iter_mut().zip(each);
            sums.for_each(|(sum, weight)| *sum += weight / total.max(f64::MIN_POSITIVE));
        }
        normalize_shares(&mut counted);
        shares = counted;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::super::spreads::{CORRELATIONS, DEVIATIONS};
    use super::*;
    use cardscope_model::random::SeededRandom;

    fn series(count: usize, runs: usize, sigma: f64, by: f64) -> Vec<KnownSeries> {
        let mut random = SeededRandom::from_state(7);
        let mut one = || {
            let mut off = random.normal();
            let next = |_| {
                let now = off;
                off = by * off + (1.0f64 - by * by).sqrt() * random.normal();
                4.0 + sigma * now
            };
            KnownSeries::Runs((0..runs).map(next).collect())
        };
        (0..count).map(|_| one()).collect()
    }

    fn usual(shares: &[f64], of: &[f64]) -> f64 {
        shares.iter().zip(of).map(|(share, value)| share * value).sum()
    }

    #[test]
    fn learning_recovers_deviation_and_correlation() {
        for (sigma, by) in [(0.005, 0.0), (0.06, 0.6)] {
            let found = learn_spread(&series(100, 10, sigma, by), &KindSpread::even_spread(), 2.0);
            let deviation = usual(&found.deviation, &DEVIATIONS.map(f64::ln)).exp();
            let correlation = usual(&found.correlation, &CORRELATIONS);
            assert!((deviation / sigma).ln().abs() < 0.25, "{deviation} for {sigma}");
            assert!((correlation - by).abs() < 0.15, "{correlation} for {by}");
            assert!(found.jumping < 0.1 && found.series == 100.0, "{found:?}");
        }
    }

    #[test]
    fn learning_recovers_jumps() {
        let mut random = SeededRandom::from_state(3);
        let mut one = || {
            let mut run = |_| if random.unit_interval() < 0.6 { 5.6 } else { 6.4 } + 0.02 * random.normal();
            KnownSeries::Runs((0..10).map(&mut run).collect())
        };
        let found =
            learn_spread(&(0..60).map(|_| one()).collect::<Vec<_>>(), &KindSpread::even_spread(), 2.0);
        assert!(found.jumping > 0.9 && (found.factor.ln() - 0.8).abs() < 0.05, "{found:?}");
    }

    #[test]
    fn few_series_hardly_change_the_prior() {
        let known = learn_spread(&series(100, 10, 0.005, 0.0), &KindSpread::even_spread(), 2.0);
        let after = learn_spread(&series(3, 5, 0.2, 0.0), &known, known.series);
        assert!(after.deviation.iter().zip(&known.deviation).all(|(a, b)| (a - b).abs() < 0.04), "{after:?}");
        let none = learn_spread(&[], &known, known.series);
        assert!(none.deviation.iter().zip(&known.deviation).all(|(a, b)| (a - b).abs() < 1e-12), "{none:?}");
    }

    #[test]
    fn summaries_teach_deviations() {
        let seen = vec![KnownSeries::Summary { mean: 4.0, deviation: 0.02, runs: 5 }; 80];
        let found = learn_spread(&seen, &KindSpread::even_spread(), 2.0);
        let deviation = usual(&found.deviation, &DEVIATIONS.map(f64::ln)).exp();
        assert!((deviation / 0.022).ln().abs() < 0.3, "{deviation}");
    }

    #[test]
    fn learning_recovers_card_distances() {
        let mut random = SeededRandom::from_state(1);
        let found = learn_distances(&(0..300).map(|_| 0.1 * random.normal()).collect::<Vec<f64>>());
        assert!(found[1] > 0.8, "{found:?}");
    }
}
