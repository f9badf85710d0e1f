//! Bars as rows of HTML with name, bar and figure. They scale to any width, and their attributes hold the values for the
//! page's script.

use crate::chart::{BarGroup, BarGroups, ChartBar, LimitLine, csv::csv_number};
use crate::figure::interval_text;
use crate::markup::{enclose, escape_html};

use std::fmt::Write;

/// Width of the SVG of a full bar. Whole units are fine enough for any screen.
const FULL_LENGTH: f64 = 1000.0;

/// Longest names, in characters, for which two groups fit in a row: with the interval in figures, and without it.
const MAX_NAME_WITH_INTERVAL: usize = 12;
const MAX_NAME_IN_HALF_ROW: usize = 25;

pub(super) fn bars_html(bars: &BarGroups) -> String {
    let groups: String = bars.groups.iter().map(|one| group_html(one, bars)).collect();
    let coloured = if bars.is_coloured() { " coloured" } else { "" };
    let longest = bars.names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let beside = match longest {
        _ if bars.groups.len() == 1 => " alone",
        n if n <= MAX_NAME_WITH_INTERVAL => "",
        // The interval in figures has no room after such a name. It is drawn, and the tables list it.
        n if n <= MAX_NAME_IN_HALF_ROW => " long",
        _ => " alone",
    };
    enclose(&format!("<div class=\"bars{coloured}{beside}\">\n"), groups, "</div>\n")
}

fn group_html(group: &BarGroup, bars: &BarGroups) -> String {
    let end = bars.scale_end(group);
    let (name, unit) = (escape_html(&group.name), escape_html(&bars.unit));
    let mut out = format!(
        "<div class=\"group\" data-name=\"{name}\" data-unit=\"{unit}\" data-end=\"{}\">\n\
         <p class=\"scale\"><b>{name}</b> <span>{}</span></p>\n<ol>\n",
        csv_number(end),
        escape_html(&bars.scale_text(group))
    );
    for limit in &group.limits {
        out += &limit_html(limit, end);
    }
    for bar in &group.bars {
        let name = bars.names.get(bar.of).map_or("", String::as_str);
        let ends = bar.interval.map(|ends| interval_text(ends, |v| bars.format_value(v))).unwrap_or_default();
        let (of, attributes, name) = (bar.of, bar_attributes(bar), escape_html(name));
        let (drawn, value) = (bar_svg(bar, &group.limits, end), bars.format_value(bar.value));
        let _ = write!(out, "<li data-of=\"{of}\"{attributes}><span>{name}</span>{drawn}");
        let _ = writeln!(out, "<b>{value}</b><small>{ends}</small></li>");
    }
    out.push_str("</ol>\n</div>\n");
    out
}

/// Values for the script: the value or its four measures, the interval, the runs.
fn bar_attributes(bar: &ChartBar) -> String {
    let all = |values: &[f64]| values.iter().map(|v| csv_number(*v)).collect::<Vec<_>>().join(" ");
    let values = bar.measures.map_or_else(|| csv_number(bar.value), |four| all(&four));
    let ends = bar.interval.map(|ends| format!(" data-ci=\"{}\"", all(&ends))).unwrap_or_default();
    let runs = if bar.runs.is_empty() { String::new() } else { format!(" data-r=\"{}\"", all(&bar.runs)) };
    format!(" data-v=\"{values}\"{ends}{runs}")
}

fn scaled_length(value: f64, end: f64) -> f64 {
    (FULL_LENGTH * (value / end).clamp(0.0, 1.0)).round()
}

/// Name of a limit over its line, on the side that has more room.
fn limit_html(limit: &LimitLine, end: f64) -> String {
    let at = scaled_length(limit.value, end) / FULL_LENGTH * 100.0;
    let (class, room) = if at > 50.0 { ("before", 100.0 - at) } else { ("behind", at) };
    format!(
        "<li class=\"limit {class}\" data-at=\"{}\"><span style=\"--room:{room:.1}%\">{}</span></li>\n",
        csv_number(limit.value),
        escape_html(&limit.name)
    )
}

/// SVG of a bar with its whisker, and below it the ticks of its runs. It is stretched to the width available.
fn bar_svg(bar: &ChartBar, limits: &[LimitLine], end: f64) -> String {
    let along = |value: f64| scaled_length(value, end);
    let high = if bar.runs.is_empty() { 10 } else { 14 };
    let whisker = bar.interval.map(|ends| {
        let [low, high] = ends.map(along);
        format!("<path class=\"whisker\" d=\"M{low} 3v4M{low} 5H{high}M{high} 3v4\"/>")
    });
    let path = |class: &str, d: String| enclose(&format!("<path class=\"{class}\" d=\""), d, "\"/>");
    let runs = bar.runs.iter().map(|run| format!("M{} 11v3", along(*run))).collect();
    let across = limits.iter().map(|limit| format!("M{} 0v{high}", along(limit.value))).collect();
    let (length, whisker) = (along(bar.value), whisker.unwrap_or_default());
    let (runs, across) = (path("runs", runs), path("limit", across));
    let attributes =
        format!("viewBox=\"0 0 {FULL_LENGTH} {high}\" preserveAspectRatio=\"none\" aria-hidden=\"true\"");
    format!("<svg {attributes}><rect width=\"{length}\" height=\"10\"/>{whisker}{runs}{across}</svg>")
}
