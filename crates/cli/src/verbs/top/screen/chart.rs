//! Bar charts of speed and temperature over time.

use super::styled_text::{RowCursor, ScreenStyle, padded_cell, safe_span, styled_line};
use crate::progress::format::{BLOCKS, format_time};
use crate::verbs::top::series::{SpeedPoint, SpeedSeries};
use cardscope_model::units::{SpeedMbS, three_digits};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use ratatui::text::Line;

/// Width of the labels left of a chart.
const LABEL_WIDTH: u16 = 17;

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
    let mut draw = |value: fn(&SpeedPoint) -> Option<f64>, range, scale: [String; 2], height, color| {
        let values = series.column_values(usize::from(area.width.saturating_sub(LABEL_WIDTH)), value);
        draw_chart(frame, &values, range, &scale, rows.take_rows(height), looks.colour_style(color));
    };
    let label = |name: &str, text: String| format!("{name} {text:>10}");
    let low_label = |text: String| format!("{text:>16}");
    if let Some((_, high)) = series.range(SpeedPoint::mb_s) {
        let scale = [label("speed", SpeedMbS(high).to_string()), low_label("0".to_owned())];
        draw(SpeedPoint::mb_s, (0.0, high), scale, above, Color::Cyan);
    }
    if let (Some((low, high)), true) = (hot, below > 0) {
        // A constant temperature is a line at the bottom, so the scale spans at least 5 °C.
        let top = high.max(low + 5.0);
        let scale = match below {
            1 => [label("temp.", format!("{low:.0}–{high:.0} °C")), String::new()],
            _ => [label("temp.", format!("{top:.0} °C")), low_label(format!("{low:.0} °C"))],
        };
        draw(SpeedPoint::celsius, (low, top), scale, below, Color::Magenta);
    }
    if axis > 0 {
        let span_s = series.seconds();
        let all = if span_s < 10.0 { format!("{} s", three_digits(span_s)) } else { format_time(span_s) };
        let end = padded_cell(&all, area.width.saturating_sub(LABEL_WIDTH + 3), true);
        let line = format!("{:width$}0 s{end}", "", width = usize::from(LABEL_WIDTH));
        frame.render_widget(styled_line(&line, looks.dim_style()), rows.take_rows(1));
    }
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
