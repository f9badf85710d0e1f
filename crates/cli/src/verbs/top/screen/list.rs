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

/// Minimum width of the columns for latency and model.
const WIDE_LAYOUT_COLUMNS: u16 = 80;

struct ColumnWidths {
    model: u16,
    state: u16,
    latency: u16,
}

impl ColumnWidths {
    const NAME: u16 = 9;
    const SIZE: u16 = 7;
    const DONE: u16 = 5;
    const SPEED: u16 = 5;
    const LATENCY: u16 = 7;
    const CELSIUS: u16 = 3;
    const LEFT: u16 = 5;

    fn for_width(wide: u16) -> Self {
        let latency = if wide >= WIDE_LAYOUT_COLUMNS { Self::LATENCY } else { 0 };
        let fixed = [2, Self::NAME, Self::SIZE, Self::DONE, Self::SPEED, latency, Self::CELSIUS, Self::LEFT];
        // A blank after each column, except the mark and the last column.
        let blanks = if wide >= WIDE_LAYOUT_COLUMNS { 8 } else { 6 };
        let free = wide.saturating_sub(fixed.iter().sum::<u16>() + blanks);
        let model = if wide >= WIDE_LAYOUT_COLUMNS { (free * 2 / 5).min(30) } else { 0 };
        ColumnWidths { model, state: free - model, latency }
    }
}

/// Draws the table and the panel of the selected row.
pub(super) fn draw_list(frame: &mut Frame<'_>, state: &TopState, rows: &mut RowCursor, looks: ScreenStyle) {
    let (wide, all) = (rows.remaining.width, state.rows());
    let widths = ColumnWidths::for_width(wide);
    let heads = ["card", "size", "model", "state"].map(str::to_owned);
    let figures = ["done", "MB/s", "latency", "°C", "left"].map(str::to_owned);
    frame.render_widget(
        styled_line(&table_line("  ", &heads, Some(&figures), &widths, wide), looks.dim_style()),
        rows.take_rows(1),
    );
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
    let lines: Vec<Line<'static>> =
        shown.map(|(at, row)| row_line(row, at == selected, &widths, wide, looks)).collect();
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
fn table_line(
    mark: &str,
    [name, size, model, state]: &[String; 4],
    figures: Option<&[String; 5]>,
    widths: &ColumnWidths,
    wide: u16,
) -> String {
    let mut line = format!(
        "{mark}{} {} ",
        padded_cell(name, ColumnWidths::NAME, false),
        padded_cell(size, ColumnWidths::SIZE, true)
    );
    if widths.model > 0 {
        line += &format!("{} ", padded_cell(model, widths.model, false));
    }
    let Some([done, speed, latency, celsius, left]) = figures else {
        let room = usize::from(wide).saturating_sub(columns(&line));
        return line + &padded_cell(state, u16::try_from(room).unwrap_or_default(), false);
    };
    line += &format!(
        "{} {} {} ",
        padded_cell(state, widths.state, false),
        padded_cell(done, ColumnWidths::DONE, true),
        padded_cell(speed, ColumnWidths::SPEED, true)
    );
    if widths.latency > 0 {
        line += &format!("{} ", padded_cell(latency, widths.latency, true));
    }
    line + &format!(
        "{} {}",
        padded_cell(celsius, ColumnWidths::CELSIUS, true),
        padded_cell(left, ColumnWidths::LEFT, true)
    )
}

fn row_line(
    row: &TopRow<'_>,
    selected: bool,
    widths: &ColumnWidths,
    wide: u16,
    looks: ScreenStyle,
) -> Line<'static> {
    let (state, tone) = row.state_text();
    let sign = match tone {
        NewsTone::Plain => "",
        NewsTone::Good => "✓ ",
        NewsTone::Warning => "! ",
        NewsTone::Bad => "✗ ",
    };
    let figures =
        [row.done_text(), row.speed_text(), row.latency_text(), row.celsius_text(), row.time_left_text()];
    let some = figures.iter().any(|figure| !figure.is_empty());
    let words =
        [row.short_name().to_owned(), row.size_text(), row.model_text().to_owned(), format!("{sign}{state}")];
    let mark = if selected { "> " } else { "  " };
    let text = table_line(mark, &words, some.then_some(&figures), widths, wide);
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
