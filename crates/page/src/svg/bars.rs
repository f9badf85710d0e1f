//! Bar charts as SVG. If a few names recur in several groups, each gets a colour, a hatch and a legend entry; otherwise
//! each bar has its name at the left.

use super::palette::{LINE_HEIGHT, PicturePart, RIGHT_ALIGNED, SECONDARY_TEXT, cut_to_width, text_width};
use crate::chart::{BarGroup, BarGroups, ChartBar, LimitLine, SERIES_COLOURS};
use crate::figure::interval_text;

use std::fmt::Write;

const SIDE_MARGIN: f64 = 16.0;
const BAR_HEIGHT: f64 = 10.0;

/// Height of the ticks for single runs, which are drawn below the bar.
const RUN_TICK_HEIGHT: f64 = 3.5;
const BAR_DISTANCE: f64 = 16.0;

/// Least room for the figure at the end of a bar: `1234.5 (1200.1 … 1250.3)`.
const MIN_FIGURE_WIDTH: f64 = 158.0;

/// Most room for names at the left, as a share of the width.
const MAX_NAME_SHARE: f64 = 0.4;

/// Least width of the card's name when its setting needs room too.
const MIN_NAME_WIDTH: f64 = 60.0;

pub(super) fn draw_bars(bars: &BarGroups, width: f64) -> Option<PicturePart> {
    if bars.groups.is_empty() {
        return None;
    }
    let coloured = bars.is_coloured();
    let mut drawing = PicturePart::default();
    if coloured {
        draw_bar_legend(&mut drawing, &bars.names, width);
    }
    for group in &bars.groups {
        draw_group(&mut drawing, bars, group, width, coloured);
    }
    Some(drawing)
}

/// Legend of colours and hatches, in as many lines as needed.
fn draw_bar_legend(drawing: &mut PicturePart, names: &[String], width: f64) {
    let mut x = SIDE_MARGIN;
    drawing.height += LINE_HEIGHT + 4.0;
    for (number, name) in names.iter().enumerate() {
        let name = cut_to_width(name, width - 2.0 * SIDE_MARGIN - 30.0);
        let room = 46.0 + text_width(&name);
        if x + room > width - SIDE_MARGIN && x > SIDE_MARGIN {
            x = SIDE_MARGIN;
            drawing.height += LINE_HEIGHT + 2.0;
        }
        let y = drawing.height - BAR_HEIGHT;
        draw_swatch(drawing, number, [x, y, 20.0]);
        drawing.write_text((x + 26.0, y + 10.0), "", &name);
        x += room;
    }
    drawing.height += 6.0;
}

fn draw_swatch(drawing: &mut PicturePart, number: usize, [x, y, width]: [f64; 3]) {
    let class = number % SERIES_COLOURS + 1;
    drawing.draw_box(&format!("f{class}"), [x, y, width, BAR_HEIGHT]);
    let hatch = hatch_path(class, [x, y, width]);
    if !hatch.is_empty() {
        let _ = writeln!(drawing.elements, "<path class=\"hatch\" d=\"{hatch}\"/>");
    }
}

/// Hatch that distinguishes a class without colour: slanted either way, upright, lengthwise or a combination.
fn hatch_path(class: usize, [x, y, width]: [f64; 3]) -> String {
    let mut d = String::new();
    let slanted = |d: &mut String, gap: f64, up: bool| {
        let (from, to) = if up { (y + BAR_HEIGHT, y) } else { (y, y + BAR_HEIGHT) };
        let places = std::iter::successors(Some(x + 3.0), |at| Some(at + gap));
        for at in places.take_while(|at| at + BAR_HEIGHT <= x + width) {
            let _ = write!(d, "M{at:.1} {from:.1}L{:.1} {to:.1}", at + BAR_HEIGHT);
        }
    };
    let upright = |d: &mut String, gap: f64| {
        let places = std::iter::successors(Some(x + gap), |at| Some(at + gap));
        for at in places.take_while(|at| *at < x + width) {
            let _ = write!(d, "M{at:.1} {y:.1}v{BAR_HEIGHT}");
        }
    };
    let lengthwise = |d: &mut String| {
        let _ = write!(d, "M{x:.1} {:.1}h{width:.1}", y + BAR_HEIGHT / 2.0);
    };
    match class {
        2 => slanted(&mut d, 7.0, true),
        3 => upright(&mut d, 5.0),
        4 => lengthwise(&mut d),
        5 => slanted(&mut d, 7.0, false),
        6 => (slanted(&mut d, 9.0, true), slanted(&mut d, 9.0, false)).0,
        7 => upright(&mut d, 12.0),
        8 => (lengthwise(&mut d), upright(&mut d, 9.0)).0,
        _ => {}
    }
    d
}

