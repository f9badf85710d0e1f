use super::super::client::DeviceTraffic;
use super::super::testing::*;
use super::*;
use cardscope_server::api::TaskSample;

fn names(state: &TopState) -> Vec<String> {
    state
        .rows()
        .iter()
        .map(|row| format!("{}:{}", row.name(), row.task.map_or("", |task| &task.id)))
        .collect()
}

#[test]
fn tests_on_devices_share_their_row_and_others_get_own_rows() {
    let mut state = two_running();
    assert_eq!(names(&state), ["mmcblk0:", "sda:1", "sdb:2"]);
    let waits =
        TaskResource { state: Progress::Queued, ..task("3", "map", "/dev/sdb", "Samsung EVO, 64 GB") };
    hear(&mut state, ClientEvent::Task(Box::new(waits)));
    hear(&mut state, ClientEvent::Task(Box::new(task("4", "check", "sim:constant", "Constant, 32 GB"))));
    assert_eq!(names(&state), ["mmcblk0:", "sda:1", "sdb:2", "constant:4", "sdb:3"]);
    hear(&mut state, ClientEvent::Forgotten("4".to_owned()));
    assert_eq!(names(&state), ["mmcblk0:", "sda:1", "sdb:2", "sdb:3"]);
}

#[test]
fn running_test_shows_figures_and_ended_test_answer() {
    let state = two_running();
    let rows = state.rows();
    assert_eq!(
        rows[0].state(),
        ("no test: in use: mmcblk0p1 is mounted at /boot/firmware".to_owned(), NewsTone::Plain)
    );
    let figures = [rows[1].done(), rows[1].speed(), rows[1].latency(), rows[1].celsius(), rows[1].left()];
    assert_eq!(figures, ["42 %", "21.3", "1.23 ms", "43", "1:41"]);
    assert_eq!(rows[1].state().0, "check 2/4 writing");
    let state = finished_fake();
    let rows = state.rows();
    assert_eq!(rows[0].state(), ("FAKE: holds 52 GB of 1 TB. Return it.".to_owned(), NewsTone::Bad));
    assert_eq!((rows[0].done(), rows[0].speed(), rows[0].left()), Default::default());
    assert!(rows[0].series.is_some(), "its course stays");
}

#[test]
fn new_card_in_reader_has_no_old_result() {
    let mut empty = device("sdb", "Generic STORAGE", 0);
    empty.info.empty = true;
    for change in [vec![], vec![device("sdb", "Another", 1_000_000_000_000)], vec![empty]] {
        let mut state = finished_fake();
        hear(&mut state, ClientEvent::Devices(change));
        hear(&mut state, ClientEvent::Devices(vec![device("sdb", "Generic STORAGE", 1_000_000_000_000)]));
        let rows = state.rows();
        assert_eq!(rows[0].state().0, "safe to test");
        assert_eq!((rows[1].name(), rows[1].size().as_str()), ("sdb", "1 TB"), "it has a line of its own");
    }
    let mut state = finished_fake();
    hear(&mut state, ClientEvent::Devices(vec![device("sdb", "Generic STORAGE", 1_000_000_000_000)]));
    assert_eq!(names(&state), ["sdb:1"], "the same card stays what it is");
}

#[test]
fn stop_needs_confirmation_and_stoppable_test() {
    let mut state = two_running();
    assert_eq!(state.act(KeyAction::Stop), None);
    assert_eq!(state.mode, ScreenMode::Confirm("1".to_owned()), "what runs is selected first");
    assert_eq!(state.act(KeyAction::No), None);
    assert_eq!(state.mode, ScreenMode::List);
    state.act(KeyAction::Down(1));
    state.act(KeyAction::Stop);
    assert_eq!(state.act(KeyAction::Yes), Some(ClientRequest::Stop("2".to_owned())));
    state.act(KeyAction::Up(usize::MAX));
    state.act(KeyAction::Stop);
    assert_eq!(
        (state.mode.clone(), state.said.as_deref()),
        (ScreenMode::List, Some("no test that runs or waits is selected"))
    );
    hear(&mut state, ClientEvent::Link(ConnectionState::Away("no server answers".to_owned())));
    state.act(KeyAction::Down(1));
    state.act(KeyAction::Stop);
    assert!(state.said.as_deref().is_some_and(|said| said.contains("without the server")));
}

