//! Where a watch is kept: the archive and a file, neither of them on the watched card while the watch lasts.

use super::Request;
use crate::archive::path_of;
use crate::card_key;
use crate::error::Failure;
use crate::output_file::{Mark, OutputFile};
use crate::recorder::Recorder;
use cardscope_device::system::System;
use cardscope_device::{filesystem, host, inspect};
use cardscope_engine::event::Listener;
use cardscope_model::caveat::Caveat;
use cardscope_model::observe::ObserveReport;
use cardscope_model::outside;
use cardscope_store::RecordStart;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A watch that is still going on is kept this often.
const KEPT_EVERY: Duration = Duration::from_secs(60);

/// What the documents of earlier watches, and no others, have; such a file may be replaced.
const OF_A_WATCH: Mark = Mark::Fields(&["device", "began_uptime_seconds", "every_seconds", "samples"]);

/// What keeps a watch.
pub(super) struct Keeper {
    start: RecordStart,
    archive: Option<PathBuf>,
    save: Option<OutputFile>,
    /// Begun before the watch, unless it lies on the watched card.
    recording: Option<Recorder>,
    kept: Instant,
    keeps: bool,
}

impl Keeper {
    /// Finds out where the watch may be kept meanwhile. A recorded machine is not kept in the archive.
    ///
    /// # Errors
    /// If the archive or the file cannot be written.
    pub(super) fn begin(
        request: &Request,
        system: &System,
        report: &mut ObserveReport,
    ) -> Result<Keeper, Failure> {
        let card = system.is_live().then_some(request.target.as_str());
        let claim = |file| OutputFile::claim("--save", file, card, OF_A_WATCH);
        let save = request.save.as_deref().map(claim).transpose()?;
        let archive = request.archive.clone();
        let place = path_of(archive.as_deref())?;
        let mut keeper = Keeper {
            start: start(request, system),
            archive,
            save,
            recording: None,
            kept: Instant::now(),
            keeps: system.is_live(),
        };
        if card.is_some_and(|card| filesystem::lies_on(&place, card)) {
            report.header.caveats.push(Caveat::other(later("archive", &place, &request.target)));
        } else if keeper.keeps {
            keeper.record(report)?;
        }
        if let Some(file) = keeper.save.as_ref().filter(|file| file.on_target()) {
            report.header.caveats.push(Caveat::other(later("file", file.name(), &request.target)));
        }
        Ok(keeper)
    }

    fn record(&mut self, report: &mut ObserveReport) -> Result<&mut Recorder, Failure> {
        let recording = Recorder::of(self.archive.as_deref(), &self.start)?;
        report.header.session = Some(recording.name());
        Ok(self.recording.insert(recording))
    }

    /// Keeps what was seen so far, once a minute. That it cannot be kept now does not end the watch.
    pub(super) fn meanwhile(&mut self, report: &ObserveReport, listener: &mut dyn Listener) {
        let Some(recording) = &mut self.recording else { return };
        if self.kept.elapsed() < KEPT_EVERY {
            return;
        }
        self.kept = Instant::now();
        if let Err(failure) = recording.update(report) {
            listener.note(&format!("what was seen so far could not be kept: {failure}"));
        }
    }

    /// Keeps the whole watch.
    ///
    /// # Errors
    /// If the archive or the file cannot be written; the other one is written all the same.
    pub(super) fn finish(
        mut self,
        report: &mut ObserveReport,
        failure: Option<&Failure>,
    ) -> Result<(), Failure> {
        let begun = match (self.keeps, &self.recording) {
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

fn start(request: &Request, system: &System) -> RecordStart {
    let identity = inspect::inspect(system, &request.target).ok();
    let condition = host::condition(system, Some(&request.target));
    RecordStart {
        kind: "observe".to_owned(),
        target: request.target.clone(),
        piece: identity.as_ref().and_then(card_key::piece_of),
        seed: 0,
        host: card_key::host_json(&condition),
        condition,
        identity: identity.and_then(|i| serde_json::to_value(i).ok()).unwrap_or(Value::Null),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

fn later(what: &str, path: &Path, card: &str) -> String {
    format!(
        "the {what} {} lies on {card} itself: what was seen was kept in memory and written there after the watch; a crash before would have lost it",
        path.display()
    )
}

fn save(file: &OutputFile, report: &ObserveReport) -> Result<(), Failure> {
    file.write(outside::json(&serde_json::to_string_pretty(report).map_err(Failure::io)?).as_bytes())
}
