//! Events of cards: bought, in use, failed.

use crate::Archive;
use crate::connection::{Connection, RowBatch, SqlResult, SqlRow, dynamic_statement, json_text, statement};
use crate::error::Result;
use cardscope_model::card::{CardEvent, CardPrice};
use std::collections::HashMap;
use uuid::Uuid;

const INSERT: &str = "INSERT INTO event (id, hash, card_id, specimen_id, date, kind, event)";

/// Undated events first; events of one day in the order of entry.
const OF_CARD: &str =
    "SELECT specimen_id, event FROM event WHERE card_id = $1 ORDER BY COALESCE(date, ''), id";

/// Unit, if known, and its event.
type UnitEvent = (Option<String>, CardEvent);

/// Last price and its date.
type DatedPrice = (CardPrice, Option<String>);

const BOUGHT: &str = "SELECT card_id, event FROM event WHERE kind = 'bought' ORDER BY COALESCE(date, ''), id";

/// Adds an event of a card, and of its unit if known.
pub(crate) fn add_event_row(
    rows: &mut RowBatch,
    card: &str,
    unit: Option<&str>,
    event: &CardEvent,
) -> SqlResult<()> {
    // JSON cannot hold a price that is not finite.
    let price = event.price.clone().filter(|price| price.amount.is_finite());
    let event = CardEvent { price, ..event.clone() };
    let (text, kind) = (json_text(&event)?, json_text(&event.kind)?);
    rows.push([
        Uuid::now_v7().to_string().into(),
        event_hash(card, unit, &text).into(),
        card.into(),
        unit.into(),
        (&event.date).into(),
        kind.trim_matches('"').into(),
        text.into(),
    ]);
    Ok(())
}

/// Returns a batch of events; equal ones are stored once.
pub(crate) fn event_rows() -> RowBatch {
    RowBatch::new(INSERT, "ON CONFLICT (hash) DO NOTHING")
}

/// Hash by which equal events are stored once.
fn event_hash(card: &str, unit: Option<&str>, text: &str) -> String {
    crate::hash::short_hash(&[card, unit.unwrap_or_default(), text])
}

/// Moves all events to another card, and drops those that it already has.
pub(crate) async fn move_events(c: &mut Connection, from: &str, into: &str) -> SqlResult<()> {
    let asked = statement("SELECT id, specimen_id, event FROM event WHERE card_id = $1").bind(from);
    let read = |row: &SqlRow| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let events: Vec<(String, Option<String>, String)> = c.fetch_all(asked, read).await?;
    for (id, unit, text) in events {
        let hash = event_hash(into, unit.as_deref(), &text);
        let is_there = statement("SELECT 1 FROM event WHERE hash = $1").bind(&hash);
        let write = match c.fetch_optional(is_there, |_| Ok(())).await? {
            Some(()) => statement("DELETE FROM event WHERE id = $1").bind(id),
            None => statement("UPDATE event SET card_id = $2, hash = $3 WHERE id = $1")
                .bind(id)
                .bind(into)
                .bind(hash),
        };
        c.execute(write).await?;
    }
    Ok(())
}

impl Archive {
    /// Adds an event of a card, and of its unit if known. Equal events are stored once.
    pub fn add_event(&mut self, card: &str, unit: Option<&str>, event: &CardEvent) -> Result<()> {
        let work = async |c: &mut Connection| {
            require_row(c, "card", card).await?;
            if let Some(unit) = unit {
                require_row(c, "specimen", unit).await?;
            }
            let mut rows = event_rows();
            add_event_row(&mut rows, card, unit, event)?;
            rows.write(c).await
        };
        self.run_write(work).map_err(|e| e.for_card(card))
    }

    /// Returns the events of a card, oldest first, each with its unit if known.
    pub fn events(&mut self, card: &str) -> Result<Vec<UnitEvent>> {
        self.run_read(async |c| load_events(c, card).await)
    }
}

pub(crate) async fn load_events(c: &mut Connection, card: &str) -> SqlResult<Vec<UnitEvent>> {
    c.fetch_all(statement(OF_CARD).bind(card), |row| Ok((row.get(0)?, row.get_json(1)?))).await
}

/// Returns the last price of each card, with its date.
pub(crate) async fn last_prices(c: &mut Connection) -> SqlResult<HashMap<String, DatedPrice>> {
    let read = |row: &SqlRow| Ok((row.get::<String>(0)?, row.get_json::<CardEvent>(1)?));
    let bought = c.fetch_all(statement(BOUGHT), read).await?;
    Ok(bought.into_iter().filter_map(|(card, event)| Some((card, (event.price?, event.date)))).collect())
}

/// Fails unless the table has a row with that id.
pub(crate) async fn require_row(c: &mut Connection, table: &'static str, id: &str) -> SqlResult<()> {
    c.fetch_one(dynamic_statement(format!("SELECT 1 FROM {table} WHERE id = $1")).bind(id), |_| Ok(())).await
}
