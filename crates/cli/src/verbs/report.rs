//! `report`: writes a comparison to a file, or all its charts to a folder.

use crate::output::{self, OutputOptions};
use cardscope_compare::page::publication;
use cardscope_compare::page::publication::{FORMATS, PictureFormat, PublicationFormat};
use cardscope_compare::verb::publish;
use cardscope_compare::verb::publish::PublishRequest;
use cardscope_model::publication::Publication;
use cardscope_model::units::DecimalSize;
use cardscope_model::untrusted_text;
use cardscope_page::figure::pluralize;
use cardscope_page::tree::{Page, PageBlock};
use cardscope_session::output_file::{FileMark, OutputFile};
use cardscope_session::{Failure, Result};
use clap::Args;
use clap::builder::PossibleValuesParser;
use std::path::{Path, PathBuf};

/// Publish a comparison as a page, a table, a picture or raw data
///
/// The file's extension selects the format: .html (one page that needs nothing else), .md, .csv, .json, .svg, .png,
/// .plotly.md (a Hugo page with Plotly blocks), .cdm.txt and .kdm.txt (as CrystalDiskMark and KDiskMark print it); --format
/// does so for any name. With --charts every chart is written as a picture of its own into the folder -o: averages, speed over time,
/// latencies, speed by size, flash, addresses, what a map rests on, orders. Serial numbers and CIDs are left out unless asked for. Of more
/// than 24 cards an order by their most common tests stands in place of every pair; --for and --rank-by choose another.
#[derive(Debug, Args)]
pub(crate) struct ReportCommand {
    /// The file to write, or the folder for --charts; - writes to stdout
    #[arg(short = 'o', long, value_name = "FILE")]
    output: PathBuf,
    /// Write every chart as a picture of its own into the folder -o: svg or png
    #[arg(long, value_name = "FORMAT", conflicts_with = "format", value_parser = PossibleValuesParser::new(PictureFormat::ALL.map(|(word, _)| word)))]
    charts: Option<String>,
    /// Format, if the extension of the file does not select it
    #[arg(long, value_name = "FORMAT", value_parser = PossibleValuesParser::new(FORMATS.iter().map(|f| f.name)))]
    format: Option<String>,
    /// Replace the file even if Cardscope did not make it
    #[arg(long)]
    overwrite: bool,
    #[command(flatten)]
    request: PublishRequest,
}

impl ReportCommand {
    pub(crate) fn run(self, options: &OutputOptions) -> Result<u8> {
        let picture = PictureFormat::ALL.into_iter().find(|(word, _)| self.charts.as_deref() == Some(word));
        match picture {
            Some((_, picture)) => self.run_charts(options, picture),
            None => self.run_file(options),
        }
    }

    fn run_charts(self, options: &OutputOptions, picture: PictureFormat) -> Result<u8> {
        require_folder(&self.output)?;
        let publication = publish::gather_publication(&self.request)?;
        let written = write_charts(&publication, picture, &self.output, self.overwrite)?;
        output::print_document(options, &publication, |_| {
            let charts = pluralize(written.len() as u64, "chart");
            let mut page = Page::from_answer(format!("Wrote {charts} to {}.", self.output.display()));
            page.add_detail("Files", [PageBlock::Lines(written)]);
            page
        })
    }

    fn run_file(self, options: &OutputOptions) -> Result<u8> {
        let format = choose_format(self.format.as_deref(), &self.output)?;
        let path = &self.output;
        let to_stdout = *path == Path::new("-");
        if to_stdout && options.json {
            return Err(Failure::refused("--json and -o - both want stdout; give the report a file"));
        }
        let mark = if self.overwrite { FileMark::Any } else { report_mark(format) };
        // Claimed before anything is read, so that a foreign file is refused at once.
        let claim = || OutputFile::claim("--output", path, None, mark);
        let file = (!to_stdout).then(claim).transpose()?;
        let publication = publish::gather_publication(&self.request)?;
        let bytes = (format.write)(&publication).map_err(Failure::refused)?;
        match file {
            Some(file) => file.write_content(&bytes)?,
            None => output::print_bytes(&bytes)?,
        }
        let line = |publication: &Publication| {
            Page::from_answer(written_text(publication, format, path, bytes.len()))
        };
        if to_stdout { Ok(0) } else { output::print_document(options, &publication, line) }
    }
}

