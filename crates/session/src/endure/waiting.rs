//! A card that went away: it is waited for, and taken only if it is the same one, by its identity or by what stands on
//! it.

use super::Request;
use crate::card_key::{card_key, fingerprint};
use crate::consent::Beforehand;
use crate::error::Failure;
use crate::frame::Session;
use crate::opening::{self, Opened};
use cardscope_engine::card::Card;
use cardscope_engine::interrupt::Interrupt;
use cardscope_engine::target::TargetError;
use cardscope_probe::full::resume::{drawn_for, find};
use cardscope_probe::full::{BLOCK, DEPTH};
use std::time::{Duration, Instant};

/// Between two tries.
const TRY_EVERY: Duration = Duration::from_millis(500);

/// Waits for the card whose stamps have this salt; the session has a new handle to it when this returns. Nothing is
/// written.
pub(super) fn wait(
    request: &Request,
    session: &mut Session<'_>,
    salt: u64,
    gone: &TargetError,
) -> Result<(), Failure> {
    let seconds = request.wait.as_secs_f64();
    session.events.note(&format!("{gone}. It is waited for {seconds:.0} s; put it back"));
    let was = Was { key: card_key(session.opened), bytes: session.bytes(), salt };
    let until = Instant::now() + request.wait;
    let name = &request.common.target;
    loop {
        // Consent was given to this name, and the guards are asked again.
        let mut consent = Beforehand(Some(name.clone()));
        if let Ok(mut again) = opening::open(name, true, &mut consent, session.interrupt) {
            was.demand(&mut again, session.interrupt)?;
            again.condition.clone_from(&session.opened.condition);
            *session.opened = again;
            session.events.note("the card is back; the round begins anew");
            return Ok(());
        }
        if session.interrupt.raised() {
            return Err(Failure::Interrupted);
        }
        if Instant::now() >= until {
            return Err(Failure::io(format!(
                "{gone}; it did not come back within {seconds:.0} s. Go on with --resume once it is there"
            )));
        }
        std::thread::sleep(TRY_EVERY);
    }
}

/// The card that went away.
struct Was {
    key: Option<String>,
    bytes: u64,
    salt: u64,
}

impl Was {
    /// Refuses another card than this one.
    fn demand(&self, again: &mut Opened, interrupt: &Interrupt) -> Result<(), Failure> {
        let bytes = again.target.info().bytes;
        let other = card_key(again);
        let print = fingerprint(other.as_deref(), bytes);
        let same_key = self.key.is_some() && self.key == other;
        let mut card = Card::new(again.target.as_mut(), interrupt, BLOCK, DEPTH)?;
        let stamps = find(&mut card)?;
        let same_stamps = stamps.is_some_and(|s| s.salt == self.salt && drawn_for(s.salt, print));
        if bytes == self.bytes && (same_key || same_stamps) {
            return Ok(());
        }
        Err(Failure::io(
            "another card is in the slot than the one that went away; nothing was written to it. Put the first card back and go on with --resume",
        ))
    }
}
