//! Resumption of an interrupted run, and waiting for a card that was removed. A run is stored by the card's key and by the
//! salt of its stamps, for cards without a key. A card that returns is accepted only if its key or its stamps match.

use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::io_driver::IoDriver;
use cardscope_engine::target::TargetError;
use cardscope_model::endure::EndureReport;
use cardscope_probing::io_size::{PASS_BLOCK, PASS_DEPTH};
use cardscope_probing::previous_pass::{find_previous_pass, is_salt_of};
use cardscope_session::card_key::{card_key, salt_fingerprint};
use cardscope_session::consent::GivenBeforehand;
use cardscope_session::error::{Failure, Result};
use cardscope_session::frame::VerbSession;
use cardscope_session::open_target::OpenTarget;
use cardscope_session::opening;
use cardscope_session::state_file::CardCheckpoint;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// Stored run: the report, owned or borrowed, and the salt of its stamps.
#[derive(Debug, Serialize, Deserialize)]
struct StoredRun<R> {
    salt: u64,
    report: R,
}

#[derive(Debug, Clone)]
pub(super) struct RunCheckpoints {
    /// Salt of the run's stamps.
    pub(super) salt: u64,
    stored_in: Vec<CardCheckpoint>,
}

impl RunCheckpoints {
    pub(super) fn for_salt_and_key(salt: u64, key: Option<&str>) -> Result<Self> {
        let mut stored_in = vec![checkpoint_by_salt(salt)?];
        if let Some(key) = key {
            stored_in.push(CardCheckpoint::for_card("endure", key)?);
        }
        Ok(RunCheckpoints { salt, stored_in })
    }

    /// Stores the run, which is on disk when this returns.
    pub(super) fn save(&self, report: &EndureReport) -> Result<()> {
        let so_far = StoredRun { salt: self.salt, report };
        self.stored_in.iter().try_for_each(|checkpoint| checkpoint.save(&so_far))
    }
}

fn checkpoint_by_salt(salt: u64) -> Result<CardCheckpoint> {
    CardCheckpoint::for_card("endure", &format!("{salt:016x}"))
}

/// Loads the run to continue: the one that wrote the stamps on the card, or, if none are left, the one of the card's key.
/// Writes nothing.
pub(super) fn resume_run(
    name: &str,
    span: Option<u64>,
    session: &mut VerbSession<'_>,
    report: &mut EndureReport,
) -> Result<RunCheckpoints> {
    let bytes = session.bytes();
    let key = card_key(session.opened);
    let print = salt_fingerprint(key.as_deref(), bytes);
    let mut card = IoDriver::new(session.opened.target.as_mut(), session.interrupt, PASS_BLOCK, PASS_DEPTH)?;
    let stamps = find_previous_pass(&mut card)?.filter(|previous| is_salt_of(previous.salt, print));
    let by_stamps = stamps.map(|previous| checkpoint_by_salt(previous.salt)).transpose()?;
    let by_key = key.as_deref().map(|key| CardCheckpoint::for_card("endure", key)).transpose()?;
    let mut stored = by_stamps.into_iter().chain(by_key);
    let run: Option<StoredRun<EndureReport>> = stored.find_map(|checkpoint| checkpoint.load());
    let found = run.filter(|run| run.report.body.announced_bytes == bytes).ok_or_else(|| {
        Failure::refused(format!(
            "{name} has no endurance run to continue: it is another card, or its state was removed. Nothing \
             was written; start again without --resume"
        ))
    })?;
    *report = found.report;
    let covered = report.body.span_bytes;
    if span.is_some_and(|span| span != covered) {
        let text = format!("the run to continue covers {covered} bytes; leave out --span");
        return Err(Failure::refused(text));
    }
    report.body.ended_by = String::new();
    report.header.error = None;
    name.clone_into(&mut report.header.target);
    RunCheckpoints::for_salt_and_key(found.salt, key.as_deref())
}

const RETRY_INTERVAL: Duration = Duration::from_millis(500);

/// Waits for the card whose stamps have this salt, and replaces the session's handle. Writes nothing to the card.
pub(super) fn wait_for_card(
    name: &str,
    wait: Duration,
    session: &mut VerbSession<'_>,
    salt: u64,
    gone: &TargetError,
) -> Result<()> {
    let seconds = wait.as_secs_f64();
    session.events.report_note(&format!("{gone}; waiting {seconds:.0} s for it to come back"));
    let was = LostCard { key: card_key(session.opened), bytes: session.bytes(), salt };
    // While the card's device is open, the kernel gives its name to no other device, not even to the same card.
    drop(session.opened.release());
    session.opened.thermometer = None;
    let until = Instant::now() + wait;
    loop {
        // Consent was given to this name. The guards check the device again.
        let mut consent = GivenBeforehand(Some(name.to_owned()));
        if let Ok(mut again) = opening::open_by_name(name, true, &mut consent, session.interrupt) {
            was.require_same_card(&mut again, session.interrupt)?;
            again.condition.clone_from(&session.opened.condition);
            *session.opened = again;
            session.events.report_note("the card is back; the round starts again");
            return Ok(());
        }
        if session.interrupt.is_raised() {
            return Err(Failure::Interrupted);
        }
        if Instant::now() >= until {
            return Err(Failure::io(format!(
                "{gone} and did not come back within {seconds:.0} s; continue later with --resume"
            )));
        }
        std::thread::sleep(RETRY_INTERVAL);
    }
}

/// Properties by which the removed card is recognized.
struct LostCard {
    key: Option<String>,
    bytes: u64,
    salt: u64,
}

impl LostCard {
    /// Refuses a different card.
    fn require_same_card(&self, again: &mut OpenTarget, interrupt: &InterruptFlag) -> Result<()> {
        let bytes = again.target.info().bytes;
        let other = card_key(again);
        let print = salt_fingerprint(other.as_deref(), bytes);
        let same_key = self.key.is_some() && self.key == other;
        let mut card = IoDriver::new(again.target.as_mut(), interrupt, PASS_BLOCK, PASS_DEPTH)?;
        let stamps = find_previous_pass(&mut card)?;
        let same_stamps = stamps.is_some_and(|s| s.salt == self.salt && is_salt_of(s.salt, print));
        if bytes == self.bytes && (same_key || same_stamps) {
            return Ok(());
        }
        let advice = "Insert the first card and continue with --resume";
        Err(Failure::io(format!("the slot now holds another card; nothing was written to it. {advice}")))
    }
}
