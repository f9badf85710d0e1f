//! A card that went away: it is waited for, and taken only if it is the same one, by its identity or by what stands on
//! it.

use super::Request;
use super::state::State;
use crate::card_key::{card_key, fingerprint};
use crate::consent::Beforehand;
use crate::error::Failure;
use crate::opening::{self, Opened};
use cardscope_engine::event::Listener;
use cardscope_engine::interrupt::Interrupt;
use cardscope_engine::target::TargetError;
use cardscope_probe::card::Card;
use cardscope_probe::full::resume::{drawn_for, find};
use cardscope_probe::full::{BLOCK, DEPTH};
use std::time::{Duration, Instant};

/// Between two tries.
const TRY_EVERY: Duration = Duration::from_millis(500);

/// Waits for the card; `opened` is the new handle to it when this returns. Nothing is written.
pub(super) fn wait(
    request: &Request,
    opened: &mut Opened,
    state: &State,
    interrupt: &Interrupt,
    listener: &mut dyn Listener,
    gone: &TargetError,
) -> Result<(), Failure> {
    let seconds = request.wait.as_secs_f64();
    listener.note(&format!("{gone}. It is waited for {seconds:.0} s; put it back"));
    let key = card_key(opened);
    let until = Instant::now() + request.wait;
    loop {
        // Consent was given to this name, and the guards are asked again.
        let mut consent = Beforehand(Some(request.target.clone()));
        if let Ok(mut again) = opening::open(&request.target, true, &mut consent, interrupt) {
            same_card(&mut again, key.as_deref(), state, interrupt)?;
            again.condition.clone_from(&opened.condition);
            *opened = again;
            listener.note("the card is back; the round begins anew");
            return Ok(());
        }
        if interrupt.raised() {
            return Err(Failure::Interrupted);
        }
        if Instant::now() >= until {
            return Err(Failure::Io(format!(
                "{gone}; it did not come back within {seconds:.0} s. Go on with --resume once it is there"
            )));
        }
        std::thread::sleep(TRY_EVERY);
    }
}

fn same_card(
    again: &mut Opened,
    key: Option<&str>,
    state: &State,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let bytes = again.target.info().bytes;
    let other = card_key(again);
    let print = fingerprint(other.as_deref(), bytes);
    let same_key = key.is_some() && key == other.as_deref();
    let mut card = Card::new(again.target.as_mut(), interrupt, BLOCK, DEPTH)?;
    let stamps = find(&mut card)?;
    let same_stamps = stamps.is_some_and(|s| s.salt == state.salt && drawn_for(s.salt, print));
    if bytes == state.report.body.announced_bytes && (same_key || same_stamps) {
        return Ok(());
    }
    Err(Failure::Io(
        "another card is in the slot than the one that went away; nothing was written to it. Put the first card back and go on with --resume"
            .into(),
    ))
}
