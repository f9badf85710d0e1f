//! Charts as PNG, rendered from their SVG with embedded fonts, so that the picture is the same on every computer.
//! Only letters that these fonts lack (Chinese, Arabic …) come from the fonts of the system.
//!
//! The font is DejaVu Sans, reduced to the letters that figures and names need; `fonts/LICENSE` is its licence.

use crate::chart::Chart;
use crate::svg::{self, SvgMedium, SvgPicture};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb::Database};
use std::sync::{Arc, LazyLock};

const FONTS: [&[u8]; 2] =
    [include_bytes!("../fonts/DejaVuSans.ttf"), include_bytes!("../fonts/DejaVuSans-Bold.ttf")];

/// Software that wrote the picture, as stored in PNG files.
pub const SOFTWARE: &str = "Made by Cardscope";

const FAMILY: &str = "DejaVu Sans";

/// Pixels for each unit of the SVG: sharp on high-resolution screens and in print.
const SCALE: f64 = 2.0;

/// Limit of memory: a pixel takes 4 bytes. Larger charts are rendered at a lower scale.
const MAX_PIXELS: f64 = 30e6;

/// Lowest scale at which text is readable.
const MIN_SCALE: f64 = 0.5;

/// Reasons why a chart could not be rendered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PngError {
    /// The chart is empty.
    #[error("there is nothing to draw")]
    EmptyChart,
    /// The chart would be unreadable within the pixel limit.
    #[error(
        "a picture of {width} by {height} could not be read by anybody; choose fewer cards or tests, or write .svg"
    )]
    TooLarge {
        /// Width in units of the SVG.
        width: u32,
        /// Height in units of the SVG.
        height: u32,
    },
    /// The SVG renderer reported an error.
    #[error("the picture could not be drawn: {0}")]
    RenderFailed(String),
}

/// Renders a chart.
///
/// # Errors
/// Fails if the chart is empty or too large to be readable.
pub fn render_png(chart: &Chart) -> Result<Vec<u8>, PngError> {
    let Some(SvgPicture { text, width, height }) = svg::render_picture(chart, SvgMedium::Fixed) else {
        return Err(PngError::EmptyChart);
    };
    let scale = SCALE.min((MAX_PIXELS / (width * height)).sqrt());
    let too_large = PngError::TooLarge { width: width as u32, height: height as u32 };
    if scale < MIN_SCALE {
        return Err(too_large);
    }
    let options = Options { fontdb: fonts_for_text(&text), font_family: FAMILY.into(), ..Options::default() };
    let tree = Tree::from_str(&text, &options).map_err(|error| PngError::RenderFailed(error.to_string()))?;
    let pixels = |units: f64| (units * scale).ceil() as u32;
    let mut picture = Pixmap::new(pixels(width), pixels(height)).ok_or(too_large)?;
    resvg::render(&tree, Transform::from_scale(scale as f32, scale as f32), &mut picture.as_mut());
    encode_png(picture).map_err(|error| PngError::RenderFailed(error.to_string()))
}

/// Encodes a picture with its `Software` keyword (PNG specification, 11.3.3.2), by which an existing file is recognized and
/// may be replaced without confirmation.
fn encode_png(picture: Pixmap) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, picture.width(), picture.height());
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.add_text_chunk("Software".to_owned(), SOFTWARE.to_owned())?;
    encoder.write_header()?.write_image_data(&picture.take_demultiplied())?;
    Ok(bytes)
}

static EMBEDDED_FONTS: LazyLock<Arc<Database>> =
    LazyLock::new(|| Arc::new(with_embedded_fonts(Database::new())));

fn with_embedded_fonts(mut fonts: Database) -> Database {
    FONTS.iter().for_each(|font| fonts.load_font_data(font.to_vec()));
    fonts.set_sans_serif_family(FAMILY);
    fonts
}

/// Loads the fonts of the system only if the text needs them, because loading takes time.
fn fonts_for_text(text: &str) -> Arc<Database> {
    // Ranges of letters in the embedded fonts, as in `fonts/README.md`, and line ends.
    let ours = |c: char| matches!(c, '\n' | ' '..='\u{24f}' | '\u{370}'..='\u{3ff}' | '\u{400}'..='\u{45f}' | '\u{2000}'..='\u{205e}' | '\u{fffd}');
    if text.chars().all(ours) {
        return Arc::clone(&EMBEDDED_FONTS);
    }
    let mut all = Database::new();
    all.load_system_fonts();
    Arc::new(with_embedded_fonts(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn png_of_an_empty_chart_is_refused() {
        let nothing = Chart::from(&cardscope_model::card_map::plot::Plot::default());
        assert_eq!(render_png(&nothing), Err(PngError::EmptyChart));
    }
}
