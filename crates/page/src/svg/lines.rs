//! Line charts as SVG, with a band behind the first curve and a second y axis at the right.

use super::palette::{
    LINE_HEIGHT, PicturePart, RIGHT_ALIGNED, SECONDARY_TEXT, SERIES_COLOURS, ShortNumber, cut_to_width,
    text_width, write_text, write_text_line,
};
use crate::axis_range::{AxisRange, axis_title};
use crate::chart::LineChart;
use crate::markup::escape_html;
use cardscope_model::card_map::plot::{AxisScale, PlotAxis, PlotSeries};
use std::fmt::Write;

/// Height of the plot area as a share of the width, and its limit in pixels.
const PLOT_ASPECT: f64 = 0.5;
const MAX_PLOT_HEIGHT: f64 = 260.0;

/// Width from which names are written at the ends of the curves instead of in a legend.
const MIN_WIDTH_FOR_NAMES: f64 = 500.0;

/// Distance from the end of a curve to its name.
const NAME_DISTANCE: f64 = 20.0;

/// Most room for names at the ends of curves.
const MAX_NAMES_WIDTH: f64 = 190.0;

/// Most points of a curve that are drawn as dots.
const MAX_DOTS: usize = 12;

/// Ticks of an axis, at most about.
const MAX_TICKS: usize = 6;

/// Least distance between two x ticks.
const TICK_ROOM: f64 = 52.0;

/// Ticks of a logarithmic y axis, which is easier to read with 2 and 5 between the powers of ten.
const LOG_TICKS: usize = 9;

struct PlotField {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl PlotField {
    fn x_at(&self, place: f64) -> f64 {
        self.left + place * (self.right - self.left)
    }

