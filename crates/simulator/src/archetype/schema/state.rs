//! What stands on a card when it is put in, where no saved state is given.

use super::Archetype;
use super::check::{Verdict, share};
use crate::chance::Units;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What was done with a card before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// Nothing: it is as it left the factory.
    #[default]
    Factory,
    /// It was written once from end to end.
    Filled,
    /// A share of its allocation units was written, here and there.
    Used,
}

/// What reads where nothing was ever written, or was discarded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unwritten {
    /// Zeros.
    #[default]
    Zeros,
    /// 0xFF, as erased flash.
    Ones,
}

/// The state a card starts from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct State {
    /// What was done with it before.
    pub start: Start,
    /// Share of allocation units that a used card has data in; which ones is the seed's choice.
    pub used_share: f64,
    /// What reads where nothing was written.
    pub unwritten: Unwritten,
}

impl Default for State {
    fn default() -> Self {
        State { start: Start::Factory, used_share: 0.5, unwritten: Unwritten::Zeros }
    }
}

/// Tells the choice of used units from what else a seed decides.
const USED: u64 = 0x7573_6564;

impl State {
    pub(super) fn check(&self) -> Verdict {
        share("state.used_share", self.used_share)
    }

    /// The addresses that hold data when the card is put in, in order.
    pub(crate) fn mapped_ranges(card: &Archetype, seed: u64) -> impl Iterator<Item = Range<u64>> {
        let (all, unit) = (card.announced_bytes, card.flash.au_bytes);
        let (whole, share) = match card.state.start {
            Start::Factory => (None, 0.0),
            Start::Filled => (Some(0..all), 0.0),
            Start::Used => (None, card.state.used_share),
        };
        let units = (share > 0.0).then(|| Units::new(seed, USED, unit, share).ranges(all));
        whole.into_iter().chain(units.into_iter().flatten())
    }
}
