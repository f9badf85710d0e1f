//! Where the start-up of a test ends: the first half second, then MSER-5 (White 1997; flash-behaviour 4.3).
//!
//! MSER cuts where the standard error of what remains is least: cutting more of a start-up lowers the spread,
//! cutting more of the settled part lowers the count. On means of five, so that noise does not decide.

use super::units::{Unit, Usual};

/// Start-up that is always cut, in seconds.
const ALWAYS_S: f64 = 0.5;

/// Units averaged before MSER.
const BATCH: usize = 5;

/// Index of the first unit that counts. Never cuts more than half of what follows the first half second, and nothing
/// where there are too few units.
pub(super) fn end_of_startup(units: &[Unit]) -> usize {
    let first = after_the_first_half_second(units);
    let rest = &units[first..];
    let usual = Usual::of(rest);
    let slow = rest.iter().take_while(|u| usual.is_stall(**u)).count();
    first + slow + mser(&batch_means(&rest[slow..], usual)) * BATCH
}

/// A unit that reaches past the half second is kept: on slow cards it is many seconds long.
fn after_the_first_half_second(units: &[Unit]) -> usize {
    let mut elapsed = 0.0;
    let inside = units
        .iter()
        .take_while(|u| {
            elapsed += u.seconds;
            elapsed <= ALWAYS_S
        })
        .count();
    if inside < units.len() { inside } else { 0 }
}

/// Mean pace of each five units, stalls taken at the usual pace: they belong to the card, and a cut that follows an
/// early stall would make it look faster than it is.
fn batch_means(units: &[Unit], usual: Usual) -> Vec<f64> {
    let pace = |u: &Unit| if usual.is_stall(*u) { usual.pace() } else { u.pace() };
    units.chunks_exact(BATCH).map(|batch| batch.iter().map(pace).sum::<f64>() / BATCH as f64).collect()
}

/// How many batches to cut.
fn mser(means: &[f64]) -> usize {
    let (mut sum, mut squares) = (0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    for (cut, z) in means.iter().enumerate().rev() {
        sum += z;
        squares += z * z;
        let kept = (means.len() - cut) as f64;
        let error = (squares - sum * sum / kept).max(0.0) / (kept * kept);
        if cut <= means.len() / 2 && error <= best.0 {
            best = (error, cut);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::random::Random;

    fn units(paces: impl Iterator<Item = f64>) -> Vec<Unit> {
        paces.map(|seconds| Unit { seconds, ios: 1.0 }).collect()
    }

    #[test]
    fn a_card_that_needs_three_seconds_to_settle_loses_about_these() {
        let mut random = Random::from_state(5);
        let list = units(
            (0..1000).map(|i| 0.02 * (1.0 + 0.02 * random.normal()) + if i < 150 { 0.015 } else { 0.0 }),
        );
        let cut = end_of_startup(&list);
        assert!((150..=170).contains(&cut), "{cut}");
    }

    #[test]
    fn a_steady_card_loses_little_more_than_the_half_second() {
        let mut random = Random::from_state(6);
        let cuts: Vec<usize> = (0..50)
            .map(|_| end_of_startup(&units((0..1000).map(|_| 0.02 * (1.0 + 0.05 * random.normal())))))
            .collect();
        let mean = cuts.iter().sum::<usize>() as f64 / 50.0;
        assert!(cuts.iter().all(|c| *c >= 24) && mean < 150.0, "{mean} {cuts:?}");
    }

    #[test]
    fn few_or_no_units_are_all_kept() {
        assert_eq!(end_of_startup(&[]), 0);
        assert_eq!(end_of_startup(&units([0.1, 0.1].into_iter())), 0);
        assert_eq!(end_of_startup(&units([14.0, 16.0, 15.0].into_iter())), 0);
    }
}
