//! What a run leaves: its slices, samples and events, from which everything is concluded; and the figures that follow
//! from them without any levels: what a pause gave back, waits without an answer, read latency, and whether the card's
//! counters agree.

use super::options::SustainOptions;
use crate::judge::series::{PauseExperiment, SeriesCauses, SeriesFacts, SeriesSlice};
use cardscope_model::statistics::{median, quantile};
use cardscope_model::sustain::{
    EventKind, MeasuredRun, PauseRecovery, ReadLatency, RunPhase, SampleSeries, SustainEvent, SustainSample,
    WorkloadPattern,
};
use cardscope_model::units::{self, DecimalSize, mb_per_s};
use cardscope_sd::nvme::SmartLog;

/// Slices below the middle of fast and slow, after which what a pause gave back is used up: a second.
const USED_UP: usize = 4;

/// Linux gives a SCSI or USB disk so long to answer before it resets it, in seconds (`/sys/block/*/device/timeout`).
const NO_ANSWER_S: f64 = 30.0;

/// A slice, and what the run was at.
#[derive(Debug, Clone)]
pub(super) struct RecordedSlice {
    pub(super) slice: SeriesSlice,
    pub(super) phase: RunPhase,
    pub(super) writes: bool,
}

/// All that a run leaves.
#[derive(Debug, Default)]
pub(super) struct RunRecord {
    pub(super) taken: Vec<RecordedSlice>,
    /// I/Os in flight at a time.
    pub(super) queue_depth: u32,
    /// Slices that are in a sample already.
    sampled: usize,
    pub(super) samples: SampleSeries,
    pub(super) events: Vec<SustainEvent>,
    /// Small reads with nothing else under way, in seconds; those under writes.
    pub(super) alone: Vec<f64>,
    pub(super) among: Vec<f64>,
    /// A small read with writes under way since the last sample, in µs.
    pub(super) among_us: Option<f64>,
    pub(super) health: Option<(SmartLog, SmartLog)>,
    pub(super) ended_by: String,
    pub(super) left_out: Vec<String>,
    pub(super) pause_s: f64,
    /// Longest time in which the card answered nothing that it was asked.
    pub(super) longest_wait: Option<AnswerWait>,
    pub(super) experiment: Option<PauseExperiment>,
    pub(super) written: u64,
    pub(super) read: u64,
}

impl RunRecord {
    /// Nothing so far, of so many I/Os in flight.
    pub(super) fn with(queue_depth: u32) -> RunRecord {
        RunRecord { queue_depth, ..RunRecord::default() }
    }

    /// What is known of the workload's writes or reads beside their slices.
    pub(super) fn known(&self, options: &SustainOptions, writes: bool) -> SeriesFacts {
        let at_once = match options.pattern {
            WorkloadPattern::Sequential => self.queue_depth,
            WorkloadPattern::Random => 1,
        };
        SeriesFacts { writes, tmt1_c: options.card_limits.tmt1_celsius, at_once }
    }

    /// Whether no time of the workload has passed since the last sample.
    pub(super) fn is_sampled(&self) -> bool {
        self.taken[self.sampled..].iter().all(|taken| taken.slice.seconds == 0.0)
    }

