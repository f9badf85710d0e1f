//! `verify --full`: writes and reads back every block, resumes a pass, or reads an earlier one again.

use super::VerifyRequest;
use crate::probe::full::{PassFindings, PassSettings, READING, WRITING, recheck_card, verify_card};
use cardscope_engine::io_driver::{IoDriver, ProbeStop};
use cardscope_journal::backup;
use cardscope_model::caveat::Caveat;
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::progress::StagePlan;
use cardscope_model::units::DecimalSize;
use cardscope_model::verify::{Verification, VerifyReport, inconsistent_reads_finding};
use cardscope_probing::io_size::{PASS_BLOCK, PASS_DEPTH};
use cardscope_probing::previous_pass::{PreviousPass, find_previous_pass, is_salt_of, salt_for_card};
use cardscope_session::card_key::{card_key, salt_fingerprint};
use cardscope_session::error::{Failure, Result};
use cardscope_session::frame::VerbSession;
use cardscope_session::open_target::TargetType;
use cardscope_session::state_file::CardCheckpoint;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// Time between two checkpoints. Progress after the last one is recovered from the stamps on the card.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(5);

/// Checkpoint of a running pass.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct PassCheckpoint {
    salt: u64,
    seed: u64,
    card_bytes: u64,
    written: u64,
}

impl VerifyRequest {
    pub(super) fn run_full(&self, session: &mut VerbSession<'_>, report: &mut VerifyReport) -> Result<()> {
        let pass = PlannedPass::plan(self, session, report)?;
        report.header.seed = pass.seed;
        report.body.moved.data_kept = self.read_only;
        session.events.announce_plan(stage_plan(self).with_summary(pass.plan_line(self)));
        session.back_up(self.backup.as_deref(), None, &mut report.body.moved)?;
        session.begin_row(report)?;
        let found = pass.run_pass(self, session, report).inspect_err(|_| {
            // The stop came from setting up the I/O, so nothing was written.
            session.backup = None;
            report.body.moved.data_kept = true;
        })?;
        fill_report(report, &found);
        session.collect_target_caveats(&mut report.header);
        if matches!(found.stop, Some(ProbeStop::Swapped(_))) {
            session.is_other_card = true;
        }
        if session.backup.is_some() {
            // Restoring the image removes the stamps, so the pass cannot be resumed.
            pass.checkpoint.iter().for_each(CardCheckpoint::remove);
        }
        found.stop.map_or(Ok(()), |stop| Err(stop.into()))
    }
}

fn stage_plan(request: &VerifyRequest) -> StagePlan {
    let image = |stage| request.backup.as_ref().map(|_| (stage, 1.0));
    let writing = (!request.read_only).then_some((WRITING, 1.0));
    let passes = writing.into_iter().chain([(READING, 1.0)]);
    let stages = image(backup::SAVING).into_iter().chain(passes).chain(image(backup::RESTORING));
    StagePlan { long: true, ..StagePlan::from_stages(stages) }
}

impl VerifyRequest {
    /// Refuses contradictory options before anything is opened.
    pub(super) fn check_full(&self, target: TargetType) -> Result<()> {
        let odd = [
            (self.resume, "--resume"),
            (self.two_passes, "--two-passes"),
            (self.backup.is_some(), "--backup"),
            (self.limits.max_write().is_some(), "--max-write"),
            (self.common.seed.is_some(), "--seed"),
        ];
        if let Some((_, option)) = odd.iter().find(|(given, _)| self.read_only && *given) {
            let why = "has no effect with --read-only, which writes nothing; leave one out";
            return Err(Failure::refused(format!("{option} {why}")));
        }
        if self.resume && self.backup.is_some() {
            let why = "--backup has no effect with --resume: the card is already overwritten";
            return Err(Failure::refused(why));
        }
        if target != TargetType::Directory {
            return Ok(());
        }
        let folder = &self.common.target;
        Err(Failure::refused(format!(
            "{folder} is a directory; name the device for --full, or use --files to test the free space"
        )))
    }
}

/// Planned pass: a new one, a resumed one, or a second read of an earlier one.
struct PlannedPass {
    seed: u64,
    salt: u64,
    previous: Option<PreviousPass>,
    checkpoint: Option<CardCheckpoint>,
    card_bytes: u64,
}

