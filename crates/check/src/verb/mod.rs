//! `check`: tests a card completely within a time budget. The card's data is preserved by default.

mod check_run;
mod jobs;
mod marks_part;
mod next;
mod speed_parts;
mod verb_parts;

pub use crate::request::CheckRequest;

use cardscope_flash::verb::READ_ONLY_DIRECTORY;
use cardscope_model::check::{CheckReport, CheckResult};
use cardscope_sd::label;
use cardscope_session::error::{Failure, Result};
use cardscope_session::frame::{
    CardNeeds, CommonOptions, NOT_RESTORED, Procedure, VerbSession, withdraw_good_verdict,
};
use cardscope_session::open_target::TargetType;
use check_run::CheckRun;
use std::time::Duration;

/// Shortest budget that allows any result.
const LEAST: Duration = Duration::from_secs(1);

impl Procedure for CheckRequest {
    const VERB: &'static str = "check";
    type Body = CheckResult;

    fn common(&self) -> &CommonOptions {
        &self.common
    }

    fn needs(&self) -> CardNeeds {
        match (self.read_only, self.erase) {
            (true, _) => CardNeeds::Read,
            (_, true) => CardNeeds::Overwrite(None),
            _ => CardNeeds::WriteAndRestore,
        }
    }

    fn check(&self, target: TargetType) -> Result<()> {
        if self.budget() < LEAST {
            return Err(Failure::refused("--budget must be at least 1 s; 3m is recommended"));
        }
        // A wrong label must not be noticed only after three minutes.
        self.label.as_deref().map(label::parse).transpose().map_err(Failure::refused)?;
        let directory = target == TargetType::Directory;
        let erase_only = "--erase works only on a card or file, and not with --read-only";
        Failure::refuse_first(&[
            (self.erase && (self.read_only || directory), erase_only),
            (self.read_only && directory, READ_ONLY_DIRECTORY),
        ])
    }

    fn run(&self, session: &mut VerbSession<'_>, report: &mut CheckReport) -> Result<()> {
        if session.opened.is_directory() {
            session.opened.limit_writes(self.limits.max_write());
        }
        report.body.announced_bytes = session.bytes();
        report.body.budget_s = if self.has_no_time_limit() { 0.0 } else { self.budget().as_secs_f64() };
        report.body.moved.data_kept = true;
        session.begin_row(report)?;
        let mut checked = CheckRun::begin(self, session, report);
        let ended = checked.run_parts();
        withdraw_good_verdict(checked.report, ended.as_ref().err());
        if !self.erase && !checked.report.body.moved.data_kept {
            checked.report.withdraw_verdict(NOT_RESTORED);
        }
        checked.conclude(&ended);
        ended
    }
}
