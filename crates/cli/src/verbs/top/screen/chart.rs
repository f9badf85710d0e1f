//! Bar charts of speed and temperature over time.

use super::styled_text::{RowCursor, ScreenStyle, padded_cell, safe_span, styled_line};
use crate::progress::format::format_time;
use crate::verbs::top::series::{SpeedPoint, SpeedSeries};
use cardscope_model::units::{SpeedMbS, three_digits};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use ratatui::text::Line;

/// Width of the labels left of a chart.
const LABEL_WIDTH: u16 = 17;

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Draws speed, temperature and the time axis.
pub(super) fn draw_charts(frame: &mut Frame<'_>, series: &SpeedSeries, area: Rect, looks: ScreenStyle) {
    let hot = series.range(SpeedPoint::celsius);
    let below = match (hot, area.height) {
        (None, _) | (_, 0..4) => 0,
        (Some(_), 4..7) => 1,
        (Some(_), _) => 2,
    };
    let mut rows = RowCursor { remaining: area };
    let axis = u16::from(area.height >= 3);
    let above = area.height.saturating_sub(below + axis);
    if let Some((_, high)) = series.range(SpeedPoint::mb_s) {
        let scale = [format!("speed {:>10}", SpeedMbS(high).to_string()), format!("{:>16}", "0")];
        draw_chart(
            frame,
            &series.column_values(value_columns(area), SpeedPoint::mb_s),
            (0.0, high),
            &scale,
            rows.take_rows(above),
            looks.colour_style(Color::Cyan),
        );
    }
    if let (Some((low, high)), true) = (hot, below > 0) {
        // A constant temperature is a line at the bottom, so the scale spans at least 5 °C.
        let top = high.max(low + 5.0);
        let scale =
            [format!("temp. {:>10}", format!("{top:.0} °C")), format!("{:>16}", format!("{low:.0} °C"))];
        let one = [format!("temp. {:>10}", format!("{low:.0}–{high:.0} °C")), String::new()];
        let scale = if below == 1 { one } else { scale };
        draw_chart(
            frame,
            &series.column_values(value_columns(area), SpeedPoint::celsius),
            (low, top),
            &scale,
            rows.take_rows(below),
            looks.colour_style(Color::Magenta),
        );
    }
    if axis > 0 {
        let span_s = series.seconds();
        let all = if span_s < 10.0 { format!("{} s", three_digits(span_s)) } else { format_time(span_s) };
        let line = format!(
            "{}0 s{}",
            " ".repeat(usize::from(LABEL_WIDTH)),
            padded_cell(&all, area.width.saturating_sub(LABEL_WIDTH + 3), true)
        );
        frame.render_widget(styled_line(&line, looks.dim_style()), rows.take_rows(1));
    }
}

/// Number of columns for values.
fn value_columns(area: Rect) -> usize {
    usize::from(area.width.saturating_sub(LABEL_WIDTH))
}

/// Draws bars of at least one eighth; the scale's limits are on the left.
fn draw_chart(
    frame: &mut Frame<'_>,
    values: &[Option<f64>],
    (low, high): (f64, f64),
    scale: &[String; 2],
    area: Rect,
    style: Style,
) {
    let height = usize::from(area.height);
    let eighths = |value: f64| {
        let share = if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 };
        ((share * (height * 8) as f64).round() as usize).max(1)
    };
    for row in 0..height {
        let below = (height - 1 - row) * 8;
        let bar = |value: &Option<f64>| match value.map(|value| eighths(value).saturating_sub(below)) {
            None | Some(0) => ' ',
            Some(full) => BLOCKS[full.min(8) - 1],
        };
        let label = match row {
            0 => scale[0].as_str(),
            last if last + 1 == height => scale[1].as_str(),
            _ => "",
        };
        let bars: String = values.iter().map(bar).collect();
        let y = area.y + u16::try_from(row).unwrap_or_default();
        let line = Line::from(vec![
            safe_span(&padded_cell(label, LABEL_WIDTH, false), Style::new()),
            safe_span(&bars, style),
        ]);
        frame.render_widget(line, Rect { y, height: 1, ..area });
    }
}
