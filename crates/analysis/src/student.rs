//! Student's t: how much wider an interval is because its deviation is itself estimated from few values.

use statrs::distribution::{ContinuousCDF, StudentsT};
use std::sync::OnceLock;

/// Share of intervals that hold the true value.
pub const LEVEL: f64 = 0.95;

/// So many standard errors either side hold 95 % of a normal distribution.
pub(crate) const NORMAL95: f64 = 1.96;

/// From so many degrees of freedom on, t₀.₉₇₅ is the normal distribution's 1.960 to three digits, and the search for the
/// quantile of the narrower and narrower distribution would not end.
const NORMAL_FROM: f64 = 1e4;

/// Whole degrees of freedom below this are those of nearly every mean, and thousands of means are asked for at once: their
/// quantile is sought once each.
const USUAL: usize = 1024;
static OF_WHOLE: [OnceLock<f64>; USUAL] = [const { OnceLock::new() }; USUAL];

/// The two-sided 95 % quantile (t₀.₉₇₅) for some degrees of freedom; infinite for less than one.
#[must_use]
pub fn t95(degrees: f64) -> f64 {
    if degrees >= NORMAL_FROM {
        return NORMAL95;
    }
    let whole = Some(degrees as usize).filter(|whole| *whole as f64 == degrees);
    match whole.and_then(|whole| OF_WHOLE.get(whole)) {
        Some(known) => *known.get_or_init(|| sought(degrees)),
        None => sought(degrees),
    }
}

fn sought(degrees: f64) -> f64 {
    match StudentsT::new(0.0, 1.0, degrees) {
        Ok(t) if degrees >= 1.0 => t.inverse_cdf(0.5 + LEVEL / 2.0),
        _ => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_table_is_met() {
        // t₀.₉₇₅ as in any printed table.
        for (degrees, t) in
            [(1.0, 12.706), (2.0, 4.303), (4.0, 2.776), (9.0, 2.262), (30.0, 2.042), (1000.0, 1.962)]
        {
            assert!((t95(degrees) - t).abs() < 5e-4, "{degrees}: {}", t95(degrees));
        }
        assert_eq!(t95(0.0), f64::INFINITY);
        assert!((t95(9_999.0) - t95(10_000.0)).abs() < 5e-4);
        for absurd in [1e18, 1e300, f64::INFINITY] {
            assert_eq!(t95(absurd), NORMAL95);
        }
        // Half a degree is no whole one, and the end of those that are remembered is no step.
        assert!(t95(2.5) < t95(2.0) && t95(3.0) < t95(2.5));
        assert!(t95(1024.0) < t95(1023.0) && t95(1023.0) - t95(1024.0) < 1e-5);
        assert_eq!(t95(f64::NAN), f64::INFINITY);
    }
}
