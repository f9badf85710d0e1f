//! `verify`: is the capacity real, is every block whole. Three methods, one document.

mod afford;
mod document;
pub mod files;
pub mod full;
pub mod quick;

use crate::consent::Consent;
use crate::error::Failure;
use crate::opening::Opened;
use crate::session::{Common, Needs, Procedure, Session};
use cardscope_engine::interrupt::Interrupt;
use cardscope_model::verify::{Method, Verification, VerifyReport};
use cardscope_sd::label::{self, Label};
use std::path::PathBuf;

/// A verification as asked for.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// What every verb is asked for.
    pub common: Common,
    /// Quick, full or by files.
    pub method: Method,
    /// Quick: also finds out caches of up to 2 GiB.
    pub thorough: bool,
    /// Quick: what is on the card may go, so nothing is saved and put back.
    pub erase: bool,
    /// Full: an image of the card is saved to this file first and put back after.
    pub backup: Option<PathBuf>,
    /// Full and files: nothing is written, what an earlier pass wrote is read again.
    pub read_only: bool,
    /// Full: goes on where an earlier pass stopped.
    pub resume: bool,
    /// Full: writes all before reading, instead of reading each stretch soon after it was written.
    pub two_passes: bool,
    /// Files: leaves the files there.
    pub keep_files: bool,
    /// What is printed on the card.
    pub label: Option<String>,
}

impl Request {
    /// What is printed on the card, as the user says.
    fn printed(&self) -> Result<Option<Label>, Failure> {
        self.label.as_deref().map(label::parse).transpose().map_err(Failure::refused)
    }
}

impl Procedure for Request {
    const VERB: &'static str = "verify";
    type Body = Verification;

    fn common(&self) -> &Common {
        &self.common
    }

    fn needs(&self) -> Needs {
        match self.method {
            Method::Quick if !self.erase => Needs::WriteAndKeep,
            _ if self.read_only => Needs::Read,
            _ => Needs::WriteAndLose(None),
        }
    }

    fn check(&self) -> Result<(), Failure> {
        if let Some(odd) = misplaced(self) {
            return Err(Failure::refused(odd));
        }
        // What cannot be read must not be found out after minutes.
        self.printed()?;
        match self.method {
            Method::Quick => quick::check(self),
            Method::Full => full::check(self),
            Method::Files => Ok(()),
        }
    }

    fn open(&self, consent: &mut dyn Consent, interrupt: &Interrupt) -> Result<Opened, Failure> {
        match self.method {
            Method::Files => files::open(self, None, interrupt),
            _ => crate::session::open(self, consent, interrupt),
        }
    }

    fn run(&self, session: &mut Session<'_>, report: &mut VerifyReport) -> Result<(), Failure> {
        report.body.method = self.method;
        report.body.announced_bytes = session.bytes();
        let ended = match self.method {
            Method::Quick => quick::run(self, session, report),
            Method::Full => full::run(self, session, report),
            Method::Files => files::run(self, session, report),
        };
        if let Some(printed) = self.printed()? {
            document::judge_label(report, &printed, session.opened);
        }
        ended
    }
}

/// An option that the method does not know must not be passed over in silence, least of all one that saves data.
fn misplaced(request: &Request) -> Option<&'static str> {
    let method = request.method;
    [
        (
            request.backup.is_some() && method != Method::Full,
            "--backup goes with --full; quick `verify` keeps the data by itself, leave --erase out",
        ),
        (request.resume && method != Method::Full, "--resume goes with --full"),
        (request.two_passes && method != Method::Full, "--two-passes goes with --full"),
        (request.keep_files && method != Method::Files, "--keep-files goes with --files"),
        (
            (request.thorough || request.erase) && method != Method::Quick,
            "--thorough and --erase go with quick `verify`",
        ),
    ]
    .into_iter()
    .find_map(|(wrong, why)| wrong.then_some(why))
}
