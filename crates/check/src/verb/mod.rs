//! `check`: tests a card completely within a time budget. The card's data is preserved by default.

mod budget;
mod jobs;
mod marking;
mod next;
mod speed;
mod verbs;
mod visit;

pub use crate::request::CheckRequest;

use cardscope_flash::verb::NOTHING_TO_READ;
use cardscope_model::check::{CheckReport, CheckResult as Body};
use cardscope_sd::label;
use cardscope_session::error::{Failure, Result};
use cardscope_session::frame::{
    CardNeeds, CommonOptions, NOT_RESTORED, Procedure, VerbSession, keep_no_clean_verdict,
};
use cardscope_session::opened::TargetType;
use std::time::Duration;
use visit::CheckRun;

/// Shortest budget that allows any result.
const LEAST: Duration = Duration::from_secs(1);

impl Procedure for CheckRequest {
    const VERB: &'static str = "check";
    type Body = Body;

    fn common(&self) -> &CommonOptions {
        &self.common
    }

    fn needs(&self) -> CardNeeds {
        match (self.read_only, self.erase) {
            (true, _) => CardNeeds::Read,
            (_, true) => CardNeeds::WriteAndLose(None),
            _ => CardNeeds::WriteAndKeep,
        }
    }

    fn check(&self, target: TargetType) -> Result<()> {
        if self.budget() < LEAST {
            return Err(Failure::refused("--budget must be at least 1 s; 3m is recommended"));
        }
        // A wrong label must not be noticed only after three minutes.
        self.label.as_deref().map(label::parse).transpose().map_err(Failure::refused)?;
        let directory = target == TargetType::Directory;
        Failure::refuse_first(&[
            (
                self.erase && (self.read_only || directory),
                "--erase works only on a card or file, and not with --read-only",
            ),
            (self.read_only && directory, NOTHING_TO_READ),
        ])
    }

    fn run(&self, session: &mut VerbSession<'_>, report: &mut CheckReport) -> Result<()> {
        if session.opened.is_directory() {
            session.opened.limit_writes(self.limits.max_write());
        }
        report.body.announced_bytes = session.bytes();
        report.body.budget_s = if self.takes_its_time() { 0.0 } else { self.budget().as_secs_f64() };
        report.body.moved.data_kept = true;
        session.begin_row(report)?;
        let mut visit = CheckRun::begin(self, session, report);
        let ended = visit.all();
        keep_no_clean_verdict(visit.report, ended.as_ref().err());
        if !self.erase && !visit.report.body.moved.data_kept {
            visit.report.withdraw_verdict(NOT_RESTORED);
        }
        visit.conclude(&ended);
        ended
    }
}
