//! Cost estimate of a recipe before it starts: bytes written and read, and time.

use super::{LoopLimit, Recipe, RecipeTest, SpanSharing, TestSpan};
use crate::test_name::TestOp;
use crate::units::MB;

/// Upper estimate of one run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PlannedRun {
    pub bytes_written: f64,
    pub bytes_read: f64,
    pub seconds: f64,
}

impl Recipe {
    /// Estimates one run on a card of `card_bytes` with the speed `mb_s` in both directions and at every block size.
    pub fn estimate_run(&self, mb_s: f64, card_bytes: u64) -> PlannedRun {
        let mut sum = PlannedRun::default();
        let speed = mb_s.max(1e-6) * MB;
        if self.prepare.is_some() {
            sum.add_write(self.area as f64, speed);
            sum.seconds += self.rest_after_prepare_s;
        }
        for (index, test) in self.tests.iter().enumerate() {
            sum.add_test(test, speed, card_bytes);
            if index + 1 < self.tests.len() {
                sum.seconds += test.rest_s;
            }
        }
        sum
    }
}

impl PlannedRun {
    fn add_write(&mut self, bytes: f64, speed: f64) {
        self.bytes_written += bytes;
        self.seconds += bytes / speed;
    }

    fn add_test(&mut self, test: &RecipeTest, speed: f64, card_bytes: u64) {
        let range = if test.span == TestSpan::Device { test.size.min(card_bytes) } else { test.size };
        if test.prepare.is_some() {
            self.add_write(range as f64, speed);
        }
        let (bytes, seconds) = estimate_loop(test, range, speed);
        let loops = f64::from(test.loops) + f64::from(test.discard_loops);
        let read_share = match test.name.op {
            TestOp::Read => 1.0,
            TestOp::Write => 0.0,
            TestOp::Mix(percent) => f64::from(percent) / 100.0,
        };
        self.bytes_read += bytes * loops * read_share;
        self.bytes_written += bytes * loops * (1.0 - read_share);
        self.seconds += seconds * loops;
    }
}

fn estimate_loop(test: &RecipeTest, range: u64, speed: f64) -> (f64, f64) {
    let threads = f64::from(test.name.pattern.threads);
    let pass = if test.sharing == SpanSharing::Same { range as f64 * threads } else { range as f64 };
    let LoopLimit { passes, bytes, seconds, whole_passes } = test.limit;
    let by_time = seconds
        .or(test.until.map(|u| u.max_s))
        .map(|s| s * speed)
        .map(|b| if whole_passes { (b / pass).ceil() * pass } else { b });
    let by_passes = passes.map(|p| f64::from(p) * pass);
    let by_bytes = bytes.map(|b| b as f64 * threads);
    let measured = [by_time, by_passes, by_bytes].into_iter().flatten().fold(f64::INFINITY, f64::min);
    let all = measured + test.warmup_s * speed;
    (all, all / speed)
}
