//! Correction of p values for multiple comparisons.

/// Corrects p values by Holm's method (Scandinavian Journal of Statistics 1979), in the given order. With a level of 5 %,
/// at most 5 of 100 such lists contain a false difference. NaN counts as 1.
pub fn correct_by_holm(p: &[f64]) -> Vec<f64> {
    let sanitized = |p: f64| if p.is_nan() { 1.0 } else { p.clamp(0.0, 1.0) };
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| sanitized(p[*a]).total_cmp(&sanitized(p[*b])));
    let mut corrected = vec![1.0; p.len()];
    let mut greatest: f64 = 0.0;
    for (rank, place) in order.into_iter().enumerate() {
        // A corrected p is never smaller than that of a more significant comparison.
        greatest = greatest.max(sanitized(p[place]) * (p.len() - rank) as f64).min(1.0);
        corrected[place] = greatest;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn holm_matches_p_adjust_of_r() {
        // p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")
        let expected = [0.03, 0.06, 0.06, 0.02];
        for (found, expected) in correct_by_holm(&[0.01, 0.04, 0.03, 0.005]).iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        assert!(correct_by_holm(&[]).is_empty());
        assert_eq!(correct_by_holm(&[f64::NAN, 0.01]), [1.0, 0.02]);
    }

    proptest! {
        #[test]
        fn holm_never_lowers_p_and_keeps_the_order(
            p in prop::collection::vec(0.0..=1.0f64, 1..30),
        ) {
            let corrected = correct_by_holm(&p);
            for (a, b) in p.iter().zip(&corrected) {
                prop_assert!(a <= b && *b <= 1.0);
            }
            for (i, j) in (0..p.len()).flat_map(|i| (0..p.len()).map(move |j| (i, j))) {
                prop_assert!(p[i] > p[j] || corrected[i] <= corrected[j]);
            }
        }
    }
}
