//! Likelihood and usual speed of a series of runs under every kind of series.
//!
//! *Steady*: the logarithms of the runs scatter around the usual speed with deviation σ, and neighbours correlate by ρ
//! (first-order autoregression). *Jumping*: they scatter around one of two levels; a share q of all runs is slow, and with
//! probability κ a run stays on the level of the last one. The usual speed is the long-run mean, about which runs on one
//! level only say little. For each σ and ρ, or σ, q and κ, the usual speed has a normal distribution in closed form
//! (generalized least squares with a flat prior), and the runs a likelihood.

use super::spreads::{
    CORRELATIONS, DEVIATIONS, KindSpread, LEVEL_DEVIATIONS, LevelStep, SLOW_SHARES, STAY_PROBABILITIES,
};

/// Steps between two deviations of the table at which likelihoods are computed.
const STEPS_PER_DEVIATION: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SeriesHypothesis {
    pub(super) kind: HypothesisKind,
    pub(super) log_weight: f64,
    pub(super) mean: f64,
    pub(super) variance: f64,
    /// True if it assumes a level without a run.
    pub(super) unseen: bool,
}

/// Kind of series, by indices into the lists of the table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum HypothesisKind {
    Steady {
        deviation: usize,
        correlation: usize,
    },
    /// `stays` holds the probability of the sequence of levels for each probability of staying.
    Jumping {
        deviation: usize,
        slow: usize,
        stays: [f64; STAY_PROBABILITIES.len()],
        step: LevelStep,
    },
}

/// Hypotheses for logarithms of speeds in their order, none for no runs.
pub(super) fn series_hypotheses(logs: &[f64], spread: &KindSpread) -> Vec<SeriesHypothesis> {
    if logs.is_empty() {
        return Vec::new();
    }
    let mut found = steady_hypotheses(&ProcessSums::new(logs), spread);
    if spread.jumping > 0.0 {
        found.extend(jumping_hypotheses(logs, spread));
    }
    found
}

/// Hypotheses for a summary of the logarithms. Without the order, correlation keeps its prior and jumps show only as
/// deviation, which is None for a single run.
pub(super) fn summary_hypotheses(
    mean: f64,
    deviation: Option<f64>,
    runs: u32,
    spread: &KindSpread,
) -> Vec<SeriesHypothesis> {
    steady_hypotheses(&ProcessSums::unordered(mean, deviation, runs), spread)
}

/// Sufficient statistics of an autoregressive process, relative to the mean.
struct ProcessSums {
    runs: f64,
    mean: f64,
    squares: f64,
    /// None if the order is unknown.
    order: Option<RunOrder>,
}

struct RunOrder {
    end_squares: f64,
    ends: f64,
    neighbours: f64,
}

impl ProcessSums {
    fn new(logs: &[f64]) -> ProcessSums {
        let runs = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / runs;
        let off: Vec<f64> = logs.iter().map(|log| log - mean).collect();
        let (first, last) = (off[0], off[off.len() - 1]);
        ProcessSums {
            runs,
            mean,
            squares: off.iter().map(|o| o * o).sum(),
            order: Some(RunOrder {
                end_squares: first * first + last * last,
                ends: first + last,
                neighbours: off.windows(2).map(|pair| pair[0] * pair[1]).sum(),
            }),
        }
    }

    fn unordered(mean: f64, deviation: Option<f64>, runs: u32) -> ProcessSums {
        let runs = f64::from(runs.max(1));
        let squares = deviation.map_or(0.0, |d| d * d * (runs - 1.0));
        ProcessSums { runs, mean, squares, order: None }
    }

