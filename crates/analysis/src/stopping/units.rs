//! Units of work: slices put together until each holds the same number of I/Os.
//!
//! A unit must be long enough to average the card's own jitter and short enough to show a stall
//! (flash-behaviour 4.3 uses 1 MiB of a sequential and 16 I/Os of a random test).

use crate::robust::median_deviation;
use cardscope_model::statistics::median;
use cardscope_model::test_name::{Order, Pattern};
use cardscope_model::units::MIB;

/// I/Os in a unit of a random test.
const RANDOM_IOS: u64 = 16;

/// When there are so many units, neighbours are put together. At the 120 s of the rule a unit is then about 10 ms,
/// still shorter than any stall worth the name, and the list stays under 256 KiB.
const MOST: usize = 16_384;

/// I/Os in one unit of a test: 1 MiB of a sequential test, 16 I/Os of a random one.
#[must_use]
pub fn unit_ios(pattern: Pattern) -> u64 {
    match pattern.order {
        Order::Sequential => (MIB / pattern.block.max(1)).max(1),
        Order::Random => RANDOM_IOS,
    }
}

/// Some I/Os and the time they took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Unit {
    pub(super) seconds: f64,
    pub(super) ios: f64,
}

impl Unit {
    /// Seconds an I/O.
    pub(super) fn pace(self) -> f64 {
        self.seconds / self.ios
    }

    fn add(&mut self, other: Unit) {
        self.seconds += other.seconds;
        self.ios += other.ios;
    }
}

/// A unit is a stall if it took more than so often the median …
const STALL_TIMES_MEDIAN: f64 = 2.0;
/// … and lies so many median deviations above it.
const STALL_DEVIATIONS: f64 = 8.0;
/// The usual pace (seconds an I/O), and where a stall begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Usual {
    pace: f64,
    stall_from: f64,
}

impl Usual {
    pub(super) fn of(units: &[Unit]) -> Self {
        let paces: Vec<f64> = units.iter().map(|u| u.pace()).collect();
        let pace = median(&paces).unwrap_or(0.0);
        let spread = median_deviation(&paces, pace).unwrap_or(0.0);
        Usual { pace, stall_from: (STALL_TIMES_MEDIAN * pace).max(pace + STALL_DEVIATIONS * spread) }
    }

    pub(super) fn pace(self) -> f64 {
        self.pace
    }

    pub(super) fn is_stall(self, unit: Unit) -> bool {
        unit.pace() > self.stall_from
    }

    /// Seconds a unit took above the usual.
    pub(super) fn excess(self, unit: Unit) -> f64 {
        unit.seconds - self.pace * unit.ios
    }
}

/// The units of a test so far.
#[derive(Debug, Clone)]
pub(super) struct Units {
    complete: Vec<Unit>,
    open: Unit,
    ios: f64,
}

impl Units {
    pub(super) fn new(ios: u64) -> Self {
        Units { complete: Vec::new(), open: Unit::default(), ios: ios.max(1) as f64 }
    }

    pub(super) fn push(&mut self, seconds: f64, ios: u64) {
        self.open.add(Unit { seconds, ios: ios as f64 });
        if self.open.ios >= self.ios {
            self.complete.push(std::mem::take(&mut self.open));
            if self.complete.len() >= MOST {
                self.merge_neighbours();
            }
        }
    }

    /// The units that are full.
    pub(super) fn complete(&self) -> &[Unit] {
        &self.complete
    }

    fn merge_neighbours(&mut self) {
        self.ios *= 2.0;
        let merged = self.complete.chunks(2).map(|pair| {
            let mut sum = pair[0];
            pair[1..].iter().for_each(|other| sum.add(*other));
            sum
        });
        self.complete = merged.collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_a_mebibyte_in_order_or_sixteen_places_at_random() {
        for (name, ios) in [("SEQ1M Q8T1", 1), ("SEQ128K Q1T1", 8), ("SEQ1G Q1T1", 1), ("RND4K Q32T1", 16)] {
            assert_eq!(unit_ios(name.parse().unwrap()), ios, "{name}");
        }
    }

    #[test]
    fn a_fast_card_takes_no_more_memory_and_loses_no_io() {
        let mut units = Units::new(16);
        (0..1_000_000).for_each(|_| units.push(32e-6, 16));
        let (seconds, ios) = units.complete().iter().fold((0.0, 0.0), |(s, n), u| (s + u.seconds, n + u.ios));
        assert!(units.complete().len() < MOST && units.complete.capacity() <= 2 * MOST);
        assert!(
            (ios + units.open.ios - 16e6).abs() < 1.0 && (seconds + units.open.seconds - 32.0).abs() < 1e-6
        );
    }
}
