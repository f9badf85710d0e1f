//! The same causes in a session of runs of a recipe, where only the speeds of tests are known: reads slower than their
//! best speak of heat, writes slower than theirs of a cache (flash-behaviour 4.1, checked on sixty public runs).

use crate::quantile::median;

/// Reads below this share of their best.
const HEAT: f64 = 0.9;

/// Writes below this share of theirs.
const CACHE: f64 = 0.85;

/// Sequential speeds of one run, in any unit that is the same for all of a test.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunSpeeds {
    /// Sequential reads, a test each, in the same order in every run.
    pub reads: Vec<f64>,
    /// The longest sequential write.
    pub write: Option<f64>,
}

/// What became of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunCauses {
    /// Most of its sequential reads were slower than 0.9 of the best of their tests: not all, since a card that
    /// throttles by its duty (ADATA) answers short commands one at a time as fast as ever.
    pub heat: bool,
    /// Its write was slower than 0.85 of the best.
    pub cache: bool,
}

/// Judges runs by the best of their session; both may hold for one run.
#[must_use]
pub fn judge(runs: &[RunSpeeds]) -> Vec<RunCauses> {
    let tests = runs.iter().map(|r| r.reads.len()).min().unwrap_or(0);
    let best: Vec<f64> = (0..tests).map(|t| runs.iter().map(|r| r.reads[t]).fold(0.0, f64::max)).collect();
    let best_write = runs.iter().filter_map(|r| r.write).fold(0.0, f64::max);
    let against_best = |run: &RunSpeeds| -> Vec<f64> {
        (0..tests).filter(|t| best[*t] > 0.0).map(|t| run.reads[t] / best[t]).collect()
    };
    let one = |run: &RunSpeeds| RunCauses {
        heat: median(&against_best(run)).is_some_and(|share| share < HEAT),
        cache: run.write.is_some_and(|w| w < CACHE * best_write),
    };
    runs.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(reads: [f64; 3], write: f64) -> RunSpeeds {
        RunSpeeds { reads: reads.to_vec(), write: Some(write) }
    }

    #[test]
    fn a_run_may_be_hot_and_its_cache_full_at_once() {
        // Seed 000, Lexar without a fan: runs 1, 2, 3 and 9 (SEQ1G, SEQ512K, SEQ32M; SEQ32M write).
        let runs = [
            run([747.0, 455.0, 738.0], 278.0),
            run([690.0, 407.0, 663.0], 234.0),
            run([558.0, 343.0, 574.0], 313.0),
            run([544.0, 374.0, 571.0], 492.0),
        ];
        let judged = judge(&runs);
        assert_eq!(judged.iter().map(|c| c.heat).collect::<Vec<_>>(), [false, true, true, true]);
        assert_eq!(judged.iter().map(|c| c.cache).collect::<Vec<_>>(), [true, true, true, false]);
    }

    #[test]
    fn a_cooled_session_of_one_level_shows_nothing() {
        let runs: Vec<RunSpeeds> =
            [758.0, 749.0, 762.0].iter().map(|r| run([*r, r * 0.65, r * 1.01], 611.0)).collect();
        assert!(judge(&runs).iter().all(|c| *c == RunCauses::default()));
        assert!(judge(&[]).is_empty());
    }
}
