//! Formats of a publication. Each is one file here and its line in [`FORMATS`].

mod card;
mod charts;
mod csv;
mod disk_mark;
pub mod page;
mod plotly;
mod series;

use cardscope_model::json;
use cardscope_model::publication::Publication;
use cardscope_page::chart::Chart;
use cardscope_page::png::{PngError, render_png};
use cardscope_page::svg::{self, SvgMedium};
use cardscope_page::tree::html;
use cardscope_page::tree::markdown::render_markdown;
use charts::all_charts;
use csv::to_csv;
use disk_mark::{crystaldiskmark, kdiskmark};
use page::publication_page;
use plotly::plotly_page;

#[derive(Debug, Clone, Copy)]
pub struct PublicationFormat {
    /// Name on the command line.
    pub name: &'static str,
    /// Ending of its files, by which it is selected; the first format with an ending counts.
    pub extension: &'static str,
    /// Description in one line.
    pub what: &'static str,
    pub write: fn(&Publication) -> Result<Vec<u8>, PublishError>,
}

/// Reason why a publication cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PublishError {
    /// A picture needs a figure.
    #[error("a picture of {0:?} cannot be drawn: no card in it has a speed or a place; write .html or .json")]
    NothingToDraw(String),
    /// The layout consists of figures, and there are none.
    #[error(
        "{0:?} has no card with figures, and this layout has no place for anything else; name a few cards that were measured, or write .html, .md, .csv or .json"
    )]
    NoFigures(String),
    #[error("a picture of {title:?} cannot be drawn: {reason}")]
    Picture { title: String, reason: PngError },
    /// The writer of the format refused the content.
    #[error("the publication cannot be written as {format}: {reason}; another format may do")]
    Unwritable { format: &'static str, reason: String },
}

pub const FORMATS: &[PublicationFormat] = &[
    new_format("html", "html", "one page that needs nothing else, with live charts", |p| {
        Ok(html::render_document(&publication_page(p)).into())
    }),
    new_format("markdown", "md", "tables for a forge, wiki or blog", |p| {
        Ok(render_markdown(&publication_page(p)).into())
    }),
    new_format("csv", "csv", "one row a figure, for spreadsheets and scripts", |p| {
        to_csv(p).map_err(|error| unwritable("CSV", &error))
    }),
    new_format("json", "json", "the document itself", to_json),
    new_format("svg", "svg", "the averages as a picture", |p| draw_main_chart(p, PictureFormat::Svg)),
    new_format("png", "png", "the same as pixels", |p| draw_main_chart(p, PictureFormat::Png)),
    new_format("plotly", "plotly.md", "a page for Hugo with Plotly blocks", |p| Ok(plotly_page(p).into())),
    new_format("crystaldiskmark", "cdm.txt", "CrystalDiskMark's text layout", |p| {
        refuse_empty(p, crystaldiskmark(p))
    }),
    new_format("kdiskmark", "kdm.txt", "KDiskMark's text layout, in its units", |p| {
        refuse_empty(p, kdiskmark(p))
    }),
];

const fn new_format(name: Word, extension: Word, what: Word, write: Writer) -> PublicationFormat {
    PublicationFormat { name, extension, what, write }
}

type Word = &'static str;

type Writer = fn(&Publication) -> Written;

/// Content of a file.
type Written = Result<Vec<u8>, PublishError>;

/// Refuses an empty text: these layouts have reports of cards only, and no place for a ranking.
fn refuse_empty(publication: &Publication, text: String) -> Written {
    if text.is_empty() { Err(PublishError::NoFigures(publication.title.clone())) } else { Ok(text.into()) }
}

pub fn format_by_name(name: &str) -> Option<&'static PublicationFormat> {
    FORMATS.iter().find(|format| format.name == name)
}

/// Format of a file by the ending of its name; the longest ending counts.
pub fn format_by_file(file: &str) -> Option<&'static PublicationFormat> {
    let file = file.to_lowercase();
    let ends = |format: &&PublicationFormat| file.ends_with(&format!(".{}", format.extension));
    FORMATS.iter().filter(ends).max_by_key(|format| format.extension.len())
}

/// The document, with the answer of its page.
fn to_json(publication: &Publication) -> Result<Vec<u8>, PublishError> {
    let json = json::to_answered_json(&publication_page(publication).answer, publication);
    json.map(String::into_bytes).map_err(|error| unwritable("JSON", &error))
}

fn unwritable(format: &'static str, reason: &dyn std::error::Error) -> PublishError {
    PublishError::Unwritable { format, reason: reason.to_string() }
}

/// Draws the averages of all cards, else the first ranking.
fn draw_main_chart(publication: &Publication, what: PictureFormat) -> Written {
    let title = &publication.title;
    let chart = charts::main_chart(publication).ok_or_else(|| PublishError::NothingToDraw(title.clone()))?;
    draw_chart(&chart, what, title)
}

/// Draws a chart as a picture without context.
fn draw_chart(chart: &Chart, what: PictureFormat, title: &str) -> Written {
    let refused = |reason| PublishError::Picture { title: title.to_owned(), reason };
    match what {
        PictureFormat::Svg => Ok(svg::render_svg(chart, SvgMedium::File).into_bytes()),
        PictureFormat::Png => render_png(chart).map_err(refused),
    }
}

/// File format of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureFormat {
    /// Text can be selected, and colours follow the reader's light or dark mode.
    Svg,
    Png,
}

impl PictureFormat {
    /// All formats, with their names, which are also the endings of their files.
    pub const ALL: [(&'static str, PictureFormat); 2] =
        [("svg", PictureFormat::Svg), ("png", PictureFormat::Png)];
}

/// Every chart of a publication as a picture, with the name of its file: `average.svg`. Fails if there is no chart, or one
/// cannot be drawn.
pub fn draw_all(of: &Publication, what: PictureFormat) -> Result<Vec<(String, Vec<u8>)>, PublishError> {
    let title = &of.title;
    let ending = PictureFormat::ALL.into_iter().find(|(_, p)| *p == what).map_or("", |(word, _)| word);
    let charts = all_charts(of);
    if charts.is_empty() {
        return Err(PublishError::NothingToDraw(title.clone()));
    }
    let named = |(name, chart)| Ok((format!("{name}.{ending}"), draw_chart(&chart, what, title)?));
    charts.into_iter().map(named).collect()
}

#[cfg(test)]
mod strange_tests;
#[cfg(test)]
mod tests;
