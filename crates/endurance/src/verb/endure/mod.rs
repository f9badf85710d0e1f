//! `endure` verb: wears a card out in rounds, stores each round, resumes interrupted runs, and waits for a card that was
//! removed.

mod resuming;

use crate::probe::endure::{CardEnd, RoundSettings, projection, run_round, stage_name};
use cardscope_engine::io_driver::ProbeStop;
use cardscope_engine::target::TargetError;
use cardscope_journal::backup;
use cardscope_model::endure::{EnduranceResult, EndureReport, EndureRound};
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::progress::StagePlan;
use cardscope_model::report::{IoTotals, Report};
use cardscope_model::units::{DecimalSize, SpeedMbS};
use cardscope_model::verify::inconsistent_reads_finding;
use cardscope_probing::io_size::{PASS_BLOCK, PASS_DEPTH};
use cardscope_probing::previous_pass::salt_for_card;
use cardscope_session::arguments::{parse_duration, parse_share, parse_size_argument};
use cardscope_session::card_key::{card_key, salt_fingerprint};
use cardscope_session::error::{Failure, Result};
use cardscope_session::frame::{CardNeeds, CommonOptions, Procedure, SpendLimits, VerbSession};
use cardscope_session::open_target::TargetType;
use cardscope_session::option_json;
use cardscope_statistics::io_errors;
use clap::Args;
use resuming::RunCheckpoints;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// Wear a card out, round by round, until half of it is bad
///
/// Destroys all data on the card and, in the end, the card itself. Each finished round is stored; continue an
/// interrupted run with --resume.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[command(
    mut_arg("budget", |budget| budget.help("Start no round that would end after this time, e.g. 90s, 3m, \
             1h")),
    mut_arg("max_write", |most| most.help("Start no round that would write more than this in total, e.g. \
             100G")),
    mut_arg("seed", |seed| seed.conflicts_with("resume"))
)]
pub struct EndureRequest {
    #[command(flatten)]
    #[serde(flatten)]
    pub common: CommonOptions,
    /// Limits; `max_write` is over all runs.
    #[command(flatten)]
    #[serde(flatten)]
    pub limits: SpendLimits,
    /// Wear out only this much from the start of the card, e.g. 1G
    #[arg(long, value_name = "SIZE", value_parser = parse_size_argument)]
    #[serde(with = "option_json")]
    pub span: Option<u64>,
    /// Stop after N rounds, earlier runs included
    #[arg(long, value_name = "N")]
    pub rounds: Option<u32>,
    /// Stop when this share of the sectors is bad, e.g. 10% or 0.1
    #[arg(long, value_name = "SHARE", value_parser = parse_share, default_value = "50%")]
    #[serde(with = "option_json")]
    pub until: f64,
    /// Continue the interrupted run on this card
    #[arg(long)]
    pub resume: bool,
    /// Wait this long for a card that went away
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "10m")]
    #[serde(with = "option_json")]
    pub wait: Duration,
    /// Save an image of the card to FILE first, and restore it at the end
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    #[serde(skip)]
    pub backup: Option<PathBuf>,
}

impl Procedure for EndureRequest {
    const VERB: &'static str = "endure";
    type Body = EnduranceResult;

    fn common(&self) -> &CommonOptions {
        &self.common
    }

    fn needs(&self) -> CardNeeds {
        CardNeeds::Overwrite(None)
    }

    /// Refuses invalid options before anything is opened.
    fn check(&self, target: TargetType) -> Result<()> {
        if target == TargetType::Directory {
            let why = "is a directory; endure needs a whole card, so name its device";
            return Err(Failure::refused(format!("{} {why}", self.common.target)));
        }
        let bad_share = !(self.until > 0.0 && self.until <= 1.0);
        Failure::refuse_first(&[
            (bad_share, "--until must be above 0 and at most 1 (or 100 %)"),
            (self.rounds == Some(0), "--rounds must be at least 1"),
            (self.resume && self.backup.is_some(), "--backup has no effect with --resume"),
        ])
    }

    fn run(&self, session: &mut VerbSession<'_>, report: &mut EndureReport) -> Result<()> {
        let checkpoints = match self.resume {
            true => resuming::resume_run(&self.common.target, self.span, session, report)?,
            false => begin_run(self, session, report)?,
        };
        session.events.announce_plan(round_stages(self, report).with_summary(plan_line(report, self)));
        let span = Some((0, report.body.span_bytes));
        session.back_up(self.backup.as_deref(), span, &mut report.body.moved)?;
        session.begin_row(report)?;
        let mut run = EndureRun { request: self, session, report, checkpoints, returns_since_round: 0 };
        let ended = run.run_rounds();
        conclude_endure(report, session);
        ended
    }
}

