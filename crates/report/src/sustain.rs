//! `sustain` as text: what happened, in words and in order; then the picture of it, the levels, and what helps.

mod against;

use crate::bench;
use crate::figure::{duration, speed, time_us};
use crate::plot;
use crate::table::Table;
use cardscope_model::card_map::plot::{Axis, Plot, Scale, Series};
use cardscope_model::card_map::property::Status;
use cardscope_model::sustain::{Event, EventKind, Measured, Pattern, Sample, SustainReport, Work};
use cardscope_model::units::{BinarySize, Capacity, grouped};
use std::fmt::Write;

/// Events that are listed; of more the first and the last.
const LISTED: usize = 16;

/// Points of a line in the picture: its columns, twice.
const POINTS: usize = 120;

/// The report as people read it.
#[must_use]
pub fn text(report: &SustainReport) -> String {
    let mut out = format!("{}: {}\n\n", report.header.target, headline(report));
    events(&mut out, report);
    for picture in plots(&report.body.measured) {
        let _ = writeln!(out, "{}", plot::text(&picture));
    }
    levels(&mut out, report);
    facts(&mut out, report);
    if let Some(comparison) = &report.body.against {
        out += &against::text(comparison);
    }
    cost(&mut out, report);
    if !report.header.findings.is_empty() {
        let _ = write!(out, "\n{}", bench::findings(&report.header.findings));
    }
    for left_out in &report.body.measured.left_out {
        let _ = writeln!(out, "Left out: {left_out}.");
    }
    for caveat in &report.header.caveats {
        let _ = writeln!(out, "Mind: {caveat}.");
    }
    out
}

/// What there is to say in one line.
pub(crate) fn headline(report: &SustainReport) -> String {
    let measured = &report.body.measured;
    let mut causes = Vec::new();
    let gave_up =
        |e: &&Event| matches!(e.kind, EventKind::NoMoreWrites | EventKind::NoMoreReads | EventKind::NoAnswer);
    causes.extend(measured.events.iter().filter(gave_up).map(|e| match e.kind {
        EventKind::NoAnswer => "it gives no answer for very long".to_owned(),
        kind => format!("{} after {}", kind.words(), duration(e.at_s)),
    }));
    if measured.cache_bytes.status == Status::Measured {
        let gb = measured.cache_bytes.value.unwrap_or_default() as f64 / 1e9;
        let after = measured.after_cache_mb_s.value.unwrap_or_default();
        causes.push(format!("its fast cache ends after {gb:.1} GB, then {} MB/s", speed(after)));
    }
    if let Some(heat) = &measured.throttling {
        let at = heat.at_celsius.map(|c| format!(" at {c:.0} °C")).unwrap_or_default();
        causes.push(format!("heat slows it after {}{at}", duration(heat.after_s)));
    }
    if let Some(stalls) = &measured.stalls {
        causes.push(format!("it stalls, up to {}", duration(stalls.longest_s)));
    }
    if measured.interference.is_some() {
        causes.push("somebody else used the bus or this computer meanwhile".to_owned());
    }
    match (causes.is_empty(), measured.series.is_empty()) {
        (_, true) => "nothing was measured".to_owned(),
        (false, _) => causes.join("; "),
        (true, _) => "it keeps its speed, as long as was looked".to_owned(),
    }
}

fn events(out: &mut String, report: &SustainReport) {
    let all = &report.body.measured.events;
    if all.is_empty() {
        return;
    }
    let _ = writeln!(out, "What happened");
    let half = LISTED / 2;
    for (i, event) in all.iter().enumerate() {
        if all.len() > LISTED && (half..all.len() - half).contains(&i) {
            if i == half {
                let _ = writeln!(out, "  … {} more …", all.len() - LISTED);
            }
            continue;
        }
        let _ = writeln!(out, "{}", event_line(event));
    }
    let _ = writeln!(out);
}

