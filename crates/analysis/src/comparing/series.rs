//! What runs that follow each other are worth for their mean, and how well that is known.
//!
//! With lag-1 correlation ρ, two runs that lie k apart correlate by ρ^k. The mean of those over all pairs, c, makes the
//! deviation within the series too small by 1 − c and the mean worse by 1 + (n − 1)c: together they leave n(1 − c) /
//! (1 + (n − 1)c) independent runs. Both are exact for a process of that kind, also with three runs.
//!
//! The interval is Student's, with as many runs as they are worth: the same worth and the same drawn correlation as in a
//! difference, so that a bar's whiskers and a pair's verdict tell of the same runs. It is reckoned in logarithms and never
//! reaches below 0. Drawing the runs again and again ([`crate::bootstrap`]) is no way out with few of them: what is drawn
//! from three holds the truth in two of three cases, and in fewer than half where neighbours are alike. What each way
//! holds is measured in `tests/analysis/comparing/`, with the table in `docs/comparing.md`.

use crate::estimate::t95;

/// A side of fewer runs never differs: two that agree may be one state of the card. No p is given either.
pub const LEAST_RUNS: usize = 3;

/// Correlation of neighbours that is taken where too few runs show their own …
pub(super) const ASSUMED: f64 = 0.6;

/// … and how many runs it counts for against those that were measured. Both found by simulation: with less, cards whose
/// runs correlate by 0.5 differ falsely in more than 5 of 100 comparisons (`tests/analysis/comparing/`).
const ASSUMED_RUNS: f64 = 28.0;

/// What both series show together counts as much as so many runs of either: few runs that agree do so by luck.
const POOLED_RUNS: f64 = 12.0;

/// No series is worth nothing: runs that correlate by more cannot be told from a drift.
const MOST_CORRELATION: f64 = 0.95;

/// Runs that lie so far apart that they correlate by less add nothing; of millions of runs the rest need not be summed.
const NO_CORRELATION: f64 = 1e-12;

/// Runs repeat no better than this share of their mean, whatever a few of them say (reference page `flash-behaviour`, 0).
const LEAST_SPREAD: f64 = 0.004;

/// One card's runs in the order in which they were measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Series {
    pub(super) runs: usize,
    pub(super) mean: f64,
    /// Deviation of a run as a share of the mean; `None` for one run.
    pub(super) spread: Option<f64>,
    /// Lag-1 correlation as the runs show it; 0 where they do not differ.
    lag1: f64,
}

impl Series {
    /// `None` for no runs.
    pub(super) fn new(values: &[f64]) -> Option<Series> {
        let mean = cardscope_model::statistics::mean(values)?;
        let off: Vec<f64> = values.iter().map(|v| if mean > 0.0 { v / mean - 1.0 } else { 0.0 }).collect();
        let squares: f64 = off.iter().map(|o| o * o).sum();
        let together: f64 = off.windows(2).map(|pair| pair[0] * pair[1]).sum();
        Some(Series {
            runs: values.len(),
            mean,
            spread: (values.len() > 1).then(|| (squares / (values.len() as f64 - 1.0)).sqrt()),
            lag1: if squares > 0.0 { together / squares } else { 0.0 },
        })
    }

    fn degrees(&self) -> f64 {
        self.runs as f64 - 1.0
    }
}

/// Correlation of neighbours in one or two series, which is taken for the same in both: what they show, corrected for the
/// share of it that every short series hides, and drawn towards what is assumed.
pub(super) fn correlation(sides: &[&Series]) -> f64 {
    let runs = sides.iter().map(|s| s.runs as f64).sum::<f64>();
    let each = runs / sides.len() as f64;
    let shown = sides.iter().map(|s| s.lag1 * s.runs as f64).sum::<f64>() / runs;
    // A series of n runs shows (1 + 4ρ) / n too little (Marriott and Pope 1954).
    let corrected = (shown + 1.0 / each) / (1.0 - 4.0 / each).max(0.4);
    let weight = (runs - 2.0 * sides.len() as f64).max(0.0);
    ((weight * corrected + ASSUMED_RUNS * ASSUMED) / (weight + ASSUMED_RUNS)).clamp(0.0, MOST_CORRELATION)
}

/// Deviation that both series show together, as a share of their means; `None` where each has one run.
pub(super) fn pooled(sides: [&Series; 2]) -> Option<f64> {
    let degrees: f64 = sides.iter().map(|s| s.degrees()).sum();
    let squares: f64 = sides.iter().filter_map(|s| Some(s.spread?.powi(2) * s.degrees())).sum();
    (degrees > 0.0).then(|| (squares / degrees).sqrt())
}

/// A mean's squared relative error, and the degrees of freedom with which it is known.
pub(super) fn error(series: &Series, runs: usize, pooled: f64, correlation: f64) -> (f64, f64) {
    let own = series.spread.unwrap_or(0.0).powi(2);
    let drawn = (own * series.degrees() + pooled.powi(2) * POOLED_RUNS) / (series.degrees() + POOLED_RUNS);
    let spread = drawn.max(own).sqrt().max(LEAST_SPREAD);
    let kept = (1.0 - correlation.powi(2)) / (1.0 + correlation.powi(2));
    (spread.powi(2) / worth(runs, correlation), ((runs as f64 - 1.0) * kept).max(1.0))
}

/// How many independent runs would say as much about the mean.
pub(super) fn worth(runs: usize, correlation: f64) -> f64 {
    if runs < 2 {
        return runs as f64;
    }
    let n = runs as f64;
    let next = |c: &f64| Some(c * correlation).filter(|c| *c > NO_CORRELATION);
    let decay = std::iter::successors(Some(correlation), next);
    let sum: f64 = (1..runs).zip(decay).map(|(apart, c)| (n - apart as f64) * c).sum();
    let alike = 2.0 * sum / (n * (n - 1.0));
    n * (1.0 - alike) / (1.0 + (n - 1.0) * alike)
}

