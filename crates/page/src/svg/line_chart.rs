//! Line charts as SVG, with a band behind the first curve and a second y axis at the right.

use super::palette::{
    LINE_HEIGHT, PicturePart, RIGHT_ALIGNED, SECONDARY_TEXT, ShortNumber, cut_to_width, text_width,
};
use crate::axis_range::AxisRange;
use crate::chart::{LineChart, SERIES_COLOURS};
use crate::markup::escape_html;
use cardscope_model::card_map::plot::{AxisScale, PlotSeries};
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

const CENTRED: &str = " text-anchor=\"middle\"";

/// Plot area with the ranges of its axes.
#[derive(Clone, Copy)]
struct PlotField<'a> {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: AxisRange<'a>,
    y: AxisRange<'a>,
}

impl PlotField<'_> {
    fn x_at(&self, value: f64) -> Option<f64> {
        Some(self.left + self.x.position(value)? * (self.right - self.left))
    }

    fn y_at(&self, value: f64) -> Option<f64> {
        Some(self.bottom - self.y.position(value)? * (self.bottom - self.top))
    }

    /// Coordinates of a point for a path; None outside the area.
    fn place(&self, x: f64, y: f64) -> Option<String> {
        Some(format!("{} {}", ShortNumber(self.x_at(x)?), ShortNumber(self.y_at(y)?)))
    }
}

pub(super) fn draw_lines(lines: &LineChart, width: f64) -> Option<PicturePart> {
    let plot = &lines.plot;
    let points = plot.series.iter().flat_map(|s| &s.points).filter(|(x, y)| x.is_finite() && y.is_finite());
    let x = AxisRange::tight(&plot.x, points.clone().map(|p| p.0), MAX_TICKS)?;
    let band = lines.band.iter().flat_map(|(_, ends)| *ends).filter(|v| v.is_finite());
    let y = AxisRange::padded(&plot.y, points.map(|p| p.1).chain(band), MAX_TICKS)?;
    let second = lines.second.as_ref().and_then(|(axis, all)| {
        let values = all.iter().flat_map(|s| &s.points).map(|p| p.1).filter(|v| v.is_finite());
        Some((AxisRange::padded(axis, values, MAX_TICKS)?, all))
    });
    let mut drawing = PicturePart::default();
    let roomy = width >= MIN_WIDTH_FOR_NAMES;
    let direct = roomy && second.is_none() && (2..=SERIES_COLOURS).contains(&plot.series.len());
    let names = plot.series.iter().map(|s| text_width(&s.name)).fold(0.0, f64::max) + NAME_DISTANCE + 4.0;
    let right = match &second {
        Some((range, _)) => width - tick_labels_width(range) - 8.0,
        None if direct => width - names.min(MAX_NAMES_WIDTH),
        None => width - 14.0,
    };
    let left = tick_labels_width(&y) + 10.0;
    if !direct {
        draw_line_legend(&mut drawing, lines, left, width);
    }
    drawing.height += LINE_HEIGHT;
    let title_y = drawing.height - 4.0;
    let title = cut_to_width(&y.title(), width / 2.0);
    drawing.write_text(((left - 40.0).max(2.0), title_y), SECONDARY_TEXT, &title);
    if let Some((range, _)) = &second {
        let (attributes, title) = (format!("{RIGHT_ALIGNED}{SECONDARY_TEXT}"), range.title());
        drawing.write_text((width - 2.0, title_y), &attributes, &cut_to_width(&title, width / 2.0));
    }
    // Names of neighbouring marks are in different rows, so that they do not overlap.
    let marks = plot.marks.iter().filter(|(at, _)| x.position(*at).is_some()).count();
    let rows = marks.min(if roomy { 3 } else { 4 });
    let top = drawing.height + 8.0 + rows as f64 * 14.0;
    let bottom = top + (width * PLOT_ASPECT).min(MAX_PLOT_HEIGHT).round();
    let field = PlotField { left, right, top, bottom, x, y };
    draw_axes(&mut drawing, &field);
    draw_vertical_marks(&mut drawing, &field, &plot.marks, rows, width);
    drawing.elements += &band_path(&field, &lines.band);
    for (number, series) in plot.series.iter().enumerate() {
        draw_curve(&mut drawing.elements, &field, series, number);
    }
    if direct {
        draw_names_at_ends(&mut drawing, &field, &plot.series, width);
    }
    drawing.reading = axis_attribute("x", &x, [left, right]) + &axis_attribute("y", &y, [bottom, top]);
    if let Some((y, all)) = second {
        let field = PlotField { y, ..field };
        draw_right_axis(&mut drawing, &field);
        for (number, series) in (plot.series.len()..).zip(all) {
            draw_curve(&mut drawing.elements, &field, series, number);
        }
        drawing.reading += &axis_attribute("z", &y, [bottom, top]);
    }
    drawing.height = bottom + 40.0;
    Some(drawing)
}

