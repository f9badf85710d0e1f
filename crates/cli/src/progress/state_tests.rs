//! Progress lines for given events, clocks and widths.

use super::*;
use cardscope_engine::event::{Listener, NestedListener};
use cardscope_model::progress::{PlannedDuration, StagePlan};
use cardscope_model::random::SeededRandom;

impl Listener for ProgressState {
    fn event(&mut self, event: &ProgressEvent) {
        self.apply(event);
    }
}

fn at(seconds: f64, mb: f64, celsius: Option<f64>) -> ProcessState {
    let pulse =
        IoCounters { bytes: (mb * 1e6) as u64, card_seconds: seconds, celsius, ..IoCounters::default() };
    ProcessState { counters: pulse, wall_s: seconds, ..ProcessState::default() }
}

/// A check in its second stage.
fn in_capacity() -> ProgressState {
    let mut state = ProgressState::default();
    state.tick(at(0.0, 0.0, None));
    state.announce_plan(StagePlan {
        duration: PlannedDuration::AtMost(180.0),
        ..StagePlan::from_stages(["identity", "capacity", "speed"].map(|s| (s, 1.0)))
    });
    state.begin_stage("identity", None, None);
    state.begin_stage("capacity", None, None);
    let mut nested = NestedListener::new(&mut state);
    nested.announce_plan(StagePlan::from_stages([("writing test data", 1.0), ("restoring", 1.0)]));
    nested.begin_stage("writing test data", Some(540_000_000), None);
    nested.report_bytes(132_000_000);
    state.tick(at(80.0, 3056.0, Some(41.2)));
    state
}

#[test]
fn line_drops_least_important_parts_first() {
    let state = in_capacity();
    let said = |width| state.lines(width).join("\n");
    let full = "| 2/3 capacity · writing test data 132 of 540 MB · 38.2 MB/s · 41 °C · 1 min 40 s left";
    assert_eq!(said(120), full);
    assert_eq!(said(79), "| 2/3 capacity · writing test data 132 of 540 MB · 38.2 MB/s · 1 min 40 s left");
    assert_eq!(said(70), "| 2/3 capacity · writing test data · 38.2 MB/s · 1 min 40 s left");
    assert_eq!(said(60), "| 2/3 capacity · writing test data · 1 min 40 s left");
    assert_eq!(said(40), "| 2/3 capacity · 1 min 40 s left");
    assert_eq!(said(20), "| 2/3 capacity");
    assert_eq!(said(10), "| 2/3 cap…");
    assert_eq!(state.announcement(), "2/3 capacity");
}

#[test]
fn waits_silence_and_stopping_are_shown() {
    let mut state = in_capacity();
    state.report_wait(5.0);
    state.tick(at(82.0, 3056.0, None));
    assert_eq!(
        state.lines(100).join("\n"),
        "| 2/3 capacity · writing test data · waiting 3 s for the card to settle · 1 min 38 s left"
    );
    state.tick(at(83.0, 3094.0, None));
    assert!(!state.lines(100).join("\n").contains("waiting"), "{state:?}");
    state.tick(ProcessState { silent_s: 12.5, ..at(84.0, 3094.0, None) });
    assert!(state.lines(100).join("\n").contains("· no answer for 12 s ·"), "{:?}", state.lines(100));
    let waits_for = Some("a sync of the journal".to_owned());
    state.tick(ProcessState { silent_s: 12.5, waits_for, ..at(84.0, 3094.0, None) });
    assert!(state.lines(100).join("\n").contains("· waiting 12 s for a sync of the journal ·"));
    let pending = PendingRestore { bytes: 12_000_000, seconds: Some(5.0) };
    state.tick(ProcessState { stopping: Some(pending.clone()), ..at(84.1, 3094.0, None) });
    assert_eq!(state.lines(100), ["stopping: restoring 12 MB, 5 s"]);
    state.tick(ProcessState { stopping: Some(pending.clone()), ..at(87.0, 3094.0, None) });
    assert_eq!(state.lines(100), ["stopping: restoring 12 MB, 3 s"]);
    state.restoring_stage("restoring", 12_000_000);
    state.report_bytes(9_000_000);
    state.tick(ProcessState { stopping: Some(pending), ..at(97.0, 3094.0, None) });
    assert_eq!(state.lines(100), ["stopping: restoring 3 MB"], "what is restored is no longer owed");
    assert_eq!(stop_message(&PendingRestore::default()), "stopping");
}

#[test]
fn announcement_has_planned_size_or_time() {
    let mut state = ProgressState::default();
    state.begin_stage("reading back", Some(540_000_000), None);
    assert_eq!(state.announcement(), "reading back, 540 MB");
    state.begin_stage("pausing", None, Some(30.0));
    assert_eq!(state.announcement(), "pausing, 30 s");
}

/// Any events of a verb in any order.
#[test]
fn lines_fit_progress_is_monotonic_and_eta_finite() {
    let mut random = SeededRandom::new(7);
    let names = [
        "writing",
        "reading back",
        "restoring",
        "卡 with a name that is longer than most terminals are wide",
    ];
    for _ in 0..300 {
        let mut state = ProgressState::default();
        let (mut seconds, mut mb, mut number) = (0.0, 0.0, 0);
        let durations = [
            PlannedDuration::Extrapolated,
            PlannedDuration::SumOfWeights,
            PlannedDuration::AtMost(random.below(100) as f64),
        ];
        let stages = (0..random.below(5)).map(|_| (names[random.below(4) as usize], random.below(9) as f64));
        let stages: Vec<_> = stages.collect();
        state.announce_plan(StagePlan {
            duration: durations[random.below(3) as usize],
            long: random.below(2) == 0,
            ..StagePlan::from_stages(stages)
        });
        for _ in 0..60 {
            let name = names[random.below(4) as usize];
            let bytes = (random.below(2) == 0).then(|| random.below(1 << 40));
            let time = (random.below(3) == 0).then(|| random.below(1000) as f64);
            match random.below(8) {
                0 => state.begin_stage(name, bytes, time),
                1 => state.begin_phase(name, bytes, time),
                2 => state.begin_part(0.25..0.75, name, bytes, time),
                3 => state.report_bytes(random.below(1 << 40)),
                4 => state.report_wait(random.below(10) as f64),
                _ => {
                    seconds += random.below(100) as f64 / 10.0;
                    mb += random.below(1000) as f64;
                    state.tick(at(seconds, mb, (random.below(2) == 0).then_some(41.0)));
                }
            }
            let width = random.below(140) as usize;
            let lines = state.lines(width);
            assert!(lines.iter().all(|line| format::columns(line) <= width), "{width}: {lines:?}");
            assert!(state.position.number() >= number, "{lines:?}");
            number = state.position.number();
            assert!(state.eta.seconds().is_none_or(|left| left.is_finite() && left >= 0.0), "{state:?}");
        }
    }
}
