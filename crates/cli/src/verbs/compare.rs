//! `compare` compares cards; `report` writes a comparison to a file, or all its charts to a folder.

use crate::output::{self, OutputOptions};
use cardscope_compare::page::comparison::{self, ComparisonLayout};
use cardscope_compare::page::publication::{self, FORMATS, PictureFormat, PublicationFormat};
use cardscope_compare::verb::compare::{self, CompareRequest};
use cardscope_compare::verb::publish::{self, PublishRequest};
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

#[derive(Debug, Args)]
pub(crate) struct CompareCommand {
    #[command(flatten)]
    request: CompareRequest,
    /// Show the figures as the tools printed them
    #[arg(long)]
    as_printed: bool,
    /// Show every run, too
    #[arg(long)]
    every_run: bool,
}

impl CompareCommand {
    pub(crate) fn run(self, options: &OutputOptions) -> Result<u8> {
        let how = ComparisonLayout { as_printed: self.as_printed, every_run: self.every_run };
        let compared = compare::compare_cards(&self.request)?;
        output::print_document(options, &compared, |compared| comparison::comparison_page(compared, how))
    }
}

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
        match PictureFormat::ALL.into_iter().find(|(word, _)| self.charts.as_deref() == Some(word)) {
            Some((_, picture)) => self.write_charts(options, picture),
            None => self.write_report(options),
        }
    }

    /// Writes each chart as a picture; foreign pictures stay unless `--overwrite` is given.
    fn write_charts(self, options: &OutputOptions, picture: PictureFormat) -> Result<u8> {
        let folder = self.output.display();
        if !self.output.is_dir() {
            return Err(Failure::refused(format!(
                "{folder}: not a folder; --charts writes a file per chart into an existing folder (`mkdir` makes one)"
            )));
        }
        let publication = publish::gather_publication(&self.request)?;
        let pictures = publication::draw_all(&publication, picture).map_err(Failure::refused)?;
        let mark = if self.overwrite { FileMark::Any } else { FileMark::ContainsWord("Cardscope") };
        let written = output::write_files("--charts", &self.output, mark, pictures)?;
        output::print_document(options, &publication, |_| {
            let charts = pluralize(written.len() as u64, "chart");
            let mut page = Page::from_answer(format!("Wrote {charts} to {folder}."));
            let line = |(name, bytes): &(String, usize)| {
                format!("{}: {bytes} bytes", untrusted_text::escape_line(name))
            };
            page.add_detail("Files", [PageBlock::Lines(written.iter().map(line).collect())]);
            page
        })
    }

    fn write_report(self, options: &OutputOptions) -> Result<u8> {
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
        if to_stdout {
            return Ok(0);
        }
        output::print_document(options, &publication, |publication| {
            Page::from_answer(written_text(publication, format, path, bytes.len()))
        })
    }
}

/// Format by its name, else by the extension of the file.
fn choose_format(name: Option<&str>, path: &Path) -> Result<&'static PublicationFormat> {
    let file = path.file_name().and_then(|file| file.to_str()).unwrap_or_default();
    name.map_or_else(|| publication::format_by_file(file), publication::format_by_name).ok_or_else(|| {
        let known: Vec<String> = FORMATS.iter().map(|f| format!("{} (.{})", f.name, f.extension)).collect();
        let (path, known) = (path.display(), known.join(", "));
        Failure::refused(format!("{path}: its extension selects no format; give --format, one of {known}"))
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
    let (path, name) = (untrusted_text::escape_line(&path), format.name);
    format!("Wrote {path}: {content}, {name}, {}.", DecimalSize(bytes as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct ReportLine {
        #[command(flatten)]
        options: OutputOptions,
        #[command(flatten)]
        report: ReportCommand,
    }

    #[test]
    fn empty_report_and_missing_folder_are_refused() {
        let none = publication::draw_all(&Publication::default(), PictureFormat::Svg);
        assert!(none.unwrap_err().to_string().contains("no card"));
        let line = ["report", "A", "B", "--charts", "svg", "-o", "/nowhere/at all"];
        let ReportLine { options, report } = ReportLine::try_parse_from(line).unwrap();
        assert!(report.run(&options).unwrap_err().to_string().contains("mkdir"));
    }
}
