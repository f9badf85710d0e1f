//! Counters of a served card: the live `counters.json`, and the final report of `sim serve`.

use crate::card::LifetimeCounters;
use cardscope_model::histogram::LatencyHistogram;
use serde::Serialize;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Median lag in µs from which on a card's times suffer (at 1000 I/Os per second).
const GOOD_P50_US: f64 = 30.0;
/// 99th percentile of the lag in µs from which on a card's times suffer.
const GOOD_P99_US: f64 = 300.0;

/// Counters of a card since it was inserted.
#[derive(Debug, Clone, Serialize)]
pub struct ServeReport {
    /// Name among the served cards.
    pub name: String,
    /// Name as the user wrote it.
    pub target: String,
    /// Seconds since the card was inserted.
    pub seconds: f64,
    pub commands: u64,
    /// Counters of the card itself.
    #[serde(flatten)]
    pub card: LifetimeCounters,
    /// Requests that wait for their answers now.
    pub in_flight: u32,
    /// Most requests that waited at a time.
    pub max_in_flight: u32,
    /// °C; None without a heat model.
    pub temperature_c: Option<f64>,
    /// Lag of the answers; None if they are given at once.
    pub lag: Option<AnswerLag>,
}

/// Delay of answers after they were due.
#[derive(Debug, Clone, Serialize)]
pub struct AnswerLag {
    /// Answers that were waited for.
    pub answers: u64,
    pub all_us: LagQuantiles,
    /// The last thousand answers.
    pub recent_us: LagQuantiles,
    /// Share of answers later than a millisecond, 0 to 1.
    pub later_than_1_ms: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LagQuantiles {
    pub p50: f64,
    pub p99: f64,
    pub max: f64,
}

impl ServeReport {
    /// Lag in one line.
    pub fn lag_line(&self) -> Option<String> {
        let lag = self.lag.as_ref()?;
        let (p50, p99) = (lag.all_us.p50, lag.all_us.p99);
        Some(format!("lag: p50 {p50:.1} µs, p99 {p99:.1} µs over {} commands", lag.answers))
    }

    /// Warning if answers were so late that the card seems slower than it is.
    pub fn warning(&self) -> Option<String> {
        let LagQuantiles { p50, p99, .. } = self.lag.as_ref().filter(|lag| lag.is_high())?.all_us;
        let (target, name) = (&self.target, self.target.trim_start_matches("sim:"));
        Some(format!(
            "warning: {target} answered late (median {p50:.0} µs, 99 % {p99:.0} µs): this machine is too busy or \
             too slow; use fewer I/Os per second, an idle machine, or virtual time (bench sim:{name})"
        ))
    }
}

impl AnswerLag {
    pub(super) fn from_times(mut lags: LagTimes) -> AnswerLag {
        let us = |nanos: u64| nanos as f64 / 1e3;
        let (all, answers) = (&lags.all, lags.all.count());
        let sorted = lags.recent.make_contiguous();
        sorted.sort_unstable();
        let recent = |q: f64| {
            let at = ((q * sorted.len() as f64).ceil() as usize).saturating_sub(1);
            sorted.get(at).copied().map_or(0.0, us)
        };
        let (p50, p99) = (us(all.quantile(0.5)), us(all.quantile(0.99)));
        AnswerLag {
            answers,
            all_us: LagQuantiles { p50, p99, max: us(all.max()) },
            recent_us: LagQuantiles { p50: recent(0.5), p99: recent(0.99), max: recent(1.0) },
            later_than_1_ms: lags.late as f64 / answers.max(1) as f64,
        }
    }

    fn is_high(&self) -> bool {
        self.all_us.p50 > GOOD_P50_US || self.all_us.p99 > GOOD_P99_US
    }
}

/// Number of answers that count as recent.
const RECENT_ANSWERS: usize = 1000;

/// Lag above which an answer counts as late.
const LATE_LAG: Duration = Duration::from_millis(1);

#[derive(Debug, Default)]
pub(super) struct LagMeter {
    in_flight: AtomicU32,
    peak: AtomicU32,
    broken: AtomicBool,
    lags: Mutex<LagTimes>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct LagTimes {
    pub(super) all: LatencyHistogram,
    pub(super) recent: VecDeque<u64>,
    pub(super) late: u64,
}

impl LagMeter {
    /// Counts a request; returns the number in flight with it.
    pub(super) fn begin_request(&self) -> u32 {
        let now = self.in_flight.fetch_add(1, Ordering::Relaxed) + 1;
        self.peak.fetch_max(now, Ordering::Relaxed);
        now
    }

    pub(super) fn end_request(&self) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
    }

    /// Records the lag of an answer.
    pub(super) fn record_answer(&self, lag: Duration) {
        let (nanos, mut lags) = (lag.as_nanos() as u64, self.lock());
        lags.all.record(nanos);
        lags.late += u64::from(lag > LATE_LAG);
        if lags.recent.len() == RECENT_ANSWERS {
            lags.recent.pop_front();
        }
        lags.recent.push_back(nanos);
    }

    /// Requests in flight, and the most so far.
    pub(super) fn in_flight(&self) -> (u32, u32) {
        (self.in_flight.load(Ordering::Relaxed), self.peak.load(Ordering::Relaxed))
    }

    pub(super) fn lags(&self) -> LagTimes {
        self.lock().clone()
    }

    /// Records that a thread panicked while it worked on a request.
    pub(super) fn mark_broken(&self) {
        self.broken.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, LagTimes> {
        self.lags.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lag(micros: impl Iterator<Item = u64>) -> AnswerLag {
        let meter = LagMeter::default();
        micros.for_each(|us| meter.record_answer(Duration::from_micros(us)));
        AnswerLag::from_times(meter.lags())
    }

    #[test]
    fn quantiles_match_recorded_lags() {
        let found = lag(1..=1000);
        assert_eq!(found.recent_us, LagQuantiles { p50: 500.0, p99: 990.0, max: 1000.0 });
        assert!((found.all_us.p50 / 500.0 - 1.0).abs() < 0.005, "{found:?}");
        assert_eq!((found.answers, found.later_than_1_ms), (1000, 0.0));
    }

    #[test]
    fn lag_is_high_above_either_limit() {
        assert!(!lag((0..1000).map(|n| if n < 985 { 29 } else { 290 })).is_high());
        assert!(lag((0..1000).map(|_| 32)).is_high());
        assert!(lag((0..1000).map(|n| if n < 985 { 1 } else { 310 })).is_high());
        assert!(!lag(std::iter::empty()).is_high());
    }

    #[test]
    fn recent_lags_are_the_last_thousand() {
        let meter = LagMeter::default();
        (0..500).for_each(|_| meter.record_answer(Duration::from_millis(2)));
        (0..1000).for_each(|_| meter.record_answer(Duration::from_micros(3)));
        let lags = meter.lags();
        assert_eq!((lags.all.count(), lags.late, lags.recent.len()), (1500, 500, 1000));
        assert!(lags.recent.iter().all(|n| *n == 3000));
    }
}
