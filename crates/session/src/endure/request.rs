//! What an endurance run is asked to do.

use crate::frame::Common;
use std::path::PathBuf;
use std::time::Duration;

/// An endurance run as asked for.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// What every verb is asked for; no new round begins after its budget, and `max_write` is over all sittings.
    pub common: Common,
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
    /// Where an image of the card is saved first; it is put back at the end, whatever happened.
    pub backup: Option<PathBuf>,
}
