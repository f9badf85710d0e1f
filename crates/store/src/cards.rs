//! The cards of the archive: listed, found, edited, put together.

use crate::attachments::{self, AttachmentOwner, NewAttachment};
use crate::connection::{Connection, SqlResult, SqlRow, composed, found, statement};
use crate::events::{self, StoredEvents, exists, prices};
use crate::naming::CardNames;
use crate::resolver::{mark_stale, update_card, write_names};
use crate::{Archive, ArchiveError, SessionId, read, stamp};
use cardscope_model::archived::StoredCard;
use cardscope_model::card::{CardEvent, CardFacts};
use cardscope_model::condition::Condition;
use cardscope_model::log::CardLog;
use cardscope_model::session_file::CardUnit;
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;

/// Digits of a card's name by which it can be found; fewer would hit words.
const ID_DIGITS: usize = 6;

const CARDS: &str =
    "SELECT id, title, facts, specimens, sessions, runs, first_measured, last_measured FROM card";

/// What a session says of its card beside its runs.
#[derive(Debug, Clone)]
pub struct CardStatement {
    /// The kind of the session: `bench`, `import`, a verb.
    pub kind: String,
    /// What was true of card and rig.
    pub condition: Condition,
    /// What the card said of itself; null for a log.
    pub identity: Value,
    /// The document of a log, a map or a check.
    pub document: Option<Value>,
    /// Lowest temperature at the start of a loop of a test, in °C, and the highest in all of them or in a long run.
    pub temperatures: (Option<f64>, Option<f64>),
}

const CARD_WORDS: &str = "SELECT s.kind, s.condition, s.identity, \
    COALESCE(s.log, CASE WHEN s.kind IN ('map', 'check', 'sustain') THEN s.document END), \
    (SELECT MIN(start_c) FROM sample WHERE session_id = s.id), \
    (SELECT MAX(max_c) FROM sample WHERE session_id = s.id) FROM session s WHERE s.card_id = $1 ORDER BY s.id";

/// What counts of the document of a long run, which has each second of a day.
#[derive(Default, Deserialize)]
struct LongRun {
    #[serde(default)]
    max_celsius: Value,
}

/// The newest document of some verbs on a card.
#[derive(Debug, Clone)]
pub struct NewestDocument {
    /// The card.
    pub card_id: String,
    /// The session.
    pub session: String,
    /// The verb.
    pub kind: String,
    /// The document.
    pub document: Value,
}

/// What a verb or a log came to, without its runs.
#[derive(Debug, Clone)]
pub struct CardConclusion {
    /// The kind of the session: `import`, a verb.
    pub kind: String,
    /// The document of a verb.
    pub document: Option<Value>,
    /// What a log says.
    pub log: Option<CardLog>,
}

impl Archive {
    /// What these sessions came to, asked for together: a server may be far. Those that are gone or cannot be read are not
    /// among them.
    pub fn conclusions(
        &mut self,
        sessions: &[SessionId],
    ) -> Result<HashMap<SessionId, CardConclusion>, ArchiveError> {
        let ids: Vec<String> = sessions.iter().map(ToString::to_string).collect();
        let asked = "SELECT id, kind, document, log FROM session WHERE id";
        let all = self.read(async |c| c.all_of(asked, &ids, |row| Ok(conclusion(row).ok())).await)?;
        Ok(all.into_iter().flatten().collect())
    }

    /// The newest verdict on each card that has one: the document of its last `check` or `verify`.
    pub fn newest_verdicts(&mut self) -> Result<Vec<NewestDocument>, ArchiveError> {
        // Ids of sessions begin with the time.
        let asked = "SELECT s.card_id, s.id, s.kind, s.document FROM session s JOIN \
            (SELECT MAX(id) AS id FROM session WHERE kind IN ('check', 'verify') AND card_id IS NOT NULL \
             AND document IS NOT NULL GROUP BY card_id) newest ON newest.id = s.id";
        self.read(async |c| c.all(statement(asked), newest).await)
    }

    /// What the sessions of a card say of it beside their runs, oldest first.
    pub fn card_words(&mut self, card: &str) -> Result<Vec<CardStatement>, ArchiveError> {
        self.read(async |c| c.all(statement(CARD_WORDS).bind(card), card_word).await)
    }

    /// What a card said of itself in its sessions, the newest first.
    pub fn identities(&mut self, card: &str) -> Result<Vec<Value>, ArchiveError> {
        let asked = "SELECT identity FROM session WHERE card_id = $1 ORDER BY id DESC";
        self.read(async |c| c.all(statement(asked).bind(card), |row| row.json(0)).await)
    }

