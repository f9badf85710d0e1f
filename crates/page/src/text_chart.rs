//! Terminal charts: curves drawn with characters on a grid, speed over the addresses as a row of blocks.

use crate::axis_range::AxisRange;
use crate::chart::{AddressChart, Chart, ChartKind, LineChart};
use cardscope_model::card_map::plot::Plot;
use cardscope_model::units::DecimalSize;

/// Columns of the drawing area. With the ticks at its left it fits a terminal of 80 columns.
const PLOT_WIDTH: usize = 60;

const PLOT_HEIGHT: usize = 12;

/// Most ticks of the x axis and of the y axis.
const MOST_TICKS: (usize, usize) = (6, 5);

/// Characters of the series, in their order; a seventh series starts over.
const GLYPHS: [char; 6] = ['*', 'o', '+', 'x', '#', '@'];

/// Returns the chart as lines, each with its line end, or one line that reports missing data.
/// Bars and flash geometry give no text, because a terminal shows their tables instead.
pub fn render_text_chart(chart: &Chart) -> String {
    match &chart.kind {
        ChartKind::Lines(lines) => draw_curves(&chart.title, lines),
        ChartKind::Addresses(addresses) => draw_speed_rows(&chart.title, addresses),
        ChartKind::Bars(_) | ChartKind::Flash(_) => String::new(),
    }
}

fn draw_curves(title: &str, lines: &LineChart) -> String {
    let plot = &lines.plot;
    let points = plot.series.iter().flat_map(|s| &s.points);
    let drawn = points.filter(|(x, y)| x.is_finite() && y.is_finite());
    let x = AxisRange::tight(&plot.x, drawn.clone().map(|p| p.0), MOST_TICKS.0);
    let y = AxisRange::padded(&plot.y, drawn.map(|p| p.1), MOST_TICKS.1);
    let (Some(x), Some(y)) = (x, y) else { return format!("{title}: nothing to draw\n") };
    let mut canvas = TextCanvas { cells: vec![vec![' '; PLOT_WIDTH]; PLOT_HEIGHT], width: PLOT_WIDTH };
    for at in plot.marks.iter().filter_map(|(at, _)| x.position(*at)) {
        canvas.draw_mark(at);
    }
    for (number, series) in plot.series.iter().enumerate() {
        let places = series.points.iter().filter_map(|p| Some((x.position(p.0)?, y.position(p.1)?)));
        canvas.draw_series(&places.collect::<Vec<_>>(), GLYPHS[number % GLYPHS.len()]);
    }
    let (body, foot) = (draw_body(&canvas, &y), draw_x_axis(&x, y_label_columns(&y)));
    format!("{title}\n{body}{foot}{}", series_legend(plot, &x))
}

/// Columns of the y axis labels.
fn y_label_columns(y: &AxisRange<'_>) -> usize {
    y.ticks(MOST_TICKS.1).iter().map(|t| y.tick_label(*t).chars().count()).max().unwrap_or(0).max(4)
}

fn draw_body(canvas: &TextCanvas, y: &AxisRange<'_>) -> String {
    let margin = y_label_columns(y);
    let mut labels = vec![String::new(); PLOT_HEIGHT];
    for tick in y.ticks(MOST_TICKS.1) {
        if let Some(place) = y.position(tick) {
            labels[row_of(place, PLOT_HEIGHT)] = y.tick_label(tick);
        }
    }
    let mut out = format!("{:>margin$} ({})\n", "", y.title());
    for (label, row) in labels.iter().zip(canvas.rows()) {
        let edge = if label.is_empty() { '│' } else { '┤' };
        out += format!("{label:>margin$} {edge}{row}").trim_end();
        out.push('\n');
    }
    out
}

fn draw_x_axis(x: &AxisRange<'_>, margin: usize) -> String {
    let mut edge = vec!['─'; PLOT_WIDTH];
    let mut labels = vec![' '; PLOT_WIDTH + 12];
    let mut free = 0;
    for tick in x.ticks(MOST_TICKS.0) {
        let Some(place) = x.position(tick) else { continue };
        let column = column_of(place, PLOT_WIDTH);
        let label = x.tick_label(tick);
        let start = column.saturating_sub(label.chars().count() / 2);
        if start < free {
            continue;
        }
        edge[column] = '┬';
        labels.iter_mut().skip(start).zip(label.chars()).for_each(|(cell, c)| *cell = c);
        free = start + label.chars().count() + 1;
    }
    let (edge, labels) = (String::from_iter(edge), String::from_iter(labels));
    let (blank, labels, title) = (" ".repeat(margin), labels.trim_end(), x.title());
    format!("{blank} └{edge}\n{blank}  {labels}\n{blank}  {title}\n")
}

/// Explains the characters of several series, and the vertical marks.
fn series_legend(plot: &Plot, x: &AxisRange<'_>) -> String {
    let mut out = String::new();
    if plot.series.len() > 1 {
        let names = plot.series.iter().enumerate();
        let names = names.map(|(i, s)| format!("{} {}", GLYPHS[i % GLYPHS.len()], s.name));
        out += &format!("  {}\n", names.collect::<Vec<_>>().join("   "));
    }
    for (at, name) in plot.marks.iter().filter(|(at, _)| x.position(*at).is_some()) {
        let unit = if x.ticks_have_units() { String::new() } else { format!(" {}", plot.x.unit) };
        out += &format!("  ┆ at {}: {name}\n", format!("{}{unit}", x.tick_label(*at)).trim_end());
    }
    out
}