#[test]
fn selection_survives_row_changes() {
    let mut state = two_running();
    state.act(KeyAction::Down(1));
    let selected = |state: &TopState| {
        let rows = state.rows();
        rows[state.selected(&rows)].name().to_owned()
    };
    assert_eq!(selected(&state), "sdb");
    hear(
        &mut state,
        ClientEvent::Devices(vec![
            device("nvme0n1", "P5", 1_000_000_000_000),
            device("sdb", "Samsung EVO", 64_000_000_000),
        ]),
    );
    assert_eq!(selected(&state), "sdb");
    hear(&mut state, ClientEvent::Devices(Vec::new()));
    state.act(KeyAction::Down(usize::MAX));
    state.act(KeyAction::Down(usize::MAX));
    state.act(KeyAction::Enter);
    assert_eq!(state.mode, ScreenMode::Details(0));
    state.act(KeyAction::Down(usize::MAX));
    state.scrolled_to(7);
    assert_eq!(state.mode, ScreenMode::Details(7));
    state.act(KeyAction::Back);
    assert_eq!(state.mode, ScreenMode::List);
}

#[test]
fn missing_samples_are_requested_once() {
    let mut ended = task("0", "verify", "sim:constant", "Constant, 32 GB");
    ended.state = Progress::Complete;
    let mut state = served(vec![device("sda", "A", 1)], vec![ended]);
    assert_eq!(state.act(KeyAction::Down(1)), Some(ClientRequest::Track("0".to_owned())));
    hear(&mut state, ClientEvent::Track { task: "0".to_owned(), moments: vec![moment(0.0), moment(1.0)] });
    assert_eq!((state.act(KeyAction::Up(1)), state.act(KeyAction::Down(1))), (None, None));
    assert_eq!(state.rows()[1].series.map(SpeedSeries::seconds), Some(1.0));
}

#[test]
fn without_server_speed_comes_from_kernel() {
    let mut state = TopState::new("http://127.0.0.1:7373");
    hear(&mut state, ClientEvent::Link(ConnectionState::Away("no server answers".to_owned())));
    hear(
        &mut state,
        ClientEvent::Here { computer: "pi4".to_owned(), devices: vec![device("sda", "A", 32_000_000_000)] },
    );
    for at in 0..9 {
        let traffic = DeviceTraffic {
            device: "sda".to_owned(),
            at: f64::from(at),
            read_mb_s: 20.0,
            write_mb_s: 1.5,
            latency_us: Some(350.0),
        };
        hear(&mut state, ClientEvent::Traffic(traffic));
    }
    let rows = state.rows();
    assert_eq!((rows[0].speed(), rows[0].latency()), ("21.5".to_owned(), "350 µs".to_owned()));
    assert_eq!(rows[0].series.map(SpeedSeries::seconds), Some(8.0));
    hear(
        &mut state,
        ClientEvent::All {
            computer: "pi4".to_owned(),
            devices: vec![device("sda", "A", 32_000_000_000)],
            tasks: Vec::new(),
        },
    );
    hear(&mut state, ClientEvent::Link(ConnectionState::Live));
    hear(
        &mut state,
        ClientEvent::Traffic(DeviceTraffic {
            device: "sda".to_owned(),
            read_mb_s: 3.0,
            ..DeviceTraffic::default()
        }),
    );
    assert_eq!(state.rows()[0].speed(), "", "the server says what goes on from here on");
}

#[test]
fn stored_tests_are_bounded() {
    let mut state = served(Vec::new(), Vec::new());
    for number in 0..3 * MAX_TASKS {
        let id = format!("{number:08}");
        hear(
            &mut state,
            ClientEvent::Task(Box::new(TaskResource {
                state: Progress::Complete,
                ..task(&id, "info", "sim:a", "A")
            })),
        );
        hear(&mut state, ClientEvent::Moment(TaskSample { task: id, moment: moment(1.0) }));
    }
    assert_eq!(
        (state.tasks.len(), state.tracks.len(), state.rows().len()),
        (MAX_TASKS, MAX_TASKS, MAX_ENDED)
    );
    hear(&mut state, ClientEvent::Moment(TaskSample { task: "unknown".to_owned(), moment: moment(1.0) }));
    assert_eq!(state.tracks.len(), MAX_TASKS, "a test that nobody knows has no course");
}

#[test]
fn time_left_and_latency_fit_columns() {
    assert_eq!(
        [0.2, 59.5, 101.0, 3700.0, 90_000.0].map(format_countdown),
        ["1 s", "1:00", "1:41", "1h01", "1 d"]
    );
    assert_eq!([12.3, 999.6, 1234.0, 2_000_000.0].map(latency), ["12 µs", "1.00 ms", "1.23 ms", "2.00 s"]);
    assert_eq!([0.0, 0.5, 88.44, 2000.0, 1e30].map(short_number), ["0.00", "0.500", "88.4", "2000", "many"]);
}
