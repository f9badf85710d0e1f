//! Units of work with equal numbers of I/Os, and the end of the start-up.
//! A unit must average the jitter of the card but still show a stall: 1 MiB of a sequential test, 16 I/Os of a random one.
//! Start-up is the first half second, then MSER-5 (White 1997, docs/reference/flash.md#stopping-rule) cuts where the
//! standard error of the rest is least. It works on means of five units, so that noise does not decide.

use crate::robust::median_deviation;
use cardscope_model::statistics::median;
use cardscope_model::test_name::{AccessPattern, IoOrder};
use cardscope_model::units::MIB;

const RANDOM_IOS: u64 = 16;

/// Limit of units, from which neighbours are merged. After the 120 s of the rule a unit is then about 10 ms, still shorter
/// than a significant stall, and the list takes less than 256 KiB.
const MAX_UNITS: usize = 16_384;

/// I/Os in one unit: 1 MiB of a sequential test, 16 I/Os of a random one.
pub fn unit_ios(pattern: AccessPattern) -> u64 {
    match pattern.order {
        IoOrder::Sequential => (MIB / pattern.block.max(1)).max(1),
        IoOrder::Random => RANDOM_IOS,
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct IoUnit {
    pub(super) seconds: f64,
    pub(super) ios: f64,
}

impl IoUnit {
    pub(super) fn pace(self) -> f64 {
        self.seconds / self.ios
    }

    fn add(&mut self, other: IoUnit) {
        self.seconds += other.seconds;
        self.ios += other.ios;
    }
}

/// A stall takes at least this many times the median …
const STALL_TIMES_MEDIAN: f64 = 2.0;
/// … and lies this many median deviations above it.
const STALL_DEVIATIONS: f64 = 8.0;
#[derive(Debug, Clone, Copy)]
pub(super) struct UsualPace {
    pace: f64,
    stall_from: f64,
}

impl UsualPace {
    pub(super) fn from_units(units: &[IoUnit]) -> Self {
        let paces: Vec<f64> = units.iter().map(|u| u.pace()).collect();
        let pace = median(&paces).unwrap_or(0.0);
        let spread = median_deviation(&paces, pace).unwrap_or(0.0);
        UsualPace { pace, stall_from: (STALL_TIMES_MEDIAN * pace).max(pace + STALL_DEVIATIONS * spread) }
    }

    pub(super) fn pace(self) -> f64 {
        self.pace
    }

    pub(super) fn is_stall(self, unit: IoUnit) -> bool {
        unit.pace() > self.stall_from
    }

    pub(super) fn excess(self, unit: IoUnit) -> f64 {
        unit.seconds - self.pace * unit.ios
    }
}

#[derive(Debug, Clone)]
pub(super) struct IoUnits {
    complete: Vec<IoUnit>,
    open: IoUnit,
    ios: f64,
}

impl IoUnits {
    pub(super) fn new(ios: u64) -> Self {
        IoUnits { complete: Vec::new(), open: IoUnit::default(), ios: ios.max(1) as f64 }
    }

    pub(super) fn push(&mut self, seconds: f64, ios: u64) {
        self.open.add(IoUnit { seconds, ios: ios as f64 });
        if self.open.ios >= self.ios {
            self.complete.push(std::mem::take(&mut self.open));
            if self.complete.len() >= MAX_UNITS {
                self.merge_neighbours();
            }
        }
    }

    pub(super) fn complete(&self) -> &[IoUnit] {
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

const STARTUP_S: f64 = 0.5;

const BATCH_UNITS: usize = 5;

/// Index of the first unit that counts. At most half of the units after the first half second are cut, and none if there
/// are too few.
pub(super) fn end_of_startup(units: &[IoUnit]) -> usize {
    let first = after_the_first_half_second(units);
    let rest = &units[first..];
    let usual = UsualPace::from_units(rest);
    let slow = rest.iter().take_while(|u| usual.is_stall(**u)).count();
    first + slow + mser_cut(&batch_means(&rest[slow..], usual)) * BATCH_UNITS
}

/// Keeps a unit that reaches past the half second, since on slow cards it may last many seconds.
fn after_the_first_half_second(units: &[IoUnit]) -> usize {
    let mut elapsed = 0.0;
    let inside = units
        .iter()
        .take_while(|u| {
            elapsed += u.seconds;
            elapsed <= STARTUP_S
        })
        .count();
    if inside < units.len() { inside } else { 0 }
}

/// Mean pace of each five units. Stalls count with the usual pace, because a cut after an early stall would hide it and
/// make the card look faster.
fn batch_means(units: &[IoUnit], usual: UsualPace) -> Vec<f64> {
    let pace = |u: &IoUnit| if usual.is_stall(*u) { usual.pace() } else { u.pace() };
    units
        .chunks_exact(BATCH_UNITS)
        .map(|batch| batch.iter().map(pace).sum::<f64>() / BATCH_UNITS as f64)
        .collect()
}

fn mser_cut(means: &[f64]) -> usize {
    let (mut sum, mut squares) = (0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    for (cut, z) in means.iter().enumerate().rev() {
        sum += z;
        squares += z * z;
        let kept = (means.len() - cut) as f64;
        let error = (squares - sum * sum / kept).max(0.0) / (kept * kept);
        if cut <= means.len() / 2 && error <= best.0 {
            best = (error, cut);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::random::SeededRandom;

    #[test]
    fn unit_is_one_mebibyte_or_sixteen_ios() {
        for (name, ios) in [("SEQ1M Q8T1", 1), ("SEQ128K Q1T1", 8), ("SEQ1G Q1T1", 1), ("RND4K Q32T1", 16)] {
            assert_eq!(unit_ios(name.parse().unwrap()), ios, "{name}");
        }
    }

    #[test]
    fn units_are_merged_within_the_memory_limit() {
        let mut units = IoUnits::new(16);
        (0..1_000_000).for_each(|_| units.push(32e-6, 16));
        let (seconds, ios) = units.complete().iter().fold((0.0, 0.0), |(s, n), u| (s + u.seconds, n + u.ios));
        assert!(units.complete().len() < MAX_UNITS && units.complete.capacity() <= 2 * MAX_UNITS);
        assert!(
            (ios + units.open.ios - 16e6).abs() < 1.0 && (seconds + units.open.seconds - 32.0).abs() < 1e-6
        );
    }

    fn units(paces: impl Iterator<Item = f64>) -> Vec<IoUnit> {
        paces.map(|seconds| IoUnit { seconds, ios: 1.0 }).collect()
    }

    #[test]
    fn startup_of_three_seconds_is_cut() {
        let mut random = SeededRandom::from_state(5);
        let list = units(
            (0..1000).map(|i| 0.02 * (1.0 + 0.02 * random.normal()) + if i < 150 { 0.015 } else { 0.0 }),
        );
        let cut = end_of_startup(&list);
        assert!((150..=170).contains(&cut), "{cut}");
    }

    #[test]
    fn steady_card_loses_half_a_second() {
        let mut random = SeededRandom::from_state(6);
        let cuts: Vec<usize> = (0..50)
            .map(|_| end_of_startup(&units((0..1000).map(|_| 0.02 * (1.0 + 0.05 * random.normal())))))
            .collect();
        let mean = cuts.iter().sum::<usize>() as f64 / 50.0;
        assert!(cuts.iter().all(|c| *c >= 24) && mean < 150.0, "{mean} {cuts:?}");
    }

    #[test]
    fn few_units_are_not_cut() {
        assert_eq!(end_of_startup(&[]), 0);
        assert_eq!(end_of_startup(&units([0.1, 0.1].into_iter())), 0);
        assert_eq!(end_of_startup(&units([14.0, 16.0, 15.0].into_iter())), 0);
    }
}
