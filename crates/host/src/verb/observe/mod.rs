//! `observe`: watches a system in use, without I/O on the card, and finds its bottleneck.
//!
//! Counters come from `device::device_counters`, their evaluation from `judge`. Results are not written to the watched card
//! during the watch, but kept in memory until its end.

mod recording;
mod request;
mod sample;

pub use cardscope_device::device_counters::DeviceCounters;
pub use request::ObserveRequest;

use crate::judge::{WatchSide, bottleneck_finding, compare_watches, summarize_watch};
use cardscope_device::device_counters::{self, CounterSnapshot, DeviceWatcher};
use cardscope_device::system::SystemRoots;
use cardscope_engine::event::Listener;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::pending;
use cardscope_model::caveat::Caveat;
use cardscope_model::observe::{ObserveReport, ObserveResult, PartitionTraffic};
use cardscope_model::report::{Report, ReportHeader};
use cardscope_session::archive_access;
use cardscope_session::error::{Failure, Result};
use cardscope_session::frame::VerbOutcome;
use recording::WatchRecorder;
use request::WatchLength;
use std::time::{Duration, Instant};

/// Interval at which a wait checks the interrupt.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Shortest time for which the kernel's counters, which tick in hundredths of a second, give meaningful shares.
const SHORTEST_SAMPLE: Duration = Duration::from_millis(500);

/// Current counters of a device of this machine, without touching the device.
pub fn device_counters(name: &str) -> Option<DeviceCounters> {
    device_counters::counters_by_name(&SystemRoots::host(), name)
}

/// Watches a device and returns the report.
pub fn observe_device(
    request: &ObserveRequest,
    interrupt: &InterruptFlag,
    events: &mut dyn Listener,
) -> Result<VerbOutcome<ObserveReport>> {
    request.check()?;
    let system = request.machine.system()?;
    if !system.is_live() && request.length() != WatchLength::NoWatch {
        let why = "a recorded machine does not change over time; with --sysfs, give --from-boot";
        return Err(Failure::refused(why));
    }
    let watcher = DeviceWatcher::open(&system, &request.target).map_err(Failure::refused)?;
    let earlier = request.baseline.as_deref().map(|name| load_baseline(name, request)).transpose()?;
    let first = watcher.take_snapshot().map_err(Failure::refused)?;
    let mut report = new_report(request, &watcher, &first);
    let mut recorder = WatchRecorder::begin(request, &system, &mut report)?;
    let _owing = pending::register_cleanup("what was seen is summed up", "");
    let mut watch = DeviceWatch { watcher: &watcher, report: &mut report, recorder: &mut recorder };
    let failure = match request.length() {
        WatchLength::NoWatch => None,
        _ => watch.run_watch(request, interrupt, events).err(),
    };
    evaluate(&mut report, earlier.as_ref().map(|earlier| (earlier, request)));
    report.header.error = failure.as_ref().map(Failure::to_string);
    let not_stored = recorder.finish(&mut report, failure.as_ref()).err();
    Ok(VerbOutcome::from_report(report, failure.or(not_stored)))
}

/// Earlier watch to compare with.
fn load_baseline(name: &str, request: &ObserveRequest) -> Result<ObserveReport> {
    let report: ObserveReport = archive_access::load_baseline(name, request.archive.named_path(), "observe")?;
    match report.body.samples.is_empty() {
        true => Err(Failure::refused(format!("{name} has no watched time to compare with"))),
        false => Ok(report),
    }
}

fn new_report(request: &ObserveRequest, watcher: &DeviceWatcher, first: &CounterSnapshot) -> ObserveReport {
    let mut report = Report {
        header: ReportHeader { target: request.target.clone(), ..ReportHeader::default() },
        body: ObserveResult {
            device: watcher.disk(),
            began_uptime_seconds: first.uptime,
            every_seconds: request.every.as_secs_f64(),
            from_boot: request.from_boot.then(|| sample::sample_since_boot(first)),
            ..ObserveResult::default()
        },
    };
    if first.io_stall_us.is_none() {
        let text = "the kernel has no pressure information, so waits are estimated from blocked tasks; \
                    add psi=1 to the kernel command line";
        report.header.caveats.push(Caveat::from_text(text));
    }
    report
}

