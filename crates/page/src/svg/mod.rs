//! Charts as SVG with selectable text, title and description for screen readers, and light and dark colours.

mod bars;
mod card_map;
mod line_chart;
pub(crate) mod palette;

use crate::chart::{Chart, ChartKind};
use crate::markup::escape_html;
use palette::{LINE_HEIGHT, PicturePart, SECONDARY_TEXT, ShortNumber, wrap_to_width};

/// Medium of an SVG chart, which decides its width, frame and style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SvgMedium {
    /// Page on a wide window. The page supplies title, caption and style.
    Wide,
    /// Page on a phone, or one of three charts in a row.
    Narrow,
    /// File that is opened by itself.
    File,
    /// Light colours without CSS variables, for renderers that do not support them.
    Fixed,
}

impl SvgMedium {
    /// Width in units of the SVG, which are pixels on a page.
    fn width(self) -> f64 {
        match self {
            SvgMedium::Wide => 1040.0,
            SvgMedium::Narrow => 360.0,
            SvgMedium::File | SvgMedium::Fixed => 760.0,
        }
    }

    fn on_page(self) -> bool {
        matches!(self, SvgMedium::Wide | SvgMedium::Narrow)
    }
}

/// Returns the SVG, or an empty text if there is nothing to draw.
pub fn render_svg(chart: &Chart, medium: SvgMedium) -> String {
    render_picture(chart, medium).map(|picture| picture.text).unwrap_or_default()
}

pub(crate) struct SvgPicture {
    pub(crate) text: String,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// Returns the SVG with its size, or None if there is nothing to draw.
pub(crate) fn render_picture(chart: &Chart, medium: SvgMedium) -> Option<SvgPicture> {
    let width = medium.width();
    let drawing = match &chart.kind {
        ChartKind::Bars(bars) => bars::draw_bars(bars, width),
        ChartKind::Lines(lines) => line_chart::draw_lines(lines, width),
        ChartKind::Addresses(addresses) => card_map::draw_addresses(addresses, width),
        ChartKind::Flash(flash) => card_map::draw_flash(flash, width),
    }?;
    let (above, below) = title_and_caption(chart, medium, width);
    let bottom = above.height + drawing.height;
    let mut body = String::new();
    for (part, at) in [(&above, 0.0), (&drawing, above.height), (&below, bottom)] {
        let (elements, shift) = (&part.elements, ShortNumber(at));
        match (elements.is_empty(), at > 0.0) {
            (true, _) => {}
            (_, true) => body += &format!("<g transform=\"translate(0 {shift})\">\n{elements}</g>\n"),
            (_, false) => body += elements,
        }
    }
    let height = bottom + below.height;
    let text = svg_document(chart, medium, &body, height, &drawing.reading);
    (!body.is_empty()).then_some(SvgPicture { text, width, height })
}

/// Title above and caption below the chart. Both stay empty on a page, which writes them itself.
fn title_and_caption(chart: &Chart, medium: SvgMedium, width: f64) -> (PicturePart, PicturePart) {
    if medium.on_page() {
        return (PicturePart::default(), PicturePart::default());
    }
    let mut above = PicturePart { height: 18.0, ..PicturePart::default() };
    for line in wrap_to_width(&chart.title, (width - 32.0) / 1.35) {
        above.height += 20.0;
        above.write_text((16.0, above.height - 8.0), " font-size=\"16\" font-weight=\"600\"", &line);
    }
    let mut below = PicturePart { height: 4.0, ..PicturePart::default() };
    for line in wrap_to_width(&chart.caption.joined_parts(), width - 32.0) {
        below.height += LINE_HEIGHT;
        below.write_text((16.0, below.height - 4.0), SECONDARY_TEXT, &line);
    }
    below.height += 12.0;
    (above, below)
}

fn svg_document(chart: &Chart, medium: SvgMedium, body: &str, height: f64, reading: &str) -> String {
    let (width, height) = (ShortNumber(medium.width()), ShortNumber(height));
    let title = escape_html(&chart.title);
    if medium.on_page() {
        // The caption of the page describes the chart, so the SVG has no description.
        return format!(
            "<svg viewBox=\"0 0 {width} {height}\" class=\"chart\" role=\"img\"{reading}>\n<title>{title}</title>\n{body}</svg>\n"
        );
    }
    let style = match medium {
        SvgMedium::File => palette::themed_style(".chart"),
        _ => palette::style_without_variables(&palette::LIGHT_COLOURS),
    };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         class=\"chart\" role=\"img\" font-family=\"system-ui, sans-serif\" font-size=\"12\">\n<title>{title}</title>\n\
         <desc>{}</desc>\n<style>{style}</style>\n<rect class=\"background\" width=\"{width}\" height=\"{height}\"/>\n{body}</svg>\n",
        escape_html(&chart.caption.joined_parts()),
    )
}
