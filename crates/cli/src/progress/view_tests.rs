//! The lines for given events, clocks and widths.

use super::*;
use cardscope_engine::event::{Listener, Plan, Takes, Within};
use cardscope_model::random::Random;

impl Listener for View {
    fn event(&mut self, event: &Event) {
        self.hear(event);
    }
}

fn at(seconds: f64, mb: f64, celsius: Option<f64>) -> Moment {
    let pulse = Pulse { bytes: (mb * 1e6) as u64, seconds, celsius, ..Pulse::default() };
    Moment { pulse, wall_s: seconds, ..Moment::default() }
}

/// A check in the middle of its second stage.
fn in_capacity() -> View {
    let mut view = View::default();
    view.tick(at(0.0, 0.0, None));
    view.plan(Plan {
        takes: Takes::AtMost(180.0),
        ..Plan::of(["identity", "capacity", "speed"].map(|s| (s, 1.0)))
    });
    view.stage("identity", None, None);
    view.stage("capacity", None, None);
    let mut within = Within::new(&mut view);
    within.plan(Plan::of([("writing test data", 1.0), ("restoring", 1.0)]));
    within.stage("writing test data", Some(540_000_000), None);
    within.progress(132_000_000, 3.4);
    view.tick(at(80.0, 3056.0, Some(41.2)));
    view
}

#[test]
fn a_line_says_stage_work_done_speed_temperature_and_time_left_and_drops_what_matters_least() {
    let view = in_capacity();
    let said = |width| view.lines(width).join("\n");
    let full = "| 2/3 capacity · writing test data 132 of 540 MB · 38.2 MB/s · 41 °C · 1 min 40 s left";
    assert_eq!(said(120), full);
    assert_eq!(said(79), "| 2/3 capacity · writing test data 132 of 540 MB · 38.2 MB/s · 1 min 40 s left");
    assert_eq!(said(70), "| 2/3 capacity · writing test data · 38.2 MB/s · 1 min 40 s left");
    assert_eq!(said(60), "| 2/3 capacity · writing test data · 1 min 40 s left");
    assert_eq!(said(40), "| 2/3 capacity · 1 min 40 s left");
    assert_eq!(said(20), "| 2/3 capacity");
    assert_eq!(said(10), "| 2/3 cap…");
    assert_eq!(view.announcement(), "2/3 capacity");
}

#[test]
fn waits_silence_and_the_end_are_said() {
    let mut view = in_capacity();
    view.wait(5.0);
    view.tick(at(82.0, 3056.0, None));
    assert_eq!(
        view.lines(100).join("\n"),
        "| 2/3 capacity · writing test data · waiting 3 s for the card to settle · 1 min 38 s left"
    );
    view.tick(at(83.0, 3094.0, None));
    assert!(!view.lines(100).join("\n").contains("waiting"), "{view:?}");
    view.tick(Moment { silent_s: 12.5, ..at(84.0, 3094.0, None) });
    assert!(view.lines(100).join("\n").contains("· no answer for 12 s ·"), "{:?}", view.lines(100));
    let waits_for = Some("a sync of the journal".to_owned());
    view.tick(Moment { silent_s: 12.5, waits_for, ..at(84.0, 3094.0, None) });
    assert!(view.lines(100).join("\n").contains("· waiting 12 s for a sync of the journal ·"));
    let owed = Owed { restores: 12_000_000, seconds: Some(5.0) };
    view.tick(Moment { stopping: Some(owed.clone()), ..at(84.1, 3094.0, None) });
    assert_eq!(view.lines(100), ["stopping: restoring 12 MB, 5 s"]);
    view.tick(Moment { stopping: Some(owed.clone()), ..at(87.0, 3094.0, None) });
    assert_eq!(view.lines(100), ["stopping: restoring 12 MB, 3 s"]);
    view.stage("restoring", Some(12_000_000), None);
    view.progress(9_000_000, 90.0);
    view.tick(Moment { stopping: Some(owed), ..at(97.0, 3094.0, None) });
    assert_eq!(view.lines(100), ["stopping: restoring 3 MB"], "what is restored is no longer owed");
    assert_eq!(stopping(&Owed::default()), "stopping");
}

#[test]
fn a_stage_is_announced_with_what_is_planned() {
    let mut view = View::default();
    view.stage("reading back", Some(540_000_000), None);
    assert_eq!(view.announcement(), "reading back, 540 MB");
    view.stage("pausing", None, Some(30.0));
    assert_eq!(view.announcement(), "pausing, 30 s");
}

/// Whatever a verb reports, in whatever order.
#[test]
fn no_line_is_wider_than_the_terminal_numbers_never_go_back_and_the_time_left_is_finite() {
    let mut random = Random::new(7);
    let names = [
        "writing",
        "reading back",
        "restoring",
        "卡 with a name that is longer than most terminals are wide",
    ];
    for _ in 0..300 {
        let mut view = View::default();
        let (mut seconds, mut mb, mut number) = (0.0, 0.0, 0);
        let takes = [Takes::AsSeen, Takes::Weights, Takes::AtMost(random.below(100) as f64)];
        let stages = (0..random.below(5)).map(|_| (names[random.below(4) as usize], random.below(9) as f64));
        let stages: Vec<_> = stages.collect();
        view.plan(Plan {
            takes: takes[random.below(3) as usize],
            long: random.below(2) == 0,
            ..Plan::of(stages)
        });
        for _ in 0..60 {
            let name = names[random.below(4) as usize];
            let bytes = (random.below(2) == 0).then(|| random.below(1 << 40));
            let time = (random.below(3) == 0).then(|| random.below(1000) as f64);
            match random.below(8) {
                0 => view.stage(name, bytes, time),
                1 => view.phase(name, bytes, time),
                2 => view.part(0.25..0.75, name, bytes, time),
                3 => view.progress(random.below(1 << 40), seconds),
                4 => view.wait(random.below(10) as f64),
                _ => {
                    seconds += random.below(100) as f64 / 10.0;
                    mb += random.below(1000) as f64;
                    view.tick(at(seconds, mb, (random.below(2) == 0).then_some(41.0)));
                }
            }
            let width = random.below(140) as usize;
            let lines = view.lines(width);
            assert!(lines.iter().all(|line| words::columns(line) <= width), "{width}: {lines:?}");
            assert!(view.course.number() >= number, "{lines:?}");
            number = view.course.number();
            assert!(view.left.seconds().is_none_or(|left| left.is_finite() && left >= 0.0), "{view:?}");
        }
    }
}
