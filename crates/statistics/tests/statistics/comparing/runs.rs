//! Simulated runs of the kinds that cards give. Parameters from docs/reference/flash.md#sd-express-runs: spreads of 0.4
//! to 3.8 % with a fan and up to 21 % hot, lag-1 correlations up to 0.7, writes of SD Express cards between two levels
//! of about 600 and 280 MB/s.

use cardscope_model::random::SeededRandom;

/// Runs of one card in the order of measuring.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    /// Independent noise of so much of the mean.
    Noise(f64),
    /// Noise whose neighbours correlate: deviation and correlation.
    Follow(f64, f64),
    /// 600 or 280 MB/s, anew for each run, with so many of them slow.
    Levels(f64),
    /// 600 or 280 MB/s, and the next run stays with this probability where the last was.
    Stay(f64),
    /// Two to six fast runs, then slow ones with a fast one in ten: a cache that is full.
    Cache,
    /// Thirty percent slower over a few runs, with noise of 1.5 %.
    Heat,
    /// A third slower from the sixth run on, unsteadily.
    Throttle,
    /// Noise of 2 %, and one run in twelve takes two and a half times as long.
    Stalls,
}

impl Kind {
    /// What the tables call it.
    pub(crate) fn name(self) -> String {
        match self {
            Kind::Noise(spread) => format!("noise of {:.0} %", 100.0 * spread),
            Kind::Follow(spread, by) => {
                format!("noise of {:.0} %, neighbours correlate by {by}", 100.0 * spread)
            }
            Kind::Levels(slow) => format!("two levels, {:.0} % of runs slow, at random", 100.0 * slow),
            Kind::Stay(stay) => format!("two levels, {:.0} % of runs stay at the last one's", 100.0 * stay),
            Kind::Cache => "a cache that is full after two to six runs".to_owned(),
            Kind::Heat => "heat, 30 % slower over a few runs".to_owned(),
            Kind::Throttle => "heat, a third slower from the sixth run on".to_owned(),
            Kind::Stalls => "noise of 2 %, one run in twelve takes 2.5 times as long".to_owned(),
        }
    }

    /// So many runs in MB/s.
    pub(crate) fn runs(self, count: usize, random: &mut SeededRandom) -> Vec<f64> {
        let mut state =
            State { off: random.normal(), slow: random.unit() < 0.5, fast_runs: 2 + random.index(5) };
        (0..count).map(|run| self.run(run, &mut state, random)).collect()
    }

    fn run(self, run: usize, state: &mut State, random: &mut SeededRandom) -> f64 {
        let (mean, spread) = match self {
            Kind::Noise(spread) => (100.0, spread),
            Kind::Follow(spread, by) => {
                state.off = by * state.off + (1.0 - by * by).sqrt() * random.normal();
                (100.0 * (spread * state.off).exp(), 0.0)
            }
            Kind::Levels(slow) => (level(random.unit() < slow), 0.02),
            Kind::Stay(stay) => {
                state.slow ^= run > 0 && random.unit() > stay;
                (level(state.slow), 0.02)
            }
            Kind::Cache => (level(run >= state.fast_runs && random.unit() > 0.1), 0.05),
            Kind::Heat => (70.0 + 30.0 * (-(run as f64) / 4.0).exp(), 0.015),
            Kind::Throttle => (if run < 5 { 100.0 } else { 67.0 }, if run < 5 { 0.01 } else { 0.07 }),
            Kind::Stalls => (if random.unit() < 1.0 / 12.0 { 40.0 } else { 100.0 }, 0.02),
        };
        mean * (spread * random.normal()).exp()
    }
}

fn level(slow: bool) -> f64 {
    if slow { 280.0 } else { 600.0 }
}

struct State {
    off: f64,
    slow: bool,
    fast_runs: usize,
}
