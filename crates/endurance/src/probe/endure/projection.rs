//! Projection of the cycles after which half of the card will be bad, from the growth of the bad share.
//!
//! The logarithm of a block's endurance is assumed to be normally distributed (docs/reference/flash.md#wear), so the probit
//! of the bad share is a straight line over the logarithm of the cycles, and half is bad where it crosses 0.

use cardscope_model::endure::{EndureRound, WearProjection};
use statrs::distribution::{ContinuousCDF, Normal};

/// Least number of rounds with growing losses for a fitted line.
const MIN_GROWING_ROUNDS: usize = 4;

/// 95 % quantile of t. The value for many rounds is used, so the interval is approximate.
const T_QUANTILE_95: f64 = 2.0;

/// Projects the cycles, or returns the reason why there is no projection, as a text for users.
pub fn project_cycles(rounds: &[EndureRound], span: u64) -> Result<WearProjection, String> {
    let all: Vec<(f64, f64)> = probit_points(rounds, span);
    match all.len() {
        0 => return Err("no sector was lost so far, so the first loss cannot be predicted".to_owned()),
        n if n < MIN_GROWING_ROUNDS => {
            return Err(format!("losses grew in {n} rounds so far; a trend needs {MIN_GROWING_ROUNDS}"));
        }
        _ => {}
    }
    let estimate = zero_crossing(&all).ok_or("the share of bad sectors does not grow")?;
    let but = |out: usize| [&all[..out], &all[out + 1..]].concat();
    let without: Vec<f64> = (0..all.len()).filter_map(|out| zero_crossing(&but(out))).collect();
    // Jackknife: the spread of the estimates that leave out one round each.
    let n = without.len() as f64;
    let mean = without.iter().sum::<f64>() / n;
    let variance = (n - 1.0) / n * without.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
    let spread = T_QUANTILE_95 * variance.sqrt();
    Ok(WearProjection {
        cycles: estimate.exp(),
        interval: [(estimate - spread).exp(), (estimate + spread).exp()],
        bytes_written: estimate.exp() * span as f64,
        rounds: all.len() as u32,
    })
}

/// Logarithm of the cycles and probit of the bad share, for each round that exceeds all before.
fn probit_points(rounds: &[EndureRound], span: u64) -> Vec<(f64, f64)> {
    let (mut written, mut most, mut list) = (0u64, 0.0, Vec::new());
    for round in rounds {
        written += round.written;
        if round.bad_share > most && round.bad_share < 1.0 {
            most = round.bad_share;
            list.push(((written as f64 / span as f64).ln(), Normal::standard().inverse_cdf(round.bad_share)));
        }
    }
    list
}

/// Zero crossing of the least-squares line.
fn zero_crossing(points: &[(f64, f64)]) -> Option<f64> {
    let n = points.len() as f64;
    let (mx, my) = points.iter().fold((0.0, 0.0), |m, p| (m.0 + p.0 / n, m.1 + p.1 / n));
    let sxx: f64 = points.iter().map(|p| (p.0 - mx).powi(2)).sum();
    let sxy: f64 = points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum();
    let slope = sxy / sxx;
    (sxx > 0.0 && slope > 0.0).then(|| mx - my / slope).filter(|at| at.is_finite() && *at < 60.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::endure::BadSectors;

    fn at(round: u32, share: f64) -> EndureRound {
        EndureRound {
            round,
            seed: 0,
            written: 1000,
            read: 1000,
            bad: BadSectors::default(),
            passing_sectors: 0,
            bad_share: share,
            failed_writes: 0,
            write_mb_s: 1.0,
            read_mb_s: 1.0,
            seconds: 1.0,
        }
    }

    #[test]
    fn projection_is_the_zero_crossing() {
        // Endurance 1000 cycles, sigma 0.2: the share after n cycles is the normal integral of ln(n/1000)/0.2.
        let share = |n: u32| Normal::standard().cdf((f64::from(n) / 1000.0).ln() / 0.2);
        let rounds: Vec<EndureRound> = (1..=700).map(|n| at(n, share(n))).map(visible).collect();
        let found = project_cycles(&rounds, 1000).unwrap();
        assert!((found.cycles / 1000.0 - 1.0).abs() < 0.02, "{found:?}");
        assert!(found.interval[0] <= found.cycles && found.cycles <= found.interval[1]);
    }

    /// Shares below one block of 4096 count as 0.
    fn visible(mut round: EndureRound) -> EndureRound {
        round.bad_share = (round.bad_share * 4096.0).floor() / 4096.0;
        round
    }

    #[test]
    fn no_projection_without_a_trend() {
        assert!(project_cycles(&[at(1, 0.0), at(2, 0.0)], 1000).unwrap_err().contains("no sector was lost"));
        assert!(project_cycles(&[at(1, 0.0), at(2, 0.1)], 1000).unwrap_err().contains("needs 4"));
    }
}
