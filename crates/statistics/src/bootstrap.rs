//! Bootstrap confidence intervals of any statistic, by the percentile method.
//! Used for medians, ratios and distributions with two levels, for which Student's t does not hold
//! (docs/reference/flash.md#comparing-two-cards). Correlated values (lag-1 above 0.2) are drawn in blocks.

use crate::estimate::CONFIDENCE_LEVEL;
use cardscope_model::random::SeededRandom;
use cardscope_model::statistics::{quantile_of_sorted, sorted_copy};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BootstrapPlan {
    /// Number of draws: 10 000 for printed results (docs/reference/flash.md#comparing-two-cards).
    pub resamples: u32,
    /// Values drawn together: 1 for independent values, 3 for correlated ones.
    pub block: usize,
    pub seed: u64,
}

/// 95 % confidence interval of `statistic`, None for fewer than two values.
pub fn bootstrap_interval95(
    values: &[f64],
    how: BootstrapPlan,
    statistic: impl Fn(&[f64]) -> f64,
) -> Option<[f64; 2]> {
    if values.len() < 2 || how.resamples == 0 {
        return None;
    }
    let mut random = SeededRandom::from_state(how.seed);
    let mut drawn = Vec::with_capacity(values.len());
    let draws = (0..how.resamples).map(|_| {
        draw_sample(values, how.block, &mut random, &mut drawn);
        statistic(&drawn)
    });
    let ordered = sorted_copy(&draws.collect::<Vec<f64>>());
    let tail = (1.0 - CONFIDENCE_LEVEL) / 2.0;
    Some([quantile_of_sorted(&ordered, tail)?, quantile_of_sorted(&ordered, 1.0 - tail)?])
}

/// Draws as many values as given, in blocks that wrap around the end.
fn draw_sample(values: &[f64], block: usize, random: &mut SeededRandom, drawn: &mut Vec<f64>) {
    drawn.clear();
    while drawn.len() < values.len() {
        let start = random.below_usize(values.len());
        let take = block.max(1).min(values.len() - drawn.len());
        drawn.extend((0..take).map(|i| values[(start + i) % values.len()]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::statistics::{mean, median};

    const PLAIN: BootstrapPlan = BootstrapPlan { resamples: 2000, block: 1, seed: 1 };

    #[test]
    fn bootstrap_interval_is_close_to_students_t() {
        let mut random = SeededRandom::from_state(11);
        let values: Vec<f64> = (0..100).map(|_| 50.0 + 5.0 * random.normal()).collect();
        let [low, high] = bootstrap_interval95(&values, PLAIN, |v| mean(v).unwrap()).unwrap();
        // 1.98 × 5 / √100 = 0.99 either side.
        assert!(((high - low) / 2.0 - 0.99).abs() < 0.2, "{low} to {high}");
    }

    #[test]
    fn bootstrap_is_deterministic_and_needs_two_values() {
        let values = [3.0, 9.0, 4.0, 8.0, 5.0];
        let once = || bootstrap_interval95(&values, PLAIN, |v| median(v).unwrap());
        assert_eq!(once(), once());
        assert_eq!(bootstrap_interval95(&[1.0], PLAIN, |v| v[0]), None);
    }

    #[test]
    fn blocks_widen_the_interval_of_correlated_values() {
        // Two levels in long sequences, as before and after the end of a cache.
        let values: Vec<f64> = (0..60).map(|i| if (i / 10) % 2 == 0 { 600.0 } else { 280.0 }).collect();
        let width = |block| {
            let [low, high] =
                bootstrap_interval95(&values, BootstrapPlan { block, ..PLAIN }, |v| mean(v).unwrap())
                    .unwrap();
            high - low
        };
        assert!(width(10) > 1.5 * width(1), "{} {}", width(10), width(1));
    }
}