    /// Quantities for one correlation: log-likelihood without σ, sum of squares for σ, mean, and equivalent number of
    /// independent runs.
    fn process_at(&self, correlation: f64) -> (f64, f64, f64, f64) {
        let (n, by) = (self.runs, correlation);
        let worth = if n > 1.0 { (n - (n - 2.0) * by) / (1.0 + by) } else { 1.0 };
        let logs = -0.5 * worth.ln();
        let Some(order) = &self.order else {
            // The expected scatter of runs in unknown order is σ² less the part that neighbours share, the mean of ρ^k over all pairs.
            let kept = 1.0 - mean_pair_correlation(n, by);
            let degrees = n - 1.0;
            let log = -0.5 * degrees * kept.ln() - 0.5 * n.ln();
            return (log, self.squares / kept, self.mean, independent_runs(n, by));
        };
        if n < 2.0 {
            return (0.0, 0.0, self.mean, 1.0);
        }
        let rest = 1.0 - by * by;
        let inner = self.squares - order.end_squares;
        let of_squares = (self.squares + by * by * inner - 2.0 * by * order.neighbours) / rest;
        // Correction of the plain mean: 1'R⁻¹y of values that sum to 0.
        let of_values = by * order.ends / (1.0 + by);
        let mean = of_values / worth;
        let log = logs - 0.5 * (n - 1.0) * rest.ln();
        (log, (of_squares - of_values * mean).max(0.0), self.mean + mean, worth)
    }
}

/// Mean of ρ^k over all pairs of n runs at distance k.
fn mean_pair_correlation(n: f64, correlation: f64) -> f64 {
    if n < 2.0 || correlation == 0.0 {
        return 0.0;
    }
    let by = correlation;
    let sum = by * (n * (1.0 - by) - 1.0 + by.powf(n)) / (1.0 - by).powi(2);
    2.0 * sum / (n * (n - 1.0))
}

/// Number of independent runs with the same error of the plain mean.
fn independent_runs(n: f64, correlation: f64) -> f64 {
    n / (1.0 + (n - 1.0) * mean_pair_correlation(n, correlation))
}

fn steady_hypotheses(sums: &ProcessSums, spread: &KindSpread) -> Vec<SeriesHypothesis> {
    let mut found = Vec::with_capacity(CORRELATIONS.len() * DEVIATIONS.len() * STEPS_PER_DEVIATION);
    for (correlation, by) in CORRELATIONS.into_iter().enumerate() {
        let share = (1.0 - spread.jumping) * spread.correlation[correlation];
        let (log, squares, mean, worth) = sums.process_at(by);
        for (deviation, sigma) in deviations(DEVIATIONS.len()) {
            let prior = share * spread.deviation[deviation] / STEPS_PER_DEVIATION as f64;
            let likelihood = log - (sums.runs - 1.0) * sigma.ln() - 0.5 * squares / (sigma * sigma);
            found.push(SeriesHypothesis {
                kind: HypothesisKind::Steady { deviation, correlation },
                log_weight: prior.ln() + likelihood,
                mean,
                variance: sigma * sigma / worth,
                unseen: false,
            });
        }
    }
    found
}

/// Index and value of the first deviations of the table, with the steps in between.
fn deviations(first: usize) -> impl Iterator<Item = (usize, f64)> {
    let factor = (DEVIATIONS[1] / DEVIATIONS[0]).powf(1.0 / STEPS_PER_DEVIATION as f64);
    DEVIATIONS[..first].iter().enumerate().flat_map(move |(place, sigma)| {
        (0..STEPS_PER_DEVIATION)
            .map(move |step| (place, sigma * factor.powi(step as i32 - STEPS_PER_DEVIATION as i32 / 2)))
    })
}

