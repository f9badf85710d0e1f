//! An endurance run that goes on: what is kept of it, by the card's identity and by the salt that its stamps carry, for
//! cards that say nothing of themselves; and a card that went away, which is waited for, and taken only if it is the same
//! one, by its identity or by what stands on it.

use super::EndureRequest;
use cardscope_engine::card::IoDriver;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::target::TargetError;
use cardscope_model::endure::EndureReport;
use cardscope_probing::io_size::{PASS_BLOCK, PASS_DEPTH};
use cardscope_probing::resume::{drawn_for, find};
use cardscope_session::card_key::{card_key, fingerprint};
use cardscope_session::checkpoint::CardCheckpoint;
use cardscope_session::consent::GivenBeforehand;
use cardscope_session::error::{Failure, Result};
use cardscope_session::frame::VerbSession;
use cardscope_session::opened::OpenTarget;
use cardscope_session::opening;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// A run so far: the report, owned or borrowed, and the salt of its stamps.
#[derive(Debug, Serialize, Deserialize)]
struct StoredRun<R> {
    salt: u64,
    report: R,
}

/// Where a run is stored.
#[derive(Debug, Clone)]
pub(super) struct RunCheckpoints {
    /// The salt of the run's stamps.
    pub(super) salt: u64,
    stored_in: Vec<CardCheckpoint>,
}

impl RunCheckpoints {
    /// Those of a run whose stamps have this salt, on the card of this key.
    pub(super) fn of(salt: u64, key: Option<&str>) -> Result<Self> {
        let mut stored_in = vec![by_salt(salt)?];
        if let Some(key) = key {
            stored_in.push(CardCheckpoint::of("endure", key)?);
        }
        Ok(RunCheckpoints { salt, stored_in })
    }

    /// Stores the run; it is on disk when this returns.
    pub(super) fn save(&self, report: &EndureReport) -> Result<()> {
        let so_far = StoredRun { salt: self.salt, report };
        self.stored_in.iter().try_for_each(|checkpoint| checkpoint.save(&so_far))
    }
}

fn by_salt(salt: u64) -> Result<CardCheckpoint> {
    CardCheckpoint::of("endure", &format!("{salt:016x}"))
}

/// The run to go on with: the one that wrote the stamps on this card, or, where the card has lost them all, the one
/// that its identity leads to. Nothing is written here.
pub(super) fn resume(
    request: &EndureRequest,
    session: &mut VerbSession<'_>,
    report: &mut EndureReport,
) -> Result<RunCheckpoints> {
    let bytes = session.bytes();
    let key = card_key(session.opened);
    let print = fingerprint(key.as_deref(), bytes);
    let mut card = IoDriver::new(session.opened.target.as_mut(), session.interrupt, PASS_BLOCK, PASS_DEPTH)?;
    let stamps = find(&mut card)?.filter(|previous| drawn_for(previous.salt, print));
    let by_stamps = match stamps {
        Some(previous) => by_salt(previous.salt)?.load::<StoredRun<EndureReport>>(),
        None => None,
    };
    let by_key = match &key {
        Some(key) => CardCheckpoint::of("endure", key)?.load::<StoredRun<EndureReport>>(),
        None => None,
    };
    let name = &request.common.target;
    let found = by_stamps.or(by_key).filter(|run| run.report.body.announced_bytes == bytes).ok_or_else(|| {
        Failure::refused(format!(
            "{name} has no endurance run to continue: it is another card, or its state was removed. Nothing \
             was written; start again without --resume"
        ))
    })?;
    *report = found.report;
    if request.span.is_some_and(|span| span != report.body.span_bytes) {
        return Err(Failure::refused(format!(
            "the run to continue covers {} bytes; leave out --span",
            report.body.span_bytes
        )));
    }
    report.body.ended_by = String::new();
    report.header.error = None;
    report.header.target.clone_from(name);
    RunCheckpoints::of(found.salt, key.as_deref())
}

/// Between two tries.
const TRY_EVERY: Duration = Duration::from_millis(500);

/// Waits for the card whose stamps have this salt; the session has a new handle to it when this returns. Nothing is
/// written.
pub(super) fn wait(
    request: &EndureRequest,
    session: &mut VerbSession<'_>,
    salt: u64,
    gone: &TargetError,
) -> Result<()> {
    let seconds = request.wait.as_secs_f64();
    session.events.note(&format!("{gone}; waiting {seconds:.0} s for it to come back"));
    let was = LostCard { key: card_key(session.opened), bytes: session.bytes(), salt };
    // As long as the card's device is open, the kernel gives its name to no other, not even to the card itself.
    drop(session.opened.let_go());
    session.opened.thermometer = None;
    let until = Instant::now() + request.wait;
    let name = &request.common.target;
    loop {
        // Consent was given to this name, and the guards are asked again.
        let mut consent = GivenBeforehand(Some(name.clone()));
        if let Ok(mut again) = opening::open(name, true, &mut consent, session.interrupt) {
            was.demand(&mut again, session.interrupt)?;
            again.condition.clone_from(&session.opened.condition);
            *session.opened = again;
            session.events.note("the card is back; the round starts again");
            return Ok(());
        }
        if session.interrupt.raised() {
            return Err(Failure::Interrupted);
        }
        if Instant::now() >= until {
            return Err(Failure::io(format!(
                "{gone} and did not come back within {seconds:.0} s; continue later with --resume"
            )));
        }
        std::thread::sleep(TRY_EVERY);
    }
}

/// The card that went away.
struct LostCard {
    key: Option<String>,
    bytes: u64,
    salt: u64,
}

impl LostCard {
    /// Refuses another card than this one.
    fn demand(&self, again: &mut OpenTarget, interrupt: &InterruptFlag) -> Result<()> {
        let bytes = again.target.info().bytes;
        let other = card_key(again);
        let print = fingerprint(other.as_deref(), bytes);
        let same_key = self.key.is_some() && self.key == other;
        let mut card = IoDriver::new(again.target.as_mut(), interrupt, PASS_BLOCK, PASS_DEPTH)?;
        let stamps = find(&mut card)?;
        let same_stamps = stamps.is_some_and(|s| s.salt == self.salt && drawn_for(s.salt, print));
        if bytes == self.bytes && (same_key || same_stamps) {
            return Ok(());
        }
        Err(Failure::io(
            "the slot now holds another card; nothing was written to it. Insert the first card and continue \
             with --resume",
        ))
    }
}
