//! Page of `observe`: the bottleneck, the figures of the watch, a sparkline of each load, and the comparison with an
//! earlier watch.

use cardscope_model::observe::{
    ObserveComparison, ObserveReport, ObserveResult, ObserveSample, ObserveSummary, PartitionTraffic,
    SettledStatus, SystemBottleneck,
};
use cardscope_model::report::NewsTone;
use cardscope_model::statistics;
use cardscope_model::units::{DecimalSize, SpeedMbS, mb_per_s};
use cardscope_page::figure::{duration, time_us};
use cardscope_page::tree::table::Table;
use cardscope_page::tree::{Page, PageBlock, PageFact, fact};

/// Most columns of a sparkline.
const COLUMNS: usize = 60;

/// Characters of a sparkline, from 0 to 1.
const STEPS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

pub fn page(report: &ObserveReport) -> Page {
    let body = &report.body;
    let mut page = Page::new(&report.header.target, NewsTone::Plain, answer_line(&report.body));
    if let Some(summary) = &body.summary {
        page.add_section("", [PageBlock::Facts(watch_facts(summary, &body.samples))]);
        let facts = [sparkline_facts(&body.samples), partition_facts(report)];
        page.add_section("", facts.map(PageBlock::Facts));
    }
    if let Some(boot) = &body.from_boot {
        let ago = duration(boot.seconds);
        let head = format!("Since boot, {ago} ago (the device's own figures: since it came)");
        page.add_section(&head, [PageBlock::Facts(since_boot_facts(boot))]);
    }
    if let Some(comparison) = &body.comparison {
        add_comparison(&mut page, comparison);
    }
    page.with_frame(&report.header)
}

