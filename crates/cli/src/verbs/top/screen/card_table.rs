//! Table of cards with the panel of the selected one.

use super::panel::draw_panel;
use super::styled_text::{RowCursor, ScreenStyle, draw_lines, padded_cell, plain_line, styled_line};
use crate::progress::format::cut_to_width;
use crate::verbs::top::client::ConnectionState;
use crate::verbs::top::state::{TopRow, TopState};
use cardscope_model::report::NewsTone;
use cardscope_model::untrusted_text;
use cardscope_page::tree::display_width as columns;
use ratatui::Frame;
use ratatui::style::Modifier;
use ratatui::text::Line;
use std::ops::Range;

/// Minimum width of the columns for latency and model.
const WIDE_LAYOUT_COLUMNS: u16 = 80;

/// Widths of card, size, model, state, done, speed, latency, temperature and time left; 0 hides a column.
fn column_widths(wide: u16) -> [u16; 9] {
    let roomy = wide >= WIDE_LAYOUT_COLUMNS;
    let mut widths = [9, 7, 0, 0, 5, 5, if roomy { 7 } else { 0 }, 3, 5];
    // A blank after each column, except the mark and the last column.
    let blanks = if roomy { 8 } else { 6 };
    let free = wide.saturating_sub(2 + widths.iter().sum::<u16>() + blanks);
    widths[2] = if roomy { (free * 2 / 5).min(30) } else { 0 };
    widths[3] = free - widths[2];
    widths
}

/// Draws the table and the panel of the selected row.
pub(super) fn draw_list(frame: &mut Frame<'_>, state: &TopState, rows: &mut RowCursor, looks: ScreenStyle) {
    let (wide, all) = (rows.remaining.width, state.rows());
    let heads =
        ["card", "size", "model", "state", "done", "MB/s", "latency", "°C", "left"].map(str::to_owned);
    let heads = styled_line(&table_line("  ", &heads, wide), looks.dim_style());
    frame.render_widget(heads, rows.take_rows(1));
    if all.is_empty() {
        draw_lines(frame, &empty_lines(state), rows.take_rows(2));
        return;
    }
    let selected = state.selected_index(&all);
    // The panel below gets the larger half.
    let height = usize::from((rows.remaining.height / 2).saturating_sub(1).max(2)).min(all.len());
    let first = (selected + 1).saturating_sub(height);
    let area = rows.take_rows(u16::try_from(height).unwrap_or(u16::MAX));
    let shown = all.iter().enumerate().skip(first).take(height);
    let lines: Vec<_> = shown.map(|(at, row)| row_line(row, at == selected, wide, looks)).collect();
    draw_lines(frame, &lines, area);
    if let Some(row) = all.get(selected) {
        let more = all.len().saturating_sub(first + height);
        let title = rows.take_rows(1);
        frame.render_widget(row_title(row, more, wide, looks), title);
        draw_panel(frame, row, rows.remaining, looks);
    }
}

fn empty_lines(state: &TopState) -> Vec<Line<'static>> {
    match state.link {
        ConnectionState::Connecting => vec![plain_line("  Asking the server…")],
        _ => vec![
            plain_line("  No card, stick or reader found, and no test."),
            plain_line("  Plug one in, or try a simulated card: `cardscope sim list`"),
        ],
    }
}

/// Line of the table; without figures the state uses their columns.
fn table_line(mark: &str, cells: &[String; 9], wide: u16) -> String {
    let widths = column_widths(wide);
    let cell = |at: usize| padded_cell(&cells[at], widths[at], matches!(at, 1 | 4..));
    let join = |at: Range<usize>| at.filter(|at| widths[*at] > 0).map(cell).collect::<Vec<_>>().join(" ");
    if cells[4..].iter().any(|figure| !figure.is_empty()) {
        return format!("{mark}{}", join(0..9));
    }
    let line = format!("{mark}{} ", join(0..3));
    let room = wide.saturating_sub(u16::try_from(columns(&line)).unwrap_or(wide));
    line + &padded_cell(&cells[3], room, false)
}

fn row_line(row: &TopRow<'_>, selected: bool, wide: u16, looks: ScreenStyle) -> Line<'static> {
    let (state, tone) = row.state_text();
    let sign = match tone {
        NewsTone::Plain => "",
        NewsTone::Good => "✓ ",
        NewsTone::Warning => "! ",
        NewsTone::Bad => "✗ ",
    };
    let mark = if selected { "> " } else { "  " };
    let text = table_line(mark, &row.cells(format!("{sign}{state}")), wide);
    let style = looks.tone_style(tone);
    styled_line(&text, if selected { style.add_modifier(Modifier::REVERSED) } else { style })
}

pub(super) fn row_title(row: &TopRow<'_>, more: usize, wide: u16, looks: ScreenStyle) -> Line<'static> {
    let (name, size) = (row.device.map_or(row.short_name(), |device| &device.info.path), row.size_text());
    let model = row.model_text();
    let size = if model.ends_with(&size) { "" } else { &size };
    let parts: Vec<&str> = [name, model, size].into_iter().filter(|part| !part.is_empty()).collect();
    let more = if more > 0 { format!(" {more} more below ──") } else { String::new() };
    let room = usize::from(wide).saturating_sub(columns(&more) + 5);
    let text = format!("── {} ", cut_to_width(&untrusted_text::escape_line(&parts.join(" · ")), room));
    let rule = "─".repeat(usize::from(wide).saturating_sub(columns(&text) + columns(&more)));
    styled_line(&format!("{text}{rule}{more}"), looks.dim_style())
}