/// Stages of a run: its rounds, if their number is limited, and the image before and after them.
fn round_stages(request: &EndureRequest, report: &EndureReport) -> StagePlan {
    let image = |stage: &str| request.backup.as_ref().map(|_| (stage.to_owned(), 1.0));
    let left = request.rounds.map(|all| all.saturating_sub(report.body.rounds.len() as u32));
    let first = report.body.next_attempt();
    let plan = left.map(|left| {
        let rounds = (first..=u32::MAX).take(left as usize).map(|round| (stage_name(round), 2.0));
        let stages = image(backup::SAVING).into_iter().chain(rounds).chain(image(backup::RESTORING));
        StagePlan::from_stages(stages)
    });
    StagePlan { long: true, ..plan.unwrap_or_default() }.with_budget(request.limits.budget)
}

/// Starts a new run.
fn begin_run(
    request: &EndureRequest,
    session: &mut VerbSession<'_>,
    report: &mut EndureReport,
) -> Result<RunCheckpoints> {
    let bytes = session.bytes();
    let key = card_key(session.opened);
    let sector = u64::from(session.opened.target.info().sector);
    let span = request.span.unwrap_or(bytes) / sector * sector;
    if span == 0 || span > bytes {
        let size = DecimalSize(bytes);
        return Err(Failure::refused(format!("--span must be between one sector and the card's {size}")));
    }
    (report.body.announced_bytes, report.body.span_bytes) = (bytes, span);
    let salt = salt_for_card(report.header.seed, salt_fingerprint(key.as_deref(), bytes));
    RunCheckpoints::for_salt_and_key(salt, key.as_deref())
}

/// Most removals of the card without a finished round in between.
const MAX_RETURNS: u32 = 3;

struct EndureRun<'a, 's> {
    request: &'a EndureRequest,
    session: &'a mut VerbSession<'s>,
    report: &'a mut EndureReport,
    checkpoints: RunCheckpoints,
    /// Removals of the card since the last finished round.
    returns_since_round: u32,
}

impl EndureRun<'_, '_> {
    fn run_rounds(&mut self) -> Result<()> {
        let begun_at = self.report.body.moved.seconds;
        self.checkpoints.save(self.report)?;
        loop {
            if let Some(reason) = self.end_reason(begun_at) {
                self.report.body.ended_by = reason;
                return Ok(());
            }
            match self.run_round_once(begun_at) {
                Ok((round, ended)) => {
                    self.returns_since_round = 0;
                    self.store_round(round, ended)?;
                }
                Err(ProbeStop::Target(error @ TargetError::Gone { .. })) => {
                    self.checkpoints.save(self.report)?;
                    self.returns_since_round += 1;
                    if self.returns_since_round > MAX_RETURNS {
                        return Err(Failure::io(error));
                    }
                    let EndureRequest { common, wait, .. } = self.request;
                    let salt = self.checkpoints.salt;
                    resuming::wait_for_card(&common.target, *wait, self.session, salt, &error)?;
                    self.report.body.returns += 1;
                }
                Err(stop) => {
                    self.checkpoints.save(self.report)?;
                    if matches!(stop, ProbeStop::Limit) && self.time_left(begun_at) <= 0.0 {
                        self.report.body.ended_by = "--budget".to_owned();
                        return Ok(());
                    }
                    return Err(stop.into());
                }
            }
        }
    }

    /// Runs a round. Its bytes and time count even if it fails.
    fn run_round_once(&mut self, begun_at: f64) -> Result<(EndureRound, Option<CardEnd>), ProbeStop> {
        let settings = RoundSettings {
            budget_s: self.time_left(begun_at),
            salt: self.checkpoints.salt,
            number: self.report.body.next_attempt(),
            span: self.report.body.span_bytes,
            seed: self.report.header.seed,
        };
        let mut moved = IoTotals::default();
        let ended = self.session.run_probe((PASS_BLOCK, PASS_DEPTH), &mut moved, |card, _, events| {
            run_round(card, &settings, events)
        });
        // The bytes read are counted when the round is stored.
        let all = &mut self.report.body.moved;
        all.bytes_written += moved.bytes_written;
        all.seconds += moved.seconds;
        all.add_failed(moved.counts, &moved.io_errors);
        ended
    }