/// Width of the tick labels of a y axis.
fn tick_labels_width(range: &AxisRange<'_>) -> f64 {
    y_ticks(range).iter().map(|tick| text_width(&range.tick_label(*tick))).fold(20.0, f64::max)
}

fn y_ticks(range: &AxisRange<'_>) -> Vec<f64> {
    range.ticks(if range.axis.scale == AxisScale::Log10 { LOG_TICKS } else { MAX_TICKS })
}

/// Writes the names of curves at their ends, moved apart so that they do not overlap.
fn draw_names_at_ends(drawing: &mut PicturePart, field: &PlotField<'_>, all: &[PlotSeries], width: f64) {
    let end = |series: &PlotSeries| {
        let height = |(x, y): &(f64, f64)| field.x_at(*x).and(field.y_at(*y));
        series.points.iter().rev().find_map(height)
    };
    let ends = all.iter().enumerate().filter_map(|(number, series)| Some((end(series)?, number)));
    let mut ends: Vec<(f64, usize)> = ends.collect();
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
    let right = field.right;
    for (at, number) in ends {
        let class = number % SERIES_COLOURS + 1;
        let name = cut_to_width(&all[number].name, width - right - NAME_DISTANCE);
        let _ = write!(drawing.elements, "<path class=\"l{class}\" d=\"M{:.1} {at:.1}h12\"/>", right + 4.0);
        drawing.write_text((right + NAME_DISTANCE, at + 4.0), "", &name);
    }
}

/// Legend of the curves, left out if there is only one.
fn draw_line_legend(drawing: &mut PicturePart, lines: &LineChart, left: f64, width: f64) {
    let named = |series: &PlotSeries, unit: String| format!("{}{unit}", series.name);
    let own = lines.plot.series.iter().map(|s| named(s, String::new()));
    let second = lines.second.iter();
    let second = second.flat_map(|(axis, all)| all.iter().map(move |s| named(s, format!(", {}", axis.unit))));
    let names: Vec<String> = own.chain(second).collect();
    if names.len() < 2 {
        return;
    }
    let mut x = left;
    drawing.height += LINE_HEIGHT;
    for (number, name) in names.iter().enumerate() {
        let name = cut_to_width(name, width - left - 34.0);
        let room = 44.0 + text_width(&name);
        if x + room > width && x > left {
            x = left;
            drawing.height += LINE_HEIGHT;
        }
        let (y, class) = (drawing.height - 4.0, number % SERIES_COLOURS + 1);
        let _ = write!(drawing.elements, "<path class=\"l{class}\" d=\"M{x} {}h22\"/>", y - 4.0);
        drawing.write_text((x + 28.0, y), "", &name);
        x += room;
    }
    drawing.height += 4.0;
}

fn draw_axes(drawing: &mut PicturePart, field: &PlotField<'_>) {
    let PlotField { left, right, top, bottom, x, y } = *field;
    for tick in y_ticks(&y) {
        let Some(at) = field.y_at(tick) else { continue };
        let _ = write!(drawing.elements, "<path class=\"grid\" d=\"M{left} {at:.1}H{right}\"/>");
        drawing.write_text((left - 6.0, at + 4.0), RIGHT_ALIGNED, &y.tick_label(tick));
    }
    let mut free = 0.0;
    let room = ((right - left) / TICK_ROOM) as usize;
    for tick in x.ticks(room.clamp(2, MAX_TICKS)) {
        let Some(at) = field.x_at(tick) else { continue };
        let words = x.tick_label(tick);
        let half = text_width(&words) / 2.0;
        let at_text = at.min(right + 12.0 - half).max(half);
        let _ = writeln!(drawing.elements, "<path class=\"axis\" d=\"M{at:.1} {bottom}v4\"/>");
        if at_text - half > free {
            drawing.write_text((at_text, bottom + 17.0), CENTRED, &words);
            free = at_text + half + 6.0;
        }
    }
    let _ = writeln!(drawing.elements, "<path class=\"axis\" d=\"M{left} {top}V{bottom}H{right}\"/>");
    let attributes = format!("{CENTRED}{SECONDARY_TEXT}");
    drawing.write_text((f64::midpoint(left, right), bottom + 34.0), &attributes, &x.title());
}

