//! What a run leaves: its slices, samples and events, from which everything is concluded; and the figures that follow
//! from them without any levels: what a pause gave back, waits without an answer, read latency, and whether the card's
//! counters agree.

use super::options::Options;
use crate::judge::series::{Causes, Experiment, Known, Slice};
use cardscope_model::statistics::{median, quantile};
use cardscope_model::sustain::{
    Event, EventKind, Measured, Pattern, Phase, ReadLatency, Recovery, Sample, Samples,
};
use cardscope_model::units::{self, Size, mb_per_s};
use cardscope_sd::nvme::SmartLog;

/// Slices below the middle of fast and slow, after which what a pause gave back is used up: a second.
const USED_UP: usize = 4;

/// Linux gives a SCSI or USB disk so long to answer before it resets it, in seconds (`/sys/block/*/device/timeout`).
const NO_ANSWER_S: f64 = 30.0;

/// A slice, and what the run was at.
#[derive(Debug, Clone)]
pub(super) struct Taken {
    pub(super) slice: Slice,
    pub(super) phase: Phase,
    pub(super) writes: bool,
}

/// All that a run leaves.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) taken: Vec<Taken>,
    /// I/Os in flight at a time.
    pub(super) queue_depth: u32,
    /// Slices that are in a sample already.
    sampled: usize,
    pub(super) samples: Samples,
    pub(super) events: Vec<Event>,
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
    pub(super) longest_wait: Option<Wait>,
    pub(super) experiment: Option<Experiment>,
    pub(super) written: u64,
    pub(super) read: u64,
}

impl Record {
    /// Nothing so far, of so many I/Os in flight.
    pub(super) fn with(queue_depth: u32) -> Record {
        Record { queue_depth, ..Record::default() }
    }

    /// What is known of the workload's writes or reads beside their slices.
    pub(super) fn known(&self, options: &Options, writes: bool) -> Known {
        let at_once = match options.pattern {
            Pattern::Sequential => self.queue_depth,
            Pattern::Random => 1,
        };
        Known { writes, tmt1_c: options.card_limits.tmt1_celsius, at_once }
    }

    /// Whether no time of the workload has passed since the last sample.
    pub(super) fn is_sampled(&self) -> bool {
        self.taken[self.sampled..].iter().all(|taken| taken.slice.seconds == 0.0)
    }

    /// The sample of a second, of which `now` has what is known without the slices since the last one.
    pub(super) fn sample(&mut self, now: Sample) -> Sample {
        let new = &self.taken[self.sampled..];
        let us = |of: fn(&Slice) -> Option<f64>| {
            median(&new.iter().filter_map(|taken| of(&taken.slice)).map(|s| s * 1e6).collect::<Vec<_>>())
        };
        let speed = |writes: bool| {
            let slices = || new.iter().filter(|taken| taken.writes == writes).map(|taken| &taken.slice);
            let seconds: f64 = slices().map(|slice| slice.seconds).sum();
            (seconds > 0.0).then(|| mb_per_s(slices().map(|slice| slice.bytes).sum(), seconds))
        };
        let gaps = new.iter().flat_map(|taken| &taken.slice.gaps);
        let sample = Sample {
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
    fn again(&self) -> impl Iterator<Item = &Slice> {
        self.taken.iter().filter(|t| t.phase == Phase::Again).map(|t| &t.slice)
    }

    /// What the pause gave back: bytes that were fast again.
    pub(super) fn recovery(&self, found: &Causes) -> Option<Recovery> {
        let end = found.cache_ends.last()?;
        let again: Vec<&Slice> = self.again().collect();
        let (first, last) = (again.first()?, again.last()?);
        let middle = (end.before * end.after).sqrt();
        let used_up = again.windows(USED_UP).find(|w| w.iter().all(|s| s.speed() < middle)).map(|w| w[0]);
        let at = used_up.map_or(last.at_bytes + last.bytes, |s| s.at_bytes);
        let bytes = at - first.at_bytes;
        // The first slice after a pause may hold the time in which the card wakes up.
        let speeds: Vec<f64> = again.iter().take(4).map(|s| s.speed()).collect();
        let speed = quantile(&speeds, 0.5)?;
        Some(Recovery {
            pause_s: self.pause_s,
            bytes,
            at_least: used_up.is_none(),
            mb_s: bytes as f64 / 1e6 / self.pause_s.max(1e-9),
            speed_mb_s: speed / 1e6,
        })
    }

    /// When what the pause gave back was used up again.
    pub(super) fn used_up(&self, recovery: &Recovery) -> Option<Event> {
        if recovery.at_least || recovery.bytes == 0 {
            return None;
        }
        let at_bytes = self.again().next()?.at_bytes + recovery.bytes;
        let at = self.again().find(|s| s.at_bytes >= at_bytes)?;
        let event = Event::new(EventKind::RecoveredUsedUp, at.at_s, at.at_bytes, 0.95);
        Some(event.because("freed", Size(recovery.bytes)))
    }

    /// The longest wait, where a host would have given up.
    pub(super) fn no_answer(&self) -> Option<Event> {
        let wait = self.longest_wait.filter(|wait| wait.seconds >= NO_ANSWER_S)?;
        let event = Event::new(EventKind::NoAnswer, wait.at_s, wait.at_bytes, 1.0);
        Some(event.because("length", units::Wait(wait.seconds)))
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
    pub(super) fn findings_of_health(&self, into: &mut Measured) {
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
pub(super) struct Wait {
    pub(super) at_s: f64,
    pub(super) at_bytes: u64,
    pub(super) seconds: f64,
}

/// Slices in a row in which nothing of a kind succeeded, and how long they took.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Empty {
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
        let record = Record { health: Some((new, at_end)), ..Record::default() };
        let mut into = Measured::default();
        record.findings_of_health(&mut into);
        assert!(into.left_out[0].contains(&u32::MAX.to_string()), "{:?}", into.left_out);
    }
}
