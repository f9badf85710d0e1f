//! Sparklines of speed and temperature over a whole long run.

use super::format;
use cardscope_engine::io_counters::IoCounters;
use cardscope_model::series::{Thinned, ThinnedSeries};
use cardscope_model::units::{MB, SpeedMbS, three_digits};

/// Initial length of an interval in seconds.
const INITIAL_INTERVAL_S: f64 = 0.5;

/// Minimum length of a sparkline in characters.
const MIN_CHARACTERS: usize = 8;

/// Interval with its traffic and highest temperature.
#[derive(Debug, Clone, Copy)]
struct SparklineInterval {
    seconds: f64,
    bytes: u64,
    celsius: Option<f64>,
}

impl Thinned for SparklineInterval {
    const MOST: usize = 512;

    fn has_room(&self, _next: &Self, width: u32, _pushed: u32) -> bool {
        self.seconds < INITIAL_INTERVAL_S * f64::from(width)
    }

    fn merge(self, next: Self, _before: Option<&Self>) -> Self {
        SparklineInterval {
            seconds: self.seconds + next.seconds,
            bytes: self.bytes + next.bytes,
            celsius: [self.celsius, next.celsius].into_iter().flatten().reduce(f64::max),
        }
    }
}

/// Bytes and temperatures over time in a bounded number of intervals.
#[derive(Debug, Clone, Default)]
pub(super) struct SparklineHistory {
    intervals: ThinnedSeries<SparklineInterval>,
    last: Option<IoCounters>,
}

impl SparklineHistory {
    pub(super) fn push(&mut self, now: IoCounters) {
        let Some(last) = self.last.replace(now) else { return };
        let (seconds, bytes) = (now.card_seconds - last.card_seconds, now.bytes.saturating_sub(last.bytes));
        self.intervals.push(SparklineInterval { seconds, bytes, celsius: now.celsius });
    }

    /// Lines of at most `width` columns; empty without room or data.
    pub(super) fn lines(&self, width: usize) -> Vec<String> {
        let speed =
            |part: &SparklineInterval| (part.seconds > 0.0).then(|| part.bytes as f64 / MB / part.seconds);
        let speeds = |low, high| format!("{} to {}", three_digits(low), SpeedMbS(high));
        let degrees = |low, high| format!("{low:.0} to {high:.0} °C");
        let lines = [
            self.sparkline("speed", width, speed, speeds),
            self.sparkline("temp.", width, |part| part.celsius, degrees),
        ];
        lines.into_iter().flatten().collect()
    }

    fn sparkline(
        &self,
        name: &str,
        width: usize,
        value: fn(&SparklineInterval) -> Option<f64>,
        range: fn(f64, f64) -> String,
    ) -> Option<String> {
        let all: Vec<f64> = self.intervals.iter().filter_map(value).collect();
        if all.len() < MIN_CHARACTERS {
            return None;
        }
        let low = all.iter().copied().reduce(f64::min)?;
        let high = all.iter().copied().reduce(f64::max)?;
        let range = range(low, high);
        let room = width.checked_sub(name.len() + format::columns(&range) + 2)?;
        if room < MIN_CHARACTERS {
            return None;
        }
        let each = self.intervals.len().div_ceil(room).max(1);
        let level = |value: f64| {
            let share = if high > low { (value - low) / (high - low) } else { 1.0 };
            format::BLOCKS[((share * 7.0).round() as usize).min(7)]
        };
        let merged = |part: &[SparklineInterval]| part.iter().copied().reduce(|a, b| a.merge(b, None));
        let chunks = self.intervals.chunks(each).filter_map(merged);
        let strip: String = chunks.map(|part| value(&part).map_or(' ', level)).collect();
        Some(format!("{name} {strip} {range}"))
    }
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
