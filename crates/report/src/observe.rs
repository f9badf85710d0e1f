//! `observe` as text: what the system waited for, the figures of the watch, its course in one line each, and the
//! earlier watch beside it.

use crate::bench;
use crate::figure::{duration, speed};
use crate::table::Table;
use cardscope_model::observe::{
    ComparedFigure, ObserveComparison, ObserveReport, ObserveSample, ObserveSummary, SettledStatus,
};
use cardscope_model::units::mb_per_s;
use std::fmt::Write;

/// Columns of a course.
const COLUMNS: usize = 60;

/// From nothing to all.
const STEPS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The report as people read it.
#[must_use]
pub fn text(report: &ObserveReport) -> String {
    let mut out = String::new();
    if let Some(summary) = &report.body.summary {
        let _ =
            writeln!(out, "{}: the system waited for {}\n", report.header.target, summary.bottleneck.word());
        figures(&mut out, summary);
        course(&mut out, &report.body.samples);
        partitions(&mut out, report);
    } else {
        let _ = writeln!(out, "{}: watched nothing", report.header.target);
    }
    if let Some(boot) = &report.body.from_boot {
        since_boot(&mut out, boot);
    }
    if let Some(comparison) = &report.body.comparison {
        compared(&mut out, comparison);
    }
    if !report.header.findings.is_empty() {
        let _ = write!(out, "\n{}", bench::findings(&report.header.findings));
    }
    for caveat in &report.header.caveats {
        let _ = writeln!(out, "Note: {caveat}.");
    }
    if let Some(error) = &report.header.error {
        let _ = writeln!(out, "Ended early: {error}");
    }
    out
}

