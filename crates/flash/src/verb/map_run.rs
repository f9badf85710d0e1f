//! Runs the probe of a map, restores the card on every path, and adds findings and advice.

use super::file_systems;
use super::map_scope::{MapRequest, MapScope};
use crate::judge as card_map;
use crate::probe as map;
use crate::probe::{MapOptions, discard};
use cardscope_device::contents;
use cardscope_engine::event::Listener;
use cardscope_engine::io_driver::{IoDriver, ProbeStop};
use cardscope_journal::Journal;
use cardscope_journal::restoring::RESTORING;
use cardscope_model::card_map::advice::{self, AFTER_DISCARD, AdviceFacts, TargetKind};
use cardscope_model::card_map::profile::profile_lines;
use cardscope_model::card_map::{MapReport, MeasuredMap, TriedState};
use cardscope_model::progress::StagePlan;
use cardscope_probing::io_size::{PROBE_BLOCK, PROBE_DEPTH};
use cardscope_probing::write_scope::WriteScope;
use cardscope_session::card_bytes::CardBytes;
use cardscope_session::error::Result;
use cardscope_session::frame::{VerbSession, as_probe_journal};
use cardscope_session::open_target::OpenTarget;
use cardscope_statistics::io_errors;
use std::time::Duration;

pub(super) fn stage_plan(request: &MapRequest, scope: &MapScope, options: &MapOptions) -> StagePlan {
    let tries_discard = matches!(scope, MapScope::Overwritten(_)) && options.only.is_empty();
    let discards = tries_discard.then_some([discard::BEFORE, discard::AFTER]).into_iter().flatten();
    let restoring = matches!(scope, MapScope::Preserved(_)).then_some(RESTORING);
    let stages = map::stage_names(options).into_iter().chain(discards).chain(restoring).map(str::to_owned);
    let trials = request.try_file_systems.then(file_systems::stages).into_iter().flatten();
    StagePlan::from_stages(stages.chain(trials).map(|stage| (stage, 1.0))).with_budget(request.limits.budget)
}

pub(super) fn measure_and_restore(
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
    map::measure_map(card, WriteScope::new(as_probe_journal(journal)), options, events, measured)?;
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

pub(super) fn target_facts(request: &MapRequest, opened: &OpenTarget) -> AdviceFacts {
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

pub(super) fn add_findings(report: &mut MapReport, session: &VerbSession<'_>, facts: &AdviceFacts) {
    let measured = std::mem::take(&mut report.body.measured.findings);
    report.header.findings.splice(0..0, measured);
    session.collect_target_caveats(&mut report.header);
    report.body.measured.failed_ios = report.body.moved.counts.failed();
    let moved = &report.body.moved;
    let failed = io_errors::io_error_finding(moved, session.card_bytes(), "while it was measured");
    report.header.findings.extend(failed);
    report.header.findings.extend(card_map::map_findings(&report.body.measured, facts));
    set_advice(report, facts);
}

pub(super) fn set_advice(report: &mut MapReport, facts: &AdviceFacts) {
    report.body.advice = advice::advise_for_map(&report.body.measured, facts);
    report.body.profile = profile_lines(&report.body.measured);
}