fn draw_group(drawing: &mut PicturePart, bars: &BarGroups, group: &BarGroup, width: f64, coloured: bool) {
    let names = if coloured { 0.0 } else { names_width(bars, width) };
    let left = SIDE_MARGIN + names;
    let room = width - left - SIDE_MARGIN - figures_width(bars);
    let end = bars.scale_end(group);
    drawing.height += LINE_HEIGHT + 4.0;
    let y = drawing.height - 5.0;
    drawing.write_text((SIDE_MARGIN, y), " font-weight=\"600\"", &cut_to_width(&group.name, width - 200.0));
    let attributes = format!("{RIGHT_ALIGNED}{SECONDARY_TEXT}");
    drawing.write_text((left + room, y), &attributes, &bars.scale_text(group));
    let along = |value: f64| left + room * (value / end).clamp(0.0, 1.0);
    for limit in &group.limits {
        draw_limit_name(drawing, limit, along(limit.value), [left, left + room]);
    }
    let first = drawing.height;
    let mut rows: Vec<&ChartBar> = group.bars.iter().collect();
    // Readers look for the fastest of many cards, so those bars are sorted.
    if bars.are_rivals && bars.names.len() > SERIES_COLOURS {
        rows.sort_by(|a, b| b.value.total_cmp(&a.value));
    }
    for bar in rows {
        let y = drawing.height;
        let name = bars.names.get(bar.of).map_or("", String::as_str);
        if !coloured {
            drawing.write_text((left - 6.0, y + 10.0), RIGHT_ALIGNED, &fit_name(name, names - 8.0));
        }
        drawing.draw_box("track", [left, y, room, BAR_HEIGHT + RUN_TICK_HEIGHT]);
        draw_swatch(drawing, if coloured { bar.of } else { 0 }, [left, y, along(bar.value) - left]);
        draw_run_marks(&mut drawing.elements, bar, y, along);
        let [value, ends] = figure_text(bars, bar);
        let figure = format!("{value}<tspan class=\"dim\" font-size=\"11\">{ends}</tspan>");
        drawing.write_escaped((left + room + 6.0, y + 10.0), "", &figure);
        drawing.height += BAR_DISTANCE;
    }
    for limit in &group.limits {
        let (x, from, to) = (along(limit.value), first - 2.0, drawing.height - 2.0);
        let _ = writeln!(drawing.elements, "<path class=\"limit\" d=\"M{x:.1} {from:.1}V{to:.1}\"/>");
    }
    drawing.height += 6.0;
}

/// Width of the widest figure.
fn figures_width(bars: &BarGroups) -> f64 {
    let width = |bar| figure_text(bars, bar).iter().map(|part| text_width(part)).sum::<f64>();
    bars.groups.iter().flat_map(|group| &group.bars).map(width).fold(MIN_FIGURE_WIDTH, f64::max)
}

/// Width of the names, within the limit.
fn names_width(bars: &BarGroups, width: f64) -> f64 {
    let widest = bars.names.iter().map(|name| text_width(name)).fold(0.0, f64::max);
    (widest + 8.0).min(MAX_NAME_SHARE * width)
}

/// Shortens a name of card and setting. The setting is at the end and distinguishes the bars, so the card's part is cut.
fn fit_name(name: &str, room: f64) -> String {
    let Some(at) = name.find(" · ").filter(|_| text_width(name) > room) else {
        return cut_to_width(name, room);
    };
    let (card, setting) = name.split_at(at);
    match room - text_width(setting) {
        left if left < MIN_NAME_WIDTH => cut_to_width(name, room),
        left => format!("{}{setting}", cut_to_width(card, left)),
    }
}

/// Writes the name of a limit in a line of its own, on the side of its line that has more room.
fn draw_limit_name(drawing: &mut PicturePart, limit: &LimitLine, at: f64, [from, to]: [f64; 2]) {
    drawing.height += LINE_HEIGHT - 2.0;
    let before = at > f64::midpoint(from, to);
    let (anchor, room) = if before { (RIGHT_ALIGNED, at - from) } else { ("", to - at) };
    let attributes = format!("{anchor}{SECONDARY_TEXT} font-size=\"11\"");
    drawing.write_text((at, drawing.height - 4.0), &attributes, &cut_to_width(&limit.name, room));
}

/// Ticks of the single runs, and the whisker of the interval.
fn draw_run_marks(out: &mut String, bar: &ChartBar, y: f64, along: impl Fn(f64) -> f64) {
    let tick = |run: &f64| format!("M{:.1} {:.1}v{RUN_TICK_HEIGHT}", along(*run), y + BAR_HEIGHT);
    let ticks: String = bar.runs.iter().map(tick).collect();
    if !ticks.is_empty() {
        let _ = writeln!(out, "<path class=\"runs\" d=\"{ticks}\"/>");
    }
    if let Some(ends) = bar.interval {
        let ([low, high], middle) = (ends.map(along), y + BAR_HEIGHT / 2.0);
        let top = middle - 2.5;
        let d = format!("M{low:.1} {top:.1}v5M{low:.1} {middle}H{high:.1}M{high:.1} {top:.1}v5");
        // A rim in the background colour makes the whisker visible on any bar.
        let _ = writeln!(out, "<path class=\"rim\" d=\"{d}\"/><path class=\"whisker\" d=\"{d}\"/>");
    }
}

/// Figure of a bar, followed by its interval.
fn figure_text(bars: &BarGroups, bar: &ChartBar) -> [String; 2] {
    let ends = bar.interval.map(|ends| interval_text(ends, |v| bars.format_value(v)));
    let ends = ends.map(|ends| format!("\u{a0}({ends})")).unwrap_or_default();
    [bars.format_value(bar.value), ends]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_the_setting_at_their_end() {
        let name = "SanDisk Extreme Pro A1 32GB · Pi 3 B+ · clock 100 MHz";
        let short = fit_name(name, text_width("SanDisk Extr… · Pi 3 B+ · clock 100 MHz"));
        assert_eq!(short, "SanDisk Extr… · Pi 3 B+ · clock 100 MHz");
        assert_eq!(fit_name(name, text_width(name)), name);
        // A long setting leaves no room for the card, so the name is cut like any other.
        assert!(fit_name(name, 80.0).starts_with("SanDisk") && fit_name(name, 80.0).ends_with('…'));
        assert!(fit_name("a card without a setting, at length", 80.0).ends_with('…'));
    }
}
