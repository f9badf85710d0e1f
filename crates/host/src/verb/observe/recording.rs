//! Stores a watch in the archive and a file, but not on the watched card while the watch lasts.

use super::ObserveRequest;
use cardscope_device::system::SystemRoots;
use cardscope_device::{filesystem, host, inspect};
use cardscope_engine::event::Listener;
use cardscope_model::caveat::Caveat;
use cardscope_model::json;
use cardscope_model::observe::ObserveReport;
use cardscope_model::session_file::SessionFile;
use cardscope_session::archive_access::archive_path;
use cardscope_session::error::{Failure, Result};
use cardscope_session::options::ArchiveAt;
use cardscope_session::output_file::{FileMark, OutputFile};
use cardscope_session::recorder::{self, SessionRecorder};
use std::path::Path;
use std::time::{Duration, Instant};

/// Interval at which an unfinished watch is stored.
const STORED_EVERY: Duration = Duration::from_secs(60);

/// Fields that mark a file as an earlier watch, which `--save` may replace.
const WATCH_MARK: FileMark =
    FileMark::Fields(&["device", "began_uptime_seconds", "every_seconds", "samples"]);

pub(super) struct WatchRecorder {
    start: SessionFile,
    archive: ArchiveAt,
    save: Option<OutputFile>,
    /// Session that began before the watch. None if the archive lies on the watched card.
    recording: Option<SessionRecorder>,
    stored: Instant,
    stores_in_archive: bool,
}

impl WatchRecorder {
    /// Checks where the watch may be stored. Watches of recorded machines are not archived.
    pub(super) fn begin(
        request: &ObserveRequest,
        system: &SystemRoots,
        report: &mut ObserveReport,
    ) -> Result<WatchRecorder> {
        let card = system.is_live().then_some(request.target.as_str());
        let claim = |file| OutputFile::claim("--save", file, card, WATCH_MARK);
        let save = request.save.as_deref().map(claim).transpose()?;
        let path = archive_path(request.archive.named_path())?;
        let mut recorder = WatchRecorder {
            start: session_start(request, system),
            archive: request.archive.clone(),
            save,
            recording: None,
            stored: Instant::now(),
            stores_in_archive: system.is_live(),
        };
        if card.is_some_and(|card| filesystem::is_on_disk_of(&path, card)) {
            report.header.caveats.push(late_storage_caveat("archive", &path, &request.target));
        } else if recorder.stores_in_archive {
            recorder.begin_session(report)?;
        }
        if let Some(file) = recorder.save.as_ref().filter(|file| file.on_target()) {
            report.header.caveats.push(late_storage_caveat("file", file.name(), &request.target));
        }
        Ok(recorder)
    }

    /// Begins a session in the archive.
    fn begin_session(&mut self, report: &mut ObserveReport) -> Result<&mut SessionRecorder> {
        let recording = SessionRecorder::begin(self.archive.named_path(), &self.start)?;
        report.header.session = Some(recording.name());
        Ok(self.recording.insert(recording))
    }

    /// Stores the samples so far, once a minute. A failure does not end the watch.
    pub(super) fn store_if_due(&mut self, report: &ObserveReport, events: &mut dyn Listener) {
        let Some(recording) = &mut self.recording else { return };
        if self.stored.elapsed() < STORED_EVERY {
            return;
        }
        self.stored = Instant::now();
        if let Err(failure) = recording.update(report) {
            events.report_note(&format!("the results so far could not be stored: {failure}"));
        }
    }

    /// Stores the whole watch. If one of archive and file fails, the other is still written.
    pub(super) fn finish(mut self, report: &mut ObserveReport, failure: Option<&Failure>) -> Result<()> {
        let begun = match (self.stores_in_archive, &self.recording) {
            (true, None) => self.begin_session(report).map(drop),
            _ => Ok(()),
        };
        let archived = begun.and_then(|()| match self.recording.take() {
            Some(recording) => recording.finish(report, failure),
            None => Ok(()),
        });
        let saved = self.save.as_ref().map_or(Ok(()), |file| save_report(file, report));
        archived.and(saved)
    }
}

fn session_start(request: &ObserveRequest, system: &SystemRoots) -> SessionFile {
    let identity = inspect::inspect_card(system, &request.target).ok();
    let condition = host::host_condition(system, Some(&request.target));
    recorder::session_start("observe", &request.target, 0, &condition, identity.as_ref())
}

/// Caveat of an archive or file that lies on the watched card.
fn late_storage_caveat(what: &str, path: &Path, card: &str) -> Caveat {
    let place = format!("the {what} {} is on {card} itself", path.display());
    Caveat::from_text(format!("{place}, so samples were written only after the watch"))
}

fn save_report(file: &OutputFile, report: &ObserveReport) -> Result<()> {
    file.write_content(json::to_json_text(report).map_err(Failure::io)?.as_bytes())
}
