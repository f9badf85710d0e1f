//! `sustain` as text: what happened, in words and in order; then the picture of it, the levels, and what helps.

use crate::chart::Chart;
use crate::figure::{duration, interval, speed, time_us};
use crate::page::{Block, Fact, Page, fact, io_errors, moved};
use crate::table::Table;
use cardscope_model::card_map::plot::{Axis, Plot, Scale, Series};
use cardscope_model::card_map::property::Status;
use cardscope_model::statistics;
use cardscope_model::sustain::{
    Comparison, Event, EventKind, Level, Measured, Pattern, Recovery, Sample, SteadyState, SustainReport,
    Work,
};
use cardscope_model::units::{BinarySize, Capacity, grouped};
use std::collections::BTreeSet;

/// Events that are listed; of more the first and the last.
const LISTED: usize = 16;

/// Points of a line in the picture: its columns, twice.
const POINTS: usize = 120;

/// The report as people read it.
pub fn text(report: &SustainReport) -> String {
    let (body, measured) = (&report.body, &report.body.measured);
    let mut page = Page::new(&report.header.target, headline(report));
    page.add("What happened", [Block::Lines(events(&measured.events))]);
    for chart in charts(measured) {
        page.add("", [Block::Chart(Box::new(chart))]);
    }
    let more = measured.levels.len().saturating_sub(LISTED);
    let more = (more > 0).then(|| format!("… and {more} more levels"));
    page.add("", [Block::Table(levels(&measured.levels)), Block::Lines(more.into_iter().collect())]);
    page.add("", [Block::Facts(facts(measured))]);
    if let Some(comparison) = &body.against {
        compared(&mut page, comparison);
    }
    page.add("", [Block::Words(work(report)), Block::Words(moved(&body.moved))]);
    page.add("Failed I/Os", [io_errors(&body.moved.io_errors)]);
    page.add("Left out", measured.left_out.iter().map(|what| Block::Words(format!("{what}."))));
    page.framed(&report.header)
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

fn events(all: &[Event]) -> Vec<String> {
    let half = LISTED / 2;
    let mut lines: Vec<String> = all.iter().map(event_line).collect();
    if all.len() > LISTED {
        let more = format!("… {} more …", all.len() - LISTED);
        lines.splice(half..all.len() - half, [more]);
    }
    lines
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
    format!("{:>12}  {gb:>8.2} GB  {}{sure}{evidence}", duration(event.at_s), event.kind.words())
}

/// Speed and temperature over time; none where too little was measured to draw.
pub(crate) fn charts(measured: &Measured) -> Vec<Chart> {
    plots(measured).iter().map(Chart::from).collect()
}

/// The same as curves.
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
    let places: BTreeSet<&str> =
        series.iter().flat_map(|s| &s.temperatures).map(|r| r.place.as_str()).collect();
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
        Some((part.last()?.at_s, statistics::mean(&values)?))
    };
    series.chunks(each).filter_map(mean).collect()
}

fn levels(levels: &[Level]) -> Table {
    Table::of(
        levels.iter().take(LISTED),
        &[
            ("level", &|l| l.op.clone()),
            ("MB/s", &|l| speed(l.mb_s)),
            ("95 % interval", &|l| interval(l.ci95, speed)),
            ("from", &|l| duration(l.from_s)),
            ("to", &|l| duration(l.to_s)),
            ("GB", &|l| format!("{:.2}", l.bytes as f64 / 1e9)),
            ("state", &|l| l.state.clone()),
        ],
    )
}