    /// On which targets each card was measured, each once; `None` stands for its logs.
    pub fn card_targets(&mut self) -> Result<Vec<(String, Option<String>)>, ArchiveError> {
        let asked = "SELECT DISTINCT card_id, CASE WHEN kind = 'import' THEN NULL ELSE target END FROM session \
            WHERE card_id IS NOT NULL";
        self.read(async |c| c.all(statement(asked), |row| Ok((row.get(0)?, row.get(1)?))).await)
    }

    /// All cards, by title.
    pub fn cards(&mut self) -> Result<Vec<StoredCard>, ArchiveError> {
        self.settle()?;
        let mut cards = self.read(all)?;
        cards.sort_by_cached_key(|card| (card.title.to_lowercase(), card.id.clone()));
        Ok(cards)
    }

    /// The newest sessions of some kinds, at most so many of a card, by card.
    pub fn newest_of_kinds(
        &mut self,
        kinds: &[&str],
        at_most: usize,
    ) -> Result<HashMap<String, Vec<SessionId>>, ArchiveError> {
        let mut found: HashMap<String, Vec<SessionId>> = HashMap::new();
        let work = async |c: &mut Connection| {
            let places = c.all_places(kinds.len());
            let asked = composed(format!(
                "SELECT card_id, id FROM session WHERE card_id IS NOT NULL AND kind IN ({places}) \
                 ORDER BY started_at DESC, id DESC"
            ));
            let read = |row: &SqlRow| {
                let of_card = found.entry(row.get(0)?).or_default();
                if of_card.len() < at_most {
                    of_card.push(row.parsed(1)?);
                }
                Ok(())
            };
            c.all(asked.bind_all(kinds.iter().copied()), read).await.map(drop)
        };
        self.read(work)?;
        Ok(found)
    }

    /// The cards whose name begins with these digits (6 at least), else those that have all words of a text in their
    /// title, brand, model or marks.
    pub fn find_cards(&mut self, text: &str) -> Result<Vec<StoredCard>, ArchiveError> {
        let text = text.trim().to_lowercase();
        let mut cards = self.cards()?;
        let is_id = text.len() >= ID_DIGITS && text.bytes().all(|b| b.is_ascii_hexdigit());
        if is_id && cards.iter().any(|card| card.id.starts_with(&text)) {
            cards.retain(|card| card.id.starts_with(&text));
        } else {
            let words: Vec<&str> = text.split_whitespace().collect();
            cards.retain(|card| !words.is_empty() && has_words(card, &words));
        }
        Ok(cards)
    }

    /// The cards whose ids begin with a text, however short.
    pub fn cards_by_id(&mut self, beginning: &str) -> Result<Vec<StoredCard>, ArchiveError> {
        let beginning = beginning.trim().to_lowercase();
        let mut cards = self.cards()?;
        cards.retain(|card| !beginning.is_empty() && card.id.starts_with(&beginning));
        Ok(cards)
    }

    /// The units of a card, as they were first seen.
    pub fn units(&mut self, card: &str) -> Result<Vec<CardUnit>, ArchiveError> {
        self.read(async |c| c.all(statement(read::UNITS_OF_CARD).bind(card), read::unit).await)
    }

