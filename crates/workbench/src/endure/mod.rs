//! `endure`: a card worn out in rounds, kept after each one, resumed, and waited for where it goes away.

mod document;
mod state;
mod waiting;

use crate::backup::{self, Backup};
use crate::bench::fresh_seed;
use crate::card_key::{card_key, fingerprint};
use crate::consent::Consent;
use crate::error::Failure;
use crate::opening::{self, Opened};
use crate::recording::Recording;
use cardscope_engine::event::Listener;
use cardscope_engine::interrupt::Interrupt;
use cardscope_engine::target::TargetError;
use cardscope_model::condition::Condition;
use cardscope_model::endure::{EndureReport, EndureRound};
use cardscope_model::units::Capacity;
use cardscope_probe::card::{Card, Tally};
use cardscope_probe::endure::{Ended, RoundSettings, round};
use cardscope_probe::full::resume::salt;
use cardscope_probe::full::{BLOCK, DEPTH};
use cardscope_probe::trouble::Stop;
use state::{Keeping, State};
use std::path::PathBuf;
use std::time::Duration;

/// An endurance run as asked for.
#[derive(Debug, Clone)]
pub struct Request {
    /// Device, file or `sim:NAME`.
    pub target: String,
    /// Bytes from 0 that are worn; `None` is all of the card.
    pub span: Option<u64>,
    /// Rounds, those of earlier sittings counted.
    pub rounds: Option<u32>,
    /// Ends when so large a share of the sectors is bad, from 0 to 1.
    pub until: f64,
    /// Goes on where an earlier run on this card stopped.
    pub resume: bool,
    /// How long a card that went away is waited for.
    pub wait: Duration,
    /// Time after which no new round begins.
    pub budget: Option<Duration>,
    /// Bytes that may be written, over all sittings.
    pub max_write: Option<u64>,
    /// `KEY=VALUE` each.
    pub conditions: Vec<String>,
    /// Seed; `None` draws one.
    pub seed: Option<u64>,
    /// Where an image of the card is saved first; it is put back at the end, whatever happened.
    pub backup: Option<PathBuf>,
    /// The archive's file; `None` is the user's own.
    pub archive: Option<PathBuf>,
}

/// What became of it: always a document, and what ended it early.
#[derive(Debug)]
pub struct Outcome {
    /// The document, partial where `failure` is set.
    pub report: EndureReport,
    /// What ended it early.
    pub failure: Option<Failure>,
}

/// Wears a card out.
///
/// # Errors
/// A refusal: the request is wrong, the target is not safe to test, or consent was not given. Nothing was written.
pub fn endure(
    request: &Request,
    consent: &mut dyn Consent,
    interrupt: &Interrupt,
    listener: &mut dyn Listener,
) -> Result<Outcome, Failure> {
    let stated = checked(request)?;
    let mut opened = opening::open(&request.target, true, consent, interrupt)?;
    opened.condition.overlay(&stated);
    crate::format::name_state(request.archive.as_deref(), &mut opened);
    let (mut state, keeping) = begin(request, &mut opened, interrupt)?;
    let target = &request.target;
    let mut backup = match &request.backup {
        Some(file) => Some(Backup::take(file, &mut opened, interrupt, listener)?),
        None => None,
    };
    if let Some(backup) = &mut backup {
        backup.overwritten(0, state.report.body.span_bytes);
    }
    let recording =
        Recording::begin(request.archive.as_deref(), "endure", target, state.report.header.seed, &opened);
    let mut recording = recording.map_err(|f| backup.as_ref().map_or_else(|| f.clone(), |b| b.named(&f)))?;
    state.report.header.session = Some(recording.name());
    let mut run = Run { request, interrupt, listener, state, keeping, since_round: 0 };
    let failure = run.all(&mut opened, &mut recording).err();
    let Run { state, listener, .. } = run;
    let mut report = state.report;
    document::conclude(&mut report, &opened);
    let back = backup.map(|backup| backup.put_back(&mut opened, interrupt, listener)).transpose();
    report.header.findings.extend(back.iter().flatten().filter_map(backup::finding));
    let failure = match (failure, back) {
        // What says where the card's data is must not be lost behind what ended the run.
        (Some(Failure::Io(why)), Err(error)) => Some(Failure::Io(format!("{why}; {error}"))),
        (_, Err(error)) => Some(error),
        (failure, Ok(_)) => failure,
    };
    let failure = recording.close(&mut report, |report| &mut report.header.error, failure);
    Ok(Outcome { report, failure })
}

