//! Simulated series of runs. Parameters from docs/reference/flash.md#sd-express-runs: deviations of 0.4 to 3.8 % with a fan and
//! up to 21 % hot, lag-1 correlations up to 0.7, writes of SD Express cards on levels of about 600 and 280 MB/s.

use cardscope_model::random::SeededRandom;

/// Runs of one card, in their order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    /// Independent noise.
    Noise(f64),
    /// Correlated noise: deviation and correlation.
    Follow(f64, f64),
    /// 600 or 280 MB/s at random, with this share of slow runs.
    Levels(f64),
    /// 600 or 280 MB/s, staying on the level with this probability.
    Stay(f64),
    /// Two to six fast runs, then mostly slow ones with a fast one in ten, as with a full cache.
    Cache,
    /// Falls by 30 % over a few runs, with 1.5 % of noise.
    Heat,
    /// A third slower from the sixth run on, unsteadily.
    Throttle,
    /// Noise of 2 %, and one run in twelve 2.5 times as long.
    Stalls,
}

impl Kind {
    /// Label in the tables.
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

    /// Speeds of `count` runs in MB/s.
    pub(crate) fn runs(self, count: usize, random: &mut SeededRandom) -> Vec<f64> {
        let mut state = State {
            off: random.normal(),
            slow: random.unit_interval() < 0.5,
            fast_runs: 2 + random.below_usize(5),
        };
        (0..count).map(|run| self.run(run, &mut state, random)).collect()
    }

    fn run(self, run: usize, state: &mut State, random: &mut SeededRandom) -> f64 {
        let (mean, spread) = match self {
            Kind::Noise(spread) => (100.0, spread),
            Kind::Follow(spread, by) => {
                state.off = by * state.off + (1.0 - by * by).sqrt() * random.normal();
                (100.0 * (spread * state.off).exp(), 0.0)
            }
            Kind::Levels(slow) => (level(random.unit_interval() < slow), 0.02),
            Kind::Stay(stay) => {
                state.slow ^= run > 0 && random.unit_interval() > stay;
                (level(state.slow), 0.02)
            }
            Kind::Cache => (level(run >= state.fast_runs && random.unit_interval() > 0.1), 0.05),
            Kind::Heat => (70.0 + 30.0 * (-(run as f64) / 4.0).exp(), 0.015),
            Kind::Throttle => (if run < 5 { 100.0 } else { 67.0 }, if run < 5 { 0.01 } else { 0.07 }),
            Kind::Stalls => (if random.unit_interval() < 1.0 / 12.0 { 40.0 } else { 100.0 }, 0.02),
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
