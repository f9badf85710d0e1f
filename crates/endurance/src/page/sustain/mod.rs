//! Result page of `sustain`: summary, charts, levels, events, figures.

mod curves;
mod summary_text;

use cardscope_model::card_map::property::PropertyStatus;
use cardscope_model::report::NewsTone;
use cardscope_model::sustain::{ConditionComparison, EventKind, MeasuredRun, PauseRecovery, SpeedLevel};
use cardscope_model::sustain::{SteadyState, SustainEvent, SustainReport, WorkloadKind, WorkloadPattern};
use cardscope_model::units::{BinarySize, DecimalSize, NO_NUMBER as NONE, SpeedMbS, three_digits as speed};
use cardscope_page::figure::{duration, interval_text, percent, time_us, to_sentence};
use cardscope_page::tree::table::Table;
use cardscope_page::tree::{self, Page, PageBlock, PageFact, fact};
pub use curves::{combined_chart, separate_charts};
pub use summary_text::run_summary;
use summary_text::{SpeedUnit, gives_up, sustain_answer};

/// Events and levels that are listed. If there are more events, the first and the last ones.
const LISTED_EVENTS: usize = 16;

pub fn sustain_page(report: &SustainReport) -> Page {
    let (body, measured) = (&report.body, &report.body.measured);
    let (early, tone) = (report.header.error.is_some(), page_tone(measured));
    let tone = if early && tone == NewsTone::Good { NewsTone::Plain } else { tone };
    let unit = SpeedUnit::for_run(body);
    let (answer, unnamed) = sustain_answer(measured, unit, early);
    let mut page = Page::new(&report.header.target, tone, answer);
    page.reasons.extend(tree::failed_io_reason(&body.moved));
    page.add_reasons(tone, unnamed.iter().map(|cause| to_sentence(cause)));
    page.add_reasons(NewsTone::Plain, tree::claim_verdicts(&report.header, "limited-by"));
    let work = format!("{}; {}", workload_text(report), tree::io_summary(&body.moved));
    page.add_reason(NewsTone::Plain, to_sentence(&work));
    let more = measured.levels.len().saturating_sub(LISTED_EVENTS);
    let more = (more > 0).then(|| format!("… and {more} more levels"));
    let levels = PageBlock::Table(level_table(&measured.levels, unit));
    page.add_section("", [levels, PageBlock::Lines(more.into_iter().collect())]);
    for chart in separate_charts(measured) {
        page.add_section("", [PageBlock::from_chart(chart)]);
    }
    if let Some(comparison) = &body.against {
        add_comparison(&mut page, comparison);
    }
    page.add_section("Events", [PageBlock::Table(event_table(&measured.events, false))]);
    page.add_detail("Evidence of the events", [PageBlock::Table(event_table(&measured.events, true))]);
    page.add_detail("Figures", [PageBlock::Facts(sustain_facts(measured, unit))]);
    page.add_detail("Failed I/Os", [tree::io_error_list(&body.moved.io_errors)]);
    let left_out = measured.left_out.iter().map(|what| to_sentence(what)).collect();
    page.add_detail("Not tested", [PageBlock::Lines(left_out)]);
    page.with_frame(&report.header)
}

/// Bad if the card gave up, a warning if it slowed down.
fn page_tone(measured: &MeasuredRun) -> NewsTone {
    let gave_up = measured.events.iter().any(|event| gives_up(event.kind));
    let slows = measured.throttling.is_some()
        || measured.stalls.is_some()
        || measured.interference.is_some()
        || measured.cache_bytes.status == PropertyStatus::Measured;
    match (gave_up, slows) {
        _ if measured.series.is_empty() => NewsTone::Warning,
        (true, _) => NewsTone::Bad,
        (false, true) => NewsTone::Warning,
        _ => NewsTone::Good,
    }
}

