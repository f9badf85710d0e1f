//! `verify --full`: every block written and read back, resumed, or read again at a later date.

mod document;

use super::{Outcome, Request};
use crate::backup::{self, Backup};
use crate::bench::fresh_seed;
use crate::card_key::{card_key, fingerprint};
use crate::checkpoint::Checkpoint;
use crate::consent::Consent;
use crate::error::Failure;
use crate::opening::{self, Opened};
use crate::recording::Recording;
use cardscope_engine::event::Listener;
use cardscope_engine::interrupt::Interrupt;
use cardscope_model::condition::Condition;
use cardscope_model::label;
use cardscope_model::verify::Method;
use cardscope_probe::card::Card;
use cardscope_probe::full::resume::{Earlier, drawn_for, find, salt};
use cardscope_probe::full::{BLOCK, DEPTH, Findings, Settings, recheck, verify};
use cardscope_probe::restore::PutBack;
use cardscope_probe::trouble::Stop;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// The checkpoint is kept anew after so long; what is lost between is read from the card's stamps.
const KEEP_EVERY: Duration = Duration::from_secs(5);

/// What is kept of a pass that is under way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Progress {
    salt: u64,
    seed: u64,
    card_bytes: u64,
    written: u64,
}

pub(super) fn run(
    request: &Request,
    consent: &mut dyn Consent,
    interrupt: &Interrupt,
    listener: &mut dyn Listener,
) -> Result<Outcome, Failure> {
    check(request)?;
    let printed = request.label.as_deref().map(label::parse).transpose().map_err(Failure::refused)?;
    let mut stated = Condition::default();
    request.conditions.iter().try_for_each(|text| stated.state(text)).map_err(Failure::refused)?;
    let mut opened = opening::open(&request.target, !request.read_only, consent, interrupt)?;
    opened.condition.overlay(&stated);
    crate::format::name_state(request.archive.as_deref(), &mut opened);
    let mut way = Way::of(request, &mut opened, interrupt)?;
    let backup = match &request.backup {
        Some(file) => Some(Backup::take(file, &mut opened, interrupt, listener)?),
        None => None,
    };
    let mut report = super::document::empty(request, Method::Full, &opened, way.seed);
    report.body.moved.data_kept = request.read_only;
    let recording =
        Recording::begin(request.archive.as_deref(), "verify", &request.target, way.seed, &opened)?;
    report.header.session = Some(recording.name());
    let found = way.go(request, &mut opened, interrupt, listener);
    let (mut failure, begun) = match &found {
        Ok(found) => {
            document::fill(&mut report, &found.findings, &found.counts, &opened);
            (found.findings.stop.clone().map(Failure::from), !request.read_only)
        }
        Err(error) => (Some(error.clone()), false),
    };
    super::document::judge_label(&mut report, printed.as_ref(), &opened);
    report.body.moved.data_kept = !begun;
    if let Some(backup) = backup.filter(|_| begun) {
        let swapped = found.as_ref().is_ok_and(|found| matches!(found.findings.stop, Some(Stop::Swapped(_))));
        match put_back(backup, swapped, &mut opened, interrupt, listener) {
            Ok(back) => {
                report.body.moved.bytes_restored = back.bytes;
                report.body.moved.data_kept = back.lost.is_empty() && back.unreadable.is_empty();
                report.header.findings.extend(backup::finding(&back));
                // The stamps are gone with it, so there is nothing to go on with.
                way.forget();
            }
            Err(error) => {
                report.header.caveats.push(document::still_in(request.backup.as_deref(), &error));
                failure = failure.or(Some(error));
            }
        }
    }
    let failure = recording.close(&mut report, |report| &mut report.header.error, failure);
    Ok(Outcome { report, failure })
}

/// Puts the image back, whatever ended the pass; but not onto a card that is another one.
fn put_back(
    backup: Backup,
    swapped: bool,
    opened: &mut Opened,
    interrupt: &Interrupt,
    listener: &mut dyn Listener,
) -> Result<PutBack, Failure> {
    match swapped {
        true => Err(Failure::Io("nothing is put back onto another card".into())),
        false => backup.put_back(opened, interrupt, listener),
    }
}

/// Refuses what goes against itself, before anything is opened.
fn check(request: &Request) -> Result<(), Failure> {
    let odd = [
        (request.resume, "--resume"),
        (request.two_passes, "--two-passes"),
        (request.backup.is_some(), "--backup"),
        (request.max_write.is_some(), "--max-write"),
        (request.seed.is_some(), "--seed"),
    ];
    if let Some((_, option)) = odd.iter().find(|(given, _)| request.read_only && *given) {
        return Err(Failure::Refused(format!(
            "--read-only writes nothing, so {option} says nothing to it; leave one out"
        )));
    }
    if request.resume && request.backup.is_some() {
        return Err(Failure::Refused(
            "--resume goes on with a pass that has overwritten the card already; --backup would save its stamps. Leave it out"
                .into(),
        ));
    }
    let directory = std::fs::metadata(&request.target).is_ok_and(|m| m.is_dir());
    if directory {
        return Err(Failure::Refused(format!(
            "{} is a directory; --full is for whole cards. Name the device, or take --files to test the free space",
            request.target
        )));
    }
    Ok(())
}

