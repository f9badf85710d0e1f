//! `verify DIR --files`: fills the free space of a mounted card with the files of h2testw and f3write, byte for byte
//! theirs, reads them back and tells what was lost. The user's files stay, and so do files of the pattern that were
//! there before.

mod document;
mod folder;
mod folding;
mod meter;
mod names;
mod own;
#[cfg(test)]
mod race_tests;
mod reading;
mod session;
mod sorting;
mod there;
mod verdict;
mod writing;

use super::{Outcome, Request};
use crate::error::Failure;
use crate::opening::{self, Opened};
use crate::recording::Recording;
use cardscope_device::held::Held;
use cardscope_engine::content::h2w::FILE_BYTES;
use cardscope_engine::event::Listener;
use cardscope_engine::interrupt::Interrupt;
use cardscope_model::condition::Condition;
use cardscope_model::units::Capacity;
use folder::Folder;
use reading::ToRead;
use session::Session;

/// `there` is the directory, where a verb that does more with it has it open.
pub(crate) fn run(
    request: &Request,
    there: Option<&Held>,
    interrupt: &Interrupt,
    listener: &mut dyn Listener,
) -> Result<Outcome, Failure> {
    let mut stated = Condition::default();
    request.conditions.iter().try_for_each(|text| stated.state(text)).map_err(Failure::refused)?;
    let label = document::label(request)?;
    let folder = Folder::open(&request.target, there)?;
    let (mut opened, options) = opening::mounted(&folder.held.by_descriptor(), interrupt)?;
    opened.limit_writes(request.max_write);
    let total = check(request, &folder, &opened)?;
    opened.condition.overlay(&stated);
    crate::format::name_state(request.archive.as_deref(), &mut opened);
    opened.caveats.extend(folder.caveats());
    let mut session = Session::new(folder, options, interrupt, listener, request.budget);
    let mut recording = Recording::begin(request.archive.as_deref(), "verify", &request.target, 0, &opened)?;
    let mut work =
        Work { request, opened: &opened, files: Vec::new(), foreign: Vec::new(), otherwise: 0, wrap: None };
    let failure = work.carry_out(&mut session, total, &mut recording).err();
    let stayed = work.tidy(&mut session);
    let mut report = work.document(&session, &recording.name(), failure.as_ref());
    report.header.findings.extend(stayed);
    document::judge_label(&mut report, label.as_ref(), &opened);
    let failure = recording.close(&mut report, |report| &mut report.header.error, failure);
    Ok(Outcome { report, failure })
}

/// Bytes to write; what speaks against it is told before anything is done.
fn check(request: &Request, folder: &Folder, opened: &Opened) -> Result<u64, Failure> {
    if !request.read_only {
        return folder.budget(opened.limit.left());
    }
    if folder.there.is_empty() {
        let path = folder.path.display();
        return Err(Failure::Refused(format!(
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
        session: &mut Session<'_>,
        total: u64,
        recording: &mut Recording,
    ) -> Result<(), Failure> {
        if self.request.read_only {
            (self.files, self.foreign) = there::to_read(session);
        } else {
            let limit = self.opened.limit.words().map(|words| format!("; {words}")).unwrap_or_default();
            session.note(format!(
                "{} will be written to {} in files of 1 GiB and read back; what is there stays{limit}",
                Capacity(total),
                self.request.target
            ));
            let outcome = writing::write_all(session, total);
            self.files = there::written(session);
            recording.update(&self.document(session, &recording.name(), outcome.as_ref().err()))?;
            outcome?;
        }
        session.sorted.tested = self.files.iter().map(|file| range(file.content, file.named.bytes)).collect();
        reading::read_all(session, &mut self.files)?;
        self.otherwise = reading::second_look(session, &self.files)?;
        self.wrap = folding::period(session, &self.files);
        if !session.folder.held.is_at(&session.folder.path) {
            session.doubt(format!(
                "{} was replaced during the test; the original directory was tested",
                session.folder.path.display()
            ));
        }
        Ok(())
    }
}

/// The part of the whole data that a file holds.
fn range(content: u64, bytes: u64) -> std::ops::Range<u64> {
    let start = (content - 1) * FILE_BYTES;
    start..start.saturating_add(bytes)
}