/// Events in order, with their figures if `evidence` is true.
fn event_table(all: &[SustainEvent], evidence: bool) -> Table {
    let (half, len) = (LISTED_EVENTS / 2, all.len());
    let listed = all.iter().enumerate();
    let listed = listed.filter(|(n, _)| len <= LISTED_EVENTS || *n < half || *n + half >= len);
    let sure = |event: &SustainEvent| match event.kind {
        EventKind::Pause | EventKind::TooHot | EventKind::NoAnswer => String::new(),
        _ => percent(event.confidence),
    };
    let figures = |event: &SustainEvent| {
        let listed = event.evidence.iter().filter(|_| evidence);
        listed.map(|(what, value)| format!("{what} {value}")).collect::<Vec<_>>().join(", ")
    };
    let gap = (len > LISTED_EVENTS).then(|| len - half);
    let mut table = Table::new(["after", "data", "event", "sure", "figures"]);
    for (number, event) in listed {
        let skipped = if gap == Some(number) { "… " } else { "" };
        table.add_row([
            format!("{skipped}{}", duration(event.at_s)),
            DecimalSize(event.at_bytes).in_table(),
            event.kind.words().to_owned(),
            sure(event),
            figures(event),
        ]);
    }
    table.drop_blank_columns();
    table.left_aligned(["event", "figures"]).never_dropped(["event"])
}

fn level_table(levels: &[SpeedLevel], unit: SpeedUnit) -> Table {
    Table::from_items(
        levels.iter().take(LISTED_EVENTS),
        &[
            ("level", &|l| l.op.clone()),
            (unit.name(), &|l| unit.figure(l.mb_s)),
            ("95 % interval", &|l| interval_text(l.ci95, |mb_s| unit.figure(mb_s))),
            ("from", &|l| duration(l.from_s)),
            ("to", &|l| duration(l.to_s)),
            ("data", &|l| DecimalSize(l.bytes).in_table()),
            ("state", &|l| l.state.clone()),
        ],
    )
}

fn sustain_facts(measured: &MeasuredRun, unit: SpeedUnit) -> Vec<PageFact> {
    let latency = &measured.read_latency;
    let alone = latency.alone_p50_us.zip(latency.alone_p99_us);
    let alone = alone.map(|(p50, p99)| format!("{} median, {} for 99 %", time_us(p50), time_us(p99)));
    let writing = latency.writing_p50_us.zip(latency.writing_p99_us).zip(latency.writing_max_us);
    let writing = writing.map(|((p50, p99), max)| {
        format!("{} median, {} for 99 %, {} at worst", time_us(p50), time_us(p99), time_us(max))
    });
    let all = [
        ("cache", cache_text(measured)),
        ("after a pause", measured.recovery.as_ref().map(recovery_text)),
        ("steady state (SNIA)", measured.steady_state.as_ref().map(|steady| steady_state_text(steady, unit))),
        ("4 KiB read, alone", alone),
        ("4 KiB read, while writing", writing),
        ("warmest", measured.max_celsius.map(|most| format!("{most:.0} °C{}", temperature_limits(measured)))),
        ("ended by", Some(measured.ended_by.clone())),
    ];
    all.into_iter().filter_map(|(name, value)| Some(fact(name, value?))).collect()
}

fn cache_text(measured: &MeasuredRun) -> Option<String> {
    let cache = &measured.cache_bytes;
    match (cache.status, cache.value, cache.bound) {
        (PropertyStatus::Measured, Some(bytes), _) => Some(DecimalSize(bytes).to_string()),
        (PropertyStatus::AtLeast, _, Some(bound)) => Some(format!("no end within {}", DecimalSize(bound))),
        (PropertyStatus::None, ..) => Some("none: the speed never fell".to_owned()),
        _ => None,
    }
}

fn recovery_text(recovery: &PauseRecovery) -> String {
    let least = if recovery.at_least { "at least " } else { "" };
    let (pause, speed) = (duration(recovery.pause_s), SpeedMbS(recovery.mb_s));
    match recovery.bytes {
        0 => format!("no recovery in {pause}"),
        bytes => format!("{least}{} fast again after {pause}: {speed}", DecimalSize(bytes)),
    }
}

fn steady_state_text(steady: &SteadyState, unit: SpeedUnit) -> String {
    let reached = if steady.reached { "reached" } else { "not reached" };
    let (speed, round) = (unit.with_unit(steady.mb_s), duration(steady.round_s));
    let spread = steady.spread * 100.0;
    // Rounding first avoids "-0.0" for tiny negative values.
    let trend = (steady.slope * 1000.0).round() / 10.0 + 0.0;
    format!("{reached}: {speed}, spread {spread:.1} %, trend {trend:+.1} % over five rounds of {round}")
}

