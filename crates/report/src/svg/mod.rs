//! A chart as SVG: text that can be selected, a title and a description for who hears it, colours that take the
//! reader's light or dark.

mod bars;
mod inside;
mod lines;
pub(crate) mod palette;

use crate::chart::{Chart, Kind};
use crate::markup::escaped;
use palette::{Drawing, LINE, N, wrapped};

/// What a picture is drawn for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Medium {
    /// On a page of ours, which has title, caption and style of its own.
    Page,
    /// Alone, as a file.
    File,
    /// Alone, for a drawer that knows no variables: light.
    Fixed,
}

impl Medium {
    /// Width in units of the picture, of which a page has one a pixel.
    fn width(self) -> f64 {
        if self == Medium::Page { 380.0 } else { 760.0 }
    }
}

/// The chart; empty where there is nothing to draw.
pub fn of(chart: &Chart, medium: Medium) -> String {
    of_all(std::slice::from_ref(chart), medium)
}

/// Several charts below each other as one picture; empty where there is nothing to draw.
pub fn of_all(charts: &[Chart], medium: Medium) -> String {
    picture(charts, medium).map(|picture| picture.text).unwrap_or_default()
}

/// A picture with its size.
pub(crate) struct Picture {
    pub(crate) text: String,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// Several charts below each other; `None` where there is nothing to draw.
pub(crate) fn picture(charts: &[Chart], medium: Medium) -> Option<Picture> {
    let width = medium.width();
    let mut body = String::new();
    let mut y = 0.0;
    let mut reading = String::new();
    for chart in charts {
        let Some(drawing) = drawing(chart, width) else { continue };
        let (above, below) = around(chart, medium, width);
        let top = y + above.height;
        for (part, at) in [(&above, y), (&drawing, top), (&below, top + drawing.height)] {
            match (part.elements.is_empty(), at > 0.0) {
                (true, _) => {}
                (_, true) => {
                    body += &format!("<g transform=\"translate(0 {})\">\n{}</g>\n", N(at), part.elements)
                }
                (_, false) => body += &part.elements,
            }
        }
        y = top + drawing.height + below.height;
        reading = drawing.reading;
    }
    (!body.is_empty()).then(|| Picture { text: framed(charts, medium, &body, y, &reading), width, height: y })
}

fn drawing(chart: &Chart, width: f64) -> Option<Drawing> {
    match &chart.kind {
        Kind::Bars(bars) => bars::draw(bars, width),
        Kind::Lines(lines) => lines::draw(lines, width),
        Kind::Addresses(addresses) => inside::addresses(addresses, width),
        Kind::Flash(flash) => inside::flash(flash, width),
    }
}

/// Title above and caption below; a page has both of its own.
fn around(chart: &Chart, medium: Medium, width: f64) -> (Drawing, Drawing) {
    if medium == Medium::Page {
        return (Drawing::default(), Drawing::default());
    }
    let mut above = Drawing { height: 18.0, ..Drawing::default() };
    for line in wrapped(&chart.title, (width - 32.0) / 1.35) {
        above.height += 20.0;
        let text = escaped(&line);
        let y = above.height - 8.0;
        above.elements +=
            &format!("<text x=\"16\" y=\"{y}\" font-size=\"16\" font-weight=\"600\">{text}</text>\n");
    }
    let mut below = Drawing { height: 4.0, ..Drawing::default() };
    for line in wrapped(&chart.caption.words(), width - 32.0) {
        below.height += LINE;
        below.elements +=
            &format!("<text x=\"16\" y=\"{}\" class=\"dim\">{}</text>\n", below.height - 4.0, escaped(&line));
    }
    below.height += 12.0;
    (above, below)
}

fn framed(charts: &[Chart], medium: Medium, body: &str, height: f64, reading: &str) -> String {
    let (width, height) = (N(medium.width()), N(height));
    let joined =
        |of: fn(&Chart) -> String| charts.iter().map(|c| escaped(&of(c))).collect::<Vec<_>>().join("; ");
    let title = joined(|chart| chart.title.clone());
    if medium == Medium::Page {
        // What the picture says stands in its caption already.
        return format!(
            "<svg viewBox=\"0 0 {width} {height}\" class=\"chart\" role=\"img\"{reading}>\n<title>{title}</title>\n{body}</svg>\n"
        );
    }
    let style = if medium == Medium::File { palette::standalone() } else { palette::fixed(&palette::LIGHT) };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         class=\"chart\" role=\"img\" font-family=\"system-ui, sans-serif\" font-size=\"12\">\n<title>{title}</title>\n\
         <desc>{}</desc>\n<style>{style}</style>\n<rect class=\"ground\" width=\"{width}\" height=\"{height}\"/>\n{body}</svg>\n",
        joined(|chart| chart.caption.words()),
    )
}

#[cfg(test)]
mod tests;