    fn store_round(&mut self, round: EndureRound, ended: Option<CardEnd>) -> Result<()> {
        self.report.body.add_round(round);
        update_projection(self.report);
        add_end_finding(self.report, ended);
        self.checkpoints.save(self.report)?;
        self.session.store_report(self.report)?;
        self.session.events.report_note(&round_line(self.report));
        if let Some(line) = no_wear_line(&self.report.body) {
            self.session.events.report_note(&line);
        }
        Ok(())
    }

    /// Seconds left of the budget.
    fn time_left(&self, begun_at: f64) -> f64 {
        let budget = self.request.limits.budget.map_or(f64::INFINITY, |budget| budget.as_secs_f64());
        budget - (self.report.body.moved.seconds - begun_at)
    }

    /// Reason to end the run, None to start another round.
    fn end_reason(&self, begun_at: f64) -> Option<String> {
        let (body, request) = (&self.report.body, self.request);
        let rounds = body.rounds.len() as u32;
        let written = body.moved.bytes_written + body.span_bytes;
        let next_s = body.rounds.last().map_or(0.0, |round| round.seconds);
        let limit = match () {
            () if !body.ended_by.is_empty() => return Some(body.ended_by.clone()),
            () if rounds > 0 && body.bad_share >= request.until => {
                return Some(format!("{} % of the sectors are bad", request.until * 100.0));
            }
            () if request.rounds.is_some_and(|most| rounds >= most) => "--rounds",
            () if request.limits.max_write().is_some_and(|most| written > most) => "--max-write",
            () if next_s > self.time_left(begun_at) => "--budget",
            () => return None,
        };
        Some(limit.to_owned())
    }
}

fn plan_line(report: &EndureReport, request: &EndureRequest) -> String {
    let rounds = match request.rounds {
        None => "rounds".to_owned(),
        Some(1) => "one round".to_owned(),
        Some(n) => format!("at most {n} rounds"),
    };
    let before = match report.body.rounds.len() {
        0 => String::new(),
        n => format!(", resuming after round {n}"),
    };
    let (span, share) = (DecimalSize(report.body.span_bytes), request.until * 100.0);
    format!("{rounds} over {span} until {share} % of the sectors are bad{before}; this wears the card out")
}

/// Updates cycles and projection.
fn update_projection(EndureReport { body, .. }: &mut EndureReport) {
    body.cycles = body.moved.bytes_written as f64 / body.span_bytes.max(1) as f64;
    let projected = projection::project_cycles(&body.rounds, body.span_bytes);
    body.projection_reason = projected.as_ref().err().cloned();
    body.projection = projected.ok();
}

/// Ends the run if the card no longer stores data.
fn add_end_finding(report: &mut EndureReport, ended: Option<CardEnd>) {
    let (claim, what) = match ended {
        None => return,
        Some(CardEnd::RefusesWrites) => ("refuses-writes", "accepts no more writes, but can be read"),
        Some(CardEnd::DiscardsWrites) => ("swallows-writes", "accepts writes but keeps the old data"),
    };
    let Report { body, header } = report;
    body.ended_by = format!("The card {what}.");
    let finding = Finding::new(claim, FindingWeight::Bad, 0.99, &*body.ended_by)
        .because("round", body.rounds.len())
        .because("written", DecimalSize(body.moved.bytes_written))
        .because("cycles", format!("{:.1}", body.cycles));
    header.findings.push(finding);
}

/// Formats the progress line of a finished round.
fn round_line(report: &EndureReport) -> String {
    let body = &report.body;
    let Some(round) = body.rounds.last() else { return String::new() };
    let next = match body.next_milestone_percent() {
        Some(0.0) => ", next the first error".to_owned(),
        Some(percent) => format!(", next {percent} %"),
        None => String::new(),
    };
    let projection = body.projection.map_or_else(String::new, |p| {
        let (cycles, [low, high]) = (p.cycles, p.interval);
        let time = long_duration((cycles - body.cycles).max(0.0) * seconds_per_cycle(body));
        format!(", half bad after about {cycles:.0} cycles ({low:.0} to {high:.0}), {time} from now")
    });
    let (write, read) = (SpeedMbS(round.write_mb_s), SpeedMbS(round.read_mb_s));
    let (number, bad, cycles) = (round.round, round.bad_share * 100.0, body.cycles);
    let total = DecimalSize(body.moved.bytes_written);
    format!(
        "round {number}: write {write}, read {read}, bad {bad:.4} %{next}, {total} written in total, {cycles:.1} cycles{projection}"
    )
}

