//! The archive's cards: lists, one card with all that is known of it, and what the user corrects or adds.

use super::open;
use crate::error::Failure;
use cardscope_model::card::{CardFacts, Event};
use cardscope_store::{Archive, NewAttachment, Owner, StoredAttachment, StoredCard};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Longest file that is attached.
const MOST_BYTES: u64 = 64 << 20;

/// A card in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CardLine {
    /// Its name in the archive.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// Pieces.
    pub specimens: u32,
    /// Sessions.
    pub sessions: u32,
    /// Runs.
    pub runs: u32,
    /// First and last day of measuring, where known.
    pub measured: Option<[String; 2]>,
    /// What is known of it.
    pub facts: CardFacts,
}

/// A card with all that is known of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CardShown {
    /// Its line in the list.
    #[serde(flatten)]
    pub line: CardLine,
    /// Its pieces, each by the hash of its identity.
    pub pieces: Vec<String>,
    /// What happened to it.
    pub events: Vec<Event>,
    /// What is attached: name, media type, bytes, hash.
    pub attachments: Vec<AttachmentLine>,
    /// Its sessions, and the documents of other verbs.
    pub sessions_and_records: Vec<String>,
}

/// Something attached.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AttachmentLine {
    /// Its name.
    pub name: String,
    /// Its media type.
    pub media_type: String,
    /// BLAKE3 of its bytes.
    pub hash: String,
    /// What there is to say about it.
    pub note: Option<String>,
}

/// What is changed of a card. What is `None` or empty stays as it is.
#[derive(Debug, Clone, Default)]
pub struct Edit {
    /// Facts; an empty text takes one away.
    pub facts: Vec<(String, String)>,
    /// Marks in place of those it has.
    pub marks: Option<Vec<String>>,
    /// Events to add.
    pub events: Vec<Event>,
    /// Files to attach.
    pub attach: Vec<PathBuf>,
}

/// All cards of the archive, by title.
///
/// # Errors
/// If the archive cannot be opened or read.
pub fn cards(path: Option<&Path>) -> Result<Vec<CardLine>, Failure> {
    Ok(open(path)?.cards().map_err(Failure::io)?.into_iter().map(line).collect())
}

/// One card.
///
/// # Errors
/// A refusal where the text names none, or several.
pub fn card(path: Option<&Path>, text: &str) -> Result<CardShown, Failure> {
    let mut archive = open(path)?;
    let card = named(&mut archive, text)?;
    shown(&mut archive, card)
}

/// Changes a card; gives it as it is then.
///
/// # Errors
/// A refusal where the text names none or several, a fact is none, or a file cannot be read; nothing is changed then.
pub fn edit(path: Option<&Path>, text: &str, edit: &Edit) -> Result<CardShown, Failure> {
    let mut archive = open(path)?;
    let mut card = named(&mut archive, text)?;
    for (word, value) in &edit.facts {
        set(&mut card.facts, word, value)?;
    }
    if let Some(marks) = &edit.marks {
        card.facts.marks.clone_from(marks);
    }
    let files = edit.attach.iter().map(|file| attachment(file)).collect::<Result<Vec<_>, _>>()?;
    archive.edit_card(&card.id, &card.facts).map_err(Failure::io)?;
    for event in &edit.events {
        archive.add_event(&card.id, None, event).map_err(Failure::io)?;
    }
    for (name, media_type, bytes) in &files {
        let file = NewAttachment { name, media_type, note: None, bytes };
        archive.attach(Owner::Card(&card.id), &file).map_err(Failure::io)?;
    }
    let card = named(&mut archive, &card.id)?;
    shown(&mut archive, card)
}

/// Makes one card of two: everything of the first goes to the second.
///
/// # Errors
/// A refusal where a text names none or several, or both the same.
pub fn merge(path: Option<&Path>, from: &str, into: &str) -> Result<CardShown, Failure> {
    let mut archive = open(path)?;
    let (from, into) = (named(&mut archive, from)?, named(&mut archive, into)?);
    if from.id == into.id {
        return Err(Failure::refused(format!("both names mean the card {:?}", into.title)));
    }
    archive.merge_cards(&from.id, &into.id).map_err(Failure::io)?;
    let card = named(&mut archive, &into.id)?;
    shown(&mut archive, card)
}