    /// Changes what is known of a card, notes what happened to it and attaches files: all of it or nothing. `change`
    /// gets the facts as they are at that moment, so that who changes another one at the same time loses nothing. What
    /// is met under the new facts from now on is this card.
    pub fn edit_card(
        &mut self,
        id: &str,
        change: impl FnOnce(&mut CardFacts),
        happened: &[CardEvent],
        files: &[NewAttachment<'_>],
    ) -> Result<(), ArchiveError> {
        let edit = async |c: &mut Connection| {
            let mut facts = facts(c, id).await?;
            change(&mut facts);
            edit(c, id, &facts.without_serial()).await?;
            let mut events = StoredEvents::default();
            happened.iter().try_for_each(|event| events.add(id, None, event))?;
            events.write(c).await?;
            for file in files {
                attachments::store(c, AttachmentOwner::Card(id), file, &stamp::now()).await?;
            }
            Ok(())
        };
        self.write(edit).map_err(|e| e.about_card(id))
    }

    /// Makes one card of two that are the same: everything of `from` goes to `into`, and so does whatever is met
    /// under the names of `from` from now on.
    pub fn merge_cards(&mut self, from: &str, into: &str) -> Result<(), ArchiveError> {
        for id in [from, into] {
            self.read(async |c| exists(c, "card", id).await).map_err(|e| e.about_card(id))?;
        }
        if from == into {
            return Ok(());
        }
        self.write(async |c| merge(c, from, into).await).map_err(|e| e.about_card(from))
    }
}

/// All cards with what was last paid for them, in no order.
pub(crate) async fn all(c: &mut Connection) -> SqlResult<Vec<StoredCard>> {
    let prices = prices(c).await?;
    let mut cards = c.all(statement(CARDS), card).await?;
    for card in &mut cards {
        let paid = prices.get(&card.id);
        (card.price, card.priced) = (paid.map(|p| p.0.clone()), paid.and_then(|p| p.1.clone()));
    }
    Ok(cards)
}

fn conclusion(row: &SqlRow) -> SqlResult<(SessionId, CardConclusion)> {
    let (kind, document, log) = (row.get(1)?, row.optional_json(2)?, row.optional_json(3)?);
    Ok((row.parsed(0)?, CardConclusion { kind, document, log }))
}

fn newest(row: &SqlRow) -> SqlResult<NewestDocument> {
    // A document that cannot be read says nothing, and keeps no other from being listed.
    let document = row.json(3).unwrap_or_default();
    Ok(NewestDocument { card_id: row.get(0)?, session: row.get(1)?, kind: row.get(2)?, document })
}

/// Nothing of one that cannot be read: it must not hide what the others say.
fn long_run(document: Option<String>) -> LongRun {
    document.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

fn card_word(row: &SqlRow) -> SqlResult<CardStatement> {
    let kind: String = row.get(0)?;
    let (idle_c, peak_c): (Option<f64>, Option<f64>) = (row.get(4)?, row.get(5)?);
    let (document, peak_c) = match kind.as_str() {
        "sustain" => (None, long_run(row.get(3)?).max_celsius.as_f64().or(peak_c)),
        _ => (row.optional_json(3)?, peak_c),
    };
    let temperatures = (idle_c, peak_c);
    Ok(CardStatement { kind, condition: row.json(1)?, identity: row.json(2)?, document, temperatures })
}

fn card(row: &SqlRow) -> SqlResult<StoredCard> {
    Ok(StoredCard {
        id: row.get(0)?,
        title: row.get(1)?,
        facts: row.json(2)?,
        units: row.whole(3)?,
        sessions: row.whole(4)?,
        runs: row.whole(5)?,
        measured: Option::zip(row.get(6)?, row.get(7)?).map(|(first, last)| [first, last]),
        price: None,
        priced: None,
    })
}

fn has_words(card: &StoredCard, words: &[&str]) -> bool {
    let facts = &card.facts;
    let parts = [Some(&card.title), facts.brand.as_ref(), facts.model.as_ref()];
    let parts: Vec<String> =
        parts.into_iter().flatten().chain(&facts.marks).map(|part| part.to_lowercase()).collect();
    words.iter().all(|word| parts.iter().any(|part| part.contains(word)))
}

async fn facts(c: &mut Connection, id: &str) -> SqlResult<CardFacts> {
    c.one(statement("SELECT facts FROM card WHERE id = $1").bind(id), |row| row.json(0)).await
}

/// Stores facts anew; a card that nothing names keeps the title it has.
async fn edit(c: &mut Connection, id: &str, facts: &CardFacts) -> SqlResult<()> {
    let called = statement("SELECT title FROM card WHERE id = $1").bind(id);
    let title: String = c.one(called, |row| row.get(0)).await?;
    update_card(c, id, facts, Some(&title)).await?;
    write_names(c, CardNames::of(facts).map(|names| (id.to_owned(), names))).await
}

async fn merge(c: &mut Connection, from: &str, into: &str) -> SqlResult<()> {
    let mut known = facts(c, into).await?;
    known.complete_from(&facts(c, from).await?);
    edit(c, into, &known).await?;
    for table in ["session", "specimen", "attached", "known_as"] {
        let moved = composed(format!("UPDATE {table} SET card_id = $2 WHERE card_id = $1"));
        c.execute(moved.bind(from).bind(into)).await?;
    }
    events::move_all(c, from, into).await?;
    forget(c, from).await?;
    mark_stale(c, &[into.to_owned()].into()).await
}

/// Removes a card to which nothing refers any more but what was made of it.
pub(crate) async fn forget(c: &mut Connection, id: &str) -> SqlResult<()> {
    for table in ["summary", "stale", "known_as"] {
        c.execute(composed(format!("DELETE FROM {table} WHERE card_id = $1")).bind(id)).await?;
    }
    found(c.execute(statement("DELETE FROM card WHERE id = $1").bind(id)).await?)
}
