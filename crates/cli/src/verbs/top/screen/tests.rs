use super::super::client::ClientEvent;
use super::super::keys::KeyAction;
use super::super::testing::*;
use super::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;

const PLAIN: ScreenStyle = ScreenStyle { coloured: false };

fn drawn(state: &TopState, columns: u16, lines: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(columns, lines)).unwrap();
    terminal
        .draw(|frame| {
            draw_frame(frame, state, PLAIN);
        })
        .unwrap();
    terminal.backend().to_string()
}

/// Draws at 80×24 and compares with the stored snapshot.
macro_rules! snapshot {
    ($name:literal, $state:expr) => {
        insta::with_settings!({ snapshot_path => "snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!($name, drawn($state, 80, 24));
        });
    };
}

#[test]
fn without_server_local_cards_and_hint_are_shown() {
    let mut state = TopState::new("http://127.0.0.1:7373");
    apply_event(&mut state, ClientEvent::Link(ConnectionState::Unreachable("no server answers".to_owned())));
    let devices = vec![card_in_use(), device("sda", "SanDisk Extreme", 256_000_000_000)];
    apply_event(&mut state, ClientEvent::LocalDevices { computer: "pi4".to_owned(), devices });
    for at in 0..40 {
        let write_mb_s = if at % 10 < 5 { 12.5 } else { 0.0 };
        let traffic = super::super::client::DeviceTraffic {
            device: "mmcblk0".to_owned(),
            at: f64::from(at),
            read_mb_s: 1.25,
            write_mb_s,
            latency_us: Some(850.0),
        };
        apply_event(&mut state, ClientEvent::Traffic(traffic));
    }
    snapshot!("no_server", &state);
}

#[test]
fn without_card_advice_is_shown() {
    snapshot!("no_card", &connected_state(Vec::new(), Vec::new()));
}

#[test]
fn two_running_tests_are_shown() {
    snapshot!("two_running", &two_running());
}

#[test]
fn fake_is_named_in_text() {
    snapshot!("finished_fake", &finished_fake());
    let mut state = finished_fake();
    state.apply_action(KeyAction::Enter);
    snapshot!("finished_fake_details", &state);
}

#[test]
fn stop_question_and_help_name_consequences() {
    let mut state = two_running();
    state.apply_action(KeyAction::Stop);
    let shown = drawn(&state, 80, 24);
    assert!(shown.contains("Stop check of /dev/sda? The card's data are restored first. y/n"), "{shown}");
    state.apply_action(KeyAction::No);
    state.apply_action(KeyAction::Help);
    snapshot!("help", &state);
}

#[test]
fn stop_question_promises_only_possible_restoring() {
    let mut first = task("1", "sustain", "/dev/sda", "A, 32 GB");
    first.loses_data = true;
    let mut state = connected_state(vec![device("sda", "A", 32_000_000_000)], vec![first]);
    state.apply_action(KeyAction::Stop);
    let shown = drawn(&state, 60, 15);
    assert!(shown.contains("The card's data are lost. y/n"), "{shown}");
}

#[test]
fn foreign_names_cannot_break_lines_or_control_terminal() {
    let mut state = hostile_state();
    snapshot!("hostile_names", &state);
    for action in [
        KeyAction::Enter,
        KeyAction::Down(7),
        KeyAction::Back,
        KeyAction::Stop,
        KeyAction::No,
        KeyAction::Down(2),
        KeyAction::Enter,
    ] {
        state.apply_action(action);
        for (columns, lines) in [(80, 24), (60, 15), (200, 60), (81, 16)] {
            let shown = drawn(&state, columns, lines);
            let odd = shown.chars().find(|c| *c != '\n' && cardscope_model::untrusted_text::is_hidden(*c));
            assert_eq!(odd, None, "{shown}");
        }
    }
}

#[test]
fn any_terminal_size_is_drawn_and_small_ones_name_minimum() {
    for state in [two_running(), finished_fake(), hostile_state(), connected_state(Vec::new(), Vec::new())] {
        for columns in [1, 2, 10, 59, 60, 61, 79, 80, 120, 300] {
            for lines in [1, 2, 14, 15, 16, 24, 100] {
                drawn(&state, columns, lines);
            }
        }
    }
    assert!(drawn(&two_running(), 59, 15).contains("59×15 characters; cardscope top needs"));
    assert!(drawn(&two_running(), 59, 15).contains("60×15. q quits."));
    let small = drawn(&two_running(), 60, 15);
    for word in ["sda", "check 2/4", "42 %", "21.3", "1:41", "speed", "q quit"] {
        assert!(small.contains(word), "{word}\n{small}");
    }
}

#[test]
fn colours_are_optional_and_never_the_only_sign() {
    let colours = |coloured| {
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        terminal
            .draw(|frame| {
                draw_frame(frame, &finished_fake(), ScreenStyle { coloured });
            })
            .unwrap();
        let cells = terminal.backend().buffer().content().to_vec();
        cells.iter().filter(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset).count()
    };
    assert!(colours(true) > 50);
    assert_eq!(colours(false), 0);
}
