//! Bus ceiling: each speed as a share of the bus speed, and a caveat for speeds above it.
//! The ceiling is the raw rate of the bus without protocol overhead, so no card can exceed it.

use cardscope_model::caveat::Caveat;
use cardscope_model::result::TestResult;

/// Tolerance for clock errors: crystals are accurate to 0.01 %, but Linux reports bus clocks rounded to about 1 %.
pub const CEILING_TOLERANCE: f64 = 0.02;

/// Share of the ceiling, None if the ceiling is 0 or not finite.
pub fn ceiling_share(mb_s: f64, ceiling_mb_s: f64) -> Option<f64> {
    (ceiling_mb_s > 0.0 && ceiling_mb_s.is_finite()).then(|| mb_s / ceiling_mb_s)
}

pub fn above_ceiling(mb_s: f64, ceiling_mb_s: f64) -> Option<Caveat> {
    ceiling_share(mb_s, ceiling_mb_s)
        .filter(|share| *share > 1.0 + CEILING_TOLERANCE)
        .map(|_| Caveat::AboveBusCeiling { mb_s, ceiling_mb_s })
}

/// Sets the share of the ceiling, and adds a caveat if the speed of the result or of one loop exceeds it.
pub fn judge_result(result: &mut TestResult, ceiling_mb_s: f64) {
    result.bus_share = ceiling_share(result.mb_s, ceiling_mb_s);
    let fastest = result.loops.iter().filter(|l| l.counted).map(|l| l.mb_s).fold(result.mb_s, f64::max);
    result.caveats.extend(above_ceiling(fastest, ceiling_mb_s));
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::result::LoopResult;

    fn result(mb_s: f64, loops: &[f64]) -> TestResult {
        let one = |mb_s: &f64| LoopResult { counted: true, mb_s: *mb_s, ..LoopResult::default() };
        let loops = loops.iter().map(one).collect();
        TestResult { loops, ..TestResult::from_speed("SEQ1M Q8T1 read".parse().unwrap(), mb_s) }
    }

    #[test]
    fn share_of_the_sdr104_bus() {
        let mut r = result(90.5, &[90.0, 91.0]);
        judge_result(&mut r, 104.0);
        assert!((r.bus_share.unwrap() - 0.870).abs() < 0.001);
        assert!(r.caveats.is_empty());
    }

    #[test]
    fn single_loop_above_the_bus_is_doubted() {
        let mut r = result(80.0, &[20.0, 140.0]);
        judge_result(&mut r, 104.0);
        assert_eq!(r.caveats, [Caveat::AboveBusCeiling { mb_s: 140.0, ceiling_mb_s: 104.0 }]);
    }

    #[test]
    fn rounding_and_unknown_bus_raise_no_caveat() {
        assert_eq!(above_ceiling(105.0, 104.0), None);
        assert_eq!((ceiling_share(90.0, 0.0), ceiling_share(90.0, f64::NAN)), (None, None));
    }
}
