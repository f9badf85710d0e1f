//! Cards of the archive: listing, details, corrections, events, attachments and merging.

use super::lookup;
use super::session_line::{AnswerCache, SessionLine, session_lines};
use cardscope_model::archive_rows::StoredCard;
use cardscope_model::card::{Attachment, CardEvent, CardFacts, CardPrice, EventKind, is_date};
use cardscope_model::identity::Identity;
use cardscope_session::archive_access::{open_to_read, require_archive};
use cardscope_session::attachment;
use cardscope_session::error::{Failure, Result};
use cardscope_store::{Archive, NewAttachment, SessionId, SessionSummary};
use clap::Args;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A card with everything the archive stores about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CardPage {
    #[serde(flatten)]
    pub card: StoredCard,
    /// Units of this model, each by the hash of its identity.
    pub pieces: Vec<String>,
    pub events: Vec<CardEvent>,
    pub attachments: Vec<Attachment>,
    /// Ids of its sessions; records, which hold a verb's document and no runs, come last.
    pub sessions_and_records: Vec<String>,
    /// Sessions of the card, oldest first, each with its result.
    #[serde(default)]
    pub session_lines: Vec<SessionLine>,
}

/// Changes of a card. `None` and empty fields stay as they are.
#[derive(Debug, Clone, Default, Args)]
pub struct CardEdit {
    /// Card: words of its name, or the beginning of its id
    pub card: String,
    /// Set a fact: brand, name, model, maker, capacity, form, firmware, made, generation, note; an empty
    /// value removes it
    #[arg(long = "set", value_name = "FACT=VALUE")]
    pub facts: Vec<String>,
    /// Replace the marks: --marks C10,U3,V30,A2
    #[arg(long, value_name = "MARKS", value_delimiter = ',')]
    pub marks: Option<Vec<String>>,
    /// Add an event: bought, in-use, failed, warranty, gone, note
    #[arg(long, value_name = "EVENT", value_parser = parse_event_kind)]
    pub event: Option<EventKind>,
    /// Date of the event: YYYY, YYYY-MM or YYYY-MM-DD
    #[arg(long, requires = "event", value_parser = parse_date)]
    pub date: Option<String>,
    /// Price paid, e.g. 12.99EUR
    #[arg(long, requires = "event", value_parser = parse_price)]
    pub price: Option<CardPrice>,
    /// Details: box contents, seller, way of failure
    #[arg(long, requires = "event")]
    pub about: Option<String>,
    /// Source of the event: an address, or the name of an attached picture
    #[arg(long, requires = "event")]
    pub source: Option<String>,
    /// Attach a photograph, a screenshot or a receipt (repeatable)
    #[arg(long, value_name = "FILE")]
    pub attach: Vec<PathBuf>,
}

/// Attaches a picture, a text or a PDF to a card under the file name `name`; refuses other media types.
pub fn attach_file(path: Option<&Path>, card: &str, name: &str, bytes: &[u8]) -> Result<()> {
    let media_type = attachment::media_type(bytes);
    if media_type == "application/octet-stream" {
        let why = format!("{name:?} is not a picture, a text or a PDF; nothing was attached");
        return Err(Failure::refused(why));
    }
    let file = NewAttachment { name, media_type, note: None, bytes };
    Ok(require_archive(path)?.edit_card(card, |_| {}, &[], &[file])?)
}

impl CardEdit {
    /// Sets event, date and price from typed text; an empty date or price counts as not given.
    pub fn state_event(&mut self, kind: &str, when: Option<&str>, paid: Option<&str>) -> Result<(), String> {
        let given = |t: Option<&str>| t.map(str::trim).filter(|t| !t.is_empty()).map(str::to_owned);
        self.event = Some(parse_event_kind(kind)?);
        self.date = given(when).map(|text| parse_date(&text)).transpose()?;
        self.price = given(paid).map(|text| parse_price(&text)).transpose()?;
        Ok(())
    }

    fn build_event(&self) -> Option<CardEvent> {
        let CardEdit { date, price, about: note, source, .. } = self.clone();
        Some(CardEvent { date, kind: self.event?, price, note, source })
    }
}

pub fn list_cards(path: Option<&Path>) -> Result<Vec<StoredCard>> {
    let Some(mut archive) = open_to_read(path)? else { return Ok(Vec::new()) };
    let counts = archive.session_counts()?;
    let mut cards = archive.cards()?;
    for card in &mut cards {
        card.sessions = counts.get(&card.id).copied().unwrap_or_default();
    }
    Ok(cards)
}