/// Temperature limits of the card, in brackets.
fn temperature_limits(measured: &MeasuredRun) -> String {
    let limits = &measured.limits;
    let values = [limits.tmt1_celsius, limits.tmt2_celsius, limits.tmpth_celsius];
    let named = ["TMT1", "TMT2", "TMPTH"].into_iter().zip(values);
    let known = named.filter_map(|(name, value)| Some(format!("{name} {:.0} °C", value?)));
    let known: Vec<String> = known.collect();
    if known.is_empty() { String::new() } else { format!(" ({})", known.join(", ")) }
}

/// Description of the workload.
fn workload_text(report: &SustainReport) -> String {
    let body = &report.body;
    let pattern = match body.pattern {
        WorkloadPattern::Sequential => "in order",
        WorkloadPattern::Random => "at random",
    };
    let work = match body.work {
        WorkloadKind::Read => "read",
        WorkloadKind::Write => "written",
        WorkloadKind::Mixed => "written and read in turn",
    };
    let (block, region) = (BinarySize(body.block_bytes), DecimalSize(body.region_bytes));
    let depth = body.measured.queue_depth;
    // Users who requested writes would wonder about the bytes that were read.
    let between = if body.work == WorkloadKind::Write { ", test reads in between" } else { "" };
    format!("{block} blocks {work} {pattern} at queue depth {depth} over {region}{between}")
}

