//! `verify DIR --files`: fills the free space of a mounted card with the files of h2testw and f3write, byte for byte
//! theirs, reads them back and tells what was lost. The user's files stay, and so do files of the pattern that were
//! there before.

mod folder;
mod own;
#[cfg(test)]
mod race_tests;
mod test_folder;

use super::Request;
use crate::error::Failure;
use crate::frame::Session;
use crate::opening::{self, Opened};
use crate::recorder::Recorder;
use cardscope_device::held::Held;
use cardscope_engine::card::Stop;
use cardscope_engine::interrupt::Interrupt;
use cardscope_model::caveat;
use cardscope_model::finding::{Finding, Weight};
use cardscope_model::units::Capacity;
use cardscope_model::verify::VerifyReport;
use cardscope_probe::files::{Facts, FilesError, FilesTest, Outcome};
use folder::{Folder, listed};
use test_folder::Files;

/// Opens the directory; `there` is the directory itself, where a verb that does more with it has it open.
pub(crate) fn open(
    request: &Request,
    there: Option<&Held>,
    interrupt: &Interrupt,
) -> Result<Opened, Failure> {
    let folder = Folder::open(&request.common.target, there)?;
    let directory = folder.held.readable().map_err(Failure::refused)?;
    let mut opened = opening::mounted(directory, &folder.path, interrupt)?;
    opened.limit_writes(request.common.max_write);
    Ok(opened)
}

pub(super) fn run(
    request: &Request,
    session: &mut Session<'_>,
    report: &mut VerifyReport,
) -> Result<(), Failure> {
    let folder = Folder::open(&request.common.target, session.opened.held.as_deref())?;
    let total = check(request, &folder, session.opened)?;
    // The files are the same on every card.
    report.header.seed = 0;
    report.header.caveats.extend(folder.caveats());
    session.begin_row(report)?;
    let Some(mut recorder) = session.recorder.take() else { return Ok(()) };
    let facts = Facts {
        directory: folder.path.display().to_string(),
        file_system: folder.system.name.clone(),
        mounted_at: folder.system.mounted_at.clone(),
        total_bytes: folder.room.total,
        free_bytes: folder.free(),
    };
    let files = Files::new(folder, session.opened.files.clone().unwrap_or_default());
    let budget = request.common.budget;
    let mut test =
        FilesTest::new(files, facts, !request.read_only, session.interrupt, session.events, budget);
    let ended = carry_out(request, session.opened, &mut test, total, &mut recorder, report);
    let stayed =
        if request.keep_files || request.read_only { Vec::new() } else { test.folder().remove_all() };
    fill(report, &mut test, ended.is_err());
    report.header.findings.extend(left(&stayed));
    session.recorder = Some(recorder);
    ended
}

/// Bytes to write; what speaks against it is told before anything is done.
fn check(request: &Request, folder: &Folder, opened: &Opened) -> Result<u64, Failure> {
    if !request.read_only {
        return folder.budget(opened.limit.left());
    }
    if folder.there.is_empty() {
        let path = folder.path.display();
        return Err(Failure::refused(format!(
            "{path} holds no files 1.h2w, 2.h2w … to verify; without --read-only they are written there"
        )));
    }
    Ok(0)
}

fn carry_out(
    request: &Request,
    opened: &Opened,
    test: &mut FilesTest<'_, Files>,
    total: u64,
    recorder: &mut Recorder,
    report: &mut VerifyReport,
) -> Result<(), Failure> {
    if !request.read_only {
        let limit = opened.limit.words().map(|words| format!("; {words}")).unwrap_or_default();
        test.note(format!(
            "{} will be written to {} in files of 1 GiB and read back; what is there stays{limit}",
            Capacity(total),
            request.common.target
        ));
        let outcome = test.write(total);
        fill(report, test, outcome.is_err());
        recorder.update(report)?;
        outcome.map_err(failure)?;
    }
    test.read().map_err(failure)?;
    if let Some(path) = test.folder().was_replaced() {
        let path = path.display();
        test.doubt(format!("{path} was replaced during the test; the original directory was tested"));
    }
    Ok(())
}

fn fill(report: &mut VerifyReport, test: &mut FilesTest<'_, Files>, cut_short: bool) {
    let kept = !test.folder().is_empty();
    let Outcome { verification, findings, caveats, io_path } = test.outcome(cut_short, kept);
    caveat::add(&mut report.header.caveats, caveats);
    report.header.io_path = io_path;
    report.header.findings = findings;
    report.body = verification;
}

/// That files of the run's own would not go.
fn left(stayed: &[String]) -> Option<Finding> {
    (!stayed.is_empty()).then(|| {
        let verdict = format!("Files of this test were not removed: {}.", listed(stayed));
        Finding::new("files-left", Weight::Note, 1.0, verdict).advise("Remove them by hand.")
    })
}

fn failure(error: FilesError) -> Failure {
    match error {
        FilesError::Stop(Stop::Interrupted) => Failure::Interrupted,
        other => Failure::io(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_is_known_by_its_own_name_whatever_is_opened_meanwhile() {
        let folder = tempfile::tempdir().unwrap();
        let common = crate::frame::Common {
            target: folder.path().to_str().unwrap().to_owned(),
            ..crate::frame::Common::default()
        };
        let request = Request { common, ..Request::default() };
        let opened = open(&request, None, &Interrupt::default()).unwrap();
        let others: Vec<_> = (0..64).map(|_| tempfile::tempfile().unwrap()).collect();
        opened.held.unwrap().agreed().unwrap();
        drop(others);
    }
}