/// Details of a card by its whole id; `None` if the archive has no such card.
pub fn card_by_id(path: Option<&Path>, id: &str, answers: &AnswerCache) -> Result<Option<CardPage>> {
    let Some(mut archive) = open_to_read(path)? else { return Ok(None) };
    let found = archive.cards_by_id(id)?.into_iter().find(|card| card.id == id);
    found.map(|card| load_details(&mut archive, card, answers)).transpose()
}

/// Identity from the newest session that read one.
pub fn newest_identity(path: Option<&Path>, id: &str) -> Result<Option<Identity>> {
    let Some(mut archive) = open_to_read(path)? else { return Ok(None) };
    let mut said = archive.identities(id)?.into_iter().filter_map(|said| Identity::deserialize(said).ok());
    Ok(said.find(|identity| *identity != Identity::default()))
}

/// An attached file by its hash; `None` if the card has no such file.
pub fn attached_file(path: Option<&Path>, id: &str, hash: &str) -> Result<Option<(Attachment, Vec<u8>)>> {
    let Some(mut archive) = open_to_read(path)? else { return Ok(None) };
    let mut files = archive.attachments(id)?.into_iter().map(|stored| stored.file);
    let Some(file) = files.find(|file| file.hash == hash) else { return Ok(None) };
    let bytes = archive.attachment(hash)?;
    Ok(Some((file, bytes)))
}

/// Changes a card and returns its new details. A refusal (ambiguous name, unknown fact, unreadable file) leaves the card
/// unchanged.
pub fn edit_card(path: Option<&Path>, edit: &CardEdit, answers: &AnswerCache) -> Result<CardPage> {
    let facts = edit.facts.iter().map(|text| parse_fact(text)).collect::<Result<Vec<_>>>()?;
    let mut archive = require_archive(path)?;
    let card = lookup::find_card(&mut archive, &edit.card)?;
    let files = edit.attach.iter().map(|f| attachment::read_attachment(f)).collect::<Result<Vec<_>, _>>()?;
    let attach =
        files.iter().map(|(name, kind, bytes)| NewAttachment { name, media_type: kind, note: None, bytes });
    let attach: Vec<NewAttachment<'_>> = attach.collect();
    let change = |known: &mut CardFacts| apply_facts(known, facts, edit.marks.as_deref());
    archive.edit_card(&card.id, change, edit.build_event().as_slice(), &attach)?;
    let card = lookup::find_card(&mut archive, &card.id)?;
    load_details(&mut archive, card, answers)
}

fn parse_fact(text: &str) -> Result<(&str, Option<String>)> {
    let refused = || Failure::refused(format!("--set {text:?} is not FACT=VALUE, e.g. brand=SanDisk"));
    let (word, value) = text.split_once('=').ok_or_else(refused)?;
    // Refuses an unknown fact before anything is changed.
    find_fact(&mut CardFacts::default(), word)?;
    Ok((word, Some(value.trim().to_owned()).filter(|value| !value.is_empty())))
}

fn apply_facts(known: &mut CardFacts, facts: Vec<(&str, Option<String>)>, marks: Option<&[String]>) {
    for (word, value) in facts {
        if let Ok(fact) = find_fact(known, word) {
            *fact = value;
        }
    }
    if let Some(marks) = marks {
        known.marks = marks.to_vec();
    }
}

/// Moves everything of card `from` to card `into` and removes `from`.
pub fn merge_cards(path: Option<&Path>, from: &str, into: &str, answers: &AnswerCache) -> Result<CardPage> {
    let mut archive = require_archive(path)?;
    let (from, into) = (lookup::find_card(&mut archive, from)?, lookup::find_card(&mut archive, into)?);
    if from.id == into.id {
        return Err(Failure::refused(format!("both names match the card {:?}", into.title)));
    }
    archive.merge_cards(&from.id, &into.id)?;
    let card = lookup::find_card(&mut archive, &into.id)?;
    load_details(&mut archive, card, answers)
}

pub(super) fn ids_with_records_last(mut sessions: Vec<SessionSummary>) -> Vec<SessionId> {
    sessions.sort_by_key(|session| session.is_record);
    sessions.iter().map(|session| session.id).collect()
}

