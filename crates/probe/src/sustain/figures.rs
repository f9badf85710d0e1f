//! Figures beside the levels: what a pause gave back, waits without an answer, read latency, and whether the
//! card's counters agree.

use super::run::Record;
use cardscope_analysis::series::{Causes, Slice};
use cardscope_model::statistics::quantile;
use cardscope_model::sustain::{Event, EventKind, Measured, Phase, ReadLatency, Recovery};

/// Slices below the middle of fast and slow, after which what a pause gave back is used up: a second.
const USED_UP: usize = 4;

/// Linux gives a SCSI or USB disk so long to answer before it resets it, in seconds (`/sys/block/*/device/timeout`).
const NO_ANSWER_S: f64 = 30.0;

/// What the pause gave back: bytes that were fast again.
pub(super) fn recovery(record: &Record, found: &Causes) -> Option<Recovery> {
    let end = found.cache_ends.last()?;
    let again: Vec<&Slice> =
        record.taken.iter().filter(|t| t.phase == Phase::Again).map(|t| &t.slice).collect();
    let (first, last) = (again.first()?, again.last()?);
    let middle = (end.before * end.after).sqrt();
    let used_up = again.windows(USED_UP).find(|w| w.iter().all(|s| s.speed() < middle)).map(|w| w[0]);
    let at = used_up.map_or(last.at_bytes + last.bytes, |s| s.at_bytes);
    let bytes = at - first.at_bytes;
    // The first slice after a pause may hold the time in which the card wakes up.
    let speeds: Vec<f64> = again.iter().take(4).map(|s| s.speed()).collect();
    let speed = quantile(&speeds, 0.5)?;
    Some(Recovery {
        pause_s: record.pause_s,
        bytes,
        at_least: used_up.is_none(),
        mb_s: bytes as f64 / 1e6 / record.pause_s.max(1e-9),
        speed_mb_s: speed / 1e6,
    })
}

/// When what the pause gave back was used up again.
pub(super) fn used_up(record: &Record, recovery: &Recovery) -> Option<Event> {
    if recovery.at_least || recovery.bytes == 0 {
        return None;
    }
    let again = || record.taken.iter().filter(|t| t.phase == Phase::Again).map(|t| &t.slice);
    let at_bytes = again().next()?.at_bytes + recovery.bytes;
    let at = again().find(|s| s.at_bytes >= at_bytes)?;
    let event = Event::new(EventKind::RecoveredUsedUp, at.at_s, at.at_bytes, 0.95);
    Some(event.because("bytes", recovery.bytes))
}

/// The longest wait, where a host would have given up.
pub(super) fn no_answer(record: &Record) -> Option<Event> {
    let wait = record.longest_wait.filter(|wait| wait.seconds >= NO_ANSWER_S)?;
    let event = Event::new(EventKind::NoAnswer, wait.at_s, wait.at_bytes, 1.0);
    Some(event.because("length", format!("{:.0} s", wait.seconds)))
}

pub(super) fn read_latency(record: &Record) -> ReadLatency {
    let us = |values: &[f64], q: f64| quantile(values, q).map(|s| s * 1e6);
    ReadLatency {
        alone_p50_us: us(&record.alone, 0.5),
        alone_p99_us: us(&record.alone, 0.99),
        writing_p50_us: us(&record.among, 0.5),
        writing_p99_us: us(&record.among, 0.99),
        writing_max_us: us(&record.among, 1.0),
    }
}

/// The card's counters and the timing may disagree; then both are said.
pub(super) fn findings_of_health(record: &Record, into: &mut Measured) {
    let Some((before, after)) = &record.health else { return };
    let transitions = |h: &cardscope_sd::nvme::SmartLog| {
        h.thermal_management_t1_transitions.saturating_add(h.thermal_management_t2_transitions)
    };
    let counted = transitions(after).saturating_sub(transitions(before));
    if counted > 0 && into.throttling.is_none() {
        into.left_out.push(format!(
            "the card counted {counted} beginnings of throttling, but no slower level shows: they were short"
        ));
    }
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
        findings_of_health(&record, &mut into);
        assert!(into.left_out[0].contains(&u32::MAX.to_string()), "{:?}", into.left_out);
    }
}
