//! `import`: stores logs of other tools, and session files of other archives, in the archive. Files are found (`collect`),
//! unpacked (`unpack`), parsed (`readers`) and stored in batches (`batch_writer`): a file is stored whole or not at all, and a
//! damaged file does not stop the others.

mod batch_writer;
mod collect;
mod file_name_hints;
mod screenshots;
pub mod session_file;
mod shared_cards;
mod unpack;

use batch_writer::BatchWriter;
use cardscope_engine::cause::ErrorCause;
use cardscope_engine::event::Listener;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_model::card::CardFacts;
use cardscope_model::condition::Condition;
use cardscope_model::import_report::ImportReport;
use cardscope_model::log::CardLog;
use cardscope_session::error::{Failure, Result};
use cardscope_session::frame::VerbOutcome;
use cardscope_session::options::{ArchiveAt, ConditionOptions};
use clap::Args;
use collect::CandidateFile;
use serde::Serialize;
use shared_cards::ParsedFile;
use std::convert::Infallible;
use std::path::{Path, PathBuf};

/// Files between two progress messages. A shorter import sends none.
const PROGRESS_INTERVAL: usize = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SupportedFormat {
    /// Name in output, e.g. `cdm_fio`.
    pub name: &'static str,
    pub title: &'static str,
}

/// All supported formats, in the order in which the readers are tried.
pub fn supported_formats() -> Vec<SupportedFormat> {
    crate::readers::formats().iter().map(|f| SupportedFormat { name: f.name, title: f.title }).collect()
}

/// Read logs of other tools into the archive
///
/// cdm_fio, CrystalDiskMark, KDiskMark, AS SSD, fio, flashbench, f3, H2testw, iozone, hdparm, dd, PiBenchmarks, nvme-cli
/// and more (`--formats`), recognised by their content, also in .zip and .gz. A log that was imported before
/// is not stored twice. Exit status 1 if a named file, or a log in a folder, could not be read.
#[derive(Debug, Clone, Default, Args)]
#[command(arg_required_else_help = true)]
pub struct ImportRequest {
    /// Logs, folders, or packed files; - for standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Show the results without storing them
    #[arg(long)]
    pub dry_run: bool,
    /// List the supported formats
    #[arg(long = "formats", conflicts_with_all = ["files", "dry_run", "brand", "card", "capacity", "marks", "conditions"])]
    pub list_formats: bool,
    /// Brand of the card, if the logs do not name it
    #[arg(long, value_name = "NAME")]
    pub brand: Option<String>,
    /// Product name of the card, without its brand
    #[arg(long, value_name = "NAME")]
    pub card: Option<String>,
    /// Capacity on the label, e.g. 64GB
    #[arg(long, value_name = "SIZE")]
    pub capacity: Option<String>,
    /// Mark on the label, e.g. U3 (repeatable)
    #[arg(long = "mark", value_name = "MARK")]
    pub marks: Vec<String>,
    #[command(flatten)]
    pub conditions: ConditionOptions,
    #[command(flatten)]
    pub archive: ArchiveAt,
    /// Keep what was understood in the document, also where all is well
    #[arg(skip)]
    pub detailed: bool,
}

/// Facts that the user states for all logs.
#[derive(Debug, Default)]
struct StatedFacts {
    /// Completes a log's card; facts in the log win.
    card: CardFacts,
    /// Overrides a log's condition.
    condition: Condition,
}

impl StatedFacts {
    fn from_request(request: &ImportRequest) -> Result<StatedFacts> {
        let card = CardFacts {
            brand: request.brand.clone(),
            name: request.card.clone(),
            capacity_label: request.capacity.clone(),
            marks: request.marks.clone(),
            ..CardFacts::default()
        };
        Ok(StatedFacts { card, condition: request.conditions.parse_conditions()? })
    }

    /// Adds the user's facts, and those of the file name, to logs.
    fn complete_logs(&self, file: &Path, mut logs: Vec<CardLog>) -> Vec<CardLog> {
        for log in &mut logs {
            log.card.fill_missing_from(&self.card);
            file_name_hints::add_cooling(log, file);
            let of_runs = log.runs.iter_mut().filter_map(|run| run.condition.as_mut());
            of_runs.chain([&mut log.condition]).for_each(|condition| condition.overlay(&self.condition));
        }
        logs
    }
}

/// Imports logs. If the import ends early, the outcome holds the error and the report of the files stored so far.
pub fn run_import(
    request: &ImportRequest,
    interrupt: &InterruptFlag,
    events: &mut dyn Listener,
) -> Result<VerbOutcome<ImportReport>> {
    let stated = StatedFacts::from_request(request)?;
    if request.files.is_empty() {
        return Err(Failure::refused("nothing to import: name files, folders or - for standard input"));
    }
    let writer = BatchWriter::open(request.archive.named_path(), request.dry_run, request.detailed)?;
    let mut import = ImportRun { stated, writer, interrupt };
    let failure = import.import_files(&request.files, events).err();
    // The files that were read before an error are stored, too.
    let failure = failure.or(import.writer.flush().err());
    Ok(VerbOutcome::from_report(import.writer.into_report(), failure))
}

