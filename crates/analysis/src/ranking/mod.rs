//! The document of `rank`: `figures` takes from what was measured of a card what a job asks for, `lasting` what long runs
//! showed, `valued` makes one value of it, `order` places, `groups` divides the cards by what is printed on them, and
//! `findings` says what there is to say about the whole.

mod figures;
mod findings;
mod groups;
mod lasting;
mod order;
mod valued;

pub use figures::is_of_use;
pub use groups::{GroupBy, bought, groups};
pub use lasting::{AfterCache, Lasting, after_cache, asks_for};
pub use order::Measured;
pub use valued::{Asked, Measure};

use cardscope_model::archived::StoredCard;
use cardscope_model::ranking::{RankedBy, Ranking};

/// Ranks cards by what was measured of them, without groups.
#[must_use]
pub fn ranking(asked: &Asked, cards: &[StoredCard], measured: &Measured) -> Ranking {
    let by = match &asked.measure {
        Measure::Job(job) => RankedBy::Job(job.name.clone()),
        Measure::Test(test) => RankedBy::Test(*test),
    };
    let (places, not_placed) = order::places(asked, cards, measured);
    let findings = findings::findings(asked, &places);
    let on = asked.host.as_ref().map(|host| host.name.clone());
    Ranking { by, on, places, not_placed, groups: None, findings }
}
