//! Detects readers that split long writes (docs/reference/linux.md#usb-readers).

use super::options::Result;
use super::write_tester::{WriteTester, contiguous_extents};
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::statistics::median;
use cardscope_model::units::{KIB, three_digits};
use cardscope_statistics::robust::{median_error, robust_deviation};

/// Sizes around the common limit of USB readers: 240 sectors (usb-storage).
const SIZES: [u64; 3] = [64 * KIB, 120 * KIB, 128 * KIB];

/// Fewest and most rounds of the three sizes.
const ROUNDS: (usize, usize) = (8, 64);

/// Number of rounds with a failed write that ends the test.
const MAX_FAILED_ROUNDS: usize = ROUNDS.0;

/// Seconds after which the test ends. Fast cards get more rounds in it, as a split costs them little.
const MAX_TEST_S: f64 = 1.5;

/// Compares 128 KiB with the expectation from 64 and 120 KiB, until the difference is certain or irrelevant.
pub(super) fn measure_splitting(bench: &mut WriteTester) -> Result<()> {
    let round: u64 = SIZES.iter().sum::<u64>().next_multiple_of(64 * KIB);
    let most = ROUNDS.1.min((bench.slots.unit() / round) as usize);
    let began = bench.context.seconds();
    let mut times: [Vec<f64>; 3] = Default::default();
    let (mut seen, mut misses) = (None, 0);
    'places: while times[0].len() < ROUNDS.1 {
        let Some(mut at) = bench.take_positions(1).map(|p| p[0]) else { break };
        for _ in 0..most.max(1) {
            let found = bench.write_all(&contiguous_extents(at, SIZES))?;
            at += round;
            if found.len() == SIZES.len() {
                times.iter_mut().zip(found).for_each(|(list, t)| list.push(t));
            } else {
                misses += 1;
            }
            seen = fragment_cost(&times);
            let is_clear = seen.is_some_and(|f| f.is_significant() || f.is_negligible());
            let is_over = bench.context.seconds() - began > MAX_TEST_S;
            let enough = times[0].len() >= ROUNDS.0 && (is_clear || is_over);
            if enough || misses >= MAX_FAILED_ROUNDS {
                break 'places;
            }
        }
    }
    if let Some(seen) = seen.filter(FragmentCost::is_significant) {
        bench.into.findings.push(seen.finding());
    }
    Ok(())
}

/// Extra seconds of 128 KiB over 120 KiB and the transfer of another 8 KiB.
#[derive(Debug, Clone, Copy)]
struct FragmentCost {
    small: f64,
    uncut: f64,
    cut: f64,
    excess: f64,
    error: f64,
}

fn fragment_cost(times: &[Vec<f64>; 3]) -> Option<FragmentCost> {
    let [small, uncut, cut] = [median(&times[0])?, median(&times[1])?, median(&times[2])?];
    let error = |list: &[f64], centre: f64| {
        let spread = robust_deviation(list, centre).unwrap_or(0.0);
        median_error(spread.max(0.01 * centre), list.len())
    };
    let share = 8.0 / 56.0;
    let excess = cut - uncut - share * (uncut - small);
    let errors = [error(&times[2], cut), error(&times[1], uncut), error(&times[0], small)];
    let error = errors[0].hypot((1.0 + share) * errors[1]).hypot(share * errors[2]);
    Some(FragmentCost { small, uncut, cut, excess, error })
}

impl FragmentCost {
    /// True above four standard errors and 2 % of the write.
    fn is_significant(&self) -> bool {
        self.excess > 4.0 * self.error && self.excess > 0.02 * self.cut
    }

    fn is_negligible(&self) -> bool {
        self.excess + 3.0 * self.error < 0.02 * self.cut
    }

    fn finding(&self) -> Finding {
        let sigmas = self.excess / self.error;
        let sure = (1.0 - (-sigmas * sigmas / 2.0).exp()).min(0.99);
        let verdict = "The reader splits writes above 120 KiB, which takes extra time.";
        let ms = |seconds: f64| format!("{} ms", three_digits(seconds * 1e3));
        let (cut, excess, error) = (ms(self.cut), ms(self.excess), ms(self.error));
        Finding::new("reader-splits", FindingWeight::Hint, sure, verdict)
            .because("64 KiB", ms(self.small))
            .because("120 KiB", ms(self.uncut))
            .because("128 KiB", format!("{cut}, {excess} ± {error} more than expected"))
            .with_advice("Use a reader with longer commands, or write at most 120 KiB at once.")
    }
}
