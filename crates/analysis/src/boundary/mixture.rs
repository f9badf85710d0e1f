//! Whether times come from two kinds of places: those never written answer without a look at the flash, 4 to 7 times
//! faster (reference page `flash-behaviour`, 3.1, the SD NAND of section 0).

use cardscope_model::statistics::sorted;

/// Two kinds of times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Modes {
    /// Times above it belong to the slow kind.
    pub split: f64,
    /// Typical time of the fast kind.
    pub fast: f64,
    /// Typical time of the slow kind.
    pub slow: f64,
    /// Share of the fast kind, 0 to 1.
    pub fast_share: f64,
}

/// The two kinds must be further apart than this in the natural logarithm …
const LEAST_GAP: f64 = 0.5;

/// … each hold at least so much …
const LEAST_SHARE: f64 = 0.05;

/// … and scatter less than this part of the gap, or they are one kind with a long tail.
const MOST_SPREAD: f64 = 0.25;

/// The two kinds of times that there are, split where the variance between them is greatest (Otsu); `None` where
/// there is one.
#[must_use]
pub fn two_modes(times: &[f64]) -> Option<Modes> {
    let logs: Vec<f64> = times.iter().filter(|t| **t > 0.0).map(|t| t.ln()).collect();
    let logs = sorted(&logs);
    let n = logs.len() as f64;
    let total: f64 = logs.iter().sum();
    let (mut below, mut best) = (0.0, (0.0, 0));
    for (i, log) in logs.iter().enumerate().take(logs.len().saturating_sub(1)) {
        below += log;
        let (low, high) = ((i + 1) as f64, n - (i + 1) as f64);
        let between = low * high * ((total - below) / high - below / low).powi(2);
        if between > best.0 {
            best = (between, i + 1);
        }
    }
    let (low, high) = logs.split_at(best.1);
    let (fast, slow) = (*low.get(low.len() / 2)?, *high.get(high.len() / 2)?);
    let share = low.len() as f64 / n;
    let spread = inner(low).max(inner(high));
    let apart = slow - fast > LEAST_GAP && spread < MOST_SPREAD * (slow - fast);
    (apart && share.min(1.0 - share) > LEAST_SHARE).then(|| Modes {
        split: ((low[low.len() - 1] + high[0]) / 2.0).exp(),
        fast: fast.exp(),
        slow: slow.exp(),
        fast_share: share,
    })
}

/// Half the distance between the outer sixths.
fn inner(sorted: &[f64]) -> f64 {
    let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
    (at(0.84) - at(0.16)) / 2.0
}