    fn y_at(&self, place: f64) -> f64 {
        self.bottom - place * (self.bottom - self.top)
    }
}

pub(super) fn draw_lines(lines: &LineChart, width: f64) -> Option<PicturePart> {
    let plot = &lines.plot;
    let points = || plot.series.iter().flat_map(|s| s.points.iter());
    let drawn = || points().filter(|(x, y)| x.is_finite() && y.is_finite());
    let x = AxisRange::tight(&plot.x, drawn().map(|p| p.0), MAX_TICKS)?;
    let band = lines.band.iter().flat_map(|(_, ends)| *ends).filter(|v| v.is_finite());
    let y = AxisRange::padded(&plot.y, drawn().map(|p| p.1).chain(band), MAX_TICKS)?;
    let second = second_range(lines);
    let mut drawing = PicturePart::default();
    let direct =
        second.is_none() && width >= MIN_WIDTH_FOR_NAMES && (2..=SERIES_COLOURS).contains(&plot.series.len());
    let names =
        plot.series.iter().map(|series| text_width(&series.name) + NAME_DISTANCE + 4.0).fold(0.0, f64::max);
    let right = match (&second, direct) {
        (Some((ruler, axis, _)), _) => width - tick_labels_width(ruler, axis) - 8.0,
        (None, true) => width - names.min(MAX_NAMES_WIDTH),
        (None, false) => width - 14.0,
    };
    let left = tick_labels_width(&y, &plot.y) + 10.0;
    if !direct {
        draw_line_legend(&mut drawing, lines, left, width);
    }
    draw_axis_titles(&mut drawing, &plot.y, second.as_ref().map(|(_, axis, _)| *axis), left, width);
    let rows = mark_rows(lines, &x, width);
    let top = drawing.height + 8.0 + rows as f64 * 14.0;
    let field =
        PlotField { left, right, top, bottom: top + (width * PLOT_ASPECT).min(MAX_PLOT_HEIGHT).round() };
    draw_axes(&mut drawing.elements, &field, (&x, &plot.x), (&y, &plot.y));
    draw_vertical_marks(&mut drawing.elements, &field, lines, &x, width);
    drawing.elements += &band_path(&field, lines, &x, &y);
    for (number, series) in plot.series.iter().enumerate() {
        draw_curve(&mut drawing.elements, &field, series, number, (&x, &y), &plot.y);
    }
    if direct {
        draw_names_at_ends(&mut drawing.elements, &field, &plot.series, (&x, &y), width);
    }
    if let Some((ruler, axis, all)) = &second {
        draw_right_axis(&mut drawing.elements, &field, ruler, axis);
        for (number, series) in all.iter().enumerate() {
            draw_curve(&mut drawing.elements, &field, series, plot.series.len() + number, (&x, ruler), axis);
        }
    }
    drawing.height = field.bottom + 40.0;
    drawing.reading =
        axis_attributes(&field, (&x, &plot.x), (&y, &plot.y), second.as_ref().map(|(r, a, _)| (r, *a)));
    Some(drawing)
}

fn second_range(lines: &LineChart) -> Option<(AxisRange, &PlotAxis, &[PlotSeries])> {
    let (axis, series) = lines.second.as_ref()?;
    let values = series.iter().flat_map(|s| s.points.iter().map(|p| p.1)).filter(|v| v.is_finite());
    Some((AxisRange::padded(axis, values, MAX_TICKS)?, axis, series))
}

/// Width of the tick labels of a y axis.
fn tick_labels_width(ruler: &AxisRange, axis: &PlotAxis) -> f64 {
    y_ticks(ruler, axis).iter().map(|tick| text_width(&ruler.tick_label(*tick))).fold(20.0, f64::max)
}

fn y_ticks(ruler: &AxisRange, axis: &PlotAxis) -> Vec<f64> {
    ruler.ticks(if axis.scale == AxisScale::Log10 { LOG_TICKS } else { MAX_TICKS })
}

/// Writes the titles of the y axes above them.
fn draw_axis_titles(
    drawing: &mut PicturePart,
    left_axis: &PlotAxis,
    right_axis: Option<&PlotAxis>,
    left: f64,
    width: f64,
) {
    drawing.height += LINE_HEIGHT;
    let y = drawing.height - 4.0;
    let name = escape_html(&cut_to_width(&axis_title(left_axis), width / 2.0));
    write_text_line(
        &mut drawing.elements,
        (format_args!("{:.1}", (left - 40.0).max(2.0)), y),
        SECONDARY_TEXT,
        &name,
    );
    if let Some(axis) = right_axis {
        let name = escape_html(&cut_to_width(&axis_title(axis), width / 2.0));
        write_text_line(
            &mut drawing.elements,
            (format_args!("{:.1}", width - 2.0), y),
            &format!("{RIGHT_ALIGNED}{SECONDARY_TEXT}"),
            &name,
        );
    }
}

/// Writes the names of curves at their ends, moved apart so that they do not overlap.
fn draw_names_at_ends(
    out: &mut String,
    field: &PlotField,
    all: &[PlotSeries],
    (x, y): (&AxisRange, &AxisRange),
    width: f64,
) {
    let end = |series: &PlotSeries| {
        let place = |p: &(f64, f64)| x.position(p.0).and(y.position(p.1));
        series.points.iter().rev().find_map(place).map(|up| field.y_at(up))
    };
    let mut ends: Vec<(f64, usize)> =
        all.iter().enumerate().filter_map(|(number, series)| Some((end(series)?, number))).collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    for at in 1..ends.len() {
        ends[at].0 = ends[at].0.max(ends[at - 1].0 + LINE_HEIGHT - 2.0);
    }
    // Names that the first pass pushed below the plot area are moved up again.
    let mut lowest = field.bottom;
    for (at, _) in ends.iter_mut().rev() {
        *at = at.min(lowest);
        lowest = *at - (LINE_HEIGHT - 2.0);
    }
    for (at, number) in ends {
        let class = number % SERIES_COLOURS + 1;
        let name = escape_html(&cut_to_width(&all[number].name, width - field.right - NAME_DISTANCE));
        let _ = write!(out, "<path class=\"l{class}\" d=\"M{:.1} {at:.1}h12\"/>", field.right + 4.0);
        write_text_line(
            out,
            (format_args!("{:.1}", field.right + NAME_DISTANCE), format_args!("{:.1}", at + 4.0)),
            "",
            &name,
        );
    }
}

/// Legend of the curves, left out if there is only one.
fn draw_line_legend(drawing: &mut PicturePart, lines: &LineChart, left: f64, width: f64) {
    let right =
        lines.second.iter().flat_map(|(axis, all)| all.iter().map(move |s| (s, format!(", {}", axis.unit))));
    let own = lines.plot.series.iter().map(|s| (s, String::new()));
    let all: Vec<(&PlotSeries, String)> = own.chain(right).collect();
    if all.len() < 2 {
        return;
    }
    let mut x = left;
    drawing.height += LINE_HEIGHT;
    for (number, (series, unit)) in all.into_iter().enumerate() {
        let name = cut_to_width(&format!("{}{unit}", series.name), width - left - 34.0);
        let room = 44.0 + text_width(&name);
        if x + room > width && x > left {
            x = left;
            drawing.height += LINE_HEIGHT;
        }
        let y = drawing.height - 4.0;
        let class = number % SERIES_COLOURS + 1;
        let _ = write!(drawing.elements, "<path class=\"l{class}\" d=\"M{x} {}h22\"/>", y - 4.0);
        write_text_line(&mut drawing.elements, (x + 28.0, y), "", &escape_html(&name));
        x += room;
    }
    drawing.height += 4.0;
}

fn draw_axes(
    out: &mut String,
    field: &PlotField,
    (x, x_axis): (&AxisRange, &PlotAxis),
    (y, y_axis): (&AxisRange, &PlotAxis),
) {
    let PlotField { left, right, top, bottom } = *field;
    for tick in y_ticks(y, y_axis) {
        let Some(at) = y.position(tick).map(|p| field.y_at(p)) else { continue };
        let _ = write!(out, "<path class=\"grid\" d=\"M{left} {at:.1}H{right}\"/>");
        write_text_line(
            out,
            (left - 6.0, format_args!("{:.1}", at + 4.0)),
            RIGHT_ALIGNED,
            &escape_html(&y.tick_label(tick)),
        );
    }
    let mut free = 0.0;
    let room = ((right - left) / TICK_ROOM) as usize;
    for tick in x.ticks(room.clamp(2, MAX_TICKS)) {
        let Some(at) = x.position(tick).map(|p| field.x_at(p)) else { continue };
        let words = x.tick_label(tick);
        let half = text_width(&words) / 2.0;
        let at_text = at.min(right + 12.0 - half).max(half);
        let _ = write!(out, "<path class=\"axis\" d=\"M{at:.1} {bottom}v4\"/>");
        if at_text - half > free {
            let place = (format_args!("{at_text:.1}"), bottom + 17.0);
            write_text(out, place, " text-anchor=\"middle\"", &escape_html(&words));
            free = at_text + half + 6.0;
        }
        out.push('\n');
    }
    let _ = writeln!(
        out,
        "<path class=\"axis\" d=\"M{left} {top}V{bottom}H{right}\"/>\
         <text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\" class=\"dim\">{}</text>",
        f64::midpoint(left, right),
        bottom + 34.0,
        escape_html(&axis_title(x_axis)),
    );
}

fn draw_right_axis(out: &mut String, field: &PlotField, ruler: &AxisRange, axis: &PlotAxis) {
    let PlotField { right, top, bottom, .. } = *field;
    let _ = writeln!(out, "<path class=\"axis\" d=\"M{right} {top}V{bottom}\"/>");
    for tick in y_ticks(ruler, axis) {
        let Some(at) = ruler.position(tick).map(|p| field.y_at(p)) else { continue };
        let words = escape_html(&ruler.tick_label(tick));
        write_text_line(out, (right + 4.0, format_args!("{:.1}", at + 4.0)), "", &words);
    }
}

/// Rows above the plot area for the names of marks, so that neighbours do not overlap.
fn mark_rows(lines: &LineChart, x: &AxisRange, width: f64) -> usize {
    let most = if width >= MIN_WIDTH_FOR_NAMES { 3 } else { 4 };
    lines.plot.marks.iter().filter(|(at, _)| x.position(*at).is_some()).count().min(most)
}

/// Vertical marks with their names above the plot area, in alternating rows.
fn draw_vertical_marks(out: &mut String, field: &PlotField, lines: &LineChart, x: &AxisRange, width: f64) {
    let rows = mark_rows(lines, x, width).max(1);
    let shown = lines.plot.marks.iter().filter_map(|(at, name)| Some((field.x_at(x.position(*at)?), name)));
    for (number, (at, name)) in shown.enumerate() {
        let row = field.top - 4.0 - 14.0 * (number % rows) as f64;
        let beyond = at + text_width(name) > width - 4.0;
        let (x_text, anchor) = if beyond { (at - 4.0, "end") } else { (at + 4.0, "start") };
        let _ = write!(out, "<path class=\"across\" d=\"M{at:.1} {:.1}V{}\"/>", row - 8.0, field.bottom);
        let attributes = format!(" text-anchor=\"{anchor}\" font-size=\"11\"");
        let place = (format_args!("{x_text:.1}"), format_args!("{row:.1}"));
        write_text_line(out, place, &attributes, &escape_html(&cut_to_width(name, width - 70.0)));
    }
}

fn band_path(field: &PlotField, lines: &LineChart, x: &AxisRange, y: &AxisRange) -> String {
    let place = |at: f64, value: f64| {
        Some(format!(
            "{} {}",
            ShortNumber(field.x_at(x.position(at)?)),
            ShortNumber(field.y_at(y.position(value)?))
        ))
    };
    let upper = lines.band.iter().filter_map(|(at, [_, high])| place(*at, *high));
    let lower = lines.band.iter().rev().filter_map(|(at, [low, _])| place(*at, *low));
    let around: Vec<String> = upper.chain(lower).collect();
    match around.len() {
        0..4 => String::new(),
        _ => format!("<path class=\"f1\" fill-opacity=\".2\" d=\"M{}Z\"/>\n", around.join("L")),
    }
}

fn draw_curve(
    out: &mut String,
    field: &PlotField,
    series: &PlotSeries,
    number: usize,
    (x, y): (&AxisRange, &AxisRange),
    axis: &PlotAxis,
) {
    let place = |p: &(f64, f64)| Some((field.x_at(x.position(p.0)?), field.y_at(y.position(p.1)?)));
    let places: Vec<(f64, f64)> = series.points.iter().filter_map(place).collect();
    if places.is_empty() {
        return;
    }
    let class = number % SERIES_COLOURS + 1;
    let path: Vec<String> =
        places.iter().map(|(x, y)| format!("{} {}", ShortNumber(*x), ShortNumber(*y))).collect();
    let _ = writeln!(
        out,
        "<path class=\"l{class}\" data-name=\"{}\" data-unit=\"{}\" d=\"M{}\"/>",
        escape_html(&series.name),
        escape_html(&axis.unit),
        path.join("L")
    );
    if places.len() <= MAX_DOTS {
        // A line of length 0 is drawn as its cap alone: a round or a square dot.
        let dots: String =
            places.iter().map(|(x, y)| format!("M{} {}h0", ShortNumber(*x), ShortNumber(*y))).collect();
        let cap = if number.is_multiple_of(2) { "round" } else { "square" };
        let _ = writeln!(
            out,
            "<path class=\"l{class}\" stroke-linecap=\"{cap}\" style=\"stroke-width:4.5;stroke-dasharray:none\" d=\"{dots}\"/>"
        );
    }
}

/// Attributes from which the page's script converts coordinates to values: unit, scale, range and edges of each axis.
fn axis_attributes(
    field: &PlotField,
    x: (&AxisRange, &PlotAxis),
    y: (&AxisRange, &PlotAxis),
    second: Option<(&AxisRange, &PlotAxis)>,
) -> String {
    let axis = |name: &str, (ruler, axis): (&AxisRange, &PlotAxis), [from, to]: [f64; 2]| {
        let (scale, low, high) = ruler.scale_and_ends();
        format!(" data-{name}=\"{}|{scale}|{low}|{high}|{from:.1}|{to:.1}\"", escape_html(&axis.unit))
    };
    let down = [field.bottom, field.top];
    let second = second.map(|s| axis("z", s, down)).unwrap_or_default();
    format!("{}{}{second}", axis("x", x, [field.left, field.right]), axis("y", y, down))
}