fn facts(measured: &Measured) -> Vec<Fact> {
    let latency = &measured.read_latency;
    let alone = latency.alone_p50_us.zip(latency.alone_p99_us);
    let alone = alone.map(|(p50, p99)| format!("{} median, {} for 99 %", time_us(p50), time_us(p99)));
    let writing = latency.writing_p50_us.zip(latency.writing_p99_us).zip(latency.writing_max_us);
    let writing = writing.map(|((p50, p99), max)| {
        format!("{} median, {} for 99 %, {} at worst", time_us(p50), time_us(p99), time_us(max))
    });
    let all = [
        ("cache", cache(measured)),
        ("after a pause", measured.recovery.as_ref().map(recovery)),
        ("steady state (SNIA)", measured.steady_state.as_ref().map(steady_state)),
        ("4 KiB read, alone", alone),
        ("4 KiB read, while writing", writing),
        ("warmest", measured.max_celsius.map(|warmest| format!("{warmest:.0} °C{}", limits(measured)))),
        ("ended by", Some(measured.ended_by.clone())),
    ];
    all.into_iter().filter_map(|(name, value)| Some(fact(name, value?))).collect()
}

fn cache(measured: &Measured) -> Option<String> {
    let cache = &measured.cache_bytes;
    match (cache.status, cache.value, cache.bound) {
        (Status::Measured, Some(bytes), _) => Some(format!("{:.2} GB", bytes as f64 / 1e9)),
        (Status::AtLeast, _, Some(bound)) => {
            Some(format!("no end within the {} bytes written", grouped(bound)))
        }
        (Status::None, ..) => Some("none: the speed never fell".to_owned()),
        _ => None,
    }
}

fn recovery(recovery: &Recovery) -> String {
    let least = if recovery.at_least { "at least " } else { "" };
    let (gb, pause_s) = (recovery.bytes as f64 / 1e9, recovery.pause_s);
    match recovery.bytes {
        0 => format!("nothing came back in {pause_s:.0} s"),
        _ => format!("{least}{gb:.2} GB fast again after {pause_s:.0} s: {:.1} MB/s", recovery.mb_s),
    }
}

fn steady_state(steady: &SteadyState) -> String {
    format!(
        "{}: {} MB/s, spread {:.1} %, rise {:+.1} % over five rounds of {}",
        if steady.reached { "reached" } else { "not reached" },
        speed(steady.mb_s),
        steady.spread * 100.0,
        // Rounded first, so that a little less than nothing is no "-0.0".
        (steady.slope * 1000.0).round() / 10.0 + 0.0,
        duration(steady.round_s)
    )
}

/// The card's own limits, for the line of its temperature.
fn limits(measured: &Measured) -> String {
    let limits = &measured.limits;
    let named =
        [("TMT1", limits.tmt1_celsius), ("TMT2", limits.tmt2_celsius), ("TMPTH", limits.tmpth_celsius)];
    let known: Vec<String> =
        named.iter().filter_map(|(name, value)| value.map(|c| format!("{name} {c:.0} °C"))).collect();
    if known.is_empty() { String::new() } else { format!(" ({})", known.join(", ")) }
}

/// What the workload was.
fn work(report: &SustainReport) -> String {
    let body = &report.body;
    let pattern = match body.pattern {
        Pattern::Sequential => "in order",
        Pattern::Random => "at random",
    };
    let work = match body.work {
        Work::Read => "read",
        Work::Write => "written",
        Work::Mixed => "written and read in turn",
    };
    let region = format!("{} from {} on", Capacity(body.region_bytes), body.region_start);
    let block = BinarySize(body.block_bytes);
    format!("{block} blocks {work} {pattern}, {} in flight, over {region}", body.queue_depth)
}

