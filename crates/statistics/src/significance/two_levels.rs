//! Two speed levels of a card's runs, as compare reports them: [`crate::levels`] without regard to the order of runs.

use crate::run_levels::find_levels;
use cardscope_model::comparison::TwoLevels;
use cardscope_model::statistics::{median, quantile_of_sorted, sorted_copy};

/// Limit of runs, as the search for cuts grows with their cube. More runs are replaced by their quantiles.
const MAX_SPLIT_RUNS: usize = 30;

/// Splits runs (MB/s, any order) into two levels. None for a single level or fewer than six runs. Of three levels the two
/// nearest count as one.
pub fn split_two_levels(values: &[f64]) -> Option<TwoLevels> {
    let ordered = sorted_copy(values);
    let cut = level_cut(&run_quantiles(&ordered))?;
    let (low, high) = ordered.split_at(ordered.partition_point(|v| *v < cut));
    let share_low = low.len() as f64 / ordered.len() as f64;
    Some(TwoLevels { low: median(low)?, high: median(high)?, share_low })
}

fn run_quantiles(ordered: &[f64]) -> Vec<f64> {
    if ordered.len() <= MAX_SPLIT_RUNS {
        return ordered.to_vec();
    }
    let shares = (0..MAX_SPLIT_RUNS).map(|i| (i as f64 + 0.5) / MAX_SPLIT_RUNS as f64);
    shares.filter_map(|share| quantile_of_sorted(ordered, share)).collect()
}

/// Speed between the two levels, halfway by ratio. Of two cuts the one with the wider gap is used.
fn level_cut(values: &[f64]) -> Option<f64> {
    let found = find_levels(values)?;
    let across = found.levels.windows(2).map(|pair| (pair[1].estimate.best, pair[0].estimate.worst));
    let widest = across.max_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)))?;
    Some(widest.0.sqrt() * widest.1.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::random::SeededRandom;

    #[test]
    fn ten_runs_with_cache_ends_have_two_levels() {
        // docs/reference/reports.md#microsd-express-benchmarks, Lexar, SEQ1G Q1T1 write with a fan.
        let lexar = [597.0, 595.0, 392.0, 362.0, 322.0, 280.0, 281.0, 605.0, 323.0, 280.0];
        let found = split_two_levels(&lexar).unwrap();
        assert_eq!((found.low, found.high), (322.0, 597.0));
        assert!((found.share_low - 0.7).abs() < 1e-12);
    }

    #[test]
    fn many_runs_are_split_like_few() {
        let mut random = SeededRandom::from_state(2);
        let mut run = |i: usize| if i % 5 < 2 { 600.0 } else { 280.0 } * (0.03 * random.normal()).exp();
        let runs: Vec<f64> = (0..500).map(&mut run).collect();
        let found = split_two_levels(&runs).unwrap();
        assert!((found.share_low - 0.6).abs() < 1e-9, "{found:?}");
        assert!(
            (found.low / 280.0 - 1.0).abs() < 0.02 && (found.high / 600.0 - 1.0).abs() < 0.02,
            "{found:?}"
        );
    }

    #[test]
    fn many_plain_runs_have_one_level() {
        for seed in 0..50 {
            let mut random = SeededRandom::from_state(seed);
            let runs: Vec<f64> = (0..500).map(|_| 90.0 * (0.1 * random.normal()).exp()).collect();
            assert_eq!(split_two_levels(&runs), None, "{seed}");
        }
    }

    #[test]
    fn nearest_of_three_levels_are_merged() {
        let three =
            [[600.0, 605.0, 610.0, 602.0], [300.0, 301.0, 302.0, 303.0], [230.0, 231.0, 232.0, 233.0]]
                .concat();
        let found = split_two_levels(&three).unwrap();
        assert!((found.share_low - 2.0 / 3.0).abs() < 1e-12 && found.high > 600.0, "{found:?}");
    }

    #[test]
    fn two_levels_handles_extreme_inputs() {
        for values in [&[][..], &[f64::NAN; 8], &[0.0; 8], &[-1.0; 8], &[f64::INFINITY; 9], &[5.0]] {
            assert_eq!(split_two_levels(values), None, "{values:?}");
        }
    }
}