/// 95 % interval of the mean of runs in the order in which they were measured, in their unit; `None` for fewer than three
/// runs, whose interval would reach from next to nothing to beyond any bus, and where one is negative or no number.
pub fn mean_interval(values: &[f64]) -> Option<[f64; 2]> {
    if values.iter().any(|v| !v.is_finite() || *v < 0.0) {
        return None;
    }
    let series = Series::new(values)?;
    around(series.mean, series.spread?, series.runs, correlation(&[&series]))
}

/// The same from a mean, the deviation of one run and their number, where nothing is known of the order of the runs:
/// neighbours are assumed to be alike.
pub fn mean_interval_of(mean: f64, deviation: f64, runs: u32) -> Option<[f64; 2]> {
    let sanitized = mean.is_finite() && mean >= 0.0 && deviation.is_finite() && deviation >= 0.0;
    let spread = if mean > 0.0 { deviation / mean } else { 0.0 };
    sanitized.then(|| around(mean, spread, runs as usize, ASSUMED))?
}

/// The interval around a mean, for a spread as a share of it.
fn around(mean: f64, spread: f64, runs: usize, correlation: f64) -> Option<[f64; 2]> {
    if runs < LEAST_RUNS {
        return None;
    }
    let error = spread.max(LEAST_SPREAD) / worth(runs, correlation).sqrt();
    let reach = (t95(runs as f64 - 1.0) * error).exp();
    Some([mean / reach, (mean * reach).min(f64::MAX)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn three_runs_that_correlate_by_a_half_are_worth_one_and_independent_ones_three() {
        // c = (2 × 0.5 + 0.25) / 3 = 5/12: 3 × (7/12) / (1 + 10/12) = 21/22.
        assert!((worth(3, 0.5) - 21.0 / 22.0).abs() < 1e-12);
        assert!((worth(3, 0.0) - 3.0).abs() < 1e-12 && (worth(1, 0.5) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn many_runs_are_worth_what_the_text_book_says() {
        // n (1 − ρ) / (1 + ρ)
        assert!((worth(3000, 0.5) / 1000.0 - 1.0).abs() < 0.01, "{}", worth(3000, 0.5));
        let most = u32::MAX as usize;
        assert!((worth(most, 0.95) / most as f64 - 0.05 / 1.95).abs() < 1e-6);
    }

    #[test]
    fn long_series_show_their_own_correlation_and_short_ones_take_the_assumed() {
        let steady: Vec<f64> = (0..400).map(|i| 100.0 + f64::from(i * i * 7 % 11)).collect();
        let drift: Vec<f64> = (0..400).map(|i| 100.0 + f64::from(i)).collect();
        let of = |values: &[f64]| Series::new(values).unwrap();
        let by = |values: &[f64]| correlation(&[&of(values), &of(values)]);
        assert!(by(&steady) < 0.1, "{}", by(&steady));
        assert_eq!(by(&drift), MOST_CORRELATION);
        assert!((by(&drift[..2]) - ASSUMED).abs() < 0.05, "{}", by(&drift[..2]));
    }

    #[test]
    fn three_runs_whose_neighbours_are_alike_are_known_far_less_well_than_student_says() {
        // Mean 100, deviation 2; Student's 4.303 × 2 / √3 = 4.97 would count them as three independent ones.
        let [low, high] = mean_interval(&[98.0, 100.0, 102.0]).unwrap();
        assert!(low < 92.0 && 88.0 < low && high > 109.0 && high < 113.0, "{low} to {high}");
    }

    #[test]
    fn many_runs_that_do_not_follow_each_other_show_it_and_are_known_nearly_as_student_says() {
        let values: Vec<f64> = (0..400).map(|i| 100.0 + f64::from(i * i * 7 % 11)).collect();
        let student = crate::estimate::estimate(&values).unwrap().ci95.unwrap();
        let own = mean_interval(&values).unwrap();
        let width = |[low, high]: [f64; 2]| high - low;
        assert!(width(own) < 1.25 * width(student), "{own:?} {student:?}");
    }

    #[test]
    fn two_runs_and_what_is_no_number_have_no_interval_and_a_standing_card_has_none_of_width() {
        assert_eq!(mean_interval(&[1.0, 2.0]), None);
        assert_eq!(mean_interval(&[1.0, 2.0, f64::NAN]), None);
        assert_eq!(mean_interval(&[1.0, 2.0, -3.0]), None);
        assert_eq!(mean_interval(&[0.0; 5]), Some([0.0, 0.0]));
        assert_eq!(mean_interval_of(f64::NAN, 1.0, 9), None);
        assert_eq!(mean_interval_of(50.0, 1.0, 2), None);
        let [low, high] = mean_interval_of(1e300, 1e300, 3).unwrap();
        assert!(low >= 0.0 && high.is_finite());
    }

    proptest! {
        #[test]
        fn the_mean_lies_in_its_interval_which_grows_with_the_unit(
            values in prop::collection::vec(0.001..1e4f64, 3..40), unit in 0.01..100.0f64,
        ) {
            let [low, high] = mean_interval(&values).unwrap();
            let mean = cardscope_model::statistics::mean(&values).unwrap();
            prop_assert!(low <= mean && mean <= high);
            let scaled: Vec<f64> = values.iter().map(|v| v * unit).collect();
            let [scaled_low, scaled_high] = mean_interval(&scaled).unwrap();
            prop_assert!((scaled_low / unit - low).abs() < 1e-6 * low.max(1.0));
            prop_assert!((scaled_high / unit - high).abs() < 1e-6 * high.max(1.0));
        }
    }
}
