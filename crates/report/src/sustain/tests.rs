//! The page, on a run made by hand.

use super::*;
use cardscope_model::card_map::property::{Evidence, Property};
use cardscope_model::report::{Header, Moved, Report};
use cardscope_model::sustain::LongRun;
use cardscope_model::sustain::{ComparedLine, Comparison, Level, Measured, Reading, Recovery, Throttling};

fn report() -> SustainReport {
    let sample = |i: u32| Sample {
        at_s: f64::from(i),
        write_mb_s: Some(if i < 30 { 600.0 } else { 280.0 }),
        temperatures: vec![Reading { place: "card".into(), celsius: 40.0 + f64::from(i) * 0.7 }],
        ..Sample::default()
    };
    let measured = Measured {
        series: (0..60).map(sample).collect(),
        events: vec![
            Event::new(EventKind::CacheEnd, 30.0, 18_000_000_000, 0.97).because("before", "600.0 MB/s"),
            Event::new(EventKind::Throttled, 55.0, 25_000_000_000, 0.99).because("temperature", "81 °C"),
        ],
        levels: vec![Level {
            op: "write".into(),
            mb_s: 600.0,
            ci95: [598.0, 602.0],
            to_s: 30.0,
            state: "fast".into(),
            ..Level::default()
        }],
        cache_bytes: Property::measured(18_000_000_000, 0.97, Evidence::default()),
        after_cache_mb_s: Property::measured(280.0, 0.97, Evidence::default()),
        throttling: Some(Throttling { after_s: 55.0, at_celsius: Some(81.0), ..Throttling::default() }),
        max_celsius: Some(82.0),
        ended_by: "--duration".into(),
        ..Measured::default()
    };
    Report {
        header: Header {
            target: "/dev/nvme0n1".into(),
            io_path: "io_uring".into(),
            seed: 1,
            ..Header::default()
        },
        body: LongRun {
            work: Work::Write,
            pattern: Pattern::Sequential,
            block_bytes: 1 << 20,
            queue_depth: 4,
            region_bytes: 1 << 34,
            measured,
            announced_bytes: 1 << 34,
            moved: Moved {
                bytes_written: 26_000_000_000,
                bytes_read: 1_000_000,
                seconds: 60.0,
                ..Moved::default()
            },
            ..LongRun::default()
        },
    }
}

#[test]
fn what_happened_comes_first_in_words_and_in_order() {
    let page = text(&report());
    let first = page.lines().next().unwrap();
    assert_eq!(
        first,
        "/dev/nvme0n1: its fast cache ends after 18.0 GB, then 280.0 MB/s; heat slows it after 55.0 s at 81 °C"
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
    assert!(text(&quiet).starts_with("/dev/nvme0n1: nothing was measured"));
}

#[test]
fn a_pause_that_gives_nothing_back_says_so() {
    let mut run = report();
    run.body.measured.recovery = Some(Recovery { pause_s: 30.0, ..Recovery::default() });
    let page = text(&run);
    assert!(page.contains("nothing came back in 30 s") && !page.contains("fast again"), "{page}");
    run.body.measured.recovery = Some(Recovery { pause_s: 30.0, bytes: 300_000_000, ..Recovery::default() });
    assert!(text(&run).contains("0.30 GB fast again after 30 s"), "{}", text(&run));
}

#[test]
fn a_card_that_gives_up_says_so_first() {
    let mut run = report();
    run.body.measured.events.push(Event::new(EventKind::NoMoreWrites, 58.0, 26_000_000_000, 0.99));
    assert!(
        text(&run).starts_with("/dev/nvme0n1: the card takes no more writes after 58.0 s; its fast"),
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
    for words in
        ["Against fan.json", "cooling: passive here, active there", "0.71 … 0.73", "slower", "one run each"]
    {
        assert!(page.contains(words), "{words}\n{page}");
    }
}
