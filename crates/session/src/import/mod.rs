//! `import`: logs of other tools, and result files of other archives, into the archive. Files are found (`collect`),
//! unpacked (`unpack`), understood (crate `import`) and kept, a batch at a time: a file is in the archive whole or not at
//! all, and one that is damaged stops no other.

mod collect;
mod intake;
mod named;
pub(crate) mod result_file;
mod typed;
mod unpack;

use crate::bench::Interrupt;
use crate::error::Failure;
use crate::frame::Outcome;
use cardscope_engine::event::Listener;
use cardscope_model::card::CardFacts;
use cardscope_model::condition::Condition;
use cardscope_model::imported::ImportReport;
use cardscope_model::log::Log;
use intake::{Intake, Understood};
use serde::Serialize;
use std::convert::Infallible;
use std::path::{Path, PathBuf};

/// Files between two signs of life.
const EVERY: u64 = 500;

/// A format that is understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct KnownFormat {
    /// Its name in output: `cdm_fio`.
    pub name: &'static str,
    /// What it is.
    pub title: &'static str,
}

/// All formats that are understood, in the order in which they are tried.
pub fn formats() -> Vec<KnownFormat> {
    cardscope_import::formats().iter().map(|f| KnownFormat { name: f.name, title: f.title }).collect()
}

/// What is asked.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Files, folders, archives; `-` is standard input.
    pub files: Vec<PathBuf>,
    /// Only show what was understood.
    pub dry_run: bool,
    /// Keep what was understood in the document, also where all is well.
    pub detailed: bool,
    /// What is known of the card that the logs do not say; theirs is kept where they do.
    pub card: CardFacts,
    /// The same for the condition; these words win, since the user states them.
    pub condition: Condition,
    /// The archive; `None` is the user's own.
    pub archive: Option<PathBuf>,
}

/// Reads logs and keeps them. The document comes back also where it ended early, with what was kept.
///
/// # Errors
/// A refusal where nothing was named, or the archive cannot be opened.
pub fn import(
    request: &Request,
    interrupt: &Interrupt,
    listener: &mut dyn Listener,
) -> Result<Outcome<ImportReport>, Failure> {
    if request.files.is_empty() {
        return Err(Failure::refused("nothing to import: name files, folders or - for standard input"));
    }
    let mut intake = Intake::open(request.archive.as_deref(), request.dry_run, request.detailed)?;
    let failure = walk(request, &mut intake, interrupt, listener).err();
    let failure = failure.or(intake.flush().err());
    Ok(Outcome::of(intake.report(), failure))
}

fn walk(
    request: &Request,
    intake: &mut Intake,
    interrupt: &Interrupt,
    listener: &mut dyn Listener,
) -> Result<(), Failure> {
    let (candidates, failed) = collect::candidates(&request.files);
    for (folder, why) in failed {
        intake.failed(folder.display().to_string(), format!("the folder cannot be listed: {why}"), true);
    }
    for (done, candidate) in (1..).zip(&candidates) {
        if interrupt.raised() {
            return Err(Failure::Interrupted);
        }
        if done % EVERY == 0 {
            listener.note(&format!("{done} of {} files", candidates.len()));
        }
        one(request, intake, candidate, interrupt)?;
    }
    Ok(())
}

fn one(
    request: &Request,
    intake: &mut Intake,
    candidate: &collect::Candidate,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let outer = candidate.path.display().to_string();
    if intake.is_archive(&candidate.path) {
        if candidate.named {
            intake.failed(outer, "this is the archive that logs are imported into".to_owned(), true);
        }
        return Ok(());
    }
    let bytes = match collect::bytes(candidate, interrupt) {
        Ok(bytes) => bytes,
        Err(_) if interrupt.raised() => return Err(Failure::Interrupted),
        Err(why) => {
            intake.failed(outer, why, candidate.named);
            return Ok(());
        }
    };
    unpack::members(bytes, |member| {
        if interrupt.raised() {
            return Err(Failure::Interrupted);
        }
        let file = if member.name.is_empty() { outer.clone() } else { format!("{outer}/{}", member.name) };
        match member.bytes {
            Err(why) => intake.failed(file, why, candidate.named),
            Ok(bytes) => log(request, intake, candidate, file, bytes)?,
        }
        Ok(())
    })
}

/// One unpacked file: a log of another tool, or a session that an archive wrote.
fn log(
    request: &Request,
    intake: &mut Intake,
    candidate: &collect::Candidate,
    file: String,
    bytes: Vec<u8>,
) -> Result<(), Failure> {
    if result_file::is_one(&bytes) {
        match result_file::read(&bytes) {
            Ok(session) => intake.session(file, &session)?,
            Err(why) => intake.failed(file, why, candidate.named),
        }
        return Ok(());
    }
    match cardscope_import::read(&bytes) {
        Ok(logs) => {
            let logs = stated(request, Path::new(&file), logs);
            let folder = candidate.path.parent().map(Path::to_owned);
            intake.understood(Understood { file, folder, bytes, logs })?;
        }
        Err(error) => intake.not_understood(file, &error, candidate.named),
    }
    Ok(())
}

/// The logs with what the user states about them, and what their names say.
fn stated(request: &Request, file: &Path, mut logs: Vec<Log>) -> Vec<Log> {
    for log in &mut logs {
        log.card.complete_from(&request.card);
        named::complete(log, file);
        log.condition.overlay(&request.condition);
        for condition in log.runs.iter_mut().filter_map(|run| run.condition.as_mut()) {
            condition.overlay(&request.condition);
        }
    }
    logs
}

/// The logs of one file, or of one that is packed in it.
pub(crate) struct Found {
    /// How a card in it is called that nothing names.
    pub(crate) title: Option<String>,
    /// Its name inside of what it was packed in; empty for a file that is no archive.
    pub(crate) member: String,
    /// What was understood.
    pub(crate) logs: Vec<Log>,
}

/// The logs in one file, without an archive: what `compare` does with a file that is named in place of a card.
///
/// # Errors
/// A refusal where it cannot be read, or nothing in it is understood.
pub(crate) fn logs_of(path: &Path) -> Result<Vec<Found>, Failure> {
    let refused = |why: String| Failure::refused(format!("{}: {why}", path.display()));
    let candidate = collect::Candidate { path: path.to_owned(), named: true };
    let (mut found, mut failed) = (Vec::new(), None);
    let bytes = collect::bytes(&candidate, &Interrupt::default()).map_err(refused)?;
    let Ok(()) = unpack::members(bytes, |member| {
        let read = member.bytes.and_then(|bytes| cardscope_import::read(&bytes).map_err(|e| e.to_string()));
        match read {
            Ok(mut logs) => {
                let file = if member.name.is_empty() { path } else { Path::new(&member.name) };
                logs.iter_mut().for_each(|log| named::complete(log, file));
                found.push(Found { title: named::title(file), member: member.name.clone(), logs });
            }
            Err(why) => failed = failed.take().or(Some(why)),
        }
        Ok::<(), Infallible>(())
    });
    match found.is_empty() {
        true => Err(refused(failed.unwrap_or_else(|| "there is no log in it".to_owned()))),
        false => Ok(found),
    }
}

#[cfg(test)]
mod tests;
