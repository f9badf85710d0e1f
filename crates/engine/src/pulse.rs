//! What this process moved to and from cards so far, and the time that passed on their clocks: for whoever shows that the
//! work goes on, and how fast, in every phase alike. One count for the whole process, as [`pending`](crate::pending) is one
//! list.
//!
//! It is counted where I/Os end, so that no phase has to report its speed.

use crate::target::IoDirection;
use cardscope_model::units::{NANOS_PER_S, Nanos, seconds};
use std::sync::atomic::{AtomicU64, Ordering};

static BYTES: AtomicU64 = AtomicU64::new(0);
/// I/Os that ended, and the nanoseconds that they took together.
static IOS: AtomicU64 = AtomicU64::new(0);
static WAITED: AtomicU64 = AtomicU64::new(0);
static CLOCK: AtomicU64 = AtomicU64::new(0);
/// Bits of a temperature in °C, those of no number where none was taken; and what the clock showed then.
static CELSIUS: AtomicU64 = AtomicU64::new(u64::MAX);
static CELSIUS_AT: AtomicU64 = AtomicU64::new(0);

/// An older temperature than this says nothing of the card as it is.
const STALE: Nanos = 60 * NANOS_PER_S;

/// Bytes of large I/Os and the nanoseconds that they took: reads, then writes.
static LARGE: [(AtomicU64, AtomicU64); 2] =
    [(AtomicU64::new(0), AtomicU64::new(0)), (AtomicU64::new(0), AtomicU64::new(0))];

/// From so many bytes on an I/O shows the speed of a card rather than what an I/O costs.
const IS_LARGE: u64 = 64 << 10;

/// The counts at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct IoCounters {
    /// Bytes read and written.
    pub bytes: u64,
    /// I/Os that ended.
    pub ios: u64,
    /// Seconds that they took, each from being asked for to its end.
    pub waited_s: f64,
    /// Seconds passed on the clocks of the targets.
    pub seconds: f64,
    /// The last temperature that was taken, in °C, if that was not long ago.
    pub celsius: Option<f64>,
}

/// The counts now.
pub fn now() -> IoCounters {
    let clock = CLOCK.load(Ordering::Relaxed);
    IoCounters {
        bytes: BYTES.load(Ordering::Relaxed),
        ios: IOS.load(Ordering::Relaxed),
        waited_s: seconds(WAITED.load(Ordering::Relaxed)),
        seconds: seconds(clock),
        celsius: fresh(CELSIUS.load(Ordering::Relaxed), CELSIUS_AT.load(Ordering::Relaxed), clock),
    }
}

/// A temperature by its bits, unless it was taken too long ago.
fn fresh(bits: u64, taken: Nanos, clock: Nanos) -> Option<f64> {
    let celsius = f64::from_bits(bits);
    (celsius.is_finite() && clock.saturating_sub(taken) < STALE).then_some(celsius)
}

/// Seconds that restoring and comparing so many bytes takes at the speed of the large I/Os so far; `None` without any.
pub fn restoring_takes(bytes: u64) -> Option<f64> {
    let rate = |(bytes, nanos): &(AtomicU64, AtomicU64)| {
        let (bytes, nanos) = (bytes.load(Ordering::Relaxed), nanos.load(Ordering::Relaxed));
        (bytes > 0 && nanos > 0).then(|| bytes as f64 / seconds(nanos))
    };
    let [read, write] = LARGE.each_ref().map(rate);
    let (read, write) = (read.or(write)?, write.or(read)?);
    Some(bytes as f64 / read + bytes as f64 / write)
}

/// So many bytes were moved.
pub fn moved(bytes: u64) {
    BYTES.fetch_add(bytes, Ordering::Relaxed);
}

/// So many I/Os ended, which took so long together.
pub(crate) fn answered(ios: u64, time: Nanos) {
    IOS.fetch_add(ios, Ordering::Relaxed);
    WAITED.fetch_add(time, Ordering::Relaxed);
}

/// An I/O of so many bytes took so long.
pub(crate) fn took(direction: IoDirection, bytes: u64, time: Nanos) {
    moved(bytes);
    answered(1, time);
    if bytes >= IS_LARGE {
        let (all, nanos) = &LARGE[direction as usize];
        all.fetch_add(bytes, Ordering::Relaxed);
        nanos.fetch_add(time, Ordering::Relaxed);
    }
}

/// A temperature was taken, or could not be.
pub(crate) fn felt(celsius: Option<f64>) {
    CELSIUS.store(celsius.map_or(u64::MAX, f64::to_bits), Ordering::Relaxed);
    CELSIUS_AT.store(CLOCK.load(Ordering::Relaxed), Ordering::Relaxed);
}

/// A target's clock as it was last looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClockReading(Nanos);

impl ClockReading {
    pub(crate) fn at(now: Nanos) -> Self {
        ClockReading(now)
    }

    /// Counts the time that has passed.
    pub(crate) fn stands_at(&mut self, now: Nanos) {
        let passed = now.saturating_sub(self.0);
        self.0 = self.0.max(now);
        CLOCK.fetch_add(passed, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Other tests of this process count, too.
    #[test]
    fn bytes_and_time_are_counted_and_restoring_is_estimated_from_large_ios() {
        let before = now();
        took(IoDirection::Read, 4096, NANOS_PER_S);
        took(IoDirection::Write, 1 << 30, NANOS_PER_S);
        let mut clock = ClockReading::at(5 * NANOS_PER_S);
        clock.stands_at(7 * NANOS_PER_S);
        clock.stands_at(6 * NANOS_PER_S);
        let after = now();
        assert!(after.bytes >= before.bytes + (1 << 30) + 4096);
        assert!(after.seconds >= before.seconds + 2.0);
        assert!(restoring_takes(1 << 20).is_some_and(|seconds| seconds > 0.0 && seconds.is_finite()));
    }

    #[test]
    fn a_temperature_goes_once_it_is_old_or_cannot_be_taken() {
        let at = |celsius: Option<f64>, taken: Nanos, clock: Nanos| {
            fresh(celsius.map_or(u64::MAX, f64::to_bits), taken, clock)
        };
        assert_eq!(at(Some(41.5), NANOS_PER_S, 30 * NANOS_PER_S), Some(41.5));
        assert_eq!(at(Some(41.5), NANOS_PER_S, NANOS_PER_S + STALE), None);
        assert_eq!(at(None, NANOS_PER_S, NANOS_PER_S), None);
    }
}
