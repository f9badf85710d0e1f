//! Which unit a card's flash is made of, read from how much longer a read takes that straddles a multiple of it
//! (docs/reference/flash.md#pages, docs/reference/flash.md#erase-blocks): at each size of unit there is an extra time,
//! and the sizes where extra times begin are page, erase block and segment of the mapping table.

mod fit;
mod levels;

pub use fit::{EffectChoice, LevelFit, UnitStep, fit, fit_segment, height_error};
pub use levels::{
    CandidateUnits, TimeModes, divides, levels, page_candidates, segment_candidates, two_modes,
    unit_candidates,
};

use cardscope_model::statistics::{quantile_of_sorted, sorted};

/// What straddling reads cost at boundaries that are multiples of `bytes` and of no larger unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundaryLevel {
    /// The unit.
    pub bytes: u64,
    /// Extra time of a read across it, in any unit of time.
    pub extra: f64,
    /// Standard error of that.
    pub error: f64,
}

/// Share cut off at either end before a mean is taken: one read in a hundred that takes a hundred times as long, or
/// one place in ten that answers otherwise, must not move it.
const TRIM: f64 = 0.2;

/// Mean without the ends, and deviation of one value judged by what is left: as if the tails were those of a normal
/// distribution. `None` for fewer than three values.
pub fn trimmed(values: &[f64]) -> Option<(f64, f64)> {
    if values.len() < 3 {
        return None;
    }
    let ordered = sorted(values);
    let cut = (ordered.len() as f64 * TRIM) as usize;
    let kept = &ordered[cut..ordered.len() - cut];
    let mean = kept.iter().sum::<f64>() / kept.len() as f64;
    // 0.16 and 0.84 are one deviation from the middle of a normal distribution.
    let spread = quantile_of_sorted(&ordered, 0.84)? - quantile_of_sorted(&ordered, 0.16)?;
    Some((mean, spread / 2.0))
}

/// The mean of values cut at both ends scatters a little more than a mean of all (normal distribution, 20 % cut).
pub const TRIMMED_WIDER: f64 = 1.08;

#[cfg(test)]
mod tests;
