//! Fixtures of screen tests: states of a server with two readers.

use super::client::{ClientEvent, ConnectionState};
use super::state::TopState;
use cardscope_model::device::{Bus, DeviceInfo};
use cardscope_model::finding::FindingWeight;
use cardscope_model::progress::{FindingSummary, PlannedStage, ProgressSample, SpeedFigure};
use cardscope_model::report::NewsTone;
use cardscope_server::api::{Device, TaskResource, TaskSample, TaskState as Progress};

pub(super) fn device(name: &str, model: &str, bytes: u64) -> Device {
    let info = DeviceInfo {
        name: name.to_owned(),
        path: format!("/dev/{name}"),
        bytes: Some(bytes),
        bus: Bus::Usb,
        model: Some(model.to_owned()),
        removable: true,
        safe: true,
        ..DeviceInfo::default()
    };
    Device { info, ..Device::default() }
}

pub(super) fn card_in_use() -> Device {
    let info = DeviceInfo {
        safe: false,
        mounted: true,
        reason: Some("in use: mmcblk0p1 is mounted at /boot/firmware".to_owned()),
        ..device("mmcblk0", "SC16G", 15_931_539_456).info
    };
    Device { info, advice: Some("it holds the running system".to_owned()), task: None }
}

pub(super) fn task(id: &str, verb: &str, target: &str, title: &str) -> TaskResource {
    let plan = ["reading the identity", "writing", "reading back", "restoring"];
    TaskResource {
        id: id.to_owned(),
        verb: verb.to_owned(),
        target: target.to_owned(),
        title: title.to_owned(),
        state: Progress::Running,
        queued_at: "2026-05-01T12:00:00Z".to_owned(),
        started_at: Some("2026-05-01T12:00:01Z".to_owned()),
        plan: plan.map(|name| PlannedStage { name: name.to_owned(), weight: 1.0 }).to_vec(),
        says: "Writes 540 MB and restores what was there.".to_owned(),
        ..TaskResource::default()
    }
}

pub(super) fn sample(at: f64) -> ProgressSample {
    ProgressSample {
        at,
        stage: "writing".to_owned(),
        stage_number: 2,
        stages: 4,
        phase: "sequential".to_owned(),
        done: Some(0.423),
        bytes: Some(132_000_000),
        total_bytes: Some(540_000_000),
        mb_s: Some(if at < 60.0 { 88.4 } else { 21.3 }),
        latency_us: Some(1234.0),
        celsius: Some(31.0 + at / 10.0),
        left_s: Some(101.0),
        waits_for: None,
    }
}

pub(super) fn apply_event(state: &mut TopState, news: ClientEvent) {
    state.apply_event(news, || "14:03:22".to_owned());
}

/// State after the server reported these.
pub(super) fn connected_state(devices: Vec<Device>, tasks: Vec<TaskResource>) -> TopState {
    let mut state = TopState::new("http://127.0.0.1:7373");
    apply_event(&mut state, ClientEvent::Everything { computer: "pi4".to_owned(), devices, tasks });
    apply_event(&mut state, ClientEvent::Link(ConnectionState::Connected));
    state
}

pub(super) fn add_samples(state: &mut TopState, task: &str, seconds: u32) {
    for at in 0..seconds * 5 {
        let moment = sample(f64::from(at) / 5.0);
        apply_event(state, ClientEvent::Sample(TaskSample { task: task.to_owned(), moment }));
    }
}

/// Two running tests, and a card in use.
pub(super) fn two_running() -> TopState {
    let devices = vec![
        card_in_use(),
        device("sda", "SanDisk Extreme", 256_000_000_000),
        device("sdb", "Samsung EVO", 64_000_000_000),
    ];
    let mut first = task("1", "check", "/dev/sda", "SanDisk Extreme, 256 GB");
    first.findings = vec![FindingSummary {
        weight: FindingWeight::Hint,
        verdict: "The card slows down after 12 GB.".to_owned(),
        advice: Some("Let it rest before long recordings.".to_owned()),
    }];
    first.figures = vec![SpeedFigure { what: "SEQ1M Q8T1 read".to_owned(), mb_s: 93.4 }];
    let second = task("2", "sustain", "/dev/sdb", "Samsung EVO, 64 GB");
    let mut state = connected_state(devices, vec![first, second]);
    add_samples(&mut state, "1", 120);
    add_samples(&mut state, "2", 30);
    state
}

/// A fake after its test.
pub(super) fn finished_fake() -> TopState {
    let mut state = connected_state(
        vec![device("sdb", "Generic STORAGE", 1_000_000_000_000)],
        vec![task("1", "verify", "/dev/sdb", "Generic STORAGE, 1 TB")],
    );
    add_samples(&mut state, "1", 90);
    let ended = TaskResource {
        state: Progress::Complete,
        ended_at: Some("2026-05-01T12:03:00Z".to_owned()),
        answer: Some("FAKE: holds 52 GB of 1 TB. Return it.".to_owned()),
        tone: Some(NewsTone::Bad),
        session: Some("0197".to_owned()),
        findings: vec![FindingSummary {
            weight: FindingWeight::Bad,
            verdict: "Writes beyond 52 GB are lost (limbo, 99.9 %).".to_owned(),
            advice: Some("Return it.".to_owned()),
        }],
        notes: vec!["The card answers late at 52 GB.".to_owned()],
        ..task("1", "verify", "/dev/sdb", "Generic STORAGE, 1 TB")
    };
    apply_event(&mut state, ClientEvent::Task(Box::new(ended)));
    state
}

/// Control characters, bidirectional text, wide letters, endless length.
pub(super) const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;x\u{7}\u{9b}31m\n\r\t\u{202e}卡卡卡\u{200b}שלום\u{301}💾";

pub(super) fn hostile_state() -> TopState {
    let long = HOSTILE.repeat(40);
    let info = DeviceInfo { safe: false, reason: Some(long.clone()), ..device(&long, &long, u64::MAX).info };
    let device = Device { info, advice: Some(long.clone()), task: None };
    let path = device.info.path.clone();
    let mut on_it = task("1", &long, &path, &long);
    (on_it.says, on_it.answer, on_it.error) = (long.clone(), Some(long.clone()), Some(long.clone()));
    on_it.findings = vec![FindingSummary {
        weight: FindingWeight::Bad,
        verdict: long.clone(),
        advice: Some(long.clone()),
    }];
    on_it.figures = vec![SpeedFigure { what: long.clone(), mb_s: f64::MAX }];
    on_it.notes = vec![long.clone()];
    on_it.plan = vec![PlannedStage { name: long.clone(), weight: f64::NAN }];
    let ended = TaskResource {
        state: Progress::Failed,
        ..TaskResource { id: "0".to_owned(), target: long.clone(), ..on_it.clone() }
    };
    let mut state =
        connected_state(vec![device, self::device("sdb", "SanDisk", 64_000_000_000)], vec![on_it, ended]);
    state.computer = long.clone();
    let odd = ProgressSample {
        stage: long.clone(),
        phase: long.clone(),
        waits_for: Some(long),
        stage_number: u32::MAX,
        stages: u32::MAX,
        done: Some(1e300),
        bytes: Some(u64::MAX),
        total_bytes: Some(1),
        mb_s: Some(1e300),
        latency_us: Some(1e300),
        celsius: Some(-1e300),
        left_s: Some(1e300),
        ..sample(0.0)
    };
    for at in [0.0, 1.0, 1e300] {
        let moment = ProgressSample { at, ..odd.clone() };
        apply_event(&mut state, ClientEvent::Sample(TaskSample { task: "1".to_owned(), moment }));
    }
    state
}
