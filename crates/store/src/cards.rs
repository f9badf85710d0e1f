//! Cards of the archive: list, find, edit and merge.

use crate::connection::{Connection, SqlResult, SqlRow, dynamic_statement, require_one_row, statement};
use crate::error::Result;
use crate::events::{self, add_event_row, event_rows, last_prices, require_row};
use crate::naming::CardNames;
use crate::resolver::{mark_stale, update_card, write_names};
use crate::stored_files::{self, AttachmentOwner, NewAttachment};
use crate::{Archive, SessionId, measurement_writing, timestamps};
use cardscope_model::archive_rows::StoredCard;
use cardscope_model::card::{CardEvent, CardFacts};
use cardscope_model::condition::Condition;
use cardscope_model::log::CardLog;
use cardscope_model::session_file::CardUnit;
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;

/// Minimum length of an id prefix that finds a card; shorter ones would match words.
const MIN_ID_DIGITS: usize = 6;

const SELECT_CARDS: &str =
    "SELECT id, title, facts, specimens, sessions, runs, first_measured, last_measured FROM card";

macro_rules! units {
    ($rest:literal) => {
        concat!("SELECT id, maker, model, capacity_bytes, serial, facts FROM specimen WHERE ", $rest)
    };
}

pub(crate) const UNIT: &str = units!("id = $1");
const UNITS_OF_CARD: &str = units!("card_id = $1 ORDER BY first_seen, id");

/// Statements of one session about its card, apart from its runs.
#[derive(Debug, Clone)]
pub struct CardStatement {
    /// `bench`, `import`, or the verb of a record.
    pub kind: String,
    pub condition: Condition,
    /// Registers and identity of the card; null for an imported log.
    pub identity: Value,
    /// Imported log, or document of a map or check.
    pub document: Option<Value>,
    /// Lowest start temperature of all loops and highest temperature of the session, in °C.
    pub temperatures: (Option<f64>, Option<f64>),
}

const SELECT_STATEMENTS: &str = "SELECT s.kind, s.condition, s.identity, \
    COALESCE(s.log, CASE WHEN s.kind IN ('map', 'check', 'sustain') THEN s.document END), \
    (SELECT MIN(start_c) FROM sample WHERE session_id = s.id), \
    (SELECT MAX(max_c) FROM sample WHERE session_id = s.id) FROM session s WHERE s.card_id = $1 ORDER BY s.id";

/// The one used field of a long run's document, which holds every second of a day.
#[derive(Default, Deserialize)]
struct LongRun {
    #[serde(default)]
    max_celsius: Value,
}

/// Newest document of certain verbs on one card.
#[derive(Debug, Clone)]
pub struct NewestDocument {
    pub card_id: String,
    pub session: String,
    pub kind: String,
    pub document: Value,
}

/// Document or log of one session, without its runs.
#[derive(Debug, Clone)]
pub struct CardConclusion {
    /// `import`, or the verb of a record.
    pub kind: String,
    pub document: Option<Value>,
    pub log: Option<CardLog>,
}

impl Archive {
    /// Returns the documents of these sessions in one query, since a server may be far. Sessions that are missing or
    /// unreadable are left out.
    pub fn conclusions(&mut self, sessions: &[SessionId]) -> Result<HashMap<SessionId, CardConclusion>> {
        let ids: Vec<String> = sessions.iter().map(ToString::to_string).collect();
        let head = "SELECT id, kind, document, log FROM session WHERE id";
        let read = |row: &SqlRow| Ok(conclusion_from_row(row).ok());
        let all = self.run_read(async |c| c.fetch_for_keys(head, &ids, read).await)?;
        Ok(all.into_iter().flatten().collect())
    }

    /// Returns the document of the last `check` or `verify` of each card that has one.
    pub fn newest_verdicts(&mut self) -> Result<Vec<NewestDocument>> {
        // Ids of sessions begin with the time, so the greatest is the newest.
        let asked = "SELECT s.card_id, s.id, s.kind, s.document FROM session s JOIN \
            (SELECT MAX(id) AS id FROM session WHERE kind IN ('check', 'verify') AND card_id IS NOT NULL \
             AND document IS NOT NULL GROUP BY card_id) newest ON newest.id = s.id";
        self.read_rows(statement(asked), newest_from_row)
    }

