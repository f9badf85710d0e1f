//! Stores parsed files in batches, each in one transaction, and counts the outcomes.

use super::shared_cards::{self, ParsedFile};
use super::{file_name_hints, screenshots};
use crate::readers::ImportError;
use cardscope_engine::pending::{PendingGuard, register_cleanup};
use cardscope_files::FileIdentity;
use cardscope_model::card_map::MAP_KEY;
use cardscope_model::import_report::{FileLine, FileOutcome, ImportReport, ImportTotals};
use cardscope_model::log::{CardLog, TYPED_FROM};
use cardscope_model::session_file::SessionFile;
use cardscope_model::untrusted_text;
use cardscope_session::archive_access;
use cardscope_session::error::Result;
use cardscope_statistics::flashbench::geometry_in_log;
use cardscope_store::{Archive, ArchiveError, ImportedSource, NewSource};
use serde_json::{Value, json};
use std::path::Path;

const BATCH_FILES: usize = 256;

/// Most bytes in a batch, unless it is a single longer file.
const BATCH_BYTES: usize = 16 << 20;

pub(super) struct BatchWriter {
    archive: Option<Archive>,
    detailed: bool,
    batch: Vec<ParsedFile>,
    batch_bytes: usize,
    report: ImportReport,
    _guard: Option<PendingGuard>,
}

impl BatchWriter {
    /// Opens the archive, except for a dry run.
    pub(super) fn open(archive: Option<&Path>, dry_run: bool, detailed: bool) -> Result<Self> {
        let archive = if dry_run { None } else { Some(archive_access::open_or_create(archive)?) };
        let path = archive.as_ref().map(|a| a.path().display().to_string());
        let report = ImportReport { archive: path, ..ImportReport::default() };
        let guard = || register_cleanup("the logs so far are stored in the archive", "");
        let _guard = archive.is_some().then(guard);
        let detailed = detailed || dry_run;
        Ok(BatchWriter { archive, detailed, batch: Vec::new(), batch_bytes: 0, report, _guard })
    }

    /// True for the archive and the files that SQLite keeps next to it. Closing one of them would release SQLite's locks
    /// (fcntl(2), "Record locks").
    pub(super) fn is_archive(&self, path: &Path) -> bool {
        let Some(archive) = &self.archive else { return false };
        let of_archive = |suffix: &&str| {
            let mut name = archive.path().as_os_str().to_owned();
            name.push(suffix);
            let own = FileIdentity::of_path(Path::new(&name));
            own.is_some() && own == FileIdentity::of_path(path)
        };
        ["", "-wal", "-shm", "-journal"].iter().any(of_archive)
    }

