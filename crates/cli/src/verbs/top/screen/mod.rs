//! Layout of the screen: header, table, panel and footer. Foreign text is quoted as in `model::outside`.

mod chart;
mod details;
mod list;
mod panel;
mod text;

use super::client::ConnectionState;
use super::keys::{self, ScreenMode};
use super::state::{self, TopState};
use crate::progress::words::cut;
use cardscope_model::outside;
use cardscope_model::report::NewsTone;
use cardscope_server::api::TaskState as Progress;
use details::details;
use list::list;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
pub(super) use text::ScreenStyle;
use text::{RowCursor, cell, cut_text, lines_of, plain, show, span, styled};

/// Minimum size of the terminal: columns and rows.
const MIN_SIZE: (u16, u16) = (60, 15);

/// Draws a frame; returns the last line to which details can scroll.
pub(super) fn draw(frame: &mut Frame<'_>, state: &TopState, looks: ScreenStyle) -> usize {
    let area = frame.area();
    if area.width < MIN_SIZE.0 || area.height < MIN_SIZE.1 {
        let short = format!("{}×{} characters; cardscope top needs", area.width, area.height);
        for (text, y) in
            [short, format!("{}×{}. q quits.", MIN_SIZE.0, MIN_SIZE.1)].iter().zip(0..area.height)
        {
            frame.render_widget(plain(&cut(text, usize::from(area.width))), Rect { y, height: 1, ..area });
        }
        return 0;
    }
    let mut rows = RowCursor { left: Rect { height: area.height - 1, ..area } };
    frame.render_widget(head(state, area.width, looks), rows.take(1));
    let hint = hint(state).map(|hint| lines_of(&hint, area.width)).unwrap_or_default();
    for line in hint.iter().take(2) {
        frame.render_widget(styled(line, looks.tone(NewsTone::Warning)), rows.take(1));
    }
    let last = match &state.mode {
        ScreenMode::Help => draw_help(frame, rows.left),
        ScreenMode::Details(from) => details(frame, state, *from, rows.left, looks),
        ScreenMode::List | ScreenMode::Confirm(_) => {
            list(frame, state, &mut rows, looks);
            0
        }
    };
    let foot = Rect { y: area.y + area.height - 1, height: 1, ..area };
    frame.render_widget(footer_line(state, area.width, looks), foot);
    last
}

fn head(state: &TopState, wide: u16, looks: ScreenStyle) -> Line<'static> {
    let cards = state::count_of(state.devices());
    let link = match state.link {
        ConnectionState::Connecting => "connecting",
        ConnectionState::Live => "connected",
        ConnectionState::Away(_) if state.served => "disconnected",
        ConnectionState::Away(_) => "no server",
    };
    let newest = state.newest.as_ref().map(|clock| format!("newest event {clock}"));
    let computer = cut_text(&state.computer, wide / 3);
    let parts = [Some(computer).filter(|name| !name.is_empty()), Some(cards), newest, Some(link.to_owned())];
    let text = parts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    Line::from(vec![span("cardscope top", looks.strong()), span(&format!(" · {text}"), Style::new())])
}

/// Hint for the user if the server does not answer.
fn hint(state: &TopState) -> Option<String> {
    let ConnectionState::Away(why) = &state.link else { return None };
    let url = state.url.trim_start_matches("http://");
    Some(match (state.served, why.as_str()) {
        (true, why) => format!("{url}: {why}. Tests are shown as they last were."),
        (false, "no server answers") => {
            format!("No server at {url}. To run and see tests: `cardscope serve`")
        }
        (false, why) => format!("{url}: {why}"),
    })
}

fn footer_line(state: &TopState, wide: u16, looks: ScreenStyle) -> Line<'static> {
    let wide = usize::from(wide);
    let question = |id: &str| {
        let task = state.find(id)?;
        let what = cut(
            &outside::line(&format!("Stop {} of {}?", task.verb, task.target)),
            wide.saturating_sub(48).max(24),
        );
        let then = match (task.state, task.loses_data) {
            (Progress::Queued, _) => "It has not begun.",
            (_, true) => "The card's data are lost.",
            (_, false) => "The card's data are restored first.",
        };
        Some(format!("{what} {then} y/n"))
    };
    let text = match (&state.mode, &state.said) {
        (ScreenMode::Confirm(id), _) => question(id).unwrap_or_else(|| "The test is gone. n".to_owned()),
        (_, Some(said)) => cut(&outside::line(said), wide),
        (ScreenMode::List, None) => {
            let keys = "↑↓ select  Enter details  s stop  ? help  q quit";
            return styled(keys, looks.dim());
        }
        (ScreenMode::Details(_), None) => {
            return styled("↑↓ scroll  Esc back  s stop  ? help  q quit", looks.dim());
        }
        (ScreenMode::Help, None) => return styled("Esc back  q quit", looks.dim()),
    };
    styled(&text, looks.strong())
}

fn draw_help(frame: &mut Frame<'_>, area: Rect) -> usize {
    let mut lines: Vec<Line<'static>> = vec![Line::default()];
    lines.extend(keys::HELP.iter().map(|(key, what)| plain(&format!("  {} {what}", cell(key, 19, false)))));
    lines.push(Line::default());
    lines.push(plain("  ✓ good   ! warning   ✗ bad: the answer of a test that has ended"));
    show(frame, &lines, area);
    0
}

#[cfg(test)]
mod tests;
