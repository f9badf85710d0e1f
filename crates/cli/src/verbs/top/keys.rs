//! What a key means; while a question is open it is an answer.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// Rows of a page up or down.
const PAGE: usize = 10;

/// What is on the screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Mode {
    /// The list, and some of what is selected.
    #[default]
    List,
    /// All of what is selected, from a line on.
    Details(usize),
    Help,
    /// Whether this test is to be stopped.
    Confirm(String),
}

/// What a key asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Up(usize),
    Down(usize),
    Enter,
    Back,
    Stop,
    Help,
    Yes,
    No,
    Quit,
    /// Ctrl-Z: the shell takes the terminal for a while.
    Suspend,
    /// Ctrl-L: what another program wrote there goes.
    Redraw,
}

/// The keys of the list, for the help.
pub(super) const HELP: [(&str, &str); 7] = [
    ("↑ ↓ or k j", "select a card or a test; scroll its details"),
    ("PgUp PgDn Home End", "the same by pages, and to both ends"),
    ("Enter", "details: findings, figures, notes"),
    ("s", "stop the selected test; you are asked first"),
    ("?", "this help"),
    ("Esc", "back; quit from the list"),
    ("q or Ctrl-C", "quit; tests go on"),
];

/// What a key means in a mode; `None` where it means nothing.
pub(super) fn action(mode: &Mode, key: KeyEvent) -> Option<Action> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return match key.code {
            KeyCode::Char('c') => Some(Action::Quit),
            KeyCode::Char('z') => Some(Action::Suspend),
            KeyCode::Char('l') => Some(Action::Redraw),
            _ => None,
        };
    }
    if let Mode::Confirm(_) = mode {
        // Nothing but a clear yes is one.
        return Some(if matches!(key.code, KeyCode::Char('y' | 'Y')) { Action::Yes } else { Action::No });
    }
    Some(match key.code {
        KeyCode::Up | KeyCode::Char('k') => Action::Up(1),
        KeyCode::Down | KeyCode::Char('j') => Action::Down(1),
        KeyCode::PageUp => Action::Up(PAGE),
        KeyCode::PageDown | KeyCode::Char(' ') => Action::Down(PAGE),
        KeyCode::Home | KeyCode::Char('g') => Action::Up(usize::MAX),
        KeyCode::End | KeyCode::Char('G') => Action::Down(usize::MAX),
        KeyCode::Enter => Action::Enter,
        KeyCode::Esc if *mode == Mode::List => Action::Quit,
        KeyCode::Esc => Action::Back,
        KeyCode::Char('s') => Action::Stop,
        KeyCode::Char('?') => Action::Help,
        KeyCode::Char('q') => Action::Quit,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(mode: &Mode, code: KeyCode) -> Option<Action> {
        action(mode, KeyEvent::new(code, KeyModifiers::NONE))
    }

    #[test]
    fn a_question_is_answered_by_y_alone_and_quitting_is_always_possible() {
        let asked = Mode::Confirm("id".to_owned());
        assert_eq!(press(&asked, KeyCode::Char('y')), Some(Action::Yes));
        for other in
            [KeyCode::Enter, KeyCode::Esc, KeyCode::Char('q'), KeyCode::Char('s'), KeyCode::Char(' ')]
        {
            assert_eq!(press(&asked, other), Some(Action::No), "{other:?}");
        }
        for mode in [Mode::List, Mode::Details(3), Mode::Help, asked] {
            let ctrl_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
            assert_eq!(action(&mode, ctrl_c), Some(Action::Quit));
        }
    }

    #[test]
    fn escape_leads_back_first_and_then_out() {
        assert_eq!(press(&Mode::Details(0), KeyCode::Esc), Some(Action::Back));
        assert_eq!(press(&Mode::List, KeyCode::Esc), Some(Action::Quit));
        assert_eq!((press(&Mode::List, KeyCode::Char('x')), press(&Mode::List, KeyCode::F(1))), (None, None));
    }
}
