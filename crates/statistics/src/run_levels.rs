//! Speed levels of runs: splits the runs of a test into up to three groups, as those of a card with a cache. A mean over
//! several levels measures only the share of fast runs (docs/reference/flash.md#levels-of-speed).

use crate::estimate::{Estimate, estimate_values};
use cardscope_model::statistics::{median, median_in_place, sorted_copy};

/// Least relative gap between neighbouring levels, nearest run to nearest run.
pub const MIN_LEVEL_GAP: f64 = 0.15;

/// Least distance of the middles of neighbouring levels, in median deviations.
pub const MIN_LEVEL_DISTANCE: f64 = 6.0;

pub const MIN_LEVEL_RUNS: usize = 6;

/// Share of the squares (of logarithms) that two levels must explain: all but 1 % for each run above four, as few runs
/// split by chance, and at least 85 %. In simulations, fewer than 1 of 100 sessions of 6 to 20 runs with a single level and
/// a CV up to 20 % are split.
const MIN_EXPLAINED: f64 = 0.85;
const UNEXPLAINED_A_RUN: f64 = 0.01;
const FEW_RUNS: usize = 4;
/// From 10 runs on 85 % suffices if one level is tight, as the runs within a cache are: at least three of them within 5 %
/// of the total range (0.02 and 0.03 in docs/reference/reports.md#microsd-express-benchmarks).
const MANY_RUNS: usize = 10;
const MAX_TIGHT_WIDTH: f64 = 0.05;
const MIN_TIGHT_RUNS: usize = 3;
/// Share of the squares that three levels must explain. They also need 10 runs.
const EXPLAINED_BY_THREE: f64 = 0.975;

/// Least deviation of runs, so that rounding to whole MB/s does not create levels.
const MIN_DEVIATION: f64 = 0.004;

#[derive(Debug, Clone, PartialEq)]
pub struct RunLevel {
    pub runs: Vec<usize>,
    pub estimate: Estimate,
    pub share: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RunLevels {
    /// A single level if the runs are alike.
    pub levels: Vec<RunLevel>,
}

impl RunLevels {
    pub fn has_several(&self) -> bool {
        self.levels.len() > 1
    }
}

/// Splits runs into levels. None if there are no runs or one is not positive.
pub fn find_levels(values: &[f64]) -> Option<RunLevels> {
    if values.is_empty() || values.iter().any(|v| !v.is_finite() || *v <= 0.0) {
        return None;
    }
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*b].total_cmp(&values[*a]));
    let logs: Vec<f64> = order.iter().map(|i| values[*i].ln()).collect();
    let tried = [(2, MANY_RUNS), (1, MIN_LEVEL_RUNS)].into_iter().filter(|(_, least)| values.len() >= *least);
    let mut apart =
        tried.filter_map(|(cuts, _)| best_cuts(&logs, cuts).filter(|cuts| are_apart(&logs, cuts)));
    let cuts = apart.next().unwrap_or_default();
    let groups = cut_ranges(&cuts, order.len()).into_iter().map(|(from, to)| &order[from..to]);
    let levels = groups.filter_map(|group| make_level(values, group)).collect();
    Some(RunLevels { levels })
}

fn make_level(values: &[f64], group: &[usize]) -> Option<RunLevel> {
    let mut runs = group.to_vec();
    runs.sort_unstable();
    let of: Vec<f64> = runs.iter().map(|i| values[*i]).collect();
    Some(RunLevel { estimate: estimate_values(&of)?, share: runs.len() as f64 / values.len() as f64, runs })
}

fn cut_ranges(cuts: &[usize], count: usize) -> Vec<(usize, usize)> {
    let ends = cuts.iter().copied().chain([count]);
    ends.scan(0, |from, to| Some((std::mem::replace(from, to), to))).collect()
}

