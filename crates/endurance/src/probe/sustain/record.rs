//! Record of a run: slices, samples and events, and the figures that follow directly from them: effect of the pause, waits
//! without an answer, read latency, throttling counters.

use super::SustainOptions;
use crate::judge::series::{PauseExperiment, SeriesCauses, SeriesFacts, SeriesSlice};
use cardscope_model::statistics::{median, quantile};
use cardscope_model::sustain::{
    EventKind, MeasuredRun, PauseRecovery, ReadLatency, RunPhase, SampleSeries, SustainEvent, SustainSample,
    WorkloadPattern,
};
use cardscope_model::units::{DecimalSize, WaitTime, mb_per_s};
use cardscope_sd::nvme::SmartLog;

/// Consecutive slow slices after which the effect of the pause is used up: a second.
const USED_UP_SLICES: usize = 4;

/// Time in seconds after which Linux resets a SCSI or USB disk (`/sys/block/*/device/timeout`).
const NO_ANSWER_S: f64 = 30.0;

/// A slice with its phase and direction.
#[derive(Debug, Clone)]
pub(super) struct RecordedSlice {
    pub(super) slice: SeriesSlice,
    pub(super) phase: RunPhase,
    pub(super) writes: bool,
}

#[derive(Debug, Default)]
pub(super) struct RunRecord {
    pub(super) slices: Vec<RecordedSlice>,
    /// I/Os in flight.
    pub(super) queue_depth: u32,
    /// Number of slices that are part of a sample.
    pub(super) sampled: usize,
    pub(super) samples: SampleSeries,
    pub(super) events: Vec<SustainEvent>,
    /// Latencies in seconds of small reads, without other I/O and during writes.
    pub(super) idle_read_s: Vec<f64>,
    pub(super) busy_read_s: Vec<f64>,
    /// Latency in µs of a small read during writes since the last sample.
    pub(super) busy_read_us: Option<f64>,
    pub(super) health: Option<(SmartLog, SmartLog)>,
    pub(super) ended_by: String,
    pub(super) left_out: Vec<String>,
    pub(super) pause_s: f64,
    /// Longest time without any answer.
    pub(super) longest_wait: Option<AnswerWait>,
    pub(super) experiment: Option<PauseExperiment>,
    pub(super) written: u64,
    pub(super) read: u64,
}

impl RunRecord {
    /// Slices of the workload so far.
    pub(super) fn main_slices(&self, writes: bool) -> Vec<SeriesSlice> {
        let main = self.slices.iter().filter(|t| t.phase == RunPhase::Main && t.writes == writes);
        main.map(|t| t.slice.clone()).collect()
    }

    /// Properties of the workload's writes or reads.
    pub(super) fn series_facts(&self, options: &SustainOptions, writes: bool) -> SeriesFacts {
        let at_once = match options.pattern {
            WorkloadPattern::Sequential => self.queue_depth,
            WorkloadPattern::Random => 1,
        };
        SeriesFacts { writes, tmt1_c: options.card_limits.tmt1_celsius, at_once }
    }

    /// True if no workload ran since the last sample.
    pub(super) fn is_sampled(&self) -> bool {
        self.slices[self.sampled..].iter().all(|taken| taken.slice.seconds == 0.0)
    }

    /// Completes a sample with the slices since the last one.
    pub(super) fn take_sample(&mut self, now: SustainSample) -> SustainSample {
        let new = &self.slices[self.sampled..];
        let us = |of: fn(&SeriesSlice) -> Option<f64>| {
            median(&new.iter().filter_map(|taken| of(&taken.slice)).map(|s| s * 1e6).collect::<Vec<_>>())
        };
        let speed = |writes: bool| {
            let slices = || new.iter().filter(|taken| taken.writes == writes).map(|taken| &taken.slice);
            let seconds: f64 = slices().map(|slice| slice.seconds).sum();
            (seconds > 0.0).then(|| mb_per_s(slices().map(|slice| slice.bytes).sum(), seconds))
        };
        let gaps = new.iter().flat_map(|taken| &taken.slice.gaps);
        let sample = SustainSample {
            write_mb_s: speed(true),
            read_mb_s: speed(false),
            read_us: us(|slice| slice.probe_s),
            read_while_writing_us: self.busy_read_us.take(),
            ping_us: us(|slice| slice.ping_s),
            longest_gap_s: gaps.map(|gap| gap.seconds).fold(0.0, f64::max),
            ..now
        };
        self.sampled = self.slices.len();
        sample
    }

