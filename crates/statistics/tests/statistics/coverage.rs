//! Coverage of the stopping rule's interval on simulated cards (docs/reference/flash.md#stopping-rule).
//!
//! The true speed follows from the parameters, not from a long run. Lengths of stalls are exponentially distributed.
use cardscope_model::random::SeededRandom;
use cardscope_model::recipe::RepeatUntil;
use cardscope_model::statistics::mean;
use cardscope_model::test_name::TestName;
use cardscope_statistics::estimate::estimate_values;
use cardscope_statistics::stopping::unit_ios;
use cardscope_statistics::{StopDecision, StopPrecision};

/// Distribution of the time of one I/O: a usual part and occasional stalls.
#[derive(Clone, Copy)]
struct Card {
    test: &'static str,
    usual_s: f64,
    /// Relative deviation of the usual part.
    cv: f64,
    /// Lag-1 correlation of the usual part.
    rho: f64,
    /// Stalls per I/O.
    stall_rate: f64,
    stall_s: f64,
}

/// 20 MB/s, deviation 3 %, correlation 0.3.
const SEQUENTIAL: Card =
    Card { test: "SEQ1M Q1T1 write", usual_s: 0.052_43, cv: 0.03, rho: 0.3, stall_rate: 0.0, stall_s: 0.0 };
/// Stalls of 0.3 s take 5 % of the time, one every 6 s.
const STALLING: Card = Card { stall_rate: 0.05 / 0.95 * 0.052_43 / 0.3, stall_s: 0.3, ..SEQUENTIAL };
const RANDOM_READ: Card =
    Card { test: "RND4K Q1T1 read", usual_s: 0.000_5, cv: 0.4, rho: 0.0, stall_rate: 0.0, stall_s: 0.0 };
/// 1 % of the I/Os stall for 60 ms.
const RANDOM_WRITE: Card =
    Card { test: "RND4K Q1T1 write", usual_s: 0.001_5, cv: 0.4, rho: 0.0, stall_rate: 0.01, stall_s: 0.06 };
/// 0.3 % of the I/Os stall for 400 ms.
const LONG_STALLS: Card = Card { stall_rate: 0.003, stall_s: 0.4, ..RANDOM_WRITE };

struct Simulated {
    card: Card,
    random: SeededRandom,
    off: f64,
}

impl Simulated {
    fn new(card: Card, seed: u64) -> Self {
        Simulated {
            card,
            random: SeededRandom::from_state(seed.wrapping_mul(0x5851_f42d_4c95_7f2d)),
            off: 0.0,
        }
    }

    /// Duration of the next `ios` I/Os in seconds.
    fn slice(&mut self, ios: u64) -> f64 {
        let Card { usual_s, cv, rho, stall_rate, stall_s, .. } = self.card;
        self.off = rho * self.off + (1.0 - rho * rho).sqrt() * self.random.normal();
        let stalls = (0..ios).filter(|_| self.random.unit_interval() < stall_rate).count();
        let usual = usual_s * (ios as f64 + cv * (ios as f64).sqrt() * self.off);
        usual + (0..stalls).map(|_| -stall_s * (1.0 - self.random.unit_interval()).ln()).sum::<f64>()
    }
}

impl Card {
    fn true_pace(&self) -> f64 {
        self.usual_s + self.stall_rate * self.stall_s
    }
}

/// Results of 300 sessions.
#[derive(Debug)]
struct Outcome {
    /// Share of intervals that contain the true speed.
    held: f64,
    /// Share of sessions that reached the precision.
    reached: f64,
    median_s: f64,
}

fn sessions(card: Card, percent: f64) -> Outcome {
    let test: TestName = card.test.parse().unwrap();
    let ios = unit_ios(test.pattern);
    let until = RepeatUntil { ci95_percent: percent, min_s: 2.0, max_s: 120.0 };
    let (mut held, mut reached, mut times) = (0, 0, Vec::new());
    for seed in 0..300 {
        let mut simulated = Simulated::new(card, seed);
        let mut rule = StopPrecision::new(until, test);
        let mut elapsed = 0.0;
        let known = loop {
            let seconds = simulated.slice(ios);
            elapsed += seconds;
            match rule.push(seconds, ios) {
                StopDecision::Continue => {}
                StopDecision::Reached(known) => {
                    reached += 1;
                    break known;
                }
                StopDecision::LimitHit { known, .. } => break known.unwrap(),
            }
        };
        let off = (1.0 / known.iops / card.true_pace() - 1.0).abs() * 100.0;
        held += u32::from(off <= known.half_width_percent);
        times.push(elapsed);
    }
    let share = |n: u32| f64::from(n) / 300.0;
    Outcome {
        held: share(held),
        reached: share(reached),
        median_s: cardscope_model::statistics::median(&times).unwrap(),
    }
}

/// Coverage of the naive rule: ten batch means, and no allowance for unseen stalls.
fn naive_coverage(card: Card, percent: f64) -> f64 {
    let held = (0..300).filter(|seed| naive_session(&mut Simulated::new(card, *seed), percent));
    held.count() as f64 / 300.0
}

/// True if the naive interval of one session contains the true speed.
fn naive_session(simulated: &mut Simulated, percent: f64) -> bool {
    let (mut units, mut elapsed, mut next_look) = (Vec::new(), 0.0, 2.0);
    loop {
        let seconds = simulated.slice(1);
        units.push(seconds);
        elapsed += seconds;
        if elapsed < next_look {
            continue;
        }
        next_look = elapsed * 1.15;
        let batches: Vec<f64> = units.chunks_exact(units.len() / 10).take(10).filter_map(mean).collect();
        let interval = estimate_values(&batches).unwrap();
        let half = interval.half_width_percent().unwrap();
        if half <= percent || elapsed >= 120.0 {
            return (interval.mean / simulated.card.true_pace() - 1.0).abs() * 100.0 <= half;
        }
    }
}

#[test]
fn sequential_writes_reach_2_percent_in_30_s() {
    let outcome = sessions(SEQUENTIAL, 2.0);
    assert!(outcome.held >= 0.95 && outcome.reached > 0.99, "{outcome:?}");
    assert!((20.0..40.0).contains(&outcome.median_s), "{outcome:?}");
}

#[test]
fn stalling_card_coverage_beats_the_naive_rule() {
    let wide = sessions(STALLING, 10.0);
    let narrow = sessions(STALLING, 5.0);
    assert!(wide.held >= 0.95 && wide.median_s < 15.0, "{wide:?}");
    assert!(narrow.held >= 0.75 && narrow.median_s < 80.0, "{narrow:?}");
    let naive = naive_coverage(STALLING, 5.0);
    assert!(naive < 0.6 && naive < narrow.held - 0.2, "{naive}");
}

#[test]
fn random_reads_reach_2_percent_in_3_s() {
    let outcome = sessions(RANDOM_READ, 2.0);
    assert!(outcome.held >= 0.9 && outcome.reached > 0.99, "{outcome:?}");
    assert!((2.0..4.0).contains(&outcome.median_s), "{outcome:?}");
}

#[test]
fn random_writes_with_stalls_reach_10_percent() {
    let outcome = sessions(RANDOM_WRITE, 10.0);
    assert!(outcome.held >= 0.9 && outcome.reached > 0.99, "{outcome:?}");
    assert!((10.0..30.0).contains(&outcome.median_s), "{outcome:?}");
}

#[test]
fn rare_long_stalls_reach_20_percent() {
    let outcome = sessions(LONG_STALLS, 20.0);
    assert!(outcome.held >= 0.85 && outcome.median_s < 80.0, "{outcome:?}");
}
