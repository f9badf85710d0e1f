//! `report`: pages, tables, pictures and raw data for publishing.

use super::compare::Choice;
use crate::output::{self, Options};
use cardscope_model::publication::Publication;
use cardscope_report::publication::{self, FORMATS, Format};
use cardscope_workbench::Failure;
use cardscope_workbench::compare::Request as Compared;
use cardscope_workbench::output_file::{Mark, OutputFile};
use cardscope_workbench::publish::{self, Request};
use cardscope_workbench::rank::GroupBy;
use clap::Args;
use clap::builder::PossibleValuesParser;
use std::path::{Path, PathBuf};

/// Publish a comparison as a page, a table, a picture or raw data
///
/// The file's ending says what it becomes: .html (one page that needs nothing else), .md, .csv, .json, .svg, .png,
/// .plotly.md (a Hugo page with Plotly blocks), .cdm.txt and .kdm.txt (as CrystalDiskMark and KDiskMark print it); --format
/// does so for any name. Serial numbers are hashed unless asked for.
#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Cards as `compare` takes them, or files with logs; without any, all of the archive
    #[arg(value_name = "CARD")]
    cards: Vec<String>,
    /// The file to write; - writes to stdout
    #[arg(short = 'o', long, value_name = "FILE")]
    output: PathBuf,
    /// What it becomes, where the ending does not say it
    #[arg(long, value_name = "FORMAT", value_parser = PossibleValuesParser::new(FORMATS.iter().map(|f| f.name)))]
    format: Option<String>,
    /// Its title
    #[arg(long)]
    title: Option<String>,
    /// Order the cards for this job, too; may be given several times
    #[arg(long = "for", value_name = "JOB")]
    job: Vec<String>,
    /// As the host lets them be, in these orders
    #[arg(long, value_name = "HOST", requires = "job")]
    on: Option<String>,
    /// What a mark, a maker, a year or a capacity says about the orders
    #[arg(long, value_name = "WORD", requires = "job", value_parser = PossibleValuesParser::new(GroupBy::ALL.map(|(word, _)| word)))]
    group_by: Option<String>,
    /// Divide each card by WORD, as `compare --by`
    #[arg(long, value_name = "WORD", conflicts_with = "pool")]
    by: Option<String>,
    /// Mix everything that was measured of a card
    #[arg(long)]
    pool: bool,
    /// Publish serial numbers and CIDs, too
    #[arg(long)]
    serials: bool,
    /// Replace the file even if Cardscope did not make it
    #[arg(long)]
    overwrite: bool,
    #[command(flatten)]
    choice: Choice,
}

impl Report {
    pub(crate) fn run(self, options: &Options) -> Result<u8, Failure> {
        let format = format(self.format.as_deref(), &self.output)?;
        let place = self.output.clone();
        let to_stdout = place == Path::new("-");
        if to_stdout && options.json {
            return Err(Failure::refused("--json and -o - both want stdout; give the report a file"));
        }
        let file = (!to_stdout).then(|| claim(&place, self.overwrite)).transpose()?;
        let publication = publish::publish(&self.request())?;
        let bytes = (format.write)(&publication).map_err(Failure::refused)?;
        match file {
            Some(file) => file.write(&bytes)?,
            None => output::bytes(&bytes)?,
        }
        if !to_stdout {
            let line = || said(&publication, format, &place, bytes.len());
            output::document(options, &publication, line)?;
        }
        Ok(0)
    }

    fn request(self) -> Request {
        let Choice { condition, test, own, archive } = self.choice;
        let word = self.group_by;
        Request {
            compared: Compared {
                cards: self.cards,
                settings: condition,
                tests: test,
                by: self.by,
                pool: self.pool,
                without_collection: own,
                archive,
            },
            title: self.title,
            jobs: self.job,
            on: self.on,
            group_by: GroupBy::ALL.into_iter().find(|(w, _)| word.as_deref() == Some(w)).map(|(_, by)| by),
            serials: self.serials,
        }
    }
}

/// The format that is named, else the one of the file's ending.
fn format(name: Option<&str>, place: &Path) -> Result<&'static Format, Failure> {
    let file = place.file_name().and_then(|file| file.to_str()).unwrap_or_default();
    let found = match name {
        Some(name) => publication::by_name(name),
        None => publication::by_file(file),
    };
    found.ok_or_else(|| {
        let known: Vec<String> = FORMATS.iter().map(|f| format!("{} (.{})", f.name, f.extension)).collect();
        let place = place.display();
        Failure::refused(format!(
            "{place}: the ending names no format; give --format, one of {}",
            known.join(", ")
        ))
    })
}

/// The name is claimed before anything is read: a file that is not one of ours is not replaced.
fn claim(place: &Path, overwrite: bool) -> Result<OutputFile, Failure> {
    OutputFile::claim("--output", place, None, if overwrite { Mark::Any } else { Mark::Word("Cardscope") })
}

fn said(publication: &Publication, format: &Format, place: &Path, bytes: usize) -> String {
    let entries = publication.comparison.entries.len();
    format!(
        "{}: {}, {} in {}, {bytes} bytes",
        place.display(),
        format.what,
        if entries == 1 { "one column".to_owned() } else { format!("{entries} columns") },
        if publication.cards.len() == 1 {
            "one card".to_owned()
        } else {
            format!("{} cards", publication.cards.len())
        }
    )
}