/// Rounds after which a run without wear is reported, at growing intervals.
const NO_WEAR_REPORT_ROUNDS: [usize; 5] = [3, 10, 100, 1000, 10_000];

/// Progress line of a run without wear: the time to the next milestones, and a warning that some targets never wear out.
fn no_wear_line(body: &EnduranceResult) -> Option<String> {
    if !NO_WEAR_REPORT_ROUNDS.contains(&body.rounds.len()) || !body.milestones.is_empty() {
        return None;
    }
    let text = no_wear_text(body);
    let times = times_ahead(body).map(|(cycles, time)| format!("{cycles} take {time}")).join(", ");
    let advice = "End the run with Ctrl-C, or set --rounds, --budget or --max-write";
    Some(format!("{text} At this speed {times}. {NEVER_WEARS} {advice}"))
}

/// Warning about targets on which a run does not end by itself.
const NEVER_WEARS: &str = "A plain file or a simulated card without wear never fails.";

fn no_wear_text(body: &EnduranceResult) -> String {
    let (rounds, cycles) = (body.rounds.len(), body.cycles);
    format!("The card lost no sector in {rounds} rounds ({cycles:.1} cycles).")
}

/// Next numbers of cycles, and the time that each takes at this speed.
fn times_ahead(body: &EnduranceResult) -> [(String, String); 3] {
    let each = seconds_per_cycle(body);
    [100.0, 1000.0, 10_000.0].map(|cycles| (format!("{cycles:.0} cycles"), long_duration(cycles * each)))
}

fn seconds_per_cycle(body: &EnduranceResult) -> f64 {
    if body.cycles > 0.0 { body.moved.seconds / body.cycles } else { 0.0 }
}

/// Long duration with two significant digits: `40 min`, `3.5 days`.
fn long_duration(seconds: f64) -> String {
    const UNITS: [(f64, &str); 5] =
        [(31_557_600.0, "years"), (86_400.0, "days"), (3600.0, "h"), (60.0, "min"), (0.0, "s")];
    let (unit, name) = UNITS.into_iter().find(|(unit, _)| seconds >= 2.0 * unit).unwrap_or((1.0, "s"));
    let number = seconds / f64::max(unit, 1.0);
    if number < 10.0 { format!("{number:.1} {name}") } else { format!("{number:.0} {name}") }
}

fn conclude_endure(report: &mut EndureReport, session: &VerbSession<'_>) {
    update_projection(report);
    session.collect_target_caveats(&mut report.header);
    let body = &report.body;
    let failed = io_errors::io_error_finding(&body.moved, session.card_bytes(), "during the rounds");
    let passing = inconsistent_reads_finding(body.passing_sectors());
    let again = |claim: &str| passing.as_ref().is_some_and(|finding| finding.claim == claim);
    let findings = &mut report.header.findings;
    findings.retain(|finding| !io_errors::is_io_error_finding(finding) && !again(&finding.claim));
    findings.extend(failed.into_iter().chain(passing));
    if body.milestones.is_empty() && body.rounds.len() >= NO_WEAR_REPORT_ROUNDS[0] {
        let text = no_wear_text(body);
        let finding = Finding::new("no-wear-seen", FindingWeight::Note, 0.99, text).with_advice(NEVER_WEARS);
        let times = times_ahead(body).into_iter();
        let because = |f: Finding, (cycles, time)| f.because(&format!("time for {cycles}"), time);
        findings.push(times.fold(finding, because));
    }
    if let Some(first) = body.milestones.first()
        && !findings.iter().any(|f| f.claim == "sectors-lost")
    {
        let (round, written) = (first.round, DecimalSize(first.bytes_written));
        let text = format!("The card lost its first sector in round {round}, after {written}.");
        let share = format!("{:.4} %", body.bad_share * 100.0);
        let finding = Finding::new("sectors-lost", FindingWeight::Bad, 0.99, text);
        findings.push(finding.because("bad in the last round", share));
    }
}

#[cfg(test)]
mod tests {
    use super::long_duration;

    #[test]
    fn long_duration_uses_the_largest_fitting_unit() {
        let said: Vec<String> =
            [0.0, 1.25, 90.0, 3600.0, 90_000.0, 400_000.0, 1e9].map(long_duration).to_vec();
        assert_eq!(said, ["0.0 s", "1.2 s", "90 s", "60 min", "25 h", "4.6 days", "32 years"]);
    }
}
