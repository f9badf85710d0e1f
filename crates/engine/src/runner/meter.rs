//! Counters of a running test: bytes, latencies, and a series by seconds.

use crate::io_counters;
use cardscope_model::histogram::LatencyHistogram;
use cardscope_model::result::{LoopSample, TemperatureC};
use cardscope_model::series::{SeriesBucket, TimeSeries};
use cardscope_model::units::{NANOS_PER_S, Nanos};

/// Counts of one lane since `start`.
#[derive(Debug, Default)]
pub(super) struct LaneMeter {
    start: Nanos,
    end: Nanos,
    bytes: u64,
    ios: u64,
    histogram: LatencyHistogram,
    series: TimeSeries,
    current: SeriesBucket,
    second_ends: Nanos,
    /// Longest latency of the current second; `waited` is their sum.
    longest: Nanos,
    waited: Nanos,
    temperature: TemperatureC,
}

impl LaneMeter {
    pub(super) fn new(start: Nanos) -> Self {
        LaneMeter { start, end: start, second_ends: start + NANOS_PER_S, ..LaneMeter::default() }
    }

    pub(super) fn restart(&mut self, now: Nanos) {
        *self = LaneMeter::new(now);
    }

    #[inline]
    pub(super) fn count(&mut self, at: Nanos, latency: Nanos, bytes: u64) {
        self.histogram.record(latency);
        self.bytes += bytes;
        self.ios += 1;
        self.current.bytes += bytes;
        self.current.ios += 1;
        self.longest = self.longest.max(latency);
        self.waited = self.waited.saturating_add(latency);
        self.end = at;
    }

    /// True when [`LaneMeter::close_seconds`] is due.
    #[inline]
    pub(super) fn second_is_over(&self, at: Nanos) -> bool {
        at >= self.second_ends
    }

    /// Stores completed seconds, empty ones too: a stall of three seconds shows as three.
    pub(super) fn close_seconds(&mut self, at: Nanos, temperature: Option<f64>) {
        self.note_temperature(temperature);
        while at >= self.second_ends {
            self.close_second(temperature);
            self.second_ends += NANOS_PER_S;
        }
    }

    fn close_second(&mut self, temperature: Option<f64>) {
        let at_s = self.current.at_s;
        let (max_us, sum_us) = (self.longest as f64 / 1e3, self.waited / 1000);
        self.series.push(SeriesBucket { max_us, sum_us, temperature_c: temperature, ..self.current });
        io_counters::add_completions(self.current.ios, self.waited);
        self.current = SeriesBucket { at_s: at_s + 1, ..SeriesBucket::default() };
        (self.longest, self.waited) = (0, 0);
    }

    pub(super) fn note_temperature(&mut self, now: Option<f64>) {
        let t = &mut self.temperature;
        t.start = t.start.or(now);
        t.end = now.or(t.end);
        t.max = [t.max, now].into_iter().flatten().reduce(f64::max);
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds the counts of another lane over the same seconds.
    pub(super) fn merge(&mut self, other: LaneMeter) {
        self.bytes += other.bytes;
        self.ios += other.ios;
        self.start = self.start.min(other.start);
        self.end = self.end.max(other.end);
        self.histogram.merge(&other.histogram);
        self.series.merge(other.series);
        let t = other.temperature;
        for seen in [t.start, t.max, t.end] {
            self.note_temperature(seen);
        }
    }

    /// Ends the measurement at `end`, which includes a timed flush.
    pub(super) fn finish(mut self, end: Nanos, temperature: Option<f64>, counted: bool) -> LoopSample {
        self.note_temperature(temperature);
        if self.current.ios > 0 {
            self.close_second(temperature);
        }
        LoopSample {
            bytes: self.bytes,
            ios: self.ios,
            nanos: end.max(self.end).saturating_sub(self.start).max(1),
            histogram: self.histogram,
            series: self.series,
            temperature_c: self.temperature,
            counted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stall_appears_as_empty_seconds() {
        let mut m = LaneMeter::new(0);
        m.count(NANOS_PER_S / 2, 1000, 4096);
        m.close_seconds(3 * NANOS_PER_S + 1, Some(40.0));
        m.count(3 * NANOS_PER_S + 1, 2_500_000_000, 4096);
        let sample = m.finish(3 * NANOS_PER_S + 1, Some(41.0), true);
        assert_eq!(sample.series.iter().map(|s| s.ios).collect::<Vec<_>>(), [1, 0, 0, 1]);
        assert_eq!(
            sample.temperature_c,
            TemperatureC { start: Some(40.0), end: Some(41.0), max: Some(41.0) }
        );
    }

    #[test]
    fn restart_discards_warm_up() {
        let mut m = LaneMeter::new(0);
        m.count(10, 10, 4096);
        m.restart(100);
        m.count(200, 50, 512);
        let sample = m.finish(300, None, true);
        assert_eq!((sample.bytes, sample.ios, sample.nanos, sample.histogram.max()), (512, 1, 200, 50));
    }
}