/// The one card that a text names.
pub(super) fn named(archive: &mut Archive, text: &str) -> Result<StoredCard, Failure> {
    let mut found = archive.find_cards(text).map_err(Failure::io)?;
    if let Some(exact) = found.iter().position(|c| c.id == text || c.title.eq_ignore_ascii_case(text.trim()))
    {
        return Ok(found.swap_remove(exact));
    }
    match found.len() {
        1 => Ok(found.swap_remove(0)),
        0 => Err(Failure::refused(format!(
            "the archive has no card {text:?}; `cardscope archive cards` lists them"
        ))),
        n => Err(Failure::refused(format!("{text:?} may be {n} cards; give more of its name, or its id"))),
    }
}

fn line(card: StoredCard) -> CardLine {
    CardLine {
        id: card.id,
        title: card.title,
        specimens: card.specimens,
        sessions: card.sessions,
        runs: card.runs,
        measured: Option::zip(card.first, card.last).map(|(first, last)| [first, last]),
        facts: card.facts,
    }
}

fn shown(archive: &mut Archive, card: StoredCard) -> Result<CardShown, Failure> {
    let id = card.id.clone();
    let pieces = archive.specimens(&id).map_err(Failure::io)?.into_iter().map(|s| s.id).collect();
    let events = archive.events(&id).map_err(Failure::io)?.into_iter().map(|(_, event)| event).collect();
    let attachments = archive.attachments(&id).map_err(Failure::io)?.into_iter().map(attached).collect();
    let sessions = archive.card_sessions(&id).map_err(Failure::io)?;
    let records = archive.card_records(&id).map_err(Failure::io)?;
    let names = sessions.iter().map(ToString::to_string);
    let names = names.chain(records.iter().map(|record| record.summary.id.to_string())).collect();
    Ok(CardShown { line: line(card), pieces, events, attachments, sessions_and_records: names })
}

fn attached(file: StoredAttachment) -> AttachmentLine {
    AttachmentLine { name: file.name, media_type: file.media_type, hash: file.hash, note: file.note }
}

/// Sets one fact by its word; an empty value takes it away.
fn set(facts: &mut CardFacts, word: &str, value: &str) -> Result<(), Failure> {
    let value = Some(value.trim().to_owned()).filter(|v| !v.is_empty());
    let place = match word {
        "brand" => &mut facts.brand,
        "name" => &mut facts.name,
        "model" => &mut facts.model,
        "maker" => &mut facts.maker,
        "capacity" => &mut facts.capacity_label,
        "form" => &mut facts.form,
        "firmware" => &mut facts.firmware,
        "made" => &mut facts.made,
        "generation" => &mut facts.generation,
        "note" => &mut facts.note,
        other => {
            return Err(Failure::refused(format!(
                "no fact {other:?}; they are brand, name, model, maker, capacity, form, firmware, made, generation, note"
            )));
        }
    };
    *place = value;
    Ok(())
}

/// A file to attach: name, media type by its first bytes, content.
fn attachment(file: &Path) -> Result<(String, String, Vec<u8>), Failure> {
    let refused = |why: String| Failure::refused(format!("{}: {why}", file.display()));
    let about = std::fs::metadata(file).map_err(|e| refused(e.to_string()))?;
    if !about.is_file() || about.len() > MOST_BYTES {
        return Err(refused(format!("only plain files of up to {} MiB are attached", MOST_BYTES >> 20)));
    }
    let bytes = std::fs::read(file).map_err(|e| refused(e.to_string()))?;
    let name = file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    Ok((name, media_type(&bytes).to_owned(), bytes))
}

/// By the signatures of the formats that photographs, screenshots and receipts come in.
fn media_type(bytes: &[u8]) -> &'static str {
    match bytes {
        [0xff, 0xd8, 0xff, ..] => "image/jpeg",
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [b'G', b'I', b'F', b'8', ..] => "image/gif",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
        [b'%', b'P', b'D', b'F', ..] => "application/pdf",
        _ if std::str::from_utf8(bytes).is_ok() => "text/plain",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_is_set_by_its_word_and_taken_away_by_nothing() {
        let mut facts = CardFacts::default();
        set(&mut facts, "brand", " Acme ").unwrap();
        assert_eq!(facts.brand.as_deref(), Some("Acme"));
        set(&mut facts, "brand", "").unwrap();
        assert!(facts.is_empty());
        assert!(set(&mut facts, "colour", "red").unwrap_err().to_string().contains("no fact \"colour\""));
    }

    #[test]
    fn a_photograph_is_known_by_its_first_bytes_and_not_by_its_name() {
        assert_eq!(media_type(&[0xff, 0xd8, 0xff, 0xe1]), "image/jpeg");
        assert_eq!(media_type(b"bought in May"), "text/plain");
        assert_eq!(media_type(&[0, 159, 146, 150]), "application/octet-stream");
    }
}