    /// Adds a parsed file. A full batch is stored, all of it or nothing.
    pub(super) fn add_parsed(&mut self, file: ParsedFile) -> Result<()> {
        let runs = file.logs.iter().map(|log| log.runs.len() as u64).sum();
        let results = file.logs.iter().flat_map(|log| &log.runs).map(|run| run.results.len() as u64).sum();
        self.report.count_file(file_format(&file.logs), runs, results);
        self.batch_bytes += file.bytes.len();
        self.batch.push(file);
        if self.batch.len() >= BATCH_FILES || self.batch_bytes >= BATCH_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Stores a session that another archive exported.
    pub(super) fn store_session(&mut self, file: String, session: &SessionFile) -> Result<()> {
        // Files are stored in their order, so the batch goes first.
        self.flush()?;
        let results = session.runs.iter().flat_map(|run| &run.figures).map(|f| f.len() as u64).sum();
        self.report.count_file("cardscope", session.runs.len() as u64, results);
        let added = self.archive.as_mut().map(|archive| archive.add_file(session)).transpose();
        let ((kept, sessions), error) = match added {
            Ok(stored) => (outcome_and_sessions(stored.as_ref()), None),
            // The file is at fault, not the archive, so the import goes on with the next file.
            Err(error @ ArchiveError::File(_)) => {
                ((FileOutcome::Failed, Vec::new()), Some(error.to_string()))
            }
            Err(error) => return Err(error.into()),
        };
        count_outcome(&mut self.report.totals, kept);
        self.report.named_failed |= kept == FileOutcome::Failed;
        let line = FileLine { file, log: None, kept, sessions, error };
        self.report.files.extend((self.detailed || line.error.is_some()).then_some(line));
        Ok(())
    }

    /// Reports a file that is not a log, or a log that cannot be parsed.
    pub(super) fn report_unparsed(&mut self, file: String, error: &ImportError, named: bool) {
        // A damaged log counts as failed, a file of any other kind as not understood.
        let unknown = matches!(error, ImportError::Unknown(_));
        let kept = if unknown { FileOutcome::NotUnderstood } else { FileOutcome::Failed };
        self.report.named_failed |= named || kept == FileOutcome::Failed;
        self.push_failure(file, kept, error.to_string());
    }

    /// Reports a file that cannot be read.
    pub(super) fn report_failed(&mut self, file: String, why: String, named: bool) {
        self.report.named_failed |= named;
        self.push_failure(file, FileOutcome::Failed, why);
    }

    fn push_failure(&mut self, file: String, kept: FileOutcome, error: String) {
        count_outcome(&mut self.report.totals, kept);
        let error = Some(untrusted_text::shorten_message(&error, &[]).into_owned());
        self.report.files.push(FileLine { file, log: None, kept, sessions: Vec::new(), error });
    }

    /// Stores the batch, all of it or nothing.
    pub(super) fn flush(&mut self) -> Result<()> {
        let mut batch = std::mem::take(&mut self.batch);
        self.batch_bytes = 0;
        self.report.joined.extend(shared_cards::assign_shared_cards(&mut batch));
        let stored = match &mut self.archive {
            None => vec![None; batch.len()],
            Some(archive) => store_batch(archive, &mut batch)?.into_iter().map(Some).collect(),
        };
        for (file, stored) in batch.into_iter().zip(stored) {
            let doubts = self.attach_pictures(&file, stored.as_ref())?;
            self.report_logs(file, stored.as_ref(), doubts);
        }
        Ok(())
    }

    /// Attaches the pictures that new figures were typed from; returns the problems.
    fn attach_pictures(&mut self, file: &ParsedFile, stored: Option<&ImportedSource>) -> Result<Vec<String>> {
        let typed = file.logs.iter().any(|log| log.other.contains_key(TYPED_FROM));
        match (&mut self.archive, stored, &file.folder) {
            (Some(archive), Some(ImportedSource::New { sessions, .. }), Some(folder)) if typed => {
                screenshots::attach_sources(archive, folder, sessions)
            }
            _ => Ok(Vec::new()),
        }
    }

    fn report_logs(&mut self, mut file: ParsedFile, stored: Option<&ImportedSource>, doubts: Vec<String>) {
        let (kept, sessions) = outcome_and_sessions(stored);
        count_outcome(&mut self.report.totals, kept);
        if let Some(first) = file.logs.first_mut() {
            first.doubts.extend(doubts);
        }
        for mut log in file.logs {
            // Geometry is added to the report only: the archive stores the tables, from which it can be derived again.
            let geometry = geometry_in_log(&Value::Object(log.other.clone())).map(|found| json!(found));
            log.other.extend(geometry.map(|found| (MAP_KEY.to_owned(), found)));
            if self.detailed || !log.doubts.is_empty() || log.other.contains_key(MAP_KEY) {
                let (file, sessions) = (file.file.clone(), sessions.clone());
                self.report.files.push(FileLine { file, log: Some(log), kept, sessions, error: None });
            }
        }
    }

    pub(super) fn into_report(self) -> ImportReport {
        self.report
    }
}

/// Format of a file, which all its logs share.
fn file_format(logs: &[CardLog]) -> &str {
    logs.first().map_or("", |log| log.format.as_str())
}

/// Stores the batch. The bytes move into the archive, since nothing needs them afterwards.
fn store_batch(archive: &mut Archive, batch: &mut [ParsedFile]) -> Result<Vec<ImportedSource>> {
    let title = |file: &ParsedFile| match &file.shared {
        Some((_, called)) => Some(called.clone()),
        None => file_name_hints::title_from_name(Path::new(&file.file)),
    };
    let titles: Vec<Option<String>> = batch.iter().map(title).collect();
    let sources = batch.iter_mut().zip(&titles).map(|(file, title)| NewSource {
        name: &file.file,
        title: title.as_deref(),
        shares_card_of: file.shared.as_ref().map(|(first, _)| *first),
        format: file_format(&file.logs),
        bytes: std::mem::take(&mut file.bytes).into(),
        logs: &file.logs,
    });
    Ok(archive.import(sources)?)
}

/// Outcome of a parsed file and its new sessions. `None` means a dry run.
fn outcome_and_sessions(stored: Option<&ImportedSource>) -> (FileOutcome, Vec<String>) {
    match stored {
        None => (FileOutcome::DryRun, Vec::new()),
        Some(ImportedSource::Known { .. }) => (FileOutcome::Known, Vec::new()),
        Some(ImportedSource::New { sessions, .. }) => {
            (FileOutcome::New, sessions.iter().map(ToString::to_string).collect())
        }
    }
}

fn count_outcome(totals: &mut ImportTotals, kept: FileOutcome) {
    totals.files += 1;
    match kept {
        FileOutcome::New => totals.new += 1,
        FileOutcome::Known => totals.known += 1,
        FileOutcome::NotUnderstood => totals.not_understood += 1,
        FileOutcome::Failed => totals.failed += 1,
        FileOutcome::DryRun => {}
    }
}
