//! Layout of the screen: header, table, panel and footer. Foreign text is quoted as in `model::untrusted_text`.

mod card_table;
mod chart;
mod details;
mod panel;
mod styled_text;

use super::client::ConnectionState;
use super::keys::{self, ScreenMode};
use super::state::{self, TopState};
use card_table::draw_list;
use cardscope_model::report::NewsTone;
use cardscope_server::api::TaskState as Progress;
use details::draw_details;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
pub(super) use styled_text::ScreenStyle;
use styled_text::{
    RowCursor, cut_text, draw_lines, padded_cell, plain_line, safe_span, styled_line, wrap_lines,
};

/// Minimum size of the terminal: columns and rows.
const MIN_SIZE: (u16, u16) = (60, 15);

/// Draws a frame; returns the last line to which details can scroll.
pub(super) fn draw_frame(frame: &mut Frame<'_>, state: &TopState, looks: ScreenStyle) -> usize {
    let area = frame.area();
    if area.width < MIN_SIZE.0 || area.height < MIN_SIZE.1 {
        let short = format!("{}×{} characters; cardscope top needs", area.width, area.height);
        let needed = format!("{}×{}. q quits.", MIN_SIZE.0, MIN_SIZE.1);
        let lines = [short, needed].map(|text| plain_line(&cut_text(&text, area.width)));
        draw_lines(frame, &lines, area);
        return 0;
    }
    let mut rows = RowCursor { remaining: Rect { height: area.height - 1, ..area } };
    frame.render_widget(header_line(state, area.width, looks), rows.take_rows(1));
    let hint = server_hint(state).map(|hint| wrap_lines(&hint, area.width)).unwrap_or_default();
    for line in hint.iter().take(2) {
        frame.render_widget(styled_line(line, looks.tone_style(NewsTone::Warning)), rows.take_rows(1));
    }
    let mut last = 0;
    match &state.mode {
        ScreenMode::Help => draw_help(frame, rows.remaining),
        ScreenMode::Details(from) => last = draw_details(frame, state, *from, rows.remaining, looks),
        ScreenMode::List | ScreenMode::Confirm(_) => draw_list(frame, state, &mut rows, looks),
    }
    let foot = Rect { y: area.y + area.height - 1, height: 1, ..area };
    frame.render_widget(footer_line(state, area.width, looks), foot);
    last
}

fn header_line(state: &TopState, wide: u16, looks: ScreenStyle) -> Line<'static> {
    let cards = state::count_text(&state.devices);
    let link = match state.link {
        ConnectionState::Connecting => "connecting",
        ConnectionState::Connected => "connected",
        ConnectionState::Unreachable(_) if state.was_connected => "disconnected",
        ConnectionState::Unreachable(_) => "no server",
    };
    let newest = state.newest_event.as_ref().map(|clock| format!("newest event {clock}"));
    let computer = cut_text(&state.computer, wide / 3);
    let parts = [Some(computer).filter(|name| !name.is_empty()), Some(cards), newest, Some(link.to_owned())];
    let text = parts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    let text = safe_span(&format!(" · {text}"), Style::new());
    Line::from(vec![safe_span("cardscope top", looks.strong_style()), text])
}

/// Hint for the user if the server does not answer.
fn server_hint(state: &TopState) -> Option<String> {
    let ConnectionState::Unreachable(why) = &state.link else { return None };
    let url = state.url.trim_start_matches("http://");
    Some(match (state.was_connected, why.as_str()) {
        (true, why) => format!("{url}: {why}. Tests are shown as they last were."),
        (_, "no server answers") => format!("No server at {url}. To run and see tests: `cardscope serve`"),
        (false, why) => format!("{url}: {why}"),
    })
}

fn footer_line(state: &TopState, wide: u16, looks: ScreenStyle) -> Line<'static> {
    let question = |id: &str| {
        let task = state.tasks.get(id)?;
        let what = format!("Stop {} of {}?", task.verb, task.target);
        let then = match (task.state, task.loses_data) {
            (Progress::Queued, _) => "It has not begun.",
            (_, true) => "The card's data are lost.",
            (_, false) => "The card's data are restored first.",
        };
        Some(format!("{} {then} y/n", cut_text(&what, wide.saturating_sub(48).max(24))))
    };
    let keys = match (&state.mode, &state.message) {
        (ScreenMode::Confirm(id), _) => {
            let text = question(id).unwrap_or_else(|| "The test is gone. n".to_owned());
            return styled_line(&text, looks.strong_style());
        }
        (_, Some(message)) => return styled_line(&cut_text(message, wide), looks.strong_style()),
        (ScreenMode::List, None) => "↑↓ select  Enter details  s stop  ? help  q quit",
        (ScreenMode::Details(_), None) => "↑↓ scroll  Esc back  s stop  ? help  q quit",
        (ScreenMode::Help, None) => "Esc back  q quit",
    };
    styled_line(keys, looks.dim_style())
}

fn draw_help(frame: &mut Frame<'_>, area: Rect) {
    let line = |(key, what): &(&str, &str)| plain_line(&format!("  {} {what}", padded_cell(key, 19, false)));
    let mut lines = vec![Line::default()];
    lines.extend(keys::HELP.iter().map(line));
    lines.push(Line::default());
    lines.push(plain_line("  ✓ good   ! warning   ✗ bad: the answer of a test that has ended"));
    draw_lines(frame, &lines, area);
}

#[cfg(test)]
mod tests;
