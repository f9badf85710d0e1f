//! Periodicity of positions: Rayleigh's test of their phases (docs/reference/flash.md#garbage-collection).

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PeriodStrength {
    pub period: f64,
    /// Length of the mean phase vector, 1 if all phases are equal.
    pub strength: f64,
    /// Probability of such a strength by chance, over all periods tried.
    pub chance: f64,
}

/// Period of `periods` that the phases of `places` agree with best, the longest of equals; `None` for fewer than five
/// places or no periods.
pub fn strongest_period(places: &[f64], periods: &[f64]) -> Option<PeriodStrength> {
    if places.len() < 5 {
        return None;
    }
    let n = places.len() as f64;
    let found = periods.iter().map(|period| {
        let phase = |place: &f64| std::f64::consts::TAU * (place / period).fract();
        let phases = places.iter().map(|place| phase(place).sin_cos());
        let (sin, cos) = phases.fold((0.0, 0.0), |sum, next| (sum.0 + next.0, sum.1 + next.1));
        let strength = sin.hypot(cos) / n;
        let chance = ((-n * strength * strength).exp() * periods.len() as f64).min(1.0);
        PeriodStrength { period: *period, strength, chance }
    });
    // A multiple of a period is as strong if places are few, so of equally strong ones the largest is used.
    found.max_by(|a, b| {
        let near = (a.strength - b.strength).abs() < 0.02;
        if near { a.period.total_cmp(&b.period) } else { a.strength.total_cmp(&b.strength) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::random::SeededRandom;

    #[test]
    fn regular_stalls_are_periodic_and_random_ones_are_not() {
        let mib = |n: f64| n * 1048576.0;
        let periods: Vec<f64> = [1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0].map(mib).to_vec();
        let regular: Vec<f64> = (0..20).map(|i| mib(8.0 * f64::from(i) + 1.0)).collect();
        let found = strongest_period(&regular, &periods).unwrap();
        assert!(found.period == mib(8.0) && found.chance < 1e-6, "{found:?}");
        let mut random = SeededRandom::from_state(3);
        let anywhere: Vec<f64> = (0..20).map(|_| mib(1000.0) * random.unit_interval()).collect();
        assert!(strongest_period(&anywhere, &periods).unwrap().chance > 0.01);
        assert_eq!(strongest_period(&[1.0], &periods), None);
    }
}
