//! Writes what became of a batch: new cards and pieces, facts that were completed, names.

use super::CardResolver;
use crate::connection::{Connection, Outcome, Rows, found, json, statement};
use crate::{sql, stamp};
use cardscope_model::card::CardFacts;
use std::collections::BTreeSet;

impl CardResolver {
    /// Writes what is new or was completed, and marks the cards that were met: their summaries are to be made anew.
    pub(crate) async fn write(self, c: &mut Connection) -> Outcome<()> {
        let now = stamp::now();
        let mut cards = Rows::new(sql::INSERT_CARDS, "ON CONFLICT (id) DO NOTHING");
        for (id, card) in &self.cards {
            if card.new {
                cards.push(sql::card_row(id, &card.facts, card.title.as_deref(), &now)?);
            } else if card.changed {
                update_card(c, id, &card.facts, card.title.as_deref()).await?;
            }
        }
        cards.write(c).await?;
        self.write_specimens(c, &now).await?;
        let mut names = Rows::new(sql::INSERT_NAMES, "ON CONFLICT (fingerprint) DO NOTHING");
        for (card, n) in self.new_names {
            names.push([n.fingerprint.into(), card.into(), n.label.into(), n.registers.into()]);
        }
        names.write(c).await?;
        mark_stale(c, &self.met).await
    }

    async fn write_specimens(&self, c: &mut Connection, now: &str) -> Outcome<()> {
        let mut rows = Rows::new(sql::INSERT_SPECIMENS, "ON CONFLICT (id) DO NOTHING");
        for (id, specimen) in &self.specimens {
            let facts = json(&specimen.facts)?;
            match &specimen.new {
                Some(piece) => rows.push([
                    id.into(),
                    (&specimen.card).into(),
                    (&piece.serial).into(),
                    (&piece.maker).into(),
                    (&piece.model).into(),
                    piece.capacity_bytes.into(),
                    facts.into(),
                    now.into(),
                ]),
                None if specimen.changed => {
                    c.execute(statement(sql::UPDATE_SPECIMEN).bind(id).bind(facts)).await?;
                }
                None => {}
            }
        }
        rows.write(c).await
    }
}

/// Stores a card's facts anew; a card that nothing names keeps its title.
pub(crate) async fn update_card(
    c: &mut Connection,
    id: &str,
    facts: &CardFacts,
    unnamed: Option<&str>,
) -> Outcome<()> {
    let [id, title, named, brand, name, model, maker, capacity, facts, _] =
        sql::card_row(id, facts, unnamed, "")?;
    let values = [id, title, named, brand, name, model, maker, capacity, facts];
    found(c.execute(statement(sql::UPDATE_CARD).bind_all(values)).await?)
}

/// Marks cards whose summaries are older than their runs. A card that is marked already is marked again, so that who
/// makes summaries waits for the end of this write.
pub(crate) async fn mark_stale(c: &mut Connection, cards: &BTreeSet<String>) -> Outcome<()> {
    let mut rows = Rows::new(sql::INSERT_STALE, sql::STALE_AGAIN);
    cards.iter().for_each(|card| rows.push([card.into()]));
    rows.write(c).await
}