    /// The sample of a second, of which `now` has what is known without the slices since the last one.
    pub(super) fn sample(&mut self, now: SustainSample) -> SustainSample {
        let new = &self.taken[self.sampled..];
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
            read_while_writing_us: self.among_us.take(),
            ping_us: us(|slice| slice.ping_s),
            longest_gap_s: gaps.map(|gap| gap.seconds).fold(0.0, f64::max),
            ..now
        };
        self.sampled = self.taken.len();
        sample
    }

    /// Slices of the workload after the pause.
    fn again(&self) -> impl Iterator<Item = &SeriesSlice> {
        self.taken.iter().filter(|t| t.phase == RunPhase::Again).map(|t| &t.slice)
    }

    /// What the pause gave back: bytes that were fast again.
    pub(super) fn recovery(&self, found: &SeriesCauses) -> Option<PauseRecovery> {
        let end = found.cache_ends.last()?;
        let again: Vec<&SeriesSlice> = self.again().collect();
        let (first, last) = (again.first()?, again.last()?);
        let middle = (end.before * end.after).sqrt();
        let used_up = again.windows(USED_UP).find(|w| w.iter().all(|s| s.speed() < middle)).map(|w| w[0]);
        let at = used_up.map_or(last.at_bytes + last.bytes, |s| s.at_bytes);
        let bytes = at - first.at_bytes;
        // The first slice after a pause may hold the time in which the card wakes up.
        let speeds: Vec<f64> = again.iter().take(4).map(|s| s.speed()).collect();
        let speed = quantile(&speeds, 0.5)?;
        Some(PauseRecovery {
            pause_s: self.pause_s,
            bytes,
            at_least: used_up.is_none(),
            mb_s: bytes as f64 / 1e6 / self.pause_s.max(1e-9),
            speed_mb_s: speed / 1e6,
        })
    }

    /// When what the pause gave back was used up again.
    pub(super) fn used_up(&self, recovery: &PauseRecovery) -> Option<SustainEvent> {
        if recovery.at_least || recovery.bytes == 0 {
            return None;
        }
        let at_bytes = self.again().next()?.at_bytes + recovery.bytes;
        let at = self.again().find(|s| s.at_bytes >= at_bytes)?;
        let event = SustainEvent::new(EventKind::RecoveredUsedUp, at.at_s, at.at_bytes, 0.95);
        Some(event.because("freed", DecimalSize(recovery.bytes)))
    }

    /// The longest wait, where a host would have given up.
    pub(super) fn no_answer(&self) -> Option<SustainEvent> {
        let wait = self.longest_wait.filter(|wait| wait.seconds >= NO_ANSWER_S)?;
        let event = SustainEvent::new(EventKind::NoAnswer, wait.at_s, wait.at_bytes, 1.0);
        Some(event.because("length", units::WaitTime(wait.seconds)))
    }

    pub(super) fn read_latency(&self) -> ReadLatency {
        let us = |values: &[f64], q: f64| quantile(values, q).map(|s| s * 1e6);
        ReadLatency {
            alone_p50_us: us(&self.alone, 0.5),
            alone_p99_us: us(&self.alone, 0.99),
            writing_p50_us: us(&self.among, 0.5),
            writing_p99_us: us(&self.among, 0.99),
            writing_max_us: us(&self.among, 1.0),
        }
    }

    /// The card's counters and the timing may disagree; then both are said.
    pub(super) fn findings_of_health(&self, into: &mut MeasuredRun) {
        let Some((before, after)) = &self.health else { return };
        let transitions = |h: &cardscope_sd::nvme::SmartLog| {
            h.thermal_management_t1_transitions.saturating_add(h.thermal_management_t2_transitions)
        };
        let counted = transitions(after).saturating_sub(transitions(before));
        if counted > 0 && into.throttling.is_none() {
            into.left_out
                .push(format!("the card counted {counted} short throttling events without a slower level"));
        }
    }
}

/// A time without an answer, and when it was over.
#[derive(Debug, Clone, Copy)]
pub(super) struct AnswerWait {
    pub(super) at_s: f64,
    pub(super) at_bytes: u64,
    pub(super) seconds: f64,
}

/// Slices in a row in which nothing of a kind succeeded, and how long they took.
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
    fn counters_of_a_device_that_are_at_their_end_break_nothing() {
        let new = SmartLog::decode(&[0; 512]).unwrap();
        let at_end = SmartLog {
            thermal_management_t1_transitions: u32::MAX,
            thermal_management_t2_transitions: 7,
            ..new.clone()
        };
        let record = RunRecord { health: Some((new, at_end)), ..RunRecord::default() };
        let mut into = MeasuredRun::default();
        record.findings_of_health(&mut into);
        assert!(into.left_out[0].contains(&u32::MAX.to_string()), "{:?}", into.left_out);
    }
}
