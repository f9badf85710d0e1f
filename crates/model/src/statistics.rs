//! Basic statistics: mean, deviation, median, quantiles. The only implementation in the workspace.
//!
//! Quantiles are Hyndman and Fan's type 7 (linear between neighbours), the default of R and NumPy, so that tables can
//! be verified with these.

pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns the sample standard deviation (divisor n − 1), or None for fewer than two values.
pub fn sample_deviation(values: &[f64]) -> Option<f64> {
    let centre = mean(values).filter(|_| values.len() > 1)?;
    let squares: f64 = values.iter().map(|v| (v - centre).powi(2)).sum();
    Some((squares / (values.len() as f64 - 1.0)).sqrt())
}

/// Returns a sorted copy, with NaN at the end.
pub fn sorted_copy(values: &[f64]) -> Vec<f64> {
    let mut copy = values.to_vec();
    copy.sort_unstable_by(f64::total_cmp);
    copy
}

/// Returns the quantile `q` (0 to 1) of sorted values, or None without values.
pub fn quantile_of_sorted(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let rank = q.clamp(0.0, 1.0) * last as f64;
    let low = rank.floor() as usize;
    let high = (low + 1).min(last);
    Some(sorted[low] + (sorted[high] - sorted[low]) * (rank - low as f64))
}

pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    quantile_of_sorted(&sorted_copy(values), q)
}

pub fn median(values: &[f64]) -> Option<f64> {
    median_in_place(&mut values.to_vec())
}

/// Returns the median in linear time by partial sorting; reorders the values.
pub fn median_in_place(values: &mut [f64]) -> Option<f64> {
    let half = values.len() / 2;
    if values.is_empty() {
        return None;
    }
    let odd = values.len() % 2 == 1;
    let (below, middle, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    // An even count has two middle values; the lower one is the greatest of those below.
    let lower = below.iter().copied().max_by(f64::total_cmp).filter(|_| !odd);
    Some(lower.map_or(*middle, |lower| (lower + *middle) / 2.0))
}

/// Returns each value once, in the order of first occurrence.
pub fn distinct_values<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for one in all {
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantiles_match_numpy() {
        // Expected: numpy.quantile([1, 2, 4, 8], [0, 0.25, 0.5, 0.9, 1])
        for (q, expected) in [(0.0, 1.0), (0.25, 1.75), (0.5, 3.0), (0.9, 6.8), (1.0, 8.0)] {
            assert!((quantile(&[8.0, 1.0, 4.0, 2.0], q).unwrap() - expected).abs() < 1e-12);
        }
        assert_eq!((median(&[]), mean(&[]), sample_deviation(&[1.0])), (None, None, None));
    }

    proptest! {
        #[test]
        fn quantile_is_monotone_and_bounded(
            values in prop::collection::vec(-1e9..1e9f64, 1..50), a in 0.0..1.0f64, b in 0.0..1.0f64,
        ) {
            let ordered = sorted_copy(&values);
            prop_assert!((median(&values).unwrap() - quantile(&values, 0.5).unwrap()).abs() < 1e-6);
            let (low, high) = (quantile(&values, a.min(b)).unwrap(), quantile(&values, a.max(b)).unwrap());
            prop_assert!(low <= high + 1e-6 && low >= ordered[0] && high <= ordered[ordered.len() - 1]);
        }
    }
}
