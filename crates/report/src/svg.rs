//! A picture as SVG: the same description that a terminal draws with characters. Colours are those of the page it
//! stands in (`--first` …), with others where it stands alone.

use crate::check::escaped;
use crate::plot::Ruler;
use cardscope_model::card_map::plot::{Axis, Plot};
use std::fmt::Write;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 52.0;

/// Half the room that the name of a tick takes, at most.
const HALF_TICK: f64 = 26.0;

/// Stroke and shape of each series; told apart without colour, too.
const SERIES: [(&str, &str, &str); 4] = [
    ("var(--first, #1f5fbf)", "", "circle"),
    ("var(--second, #c2571a)", "6 3", "square"),
    ("var(--third, #2b7f6b)", "2 3", "circle"),
    ("var(--fourth, #7b4fa3)", "8 3 2 3", "square"),
];

/// More points than this are drawn as a line alone.
const MOST_DOTS: usize = 80;

/// The picture; empty where there is nothing to draw.
#[must_use]
pub fn svg(plot: &Plot) -> String {
    let points = || plot.series.iter().flat_map(|s| s.points.iter());
    let drawn = || points().filter(|(x, y)| x.is_finite() && y.is_finite());
    let x = Ruler::tight(&plot.x, drawn().map(|p| p.0), 7);
    let y = Ruler::over(&plot.y, drawn().map(|p| p.1), 6);
    let (Some(x), Some(y)) = (x, y) else { return String::new() };
    let mut out = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" xmlns=\"http://www.w3.org/2000/svg\" \
         font-family=\"system-ui, sans-serif\" font-size=\"12\" fill=\"currentColor\">\n<title>{0}</title>\n\
         <text x=\"{LEFT}\" y=\"16\" font-weight=\"600\">{0}</text>\n",
        escaped(&plot.title)
    );
    frame(&mut out, &x, &y, plot);
    for (at, name) in &plot.marks {
        mark(&mut out, &x, *at, name);
    }
    for (number, series) in plot.series.iter().enumerate() {
        let places: Vec<(f64, f64)> =
            series.points.iter().filter_map(|p| Some((across(x.place(p.0)?), down(y.place(p.1)?)))).collect();
        line(&mut out, &places, number);
        legend(&mut out, &series.name, number, plot.series.len());
    }
    out.push_str("</svg>\n");
    out
}

/// 0 to 1 along the x axis, as a coordinate.
fn across(place: f64) -> f64 {
    LEFT + place * (WIDTH - LEFT - RIGHT)
}

/// 0 to 1 up the y axis, as a coordinate.
fn down(place: f64) -> f64 {
    HEIGHT - BOTTOM - place * (HEIGHT - TOP - BOTTOM)
}

fn frame(out: &mut String, x: &Ruler, y: &Ruler, plot: &Plot) {
    let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
    for tick in y.ticks(6) {
        let Some(at) = y.place(tick).map(down) else { continue };
        let _ = writeln!(
            out,
            "<path d=\"M{LEFT} {at:.1}H{right}\" stroke=\"currentColor\" stroke-opacity=\".15\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 6.0,
            at + 4.0,
            escaped(&y.write(tick))
        );
    }
    for tick in x.ticks(7) {
        let Some(at) = x.place(tick).map(across) else { continue };
        let _ = writeln!(
            out,
            "<path d=\"M{at:.1} {bottom}v4\" stroke=\"currentColor\"/>\
             <text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            at.min(WIDTH - HALF_TICK),
            bottom + 17.0,
            escaped(&x.write(tick))
        );
    }
    let _ = writeln!(
        out,
        "<path d=\"M{LEFT} {TOP}V{bottom}H{right}\" fill=\"none\" stroke=\"currentColor\"/>\
         <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\
         <text transform=\"translate(14 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
        f64::midpoint(LEFT, right),
        HEIGHT - 12.0,
        escaped(&named(&plot.x)),
        f64::midpoint(TOP, bottom),
        escaped(&named(&plot.y))
    );
}

fn named(axis: &Axis) -> String {
    match (axis.label.as_str(), axis.unit.as_str()) {
        (label, "" | "bytes") => label.to_owned(),
        ("", unit) => unit.to_owned(),
        (label, unit) => format!("{label}, {unit}"),
    }
}

fn mark(out: &mut String, x: &Ruler, at: f64, name: &str) {
    let Some(at) = x.place(at).map(across) else { return };
    let _ = writeln!(
        out,
        "<path d=\"M{at:.1} {TOP}V{}\" stroke=\"currentColor\" stroke-dasharray=\"3 3\" stroke-opacity=\".6\"/>\
         <text x=\"{:.1}\" y=\"{}\" font-size=\"11\">{}</text>",
        HEIGHT - BOTTOM,
        at + 4.0,
        TOP + 12.0,
        escaped(name)
    );
}

fn line(out: &mut String, places: &[(f64, f64)], number: usize) {
    let (colour, dashes, shape) = SERIES[number % SERIES.len()];
    let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    if path.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "<path d=\"M{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\" stroke-dasharray=\"{dashes}\"/>",
        path.join("L")
    );
    for (x, y) in places.iter().filter(|_| places.len() <= MOST_DOTS) {
        let _ = match shape {
            "circle" => writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.6\" fill=\"{colour}\"/>"),
            _ => writeln!(
                out,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"5\" height=\"5\" fill=\"{colour}\"/>",
                x - 2.5,
                y - 2.5
            ),
        };
    }
}

fn legend(out: &mut String, name: &str, number: usize, of: usize) {
    if of < 2 {
        return;
    }
    let (colour, dashes, _) = SERIES[number % SERIES.len()];
    let x = LEFT + 160.0 * number as f64;
    let _ = writeln!(
        out,
        "<path d=\"M{x} 29h24\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dashes}\"/>\
         <text x=\"{}\" y=\"33\">{}</text>",
        x + 30.0,
        escaped(name)
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::card_map::plot::{Scale, Series};

    fn plot(points: Vec<(f64, f64)>) -> Plot {
        Plot {
            title: "speed <by> size".into(),
            x: Axis::new("size", "bytes", Scale::Log2),
            y: Axis::new("speed", "MB/s", Scale::Linear),
            series: vec![Series { name: "write".into(), points }],
            marks: vec![(65536.0, "half".into())],
        }
    }

    #[test]
    fn a_picture_names_its_axes_with_units_and_is_sound_xml_whatever_it_is_called() {
        let text = svg(&plot(vec![(4096.0, 1.0), (65536.0, 8.0), (4_194_304.0, 12.0)]));
        assert!(text.contains("speed, MB/s") && text.contains("speed &lt;by&gt; size"), "{text}");
        assert_eq!(text.matches("<circle").count(), 3);
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    }

    #[test]
    fn nothing_to_draw_is_no_picture_and_odd_numbers_are_left_out() {
        assert_eq!(svg(&plot(vec![])), "");
        let text = svg(&plot(vec![(4096.0, f64::NAN), (4096.0, 2.0), (8192.0, f64::INFINITY)]));
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    }
}
