//! Speed of a phase over several files: mean and slowest second. Only time spent on I/O counts.

use cardscope_model::units::mb_per_s;
use cardscope_model::verify::TransferPace;

#[derive(Debug, Clone, Default)]
pub(super) struct SpeedMeter {
    pub(super) bytes: u64,
    /// Seconds so far, without pauses between files.
    seconds: f64,
    /// Clock value that corresponds to `seconds`.
    clock: f64,
    /// Bytes moved in each second.
    bytes_by_second: Vec<f64>,
}

impl SpeedMeter {
    /// Resumes counting at this clock value; the clock may be another one than before.
    pub(super) fn resume_at(&mut self, clock: f64) {
        self.clock = clock;
    }

    /// Adds bytes completed at this clock value, spread over the time since the previous ones, so that an I/O of
    /// several seconds does not look like a standstill.
    pub(super) fn add_bytes(&mut self, clock: f64, bytes: u64) {
        let from = self.seconds;
        self.add_time(clock);
        self.bytes += bytes;
        let span = self.seconds - from;
        if span <= 0.0 {
            return self.add_to_second(self.seconds, bytes as f64);
        }
        let mut at = from;
        while at < self.seconds {
            let end = (at.floor() + 1.0).min(self.seconds);
            self.add_to_second(at, bytes as f64 * (end - at) / span);
            at = end;
        }
    }

    pub(super) fn add_time(&mut self, clock: f64) {
        self.seconds += (clock - self.clock).max(0.0);
        self.clock = self.clock.max(clock);
    }

    fn add_to_second(&mut self, at: f64, bytes: f64) {
        let second = at as usize;
        if self.bytes_by_second.len() <= second {
            self.bytes_by_second.resize(second + 1, 0.0);
        }
        self.bytes_by_second[second] += bytes;
    }

    /// Result, or `None` if nothing was moved.
    pub(super) fn pace(&self) -> Option<TransferPace> {
        let whole = &self.bytes_by_second[..self.bytes_by_second.len().min(self.seconds as usize)];
        let slowest = whole.iter().copied().reduce(f64::min).filter(|_| whole.len() > 1);
        (self.bytes > 0).then(|| TransferPace {
            bytes: self.bytes,
            seconds: self.seconds,
            mb_s: mb_per_s(self.bytes, self.seconds),
            slowest_second_mb_s: slowest.map(|bytes| bytes / 1e6),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stall_is_the_slowest_second() {
        let mut meter = SpeedMeter::default();
        meter.resume_at(100.0);
        for tenth in 1..=20 {
            meter.add_bytes(100.0 + f64::from(tenth) / 10.0, 1_000_000);
        }
        // One I/O takes two seconds, then the speed is as before.
        meter.add_bytes(104.0, 1_000_000);
        meter.add_bytes(105.0, 10_000_000);
        let pace = meter.pace().unwrap();
        assert_eq!((pace.bytes, pace.seconds), (31_000_000, 5.0));
        assert!((pace.mb_s - 6.2).abs() < 1e-9);
        assert!((pace.slowest_second_mb_s.unwrap() - 0.5).abs() < 1e-6, "{pace:?}");
    }

    #[test]
    fn time_between_files_does_not_count() {
        let mut meter = SpeedMeter::default();
        meter.resume_at(0.0);
        meter.add_bytes(1.0, 10);
        meter.resume_at(50.0);
        meter.add_bytes(51.0, 10);
        assert_eq!(meter.pace().map(|p| (p.bytes, p.seconds)), Some((20, 2.0)));
        assert_eq!(SpeedMeter::default().pace(), None);
    }
}