/// Two conditions beside each other.
fn compared(page: &mut Page, comparison: &Comparison) {
    let conditions = comparison.conditions.iter();
    let conditions = conditions.map(|(word, here, there)| format!("{word}: {here} here, {there} there"));
    let value = |v: Option<f64>| v.map_or_else(|| "-".to_owned(), speed);
    let ratio = |[low, high]: [f64; 2]| format!("{low:.2} … {high:.2}");
    let table = Table::of(
        &comparison.lines,
        &[
            ("", &|line| line.what.clone()),
            ("here", &|line| value(line.here)),
            ("there", &|line| value(line.there)),
            ("unit", &|line| line.unit.clone()),
            ("ratio", &|line| line.ratio.map(|r| format!("{r:.2}")).unwrap_or_default()),
            ("95 % interval", &|line| line.ratio_ci95.map(ratio).unwrap_or_default()),
            ("", &|line| line.says.clone()),
        ],
    );
    let doubts = comparison.doubts.iter().map(|doubt| Block::Words(format!("{doubt}.")));
    let body = [Block::Lines(conditions.collect()), Block::Table(table)];
    page.add(&format!("Against {}", comparison.other), body.into_iter().chain(doubts));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use cardscope_model::card_map::property::{Evidence, Property};
    use cardscope_model::report::Report;
    use cardscope_model::sustain::{ComparedLine, LongRun, Throttling};

    /// A run whose cache ends and which heat slows.
    fn report() -> SustainReport {
        let mut report = sample::long_run();
        let measured = &mut report.body.measured;
        measured.events.push(
            Event::new(EventKind::Throttled, 55.0, 25_000_000_000, 0.99).because("temperature", "81 °C"),
        );
        measured.throttling =
            Some(Throttling { after_s: 55.0, at_celsius: Some(81.0), ..Throttling::default() });
        measured.max_celsius = Some(82.0);
        report
    }

    #[test]
    fn what_happened_comes_first_in_words_and_in_order() {
        let page = text(&report());
        let first = page.lines().next().unwrap();
        assert_eq!(
            first,
            "/dev/mmcblk0: its fast cache ends after 2.4 GB, then 22.00 MB/s; heat slows it after 55.0 s at 81 °C"
        );
        let place = |what: &str| page.find(what).unwrap_or_else(|| panic!("{what} is missing\n{page}"));
        assert!(place("the fast cache is full (97 %)") < place("heat slows the card (99 %)"));
        assert!(
            place("heat slows the card") < place("Speed over time")
                && place("Speed over time") < place("Temperature over time")
        );
        assert!(page.contains("MB/s") && page.contains("°C") && page.contains("ended by"));
    }

    #[test]
    fn a_run_that_shows_nothing_says_so_and_one_that_measured_nothing_too() {
        let mut quiet = report();
        (quiet.body.measured.throttling, quiet.body.measured.cache_bytes) =
            (None, Property::at_least(26_000_000_000, 0.95, Evidence::default()));
        assert!(text(&quiet).contains("it keeps its speed"), "{}", text(&quiet));
        assert!(text(&quiet).contains("no end within the 26 000 000 000 bytes written"));
        quiet.body.measured = Measured::default();
        assert!(text(&quiet).starts_with("/dev/mmcblk0: nothing was measured"));
    }

    #[test]
    fn a_pause_that_gives_nothing_back_says_so() {
        let mut run = report();
        run.body.measured.recovery = Some(Recovery { pause_s: 30.0, ..Recovery::default() });
        let page = text(&run);
        assert!(page.contains("nothing came back in 30 s") && !page.contains("fast again"), "{page}");
        run.body.measured.recovery =
            Some(Recovery { pause_s: 30.0, bytes: 300_000_000, ..Recovery::default() });
        assert!(text(&run).contains("0.30 GB fast again after 30 s"), "{}", text(&run));
    }

    #[test]
    fn a_card_that_gives_up_says_so_first() {
        let mut run = report();
        run.body.measured.events.push(Event::new(EventKind::NoMoreWrites, 58.0, 26_000_000_000, 0.99));
        assert!(
            text(&run).starts_with("/dev/mmcblk0: the card takes no more writes after 58.0 s; its fast"),
            "{}",
            text(&run)
        );
    }

    #[test]
    fn two_conditions_stand_beside_each_other_with_their_ratio() {
        let line = ComparedLine {
            what: "fast level".into(),
            unit: "MB/s".into(),
            here: Some(540.0),
            there: Some(750.0),
            ratio: Some(0.72),
            ratio_ci95: Some([0.71, 0.73]),
            says: "slower".into(),
        };
        let comparison = Comparison {
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