struct ImportRun<'a> {
    stated: StatedFacts,
    writer: BatchWriter,
    interrupt: &'a InterruptFlag,
}

impl ImportRun<'_> {
    fn import_files(&mut self, files: &[PathBuf], events: &mut dyn Listener) -> Result<()> {
        let (candidates, failed) = collect::find_candidates(files);
        for (folder, why) in failed {
            let why = format!("the folder cannot be listed: {why}");
            self.writer.report_failed(folder.display().to_string(), why, true);
        }
        let all = candidates.len();
        if all >= PROGRESS_INTERVAL {
            events.begin_stage(&format!("reading {all} files"), None, None);
        }
        for (done, candidate) in (1..).zip(&candidates) {
            self.check_interrupt()?;
            if done % PROGRESS_INTERVAL == 0 {
                events.begin_part(done as f64 / all as f64..1.0, &format!("{done} of {all}"), None, None);
            }
            self.import_candidate(candidate)?;
        }
        Ok(())
    }

    fn check_interrupt(&self) -> Result<()> {
        if self.interrupt.is_raised() { Err(Failure::Interrupted) } else { Ok(()) }
    }

    fn import_candidate(&mut self, candidate: &CandidateFile) -> Result<()> {
        let (outer, named) = (candidate.path.display().to_string(), candidate.named_by_user);
        if self.writer.is_archive(&candidate.path) {
            if named {
                self.writer.report_failed(outer, "this is the archive itself".to_owned(), true);
            }
            return Ok(());
        }
        let bytes = match collect::read_candidate(&candidate.path, self.interrupt) {
            Ok(bytes) => bytes,
            Err(why) => {
                self.check_interrupt()?;
                self.writer.report_failed(outer, why.to_string(), named);
                return Ok(());
            }
        };
        unpack::for_each_file(bytes, |member| {
            self.check_interrupt()?;
            let file =
                if member.name.is_empty() { outer.clone() } else { format!("{outer}/{}", member.name) };
            match member.bytes {
                Err(why) => self.writer.report_failed(file, why.to_string(), named),
                Ok(bytes) => self.import_unpacked(candidate, file, bytes)?,
            }
            Ok(())
        })
    }

    fn import_unpacked(&mut self, candidate: &CandidateFile, file: String, bytes: Vec<u8>) -> Result<()> {
        if session_file::is_session_file(&bytes) {
            match session_file::parse_session_file(&bytes) {
                Ok(session) => self.writer.store_session(file, &session)?,
                Err(why) => self.writer.report_failed(file, why.to_string(), candidate.named_by_user),
            }
            return Ok(());
        }
        match crate::readers::read_logs(&bytes) {
            Ok(logs) => {
                let logs = self.stated.complete_logs(Path::new(&file), logs);
                let folder = candidate.path.parent().map(Path::to_owned);
                self.writer.add_parsed(ParsedFile { file, folder, bytes, logs, shared: None })?;
            }
            Err(error) => self.writer.report_unparsed(file, &error, candidate.named_by_user),
        }
        Ok(())
    }
}

/// Logs of one file, or of one file packed in it.
pub struct FoundLogs {
    /// Title for a card that no log names, from the file name.
    pub title: Option<String>,
    /// Name inside the archive; empty for a file that is not packed.
    pub member: String,
    pub logs: Vec<CardLog>,
}

/// Reads the logs of a file without an archive, e.g. for `compare` with a file in place of a card. Fails if it holds no log.
pub fn read_logs(path: &Path) -> Result<Vec<FoundLogs>> {
    let refused = |why: ErrorCause| Failure::refused_for(format!("{}: {why}", path.display()), why);
    let (mut found, mut failed) = (Vec::new(), None);
    let bytes = collect::read_candidate(path, &InterruptFlag::default()).map_err(refused)?;
    let Ok(()) = unpack::for_each_file(bytes, |member| {
        let read = member.bytes.and_then(|bytes| Ok(crate::readers::read_logs(&bytes)?));
        match read {
            Ok(mut logs) => {
                let file = if member.name.is_empty() { path } else { Path::new(&member.name) };
                logs.iter_mut().for_each(|log| file_name_hints::add_cooling(log, file));
                let title = file_name_hints::title_from_name(file);
                found.push(FoundLogs { title, member: member.name.clone(), logs });
            }
            Err(why) => failed = failed.take().or(Some(why)),
        }
        Ok::<(), Infallible>(())
    });
    if found.is_empty() {
        return Err(refused(failed.unwrap_or_else(|| "it contains no log".into())));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interrupt_stops_import_within_an_archive() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dd.txt");
        std::fs::write(&path, cardscope_testkit::cards::dd_output(20, "\n")).unwrap();
        let interrupt = InterruptFlag::default();
        interrupt.raise();
        let candidate = collect::CandidateFile { path, named_by_user: true };
        let writer = BatchWriter::open(None, true, false).unwrap();
        let mut import = ImportRun { stated: StatedFacts::default(), writer, interrupt: &interrupt };
        assert_eq!(import.import_candidate(&candidate), Err(Failure::Interrupted));
    }
}
