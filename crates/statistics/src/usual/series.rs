//! What a few runs of one test say of its usual speed, under every kind of series that cards are known to give.
//!
//! Two kinds. *Steady*: the logarithms of the runs lie around the usual one with a deviation σ, and neighbours correlate by
//! ρ (an autoregressive process of first order). *Jumping*: they lie around one of two levels, a factor apart; a share q of
//! all runs is slow, and with probability κ a run stays where the last one was. The usual speed is the long-run mean, of
//! which runs that were all made at one level know little. For each σ and ρ, or σ, q and κ, the usual speed has a normal
//! distribution in closed form (generalised least squares, with nothing known of it before), and the runs a likelihood.

use super::spreads::{CORRELATIONS, DEVIATIONS, KindSpread, LevelStep, SLOW, STAYS, WITHIN};

/// A table's deviations lie a factor apart; likelihoods are taken at so many places in between.
const FINER: usize = 3;

/// One kind of series and what it makes of the runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SeriesHypothesis {
    pub(super) kind: HypothesisKind,
    /// Logarithm of its prior weight times the likelihood of the runs.
    pub(super) log: f64,
    /// Mean of the logarithm of the usual speed.
    pub(super) mean: f64,
    /// Its variance.
    pub(super) variance: f64,
    /// Whether it supposes a level at which no run was made.
    pub(super) unseen: bool,
}

/// By its places in the table's lists.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum HypothesisKind {
    Steady {
        deviation: usize,
        correlation: usize,
    },
    /// `stays` are the probabilities of the runs' levels for each of the table's probabilities of staying.
    Jumping {
        deviation: usize,
        slow: usize,
        stays: [f64; STAYS.len()],
        step: LevelStep,
    },
}

/// All kinds of series for runs given as logarithms of speeds, in the order of measuring; none for no runs.
pub(super) fn hypotheses(logs: &[f64], spread: &KindSpread) -> Vec<SeriesHypothesis> {
    if logs.is_empty() {
        return Vec::new();
    }
    let mut found = steady(&ProcessSums::new(logs), spread);
    if spread.jumping > 0.0 {
        found.extend(jumping(logs, spread));
    }
    found
}

/// The same for runs of which only the mean of the logarithms, their deviation (`None` for one run) and their number are
/// known: neighbours may then be alike by whatever is usual, and jumps are not seen but in the deviation.
pub(super) fn hypotheses_of(
    mean: f64,
    deviation: Option<f64>,
    runs: u32,
    spread: &KindSpread,
) -> Vec<SeriesHypothesis> {
    steady(&ProcessSums::unordered(mean, deviation, runs), spread)
}

/// What an autoregressive process needs of its runs, all about their mean.
struct ProcessSums {
    runs: f64,
    mean: f64,
    /// Of all squares.
    squares: f64,
    /// Of the squares and the values at both ends, and of products of neighbours; `None` where the order is unknown.
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

    /// For a correlation: the logarithm of the likelihood but for σ, the squares that σ is held against, the mean, and how
    /// many independent runs know it as well.
    fn at(&self, correlation: f64) -> (f64, f64, f64, f64) {
        let (n, by) = (self.runs, correlation);
        let worth = if n > 1.0 { (n - (n - 2.0) * by) / (1.0 + by) } else { 1.0 };
        let logs = -0.5 * worth.ln();
        let Some(order) = &self.order else {
            // What runs in unknown order scatter by is σ² less what neighbours share (see `alike`).
            let kept = 1.0 - alike(n, by);
            let degrees = n - 1.0;
            return (
                -0.5 * degrees * kept.ln() - 0.5 * n.ln(),
                self.squares / kept,
                self.mean,
                independent(n, by),
            );
        };
        if n < 2.0 {
            return (0.0, 0.0, self.mean, 1.0);
        }
        let rest = 1.0 - by * by;
        let inner = self.squares - order.end_squares;
        let of_squares = (self.squares + by * by * inner - 2.0 * by * order.neighbours) / rest;
        // Off the plain mean: 1'R⁻¹y of values that sum to 0.
        let of_values = by * order.ends / (1.0 + by);
        let mean = of_values / worth;
        (
            logs - 0.5 * (n - 1.0) * rest.ln(),
            (of_squares - of_values * mean).max(0.0),
            self.mean + mean,
            worth,
        )
    }
}

/// The mean of ρ^k over all pairs of n runs that lie k apart.
fn alike(n: f64, correlation: f64) -> f64 {
    if n < 2.0 || correlation == 0.0 {
        return 0.0;
    }
    let by = correlation;
    let sum = by * (n * (1.0 - by) - 1.0 + by.powf(n)) / (1.0 - by).powi(2);
    2.0 * sum / (n * (n - 1.0))
}

/// How many independent runs know the plain mean as well.
fn independent(n: f64, correlation: f64) -> f64 {
    n / (1.0 + (n - 1.0) * alike(n, correlation))
}

