//! Where a watch is recorded: the archive and a file, neither of them on the watched card while the watch lasts.

use super::ObserveRequest;
use cardscope_device::system::SystemRoots;
use cardscope_device::{filesystem, host, inspect};
use cardscope_engine::event::Listener;
use cardscope_model::caveat::Caveat;
use cardscope_model::json;
use cardscope_model::observe::ObserveReport;
use cardscope_session::archive_access::path_of;
use cardscope_session::error::{Failure, Result};
use cardscope_session::options::ArchiveAt;
use cardscope_session::output_file::{FileMark, OutputFile};
use cardscope_session::recorder;
use cardscope_session::recorder::SessionRecorder;
use cardscope_store::SessionStart;
use std::path::Path;
use std::time::{Duration, Instant};

/// A watch that is still going on is stored this often.
const STORED_EVERY: Duration = Duration::from_secs(60);

/// What the documents of earlier watches, and no others, have; such a file may be replaced.
const OF_A_WATCH: FileMark =
    FileMark::Fields(&["device", "began_uptime_seconds", "every_seconds", "samples"]);

/// Records a watch.
pub(super) struct WatchRecorder {
    start: SessionStart,
    archive: ArchiveAt,
    save: Option<OutputFile>,
    /// Begun before the watch, unless it lies on the watched card.
    recording: Option<SessionRecorder>,
    stored: Instant,
    archives: bool,
}

impl WatchRecorder {
    /// Finds out where the watch may be stored meanwhile. A recorded machine is not stored in the archive.
    pub(super) fn begin(
        request: &ObserveRequest,
        system: &SystemRoots,
        report: &mut ObserveReport,
    ) -> Result<WatchRecorder> {
        let card = system.is_live().then_some(request.target.as_str());
        let claim = |file| OutputFile::claim("--save", file, card, OF_A_WATCH);
        let save = request.save.as_deref().map(claim).transpose()?;
        let archive = request.archive.clone();
        let path = path_of(archive.named())?;
        let mut recorder = WatchRecorder {
            start: start(request, system),
            archive,
            save,
            recording: None,
            stored: Instant::now(),
            archives: system.is_live(),
        };
        if card.is_some_and(|card| filesystem::lies_on(&path, card)) {
            report.header.caveats.push(Caveat::other(later("archive", &path, &request.target)));
        } else if recorder.archives {
            recorder.record(report)?;
        }
        if let Some(file) = recorder.save.as_ref().filter(|file| file.on_target()) {
            report.header.caveats.push(Caveat::other(later("file", file.name(), &request.target)));
        }
        Ok(recorder)
    }

    fn record(&mut self, report: &mut ObserveReport) -> Result<&mut SessionRecorder> {
        let recording = SessionRecorder::of(self.archive.named(), &self.start)?;
        report.header.session = Some(recording.name());
        Ok(self.recording.insert(recording))
    }

    /// Stores what was seen so far, once a minute. That it cannot be stored now does not end the watch.
    pub(super) fn meanwhile(&mut self, report: &ObserveReport, events: &mut dyn Listener) {
        let Some(recording) = &mut self.recording else { return };
        if self.stored.elapsed() < STORED_EVERY {
            return;
        }
        self.stored = Instant::now();
        if let Err(failure) = recording.update(report) {
            events.note(&format!("the results so far could not be stored: {failure}"));
        }
    }

    /// Keeps the whole watch.
    ///
    /// # Errors
    /// If the archive or the file cannot be written; the other one is written all the same.
    pub(super) fn finish(mut self, report: &mut ObserveReport, failure: Option<&Failure>) -> Result<()> {
        let begun = match (self.archives, &self.recording) {
            (true, None) => self.record(report).map(drop),
            _ => Ok(()),
        };
        let archived = begun.and_then(|()| match self.recording.take() {
            Some(recording) => recording.finish(report, failure),
            None => Ok(()),
        });
        let saved = self.save.as_ref().map_or(Ok(()), |file| save(file, report));
        archived.and(saved)
    }
}

fn start(request: &ObserveRequest, system: &SystemRoots) -> SessionStart {
    let identity = inspect::inspect(system, &request.target).ok();
    let condition = host::condition(system, Some(&request.target));
    recorder::start("observe", &request.target, 0, &condition, identity.as_ref())
}

fn later(what: &str, path: &Path, card: &str) -> String {
    format!("the {what} {} is on {card} itself, so samples were written only after the watch", path.display())
}

fn save(file: &OutputFile, report: &ObserveReport) -> Result<()> {
    file.write(json::text(report).map_err(Failure::io)?.as_bytes())
}
