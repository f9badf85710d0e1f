//! `endure` verb: wears a card out in rounds, stores each round, resumes interrupted runs, and waits for a card that was
//! removed.

mod request;
mod resuming;

pub use request::EndureRequest;

use crate::probe::endure::{CardEnd, RoundSettings, projection, run_round, stage_name};
use cardscope_engine::io_driver::ProbeStop;
use cardscope_engine::target::TargetError;
use cardscope_journal::backup;
use cardscope_model::endure::{EnduranceResult, EndureReport, EndureRound};
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::progress::StagePlan;
use cardscope_model::report::IoTotals;
use cardscope_model::units::{DecimalSize, SpeedMbS};
use cardscope_model::verify::inconsistent_reads_finding;
use cardscope_probing::io_size::{PASS_BLOCK, PASS_DEPTH};
use cardscope_probing::previous_pass::salt_for_card;
use cardscope_session::card_key::{card_key, salt_fingerprint};
use cardscope_session::error::{Failure, Result};
use cardscope_session::frame::{CardNeeds, CommonOptions, Procedure, VerbSession};
use cardscope_session::open_target::TargetType;
use cardscope_statistics::io_errors;
use resuming::RunCheckpoints;

impl Procedure for EndureRequest {
    const VERB: &'static str = "endure";
    type Body = EnduranceResult;

    fn common(&self) -> &CommonOptions {
        &self.common
    }

    fn needs(&self) -> CardNeeds {
        CardNeeds::Overwrite(None)
    }

    fn check(&self, target: TargetType) -> Result<()> {
        check_request(self, target)
    }

    fn run(&self, session: &mut VerbSession<'_>, report: &mut EndureReport) -> Result<()> {
        let checkpoints = match self.resume {
            true => resuming::resume_run(self, session, report)?,
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
    let Some(left) = left else {
        return StagePlan { long: true, ..StagePlan::default() }.with_budget(request.limits.budget);
    };
    let rounds = (first..=u32::MAX).take(left as usize).map(|round| (stage_name(round), 2.0));
    let stages = image(backup::SAVING).into_iter().chain(rounds).chain(image(backup::RESTORING));
    StagePlan { long: true, ..StagePlan::from_stages(stages) }.with_budget(request.limits.budget)
}

/// Refuses invalid options before anything is opened.
fn check_request(request: &EndureRequest, target: TargetType) -> Result<()> {
    if target == TargetType::Directory {
        let name = &request.common.target;
        return Err(Failure::refused(format!(
            "{name} is a directory; endure needs a whole card, so name its device"
        )));
    }
    Failure::refuse_first(&[
        (!(request.until > 0.0 && request.until <= 1.0), "--until must be above 0 and at most 1 (or 100 %)"),
        (request.rounds == Some(0), "--rounds must be at least 1"),
        (request.resume && request.backup.is_some(), "--backup has no effect with --resume"),
    ])
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
        return Err(Failure::refused(format!(
            "--span must be between one sector and the card's {}",
            DecimalSize(bytes)
        )));
    }
    (report.body.announced_bytes, report.body.span_bytes) = (bytes, span);
    RunCheckpoints::for_salt_and_key(
        salt_for_card(report.header.seed, salt_fingerprint(key.as_deref(), bytes)),
        key.as_deref(),
    )
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
                    resuming::wait_for_card(self.request, self.session, self.checkpoints.salt, &error)?;
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
        self.report.body.moved.bytes_written += moved.bytes_written;
        self.report.body.moved.seconds += moved.seconds;
        self.report.body.moved.add_failed(moved.counts, &moved.io_errors);
        ended
    }

