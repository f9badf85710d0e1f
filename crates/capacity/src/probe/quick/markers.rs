//! Markers: evenly spread positions, and the evaluation of lost and kept ones as a step, scattered losses or
//! neither.

use super::stamper::CheckedClaim;
use cardscope_model::random::SeededRandom;

/// Addresses in `start..end`, of which every prefix is evenly spread (van der Corput), each at a random offset in
/// its share of `most` shares.
pub(super) fn spread_positions(start: u64, end: u64, most: u32, random: &mut SeededRandom) -> Vec<u64> {
    let shares = u64::from(most.max(1).next_power_of_two());
    let bits = shares.trailing_zeros();
    let width = end.saturating_sub(start) as u128;
    let place = |share: u64, random: &mut SeededRandom| {
        let low = (width * u128::from(share) / u128::from(shares)) as u64;
        let high = (width * u128::from(share + 1) / u128::from(shares)) as u64;
        start + low + random.below((high - low).max(1))
    };
    let reversed = |i: u64| if bits == 0 { 0 } else { i.reverse_bits() >> (64 - bits) };
    (0..shares).take(most as usize).map(|i| place(reversed(i), random)).collect()
}

/// Best step between kept markers below and lost ones above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MarkerStep {
    /// Last kept address below the step.
    pub(super) kept: Option<u64>,
    /// First lost address above it.
    pub(super) lost: Option<u64>,
    /// Markers that contradict the step.
    pub(super) misfits: usize,
}

pub(super) fn best_step(seen: &[CheckedClaim]) -> MarkerStep {
    let mut marks: Vec<(u64, bool)> = seen.iter().map(|(c, s)| (c.extent.offset, s.is_kept())).collect();
    marks.sort_unstable();
    let lost_in_all = marks.iter().filter(|m| !m.1).count();
    // Before the first marker all kept ones are misfits; each marker below the step changes their number by one.
    let (mut misfits, mut best) = (marks.len() - lost_in_all, (marks.len() - lost_in_all, 0));
    for (index, (_, kept)) in marks.iter().enumerate() {
        misfits = if *kept { misfits - 1 } else { misfits + 1 };
        if misfits < best.0 {
            best = (misfits, index + 1);
        }
    }
    let (below, above) = marks.split_at(best.1);
    let kept = below.iter().rev().find(|m| m.1).map(|m| m.0);
    MarkerStep { kept, lost: above.iter().find(|m| !m.1).map(|m| m.0), misfits: best.0 }
}

/// Share of bad places that `samples` with `bad` bad ones exclude with 95 % confidence: the upper end of the
/// one-sided interval of Clopper and Pearson, found by bisection.
pub(super) fn excluded_above(samples: u64, bad: u64) -> f64 {
    if samples == 0 || bad >= samples {
        return 1.0;
    }
    let (mut low, mut high) = (bad as f64 / samples as f64, 1.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if probability_at_most(samples, bad, middle) > 0.05 { low = middle } else { high = middle }
    }
    high
}

fn probability_at_most(samples: u64, bad: u64, p: f64) -> f64 {
    let n = samples as f64;
    let mut term = (n * (-p).ln_1p()).exp();
    let mut sum = term;
    for k in 0..bad {
        term *= (n - k as f64) / (k as f64 + 1.0) * p / (1.0 - p);
        sum += term;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::quick::stamper::{CheckedClaims, ClaimState, StampClaim};
    use cardscope_engine::io_driver::CardExtent;
    use cardscope_model::verify::SectorFound;
    use proptest::prelude::*;

    fn marks(pattern: &str) -> CheckedClaims {
        let lost = ClaimState::Lost { found: SectorFound::Other, at: 0 };
        let claim = |i: usize| StampClaim {
            extent: CardExtent { offset: i as u64 * 10, len: 1 },
            generation: 1,
            written: true,
        };
        pattern
            .chars()
            .enumerate()
            .map(|(i, c)| (claim(i), if c == '+' { ClaimState::Kept } else { lost }))
            .collect()
    }

    #[test]
    fn clean_step_has_no_misfits() {
        assert_eq!(best_step(&marks("+++--")), MarkerStep { kept: Some(20), lost: Some(30), misfits: 0 });
        assert_eq!(best_step(&marks("-----")), MarkerStep { kept: None, lost: Some(0), misfits: 0 });
        assert_eq!(best_step(&marks("+++++")), MarkerStep { kept: Some(40), lost: None, misfits: 0 });
    }

    #[test]
    fn hole_is_not_a_step() {
        assert_eq!(best_step(&marks("++-+++++")).misfits, 1);
        assert_eq!(best_step(&marks("+-+-+-+-")).misfits, 3);
    }

    #[test]
    fn excluded_share_follows_the_rule_of_three() {
        // Rule of three: without a bad one among n, the limit is 3 / n for large n.
        assert!((excluded_above(300, 0) - 0.00993).abs() < 1e-4);
        assert!((excluded_above(10, 0) - 0.2589).abs() < 1e-4);
        assert!(excluded_above(256, 3) > excluded_above(256, 0));
        assert!((excluded_above(20, 1) - 0.2161).abs() < 1e-4, "Clopper and Pearson's table");
        assert!((excluded_above(0, 0) - 1.0).abs() < f64::EPSILON);
    }

    proptest! {
        #[test]
        fn positions_are_inside_and_every_prefix_is_spread(start in 0u64..1 << 40, width in 1u64 << 20..1 << 41, most in 1u32..300, seed: u64) {
            let places = spread_positions(start, start + width, most, &mut SeededRandom::new(seed));
            prop_assert_eq!(places.len(), most as usize);
            prop_assert!(places.iter().all(|p| (start..start + width).contains(p)));
            // Of the first eight, one is in each eighth.
            if most >= 8 {
                let mut eighths: Vec<u64> = places[..8].iter().map(|p| (p - start) * 8 / width).collect();
                eighths.sort_unstable();
                prop_assert_eq!(eighths, (0..8).collect::<Vec<u64>>());
            }
        }
    }
}
