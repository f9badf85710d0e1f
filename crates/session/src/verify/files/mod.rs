//! `verify DIR --files`: fills the free space of a mounted card with the files of h2testw and f3write, byte for byte
//! theirs, reads them back and tells what was lost. The user's files stay, and so do files of the pattern that were
//! there before.

mod document;
mod folder;
mod folding;
mod meter;
mod names;
mod own;
mod pass;
#[cfg(test)]
mod race_tests;
mod reading;
mod sorting;
mod there;
mod verdict;
mod writing;

use super::Request;
use crate::error::Failure;
use crate::frame::Session;
use crate::opening::{self, Opened};
use crate::recorder::Recorder;
use cardscope_device::held::Held;
use cardscope_engine::interrupt::Interrupt;
use cardscope_model::units::Capacity;
use cardscope_model::verify::VerifyReport;
use folder::Folder;
use pass::Pass;
use reading::ToRead;

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
    let options = session.opened.files.clone().unwrap_or_default();
    let opened = &*session.opened;
    let mut pass = Pass::new(folder, options, session.interrupt, session.events, request.common.budget);
    let mut work = Work { request, opened, files: Vec::new(), foreign: Vec::new(), otherwise: 0, wrap: None };
    let ended = work.carry_out(&mut pass, total, &mut recorder, report);
    let stayed = work.tidy(&mut pass);
    work.fill(report, &pass, ended.as_ref().err());
    report.header.findings.extend(stayed);
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

/// What is done, and what comes out of it.
struct Work<'a> {
    request: &'a Request,
    opened: &'a Opened,
    files: Vec<ToRead>,
    foreign: Vec<String>,
    /// Pieces that gave another answer at the second look.
    otherwise: u64,
    /// In which period the card's addresses repeat, where they do.
    wrap: Option<u64>,
}

impl Work<'_> {
    fn carry_out(
        &mut self,
        pass: &mut Pass<'_>,
        total: u64,
        recorder: &mut Recorder,
        report: &mut VerifyReport,
    ) -> Result<(), Failure> {
        if self.request.read_only {
            (self.files, self.foreign) = there::to_read(pass);
        } else {
            let limit = self.opened.limit.words().map(|words| format!("; {words}")).unwrap_or_default();
            pass.note(format!(
                "{} will be written to {} in files of 1 GiB and read back; what is there stays{limit}",
                Capacity(total),
                self.request.common.target
            ));
            let outcome = writing::write_all(pass, total);
            self.files = there::written(pass);
            self.fill(report, pass, outcome.as_ref().err());
            recorder.update(report)?;
            outcome?;
        }
        pass.sorted.tested = self.files.iter().map(ToRead::range).collect();
        reading::read_all(pass, &mut self.files)?;
        self.otherwise = reading::second_look(pass, &self.files)?;
        self.wrap = folding::period(pass, &self.files);
        if !pass.folder.held.is_at(&pass.folder.path) {
            pass.doubt(format!(
                "{} was replaced during the test; the original directory was tested",
                pass.folder.path.display()
            ));
        }
        Ok(())
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