struct DeviceWatch<'a> {
    watcher: &'a DeviceWatcher,
    report: &'a mut ObserveReport,
    recorder: &'a mut WatchRecorder,
}

impl DeviceWatch<'_> {
    fn run_watch(
        &mut self,
        request: &ObserveRequest,
        interrupt: &InterruptFlag,
        events: &mut dyn Listener,
    ) -> Result<()> {
        // Opening the archive can take seconds on a busy disk. That traffic does not belong to the first sample.
        let first = self.watcher.take_snapshot().map_err(Failure::io)?;
        let began = Instant::now();
        self.report.body.began_uptime_seconds = first.uptime;
        let length = match request.length() {
            WatchLength::For(length) => Some(length),
            WatchLength::UntilStopped | WatchLength::NoWatch => None,
        };
        let what = format!("watching {}", request.target);
        events.begin_stage(&what, None, length.map(|length| length.as_secs_f64()));
        let mut last = (began, first.clone());
        loop {
            let next = last.0 + request.every;
            let end = length.map(|length| began + length);
            let waited = sleep_until(end.map_or(next, |end| next.min(end)), interrupt);
            // The last interval counts even if Ctrl-C cut it short.
            if !waited && last.0.elapsed() < SHORTEST_SAMPLE {
                return interrupted_result(length);
            }
            let next = self.watcher.take_snapshot().map_err(Failure::io)?;
            let now = Instant::now();
            let sample = sample::sample_between(&last.1, &next, now.duration_since(last.0).as_secs_f64());
            self.update_traffic(&first, &next);
            self.report.body.samples.push(sample);
            let moved = |snapshot: &CounterSnapshot| snapshot.device.read_bytes + snapshot.device.write_bytes;
            events.report_bytes(moved(&next).saturating_sub(moved(&first)));
            last = (now, next);
            if !waited {
                return interrupted_result(length);
            }
            self.recorder.store_if_due(self.report, events);
            if end.is_some_and(|end| now >= end) {
                return Ok(());
            }
        }
    }

    /// Updates the traffic of each partition since the start of the watch.
    fn update_traffic(&mut self, first: &CounterSnapshot, now: &CounterSnapshot) {
        let part = |(name, after): &(String, DeviceCounters)| {
            let before = first.partitions.iter().find(|(known, _)| known == name).map(|(_, c)| *c);
            let before = before.unwrap_or_default();
            PartitionTraffic {
                name: name.clone(),
                read_bytes: after.read_bytes.saturating_sub(before.read_bytes),
                write_bytes: after.write_bytes.saturating_sub(before.write_bytes),
            }
        };
        self.report.body.partitions = now.partitions.iter().map(part).collect();
    }
}

/// Result of an interrupted watch: a failure, unless the watch had no time limit.
fn interrupted_result(length: Option<Duration>) -> Result<()> {
    length.map_or(Ok(()), |_| Err(Failure::Interrupted))
}

/// Sleeps until then; returns false if interrupted.
fn sleep_until(until: Instant, interrupt: &InterruptFlag) -> bool {
    while !interrupt.is_raised() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(POLL_INTERVAL));
    }
    false
}

/// Adds summary, finding and comparison to the report.
fn evaluate(report: &mut ObserveReport, baseline: Option<(&ObserveReport, &ObserveRequest)>) {
    report.body.summary = summarize_watch(&report.body.samples, report.body.began_uptime_seconds);
    if let Some(summary) = &report.body.summary {
        report.header.findings.push(bottleneck_finding(&report.body.samples, summary));
    }
    let Some((baseline, request)) = baseline else { return };
    fn side(report: &ObserveReport) -> WatchSide<'_> {
        WatchSide { samples: &report.body.samples, began: report.body.began_uptime_seconds }
    }
    let name = request.baseline.as_deref().unwrap_or_default();
    match compare_watches(name, side(baseline), side(report)) {
        Some((comparison, findings)) => {
            report.body.comparison = Some(comparison);
            report.header.findings.extend(findings);
        }
        None => {
            let text = "the two watches do not overlap in time since boot, so they were not compared";
            report.header.caveats.push(Caveat::from_text(text));
        }
    }
}
