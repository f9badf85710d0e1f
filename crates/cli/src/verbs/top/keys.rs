//! Maps keys to actions.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// Rows moved by a page key.
const PAGE_ROWS: usize = 10;

/// View on the screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum ScreenMode {
    /// List with a summary of the selected row.
    #[default]
    List,
    /// Details of the selected row, scrolled to a line.
    Details(usize),
    Help,
    /// Question if the test of this id should be stopped.
    Confirm(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyAction {
    Up(usize),
    Down(usize),
    Enter,
    Back,
    Stop,
    Help,
    Yes,
    No,
    Quit,
    /// Ctrl-Z.
    Suspend,
    /// Ctrl-L, to erase output of other programs.
    Redraw,
}

/// Keys and their descriptions for the help.
pub(super) const HELP: [(&str, &str); 7] = [
    ("↑ ↓ or k j", "select a card or a test; scroll its details"),
    ("PgUp PgDn Home End", "the same by pages, and to both ends"),
    ("Enter", "details: findings, figures, notes"),
    ("s", "stop the selected test; you are asked first"),
    ("?", "this help"),
    ("Esc", "back; quit from the list"),
    ("q or Ctrl-C", "quit; tests go on"),
];

/// Action of a key in a mode; `None` for an unused key.
pub(super) fn action_for_key(mode: &ScreenMode, key: KeyEvent) -> Option<KeyAction> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return match key.code {
            KeyCode::Char('c') => Some(KeyAction::Quit),
            KeyCode::Char('z') => Some(KeyAction::Suspend),
            KeyCode::Char('l') => Some(KeyAction::Redraw),
            _ => None,
        };
    }
    if let ScreenMode::Confirm(_) = mode {
        // Any key but y counts as no.
        return Some(if matches!(key.code, KeyCode::Char('y' | 'Y')) {
            KeyAction::Yes
        } else {
            KeyAction::No
        });
    }
    Some(match key.code {
        KeyCode::Up | KeyCode::Char('k') => KeyAction::Up(1),
        KeyCode::Down | KeyCode::Char('j') => KeyAction::Down(1),
        KeyCode::PageUp => KeyAction::Up(PAGE_ROWS),
        KeyCode::PageDown | KeyCode::Char(' ') => KeyAction::Down(PAGE_ROWS),
        KeyCode::Home | KeyCode::Char('g') => KeyAction::Up(usize::MAX),
        KeyCode::End | KeyCode::Char('G') => KeyAction::Down(usize::MAX),
        KeyCode::Enter => KeyAction::Enter,
        KeyCode::Esc if *mode == ScreenMode::List => KeyAction::Quit,
        KeyCode::Esc => KeyAction::Back,
        KeyCode::Char('s') => KeyAction::Stop,
        KeyCode::Char('?') => KeyAction::Help,
        KeyCode::Char('q') => KeyAction::Quit,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(mode: &ScreenMode, code: KeyCode) -> Option<KeyAction> {
        action_for_key(mode, KeyEvent::new(code, KeyModifiers::NONE))
    }

    #[test]
    fn only_y_confirms_and_ctrl_c_always_quits() {
        let asked = ScreenMode::Confirm("id".to_owned());
        assert_eq!(press(&asked, KeyCode::Char('y')), Some(KeyAction::Yes));
        for other in
            [KeyCode::Enter, KeyCode::Esc, KeyCode::Char('q'), KeyCode::Char('s'), KeyCode::Char(' ')]
        {
            assert_eq!(press(&asked, other), Some(KeyAction::No), "{other:?}");
        }
        for mode in [ScreenMode::List, ScreenMode::Details(3), ScreenMode::Help, asked] {
            let ctrl_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
            assert_eq!(action_for_key(&mode, ctrl_c), Some(KeyAction::Quit));
        }
    }

    #[test]
    fn escape_goes_back_then_quits() {
        assert_eq!(press(&ScreenMode::Details(0), KeyCode::Esc), Some(KeyAction::Back));
        assert_eq!(press(&ScreenMode::List, KeyCode::Esc), Some(KeyAction::Quit));
        assert_eq!(
            (press(&ScreenMode::List, KeyCode::Char('x')), press(&ScreenMode::List, KeyCode::F(1))),
            (None, None)
        );
    }
}
