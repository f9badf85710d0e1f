//! Process-wide counters of bytes, I/Os and card time, for live displays of progress and speed.
//!
//! They are updated as I/Os complete, so that no phase has to report its own speed.

use crate::target::IoDirection;
use cardscope_model::units::{NANOS_PER_S, Nanos, nanos_to_seconds};
use std::sync::atomic::{AtomicU64, Ordering};

static BYTES: AtomicU64 = AtomicU64::new(0);
/// I/Os that ended, and the sum of their latencies in nanoseconds.
static IOS: AtomicU64 = AtomicU64::new(0);
static WAITED: AtomicU64 = AtomicU64::new(0);
static CLOCK: AtomicU64 = AtomicU64::new(0);
/// Latest temperature in °C as bits of an `f64`, NaN without one; and the clock at that time.
static CELSIUS: AtomicU64 = AtomicU64::new(u64::MAX);
static CELSIUS_AT: AtomicU64 = AtomicU64::new(0);

const STALE_AFTER: Nanos = 60 * NANOS_PER_S;

/// Bytes of large I/Os and their nanoseconds: reads, then writes.
static LARGE: [(AtomicU64, AtomicU64); 2] =
    [(AtomicU64::new(0), AtomicU64::new(0)), (AtomicU64::new(0), AtomicU64::new(0))];

/// From this size on an I/O shows the card's throughput rather than its fixed cost.
const LARGE_IO: u64 = 64 << 10;

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct IoCounters {
    pub bytes: u64,
    pub ios: u64,
    /// Sum of their latencies.
    pub latency_sum_s: f64,
    /// Time passed on the targets' clocks.
    pub card_seconds: f64,
    /// Latest temperature in °C; `None` if older than a minute.
    pub celsius: Option<f64>,
}

pub fn snapshot() -> IoCounters {
    let clock = CLOCK.load(Ordering::Relaxed);
    IoCounters {
        bytes: BYTES.load(Ordering::Relaxed),
        ios: IOS.load(Ordering::Relaxed),
        latency_sum_s: nanos_to_seconds(WAITED.load(Ordering::Relaxed)),
        card_seconds: nanos_to_seconds(clock),
        celsius: fresh_celsius(CELSIUS.load(Ordering::Relaxed), CELSIUS_AT.load(Ordering::Relaxed), clock),
    }
}

fn fresh_celsius(bits: u64, taken: Nanos, clock: Nanos) -> Option<f64> {
    let celsius = f64::from_bits(bits);
    (celsius.is_finite() && clock.saturating_sub(taken) < STALE_AFTER).then_some(celsius)
}

/// Estimated seconds to restore and verify `bytes`, at the speed of large I/Os so far; `None` before the first.
pub fn estimate_restore_seconds(bytes: u64) -> Option<f64> {
    let rate = |(bytes, nanos): &(AtomicU64, AtomicU64)| {
        let (bytes, nanos) = (bytes.load(Ordering::Relaxed), nanos.load(Ordering::Relaxed));
        (bytes > 0 && nanos > 0).then(|| bytes as f64 / nanos_to_seconds(nanos))
    };
    let [read, write] = LARGE.each_ref().map(rate);
    let (read, write) = (read.or(write)?, write.or(read)?);
    Some(bytes as f64 / read + bytes as f64 / write)
}

pub fn add_bytes(bytes: u64) {
    BYTES.fetch_add(bytes, Ordering::Relaxed);
}

/// Counts completed I/Os and the sum of their latencies.
pub(crate) fn add_completions(ios: u64, time: Nanos) {
    IOS.fetch_add(ios, Ordering::Relaxed);
    WAITED.fetch_add(time, Ordering::Relaxed);
}

pub(crate) fn add_io(direction: IoDirection, bytes: u64, time: Nanos) {
    add_bytes(bytes);
    add_completions(1, time);
    if bytes >= LARGE_IO {
        let (all, nanos) = &LARGE[direction as usize];
        all.fetch_add(bytes, Ordering::Relaxed);
        nanos.fetch_add(time, Ordering::Relaxed);
    }
}

/// Stores the latest temperature; `None` clears it.
pub(crate) fn set_temperature(celsius: Option<f64>) {
    CELSIUS.store(celsius.map_or(u64::MAX, f64::to_bits), Ordering::Relaxed);
    CELSIUS_AT.store(CLOCK.load(Ordering::Relaxed), Ordering::Relaxed);
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct ClockReading(Nanos);

impl ClockReading {
    pub(crate) fn new(now: Nanos) -> Self {
        ClockReading(now)
    }

    /// Adds the time passed since the last reading.
    pub(crate) fn advance_to(&mut self, now: Nanos) {
        let passed = now.saturating_sub(self.0);
        self.0 = self.0.max(now);
        CLOCK.fetch_add(passed, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The counters are global, so other tests of this process may add to them.
    #[test]
    fn restore_time_is_estimated_from_large_ios() {
        let before = snapshot();
        add_io(IoDirection::Read, 4096, NANOS_PER_S);
        add_io(IoDirection::Write, 1 << 30, NANOS_PER_S);
        let mut clock = ClockReading::new(5 * NANOS_PER_S);
        clock.advance_to(7 * NANOS_PER_S);
        clock.advance_to(6 * NANOS_PER_S);
        let after = snapshot();
        assert!(after.bytes >= before.bytes + (1 << 30) + 4096);
        assert!(after.card_seconds >= before.card_seconds + 2.0);
        assert!(
            estimate_restore_seconds(1 << 20).is_some_and(|seconds| seconds > 0.0 && seconds.is_finite())
        );
    }

    #[test]
    fn temperature_expires_when_stale_or_missing() {
        let at = |celsius: Option<f64>, taken: Nanos, clock: Nanos| {
            fresh_celsius(celsius.map_or(u64::MAX, f64::to_bits), taken, clock)
        };
        assert_eq!(at(Some(41.5), NANOS_PER_S, 30 * NANOS_PER_S), Some(41.5));
        assert_eq!(at(Some(41.5), NANOS_PER_S, NANOS_PER_S + STALE_AFTER), None);
        assert_eq!(at(None, NANOS_PER_S, NANOS_PER_S), None);
    }
}
