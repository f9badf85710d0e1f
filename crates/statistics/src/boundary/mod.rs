//! Sizes of flash units from the extra time of reads that cross a boundary (docs/reference/flash.md#pages,
//! docs/reference/flash.md#erase-blocks). The extra time grows at the sizes of page, erase block and segment of the mapping
//! table.

mod candidate_sizes;
mod fit;

pub use candidate_sizes::{
    CandidateUnits, TimeModes, is_boundary, measured_levels, page_candidates, segment_candidates, two_modes,
    unit_candidates,
};
pub use fit::{EffectChoice, LevelFit, UnitStep, fit_levels, fit_segment, height_error};

use cardscope_model::statistics::{quantile_of_sorted, sorted_copy};

/// Cost of crossing boundaries that are multiples of `bytes` and of no larger unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundaryLevel {
    pub bytes: u64,
    /// Extra time of a read, in any time unit.
    pub extra: f64,
    pub error: f64,
}

/// Share that is cut off at each end before taking a mean, so that rare stalls and deviating places do not move it.
const TRIMMED_SHARE: f64 = 0.2;

/// Trimmed mean, and standard deviation of one value estimated from the middle of the distribution. None for fewer than
/// three values.
pub fn trimmed_mean(values: &[f64]) -> Option<(f64, f64)> {
    if values.len() < 3 {
        return None;
    }
    let ordered = sorted_copy(values);
    let cut = (ordered.len() as f64 * TRIMMED_SHARE) as usize;
    let kept = &ordered[cut..ordered.len() - cut];
    let mean = kept.iter().sum::<f64>() / kept.len() as f64;
    // In a normal distribution these quantiles are one standard deviation from the middle.
    let spread = quantile_of_sorted(&ordered, 0.84)? - quantile_of_sorted(&ordered, 0.16)?;
    Some((mean, spread / 2.0))
}

/// Ratio of the standard error of a trimmed mean to that of a mean, for a normal distribution and a cut of 20 %.
pub const TRIMMED_ERROR_RATIO: f64 = 1.08;

#[cfg(test)]
mod tests;