fn jumping_hypotheses(logs: &[f64], spread: &KindSpread) -> Vec<SeriesHypothesis> {
    let n = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / n;
    let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
    let step = spread.level_step();
    let mut found = Vec::new();
    for way in level_assignments(logs) {
        // The likelihood of the levels depends on σ only, so it is computed once for all shares of slow runs.
        let levels = deviations(LEVEL_DEVIATIONS).map(|(deviation, sigma)| {
            let prior = (spread.within[deviation] / STEPS_PER_DEVIATION as f64).ln();
            (deviation, sigma, prior, way.level_likelihood(n, squares, sigma, step))
        });
        for (deviation, sigma, prior, (likelihood, step)) in levels {
            for (slow, q) in SLOW_SHARES.into_iter().enumerate() {
                // Difference of the share of fast runs in the long run and here.
                let more = 1.0 - q - way.fast;
                let stays = STAY_PROBABILITIES.map(|stay| way.path_probability(q, stay));
                let path: f64 = stays.iter().zip(spread.stay).map(|(path, share)| path * share).sum();
                found.push(SeriesHypothesis {
                    kind: HypothesisKind::Jumping { deviation, slow, stays, step },
                    log_weight: likelihood + prior + (spread.jumping * spread.slow[slow] * path).ln(),
                    mean: mean + more * step.mean,
                    variance: sigma * sigma / n + more * more * step.variance,
                    unseen: way.levels == 0.0,
                });
            }
        }
    }
    found
}

struct LevelPath {
    fast: f64,
    /// Sum of squares of the levels around their mean, and of their products with the runs.
    levels: f64,
    together: f64,
    starts_fast: bool,
    /// Transitions: slow to slow, slow to fast, fast to slow, fast to fast.
    steps: [f64; 4],
}

fn level_assignments(logs: &[f64]) -> Vec<LevelPath> {
    let mut sorted = logs.to_vec();
    sorted.sort_by(f64::total_cmp);
    let widest = sorted.windows(2).max_by(|a, b| (a[1] - a[0]).total_cmp(&(b[1] - b[0])));
    let cut = widest.filter(|pair| pair[1] > pair[0]).map(|pair| f64::midpoint(pair[0], pair[1]));
    let cuts = [Some(f64::INFINITY), Some(f64::NEG_INFINITY), cut];
    cuts.into_iter().flatten().map(|cut| LevelPath::new(logs, cut)).collect()
}

impl LevelPath {
    fn new(logs: &[f64], cut: f64) -> LevelPath {
        let fast = |log: &f64| *log > cut;
        let n = logs.len() as f64;
        let share = logs.iter().filter(|log| fast(log)).count() as f64 / n;
        let mean = logs.iter().sum::<f64>() / n;
        let together: f64 = logs.iter().filter(|log| fast(log)).map(|log| log - mean).sum();
        let mut steps = [0.0; 4];
        for pair in logs.windows(2) {
            steps[2 * usize::from(fast(&pair[0])) + usize::from(fast(&pair[1]))] += 1.0;
        }
        let (levels, starts_fast) = (n * share * (1.0 - share), fast(&logs[0]));
        LevelPath { fast: share, levels, together, starts_fast, steps }
    }

    fn path_probability(&self, slow: f64, stay: f64) -> f64 {
        let of = |share: f64, same: bool| (if same { stay } else { 0.0 } + (1.0 - stay) * share).ln();
        let fast = 1.0 - slow;
        let first = if self.starts_fast { fast.ln() } else { slow.ln() };
        let each = [of(slow, true), of(fast, false), of(slow, false), of(fast, true)];
        // Transitions that did not occur are left out, because 0 times an infinite logarithm is NaN.
        let made = self.steps.iter().zip(each).filter(|(count, _)| **count > 0.0);
        (first + made.map(|(count, log)| count * log).sum::<f64>()).exp()
    }

    /// Log-likelihood of the runs with this deviation, and the posterior of the factor between the levels.
    fn level_likelihood(&self, n: f64, squares: f64, sigma: f64, known: LevelStep) -> (f64, LevelStep) {
        let noise = sigma * sigma;
        let precision = self.levels / noise + 1.0 / known.variance;
        let step = (self.together / noise + known.mean / known.variance) / precision;
        let fit = squares / noise + known.mean.powi(2) / known.variance - step * step * precision;
        let likelihood =
            -(n - 1.0) * sigma.ln() - 0.5 * n.ln() - 0.5 * (known.variance * precision).ln() - 0.5 * fit;
        (likelihood, LevelStep { mean: step, variance: 1.0 / precision })
    }
}