    /// Slices of the workload after the pause.
    fn slices_after_pause(&self) -> impl Iterator<Item = &SeriesSlice> {
        self.slices.iter().filter(|t| t.phase == RunPhase::Again).map(|t| &t.slice)
    }

    /// Bytes that were fast again after the pause.
    pub(super) fn pause_recovery(&self, found: &SeriesCauses) -> Option<PauseRecovery> {
        let end = found.cache_ends.last()?;
        let again: Vec<&SeriesSlice> = self.slices_after_pause().collect();
        let (first, last) = (again.first()?, again.last()?);
        let middle = (end.before * end.after).sqrt();
        let slow = again.windows(USED_UP_SLICES).find(|w| w.iter().all(|s| s.speed() < middle));
        let end = slow.map_or(last.at_bytes + last.bytes, |w| w[0].at_bytes);
        let bytes = end - first.at_bytes;
        // The first slice after a pause may include the time in which the card wakes up, so the median is used.
        let speed = quantile(&again.iter().take(4).map(|s| s.speed()).collect::<Vec<_>>(), 0.5)?;
        let (pause_s, at_least, speed_mb_s) = (self.pause_s, slow.is_none(), speed / 1e6);
        let mb_s = bytes as f64 / 1e6 / pause_s.max(1e-9);
        Some(PauseRecovery { pause_s, bytes, at_least, mb_s, speed_mb_s })
    }

    /// Event at which the effect of the pause was used up.
    pub(super) fn recovery_end_event(&self, recovery: &PauseRecovery) -> Option<SustainEvent> {
        if recovery.at_least || recovery.bytes == 0 {
            return None;
        }
        let at_bytes = self.slices_after_pause().next()?.at_bytes + recovery.bytes;
        let at = self.slices_after_pause().find(|s| s.at_bytes >= at_bytes)?;
        let event = SustainEvent::new(EventKind::RecoveredUsedUp, at.at_s, at.at_bytes, 0.95);
        Some(event.because("freed", DecimalSize(recovery.bytes)))
    }

    /// Event of the longest wait, if hosts would have given up.
    pub(super) fn no_answer_event(&self) -> Option<SustainEvent> {
        let wait = self.longest_wait.filter(|wait| wait.seconds >= NO_ANSWER_S)?;
        let event = SustainEvent::new(EventKind::NoAnswer, wait.at_s, wait.at_bytes, 1.0);
        Some(event.because("length", WaitTime(wait.seconds)))
    }

    pub(super) fn read_latency(&self) -> ReadLatency {
        let us = |values: &[f64], q: f64| quantile(values, q).map(|s| s * 1e6);
        ReadLatency {
            alone_p50_us: us(&self.idle_read_s, 0.5),
            alone_p99_us: us(&self.idle_read_s, 0.99),
            writing_p50_us: us(&self.busy_read_s, 0.5),
            writing_p99_us: us(&self.busy_read_s, 0.99),
            writing_max_us: us(&self.busy_read_s, 1.0),
        }
    }

    /// Reports throttling that the card counted but that the speed does not show.
    pub(super) fn report_counted_throttling(&self, into: &mut MeasuredRun) {
        let Some((before, after)) = &self.health else { return };
        let sum = |(t1, t2): (u32, u32)| t1.saturating_add(t2);
        let counted = sum(transitions(after)).saturating_sub(sum(transitions(before)));
        if counted > 0 && into.throttling.is_none() {
            let text = format!("the card counted {counted} short throttling events without a slower level");
            into.left_out.push(text);
        }
    }
}

/// Transitions to T1 and T2 that the card has counted.
pub(super) fn transitions(log: &SmartLog) -> (u32, u32) {
    (log.thermal_management_t1_transitions, log.thermal_management_t2_transitions)
}

/// Time without an answer, and its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct AnswerWait {
    pub(super) at_s: f64,
    pub(super) at_bytes: u64,
    pub(super) seconds: f64,
}

/// Consecutive slices without a success.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct EmptySlices {
    pub(super) slices: u32,
    pub(super) seconds: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_sd::nvme::SmartLog;

    #[test]
    fn saturated_counters_do_not_overflow() {
        let new = SmartLog::decode(&[0; 512]).unwrap();
        let at_end = SmartLog {
            thermal_management_t1_transitions: u32::MAX,
            thermal_management_t2_transitions: 7,
            ..new.clone()
        };
        let record = RunRecord { health: Some((new, at_end)), ..RunRecord::default() };
        let mut into = MeasuredRun::default();
        record.report_counted_throttling(&mut into);
        assert!(into.left_out[0].contains(&u32::MAX.to_string()), "{:?}", into.left_out);
    }
}
