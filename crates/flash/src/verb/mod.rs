//! `map`: measures the geometry of a card and advises settings for partitions and file systems.
//!
//! Overwritten data is saved to a journal and restored, as in quick `verify`, unless the user names a region whose
//! data may be lost.

mod file_systems;
mod map_scope;

use crate::judge::map_findings;
use crate::probe::{self, MapOptions, discard};
use cardscope_device::contents;
use cardscope_engine::event::Listener;
use cardscope_engine::io_driver::{IoDriver, ProbeStop};
use cardscope_journal::Journal;
use cardscope_journal::restoring::RESTORING;
use cardscope_model::card_map::advice::{self, AFTER_DISCARD, AdviceFacts, TargetKind};
use cardscope_model::card_map::profile::profile_lines;
use cardscope_model::card_map::{CardMap, MapReport, MeasuredMap, TriedState};
use cardscope_model::progress::StagePlan;
use cardscope_probing::context;
use cardscope_probing::io_size::{PROBE_BLOCK, PROBE_DEPTH};
use cardscope_probing::write_scope::WriteScope;
use cardscope_session::after_verdict::{SOME_DATA, next_step, repeat_description};
use cardscope_session::card_bytes::CardBytes;
use cardscope_session::error::Result;
use cardscope_session::frame::{CardNeeds, CommonOptions, Procedure, VerbSession, as_probe_journal};
use cardscope_session::open_target::{OpenTarget, TargetType};
use cardscope_statistics::io_errors;
use map_scope::MapScope;
use std::time::Duration;

pub use crate::probe::MapPart;
pub use cardscope_engine::target::TargetRegion;
pub use map_scope::{MapRequest, READ_ONLY_DIRECTORY};

impl Procedure for MapRequest {
    const VERB: &'static str = "map";
    type Body = CardMap;

    fn common(&self) -> &CommonOptions {
        &self.common
    }

    fn needs(&self) -> CardNeeds {
        match (self.read_only, self.region) {
            (true, _) => CardNeeds::Read,
            (_, Some(region)) => CardNeeds::Overwrite(Some(region)),
            _ if self.erase => CardNeeds::Overwrite(None),
            _ => CardNeeds::WriteAndRestore,
        }
    }

    fn check(&self, target: TargetType) -> Result<()> {
        map_scope::check_options(self, target)
    }

    fn run(&self, session: &mut VerbSession<'_>, report: &mut MapReport) -> Result<()> {
        let scope = MapScope::from_request(self, session)?;
        let options = scope.probe_options(self, session.opened, report.header.seed);
        if matches!(scope, MapScope::Preserved(_)) {
            map_scope::begin_journal(self, session, context::stamp_salt(options.limits.seed))?;
        }
        let line = scope.plan_line(&options, session);
        session.events.announce_plan(stage_plan(self, &scope, &options).with_summary(line));
        report.body.announced_bytes = session.bytes();
        // True until the first byte is written.
        report.body.moved.data_kept = true;
        session.begin_row(report)?;
        let mut facts = target_facts(self, session.opened);
        let mut ended = measure_and_restore(&scope, &options, session, report, &mut facts);
        add_findings(report, session, &facts);
        if self.limits.budget.is_some() && report.body.measured.count_out_of_time() > 0 {
            let loses = self.erase || self.region.is_some();
            let lost = loses.then_some(SOME_DATA);
            let what = repeat_description("measure the rest without the time limit", lost);
            report.header.next.push(next_step(what, Some(self.without_time_limit())));
        }
        if self.try_file_systems && ended.is_ok() {
            session.store_report(report)?;
            ended = file_systems::try_file_systems(self, session, report, &mut facts);
            set_advice(report, &facts);
        }
        ended
    }
}

fn stage_plan(request: &MapRequest, scope: &MapScope, options: &MapOptions) -> StagePlan {
    let tries_discard = matches!(scope, MapScope::Overwritten(_)) && options.only.is_empty();
    let discards = tries_discard.then_some([discard::BEFORE, discard::AFTER]).into_iter().flatten();
    let restoring = matches!(scope, MapScope::Preserved(_)).then_some(RESTORING);
    let stages = probe::stage_names(options).into_iter().chain(discards).chain(restoring).map(str::to_owned);
    let trials = request.try_file_systems.then(file_systems::stages).into_iter().flatten();
    let stages = stages.chain(trials).map(|stage| (stage, 1.0));
    StagePlan::from_stages(stages).with_budget(request.limits.budget)
}

