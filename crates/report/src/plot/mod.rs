//! A picture drawn with characters, for terminals and for pages that carry no images: points by series, joined by
//! dots, ticks with units, places worth a line across.

mod canvas;
mod ruler;

use crate::chart::{Chart, Kind};
use canvas::Canvas;
use cardscope_model::card_map::plot::{Axis, Plot};
pub(crate) use ruler::{Ruler, named};

/// Columns of the picture itself; with the ticks at its left it fits a terminal of 80.
const WIDTH: usize = 60;

/// Rows of the picture itself.
const HEIGHT: usize = 12;

/// So many ticks fit below and beside it.
const TICKS: (usize, usize) = (6, 5);

/// A character a series, in their order; further series begin again.
const GLYPHS: [char; 6] = ['*', 'o', '+', 'x', '#', '@'];

/// The curves of a chart, each line ended; one line that says so where there is nothing to draw.
#[must_use]
pub fn text(chart: &Chart) -> String {
    let Kind::Lines(lines) = &chart.kind else { return String::new() };
    let plot = &lines.plot;
    let points = || plot.series.iter().flat_map(|s| s.points.iter());
    let drawn = || points().filter(|(x, y)| x.is_finite() && y.is_finite());
    let x = Ruler::tight(&plot.x, drawn().map(|p| p.0), TICKS.0);
    let y = Ruler::over(&plot.y, drawn().map(|p| p.1), TICKS.1);
    let (Some(x), Some(y)) = (x, y) else { return format!("{}: nothing to draw\n", plot.title) };
    let mut canvas = Canvas::new(WIDTH, HEIGHT);
    for place in plot.marks.iter().filter_map(|(at, _)| x.place(*at)) {
        canvas.line_across(place);
    }
    for (number, series) in plot.series.iter().enumerate() {
        let places = series.points.iter().filter_map(|p| Some((x.place(p.0)?, y.place(p.1)?)));
        canvas.series(&places.collect::<Vec<_>>(), GLYPHS[number % GLYPHS.len()]);
    }
    let mut out = format!("{}\n", plot.title);
    out += &body(&canvas, &y, &plot.y);
    out += &foot(&x, &plot.x, margin(&y));
    out += &legend(plot, &x);
    out
}

/// Columns that the ticks at the left take.
fn margin(y: &Ruler) -> usize {
    y.ticks(TICKS.1).iter().map(|t| y.write(*t).chars().count()).max().unwrap_or(0).max(4)
}

fn body(canvas: &Canvas, y: &Ruler, axis: &Axis) -> String {
    let margin = margin(y);
    let mut labels = vec![String::new(); HEIGHT];
    for tick in y.ticks(TICKS.1) {
        if let Some(place) = y.place(tick) {
            labels[canvas::row(place, HEIGHT)] = y.write(tick);
        }
    }
    let mut out = format!("{:>margin$} ({})\n", "", named(axis));
    for (label, row) in labels.iter().zip(canvas.rows()) {
        let edge = if label.is_empty() { '│' } else { '┤' };
        out += format!("{label:>margin$} {edge}{row}").trim_end();
        out.push('\n');
    }
    out
}

/// The axis below, its ticks, and what it is.
fn foot(x: &Ruler, axis: &Axis, margin: usize) -> String {
    let mut edge = vec!['─'; WIDTH];
    let mut labels = vec![' '; WIDTH + 12];
    let mut free = 0;
    for tick in x.ticks(TICKS.0) {
        let Some(place) = x.place(tick) else { continue };
        let column = canvas::column(place, WIDTH);
        let label = x.write(tick);
        let start = column.saturating_sub(label.chars().count() / 2);
        if start < free {
            continue;
        }
        edge[column] = '┬';
        for (i, c) in label.chars().enumerate() {
            if let Some(cell) = labels.get_mut(start + i) {
                *cell = c;
            }
        }
        free = start + label.chars().count() + 1;
    }
    let edge: String = edge.into_iter().collect();
    let labels: String = labels.into_iter().collect();
    format!(
        "{:>margin$} └{edge}\n{:>margin$}  {}\n{:>margin$}  {}\n",
        "",
        "",
        labels.trim_end(),
        "",
        named(axis)
    )
}

/// Which character is which series, where there are several, and what the lines across are.
fn legend(plot: &Plot, x: &Ruler) -> String {
    let mut out = String::new();
    if plot.series.len() > 1 {
        let names = plot.series.iter().enumerate();
        let names = names.map(|(i, s)| format!("{} {}", GLYPHS[i % GLYPHS.len()], s.name));
        out += &format!("  {}\n", names.collect::<Vec<_>>().join("   "));
    }
    for (at, name) in plot.marks.iter().filter(|(at, _)| x.place(*at).is_some()) {
        let unit = if x.ticks_have_units() { String::new() } else { format!(" {}", plot.x.unit) };
        out += &format!("  ┆ at {}: {name}\n", format!("{}{unit}", x.write(*at)).trim_end());
    }
    out
}

#[cfg(test)]
mod tests;
