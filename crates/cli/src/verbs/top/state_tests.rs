use super::super::client::DeviceTraffic;
use super::super::testing::*;
use super::*;
use cardscope_server::api::TaskSample;

fn names(state: &TopState) -> Vec<String> {
    state
        .rows()
        .iter()
        .map(|row| format!("{}:{}", row.short_name(), row.task.map_or("", |task| &task.id)))
        .collect()
}

#[test]
fn tests_on_devices_share_their_row_and_others_get_own_rows() {
    let mut state = two_running();
    assert_eq!(names(&state), ["mmcblk0:", "sda:1", "sdb:2"]);
    let waits =
        TaskResource { state: Progress::Queued, ..task("3", "map", "/dev/sdb", "Samsung EVO, 64 GB") };
    apply_event(&mut state, ClientEvent::Task(Box::new(waits)));
    apply_event(
        &mut state,
        ClientEvent::Task(Box::new(task("4", "check", "sim:constant", "Constant, 32 GB"))),
    );
    assert_eq!(names(&state), ["mmcblk0:", "sda:1", "sdb:2", "constant:4", "sdb:3"]);
    apply_event(&mut state, ClientEvent::TaskRemoved("4".to_owned()));
    assert_eq!(names(&state), ["mmcblk0:", "sda:1", "sdb:2", "sdb:3"]);
}

/// Share done, speed, latency, temperature and time left.
fn figures(row: &TopRow<'_>) -> Vec<String> {
    row.cells(String::new())[4..].to_vec()
}

#[test]
fn running_test_shows_figures_and_ended_test_answer() {
    let state = two_running();
    let rows = state.rows();
    assert_eq!(
        rows[0].state_text(),
        ("no test: in use: mmcblk0p1 is mounted at /boot/firmware".to_owned(), NewsTone::Plain)
    );
    assert_eq!(figures(&rows[1]), ["42 %", "21.3", "1.23 ms", "43", "1:41"]);
    assert_eq!(rows[1].state_text().0, "check 2/4 writing");
    let state = finished_fake();
    let rows = state.rows();
    assert_eq!(rows[0].state_text(), ("FAKE: holds 52 GB of 1 TB. Return it.".to_owned(), NewsTone::Bad));
    assert_eq!(figures(&rows[0]), [""; 5]);
    assert!(rows[0].series.is_some(), "its course stays");
}

#[test]
fn new_card_in_reader_has_no_old_result() {
    let mut empty = device("sdb", "Generic STORAGE", 0);
    empty.info.empty = true;
    for change in [vec![], vec![device("sdb", "Another", 1_000_000_000_000)], vec![empty]] {
        let mut state = finished_fake();
        apply_event(&mut state, ClientEvent::Devices(change));
        apply_event(
            &mut state,
            ClientEvent::Devices(vec![device("sdb", "Generic STORAGE", 1_000_000_000_000)]),
        );
        let rows = state.rows();
        assert_eq!(rows[0].state_text().0, "safe to test");
        assert_eq!(
            (rows[1].short_name(), rows[1].size_text().as_str()),
            ("sdb", "1 TB"),
            "it has a line of its own"
        );
    }
    let mut state = finished_fake();
    apply_event(&mut state, ClientEvent::Devices(vec![device("sdb", "Generic STORAGE", 1_000_000_000_000)]));
    assert_eq!(names(&state), ["sdb:1"], "the same card stays what it is");
}

#[test]
fn stop_needs_confirmation_and_stoppable_test() {
    let mut state = two_running();
    assert_eq!(state.apply_action(KeyAction::Stop), None);
    assert_eq!(state.mode, ScreenMode::Confirm("1".to_owned()), "what runs is selected first");
    assert_eq!(state.apply_action(KeyAction::No), None);
    assert_eq!(state.mode, ScreenMode::List);
    state.apply_action(KeyAction::Down(1));
    state.apply_action(KeyAction::Stop);
    assert_eq!(state.apply_action(KeyAction::Yes), Some(ClientRequest::StopTask("2".to_owned())));
    state.apply_action(KeyAction::Up(usize::MAX));
    state.apply_action(KeyAction::Stop);
    assert_eq!(
        (state.mode.clone(), state.message.as_deref()),
        (ScreenMode::List, Some("no test that runs or waits is selected"))
    );
    apply_event(&mut state, ClientEvent::Link(ConnectionState::Unreachable("no server answers".to_owned())));
    state.apply_action(KeyAction::Down(1));
    state.apply_action(KeyAction::Stop);
    assert!(state.message.as_deref().is_some_and(|said| said.contains("without the server")));
}

