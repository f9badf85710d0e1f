//! Propagation of confidence intervals from figures to a score.
//!
//! Each figure is moved to either end of its interval, and the changes of the outcome are added in quadrature (Zou and
//! Donner, Statistics in Medicine 2008). This needs two evaluations for each figure and no random numbers. A monotonic
//! outcome gets a monotonic interval, and thresholds within an interval are noticed at its ends. Figures are assumed to be
//! independent.

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FigureInterval {
    pub mean: f64,
    pub ci95: [f64; 2],
}

/// 95 % interval of `outcome`, which gets the figures in their order. None if the outcome of the means is not finite. Ends
/// with an outcome that is not finite are ignored.
pub fn propagate_intervals(figures: &[FigureInterval], outcome: impl Fn(&[f64]) -> f64) -> Option<[f64; 2]> {
    let means: Vec<f64> = figures.iter().map(|figure| figure.mean).collect();
    let middle = Some(outcome(&means)).filter(|value| value.is_finite())?;
    let mut moved = means.clone();
    let (mut down, mut up): (f64, f64) = (0.0, 0.0);
    for (place, figure) in figures.iter().enumerate() {
        let ends = figure.ci95.map(|end| {
            moved[place] = end;
            outcome(&moved) - middle
        });
        moved[place] = figure.mean;
        let ends = ends.map(|way| if way.is_finite() { way } else { 0.0 });
        down = down.hypot(ends[0].min(ends[1]).min(0.0));
        up = up.hypot(ends[0].max(ends[1]).max(0.0));
    }
    Some([middle - down, middle + up])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::priors::{KindSpread, UsualSpeed};
    use cardscope_model::random::SeededRandom;
    use cardscope_model::statistics::mean;
    use proptest::prelude::*;

    fn figure(mean: f64, half: f64) -> FigureInterval {
        FigureInterval { mean, ci95: [mean - half, mean + half] }
    }

    #[test]
    fn intervals_add_in_quadrature() {
        let one = figure(50.0, 1.0);
        assert_eq!(propagate_intervals(&[one], |f| f[0]).unwrap(), [49.0, 51.0]);
        let [low, high] = propagate_intervals(&[one, one], |f| f[0] + f[1]).unwrap();
        assert!((100.0 - low - 2f64.sqrt()).abs() < 1e-9 && (high - 100.0 - 2f64.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn threshold_within_an_interval_widens_the_score() {
        let score = |f: &[f64]| if f[0] < 10.0 { 20.0 } else { 80.0 };
        assert_eq!(propagate_intervals(&[figure(10.1, 0.5)], score).unwrap(), [20.0, 80.0]);
        assert_eq!(propagate_intervals(&[figure(50.0, 0.5)], score).unwrap(), [80.0, 80.0]);
    }

    #[test]
    fn propagation_handles_no_figures_and_zero() {
        assert_eq!(propagate_intervals(&[figure(0.0, 0.0)], |f| 1.0 / f[0]), None);
        assert_eq!(propagate_intervals(&[], |_| 7.0), Some([7.0, 7.0]));
    }

    #[test]
    fn score_intervals_have_95_percent_coverage() {
        let score = |f: &[f64]| 40.0 * (f[0] / 10.0).ln() + 20.0 * f[1].min(95.0).ln() - 300.0 / f[2];
        let truth: [f64; 3] = [25.0, 90.0, 12.0];
        for runs in [2, 5, 10] {
            let mut random = SeededRandom::from_state(3);
            let mut holds = || {
                let figures = truth.map(|speed| {
                    let runs: Vec<f64> = (0..runs).map(|_| speed * (0.04 * random.normal()).exp()).collect();
                    let mean = mean(&runs).unwrap();
                    let known = UsualSpeed::from_runs(&runs, &KindSpread::even_spread()).unwrap();
                    FigureInterval { mean, ci95: known.interval95(mean) }
                });
                let [low, high] = propagate_intervals(&figures, score).unwrap();
                low <= score(&truth) && score(&truth) <= high
            };
            let held = (0..500).filter(|_| holds()).count();
            assert!(held >= 470, "{held} of 500 with {runs} runs");
        }
    }

    proptest! {
        #[test]
        fn faster_figures_never_lower_the_interval(
            means in prop::collection::vec(1.0..500.0f64, 1..6), faster in 1.0..3.0f64,
        ) {
            let score = |f: &[f64]| f.iter().map(|v| v.ln()).sum::<f64>();
            let of = |factor: f64| -> Vec<FigureInterval> {
                let figure = |(i, m): (usize, &f64)| {
                    let mean = if i == 0 { m * factor } else { *m };
                    figure(mean, 0.05 * mean)
                };
                means.iter().enumerate().map(figure).collect()
            };
            let (before, after) = (propagate_intervals(&of(1.0), score).unwrap(), propagate_intervals(&of(faster), score).unwrap());
            prop_assert!(after[0] >= before[0] - 1e-9 && after[1] >= before[1] - 1e-9);
        }
    }
}