fn event_line(event: &Event) -> String {
    let gb = event.at_bytes as f64 / 1e9;
    let evidence: Vec<String> =
        event.evidence.iter().map(|(what, value)| format!("{what} {value}")).collect();
    let evidence = if evidence.is_empty() { String::new() } else { format!(": {}", evidence.join(", ")) };
    let sure = match event.kind {
        EventKind::Pause | EventKind::TooHot | EventKind::NoAnswer => String::new(),
        _ => format!(" ({:.0} %)", event.confidence * 100.0),
    };
    format!("  {:>12}  {gb:>8.2} GB  {}{sure}{evidence}", duration(event.at_s), event.kind.words())
}

/// Speed and temperature over time; none where too little was measured to draw.
pub(crate) fn plots(measured: &Measured) -> Vec<Plot> {
    let series = &measured.series;
    if series.len() < 3 {
        return Vec::new();
    }
    let marks = |kinds: &[EventKind]| {
        let all = measured.events.iter().filter(|e| kinds.contains(&e.kind)).take(4);
        all.map(|e| (e.at_s, e.kind.words().to_owned())).collect::<Vec<_>>()
    };
    let named = |name: &str, of: &dyn Fn(&Sample) -> Option<f64>| Series {
        name: name.to_owned(),
        points: thinned(series, of),
    };
    let speeds = Plot {
        title: "Speed over time".to_owned(),
        x: Axis::new("time", "s", Scale::Linear),
        y: Axis::new("speed", "MB/s", Scale::Linear),
        series: some(vec![named("write", &|s| s.write_mb_s), named("read", &|s| s.read_mb_s)]),
        marks: marks(&[EventKind::CacheEnd, EventKind::Throttled, EventKind::Disturbed, EventKind::Pause]),
    };
    let mut places: Vec<&str> =
        series.iter().flat_map(|s| &s.temperatures).map(|r| r.place.as_str()).collect();
    places.sort_unstable();
    places.dedup();
    let of = |place: &str, s: &Sample| s.temperatures.iter().find(|r| r.place == place).map(|r| r.celsius);
    let lines = places.iter().take(6).map(|place| named(place, &|s| of(place, s))).collect();
    let warm = Plot {
        title: "Temperature over time".to_owned(),
        x: Axis::new("time", "s", Scale::Linear),
        y: Axis::new("temperature", "°C", Scale::Linear),
        series: some(lines),
        marks: marks(&[EventKind::Throttled, EventKind::TooHot]),
    };
    [speeds, warm].into_iter().filter(|plot| !plot.series.is_empty()).collect()
}

fn some(all: Vec<Series>) -> Vec<Series> {
    all.into_iter().filter(|s| !s.points.is_empty()).collect()
}

/// As many points as the picture has room for: means of neighbours.
fn thinned(series: &[Sample], of: &dyn Fn(&Sample) -> Option<f64>) -> Vec<(f64, f64)> {
    let each = series.len().div_ceil(POINTS).max(1);
    let mean = |part: &[Sample]| {
        let values: Vec<f64> = part.iter().filter_map(of).collect();
        let last = part.last()?;
        (!values.is_empty()).then(|| (last.at_s, values.iter().sum::<f64>() / values.len() as f64))
    };
    series.chunks(each).filter_map(mean).collect()
}

fn levels(out: &mut String, report: &SustainReport) {
    let all = &report.body.measured.levels;
    if all.is_empty() {
        return;
    }
    let mut table = Table::new(["level", "MB/s", "95 % interval", "from", "to", "GB", "state"]);
    for level in all.iter().take(LISTED) {
        table.row([
            level.op.clone(),
            speed(level.mb_s),
            format!("{} … {}", speed(level.ci95[0]), speed(level.ci95[1])),
            duration(level.from_s),
            duration(level.to_s),
            format!("{:.2}", level.bytes as f64 / 1e9),
            level.state.clone(),
        ]);
    }
    let _ = write!(out, "{table}");
    if all.len() > LISTED {
        let _ = writeln!(out, "… and {} more levels", all.len() - LISTED);
    }
    let _ = writeln!(out);
}

