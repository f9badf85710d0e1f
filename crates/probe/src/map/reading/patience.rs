//! How long a part of the reading map may take, and what is said of what it did not come to.

use crate::context::Context;
use cardscope_model::card_map::property::Property;

/// A part of many short reads ends after so many times the seconds that it should take: a card that stalls for minutes
/// must not stall the map at each read.
const PATIENCE: f64 = 5.0;

/// The least share of what was to be looked at, in random order, from which anything is said: half of 12 pairs of each
/// distance are 6, and hardly ever fewer than 3, so that a hiccup is not the median; of a quarter some distances would
/// have a single pair.
const LEAST_SHARE: f64 = 0.5;

/// Seconds of the card's time that the search for page and erase block may take, the most that there is time for.
pub(super) const LOOK: [f64; 5] = [20.0, 12.0, 6.0, 3.0, 1.5];

/// The moment, in seconds of the card's clock, from which on a part reads no more.
#[derive(Debug, Clone, Copy)]
pub(super) struct End(f64);

impl End {
    /// After so many seconds, or once the time given is up.
    pub(super) fn after(context: &mut Context<'_, '_>, seconds: f64) -> End {
        End(context.seconds() + seconds.min(context.seconds_left()))
    }

    /// Once a part that should take so many seconds has taken many times as long.
    pub(super) fn of_patience(context: &mut Context<'_, '_>, seconds: f64) -> End {
        End::after(context, PATIENCE * seconds)
    }

    /// Whether it has come.
    pub(super) fn is_there(self, context: &mut Context<'_, '_>) -> bool {
        context.seconds() >= self.0
    }

    /// Why it came; `None` where it has not.
    pub(super) fn reason(self, context: &mut Context<'_, '_>) -> Option<&'static str> {
        let in_time = context.has_time(0.0);
        self.is_there(context).then_some(if in_time {
            "the card answered too slowly"
        } else {
            "the time given was too short"
        })
    }

    /// Why too little was looked at before it came; `None` where that was enough to say something, or something else
    /// than the time has left things out.
    pub(super) fn too_little(
        self,
        context: &mut Context<'_, '_>,
        seen: usize,
        wanted: usize,
        what: &str,
    ) -> Option<String> {
        let why = self.reason(context).filter(|_| (seen as f64) < LEAST_SHARE * wanted as f64)?;
        Some(format!("{why}: {seen} of {wanted} {what}"))
    }
}

/// The most time of these that is left, longest first; `None` where even the shortest is too long.
pub(super) fn allowance(context: &mut Context<'_, '_>, seconds: &[f64]) -> Option<f64> {
    seconds.iter().copied().find(|s| context.has_time(*s))
}

/// What is said of a part for which no time is left.
pub(super) fn no_time<T>(seconds: f64) -> Property<T> {
    Property::not_tested(format!("the time given was too short for it; it takes about {seconds:.0} s"))
}
