//! Computes how far below a demand a figure may be before the card has missed it: the uncertainty of the measurement,
//! and the cost of methods that differ from the specification (docs/reference/sd.md#marks). In between a mark is
//! borderline.

use super::tester::CapacityFamily;
use cardscope_model::mark_result::{MarksMeasured, TestForm};
use cardscope_model::statistics::median;
use cardscope_statistics::estimate::student_t95;
use cardscope_statistics::robust::robust_deviation;

/// Least relative spread of a figure, however even a short test was: cards of one model differ by up to 3.7 %
/// (docs/reference/flash.md#public-logs).
const LEAST_SPREAD: f64 = 0.02;

/// Standard deviations by which the slowest unit of a sample may be below the mean by chance.
const LOWEST: f64 = 3.0;

/// Sequential writes scatter by 3 % (docs/reference/flash.md#stopping-rule). Five such deviations, because here
/// allocation units are not erased first, clocks are not those of the official test, and no CMD20 is sent.
const IN_ORDER: f64 = 0.15;

/// Two such deviations on a card that was erased first.
const IN_ORDER_ERASED: f64 = 0.06;

/// Random I/O: preconditioning is worth up to 20 % on a card that cleans up (the simulated `pro-64g-u3`: 362 IOPS
/// become 436 over 64 MiB), and a short test on a card that is not 75 % full averages less than one of ten minutes.
const RANDOM: f64 = 0.2;

/// Upper limit of the correlation of neighbouring slices. With more, the slices would be worth nothing.
const MOST_ALIKE: f64 = 0.9;

/// Small writes between large ones, which background activity of the host can delay.
const SMALL: f64 = 0.5;

/// Margin behind a USB reader, which splits writes into 120 KiB and multiplies their time by 1.2 to 2.3
/// (docs/reference/linux.md#usb-readers), and for files, whose position in allocation units is unknown. As a share of
/// the rate.
const INDIRECT: f64 = 0.5;

/// Facts that the demands of a mark are judged by.
pub(super) struct DemandFacts<'a> {
    pub(super) found: &'a MarksMeasured,
    pub(super) family: CapacityFamily,
    /// True if the test used a file instead of the card.
    pub(super) in_file: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FigureMethod {
    /// Sequential writes, or reads with a queue.
    InOrder,
    /// Random reads, single ones included.
    RandomRead,
    RandomWrite {
        /// True if the area was written sequentially first.
        preconditioned: bool,
    },
    SmallWrites,
    /// Longest single I/O.
    Longest,
}

impl FigureMethod {
    /// Share of a figure that the method may have cost, and the explanation.
    pub(super) fn tolerated_cost(self, facts: &DemandFacts<'_>) -> (f64, String) {
        let specified = facts.found.form == TestForm::Specification;
        let (own, why) = match self {
            Self::InOrder if specified => (IN_ORDER_ERASED, "runs on the same card differ by so much"),
            FigureMethod::InOrder => (IN_ORDER, "the specification prepares the allocation units first"),
            FigureMethod::RandomRead | FigureMethod::RandomWrite { .. } if specified => {
                (0.0, "reader and host take a part of each I/O")
            }
            FigureMethod::RandomRead | FigureMethod::RandomWrite { preconditioned: true } => {
                (RANDOM, "the specification tests ten minutes on a card filled to 75 %")
            }
            FigureMethod::RandomWrite { .. } => {
                (RANDOM, "the specification writes the area first, as `check --erase` does")
            }
            FigureMethod::SmallWrites => (SMALL, "background activity on the host"),
            FigureMethod::Longest => {
                (f64::INFINITY, "it is one slow I/O, possibly background activity on the host")
            }
        };
        let indirect = match (facts.found.bus.reader, facts.in_file) {
            (true, _) => Some("a USB reader splits large writes and adds time"),
            (_, true) => Some("a file system hides where allocation units begin"),
            _ => None,
        };
        indirect
            .map_or((own, why.to_owned()), |indirect| (own.max(INDIRECT), format!("{why}, and {indirect}")))
    }
}

/// Upper bound of the slowest unit if it was not slow by chance.
pub(super) fn lowest_at_best(all: &[f64], lowest: f64) -> f64 {
    let middle = median(all).filter(|middle| *middle > 0.0);
    let spread = middle.and_then(|middle| Some(robust_deviation(all, middle)? / middle));
    lowest * (1.0 + LOWEST * spread.unwrap_or_default().max(LEAST_SPREAD))
}

/// Upper end of the 95 % interval of the mean. If neighbours correlate, because card or host drift, the variance grows
/// by (1 + ρ)/(1 − ρ) (docs/reference/flash.md#stopping-rule).
pub(super) fn mean_at_best(all: &[f64], mean: f64) -> f64 {
    let n = all.len() as f64;
    let off: Vec<f64> = all.iter().map(|value| value - mean).collect();
    let squares: f64 = off.iter().map(|off| off * off).sum();
    let alike = off.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / squares.max(f64::MIN_POSITIVE);
    let alike = alike.clamp(0.0, MOST_ALIKE);
    let variance = squares / (n - 1.0).max(1.0) * (1.0 + alike) / (1.0 - alike) / n.max(1.0);
    mean + student_t95((n - 1.0).max(1.0)) * variance.sqrt().max(LEAST_SPREAD * mean)
}

/// Highest rate in IOPS that slices of random I/O and their method allow, without the share of the host.
pub(super) fn random_at_best(slices: &[f64], mean: f64, null_s: Option<f64>) -> f64 {
    without_rig(mean_at_best(slices, mean), null_s) * (1.0 + RANDOM)
}

/// Rate of I/O without the time that a command without flash access takes; infinite if nothing is left.
pub(super) fn without_rig(per_second: f64, null_s: Option<f64>) -> f64 {
    let rest = 1.0 / per_second - null_s.unwrap_or_default();
    if rest > 0.0 && per_second > 0.0 { 1.0 / rest } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scattered_figures_have_wider_bounds() {
        assert!((lowest_at_best(&[10.0; 4], 10.0) - 10.6).abs() < 1e-9);
        assert!(lowest_at_best(&[10.0, 12.0, 14.0, 8.0], 8.0) > 12.0);
        assert!((mean_at_best(&[100.0; 30], 100.0) - 104.0).abs() < 0.2);
        assert!(mean_at_best(&[50.0, 100.0, 150.0], 100.0) > 200.0);
        let falling: Vec<f64> = (0..20).map(|i| 110.0 - f64::from(i)).collect();
        let mixed: Vec<f64> = (0..20).map(|i| 110.0 - f64::from(i * 7 % 20)).collect();
        assert!(mean_at_best(&falling, 100.5) > 107.0 && mean_at_best(&mixed, 100.5) < 105.0);
    }

    #[test]
    fn rate_without_rig_excludes_host_time() {
        assert!((without_rig(1000.0, Some(0.000_5)) - 2000.0).abs() < 1e-9);
        assert!((without_rig(1000.0, None) - 1000.0).abs() < 1e-9);
        assert!(without_rig(1000.0, Some(0.001)).is_infinite());
    }
}
