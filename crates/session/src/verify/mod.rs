//! `verify`: is the capacity real, is every block whole. Three methods, one document.

mod afford;
mod document;
pub mod files;
pub mod full;
pub mod quick;
mod request;

pub use request::Request;

use crate::consent::Consent;
use crate::error::Failure;
use crate::frame::{Common, Needs, Procedure, Session};
use crate::opening::Opened;
use cardscope_engine::interrupt::Interrupt;
use cardscope_model::verify::{Method, Verification, VerifyReport};

impl Procedure for Request {
    const VERB: &'static str = "verify";
    type Body = Verification;

    fn common(&self) -> &Common {
        &self.common
    }

    fn needs(&self) -> Needs {
        match self.method() {
            _ if self.read_only => Needs::Read,
            Method::Quick if !self.erase => Needs::WriteAndKeep,
            // Only files of its own are written, and nobody's data is lost.
            Method::Files => Needs::WriteAndKeep,
            _ => Needs::WriteAndLose(None),
        }
    }

    fn check(&self) -> Result<(), Failure> {
        misplaced(self)?;
        // What cannot be read must not be found out after minutes.
        self.printed()?;
        match self.method() {
            Method::Quick => quick::check(self),
            Method::Full => full::check(self),
            Method::Files => Ok(()),
        }
    }

    fn open(&self, consent: &mut dyn Consent, interrupt: &Interrupt) -> Result<Opened, Failure> {
        match self.method() {
            Method::Files => files::open(self, None, interrupt),
            _ => crate::frame::open(self, consent, interrupt),
        }
    }

    fn run(&self, session: &mut Session<'_>, report: &mut VerifyReport) -> Result<(), Failure> {
        report.body.method = self.method();
        report.body.announced_bytes = session.bytes();
        let ended = match self.method() {
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
fn misplaced(request: &Request) -> Result<(), Failure> {
    let method = request.method();
    Failure::refuse_first(&[
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
    ])
}