    fn store_round(&mut self, round: EndureRound, ended: Option<CardEnd>) -> Result<()> {
        self.report.body.add_round(round);
        update_projection(self.report);
        add_end_finding(self.report, ended);
        self.checkpoints.save(self.report)?;
        self.session.store_report(self.report)?;
        self.session.events.report_note(&round_line(self.report));
        if let Some(line) = no_wear_line(self.report) {
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
        let (report, request) = (&*self.report, self.request);
        if !report.body.ended_by.is_empty() {
            return Some(report.body.ended_by.clone());
        }
        let rounds = report.body.rounds.len() as u32;
        if rounds > 0 && report.body.bad_share >= request.until {
            return Some(format!("{} % of the sectors are bad", request.until * 100.0));
        }
        if request.rounds.is_some_and(|most| rounds >= most) {
            return Some("--rounds".into());
        }
        if request
            .limits
            .max_write()
            .is_some_and(|most| report.body.moved.bytes_written + report.body.span_bytes > most)
        {
            return Some("--max-write".into());
        }
        let next = report.body.rounds.last().map_or(0.0, |round| round.seconds);
        (next > self.time_left(begun_at)).then(|| "--budget".to_owned())
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
    format!(
        "{rounds} over {} until {} % of the sectors are bad{before}; this wears the card out",
        DecimalSize(report.body.span_bytes),
        request.until * 100.0
    )
}

/// Updates cycles and projection.
fn update_projection(report: &mut EndureReport) {
    report.body.cycles = report.body.moved.bytes_written as f64 / report.body.span_bytes.max(1) as f64;
    match projection::project_cycles(&report.body.rounds, report.body.span_bytes) {
        Ok(found) => (report.body.projection, report.body.projection_reason) = (Some(found), None),
        Err(reason) => (report.body.projection, report.body.projection_reason) = (None, Some(reason)),
    }
}

/// Ends the run if the card no longer stores data.
fn add_end_finding(report: &mut EndureReport, ended: Option<CardEnd>) {
    let (claim, text) = match ended {
        None => return,
        Some(CardEnd::RefusesWrites) => {
            ("refuses-writes", "The card accepts no more writes, but can be read.")
        }
        Some(CardEnd::DiscardsWrites) => {
            ("swallows-writes", "The card accepts writes but keeps the old data.")
        }
    };
    report.body.ended_by = text.to_owned();
    let rounds = report.body.rounds.len();
    report.header.findings.push(
        Finding::new(claim, FindingWeight::Bad, 0.99, text)
            .because("round", rounds)
            .because("written", DecimalSize(report.body.moved.bytes_written))
            .because("cycles", format!("{:.1}", report.body.cycles)),
    );
}

/// Progress line after a round.
fn round_line(report: &EndureReport) -> String {
    let Some(round) = report.body.rounds.last() else { return String::new() };
    let next = match report.body.next_milestone_percent() {
        Some(0.0) => ", next the first error".to_owned(),
        Some(percent) => format!(", next {percent} %"),
        None => String::new(),
    };
    let projection = report.body.projection.map_or_else(String::new, |p| {
        format!(
            ", half bad after about {:.0} cycles ({:.0} to {:.0}), {} from now",
            p.cycles,
            p.interval[0],
            p.interval[1],
            long_duration((p.cycles - report.body.cycles).max(0.0) * seconds_per_cycle(report))
        )
    });
    format!(
        "round {}: write {}, read {}, bad {:.4} %{next}, {} written in total, {:.1} cycles{projection}",
        round.round,
        SpeedMbS(round.write_mb_s),
        SpeedMbS(round.read_mb_s),
        round.bad_share * 100.0,
        DecimalSize(report.body.moved.bytes_written),
        report.body.cycles
    )
}

/// Rounds after which a run without wear is reported, at growing intervals.
const NO_WEAR_REPORT_ROUNDS: [usize; 5] = [3, 10, 100, 1000, 10_000];

/// Progress line of a run without wear: the time to the next milestones, and a warning that some targets never wear out.
fn no_wear_line(report: &EndureReport) -> Option<String> {
    if !NO_WEAR_REPORT_ROUNDS.contains(&report.body.rounds.len()) || !report.body.milestones.is_empty() {
        return None;
    }
    Some(format!(
        "{} At this speed {}. {NEVER_WEARS} End the run with Ctrl-C, or set --rounds, --budget or --max-write",
        no_wear_text(report),
        times_ahead(report).map(|(cycles, time)| format!("{cycles} take {time}")).join(", ")
    ))
}

/// Warning about targets on which a run does not end by itself.
const NEVER_WEARS: &str = "A plain file or a simulated card without wear never fails.";

fn no_wear_text(report: &EndureReport) -> String {
    let (rounds, cycles) = (report.body.rounds.len(), report.body.cycles);
    format!("The card lost no sector in {rounds} rounds ({cycles:.1} cycles).")
}

/// Next numbers of cycles, and the time that each takes at this speed.
fn times_ahead(report: &EndureReport) -> [(String, String); 3] {
    let each = seconds_per_cycle(report);
    [100.0, 1000.0, 10_000.0].map(|cycles| (format!("{cycles:.0} cycles"), long_duration(cycles * each)))
}

fn seconds_per_cycle(report: &EndureReport) -> f64 {
    if report.body.cycles > 0.0 { report.body.moved.seconds / report.body.cycles } else { 0.0 }
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
    let failed = io_errors::io_error_finding(&report.body.moved, session.card_bytes(), "during the rounds");
    let passing = inconsistent_reads_finding(report.body.passing_sectors());
    let again = |claim: &str| passing.as_ref().is_some_and(|finding| finding.claim == claim);
    report
        .header
        .findings
        .retain(|finding| !io_errors::is_io_error_finding(finding) && !again(&finding.claim));
    report.header.findings.extend(failed.into_iter().chain(passing));
    if report.body.milestones.is_empty() && report.body.rounds.len() >= NO_WEAR_REPORT_ROUNDS[0] {
        let found = Finding::new("no-wear-seen", FindingWeight::Note, 0.99, no_wear_text(report))
            .with_advice(NEVER_WEARS);
        let times = times_ahead(report).into_iter();
        let found =
            times.fold(found, |found, (cycles, time)| found.because(&format!("time for {cycles}"), time));
        report.header.findings.push(found);
    }
    if let Some(first) = report.body.milestones.first() {
        let text = format!(
            "The card lost its first sector in round {}, after {}.",
            first.round,
            DecimalSize(first.bytes_written)
        );
        let known = report.header.findings.iter().any(|f| f.claim == "sectors-lost");
        if !known {
            let share = format!("{:.4} %", report.body.bad_share * 100.0);
            report.header.findings.push(
                Finding::new("sectors-lost", FindingWeight::Bad, 0.99, text)
                    .because("bad in the last round", share),
            );
        }
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