    /// Returns the statements of all sessions of a card, oldest first.
    pub fn card_statements(&mut self, card: &str) -> Result<Vec<CardStatement>> {
        self.read_rows(statement(SELECT_STATEMENTS).bind(card), statement_from_row)
    }

    /// Returns the identity of a card in each of its sessions, newest first.
    pub fn identities(&mut self, card: &str) -> Result<Vec<Value>> {
        let asked = "SELECT identity FROM session WHERE card_id = $1 ORDER BY id DESC";
        self.read_rows(statement(asked).bind(card), |row| row.get_json(0))
    }

    /// Returns each card with each target that it was measured on; `None` stands for imported logs.
    pub fn card_targets(&mut self) -> Result<Vec<(String, Option<String>)>> {
        let asked = "SELECT DISTINCT card_id, CASE WHEN kind = 'import' THEN NULL ELSE target END FROM session \
            WHERE card_id IS NOT NULL";
        self.read_rows(statement(asked), |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Returns all cards, sorted by title.
    pub fn cards(&mut self) -> Result<Vec<StoredCard>> {
        self.recompute_stale()?;
        let mut cards = self.run_read(load_cards)?;
        cards.sort_by_cached_key(|card| (card.title.to_lowercase(), card.id.clone()));
        Ok(cards)
    }

    /// Returns the newest sessions of these kinds, at most `at_most` a card, by card.
    pub fn newest_sessions_of_kinds(
        &mut self,
        kinds: &[&str],
        at_most: usize,
    ) -> Result<HashMap<String, Vec<SessionId>>> {
        let mut by_card: HashMap<String, Vec<SessionId>> = HashMap::new();
        let read = |row: &SqlRow| {
            let of_card = by_card.entry(row.get(0)?).or_default();
            if of_card.len() < at_most {
                of_card.push(row.get_parsed(1)?);
            }
            Ok(())
        };
        let places: Vec<String> = (1..=kinds.len()).map(|place| format!("${place}")).collect();
        let sessions = dynamic_statement(format!(
            "SELECT card_id, id FROM session WHERE card_id IS NOT NULL AND kind IN ({}) \
             ORDER BY started_at DESC, id DESC",
            places.join(", ")
        ));
        self.read_rows(sessions.bind_all(kinds.iter().copied()), read)?;
        Ok(by_card)
    }

    /// Returns cards whose id begins with `text` (at least 6 hex digits), else cards whose title, brand, model and marks
    /// contain all words of `text`.
    pub fn find_cards(&mut self, text: &str) -> Result<Vec<StoredCard>> {
        let text = text.trim().to_lowercase();
        let mut cards = self.cards()?;
        let is_id = text.len() >= MIN_ID_DIGITS && text.bytes().all(|b| b.is_ascii_hexdigit());
        if is_id && cards.iter().any(|card| card.id.starts_with(&text)) {
            cards.retain(|card| card.id.starts_with(&text));
        } else {
            let words: Vec<&str> = text.split_whitespace().collect();
            cards.retain(|card| !words.is_empty() && matches_words(card, &words));
        }
        Ok(cards)
    }

    /// Returns cards whose id begins with a text of any length.
    pub fn cards_by_id(&mut self, beginning: &str) -> Result<Vec<StoredCard>> {
        let beginning = beginning.trim().to_lowercase();
        let mut cards = self.cards()?;
        cards.retain(|card| !beginning.is_empty() && card.id.starts_with(&beginning));
        Ok(cards)
    }

    /// Returns the units of a card, in the order of their first session.
    pub fn units(&mut self, card: &str) -> Result<Vec<CardUnit>> {
        self.read_rows(statement(UNITS_OF_CARD).bind(card), unit_from_row)
    }

    /// Changes the facts of a card, adds events and attaches files in one transaction. `change` gets the current facts,
    /// so concurrent edits are not lost. Later sessions that match the new facts belong to this card.
    pub fn edit_card(
        &mut self,
        id: &str,
        change: impl FnOnce(&mut CardFacts),
        happened: &[CardEvent],
        files: &[NewAttachment<'_>],
    ) -> Result<()> {
        let edit = async |c: &mut Connection| {
            let mut facts = load_facts(c, id).await?;
            change(&mut facts);
            store_facts(c, id, &facts.without_serial()).await?;
            let mut rows = event_rows();
            happened.iter().try_for_each(|event| add_event_row(&mut rows, id, None, event))?;
            rows.write(c).await?;
            for file in files {
                stored_files::store_attachment(c, AttachmentOwner::Card(id), file, &timestamps::now())
                    .await?;
            }
            Ok(())
        };
        self.run_write(edit).map_err(|e| e.for_card(id))
    }

    /// Moves everything of `from` to `into`. Later sessions that match the names of `from` belong to `into`.
    pub fn merge_cards(&mut self, from: &str, into: &str) -> Result<()> {
        for id in [from, into] {
            self.run_read(async |c| require_row(c, "card", id).await).map_err(|e| e.for_card(id))?;
        }
        if from == into {
            return Ok(());
        }
        self.run_write(async |c| merge_rows(c, from, into).await).map_err(|e| e.for_card(from))
    }

    /// Removes a session or record for good. The imported file goes with its last session, so that it can be imported
    /// again. The card stays unless it has no name and nothing else refers to it.
    pub fn remove_session(&mut self, session: SessionId) -> Result<()> {
        self.run_write(async |c| remove_session(c, &session.to_string()).await)
            .map_err(|e| e.for_session(session))
    }
}

/// Returns all cards, unsorted, with their last price.
pub(crate) async fn load_cards(c: &mut Connection) -> SqlResult<Vec<StoredCard>> {
    let prices = last_prices(c).await?;
    let mut cards = c.fetch_all(statement(SELECT_CARDS), card_from_row).await?;
    for card in &mut cards {
        let paid = prices.get(&card.id);
        (card.price, card.priced) = (paid.map(|p| p.0.clone()), paid.and_then(|p| p.1.clone()));
    }
    Ok(cards)
}

fn conclusion_from_row(row: &SqlRow) -> SqlResult<(SessionId, CardConclusion)> {
    let (kind, document, log) = (row.get(1)?, row.get_optional_json(2)?, row.get_optional_json(3)?);
    Ok((row.get_parsed(0)?, CardConclusion { kind, document, log }))
}

fn newest_from_row(row: &SqlRow) -> SqlResult<NewestDocument> {
    // One unreadable document must not keep the others from being listed.
    let document = row.get_json(3).unwrap_or_default();
    Ok(NewestDocument { card_id: row.get(0)?, session: row.get(1)?, kind: row.get(2)?, document })
}

/// Empty for an unreadable document, which must not hide the other sessions.
fn parse_long_run(document: Option<String>) -> LongRun {
    document.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

fn statement_from_row(row: &SqlRow) -> SqlResult<CardStatement> {
    let kind: String = row.get(0)?;
    let (idle_c, peak_c): (Option<f64>, Option<f64>) = (row.get(4)?, row.get(5)?);
    let (document, peak_c) = match kind.as_str() {
        "sustain" => (None, parse_long_run(row.get(3)?).max_celsius.as_f64().or(peak_c)),
        _ => (row.get_optional_json(3)?, peak_c),
    };
    let temperatures = (idle_c, peak_c);
    Ok(CardStatement {
        kind,
        condition: row.get_json(1)?,
        identity: row.get_json(2)?,
        document,
        temperatures,
    })
}

fn card_from_row(row: &SqlRow) -> SqlResult<StoredCard> {
    Ok(StoredCard {
        id: row.get(0)?,
        title: row.get(1)?,
        facts: row.get_json(2)?,
        units: row.get_integer(3)?,
        sessions: row.get_integer(4)?,
        runs: row.get_integer(5)?,
        measured: Option::zip(row.get(6)?, row.get(7)?).map(|(first, last)| [first, last]),
        price: None,
        priced: None,
    })
}

pub(crate) fn unit_from_row(row: &SqlRow) -> SqlResult<CardUnit> {
    Ok(CardUnit {
        id: row.get(0)?,
        maker: row.get(1)?,
        model: row.get::<Option<String>>(2)?.unwrap_or_default(),
        capacity_bytes: row.get_optional_integer(3)?,
        serial: row.get(4)?,
        facts: row.get_json(5)?,
    })
}

fn matches_words(card: &StoredCard, words: &[&str]) -> bool {
    let facts = &card.facts;
    let parts = [Some(&card.title), facts.brand.as_ref(), facts.model.as_ref()];
    let parts = parts.into_iter().flatten().chain(&facts.marks);
    let parts: Vec<String> = parts.map(|part| part.to_lowercase()).collect();
    words.iter().all(|word| parts.iter().any(|part| part.contains(word)))
}

async fn load_facts(c: &mut Connection, id: &str) -> SqlResult<CardFacts> {
    c.fetch_one(statement("SELECT facts FROM card WHERE id = $1").bind(id), |row| row.get_json(0)).await
}

/// Stores facts; a card without any name keeps its title.
async fn store_facts(c: &mut Connection, id: &str, facts: &CardFacts) -> SqlResult<()> {
    let called = statement("SELECT title FROM card WHERE id = $1").bind(id);
    let title: String = c.fetch_one(called, |row| row.get(0)).await?;
    update_card(c, id, facts, Some(&title)).await?;
    write_names(c, CardNames::from_facts(facts).map(|names| (id.to_owned(), names))).await
}

async fn merge_rows(c: &mut Connection, from: &str, into: &str) -> SqlResult<()> {
    let mut known = load_facts(c, into).await?;
    // Facts of the remaining card win.
    known.fill_missing_from(&load_facts(c, from).await?);
    store_facts(c, into, &known).await?;
    for table in ["session", "specimen", "attached", "known_as"] {
        let moved = dynamic_statement(format!("UPDATE {table} SET card_id = $2 WHERE card_id = $1"));
        c.execute(moved.bind(from).bind(into)).await?;
    }
    events::move_events(c, from, into).await?;
    delete_card(c, from).await?;
    mark_stale(c, &[into.to_owned()].into()).await
}

/// An unnamed card without sessions, units, events and attachments.
const SELECT_EMPTY_CARD: &str = "SELECT id FROM card WHERE id = $1 AND NOT named \
    AND NOT EXISTS (SELECT 1 FROM session WHERE card_id = $1) \
    AND NOT EXISTS (SELECT 1 FROM specimen WHERE card_id = $1) \
    AND NOT EXISTS (SELECT 1 FROM event WHERE card_id = $1) \
    AND NOT EXISTS (SELECT 1 FROM attached WHERE card_id = $1)";

/// Removes a session with what only it refers to.
async fn remove_session(c: &mut Connection, id: &str) -> SqlResult<()> {
    let keys = statement("SELECT card_id, source_hash FROM session WHERE id = $1").bind(id);
    let read = |row: &SqlRow| Ok((row.get(0)?, row.get(1)?));
    let (card, source): (Option<String>, Option<String>) = c.fetch_one(keys, read).await?;
    measurement_writing::delete_measurements(c, id).await?;
    c.execute(statement("DELETE FROM attached WHERE session_id = $1").bind(id)).await?;
    c.execute(statement("DELETE FROM session WHERE id = $1").bind(id)).await?;
    // Equal files share one row, which is removed with its last owner.
    let unused = "DELETE FROM attachment AS a WHERE NOT EXISTS (SELECT 1 FROM attached WHERE hash = a.hash)";
    c.execute(statement(unused)).await?;
    if let Some(source) = source {
        let last = "DELETE FROM source WHERE hash = $1 AND NOT EXISTS (SELECT 1 FROM session WHERE source_hash = $1)";
        c.execute(statement(last).bind(source)).await?;
    }
    let Some(card) = card else { return Ok(()) };
    match c.fetch_optional(statement(SELECT_EMPTY_CARD).bind(&card), |_| Ok(())).await? {
        Some(()) => delete_card(c, &card).await,
        None => mark_stale(c, &[card].into()).await,
    }
}

/// Removes a card that only derived rows refer to.
async fn delete_card(c: &mut Connection, id: &str) -> SqlResult<()> {
    for table in ["summary", "stale", "known_as"] {
        c.execute(dynamic_statement(format!("DELETE FROM {table} WHERE card_id = $1")).bind(id)).await?;
    }
    require_one_row(c.execute(statement("DELETE FROM card WHERE id = $1").bind(id)).await?)
}
