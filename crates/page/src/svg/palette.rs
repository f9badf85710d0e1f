//! Shared parts of SVG charts: elements, coordinates, text widths, colours and styles.
//!
//! The eight colours are distinguishable with any kind of colour blindness (after Okabe and Ito, 2008). Each is adjusted to a
//! contrast of 3 to 1 with its background (WCAG 2.1, 1.4.11), text to 4.5 to 1 (1.4.3). Dashes and hatches repeat the
//! distinction without colour.

use crate::chart::SERIES_COLOURS;
use crate::figure;
use crate::markup::escape_html;
use std::fmt::{self, Write};

pub(crate) struct PageColours {
    background: &'static str,
    ink: &'static str,
    dim: &'static str,
    line: &'static str,
    soft: &'static str,
    bad: &'static str,
    series: [&'static str; SERIES_COLOURS],
}

pub(crate) const LIGHT_COLOURS: PageColours = PageColours {
    background: "#ffffff",
    ink: "#1d2430",
    dim: "#566070",
    line: "#d5dae1",
    soft: "#eef1f5",
    bad: "#a3262a",
    series: ["#0067a5", "#c24e00", "#00805f", "#a8508a", "#8a6100", "#2a86b8", "#4d4d4d", "#7a7400"],
};

pub(crate) const DARK_COLOURS: PageColours = PageColours {
    background: "#14181f",
    ink: "#e6e9ee",
    dim: "#a3adba",
    line: "#38414e",
    soft: "#1f2630",
    bad: "#ff7b7b",
    series: ["#56b4e9", "#ff9550", "#35c79f", "#e0a0c8", "#e6b422", "#8fd0f5", "#c4c4c4", "#d8cf4a"],
};

/// Dash patterns of the series, so that they differ in black-and-white print.
const DASH_PATTERNS: [&str; SERIES_COLOURS] =
    ["none", "6 3", "2 2.5", "9 3 2 3", "4 2", "1 3", "12 3", "6 2 2 2 2 2"];

/// CSS variables of a theme.
pub(crate) fn theme_variables(palette: &PageColours) -> String {
    let PageColours { background, ink, dim, line, soft, bad, series } = palette;
    let series = (1..).zip(series).map(|(number, colour)| format!("--c{number}:{colour};"));
    let series: String = series.collect();
    format!(
        "--background:{background};--ink:{ink};--dim:{dim};--line:{line};--soft:{soft};--bad:{bad};{series}"
    )
}

/// CSS classes of charts, with colours as variables.
pub(crate) fn chart_classes() -> String {
    let mut out = String::from(
        ".chart{fill:var(--ink);font-variant-numeric:tabular-nums}.chart .background{fill:var(--background)}.chart .dim{fill:var(--dim)}\
         .chart .grid{stroke:var(--line);fill:none}.chart .axis{stroke:var(--dim);fill:none}\
         .chart .across{stroke:var(--dim);stroke-dasharray:3 3;fill:none}.chart .whisker{stroke:var(--ink);stroke-width:1.2;fill:none}\
         .chart .rim{stroke:var(--background);stroke-width:3.4;fill:none}.chart .runs{stroke:var(--ink);stroke-opacity:.7;fill:none}.chart .track{fill:var(--soft)}.chart .lost{fill:var(--bad)}.chart .limit{stroke:var(--bad);stroke-width:1.4;stroke-dasharray:4 3;fill:none}\
         .chart .box{fill:var(--soft);stroke:var(--dim)}.chart .hatch{stroke:var(--background);stroke-width:1.2;stroke-opacity:.75;fill:none}",
    );
    for number in 1..=SERIES_COLOURS {
        let dashes = DASH_PATTERNS[number - 1];
        let _ = write!(
            out,
            ".chart .l{number}{{stroke:var(--c{number});fill:none;stroke-width:1.8;stroke-dasharray:{dashes}}}\
             .chart .f{number}{{fill:var(--c{number})}}"
        );
    }
    out
}

/// CSS of charts below a root element: light, and dark by the reader's preference.
pub(crate) fn themed_style(root: &str) -> String {
    let (light, dark) = (theme_variables(&LIGHT_COLOURS), theme_variables(&DARK_COLOURS));
    let dark = format!("@media(prefers-color-scheme:dark){{{root}{{{dark}}}}}");
    format!("{root}{{{light}}}\n{dark}\n{}\n", chart_classes())
}

/// CSS with the variables replaced by their values, for renderers that do not support them.
pub(crate) fn style_without_variables(palette: &PageColours) -> String {
    let mut out = chart_classes();
    for variable in theme_variables(palette).split_terminator(';') {
        if let Some((name, value)) = variable.split_once(':') {
            out = out.replace(&format!("var({name})"), value);
        }
    }
    out
}

/// Part of a picture, as SVG elements.
#[derive(Debug, Default)]
pub(super) struct PicturePart {
    pub(super) elements: String,
    pub(super) height: f64,
    /// Attributes of the root element from which a page's script converts coordinates to values.
    pub(super) reading: String,
}

impl PicturePart {
    /// Writes a text and a line end.
    pub(super) fn write_text(&mut self, at: (f64, f64), attributes: &str, text: &str) {
        self.write_escaped(at, attributes, &escape_html(text));
    }

