//! What is kept of an endurance run so that it can go on: by the card's identity, and by the salt that its stamps
//! carry, for cards that say nothing of themselves.

use super::Request;
use crate::card_key::{card_key, fingerprint};
use crate::checkpoint::Checkpoint;
use crate::error::Failure;
use crate::frame::Session;
use cardscope_engine::card::Card;
use cardscope_model::endure::EndureReport;
use cardscope_probe::full::resume::{drawn_for, find};
use cardscope_probe::full::{BLOCK, DEPTH};
use serde::{Deserialize, Serialize};

/// A run so far: the report, owned or borrowed, and the salt of its stamps.
#[derive(Debug, Serialize, Deserialize)]
struct SoFar<R> {
    salt: u64,
    report: R,
}

/// Where a run is stored.
#[derive(Debug, Clone)]
pub(super) struct Checkpoints {
    /// The salt of the run's stamps.
    pub(super) salt: u64,
    stored_in: Vec<Checkpoint>,
}

impl Checkpoints {
    /// Those of a run whose stamps have this salt, on the card of this key.
    ///
    /// # Errors
    /// If neither `XDG_STATE_HOME` nor `HOME` says where.
    pub(super) fn of(salt: u64, key: Option<&str>) -> Result<Self, Failure> {
        let mut stored_in = vec![by_salt(salt)?];
        if let Some(key) = key {
            stored_in.push(Checkpoint::of("endure", key)?);
        }
        Ok(Checkpoints { salt, stored_in })
    }

    /// Stores the run; it is on disk when this returns.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn save(&self, report: &EndureReport) -> Result<(), Failure> {
        let so_far = SoFar { salt: self.salt, report };
        self.stored_in.iter().try_for_each(|checkpoint| checkpoint.save(&so_far))
    }
}

fn by_salt(salt: u64) -> Result<Checkpoint, Failure> {
    Checkpoint::of("endure", &format!("{salt:016x}"))
}

/// The run to go on with: the one that wrote the stamps on this card, or, where the card has lost them all, the one
/// that its identity leads to. Nothing is written here.
pub(super) fn resume(
    request: &Request,
    session: &mut Session<'_>,
    report: &mut EndureReport,
) -> Result<Checkpoints, Failure> {
    let bytes = session.bytes();
    let key = card_key(session.opened);
    let print = fingerprint(key.as_deref(), bytes);
    let mut card = Card::new(session.opened.target.as_mut(), session.interrupt, BLOCK, DEPTH)?;
    let stamps = find(&mut card)?.filter(|previous| drawn_for(previous.salt, print));
    let by_stamps = match stamps {
        Some(previous) => by_salt(previous.salt)?.load::<SoFar<EndureReport>>(),
        None => None,
    };
    let by_key = match &key {
        Some(key) => Checkpoint::of("endure", key)?.load::<SoFar<EndureReport>>(),
        None => None,
    };
    let name = &request.common.target;
    let found = by_stamps.or(by_key).filter(|run| run.report.body.announced_bytes == bytes).ok_or_else(|| {
        Failure::refused(format!(
            "there is no endurance run to go on with on {name}: it is another card, or its state was removed. Nothing was written; start anew without --resume"
        ))
    })?;
    *report = found.report;
    if request.span.is_some_and(|span| span != report.body.span_bytes) {
        return Err(Failure::refused(format!(
            "the run to go on with wears {} bytes; leave --span out",
            report.body.span_bytes
        )));
    }
    report.body.ended_by = String::new();
    report.header.error = None;
    report.header.target.clone_from(name);
    Checkpoints::of(found.salt, key.as_deref())
}