fn measure_and_restore(
    scope: &MapScope,
    options: &MapOptions,
    session: &mut VerbSession<'_>,
    report: &mut MapReport,
    facts: &mut AdviceFacts,
) -> Result<()> {
    let mut moved = std::mem::take(&mut report.body.moved);
    let measured = &mut report.body.measured;
    let ended = session.run_probe((PROBE_BLOCK, PROBE_DEPTH), &mut moved, |card, journal, events| {
        run_probe(scope, options, card, journal, events, measured, facts)
    });
    moved.data_kept = !matches!(scope, MapScope::Overwritten(_)) || moved.bytes_written == 0;
    report.body.moved = moved;
    let (returned, ended) = session.restore_after_probe(ended.err(), None, &mut report.body.moved);
    report.header.findings.extend(returned.and_then(|returned| returned.finding(None)));
    ended
}

fn run_probe(
    scope: &MapScope,
    options: &MapOptions,
    card: &mut IoDriver<'_>,
    journal: Option<&mut Journal>,
    events: &mut dyn Listener,
    measured: &mut MeasuredMap,
    facts: &mut AdviceFacts,
) -> Result<(), ProbeStop> {
    let began = card.seconds();
    if facts.target_kind == TargetKind::Card {
        facts.layout = contents::read_layout(&CardBytes::new(&mut *card), None);
    }
    probe::measure_map(card, WriteScope::new(as_probe_journal(journal)), options, events, measured)?;
    let mut left = options.clone();
    let spent = Duration::from_secs_f64(card.seconds() - began);
    left.limits.budget = left.limits.budget.map(|budget| budget.saturating_sub(spent));
    let before = measured.small_writes.take();
    discard_if_allowed(scope, card, &left, events, before, facts)
}

/// Tries discard only where data may be lost, and records the reason otherwise.
fn discard_if_allowed(
    scope: &MapScope,
    card: &mut IoDriver<'_>,
    left: &MapOptions,
    events: &mut dyn Listener,
    before: Option<TriedState>,
    facts: &mut AdviceFacts,
) -> Result<(), ProbeStop> {
    let why_not = match scope {
        MapScope::Overwritten(_) if left.only.is_empty() => {
            return discard::measure_discard(card, left, events, before, &mut facts.trials);
        }
        MapScope::Overwritten(_) => "not selected with --only",
        MapScope::ReadOnly(_) => "--read-only was given",
        MapScope::Preserved(_) => "discard loses data; allow it with --region START+LEN or --erase",
        MapScope::TestFile(_) => "not possible in a directory",
    };
    facts.trials.push(discard::skipped_trial(AFTER_DISCARD, why_not));
    Ok(())
}

fn target_facts(request: &MapRequest, opened: &OpenTarget) -> AdviceFacts {
    let claimed = opened.identity.as_ref().and_then(|identity| identity.allocation_unit());
    AdviceFacts {
        target: request.common.target.clone(),
        bytes: opened.target.info().bytes,
        target_kind: target_kind(opened),
        block_device: opened.device().is_some(),
        claimed_unit: claimed.map(|unit| unit.bytes),
        ..AdviceFacts::default()
    }
}

fn target_kind(opened: &OpenTarget) -> TargetKind {
    let seen = opened.device().and_then(|device| device.clearance.as_ref());
    match seen {
        _ if opened.is_directory() => TargetKind::Directory,
        Some(seen) if seen.partition_of.is_some() => TargetKind::Partition,
        _ => TargetKind::Card,
    }
}

fn add_findings(report: &mut MapReport, session: &VerbSession<'_>, facts: &AdviceFacts) {
    let measured = std::mem::take(&mut report.body.measured.findings);
    report.header.findings.splice(0..0, measured);
    session.collect_target_caveats(&mut report.header);
    report.body.measured.failed_ios = report.body.moved.counts.failed();
    let moved = &report.body.moved;
    let failed = io_errors::io_error_finding(moved, session.card_bytes(), "while it was measured");
    report.header.findings.extend(failed);
    report.header.findings.extend(map_findings(&report.body.measured, facts));
    set_advice(report, facts);
}

fn set_advice(report: &mut MapReport, facts: &AdviceFacts) {
    report.body.advice = advice::advise_for_map(&report.body.measured, facts);
    report.body.profile = profile_lines(&report.body.measured);
}