/// Block character for a share from 0 to 1.
pub fn block_character(share: f64) -> char {
    BLOCK_CHARACTERS[((share * 8.0).ceil() as usize).clamp(1, 8) - 1]
}

/// Block characters by height.
const BLOCK_CHARACTERS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Legend of the marks for lost bytes.
const LOST_LEGEND: &str = "      . below 1 % of the column's bytes, : below 10 %, # more, or an I/O failed";

/// Speed over the addresses: a block character for each column, scaled to the fastest, with marks below for lost bytes.
fn draw_speed_rows(title: &str, map: &AddressChart) -> String {
    let mut lines = vec![title.to_owned()];
    for strip in &map.strips {
        let most = strip.columns.iter().flatten().copied().fold(0.0, f64::max);
        let bar = |mb_s: &Option<f64>| match mb_s {
            Some(mb_s) if most > 0.0 => block_character(mb_s / most),
            Some(_) => BLOCK_CHARACTERS[0],
            None => ' ',
        };
        lines.push(format!("{:5} {}", strip.name, strip.columns.iter().map(bar).collect::<String>()));
        lines.push(format!("      {}{}", strip.speeds, strip.slowest));
    }
    if !map.lost.is_empty() {
        let mark = |share: &f64| match *share {
            0.0 => ' ',
            share if share < 0.01 => '.',
            share if share < 0.1 => ':',
            _ => '#',
        };
        lines.push(format!("bad   {}", map.lost.iter().map(mark).collect::<String>()));
        lines.push(LOST_LEGEND.to_owned());
    }
    lines.push(format!("      a column is {} of {}", DecimalSize(map.column_bytes), DecimalSize(map.bytes)));
    lines.iter().map(|line| line.trim_end().to_owned() + "\n").collect()
}

struct TextCanvas {
    cells: Vec<Vec<char>>,
    width: usize,
}

/// Joins two neighbouring points of a series.
const JOINING_DOT: char = '·';

/// Draws vertical marks.
const VERTICAL_MARK: char = '┆';

/// Column of a position from 0 to 1.
fn column_of(place: f64, width: usize) -> usize {
    ((place * (width - 1) as f64).round() as usize).min(width - 1)
}

/// Row of a position from 0 (last row) to 1 (first row).
fn row_of(place: f64, height: usize) -> usize {
    height - 1 - column_of(place, height)
}

impl TextCanvas {
    fn draw_mark(&mut self, place: f64) {
        let column = column_of(place, self.width);
        self.cells.iter_mut().for_each(|row| row[column] = VERTICAL_MARK);
    }

    /// Draws points with positions from 0 to 1. They are joined by lines if there are fewer points than columns.
    fn draw_series(&mut self, places: &[(f64, f64)], glyph: char) {
        let height = self.cells.len();
        let cell = |(x, y): &(f64, f64)| (column_of(*x, self.width), row_of(*y, height));
        let cells: Vec<(usize, usize)> = places.iter().map(cell).collect();
        if cells.len() < self.width {
            cells.windows(2).for_each(|pair| self.join_cells(pair[0], pair[1]));
        }
        for (column, row) in cells {
            self.cells[row][column] = glyph;
        }
    }

    fn join_cells(&mut self, from: (usize, usize), to: (usize, usize)) {
        let steps = from.0.abs_diff(to.0).max(from.1.abs_diff(to.1));
        for step in 1..steps {
            let share = step as f64 / steps as f64;
            let between = |a: usize, b: usize| (a as f64 + (b as f64 - a as f64) * share).round() as usize;
            let cell = &mut self.cells[between(from.1, to.1)][between(from.0, to.0)];
            if matches!(*cell, ' ' | VERTICAL_MARK) {
                *cell = JOINING_DOT;
            }
        }
    }