fn draw_right_axis(drawing: &mut PicturePart, field: &PlotField<'_>) {
    let PlotField { right, top, bottom, y, .. } = *field;
    let _ = writeln!(drawing.elements, "<path class=\"axis\" d=\"M{right} {top}V{bottom}\"/>");
    for tick in y_ticks(&y) {
        let Some(at) = field.y_at(tick) else { continue };
        drawing.write_text((right + 4.0, at + 4.0), "", &y.tick_label(tick));
    }
}

/// Vertical marks with their names above the plot area, in alternating rows.
fn draw_vertical_marks(
    drawing: &mut PicturePart,
    field: &PlotField<'_>,
    marks: &[(f64, String)],
    rows: usize,
    width: f64,
) {
    let shown = marks.iter().filter_map(|(at, name)| Some((field.x_at(*at)?, name)));
    for (number, (at, name)) in shown.enumerate() {
        let row = field.top - 4.0 - 14.0 * (number % rows.max(1)) as f64;
        let beyond = at + text_width(name) > width - 4.0;
        let (x_text, anchor) = if beyond { (at - 4.0, "end") } else { (at + 4.0, "start") };
        let (from, to) = (row - 8.0, field.bottom);
        let _ = write!(drawing.elements, "<path class=\"across\" d=\"M{at:.1} {from:.1}V{to}\"/>");
        let attributes = format!(" text-anchor=\"{anchor}\" font-size=\"11\"");
        drawing.write_text((x_text, row), &attributes, &cut_to_width(name, width - 70.0));
    }
}

fn band_path(field: &PlotField<'_>, band: &[(f64, [f64; 2])]) -> String {
    let upper = band.iter().filter_map(|(at, [_, high])| field.place(*at, *high));
    let lower = band.iter().rev().filter_map(|(at, [low, _])| field.place(*at, *low));
    let around: Vec<String> = upper.chain(lower).collect();
    match around.len() {
        0..4 => String::new(),
        _ => format!("<path class=\"f1\" fill-opacity=\".2\" d=\"M{}Z\"/>\n", around.join("L")),
    }
}

fn draw_curve(out: &mut String, field: &PlotField<'_>, series: &PlotSeries, number: usize) {
    let places = series.points.iter().filter_map(|(x, y)| field.place(*x, *y));
    let places: Vec<String> = places.collect();
    if places.is_empty() {
        return;
    }
    let class = number % SERIES_COLOURS + 1;
    let (name, unit) = (escape_html(&series.name), escape_html(&field.y.axis.unit));
    let path = places.join("L");
    let _ =
        writeln!(out, "<path class=\"l{class}\" data-name=\"{name}\" data-unit=\"{unit}\" d=\"M{path}\"/>");
    if places.len() <= MAX_DOTS {
        // A line of length 0 is drawn as its cap alone: a round or a square dot.
        let dots: String = places.iter().map(|place| format!("M{place}h0")).collect();
        let cap = if number.is_multiple_of(2) { "round" } else { "square" };
        let style = "stroke-width:4.5;stroke-dasharray:none";
        let _ = writeln!(
            out,
            "<path class=\"l{class}\" stroke-linecap=\"{cap}\" style=\"{style}\" d=\"{dots}\"/>"
        );
    }
}

/// Attribute from which the page's script converts coordinates to values: unit, scale, range and edges of an axis.
fn axis_attribute(name: &str, range: &AxisRange<'_>, [from, to]: [f64; 2]) -> String {
    let (scale, low, high) = range.scale_and_ends();
    format!(" data-{name}=\"{}|{scale}|{low}|{high}|{from:.1}|{to:.1}\"", escape_html(&range.axis.unit))
}
