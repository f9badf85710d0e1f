//! Speed and temperature over time in a bounded number of points.

use cardscope_model::series::{Thinned, ThinnedSeries};

/// Limit of points.
const MAX_POINTS: usize = 512;

/// Initial length of a point in seconds.
const INITIAL_INTERVAL_S: f64 = 0.2;

/// Measurements within an interval.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct SpeedPoint {
    /// Start and end in seconds.
    from: f64,
    to: f64,
    /// Sum and number of speeds.
    speed: (f64, u32),
    celsius: Option<f64>,
}

impl SpeedPoint {
    /// Mean speed in MB/s.
    pub(super) fn mb_s(&self) -> Option<f64> {
        (self.speed.1 > 0).then(|| self.speed.0 / f64::from(self.speed.1))
    }

    /// Highest temperature in °C.
    pub(super) fn celsius(&self) -> Option<f64> {
        self.celsius
    }
}

impl Thinned for SpeedPoint {
    const MOST: usize = MAX_POINTS;

    fn has_room(&self, next: &SpeedPoint, width: u32, _pushed: u32) -> bool {
        next.from < self.from + INITIAL_INTERVAL_S * f64::from(width)
    }

    fn merge(self, next: SpeedPoint, _before: Option<&SpeedPoint>) -> SpeedPoint {
        SpeedPoint {
            from: self.from.min(next.from),
            to: self.to.max(next.to),
            speed: (self.speed.0 + next.speed.0, self.speed.1.saturating_add(next.speed.1)),
            celsius: [self.celsius, next.celsius].into_iter().flatten().reduce(f64::max),
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct SpeedSeries {
    points: ThinnedSeries<SpeedPoint>,
}

impl SpeedSeries {
    /// Adds a measurement; drops one that is older than the last.
    pub(super) fn push(&mut self, at: f64, mb_s: Option<f64>, celsius: Option<f64>) {
        let fit = |value: Option<f64>| value.filter(|value| value.is_finite());
        let (speed, celsius) = (fit(mb_s).map_or((0.0, 0), |mb_s| (mb_s.max(0.0), 1)), fit(celsius));
        if at.is_finite() && self.points.last().is_none_or(|last| at >= last.to) {
            self.points.push(SpeedPoint { from: at, to: at, speed, celsius });
        }
    }

    /// Seconds between the first and the last point.
    pub(super) fn seconds(&self) -> f64 {
        self.points.last().zip(self.points.first()).map_or(0.0, |(last, first)| last.to - first.from)
    }

    /// Values in `columns` intervals of equal length; an empty interval repeats the value before.
    pub(super) fn column_values(
        &self,
        columns: usize,
        of: fn(&SpeedPoint) -> Option<f64>,
    ) -> Vec<Option<f64>> {
        let (Some(first), seconds) = (self.points.first(), self.seconds()) else { return Vec::new() };
        let mut sums = vec![(0.0, 0_u32); columns];
        for point in self.points.iter() {
            let share = if seconds > 0.0 { (point.from - first.from) / seconds } else { 0.0 };
            let at = ((share * columns as f64) as usize).min(columns.saturating_sub(1));
            if let (Some(value), Some((sum, count))) = (of(point), sums.get_mut(at)) {
                (*sum, *count) = (*sum + value, *count + 1);
            }
        }
        let mut before = None;
        let mean = |(sum, count): (f64, u32)| (count > 0).then(|| sum / f64::from(count));
        let filled = sums.into_iter().map(|column| {
            before = mean(column).or(before);
            before
        });
        filled.collect()
    }

    /// Lowest and highest value.
    pub(super) fn range(&self, value: fn(&SpeedPoint) -> Option<f64>) -> Option<(f64, f64)> {
        let both = self.points.iter().filter_map(value).map(|value| (value, value));
        both.reduce(|(low, high), (value, _)| (low.min(value), high.max(value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_stay_bounded_and_speed_drop_keeps_position() {
        let mut series = SpeedSeries::default();
        for tick in 0..2_000_000_u32 {
            let at = f64::from(tick) * 0.2;
            let mb_s = if at < 100_000.0 { 90.0 } else { 20.0 };
            series.push(at, Some(mb_s), Some(30.0 + at / 100_000.0));
        }
        assert!(series.points.len() <= MAX_POINTS && series.points.len() >= MAX_POINTS / 2 - 1);
        assert!((series.seconds() - 400_000.0).abs() < 1.0, "{}", series.seconds());
        let speeds: Vec<f64> =
            series.column_values(8, SpeedPoint::mb_s).into_iter().flatten().map(f64::round).collect();
        assert_eq!(speeds, [90.0, 90.0, 20.0, 20.0, 20.0, 20.0, 20.0, 20.0]);
        let (low, high) = series.range(SpeedPoint::celsius).unwrap();
        assert!(low < 30.1 && high > 33.9);
    }

    #[test]
    fn few_points_fill_columns_and_invalid_values_are_dropped() {
        let mut series = SpeedSeries::default();
        assert!(
            series.column_values(4, SpeedPoint::mb_s).is_empty() && series.range(SpeedPoint::mb_s).is_none()
        );
        series.push(1.0, Some(10.0), None);
        series.push(f64::NAN, Some(99.0), None);
        series.push(0.5, Some(99.0), None);
        series.push(3.0, Some(f64::INFINITY), None);
        series.push(5.0, Some(20.0), None);
        assert_eq!(
            series.column_values(4, SpeedPoint::mb_s),
            [Some(10.0), Some(10.0), Some(10.0), Some(20.0)]
        );
        assert_eq!(series.column_values(4, SpeedPoint::celsius), [None; 4]);
        assert_eq!(series.range(SpeedPoint::mb_s), Some((10.0, 20.0)));
        assert!(series.column_values(0, SpeedPoint::mb_s).is_empty());
    }
}
