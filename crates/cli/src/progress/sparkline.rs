//! Sparklines of speed and temperature over a whole long run.

use super::format;
use cardscope_engine::io_counters::IoCounters;
use cardscope_model::units::{MB, SpeedMbS, three_digits};

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Limit of intervals; when reached, adjacent ones are merged.
const MAX_INTERVALS: usize = 512;

/// Initial length of an interval in seconds.
const INITIAL_INTERVAL_S: f64 = 0.5;

/// Minimum length of a sparkline in characters.
const MIN_CHARACTERS: usize = 8;

/// Interval with its traffic and highest temperature.
#[derive(Debug, Clone, Copy, Default)]
struct SparklineInterval {
    seconds: f64,
    bytes: u64,
    celsius: Option<f64>,
}

impl SparklineInterval {
    fn merged_with(self, other: SparklineInterval) -> SparklineInterval {
        SparklineInterval {
            seconds: self.seconds + other.seconds,
            bytes: self.bytes + other.bytes,
            celsius: [self.celsius, other.celsius].into_iter().flatten().reduce(f64::max),
        }
    }
}

/// Bytes and temperatures over time in a bounded number of intervals.
#[derive(Debug, Clone)]
pub(super) struct SparklineHistory {
    intervals: Vec<SparklineInterval>,
    current: SparklineInterval,
    interval_s: f64,
    last: Option<IoCounters>,
}

impl Default for SparklineHistory {
    fn default() -> Self {
        SparklineHistory {
            intervals: Vec::new(),
            current: SparklineInterval::default(),
            interval_s: INITIAL_INTERVAL_S,
            last: None,
        }
    }
}

impl SparklineHistory {
    pub(super) fn push(&mut self, pulse: IoCounters) {
        let Some(last) = self.last.replace(pulse) else { return };
        let (seconds, bytes) =
            (pulse.card_seconds - last.card_seconds, pulse.bytes.saturating_sub(last.bytes));
        self.current = self.current.merged_with(SparklineInterval { seconds, bytes, celsius: pulse.celsius });
        if self.current.seconds < self.interval_s {
            return;
        }
        self.intervals.push(std::mem::take(&mut self.current));
        if self.intervals.len() == MAX_INTERVALS {
            self.interval_s *= 2.0;
            self.intervals = self.intervals.chunks(2).map(merge_all).collect();
        }
    }

    /// Lines of at most `width` columns; empty without room or data.
    pub(super) fn lines(&self, width: usize) -> Vec<String> {
        let speed = |stretch: &SparklineInterval| {
            (stretch.seconds > 0.0).then(|| stretch.bytes as f64 / MB / stretch.seconds)
        };
        let celsius = |stretch: &SparklineInterval| stretch.celsius;
        let lines = [
            self.sparkline("speed", width, &speed, |low, high| {
                format!("{} to {}", three_digits(low), SpeedMbS(high))
            }),
            self.sparkline("temp.", width, &celsius, |low, high| format!("{low:.0} to {high:.0} °C")),
        ];
        lines.into_iter().flatten().collect()
    }

    fn sparkline(
        &self,
        name: &str,
        width: usize,
        value: &dyn Fn(&SparklineInterval) -> Option<f64>,
        range: impl Fn(f64, f64) -> String,
    ) -> Option<String> {
        let all: Vec<f64> = self.intervals.iter().filter_map(value).collect();
        if all.len() < MIN_CHARACTERS {
            return None;
        }
        let low = all.iter().copied().reduce(f64::min)?;
        let high = all.iter().copied().reduce(f64::max)?;
        let range = range(low, high);
        let room = width
            .checked_sub(name.len() + format::columns(&range) + 2)
            .filter(|room| *room >= MIN_CHARACTERS)?;
        let each = self.intervals.len().div_ceil(room).max(1);
        let level = |value: f64| {
            let share = if high > low { (value - low) / (high - low) } else { 1.0 };
            BLOCKS[((share * 7.0).round() as usize).min(7)]
        };
        let strip = self.intervals.chunks(each).map(|chunk| value(&merge_all(chunk)).map_or(' ', level));
        Some(format!("{name} {} {range}", strip.collect::<String>()))
    }
}

fn merge_all(stretches: &[SparklineInterval]) -> SparklineInterval {
    stretches.iter().copied().fold(SparklineInterval::default(), SparklineInterval::merged_with)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparkline_fits_any_run_and_shows_speed_drop() {
        let mut history = SparklineHistory::default();
        let (mut bytes, mut all) = (0, Vec::new());
        for second in 0..20_000 {
            bytes += if second < 10_000 { 90_000_000 } else { 20_000_000 };
            let celsius = Some(30.0 + f64::from(second) / 1000.0);
            history.push(IoCounters {
                bytes,
                card_seconds: f64::from(second),
                celsius,
                ..IoCounters::default()
            });
            all.push(history.lines(60).iter().map(|line| format::columns(line)).max());
        }
        let lines = history.lines(60);
        assert!(lines[0].starts_with("speed ██") && lines[0].ends_with("▁ 20.0 to 90.0 MB/s"), "{lines:?}");
        assert!(lines[1].starts_with("temp. ▁") && lines[1].ends_with("█ 30 to 50 °C"), "{lines:?}");
        assert!(all.iter().flatten().all(|columns| *columns <= 60));
        assert!(history.lines(20).is_empty() && SparklineHistory::default().lines(80).is_empty());
    }
}