fn steady(sums: &ProcessSums, spread: &KindSpread) -> Vec<SeriesHypothesis> {
    let mut found = Vec::with_capacity(CORRELATIONS.len() * DEVIATIONS.len() * FINER);
    for (correlation, by) in CORRELATIONS.into_iter().enumerate() {
        let share = (1.0 - spread.jumping) * spread.correlation[correlation];
        let (log, squares, mean, worth) = sums.at(by);
        for (deviation, sigma) in deviations(DEVIATIONS.len()) {
            let prior = share * spread.deviation[deviation] / FINER as f64;
            let likelihood = log - (sums.runs - 1.0) * sigma.ln() - 0.5 * squares / (sigma * sigma);
            found.push(SeriesHypothesis {
                kind: HypothesisKind::Steady { deviation, correlation },
                log: prior.ln() + likelihood,
                mean,
                variance: sigma * sigma / worth,
                unseen: false,
            });
        }
    }
    found
}

/// The first so many deviations of a table with those in between: place in the table, and deviation.
fn deviations(first: usize) -> impl Iterator<Item = (usize, f64)> {
    let factor = (DEVIATIONS[1] / DEVIATIONS[0]).powf(1.0 / FINER as f64);
    DEVIATIONS[..first].iter().enumerate().flat_map(move |(place, sigma)| {
        (0..FINER).map(move |step| (place, sigma * factor.powi(step as i32 - FINER as i32 / 2)))
    })
}

fn jumping(logs: &[f64], spread: &KindSpread) -> Vec<SeriesHypothesis> {
    let n = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / n;
    let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
    let step = spread.step();
    let mut found = Vec::new();
    for way in ways(logs) {
        // Every deviation once: what the levels and their shares make of it differs by a factor and a mean alone.
        let levels = deviations(WITHIN).map(|(deviation, sigma)| {
            let prior = (spread.within[deviation] / FINER as f64).ln();
            (deviation, sigma, prior, way.level(n, squares, sigma, step))
        });
        for (deviation, sigma, prior, (likelihood, step)) in levels {
            for (slow, q) in SLOW.into_iter().enumerate() {
                // So much more of the runs are fast in the long run than were here.
                let more = 1.0 - q - way.fast;
                let stays = STAYS.map(|stay| way.probability(q, stay));
                let path: f64 = stays.iter().zip(spread.stay).map(|(path, share)| path * share).sum();
                found.push(SeriesHypothesis {
                    kind: HypothesisKind::Jumping { deviation, slow, stays, step },
                    log: likelihood + prior + (spread.jumping * spread.slow[slow] * path).ln(),
                    mean: mean + more * step.mean,
                    variance: sigma * sigma / n + more * more * step.variance,
                    unseen: way.levels == 0.0,
                });
            }
        }
    }
    found
}

/// Which runs were fast.
struct LevelPath {
    /// Share of runs at the upper level.
    fast: f64,
    /// Of the squares of the levels about their mean, and of their products with the runs.
    levels: f64,
    together: f64,
    starts_fast: bool,
    /// Of the further runs, by level before and after: slow to slow, slow to fast, fast to slow, fast to fast.
    steps: [f64; 4],
}

/// All slow, all fast, or cut where the runs lie furthest apart.
fn ways(logs: &[f64]) -> Vec<LevelPath> {
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
        let of_fast: f64 = logs.iter().filter(|log| fast(log)).map(|log| log - mean).sum();
        let mut steps = [0.0; 4];
        for pair in logs.windows(2) {
            steps[2 * usize::from(fast(&pair[0])) + usize::from(fast(&pair[1]))] += 1.0;
        }
        LevelPath {
            fast: share,
            levels: n * share * (1.0 - share),
            together: of_fast,
            starts_fast: fast(&logs[0]),
            steps,
        }
    }

    /// Probability of just these levels.
    fn probability(&self, slow: f64, stay: f64) -> f64 {
        let of = |share: f64, same: bool| (if same { stay } else { 0.0 } + (1.0 - stay) * share).ln();
        let fast = 1.0 - slow;
        let first = if self.starts_fast { fast.ln() } else { slow.ln() };
        let each = [of(slow, true), of(fast, false), of(slow, false), of(fast, true)];
        // A step that was not made says nothing, however improbable.
        let made = self.steps.iter().zip(each).filter(|(count, _)| **count > 0.0);
        (first + made.map(|(count, log)| count * log).sum::<f64>()).exp()
    }

    /// Logarithm of the likelihood of runs that deviate by so much from these levels, and what they say of the factor
    /// between them.
    fn level(&self, n: f64, squares: f64, sigma: f64, known: LevelStep) -> (f64, LevelStep) {
        let noise = sigma * sigma;
        let precision = self.levels / noise + 1.0 / known.variance;
        let step = (self.together / noise + known.mean / known.variance) / precision;
        let fit = squares / noise + known.mean.powi(2) / known.variance - step * step * precision;
        let likelihood =
            -(n - 1.0) * sigma.ln() - 0.5 * n.ln() - 0.5 * (known.variance * precision).ln() - 0.5 * fit;
        (likelihood, LevelStep { mean: step, variance: 1.0 / precision })
    }
}
