//! Median, quantiles and the median deviation of plain values.
//!
//! Quantiles are those of Hyndman and Fan's type 7 (linear between neighbours), the default of R and NumPy, so
//! that whoever checks a table with those gets the same numbers.

/// A sorted copy; values that are no numbers go to the end.
#[must_use]
pub fn sorted(values: &[f64]) -> Vec<f64> {
    let mut copy = values.to_vec();
    copy.sort_unstable_by(f64::total_cmp);
    copy
}

/// The value below which the share `q` (0 to 1) of sorted values lies; `None` for no values.
#[must_use]
pub fn quantile_of_sorted(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = q.clamp(0.0, 1.0) * last as f64;
    let low = place.floor() as usize;
    let high = (low + 1).min(last);
    Some(sorted[low] + (sorted[high] - sorted[low]) * (place - low as f64))
}

/// The value below which the share `q` (0 to 1) lies; `None` for no values.
#[must_use]
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    quantile_of_sorted(&sorted(values), q)
}

/// The middle value; `None` for no values.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    median_in_place(&mut values.to_vec())
}

/// The middle value, found by partial sorting in time that grows only with the count; shuffles the values.
pub fn median_in_place(values: &mut [f64]) -> Option<f64> {
    let half = values.len() / 2;
    if values.is_empty() {
        return None;
    }
    let odd = values.len() % 2 == 1;
    let (below, middle, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    let lower = below.iter().copied().max_by(f64::total_cmp).filter(|_| !odd);
    Some(lower.map_or(*middle, |lower| (lower + *middle) / 2.0))
}

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
    use proptest::prelude::*;

    #[test]
    fn quantiles_are_those_of_numpy() {
        // numpy.quantile([1, 2, 4, 8], [0, 0.25, 0.5, 0.9, 1])
        for (q, expected) in [(0.0, 1.0), (0.25, 1.75), (0.5, 3.0), (0.9, 6.8), (1.0, 8.0)] {
            assert!((quantile(&[8.0, 1.0, 4.0, 2.0], q).unwrap() - expected).abs() < 1e-12);
        }
        assert_eq!(median(&[]), None);
    }

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

    proptest! {
        #[test]
        fn a_quantile_lies_between_least_and_greatest_and_never_falls(
            values in prop::collection::vec(-1e9..1e9f64, 1..50), a in 0.0..1.0f64, b in 0.0..1.0f64,
        ) {
            let ordered = sorted(&values);
            prop_assert!((median(&values).unwrap() - quantile(&values, 0.5).unwrap()).abs() < 1e-6);
            let (low, high) = (quantile(&values, a.min(b)).unwrap(), quantile(&values, a.max(b)).unwrap());
            prop_assert!(low <= high + 1e-6 && low >= ordered[0] && high <= ordered[ordered.len() - 1]);
        }
    }
}