/// Format by its name, else by the extension of the file.
fn choose_format(name: Option<&str>, path: &Path) -> Result<&'static PublicationFormat> {
    let file = path.file_name().and_then(|file| file.to_str()).unwrap_or_default();
    let found = match name {
        Some(name) => publication::format_by_name(name),
        None => publication::format_by_file(file),
    };
    found.ok_or_else(|| {
        let known: Vec<String> = FORMATS.iter().map(|f| format!("{} (.{})", f.name, f.extension)).collect();
        let path = path.display();
        Failure::refused(format!(
            "{path}: its extension selects no format; give --format, one of {}",
            known.join(", ")
        ))
    })
}

/// Mark by which an existing file is recognized as a report of this format and may be replaced. A user's own notes may
/// mention Cardscope, so the mark is more specific than the name.
fn report_mark(format: &PublicationFormat) -> FileMark {
    match format.name {
        "html" => FileMark::BeginsWith(cardscope_page::HTML_HEAD),
        "json" => FileMark::Fields(&["title", "made_on", "tool_version", "comparison", "cards"]),
        "csv" => FileMark::BeginsWith("card,card_id,brand,name,"),
        "markdown" | "plotly" => FileMark::ContainsWord("MB/s are 10^6 bytes a second. Made on "),
        "crystaldiskmark" => FileMark::ContainsWord(", in the layout of CrystalDiskMark"),
        "kdiskmark" => FileMark::ContainsWord(", in the layout and units of KDiskMark"),
        "svg" => FileMark::ContainsWord(
            "class=\"chart\" role=\"img\" font-family=\"system-ui, sans-serif\" font-size=\"12\"",
        ),
        // A text chunk of the PNG. New formats need an arm of their own here.
        _ => FileMark::ContainsWord(cardscope_page::png::SOFTWARE),
    }
}

fn written_text(publication: &Publication, format: &PublicationFormat, path: &Path, bytes: usize) -> String {
    let content = match (publication.comparison.entries.len(), &publication.rankings[..]) {
        (0, [first, ..]) => {
            let cards = first.places.len() + first.not_placed.len();
            let orders = pluralize(publication.rankings.len() as u64, "order");
            format!("{orders} of {}", pluralize(cards as u64, "card"))
        }
        _ => pluralize(publication.comparison.card_count() as u64, "card"),
    };
    let path = path.display().to_string();
    format!(
        "Wrote {}: {content}, {}, {}.",
        untrusted_text::escape_line(&path),
        format.name,
        DecimalSize(bytes as u64)
    )
}

/// Refuses anything but a folder, before data is read.
fn require_folder(folder: &Path) -> Result<()> {
    match folder.is_dir() {
        true => Ok(()),
        false => Err(Failure::refused(format!(
            "{}: not a folder; --charts writes a file per chart into an existing folder (`mkdir` makes one)",
            folder.display()
        ))),
    }
}

/// Writes each chart atomically and returns the lines to print. All files are claimed before the first is written, so that
/// foreign pictures stay unless `overwrite` is set.
fn write_charts(
    publication: &Publication,
    picture: PictureFormat,
    folder: &Path,
    overwrite: bool,
) -> Result<Vec<String>> {
    let pictures = publication::draw_all(publication, picture).map_err(Failure::refused)?;
    let mark = if overwrite { FileMark::Any } else { FileMark::ContainsWord("Cardscope") };
    let mut claimed = Vec::new();
    for (name, bytes) in pictures {
        let file = OutputFile::claim("--charts", &folder.join(name), None, mark)?;
        claimed.push((file, bytes));
    }
    let mut written = Vec::new();
    for (file, bytes) in claimed {
        file.write_content(&bytes)?;
        let name = file.name().display().to_string();
        written.push(format!("{}: {} bytes", untrusted_text::escape_line(&name), bytes.len()));
    }
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_report_and_missing_folder_are_refused() {
        let folder = std::env::temp_dir();
        let none = write_charts(&Publication::default(), PictureFormat::Svg, &folder, false);
        assert!(none.unwrap_err().to_string().contains("no card"));
        assert!(require_folder(Path::new("/nowhere/at all")).unwrap_err().to_string().contains("mkdir"));
    }
}