/// Load and traffic of the device, and the bottleneck.
fn answer_line(body: &ObserveResult) -> String {
    let seen = |busy: f64, read: u64, written: u64| {
        let moved = [("read", read), ("wrote", written)].into_iter().filter(|(_, bytes)| *bytes > 0);
        let moved = moved.map(|(verb, bytes)| format!("{verb} {}", DecimalSize(bytes)));
        let moved: Vec<String> = moved.collect();
        let moved = if moved.is_empty() { "no I/O".to_owned() } else { moved.join(", ") };
        format!("Busy {}, {moved}", percent(busy))
    };
    match (&body.summary, &body.from_boot) {
        (Some(s), _) => {
            let waited = match s.bottleneck {
                SystemBottleneck::Nothing if s.loaded_seconds > 0.0 => "too few waits to name a cause",
                SystemBottleneck::Nothing => "the system was idle",
                SystemBottleneck::Mixed => "waits have no single cause",
                cause => &format!("the system waited for {}", cause.word()),
            };
            format!("{}; {waited}.", seen(s.utilisation, s.read_bytes, s.write_bytes))
        }
        (None, Some(boot)) => {
            let seen = seen(boot.utilisation, boot.read_bytes, boot.write_bytes);
            format!("{seen} since boot, {} ago.", duration(boot.seconds))
        }
        (None, None) => "Nothing was watched.".to_owned(),
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn or_unknown(share: Option<f64>, show: impl Fn(f64) -> String) -> String {
    share.map_or_else(|| "unknown".to_owned(), show)
}

fn watch_facts(s: &ObserveSummary, samples: &[ObserveSample]) -> Vec<PageFact> {
    let traffic = |ios: u64, bytes: u64| {
        format!("{ios} I/Os, {} ({})", DecimalSize(bytes), SpeedMbS(mb_per_s(bytes, s.seconds)))
    };
    let slowest = samples.iter().filter_map(|sample| sample.wait_ms).reduce(f64::max);
    let mut facts = vec![
        fact("watched", duration(s.seconds)),
        fact("at rest from", idle_text(s)),
        fact("busy for", duration(s.loaded_seconds)),
        fact("read", traffic(s.reads, s.read_bytes)),
        fact("written", traffic(s.writes, s.write_bytes)),
        fact("mean time of an I/O", or_unknown(s.wait_ms, |ms| format!("{ms:.2} ms"))),
        fact("slowest moment", or_unknown(slowest, |ms| format!("{} an I/O", time_us(ms * 1e3)))),
        fact("I/Os of 16 KiB or less", or_unknown(s.small_share, percent)),
        fact("device at work", percent(s.utilisation)),
        fact("most I/Os under way", format!("{:.1}", s.queue_max)),
        fact("some tasks waited for I/O", or_unknown(s.io_some_seconds, duration)),
        fact("all tasks waited for I/O", or_unknown(s.io_full_seconds, duration)),
        fact("processors at work", or_unknown(s.cpu_busy, percent)),
        fact("processors idle for I/O", or_unknown(s.iowait, percent)),
    ];
    let swapped = s.swap_bytes.filter(|bytes| *bytes > 0);
    facts.extend(swapped.map(|bytes| fact("swapped", DecimalSize(bytes))));
    facts
}

fn idle_text(s: &ObserveSummary) -> String {
    let at = duration(s.settled.seconds());
    match s.settled.status {
        SettledStatus::Measured => format!("{at} after boot"),
        SettledStatus::AtLeast => format!("no half minute of rest until {at} after boot"),
        SettledStatus::AtMost => format!("the first sample, {at} after boot"),
    }
}

/// Sparklines of device, waiting tasks and processors.
fn sparkline_facts(samples: &[ObserveSample]) -> Vec<PageFact> {
    let all = [
        ("device at work", sparkline(samples, |s| Some(s.utilisation))),
        ("tasks waiting for I/O", sparkline(samples, |s| s.io_some)),
        ("processors at work", sparkline(samples, |s| s.cpu_busy)),
    ];
    all.into_iter().filter_map(|(name, drawn)| Some(fact(name, format!("|{}|", drawn?)))).collect()
}

/// Sparkline of a load between 0 and 1; `None` if no sample has it.
fn sparkline(samples: &[ObserveSample], of: impl Fn(&ObserveSample) -> Option<f64>) -> Option<String> {
    let columns = COLUMNS.min(samples.len());
    let step = |column: usize| {
        let (from, to) = (column * samples.len() / columns, (column + 1) * samples.len() / columns);
        let values: Vec<f64> = samples[from..to].iter().filter_map(&of).collect();
        Some(STEPS[(statistics::mean(&values)?.clamp(0.0, 1.0) * 8.0).round() as usize])
    };
    (0..columns).map(step).collect()
}

fn partition_facts(report: &ObserveReport) -> Vec<PageFact> {
    let moved = report.body.partitions.iter().filter(|p| p.read_bytes + p.write_bytes > 0);
    let fact_of = |part: &PartitionTraffic| {
        let (read, written) = (DecimalSize(part.read_bytes), DecimalSize(part.write_bytes));
        fact(&part.name, format!("{read} read, {written} written"))
    };
    moved.map(fact_of).collect()
}

fn since_boot_facts(s: &ObserveSample) -> Vec<PageFact> {
    let share = |share: f64| duration(share * s.seconds);
    vec![
        fact("read", format!("{} I/Os, {}", s.reads, DecimalSize(s.read_bytes))),
        fact("written", format!("{} I/Os, {}", s.writes, DecimalSize(s.write_bytes))),
        fact("mean time of an I/O", or_unknown(s.wait_ms, |ms| format!("{ms:.2} ms"))),
        fact("mean size of an I/O", or_unknown(s.mean_io_bytes(), |b| format!("{:.1} KiB", b / 1024.0))),
        fact("device at work", percent(s.utilisation)),
        fact("some tasks waited for I/O", or_unknown(s.io_some, share)),
        fact("all tasks waited for I/O", or_unknown(s.io_full, share)),
        fact("processors at work", or_unknown(s.cpu_busy, percent)),
    ]
}

fn add_comparison(page: &mut Page, c: &ObserveComparison) {
    let by = if c.since_boot { "by the time since boot" } else { "by the time since each watch began" };
    let (against, span) = (&c.against, duration(c.span_seconds));
    let head = format!("Against {against}, {span} of both, laid over each other {by}");
    let value = |value: Option<f64>, unit: &str| value.map_or("unknown".to_owned(), |v| figure_text(v, unit));
    let table = Table::from_items(
        &c.figures,
        &[
            ("", &|f| f.what.clone()),
            ("before", &|f| value(f.before, &f.unit)),
            ("now", &|f| value(f.now, &f.unit)),
        ],
    );
    page.add_section(&head, [PageBlock::Table(table)]);
}

fn figure_text(value: f64, unit: &str) -> String {
    match unit {
        "" => format!("{value:.0}"),
        unit => format!("{value:.1} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::report::{Report, ReportHeader};

    #[test]
    fn page_has_bottleneck_first_and_sparklines() {
        let text = page(&cardscope_testkit::samples::observe_report()).to_text();
        let answer = text.lines().next().unwrap();
        assert!(
            answer.starts_with("Busy ") && answer.ends_with("; the system waited for the card."),
            "{text}"
        );
        for part in ["10 min 12 s after boot", "430 MB (4.78 MB/s)", "3.46 ms", "|█▄ |", "|▄▂ |"] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(!text.contains("swapped"), "{text}");
    }

    #[test]
    fn answer_fits_into_80_columns() {
        let mut report = cardscope_testkit::samples::observe_report();
        let summary = report.body.summary.as_mut().unwrap();
        (summary.utilisation, summary.read_bytes, summary.write_bytes) =
            (1.0, 999_000_000, 9_999_000_000_000);
        for bottleneck in [
            SystemBottleneck::Card,
            SystemBottleneck::Cpu,
            SystemBottleneck::Mixed,
            SystemBottleneck::Nothing,
        ] {
            report.body.summary.as_mut().unwrap().bottleneck = bottleneck;
            let answer = page(&report).answer;
            assert!(answer.chars().count() <= 80, "{answer}");
        }
    }

    #[test]
    fn answer_without_a_watch_is_since_boot() {
        let mut report = cardscope_testkit::samples::observe_report();
        report.body.summary = None;
        report.body.from_boot = report.body.samples.first().cloned();
        let text = page(&report).to_text();
        assert!(text.starts_with("Busy ") && text.contains(" since boot, "), "{text}");
        assert!(text.contains("Since boot") && text.contains("mean size of an I/O"), "{text}");
    }

    #[test]
    fn page_without_samples_is_brief() {
        let report = Report {
            header: ReportHeader { target: "sda".into(), ..ReportHeader::default() },
            body: ObserveResult::default(),
        };
        assert_eq!(page(&report).to_text(), "Nothing was watched.\n\nTarget: sda\n");
    }
}