/// Refuses what cannot be done, before anything is opened.
fn checked(request: &Request) -> Result<Condition, Failure> {
    if std::fs::metadata(&request.target).is_ok_and(|m| m.is_dir()) {
        let name = &request.target;
        return Err(Failure::Refused(format!(
            "{name} is a directory, and endure wears whole cards; name the device"
        )));
    }
    if !(request.until > 0.0 && request.until <= 1.0) {
        return Err(Failure::Refused("--until is a share above 0 and up to 1 (or 100 %)".into()));
    }
    if request.rounds == Some(0) {
        return Err(Failure::Refused("--rounds must be at least 1".into()));
    }
    if request.resume && request.backup.is_some() {
        return Err(Failure::Refused(
            "--resume finds the card as the earlier sitting left it, so --backup has nothing to save".into(),
        ));
    }
    let mut condition = Condition::default();
    request.conditions.iter().try_for_each(|text| condition.state(text)).map_err(Failure::refused)?;
    Ok(condition)
}

/// A fresh run, or the one to go on with.
fn begin(request: &Request, opened: &mut Opened, interrupt: &Interrupt) -> Result<(State, Keeping), Failure> {
    let bytes = opened.target.info().bytes;
    let key = card_key(opened);
    let print = fingerprint(key.as_deref(), bytes);
    if request.resume {
        return state::resume(request, opened, key.as_deref(), print, interrupt);
    }
    let sector = u64::from(opened.target.info().sector);
    let span = request.span.unwrap_or(bytes) / sector * sector;
    if span == 0 || span > bytes {
        return Err(Failure::Refused(format!(
            "--span must be at least a sector and no more than the card's {}",
            Capacity(bytes)
        )));
    }
    let seed = request.seed.unwrap_or_else(fresh_seed);
    let salt = salt(seed, print);
    let state = State { salt, report: document::empty(request, opened, span, seed) };
    Ok((state, Keeping::new(salt, key.as_deref())?))
}

/// A card that goes away so often without a finished round in between is not worth waiting for.
const MOST_RETURNS: u32 = 3;

struct Run<'a> {
    request: &'a Request,
    interrupt: &'a Interrupt,
    listener: &'a mut dyn Listener,
    state: State,
    keeping: Keeping,
    /// Times that the card went away since a round was finished.
    since_round: u32,
}

impl Run<'_> {
    fn all(&mut self, opened: &mut Opened, recording: &mut Recording) -> Result<(), Failure> {
        let begun_at = self.state.report.body.moved.seconds;
        self.listener.note(&document::plan_line(&self.state.report, self.request));
        self.keeping.save(&self.state)?;
        loop {
            if let Some(reason) = self.over(begun_at) {
                self.state.report.body.ended_by = reason;
                return Ok(());
            }
            match self.one(opened) {
                Ok((round, ended)) => {
                    self.since_round = 0;
                    self.take(round, ended, recording)?;
                }
                Err(Stop::Target(error @ TargetError::Gone { .. })) => {
                    self.keeping.save(&self.state)?;
                    self.since_round += 1;
                    if self.since_round > MOST_RETURNS {
                        return Err(Failure::io(error));
                    }
                    waiting::wait(self.request, opened, &self.state, self.interrupt, self.listener, &error)?;
                    self.state.report.body.returns += 1;
                }
                Err(stop) => {
                    self.keeping.save(&self.state)?;
                    return Err(stop.into());
                }
            }
        }
    }

    /// One round; its bytes and its time count, whatever ends it.
    fn one(&mut self, opened: &mut Opened) -> Result<(EndureRound, Option<Ended>), Stop> {
        let settings = RoundSettings {
            salt: self.state.salt,
            number: self.state.attempt(),
            span: self.state.report.body.span_bytes,
            seed: self.state.report.header.seed,
        };
        let mut card = Card::new(opened.target.as_mut(), self.interrupt, BLOCK, DEPTH)?;
        let began = card.seconds();
        let outcome = round(&mut card, &settings, self.listener);
        let Tally { written, .. } = card.tally();
        self.state.report.body.moved.bytes_written += written;
        self.state.report.body.moved.seconds += card.seconds() - began;
        outcome
    }

    fn take(
        &mut self,
        round: EndureRound,
        ended: Option<Ended>,
        recording: &mut Recording,
    ) -> Result<(), Failure> {
        self.state.report.body.take(round);
        document::sum_up(&mut self.state.report);
        document::remark_end(&mut self.state.report, ended);
        self.keeping.save(&self.state)?;
        recording.update(&self.state.report)?;
        self.listener.note(&document::round_line(&self.state.report));
        if let Some(line) = document::no_wear_line(&self.state.report) {
            self.listener.note(&line);
        }
        Ok(())
    }

    /// Why no further round begins.
    fn over(&self, begun_at: f64) -> Option<String> {
        let (report, request) = (&self.state.report, self.request);
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
            .max_write
            .is_some_and(|most| report.body.moved.bytes_written + report.body.span_bytes > most)
        {
            return Some("--max-write".into());
        }
        let spent = report.body.moved.seconds - begun_at;
        let next = report.body.rounds.last().map_or(0.0, |round| round.seconds);
        request.budget.is_some_and(|b| spent + next > b.as_secs_f64()).then(|| "--budget".to_owned())
    }
}