pub(super) fn load_details(
    archive: &mut Archive,
    mut card: StoredCard,
    answers: &AnswerCache,
) -> Result<CardPage> {
    let id = card.id.clone();
    let pieces = archive.units(&id)?.into_iter().map(|s| s.id).collect();
    let events = archive.events(&id)?.into_iter().map(|(_, event)| event).collect();
    let attachments = archive.attachments(&id)?.into_iter().map(|stored| stored.file).collect();
    let sessions = archive.card_sessions(&id)?;
    let session_lines = session_lines(archive, sessions.clone(), answers)?;
    let names = ids_with_records_last(sessions).iter().map(ToString::to_string).collect();
    card.sessions = u32::try_from(session_lines.len()).unwrap_or(u32::MAX);
    Ok(CardPage { card, pieces, events, attachments, sessions_and_records: names, session_lines })
}

/// Editable text facts, each with the word that names it in `--set`.
pub fn text_facts(facts: &mut CardFacts) -> [(&'static str, &mut Option<String>); 10] {
    [
        ("brand", &mut facts.brand),
        ("name", &mut facts.name),
        ("model", &mut facts.model),
        ("maker", &mut facts.maker),
        ("capacity", &mut facts.capacity_label),
        ("form", &mut facts.form),
        ("firmware", &mut facts.firmware),
        ("made", &mut facts.made),
        ("generation", &mut facts.generation),
        ("note", &mut facts.note),
    ]
}

fn find_fact<'a>(of: &'a mut CardFacts, word: &str) -> Result<&'a mut Option<String>> {
    let all = text_facts(of);
    let known = all.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
    let found = all.into_iter().find(|(known, _)| *known == word).map(|(_, fact)| fact);
    found.ok_or_else(|| Failure::refused(format!("unknown fact {word:?}; the facts are {known}")))
}

fn parse_event_kind(text: &str) -> Result<EventKind, String> {
    let events = "bought, in-use, failed, warranty, gone, note";
    serde_json::from_value(text.into())
        .map_err(|_| format!("unknown event {text:?}; the events are {events}"))
}

fn parse_date(text: &str) -> Result<String, String> {
    let error = || format!("{text:?} is not a date; write 2024, 2024-03 or 2024-03-12");
    is_date(text).then(|| text.to_owned()).ok_or_else(error)
}

/// Parses `12.99EUR`, `12.99 EUR` or `12,99 EUR`. Refuses three digits behind a point or comma, which may be thousands.
fn parse_price(text: &str) -> Result<CardPrice, String> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (amount, currency) = text.split_at(split);
    let amount = amount.trim().replace(',', ".").parse::<f64>().ok().filter(|a| a.is_finite() && *a >= 0.0);
    let thousands = |text: &str| text.rsplit_once([',', '.']).is_some_and(|(_, rest)| rest.trim().len() == 3);
    let amount = amount.filter(|_| !thousands(&text[..split]));
    let currency = currency.trim().to_ascii_uppercase();
    let amount = amount.filter(|_| currency.len() == 3 && currency.chars().all(|c| c.is_ascii_alphabetic()));
    let error = || format!("{text:?} is not a price; write an amount and a currency, e.g. 12.99EUR");
    amount.map(|amount| CardPrice { amount, currency }).ok_or_else(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_value_removes_a_fact() {
        let mut facts = CardFacts::default();
        let mut set = |text: &str| {
            apply_facts(&mut facts, vec![parse_fact(text).unwrap()], None);
            facts.brand.clone()
        };
        assert_eq!(set("brand= Acme ").as_deref(), Some("Acme"));
        assert_eq!(set("brand="), None);
        assert!(facts.is_empty());
        assert!(find_fact(&mut facts, "colour").unwrap_err().to_string().contains("unknown fact \"colour\""));
    }

    #[test]
    fn prices_and_dates_are_parsed_or_refused() {
        for (text, amount, currency) in
            [("12.99EUR", 12.99, "EUR"), ("8 usd", 8.0, "USD"), ("6,81 EUR", 6.81, "EUR")]
        {
            assert_eq!(parse_price(text), Ok(CardPrice { amount, currency: currency.into() }));
        }
        for bad in ["EUR", "1,299 EUR", "1.299EUR", "1,299.00 EUR", "12", "-3EUR", "nanEUR", "12 €"] {
            assert!(parse_price(bad).is_err(), "{bad}");
        }
        assert!(
            parse_date("2024-03").is_ok()
                && parse_date("2024-13").is_err()
                && parse_date("2024-02-31").is_err()
                && parse_date("2024-2-3").is_err()
                && parse_date("24-03").is_err()
                && parse_date("").is_err()
        );
    }
}
