//! Samples of a task over time, thinned to a bounded number: when full, every second one is dropped.

use cardscope_model::progress::ProgressSample;

/// Limit of samples.
const MAX_SAMPLES: usize = 600;

/// Initial interval in seconds.
const INITIAL_INTERVAL_S: f64 = 0.2;

#[derive(Debug, Clone, Default)]
pub(super) struct SampleHistory {
    samples: Vec<ProgressSample>,
    interval_s: f64,
}

impl SampleHistory {
    /// Adds a sample unless it follows the last one too closely.
    pub(super) fn push(&mut self, moment: &ProgressSample) {
        self.interval_s = self.interval_s.max(INITIAL_INTERVAL_S);
        if self.samples.last().is_some_and(|last| moment.at < last.at + self.interval_s) {
            return;
        }
        if self.samples.len() == MAX_SAMPLES {
            let mut at = 0;
            self.samples.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.interval_s *= 2.0;
        }
        self.samples.push(moment.clone());
    }

    pub(super) fn samples(&self) -> Vec<ProgressSample> {
        self.samples.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn day_of_samples_stays_bounded_and_spans_day() {
        let mut track = SampleHistory::default();
        for tick in 0..432_000_u32 {
            track.push(&ProgressSample { at: f64::from(tick) * 0.2, ..ProgressSample::default() });
        }
        let moments = track.samples();
        assert!(moments.len() <= MAX_SAMPLES && moments.len() > MAX_SAMPLES / 3, "{}", moments.len());
        assert!(moments.first().is_some_and(|m| m.at < 600.0));
        assert!(moments.last().is_some_and(|m| m.at > 86_000.0));
        let gaps = moments.windows(2).map(|pair| pair[1].at - pair[0].at);
        assert!(gaps.fold(0.0, f64::max) < 600.0);
    }
}