/// A fresh pass, one that goes on, or a look at what an earlier one wrote.
struct Way {
    seed: u64,
    salt: u64,
    earlier: Option<Earlier>,
    checkpoint: Option<Checkpoint>,
    card_bytes: u64,
}

struct Found {
    findings: Findings,
    counts: document::Counts,
}

impl Way {
    fn of(request: &Request, opened: &mut Opened, interrupt: &Interrupt) -> Result<Self, Failure> {
        let card_bytes = opened.target.info().bytes;
        let key = card_key(opened);
        let print = fingerprint(key.as_deref(), card_bytes);
        let checkpoint = key.map(|key| Checkpoint::of("full", &key)).transpose()?;
        if !request.resume && !request.read_only {
            let seed = request.seed.unwrap_or_else(fresh_seed);
            return Ok(Way { seed, salt: salt(seed, print), earlier: None, checkpoint, card_bytes });
        }
        let mut card = Card::new(opened.target.as_mut(), interrupt, BLOCK, DEPTH)?;
        let earlier = find(&mut card)?.ok_or_else(|| {
            let name = &request.target;
            Failure::Refused(format!(
                "{name} holds no stamps of an earlier --full: it is another card, or somebody has written to it since. Nothing was written"
            ))
        })?;
        let kept: Option<Progress> = checkpoint.as_ref().and_then(Checkpoint::load);
        let other = kept.as_ref().is_some_and(|kept| request.resume && kept.salt != earlier.salt);
        if !drawn_for(earlier.salt, print) || other {
            return Err(Failure::Refused(format!(
                "the stamps on {} were written to another card, or by another run than the one to go on with; nothing was written. \
                 Start anew without --resume",
                request.target
            )));
        }
        let mut earlier = earlier;
        let known = kept.filter(|kept| kept.salt == earlier.salt && kept.card_bytes == card_bytes);
        if let (Some(kept), true) = (&known, request.read_only) {
            earlier.reached = earlier.reached.max(kept.written);
        }
        let seed = known.map_or(0, |kept| kept.seed);
        Ok(Way { seed, salt: earlier.salt, earlier: Some(earlier), checkpoint, card_bytes })
    }

    fn go(
        &mut self,
        request: &Request,
        opened: &mut Opened,
        interrupt: &Interrupt,
        listener: &mut dyn Listener,
    ) -> Result<Found, Failure> {
        listener.note(&self.plan_line(request));
        let mut card = Card::new(opened.target.as_mut(), interrupt, BLOCK, DEPTH)?;
        let began = card.seconds();
        let budget_s = request.budget.map(|b| b.as_secs_f64());
        let findings = match (request.read_only, self.earlier) {
            (true, Some(earlier)) => recheck::recheck(&mut card, &earlier, budget_s, listener),
            _ => {
                let settings = Settings {
                    salt: self.salt,
                    two_passes: request.two_passes,
                    resumed_at: self.earlier.map_or(0, |earlier| earlier.reached),
                    budget_s,
                    max_write: request.max_write,
                };
                let mut last = Instant::now();
                let mut keep = |written: u64| {
                    if last.elapsed() > KEEP_EVERY || written >= self.card_bytes {
                        last = Instant::now();
                        self.keep(written);
                    }
                };
                verify(&mut card, &settings, &mut keep, listener)
            }
        };
        let counts = document::Counts {
            tally: card.tally(),
            seconds: card.seconds() - began,
            troubles: card.troubles().to_vec(),
            trouble_count: card.trouble_count(),
        };
        if !request.read_only {
            self.keep(findings.written_to);
        }
        Ok(Found { findings, counts })
    }

    /// A checkpoint that cannot be kept is no reason to stop: the stamps tell the same.
    fn keep(&self, written: u64) {
        if let Some(checkpoint) = &self.checkpoint {
            let progress =
                Progress { salt: self.salt, seed: self.seed, card_bytes: self.card_bytes, written };
            let _ = checkpoint.save(&progress);
        }
    }

    /// Nothing of the pass is on the card any more.
    fn forget(&self) {
        if let Some(checkpoint) = &self.checkpoint {
            checkpoint.remove();
        }
    }

    fn plan_line(&self, request: &Request) -> String {
        let all = cardscope_model::units::Capacity(self.card_bytes);
        match (request.read_only, self.earlier) {
            (true, Some(earlier)) => format!(
                "nothing is written; {} that an earlier pass wrote are read again",
                cardscope_model::units::Capacity(earlier.reached)
            ),
            (false, Some(earlier)) => format!(
                "going on at {} of {all}, as the stamps on the card say",
                cardscope_model::units::Capacity(earlier.reached)
            ),
            _ => format!("every block is written and read back: {all} each way at most"),
        }
    }
}
