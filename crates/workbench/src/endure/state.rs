//! What is kept of an endurance run so that it can go on: by the card's identity, and by the salt that its stamps
//! carry, for cards that say nothing of themselves.

use super::Request;
use crate::checkpoint::Checkpoint;
use crate::error::Failure;
use crate::opening::Opened;
use cardscope_engine::interrupt::Interrupt;
use cardscope_model::endure::EndureReport;
use cardscope_probe::card::Card;
use cardscope_probe::full::resume::{drawn_for, find};
use cardscope_probe::full::{BLOCK, DEPTH};
use serde::{Deserialize, Serialize};

/// A run so far.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) salt: u64,
    pub(super) report: EndureReport,
}

impl State {
    /// The write that the next round's stamps name; a round that was broken off has used up its own.
    pub(super) fn attempt(&self) -> u32 {
        self.report.body.rounds.last().map_or(0, |round| round.round) + 1
    }
}

/// Where it is kept.
#[derive(Debug, Clone)]
pub(super) struct Keeping {
    places: Vec<Checkpoint>,
}

impl Keeping {
    pub(super) fn new(salt: u64, key: Option<&str>) -> Result<Self, Failure> {
        let mut places = vec![by_salt(salt)?];
        if let Some(key) = key {
            places.push(Checkpoint::of("endure", key)?);
        }
        Ok(Keeping { places })
    }

    pub(super) fn save(&self, state: &State) -> Result<(), Failure> {
        self.places.iter().try_for_each(|place| place.save(state))
    }
}

fn by_salt(salt: u64) -> Result<Checkpoint, Failure> {
    Checkpoint::of("endure", &format!("{salt:016x}"))
}

/// The run to go on with: the one that wrote the stamps on this card, or, where the card has lost them all, the one
/// that its identity leads to. Nothing is written here.
pub(super) fn resume(
    request: &Request,
    opened: &mut Opened,
    key: Option<&str>,
    print: u64,
    interrupt: &Interrupt,
) -> Result<(State, Keeping), Failure> {
    let bytes = opened.target.info().bytes;
    let mut card = Card::new(opened.target.as_mut(), interrupt, BLOCK, DEPTH)?;
    let stamps = find(&mut card)?.filter(|earlier| drawn_for(earlier.salt, print));
    let by_stamps = match stamps {
        Some(earlier) => by_salt(earlier.salt)?.load::<State>(),
        None => None,
    };
    let by_key = match key {
        Some(key) => Checkpoint::of("endure", key)?.load::<State>(),
        None => None,
    };
    let name = &request.target;
    let state = by_stamps.or(by_key).filter(|state| state.report.body.announced_bytes == bytes).ok_or_else(|| {
        Failure::Refused(format!(
            "there is no endurance run to go on with on {name}: it is another card, or its state was removed. Nothing was written; start anew without --resume"
        ))
    })?;
    if request.span.is_some_and(|span| span != state.report.body.span_bytes) {
        return Err(Failure::Refused(format!(
            "the run to go on with wears {} bytes; leave --span out",
            state.report.body.span_bytes
        )));
    }
    let keeping = Keeping::new(state.salt, key)?;
    let mut state = state;
    state.report.body.ended_by = String::new();
    state.report.header.error = None;
    state.report.header.target.clone_from(&request.target);
    Ok((state, keeping))
}