    /// Writes a text that is escaped already.
    pub(super) fn write_escaped(&mut self, (x, y): (f64, f64), attributes: &str, text: &str) {
        let (x, y) = (ShortNumber(x), ShortNumber(y));
        let _ = writeln!(self.elements, "<text x=\"{x}\" y=\"{y}\"{attributes}>{text}</text>");
    }

    pub(super) fn draw_box(&mut self, class: &str, area: [f64; 4]) {
        let [x, y, width, height] = area.map(ShortNumber);
        let size = format!("width=\"{width}\" height=\"{height}\"");
        let _ = writeln!(self.elements, "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" {size}/>");
    }
}

/// Attributes of right-aligned text and of secondary text.
pub(super) const RIGHT_ALIGNED: &str = " text-anchor=\"end\"";
pub(super) const SECONDARY_TEXT: &str = " class=\"dim\"";

/// Height of a text line.
pub(super) const LINE_HEIGHT: f64 = 16.0;

/// A coordinate rounded to a tenth, without trailing zeros.
pub(super) struct ShortNumber(pub(super) f64);

impl fmt::Display for ShortNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (self.0 * 10.0).round();
        let decimals = usize::from(tenths % 10.0 != 0.0);
        write!(f, "{:.decimals$}", tenths / 10.0 + 0.0)
    }
}

/// Width of an average letter: 0.55 of the font size of 12 px in sans-serif fonts.
const LETTER_WIDTH: f64 = 6.6;

/// Estimated width of a text.
pub(super) fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * LETTER_WIDTH
}

/// Cuts a text to a width and ends it with an ellipsis.
pub(super) fn cut_to_width(text: &str, width: f64) -> String {
    // Without the small addition, rounding would cut a letter of a text that just fits.
    let most = (width / LETTER_WIDTH + 0.01).max(2.0) as usize;
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most - 1).collect();
    format!("{}…", kept.trim_end_matches([' ', '.', ',']))
}

/// Wraps a text at a width.
pub(super) fn wrap_to_width(text: &str, width: f64) -> Vec<String> {
    let lines = figure::wrap_text(text, (width / LETTER_WIDTH) as usize);
    lines.iter().map(|line| cut_to_width(line, width)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance of a colour (WCAG 2.1).
    fn luminance(colour: &str) -> f64 {
        let part = |at: usize| {
            let share = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn colours_meet_the_contrast_of_wcag() {
        for palette in [&LIGHT_COLOURS, &DARK_COLOURS] {
            for colour in palette.series {
                assert!(contrast(colour, palette.background) >= 3.0, "{colour} on {}", palette.background);
            }
            for text in [palette.ink, palette.dim, palette.bad] {
                for under in [palette.background, palette.soft] {
                    assert!(contrast(text, under) >= 4.5, "{text} on {under}");
                }
            }
        }
    }

    #[test]
    fn style_without_variables_has_none() {
        assert!(
            !style_without_variables(&DARK_COLOURS).contains("var("),
            "{}",
            style_without_variables(&DARK_COLOURS)
        );
    }
}
