//! `endure`: a card worn out in rounds, kept after each one, resumed, and waited for where it goes away.

mod checkpoints;
mod document;
mod request;
mod waiting;

pub use request::Request;

use crate::card_key::{card_key, fingerprint};
use crate::error::Failure;
use crate::frame::{Common, Needs, Procedure, Session};
use cardscope_engine::card::Stop;
use cardscope_engine::target::TargetError;
use cardscope_model::endure::{Endurance, EndureReport, EndureRound};
use cardscope_model::report::Moved;
use cardscope_model::units::Capacity;
use cardscope_probe::endure::{Ended, RoundSettings, round};
use cardscope_probe::full::resume::salt;
use cardscope_probe::full::{BLOCK, DEPTH};
use checkpoints::Checkpoints;

impl Procedure for Request {
    const VERB: &'static str = "endure";
    type Body = Endurance;

    fn common(&self) -> &Common {
        &self.common
    }

    fn needs(&self) -> Needs {
        Needs::WriteAndLose(None)
    }

    fn check(&self) -> Result<(), Failure> {
        check(self)
    }

    fn run(&self, session: &mut Session<'_>, report: &mut EndureReport) -> Result<(), Failure> {
        let checkpoints = match self.resume {
            true => checkpoints::resume(self, session, report)?,
            false => begin(self, session, report)?,
        };
        session.back_up(self.backup.as_deref(), Some((0, report.body.span_bytes)))?;
        session.begin_row(report)?;
        let mut run = Run { request: self, session, report, checkpoints, since_round: 0 };
        let ended = run.all();
        document::conclude(report, session);
        ended
    }
}

/// Refuses what cannot be done, before anything is opened.
fn check(request: &Request) -> Result<(), Failure> {
    if request.common.names_directory() {
        let name = &request.common.target;
        return Err(Failure::refused(format!(
            "{name} is a directory, and endure wears whole cards; name the device"
        )));
    }
    Failure::refuse_first(&[
        (!(request.until > 0.0 && request.until <= 1.0), "--until is a share above 0 and up to 1 (or 100 %)"),
        (request.rounds == Some(0), "--rounds must be at least 1"),
        (
            request.resume && request.backup.is_some(),
            "--resume finds the card as the earlier sitting left it, so --backup has nothing to save",
        ),
    ])
}

/// A fresh run.
fn begin(
    request: &Request,
    session: &mut Session<'_>,
    report: &mut EndureReport,
) -> Result<Checkpoints, Failure> {
    let bytes = session.bytes();
    let key = card_key(session.opened);
    let sector = u64::from(session.opened.target.info().sector);
    let span = request.span.unwrap_or(bytes) / sector * sector;
    if span == 0 || span > bytes {
        return Err(Failure::refused(format!(
            "--span must be at least a sector and no more than the card's {}",
            Capacity(bytes)
        )));
    }
    (report.body.announced_bytes, report.body.span_bytes) = (bytes, span);
    Checkpoints::of(salt(report.header.seed, fingerprint(key.as_deref(), bytes)), key.as_deref())
}

/// A card that goes away so often without a finished round in between is not worth waiting for.
const MOST_RETURNS: u32 = 3;

struct Run<'a, 's> {
    request: &'a Request,
    session: &'a mut Session<'s>,
    report: &'a mut EndureReport,
    checkpoints: Checkpoints,
    /// Times that the card went away since a round was finished.
    since_round: u32,
}

impl Run<'_, '_> {
    fn all(&mut self) -> Result<(), Failure> {
        let begun_at = self.report.body.moved.seconds;
        self.session.events.note(&document::plan_line(self.report, self.request));
        self.checkpoints.save(self.report)?;
        loop {
            if let Some(reason) = self.over(begun_at) {
                self.report.body.ended_by = reason;
                return Ok(());
            }
            match self.one() {
                Ok((round, ended)) => {
                    self.since_round = 0;
                    self.take(round, ended)?;
                }
                Err(Stop::Target(error @ TargetError::Gone { .. })) => {
                    self.checkpoints.save(self.report)?;
                    self.since_round += 1;
                    if self.since_round > MOST_RETURNS {
                        return Err(Failure::io(error));
                    }
                    waiting::wait(self.request, self.session, self.checkpoints.salt, &error)?;
                    self.report.body.returns += 1;
                }
                Err(stop) => {
                    self.checkpoints.save(self.report)?;
                    return Err(stop.into());
                }
            }
        }
    }

    /// One round; its bytes and its time count, whatever ends it.
    fn one(&mut self) -> Result<(EndureRound, Option<Ended>), Stop> {
        let settings = RoundSettings {
            salt: self.checkpoints.salt,
            number: self.report.body.attempt(),
            span: self.report.body.span_bytes,
            seed: self.report.header.seed,
        };
        let mut moved = Moved::default();
        let ended =
            self.session.drive((BLOCK, DEPTH), &mut moved, |card, _, events| round(card, &settings, events));
        // What was read is counted with the round.
        self.report.body.moved.bytes_written += moved.bytes_written;
        self.report.body.moved.seconds += moved.seconds;
        ended
    }

    fn take(&mut self, round: EndureRound, ended: Option<Ended>) -> Result<(), Failure> {
        self.report.body.take(round);
        document::sum_up(self.report);
        document::remark_end(self.report, ended);
        self.checkpoints.save(self.report)?;
        self.session.store(self.report)?;
        self.session.events.note(&document::round_line(self.report));
        if let Some(line) = document::no_wear_line(self.report) {
            self.session.events.note(&line);
        }
        Ok(())
    }

    /// Why no further round begins.
    fn over(&self, begun_at: f64) -> Option<String> {
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
            .max_write
            .is_some_and(|most| report.body.moved.bytes_written + report.body.span_bytes > most)
        {
            return Some("--max-write".into());
        }
        let spent = report.body.moved.seconds - begun_at;
        let next = report.body.rounds.last().map_or(0.0, |round| round.seconds);
        request.limits.budget.is_some_and(|b| spent + next > b.as_secs_f64()).then(|| "--budget".to_owned())
    }
}