fn facts(out: &mut String, report: &SustainReport) {
    let measured = &report.body.measured;
    let mut line = |name: &str, value: String| {
        let _ = writeln!(out, "  {name:<26}{value}");
    };
    let cache = &measured.cache_bytes;
    match (cache.status, cache.value, cache.bound) {
        (Status::Measured, Some(bytes), _) => line("cache", format!("{:.2} GB", bytes as f64 / 1e9)),
        (Status::AtLeast, _, Some(bound)) => {
            line("cache", format!("no end within the {} bytes written", grouped(bound)));
        }
        (Status::None, ..) => line("cache", "none: the speed never fell".to_owned()),
        _ => {}
    }
    if let Some(recovery) = &measured.recovery {
        let least = if recovery.at_least { "at least " } else { "" };
        let gb = recovery.bytes as f64 / 1e9;
        let back = match recovery.bytes {
            0 => format!("nothing came back in {:.0} s", recovery.pause_s),
            _ => format!(
                "{least}{gb:.2} GB fast again after {:.0} s: {:.1} MB/s",
                recovery.pause_s, recovery.mb_s
            ),
        };
        line("after a pause", back);
    }
    if let Some(steady) = &measured.steady_state {
        let words = if steady.reached { "reached" } else { "not reached" };
        line(
            "steady state (SNIA)",
            format!(
                "{words}: {} MB/s, spread {:.1} %, rise {:+.1} % over five rounds of {}",
                speed(steady.mb_s),
                steady.spread * 100.0,
                // Rounded first, so that a little less than nothing is no "-0.0".
                (steady.slope * 1000.0).round() / 10.0 + 0.0,
                duration(steady.round_s)
            ),
        );
    }
    let latency = &measured.read_latency;
    if let (Some(p50), Some(p99)) = (latency.alone_p50_us, latency.alone_p99_us) {
        line("4 KiB read, alone", format!("{} median, {} for 99 %", time_us(p50), time_us(p99)));
    }
    if let (Some(p50), Some(p99), Some(max)) =
        (latency.writing_p50_us, latency.writing_p99_us, latency.writing_max_us)
    {
        let all = format!("{} median, {} for 99 %, {} at worst", time_us(p50), time_us(p99), time_us(max));
        line("4 KiB read, while writing", all);
    }
    if let Some(warmest) = measured.max_celsius {
        line("warmest", format!("{warmest:.0} °C{}", limits(report)));
    }
    line("ended by", measured.ended_by.clone());
}

/// The card's own limits, for the line of its temperature.
fn limits(report: &SustainReport) -> String {
    let limits = &report.body.measured.limits;
    let named =
        [("TMT1", limits.tmt1_celsius), ("TMT2", limits.tmt2_celsius), ("TMPTH", limits.tmpth_celsius)];
    let known: Vec<String> =
        named.iter().filter_map(|(name, value)| value.map(|c| format!("{name} {c:.0} °C"))).collect();
    if known.is_empty() { String::new() } else { format!(" ({})", known.join(", ")) }
}

fn cost(out: &mut String, report: &SustainReport) {
    let pattern = match report.body.pattern {
        Pattern::Sequential => "in order",
        Pattern::Random => "at random",
    };
    let work = match report.body.work {
        Work::Read => "read",
        Work::Write => "written",
        Work::Mixed => "written and read in turn",
    };
    let _ = writeln!(
        out,
        "\n{} blocks {work} {pattern}, {} in flight, over {} from {} on; {} bytes written, {} read in {}",
        BinarySize(report.body.block_bytes),
        report.body.queue_depth,
        Capacity(report.body.region_bytes),
        report.body.region_start,
        grouped(report.body.moved.bytes_written),
        grouped(report.body.moved.bytes_read),
        duration(report.body.moved.seconds)
    );
    if let Some(session) = &report.header.session {
        let _ = writeln!(out, "Kept as {session}.");
    }
}

#[cfg(test)]
mod tests;