fn line(out: &mut String, name: &str, value: impl std::fmt::Display) {
    let _ = writeln!(out, "  {name:<28}{value}");
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn known(share: Option<f64>, show: impl Fn(f64) -> String) -> String {
    share.map_or_else(|| "unknown".to_owned(), show)
}

fn figures(out: &mut String, s: &ObserveSummary) {
    line(out, "watched", duration(s.seconds));
    line(out, "calm", settled(s));
    line(out, "not calm for", duration(s.loaded_seconds));
    let traffic = |ios: u64, bytes: u64| {
        format!("{ios} I/Os, {} ({} MB/s)", megabytes(bytes), speed(mb_per_s(bytes, s.seconds)))
    };
    line(out, "read", traffic(s.reads, s.read_bytes));
    line(out, "written", traffic(s.writes, s.write_bytes));
    line(out, "mean time of an I/O", known(s.wait_ms, |ms| format!("{ms:.2} ms")));
    line(out, "I/Os of 16 KiB or less", known(s.small_share, percent));
    line(out, "device at work", percent(s.utilisation));
    line(out, "most I/Os under way", format!("{:.1}", s.queue_max));
    line(out, "some tasks waited for I/O", known(s.io_some_seconds, duration));
    line(out, "all tasks waited for I/O", known(s.io_full_seconds, duration));
    line(out, "processors at work", known(s.cpu_busy, percent));
    line(out, "processors idle for I/O", known(s.iowait, percent));
    if s.swap_bytes.is_some_and(|bytes| bytes > 0) {
        line(out, "swapped", megabytes(s.swap_bytes.unwrap_or_default()));
    }
}

fn settled(s: &ObserveSummary) -> String {
    let at = duration(s.settled.seconds());
    match s.settled.status {
        SettledStatus::Measured => format!("from {at} after boot on"),
        SettledStatus::AtLeast => format!("not for half a minute until {at} after boot"),
        SettledStatus::AtMost => format!("from the first look on, {at} after boot"),
    }
}

/// One line each for what went on, from the beginning to the end.
fn course(out: &mut String, samples: &[ObserveSample]) {
    let _ = writeln!(out);
    row(out, "device at work", samples, |s| Some(s.utilisation));
    row(out, "tasks waiting for I/O", samples, |s| s.io_some);
    row(out, "processors at work", samples, |s| s.cpu_busy);
}

fn row(out: &mut String, name: &str, samples: &[ObserveSample], of: impl Fn(&ObserveSample) -> Option<f64>) {
    let columns = COLUMNS.min(samples.len());
    let mut drawn = String::new();
    for column in 0..columns {
        let (from, to) = (column * samples.len() / columns, (column + 1) * samples.len() / columns);
        let values: Vec<f64> = samples[from..to].iter().filter_map(&of).collect();
        if values.is_empty() {
            return;
        }
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        drawn.push(STEPS[(mean.clamp(0.0, 1.0) * 8.0).round() as usize]);
    }
    line(out, name, format!("|{drawn}|"));
}

fn partitions(out: &mut String, report: &ObserveReport) {
    let moved = report.body.partitions.iter().filter(|p| p.read_bytes + p.write_bytes > 0);
    for part in moved {
        let value = format!("{} read, {} written", megabytes(part.read_bytes), megabytes(part.write_bytes));
        line(out, &part.name, value);
    }
}

fn since_boot(out: &mut String, s: &ObserveSample) {
    let _ =
        writeln!(out, "\nSince boot, {} ago (the device's own figures: since it came):", duration(s.seconds));
    line(out, "read", format!("{} I/Os, {}", s.reads, megabytes(s.read_bytes)));
    line(out, "written", format!("{} I/Os, {}", s.writes, megabytes(s.write_bytes)));
    line(out, "mean time of an I/O", known(s.wait_ms, |ms| format!("{ms:.2} ms")));
    line(out, "mean size of an I/O", known(s.mean_io_bytes(), |b| format!("{:.1} KiB", b / 1024.0)));
    line(out, "device at work", percent(s.utilisation));
    line(out, "some tasks waited for I/O", known(s.io_some, |share| duration(share * s.seconds)));
    line(out, "all tasks waited for I/O", known(s.io_full, |share| duration(share * s.seconds)));
    line(out, "processors at work", known(s.cpu_busy, percent));
}

fn compared(out: &mut String, c: &ObserveComparison) {
    let by = if c.since_boot { "by the time since boot" } else { "by the time since each watch began" };
    let _ = writeln!(
        out,
        "\nAgainst {}, {} of both, laid over each other {by}:",
        c.against,
        duration(c.span_seconds)
    );
    let mut table = Table::new(["", "before", "now"]);
    for ComparedFigure { what, unit, before, now } in &c.figures {
        let value = |value: &Option<f64>| value.map_or_else(|| "unknown".to_owned(), |v| figure(v, unit));
        table.row([what.clone(), value(before), value(now)]);
    }
    let _ = write!(out, "{table}");
}

fn figure(value: f64, unit: &str) -> String {
    match unit {
        "" => format!("{value:.0}"),
        unit => format!("{value:.1} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::observe::Observation;
    use cardscope_model::observe::{Bottleneck, Settled};
    use cardscope_model::report::{Header, Report};

    fn second(utilisation: f64) -> ObserveSample {
        ObserveSample {
            seconds: 1.0,
            utilisation,
            io_some: Some(utilisation / 2.0),
            ..ObserveSample::default()
        }
    }

    #[test]
    fn a_watch_is_told_with_its_verdict_first_and_its_course_in_one_line_each() {
        let summary = ObserveSummary {
            seconds: 90.0,
            reads: 21_000,
            writes: 4_000,
            read_bytes: 430_080_000,
            write_bytes: 16_384_000,
            wait_ms: Some(3.456),
            small_share: Some(0.91),
            utilisation: 0.62,
            queue_max: 7.4,
            io_some_seconds: Some(48.2),
            io_full_seconds: Some(12.0),
            cpu_busy: Some(0.2),
            iowait: None,
            swap_bytes: Some(0),
            loaded_seconds: 55.0,
            settled: Settled {
                status: SettledStatus::Measured,
                uptime_seconds: Some(612.0),
                bound_seconds: None,
            },
            bottleneck: Bottleneck::Card,
        };
        let report = Report {
            header: Header { target: "/dev/mmcblk0".into(), ..Header::default() },
            body: Observation {
                samples: [1.0, 0.5, 0.0].map(second).to_vec(),
                summary: Some(summary),
                ..Observation::default()
            },
        };
        let text = text(&report);
        assert!(text.starts_with("/dev/mmcblk0: the system waited for the card\n"), "{text}");
        for part in ["from 10 min 12 s after boot on", "430.1 MB (4.779 MB/s)", "3.46 ms", "|█▄ |", "|▄▂ |"]
        {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(!text.contains("swapped"), "{text}");
    }

    #[test]
    fn a_document_without_a_watch_is_told_as_one() {
        let report = Report {
            header: Header { target: "sda".into(), ..Header::default() },
            body: Observation::default(),
        };
        assert_eq!(text(&report), "sda: watched nothing\n");
    }
}