#[test]
fn selection_survives_row_changes() {
    let mut state = two_running();
    state.apply_action(KeyAction::Down(1));
    let selected = |state: &TopState| {
        let rows = state.rows();
        rows[state.selected_index(&rows)].short_name().to_owned()
    };
    assert_eq!(selected(&state), "sdb");
    apply_event(
        &mut state,
        ClientEvent::Devices(vec![
            device("nvme0n1", "P5", 1_000_000_000_000),
            device("sdb", "Samsung EVO", 64_000_000_000),
        ]),
    );
    assert_eq!(selected(&state), "sdb");
    apply_event(&mut state, ClientEvent::Devices(Vec::new()));
    state.apply_action(KeyAction::Down(usize::MAX));
    state.apply_action(KeyAction::Down(usize::MAX));
    state.apply_action(KeyAction::Enter);
    assert_eq!(state.mode, ScreenMode::Details(0));
    state.apply_action(KeyAction::Down(usize::MAX));
    state.limit_scroll(7);
    assert_eq!(state.mode, ScreenMode::Details(7));
    state.apply_action(KeyAction::Back);
    assert_eq!(state.mode, ScreenMode::List);
}

#[test]
fn missing_samples_are_requested_once() {
    let mut ended = task("0", "verify", "sim:constant", "Constant, 32 GB");
    ended.state = Progress::Complete;
    let mut state = connected_state(vec![device("sda", "A", 1)], vec![ended]);
    assert_eq!(state.apply_action(KeyAction::Down(1)), Some(ClientRequest::LoadSamples("0".to_owned())));
    apply_event(
        &mut state,
        ClientEvent::Samples { task: "0".to_owned(), moments: vec![sample(0.0), sample(1.0)] },
    );
    assert_eq!((state.apply_action(KeyAction::Up(1)), state.apply_action(KeyAction::Down(1))), (None, None));
    assert_eq!(state.rows()[1].series.map(SpeedSeries::seconds), Some(1.0));
}

#[test]
fn without_server_speed_comes_from_kernel() {
    let mut state = TopState::new("http://127.0.0.1:7373");
    apply_event(&mut state, ClientEvent::Link(ConnectionState::Unreachable("no server answers".to_owned())));
    apply_event(
        &mut state,
        ClientEvent::LocalDevices {
            computer: "pi4".to_owned(),
            devices: vec![device("sda", "A", 32_000_000_000)],
        },
    );
    for at in 0..9 {
        let traffic = DeviceTraffic {
            device: "sda".to_owned(),
            at: f64::from(at),
            read_mb_s: 20.0,
            write_mb_s: 1.5,
            latency_us: Some(350.0),
        };
        apply_event(&mut state, ClientEvent::Traffic(traffic));
    }
    let rows = state.rows();
    assert_eq!(figures(&rows[0])[1..3], ["21.5", "350 µs"]);
    assert_eq!(rows[0].series.map(SpeedSeries::seconds), Some(8.0));
    apply_event(
        &mut state,
        ClientEvent::Everything {
            computer: "pi4".to_owned(),
            devices: vec![device("sda", "A", 32_000_000_000)],
            tasks: Vec::new(),
        },
    );
    apply_event(&mut state, ClientEvent::Link(ConnectionState::Connected));
    apply_event(
        &mut state,
        ClientEvent::Traffic(DeviceTraffic {
            device: "sda".to_owned(),
            read_mb_s: 3.0,
            ..DeviceTraffic::default()
        }),
    );
    assert_eq!(figures(&state.rows()[0])[1], "", "the server says what goes on from here on");
}

#[test]
fn stored_tests_are_bounded() {
    let mut state = connected_state(Vec::new(), Vec::new());
    for number in 0..3 * MAX_TASKS {
        let id = format!("{number:08}");
        apply_event(
            &mut state,
            ClientEvent::Task(Box::new(TaskResource {
                state: Progress::Complete,
                ..task(&id, "info", "sim:a", "A")
            })),
        );
        apply_event(&mut state, ClientEvent::Sample(TaskSample { task: id, moment: sample(1.0) }));
    }
    assert_eq!(
        (state.tasks.len(), state.series_by_task.len(), state.rows().len()),
        (MAX_TASKS, MAX_TASKS, MAX_ENDED)
    );
    apply_event(
        &mut state,
        ClientEvent::Sample(TaskSample { task: "unknown".to_owned(), moment: sample(1.0) }),
    );
    assert_eq!(state.series_by_task.len(), MAX_TASKS, "a test that nobody knows has no course");
}

#[test]
fn time_left_and_latency_fit_columns() {
    assert_eq!(
        [0.2, 59.5, 101.0, 3700.0, 90_000.0].map(format_countdown),
        ["1 s", "1:00", "1:41", "1h01", "1 d"]
    );
    assert_eq!(
        [12.3, 999.6, 1234.0, 2_000_000.0].map(format_latency),
        ["12 µs", "1.00 ms", "1.23 ms", "2.00 s"]
    );
    assert_eq!([0.0, 0.5, 88.44, 2000.0, 1e30].map(short_number), ["0.00", "0.500", "88.4", "2000", "many"]);
}
