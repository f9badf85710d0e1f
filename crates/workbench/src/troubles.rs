//! I/Os that failed under a probe: how many a document lists, and what they say of the card.

use cardscope_model::finding::{Finding, Weight};
use cardscope_model::verify::Trouble;
use cardscope_probe::card::Card;

/// What the finding claims.
pub(crate) const CLAIM: &str = "io-errors";

/// So many failed I/Os are listed.
const MOST: usize = 100;

/// Adds those of a card to a document's list.
pub(crate) fn list(into: &mut Vec<Trouble>, card: &Card<'_>) {
    let room = MOST.saturating_sub(into.len());
    into.extend(card.troubles().iter().take(room).cloned());
}

/// A card that failed I/Os; `when` ends the sentence.
pub(crate) fn finding(troubles: &[Trouble], when: &str) -> Option<Finding> {
    let first = troubles.first()?;
    Some(
        Finding::new(CLAIM, Weight::Bad, 0.99, format!("the card failed I/Os {when}"))
            .because("listed", troubles.len())
            .because("first", format!("{} at {}: {}", first.operation, first.offset, first.reason))
            .advise("copy what is on it; `cardscope verify --full` tells which blocks are bad"),
    )
}
