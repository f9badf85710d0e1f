//! Estimate of a test over several runs: mean, median, extremes and the 95 % confidence interval by Student's t, which
//! accounts for a deviation that is itself estimated from few runs.

use cardscope_model::statistics::{mean, quantile_of_sorted, sample_deviation, sorted_copy};
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::sync::OnceLock;

/// Summary of several values of one quantity, in its unit. `best` is the largest, as for speeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    pub n: u32,
    pub mean: f64,
    pub median: f64,
    pub best: f64,
    pub worst: f64,
    /// Sample standard deviation (divisor n − 1), None for one value.
    pub deviation: Option<f64>,
    /// 95 % confidence interval of the mean, None for one value.
    pub ci95: Option<[f64; 2]>,
}

impl Estimate {
    pub fn half_width_percent(&self) -> Option<f64> {
        let [low, high] = self.ci95?;
        (self.mean != 0.0).then(|| 50.0 * (high - low) / self.mean.abs())
    }
}

/// Summarizes values, None if there are none.
pub fn estimate_values(values: &[f64]) -> Option<Estimate> {
    let ordered = sorted_copy(values);
    let (worst, best) = (*ordered.first()?, *ordered.last()?);
    let mean = mean(values)?;
    let deviation = sample_deviation(values);
    let ci95 = deviation.map(|s| {
        let half = student_t95(values.len() as f64 - 1.0) * s / (values.len() as f64).sqrt();
        [mean - half, mean + half]
    });
    let median = quantile_of_sorted(&ordered, 0.5)?;
    Some(Estimate { n: values.len() as u32, mean, median, best, worst, deviation, ci95 })
}

pub const CONFIDENCE_LEVEL: f64 = 0.95;

pub const NORMAL_QUANTILE_975: f64 = 1.96;

/// Degrees of freedom from which t equals the normal quantile to three digits. Above it the numerical search for the
/// quantile would not converge.
const NORMAL_FROM_DEGREES: f64 = 1e4;

/// Cache of quantiles for whole degrees of freedom, since thousands of means need the same few.
const CACHED_DEGREES: usize = 1024;
static CACHED_QUANTILES: [OnceLock<f64>; CACHED_DEGREES] = [const { OnceLock::new() }; CACHED_DEGREES];

/// Two-sided 95 % quantile of Student's t, infinite for less than one degree of freedom.
pub fn student_t95(degrees: f64) -> f64 {
    if degrees >= NORMAL_FROM_DEGREES {
        return NORMAL_QUANTILE_975;
    }
    let whole = Some(degrees as usize).filter(|whole| *whole as f64 == degrees);
    match whole.and_then(|whole| CACHED_QUANTILES.get(whole)) {
        Some(known) => *known.get_or_init(|| compute_t95(degrees)),
        None => compute_t95(degrees),
    }
}

fn compute_t95(degrees: f64) -> f64 {
    match StudentsT::new(0.0, 1.0, degrees) {
        Ok(t) if degrees >= 1.0 => t.inverse_cdf(0.5 + CONFIDENCE_LEVEL / 2.0),
        _ => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::random::SeededRandom;
    use proptest::prelude::*;

    #[test]
    fn estimate_matches_the_text_book() {
        // Mean 20, s = sqrt(2.5), t = 2.776 445 (4 degrees): 20 ± 1.963 243.
        let e = estimate_values(&[18.0, 19.0, 20.0, 21.0, 22.0]).unwrap();
        assert_eq!((e.n, e.mean, e.median, e.best, e.worst), (5, 20.0, 20.0, 22.0, 18.0));
        let [low, high] = e.ci95.unwrap();
        assert!((low - 18.036_757).abs() < 1e-5 && (high - 21.963_243).abs() < 1e-5);
        assert!((e.half_width_percent().unwrap() - 9.816_216).abs() < 1e-4);
    }

    #[test]
    fn estimate_needs_one_run_and_its_interval_two() {
        let one = estimate_values(&[42.0]).unwrap();
        assert_eq!((one.n, one.mean, one.ci95, one.half_width_percent()), (1, 42.0, None, None));
        assert_eq!(estimate_values(&[]), None);
    }

    #[test]
    fn estimate_intervals_have_95_percent_coverage() {
        let mut random = SeededRandom::from_state(3);
        let held = (0..4000)
            .filter(|_| {
                let runs: Vec<f64> = (0..5).map(|_| 20.0 + 0.4 * random.normal()).collect();
                let [low, high] = estimate_values(&runs).unwrap().ci95.unwrap();
                low <= 20.0 && 20.0 <= high
            })
            .count();
        // 3800 expected, deviation 14.
        assert!((3750..=3850).contains(&held), "{held} of 4000");
    }

    proptest! {
        #[test]
        fn mean_and_median_are_within_the_range(
            values in prop::collection::vec(0.001..1e4f64, 1..40),
        ) {
            let e = estimate_values(&values).unwrap();
            prop_assert!(e.worst <= e.median && e.median <= e.best);
            prop_assert!(e.worst - 1e-9 <= e.mean && e.mean <= e.best + 1e-9);
            if let Some([low, high]) = e.ci95 {
                prop_assert!(low <= e.mean && e.mean <= high);
            }
        }
    }

    #[test]
    fn student_t95_matches_printed_tables() {
        // t₀.₉₇₅ as in any printed table.
        for (degrees, t) in
            [(1.0, 12.706), (2.0, 4.303), (4.0, 2.776), (9.0, 2.262), (30.0, 2.042), (1000.0, 1.962)]
        {
            assert!((student_t95(degrees) - t).abs() < 5e-4, "{degrees}: {}", student_t95(degrees));
        }
        assert_eq!(student_t95(0.0), f64::INFINITY);
        assert!((student_t95(9_999.0) - student_t95(10_000.0)).abs() < 5e-4);
        for absurd in [1e18, 1e300, f64::INFINITY] {
            assert_eq!(student_t95(absurd), NORMAL_QUANTILE_975);
        }
        // Half a degree is not cached, and the end of the cache must not make a step.
        assert!(student_t95(2.5) < student_t95(2.0) && student_t95(3.0) < student_t95(2.5));
        assert!(
            student_t95(1024.0) < student_t95(1023.0) && student_t95(1023.0) - student_t95(1024.0) < 1e-5
        );
        assert_eq!(student_t95(f64::NAN), f64::INFINITY);
    }
}
