//! How well the median of a series is known, and the ratio of two.
//!
//! A median asks for no shape of the spread, so it is what to compare where runs have two levels or a few of them stall.
//! Its interval lies between two of the runs themselves, chosen by the binomial distribution: with few runs that holds
//! what it promises where drawing the runs again and again ([`crate::bootstrap`]) does not, and it costs a sorting. Runs
//! that follow each other count for less. A ratio is made of the intervals of its two sides (Zou and Donner, Statistics in
//! Medicine 2008).

use super::NORMAL95;
use super::series::{Series, correlation, worth};
use crate::quantile::{median, quantile_of_sorted, sorted};

/// With five runs not even the least and the greatest hold the median in 95 of 100 cases (2 × 2^-5 are outside); with six
/// they do.
const LEAST_RUNS: usize = 6;

/// 95 % interval of the median of runs in the order in which they were measured, in their unit; `None` for fewer than six
/// runs, and where one is no number.
#[must_use]
pub fn median_interval(values: &[f64]) -> Option<[f64; 2]> {
    if values.len() < LEAST_RUNS || values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let series = Series::new(values)?;
    let runs = values.len() as f64;
    // Half the runs lie below the median, give or take two deviations of a binomial distribution; the k-th of n runs is
    // expected where k / (n + 1) of all lie below.
    let half = NORMAL95 / 2.0 / worth(values.len(), correlation([&series; 2])).sqrt();
    let ordered = sorted(values);
    let at = |share: f64| quantile_of_sorted(&ordered, (share * (runs + 1.0) - 1.0) / (runs - 1.0));
    Some([at(0.5 - half)?, at(0.5 + half)?])
}

/// Ratio of two medians, second over first, with its 95 % interval; `None` where one has no interval or is not above 0
/// throughout.
#[must_use]
pub fn ratio_of_medians_interval(first: &[f64], second: &[f64]) -> Option<(f64, [f64; 2])> {
    let side = |values: &[f64]| {
        let [low, high] = median_interval(values)?;
        let middle = median(values)?;
        (low > 0.0).then(|| (middle.ln(), middle.ln() - low.ln(), high.ln() - middle.ln()))
    };
    let ((a, a_below, a_above), (b, b_below, b_above)) = (side(first)?, side(second)?);
    let (below, above) = (b_below.hypot(a_above), b_above.hypot(a_below));
    Some(((b - a).exp(), [(b - a - below).exp(), (b - a + above).exp()]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use proptest::prelude::*;

    fn plain(count: usize, random: &mut Random) -> Vec<f64> {
        (0..count).map(|_| 50.0 * (0.05 * random.normal()).exp()).collect()
    }

    /// Share of 1000 intervals that hold the true value.
    fn held(mut holds: impl FnMut() -> bool) -> f64 {
        (0..1000).filter(|_| holds()).count() as f64 / 1000.0
    }

    #[test]
    fn ninety_five_of_a_hundred_medians_lie_in_their_interval() {
        for count in [6, 10, 40, 500] {
            let mut random = Random::new(8);
            let share = held(|| {
                let [low, high] = median_interval(&plain(count, &mut random)).unwrap();
                low <= 50.0 && 50.0 <= high
            });
            assert!(share >= 0.94, "{count} runs: {share}");
        }
    }

    #[test]
    fn ten_runs_that_are_not_alike_reach_from_about_the_second_to_the_ninth() {
        // The reference page's exact choice; runs that may be alike reach a little further.
        let runs = [4.0, 9.0, 1.0, 10.0, 3.0, 8.0, 2.0, 7.0, 5.0, 6.0];
        let [low, high] = median_interval(&runs).unwrap();
        assert!((1.0..=2.2).contains(&low) && (8.8..=10.0).contains(&high), "{low} to {high}");
    }

    #[test]
    fn the_ratio_of_two_cards_that_are_alike_lies_about_1() {
        let mut random = Random::new(9);
        let share = held(|| {
            let (first, second) = (plain(12, &mut random), plain(20, &mut random));
            let (_, [low, high]) = ratio_of_medians_interval(&first, &second).unwrap();
            low <= 1.0 && 1.0 <= high
        });
        assert!(share >= 0.94, "{share}");
    }

    #[test]
    fn five_runs_have_no_interval_of_their_median() {
        assert_eq!(median_interval(&[1.0, 2.0, 3.0, 4.0, 5.0]), None);
        assert_eq!(median_interval(&[f64::NAN; 9]), None);
        assert_eq!(ratio_of_medians_interval(&[0.0; 9], &[1.0; 9]), None);
    }

    proptest! {
        #[test]
        fn a_ratio_lies_in_its_interval_and_turns_over_with_its_sides(
            first in prop::collection::vec(0.1..1e3f64, 6..20), second in prop::collection::vec(0.1..1e3f64, 6..20),
        ) {
            let (ratio, [low, high]) = ratio_of_medians_interval(&first, &second).unwrap();
            let (turned, [turned_low, turned_high]) = ratio_of_medians_interval(&second, &first).unwrap();
            prop_assert!(low <= ratio * 1.000_001 && ratio <= high * 1.000_001);
            prop_assert!((ratio * turned - 1.0).abs() < 1e-9);
            prop_assert!((low * turned_high - 1.0).abs() < 1e-9 && (high * turned_low - 1.0).abs() < 1e-9);
        }
    }
}