/// Adds the comparison with an earlier run.
fn add_comparison(page: &mut Page, comparison: &ConditionComparison) {
    let conditions = comparison.conditions.iter();
    let conditions = conditions.map(|(word, here, there)| format!("{word}: {here} here, {there} there"));
    let value = |v: Option<f64>| v.map_or_else(|| NONE.to_owned(), speed);
    let ratio = |[low, high]: [f64; 2]| format!("{low:.2} … {high:.2}");
    let table = Table::from_items(
        &comparison.lines,
        &[
            ("", &|line| line.what.clone()),
            ("here", &|line| value(line.here)),
            ("there", &|line| value(line.there)),
            ("unit", &|line| line.unit.clone()),
            ("ratio", &|line| line.ratio.map(|r| format!("{r:.2}")).unwrap_or_default()),
            ("95 % interval", &|line| line.ratio_ci95.map(ratio).unwrap_or_default()),
            ("result", &|line| line.says.clone()),
        ],
    )
    .left_aligned(["unit", "result"]);
    let doubts = comparison.doubts.iter().map(|doubt| PageBlock::Words(format!("{doubt}.")));
    let body = [PageBlock::Lines(conditions.collect()), PageBlock::Table(table)];
    page.add_section(&format!("Against {}", comparison.other), body.into_iter().chain(doubts));
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::card_map::property::{Property, PropertyEvidence};
    use cardscope_model::report::Report;
    use cardscope_model::sustain::{CardStalls, ComparedLine, LongRun, ThrottleFacts};
    use cardscope_page::figure::ANSWER_COLUMNS;
    use cardscope_testkit::samples as sample;
    use proptest::prelude::*;

    fn text(report: &SustainReport) -> String {
        sustain_page(report).to_text()
    }

    /// A run with the end of a cache and heat.
    fn report() -> SustainReport {
        let mut report = sample::sustain_report();
        let measured = &mut report.body.measured;
        measured.events.push(
            SustainEvent::new(EventKind::Throttled, 55.0, 25_000_000_000, 0.99)
                .because("temperature", "81 °C"),
        );
        measured.throttling =
            Some(ThrottleFacts { after_s: 55.0, at_celsius: Some(81.0), ..ThrottleFacts::default() });
        measured.max_celsius = Some(82.0);
        report
    }

    #[test]
    fn sustain_page_starts_with_the_causes() {
        let page = text(&report());
        let first = page.lines().next().unwrap();
        assert_eq!(first, "Slows to 22.0 MB/s after 2.4 GB (cache full); throttles after 55.0 s at 81 °C.");
        let place = |what: &str| page.find(what).unwrap_or_else(|| panic!("{what} is missing\n{page}"));
        assert!(place("Speed over time") < place("Temperature over time"));
        assert!(place("Temperature over time") < place("Events"));
        assert!(place("the cache is full") < place("99 %"));
        assert!(page.contains("MB/s") && page.contains("°C") && page.contains("ended by"));
    }

    #[test]
    fn sustain_page_of_steady_and_empty_runs() {
        let mut quiet = report();
        (quiet.body.measured.throttling, quiet.body.measured.cache_bytes) =
            (None, Property::at_least(26_000_000_000, 0.95, PropertyEvidence::default()));
        let level = SpeedLevel {
            op: "write".into(),
            mb_s: 21.0,
            ci95: [20.0, 22.0],
            from_s: 0.0,
            to_s: 119.0,
            bytes: 2_500_000_000,
            state: "fast".into(),
        };
        quiet.body.measured.levels = vec![level];
        let answer = text(&quiet);
        assert!(answer.contains("MB/s, steady over ") && answer.starts_with("Writes "), "{answer}");
        quiet.header.error = Some("interrupted".into());
        assert!(text(&quiet).starts_with("Stopped after 1 min 59 s: writes "), "{}", text(&quiet));
        assert!(text(&quiet).contains("no end within 26 GB"));
        quiet.body.measured = MeasuredRun::default();
        assert!(text(&quiet).starts_with("NOT TESTED: "));
    }

    proptest! {
        #[test]
        fn sustain_answer_fits_80_columns(
            (cache, after) in (1u64..2_000_000_000_000, 0.01f64..4000.0),
            (at_s, celsius, longest_s) in (0.0f64..500_000.0, 30.0f64..110.0, 0.0f64..9000.0),
            happened in 0u8..16,
            early: bool,
        ) {
            let has = |bit: u8| happened & 1 << bit != 0;
            let mut run = sample::sustain_report();
            let measured = &mut run.body.measured;
            if has(0) {
                measured.cache_bytes = Property::measured(cache, 0.99, PropertyEvidence::default());
                measured.after_cache_mb_s = Property::measured(after, 0.99, PropertyEvidence::default());
            }
            measured.throttling = has(1).then(|| {
                ThrottleFacts { after_s: at_s, at_celsius: Some(celsius), ..ThrottleFacts::default() }
            });
            measured.stalls = has(2).then(|| CardStalls { longest_s, ..CardStalls::default() });
            if has(3) {
                measured.events.push(SustainEvent::new(EventKind::NoMoreWrites, at_s, cache, 0.99));
            }
            run.header.error = early.then(|| "interrupted".to_owned());
            let answer = sustain_page(&run).answer;
            prop_assert!(answer.chars().count() <= ANSWER_COLUMNS, "{answer}");
        }
    }

    #[test]
    fn pause_without_recovery_is_reported() {
        let mut run = report();
        run.body.measured.recovery = Some(PauseRecovery { pause_s: 30.0, ..PauseRecovery::default() });
        let page = text(&run);
        assert!(page.contains("no recovery in 30.0 s") && !page.contains("fast again"), "{page}");
        run.body.measured.recovery =
            Some(PauseRecovery { pause_s: 30.0, bytes: 300_000_000, ..PauseRecovery::default() });
        assert!(text(&run).contains("300 MB fast again after 30.0 s"), "{}", text(&run));
    }

    #[test]
    fn refused_io_is_the_first_cause() {
        let mut run = report();
        run.body.measured.events.push(SustainEvent::new(EventKind::NoMoreWrites, 58.0, 26_000_000_000, 0.99));
        let page = text(&run);
        assert!(page.starts_with("The card accepts no more") && page.contains("after 58.0 s.\n"), "{page}");
        assert!(page.contains("• Slows to 22.0 MB/s after 2.4 GB (cache full)."), "{page}");
    }

    #[test]
    fn comparison_table_has_ratios() {
        let line = ComparedLine {
            what: "full speed".into(),
            unit: "MB/s".into(),
            here: Some(540.0),
            there: Some(750.0),
            ratio: Some(0.72),
            ratio_ci95: Some([0.71, 0.73]),
            says: "slower".into(),
        };
        let comparison = ConditionComparison {
            other: "fan.json".into(),
            conditions: vec![("cooling".into(), "passive".into(), "active".into())],
            lines: vec![line],
            doubts: vec!["one run each".into()],
        };
        let page = text(&Report { body: LongRun { against: Some(comparison), ..report().body }, ..report() });
        let conditions = "cooling: passive here, active there";
        for words in ["Against fan.json", conditions, "0.71 … 0.73", "slower", "one run each"] {
            assert!(page.contains(words), "{words}\n{page}");
        }
    }
}