    fn rows(&self) -> impl Iterator<Item = String> {
        self.cells.iter().map(|row| row.iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::card_map::plot::{AxisScale, Plot, PlotAxis, PlotSeries};

    fn series(name: &str, points: &[(f64, f64)]) -> PlotSeries {
        PlotSeries { name: name.to_owned(), points: points.to_vec() }
    }

    /// Write speed by I/O size, as published for a Lexar 16 GB card.
    fn curve() -> Plot {
        let kib = [4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 2048.0, 4096.0];
        let of = |speeds: [f64; 10]| kib.iter().map(|k| k * 1024.0).zip(speeds).collect::<Vec<_>>();
        let in_order = of([2.0, 3.2, 5.8, 7.5, 8.7, 9.4, 10.4, 10.8, 11.2, 11.2]);
        let at_random = of([1.06, 2.63, 4.7, 6.94, 9.06, 10.7, 11.7, 12.2, 12.7, 9.84]);
        Plot {
            title: "Write speed by size".to_owned(),
            x: PlotAxis::new("bytes of a write", "bytes", AxisScale::Log2),
            y: PlotAxis::new("speed", "MB/s", AxisScale::Log10),
            series: vec![series("in order", &in_order), series("at random", &at_random)],
            marks: vec![(16384.0, "page".to_owned())],
        }
    }

    #[test]
    fn text_chart_of_a_published_write_curve() {
        insta::assert_snapshot!(render_text_chart(&Chart::from(&curve())), @r"
        Write speed by size
             (speed, MB/s)
          20 ┤            ┆
             │            ┆
             │            ┆               ··o····o·····o···········o·····*
          10 ┤            ┆         ··o·····*··                       ···o
             │            ┆   ··o···
           5 ┤           ·o···
             │        ··· ┆
             │    ··o·    ┆
           2 ┤*·····      ┆
             │   ·        ┆
             │ ··         ┆
           1 ┤o           ┆
             └┬───────────┬───────────┬──────────┬───────────┬───────────┬
              4 KiB    16 KiB      64 KiB     256 KiB      1 MiB       4 MiB
              bytes of a write
          * in order   o at random
          ┆ at 16 KiB: page
        ");
    }

    /// Ten minutes with a point each second: 45 MB/s, then 12 MB/s from the fifth minute.
    fn cache_end() -> Plot {
        let speed = |s: u32| if s < 300 { 45.0 } else { 12.0 } + f64::from(s % 7);
        Plot {
            title: "Speed over time".to_owned(),
            x: PlotAxis::new("time", "s", AxisScale::Linear),
            y: PlotAxis::new("speed", "MB/s", AxisScale::Linear),
            series: vec![series("write", &(0..600).map(|s| (f64::from(s), speed(s))).collect::<Vec<_>>())],
            marks: vec![(300.0, "cache end".to_owned())],
        }
    }

    #[test]
    fn text_chart_of_a_cache_end_starts_at_zero() {
        insta::assert_snapshot!(render_text_chart(&Chart::from(&cache_end())), @r"
        Speed over time
             (speed, MB/s)
          60 ┤                              ┆
             │                              ┆
             │******************************┆
             │******************************┆
          40 ┤                              ┆
             │                              ┆
             │                              ┆
          20 ┤                              ┆
             │                              ******************************
             │                              ******************************
             │                              ┆
           0 ┤                              ┆
             └┬─────────┬─────────┬─────────┬────────┬─────────┬──────────
              0        100       200       300      400       500
              time, s
          ┆ at 300 s: cache end
        ");
    }

    #[test]
    fn text_chart_fits_the_terminal_for_any_values() {
        let scales = [AxisScale::Linear, AxisScale::Log2, AxisScale::Log10];
        let strange: [&[(f64, f64)]; 8] = [
            &[],
            &[(f64::NAN, 1.0), (1.0, f64::INFINITY)],
            &[(0.0, 0.0)],
            &[(5.0, 7.0)],
            &[(1e18, 1e-9), (1.0, 1e12)],
            &[(-3.0, -2.0), (-1.0, -8.0)],
            &[(1.0, 5.0), (2.0, 5.0), (3.0, 5.0)],
            &[(512.0, 0.001), (4e12, 0.0011)],
        ];
        for (points, pair) in strange.iter().flat_map(|p| (0..9).map(move |pair| (p, pair))) {
            let (x, y) = (&scales[pair / 3], &scales[pair % 3]);
            let plot = Plot {
                x: PlotAxis::new("x", "bytes", *x),
                y: PlotAxis::new("y", "µs", *y),
                series: vec![series("a", points)],
                marks: vec![(2.0, "two".to_owned()), (f64::NAN, "nowhere".to_owned())],
                ..curve()
            };
            let drawn = render_text_chart(&Chart::from(&plot));
            assert!(drawn.lines().all(|line| line.chars().count() <= 90), "{points:?} {x:?} {y:?}:\n{drawn}");
            assert!(
                drawn.contains('*') || drawn.contains("nothing to draw"),
                "{points:?} {x:?} {y:?}:\n{drawn}"
            );
        }
    }

    #[test]
    fn speed_axes_start_at_zero_and_temperature_axes_do_not() {
        let from = |unit: &str| {
            let axis = PlotAxis::new("", unit, AxisScale::Linear);
            AxisRange::padded(&axis, [14.0, 20.4, 20.2].into_iter(), 5).unwrap().position(0.0)
        };
        assert_eq!((from("MB/s"), from("µs"), from("°C")), (Some(0.0), Some(0.0), None));
    }

    #[test]
    fn logarithmic_axes_have_ticks_for_nearly_equal_values() {
        for scale in [AxisScale::Log10, AxisScale::Log2] {
            for values in [[21.0, 28.0], [21.0, 21.0], [0.000_3, 0.000_31]] {
                let axis = PlotAxis::new("", "MB/s", scale);
                let ruler = AxisRange::padded(&axis, values.into_iter(), 5).unwrap();
                assert!(ruler.ticks(5).len() >= 2, "{scale:?} {values:?}: {:?}", ruler.ticks(5));
            }
        }
    }
}