/// Cuts with the least squares inside groups of at least two. Sorted values only need to be cut.
fn best_cuts(logs: &[f64], cuts: usize) -> Option<Vec<usize>> {
    let places = 2..logs.len().saturating_sub(1);
    let after = |a: usize| places.clone().filter(move |b| *b >= a + 2);
    let all: Vec<Vec<usize>> = match cuts {
        1 => places.clone().map(|a| vec![a]).collect(),
        _ => places.clone().flat_map(|a| after(a).map(move |b| vec![a, b])).collect(),
    };
    let inside = |cuts: &Vec<usize>| -> f64 {
        cut_ranges(cuts, logs.len()).into_iter().map(|(from, to)| sum_of_squares(&logs[from..to])).sum()
    };
    all.into_iter().min_by(|a, b| inside(a).total_cmp(&inside(b)))
}

fn sum_of_squares(logs: &[f64]) -> f64 {
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    logs.iter().map(|l| (l - mean).powi(2)).sum()
}

fn are_apart(logs: &[f64], cuts: &[usize]) -> bool {
    let groups = cut_ranges(cuts, logs.len());
    let middle = |(from, to): (usize, usize)| median(&logs[from..to]).unwrap_or(0.0);
    let off = groups.iter().flat_map(|g| logs[g.0..g.1].iter().map(|l| (l - middle(*g)).abs()));
    let Some(spread) = median_in_place(&mut off.collect::<Vec<f64>>()) else { return false };
    let spread = spread.max(MIN_DEVIATION);
    let pairs = || groups.windows(2);
    let gap = pairs().map(|p| (logs[p[0].1 - 1] - logs[p[1].0]).exp() - 1.0).fold(f64::INFINITY, f64::min);
    let distance = pairs().map(|p| (middle(p[0]) - middle(p[1])) / spread).fold(f64::INFINITY, f64::min);
    let wanted = match cuts.len() {
        1 if logs.len() >= MANY_RUNS && tightest_width(logs, &groups) < MAX_TIGHT_WIDTH => MIN_EXPLAINED,
        1 => (1.0 - UNEXPLAINED_A_RUN * logs.len().saturating_sub(FEW_RUNS) as f64).max(MIN_EXPLAINED),
        _ => EXPLAINED_BY_THREE,
    };
    let inside: f64 = groups.iter().map(|(from, to)| sum_of_squares(&logs[*from..*to])).sum();
    let explained = 1.0 - inside / sum_of_squares(logs).max(f64::MIN_POSITIVE);
    gap > MIN_LEVEL_GAP && distance > MIN_LEVEL_DISTANCE && explained > wanted
}

fn tightest_width(logs: &[f64], groups: &[(usize, usize)]) -> f64 {
    let all = logs[0] - logs[logs.len() - 1];
    let large = groups.iter().filter(|(from, to)| to - from >= MIN_TIGHT_RUNS);
    large.map(|(from, to)| (logs[*from] - logs[to - 1]) / all.max(f64::MIN_POSITIVE)).fold(1.0, f64::min)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LevelCompanion {
    /// Fast runs come first, as before the end of a cache.
    Order,
    Heat,
    /// Single reads of the written data slow down too, so it lies in slower cells.
    SlowerCells,
    Unknown,
}

/// Least temperature difference of slow and fast runs, in K.
const MIN_HOTTER_K: f64 = 8.0;
/// Least correlation of logarithms (docs/reference/flash.md#sd-express-runs).
const MIN_CORRELATION: f64 = 0.7;

/// Finds the likely cause from the temperature at the start of each run and the single 4 KiB reads of the same run.
pub fn find_companion(
    levels: &RunLevels,
    values: &[f64],
    start_c: &[Option<f64>],
    reads: &[Option<f64>],
) -> LevelCompanion {
    let (Some(fast), Some(slow)) = (levels.levels.first(), levels.levels.last()) else {
        return LevelCompanion::Unknown;
    };
    let of = |level: &RunLevel| level.runs.iter().filter_map(|run| *start_c.get(*run)?).collect::<Vec<f64>>();
    if let (Some(cool), Some(hot)) = (median(&of(fast)), median(&of(slow)))
        && hot - cool > MIN_HOTTER_K
    {
        return LevelCompanion::Heat;
    }
    let pairs = values.iter().zip(reads).filter_map(|(v, r)| Some((v.ln(), (*r)?.ln())));
    if correlation(&pairs.collect::<Vec<_>>()).is_some_and(|r| r > MIN_CORRELATION) {
        return LevelCompanion::SlowerCells;
    }
    let first_slow = slow.runs.first().copied().unwrap_or(0);
    match fast.runs.iter().all(|run| *run < first_slow) {
        true => LevelCompanion::Order,
        false => LevelCompanion::Unknown,
    }
}

/// Pearson's correlation. None for fewer than four pairs, or if one side is constant.
pub fn correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    let n = pairs.len() as f64;
    let (mx, my) = (pairs.iter().map(|p| p.0).sum::<f64>() / n, pairs.iter().map(|p| p.1).sum::<f64>() / n);
    let sum = |f: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(f).sum::<f64>();
    let (xx, yy) = (sum(&|p| (p.0 - mx).powi(2)), sum(&|p| (p.1 - my).powi(2)));
    (pairs.len() >= 4 && xx > 0.0 && yy > 0.0).then(|| sum(&|p| (p.0 - mx) * (p.1 - my)) / (xx * yy).sqrt())
}