impl PlannedPass {
    fn plan(request: &VerifyRequest, session: &mut VerbSession, report: &mut VerifyReport) -> Result<Self> {
        let seed = report.header.seed;
        let card_bytes = session.bytes();
        let key = card_key(session.opened);
        let print = salt_fingerprint(key.as_deref(), card_bytes);
        let checkpoint = key.map(|key| CardCheckpoint::for_card("full", &key)).transpose()?;
        if !request.resume && !request.read_only {
            let salt = salt_for_card(seed, print);
            return Ok(PlannedPass { seed, salt, previous: None, checkpoint, card_bytes });
        }
        let target = session.opened.target.as_mut();
        let mut card = IoDriver::new(target, session.interrupt, PASS_BLOCK, PASS_DEPTH)?;
        let name = &request.common.target;
        let found = find_previous_pass(&mut card);
        report.body.moved.add_failed(card.counts(), card.io_errors());
        let missing = "has no data of an earlier --full: it is another card, or was overwritten since. Nothing was \
                       written";
        let mut previous = found?.ok_or_else(|| Failure::refused(format!("{name} {missing}")))?;
        let stored: Option<PassCheckpoint> = checkpoint.as_ref().and_then(CardCheckpoint::load);
        let other = stored.as_ref().is_some_and(|stored| request.resume && stored.salt != previous.salt);
        if !is_salt_of(previous.salt, print) || other {
            return Err(Failure::refused(format!(
                "{name} has data of another card or run; nothing was written. Start again without --resume"
            )));
        }
        let known = stored.filter(|stored| stored.salt == previous.salt && stored.card_bytes == card_bytes);
        if let (Some(stored), true) = (&known, request.read_only) {
            previous.reached = previous.reached.max(stored.written);
        }
        let seed = known.map_or(0, |stored| stored.seed);
        Ok(PlannedPass { seed, salt: previous.salt, previous: Some(previous), checkpoint, card_bytes })
    }

    fn run_pass(
        &self,
        request: &VerifyRequest,
        session: &mut VerbSession<'_>,
        report: &mut VerifyReport,
    ) -> Result<PassFindings, ProbeStop> {
        let budget_s = request.limits.budget.map(|b| b.as_secs_f64());
        let findings =
            session.run_probe((PASS_BLOCK, PASS_DEPTH), &mut report.body.moved, |card, _, events| {
                Ok::<_, ProbeStop>(match (request.read_only, self.previous) {
                    (true, Some(previous)) => recheck_card(card, &previous, budget_s, events),
                    _ => {
                        let settings = PassSettings {
                            salt: self.salt,
                            two_passes: request.two_passes,
                            resumed_at: self.previous.map_or(0, |previous| previous.reached),
                            budget_s,
                            max_write: request.limits.max_write(),
                        };
                        let mut last = Instant::now();
                        let mut store = |written: u64| {
                            if last.elapsed() > CHECKPOINT_INTERVAL || written >= self.card_bytes {
                                last = Instant::now();
                                self.save_checkpoint(written);
                            }
                        };
                        verify_card(card, &settings, &mut store, events)
                    }
                })
            })?;
        if !request.read_only {
            self.save_checkpoint(findings.written_to);
        }
        Ok(findings)
    }

    /// Saves a checkpoint. A failure is ignored, as the stamps on the card contain the same information.
    fn save_checkpoint(&self, written: u64) {
        if let Some(checkpoint) = &self.checkpoint {
            let PlannedPass { salt, seed, card_bytes, .. } = *self;
            let _ = checkpoint.save(&PassCheckpoint { salt, seed, card_bytes, written });
        }
    }

    fn plan_line(&self, request: &VerifyRequest) -> String {
        let all = DecimalSize(self.card_bytes);
        let reached = self.previous.map(|previous| DecimalSize(previous.reached));
        match (request.read_only, reached) {
            (true, Some(end)) => format!("writes nothing; reads the {end} that an earlier run wrote"),
            (false, Some(end)) => format!("resumes at {end} of {all}; all data on the card is lost"),
            _ => format!(
                "writes and reads back every block, up to {all} each way; all data on the card is lost"
            ),
        }
    }
}

fn fill_report(report: &mut VerifyReport, found: &PassFindings) {
    let Verification { method, announced_bytes, moved, .. } = std::mem::take(&mut report.body);
    report.body = Verification { method, announced_bytes, moved, ..found.body.clone() };
    report.header.caveats.extend(found.remarks.iter().cloned().map(|text| Caveat::Other { text }));
    report.header.findings.extend(pass_findings(found));
}

fn pass_findings(found: &PassFindings) -> Vec<Finding> {
    let mut list = Vec::new();
    let bad = &found.bad;
    if bad.total() > 0 {
        let weight = if found.body.verdict.is_bad() { FindingWeight::Bad } else { FindingWeight::Hint };
        let (lost, all) = (DecimalSize(bad.total()), DecimalSize(found.read_to));
        let text = format!("The card lost or changed {lost} of {all} read back.");
        let rows = [
            ("lost bytes", bad.lost),
            ("bytes with other data", bad.foreign),
            ("bytes with data of other addresses", bad.alias),
            ("bytes with wrong bits", bad.flipped),
            ("unreadable bytes", bad.failed),
        ];
        let finding = Finding::new("blocks-not-as-written", weight, found.body.confidence, text);
        let seen = rows.iter().filter(|(_, n)| *n > 0);
        list.push(seen.fold(finding, |finding, (what, n)| finding.because(what, n)));
    }
    list.extend(inconsistent_reads_finding(bad.passing_sectors));
    list
}
