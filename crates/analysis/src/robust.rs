//! The spread of values by medians, which stalls cannot inflate.

use cardscope_model::statistics::median_in_place;

/// Median of the distances from `centre`: a spread that stalls cannot inflate. Not scaled to a deviation.
#[must_use]
pub fn median_deviation(values: &[f64], centre: f64) -> Option<f64> {
    let mut distances: Vec<f64> = values.iter().map(|v| (v - centre).abs()).collect();
    median_in_place(&mut distances)
}

/// From the median deviation to the deviation of a normal distribution.
pub const MAD_SCALE: f64 = 1.4826;

/// The median of normal values scatters so much more than their mean.
const MEDIAN_SCATTER: f64 = 1.2533;

/// Deviation of values around `centre` as a normal distribution has it, in spite of stalls; `None` for no values.
#[must_use]
pub fn deviation(values: &[f64], centre: f64) -> Option<f64> {
    median_deviation(values, centre).map(|deviation| MAD_SCALE * deviation)
}

/// Standard error of the median of `n` values of that deviation.
#[must_use]
pub fn median_error(deviation: f64, n: usize) -> f64 {
    MEDIAN_SCATTER * deviation / (n as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_stall_does_not_move_the_median_deviation() {
        assert_eq!(median_deviation(&[9.0, 10.0, 11.0, 10.0, 500.0], 10.0), Some(1.0));
    }

    #[test]
    fn the_deviation_is_that_of_a_normal_distribution_and_stalls_leave_it_alone() {
        let mut random = cardscope_model::random::Random::from_state(3);
        let mut values: Vec<f64> = (0..20_000).map(|_| 5.0 + 2.0 * random.normal()).collect();
        values.iter_mut().step_by(100).for_each(|v| *v *= 100.0);
        let spread = deviation(&values, 5.0).unwrap();
        assert!((spread / 2.0 - 1.0).abs() < 0.03, "{spread}");
        // sqrt(pi / 2) / sqrt(n)
        assert!((median_error(2.0, 100) - 0.25066).abs() < 1e-4);
    }
}