/// State of a whole run (docs/reference/flash.md#causes-of-a-slow-spell).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunState {
    /// Sequential reads are well below the best run. Reads do not depend on a write cache, so the cause is heat.
    pub hot: bool,
    /// Sequential writes are well below the best run, past the cache or hot.
    pub behind_cache: bool,
}

/// Share of the best run below which the median read of a run is hot.
pub const HOT_READS: f64 = 0.9;
pub const SLOW_WRITES: f64 = 0.85;

/// Least read tests for a hot run. A single slow one may have any cause.
const MIN_READ_TESTS: usize = 2;

/// Classifies runs by their sequential tests: one row for each test, one speed for each run.
pub fn run_states(reads: &[Vec<f64>], writes: &[Vec<f64>]) -> Vec<RunState> {
    let runs = reads.iter().chain(writes).map(Vec::len).min().unwrap_or(0);
    let low = |tests: &[Vec<f64>], run: usize, share: f64| {
        let best = |test: &Vec<f64>| sorted_copy(test).last().copied().unwrap_or(0.0);
        let shares: Vec<f64> = tests.iter().filter(|t| best(t) > 0.0).map(|t| t[run] / best(t)).collect();
        median(&shares).is_some_and(|middle| middle < share)
    };
    let state = |run| RunState {
        hot: reads.len() >= MIN_READ_TESTS && low(reads, run, HOT_READS),
        behind_cache: low(writes, run, SLOW_WRITES),
    };
    (0..runs).map(state).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::random::SeededRandom;
    use proptest::prelude::*;

    /// docs/reference/reports.md#microsd-express-benchmarks, SEQ1G Q1T1 write with a fan, run 1 to 10.
    const ADATA: [f64; 10] = [614.0, 598.0, 610.0, 611.0, 337.0, 383.0, 424.0, 287.0, 372.0, 288.0];
    const LEXAR: [f64; 10] = [597.0, 595.0, 392.0, 362.0, 322.0, 280.0, 281.0, 605.0, 323.0, 280.0];
    /// Reads of the same cards.
    const ADATA_READ: [f64; 10] = [750.0, 749.0, 758.0, 757.0, 763.0, 768.0, 676.0, 772.0, 768.0, 771.0];

    #[test]
    fn published_writes_have_two_levels_and_reads_one() {
        let adata = find_levels(&ADATA).unwrap();
        assert_eq!(adata.levels.len(), 2, "{adata:?}");
        assert_eq!(adata.levels[0].runs, [0, 1, 2, 3]);
        assert!((adata.levels[0].estimate.median - 610.5).abs() < 1e-9);
        assert!((adata.levels[0].share - 0.4).abs() < 1e-12);
        let lexar = find_levels(&LEXAR).unwrap();
        assert_eq!((lexar.levels.len(), &lexar.levels[0].runs[..]), (2, &[0, 1, 7][..]));
        assert!(!find_levels(&ADATA_READ).unwrap().has_several());
    }

    #[test]
    fn slow_runs_correlate_with_slow_single_reads() {
        // RND4K Q1T1 read of the same runs.
        let reads = [38.0, 34.0, 33.0, 33.0, 10.0, 12.0, 14.0, 10.0, 12.0, 19.0].map(Some);
        let found = find_levels(&ADATA).unwrap();
        assert_eq!(find_companion(&found, &ADATA, &[], &reads), LevelCompanion::SlowerCells);
        assert_eq!(find_companion(&found, &ADATA, &[], &[]), LevelCompanion::Order);
        let hot = [30.0, 31.0, 32.0, 33.0, 60.0, 61.0, 62.0, 63.0, 64.0, 65.0].map(Some);
        assert_eq!(find_companion(&found, &ADATA, &hot, &reads), LevelCompanion::Heat);
    }

    #[test]
    fn adata_is_hot_only_without_a_fan() {
        // docs/reference/reports.md#microsd-express-benchmarks, without a fan: SEQ1G, SEQ512K and SEQ32M reads, then
        // SEQ1G writes, run 1 to 10.
        let reads = vec![
            vec![775.0, 766.0, 760.0, 747.0, 742.0, 508.0, 562.0, 692.0, 451.0, 465.0],
            vec![516.0, 511.0, 520.0, 507.0, 507.0, 517.0, 510.0, 566.0, 532.0, 516.0],
            vec![777.0, 761.0, 763.0, 748.0, 756.0, 499.0, 560.0, 526.0, 450.0, 491.0],
        ];
        let hot: Vec<bool> = run_states(&reads, &[]).iter().map(|state| state.hot).collect();
        assert_eq!(hot, [false, false, false, false, false, true, true, true, true, true]);
        let active = vec![
            ADATA_READ.to_vec(),
            vec![512.0, 529.0, 530.0, 531.0, 526.0, 523.0, 515.0, 514.0, 516.0, 513.0],
            vec![768.0, 765.0, 761.0, 774.0, 764.0, 777.0, 772.0, 763.0, 770.0, 761.0],
        ];
        let states = run_states(&active, &[ADATA.to_vec()]);
        assert!(states.iter().all(|state| !state.hot), "{states:?}");
        assert_eq!(states.iter().filter(|state| state.behind_cache).count(), 6);
    }

    #[test]
    fn fewer_than_six_runs_are_not_split() {
        assert!(!find_levels(&[600.0, 601.0, 280.0, 281.0]).unwrap().has_several());
        assert_eq!(find_levels(&[]), None);
        assert_eq!(find_levels(&[0.0; 8]), None);
    }

    #[test]
    fn plain_cards_have_one_level_in_99_percent() {
        for cv in [0.02, 0.10, 0.20] {
            for count in [5, 6, 7, 8, 9, 10, 12, 15, 20] {
                let mut random = SeededRandom::from_state(11 + count as u64);
                let mut session = || {
                    let runs: Vec<f64> = (0..count).map(|_| 100.0 * (cv * random.normal()).exp()).collect();
                    find_levels(&runs).unwrap().has_several()
                };
                let wrong = (0..1000).filter(|_| session()).count();
                assert!(wrong <= 10, "{wrong} of 1000 sessions of {count} runs with a CV of {cv}");
            }
        }
    }

    proptest! {
        #[test]
        fn distant_levels_are_found_in_any_order(
            seed in 0u64..1000, fast in 2usize..6, ratio in 1.5..4.0f64,
        ) {
            let mut random = SeededRandom::from_state(seed);
            let mut runs: Vec<f64> = (0..10)
                .map(|i| if i < fast { 200.0 * ratio } else { 200.0 } * (0.02 * random.normal()).exp())
                .collect();
            random.shuffle(&mut runs);
            let found = find_levels(&runs).unwrap();
            prop_assert_eq!(found.levels.len(), 2);
            prop_assert_eq!(found.levels[0].runs.len(), fast);
        }
    }
}
