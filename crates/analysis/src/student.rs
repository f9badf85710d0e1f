//! Student's t: how much wider an interval is because its deviation is itself estimated from few values.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Share of intervals that hold the true value.
pub const LEVEL: f64 = 0.95;

/// The two-sided 95 % quantile (t₀.₉₇₅) for some degrees of freedom; infinite for less than one.
#[must_use]
pub fn t95(degrees: f64) -> f64 {
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
    }
}
