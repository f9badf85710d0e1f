//! How well the mean of one card's runs is known.
//!
//! Student's interval with as many runs as those are worth that follow each other: the same worth and the same drawn
//! correlation as in a difference, so that a bar's whiskers and a pair's verdict tell of the same runs. It is reckoned in
//! logarithms and never reaches below 0. Drawing the runs again and again ([`crate::bootstrap`]) is no way out with few of
//! them: what is drawn from three holds the truth in two of three cases, and in fewer than half where neighbours are alike.
//! What each way holds is measured in `tests/comparing.rs`, with the table in `docs/comparing.md`.

use super::LEAST_RUNS;
use super::series::{ASSUMED, LEAST_SPREAD, Series, correlation, worth};
use crate::student::t95;

/// 95 % interval of the mean of runs in the order in which they were measured, in their unit; `None` for fewer than three
/// runs, whose interval would reach from next to nothing to beyond any bus, and where one is negative or no number.
#[must_use]
pub fn mean_interval(values: &[f64]) -> Option<[f64; 2]> {
    if values.iter().any(|v| !v.is_finite() || *v < 0.0) {
        return None;
    }
    let series = Series::new(values)?;
    around(series.mean, series.spread?, series.runs, correlation(&[&series]))
}

/// The same from a mean, the deviation of one run and their number, where nothing is known of the order of the runs:
/// neighbours are assumed to be alike.
#[must_use]
pub fn mean_interval_of(mean: f64, deviation: f64, runs: u32) -> Option<[f64; 2]> {
    let sound = mean.is_finite() && mean >= 0.0 && deviation.is_finite() && deviation >= 0.0;
    let spread = if mean > 0.0 { deviation / mean } else { 0.0 };
    sound.then(|| around(mean, spread, runs as usize, ASSUMED))?
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
