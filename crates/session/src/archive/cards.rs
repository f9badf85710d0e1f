//! The archive's cards: lists, one card with all that is known of it, and what the user corrects or adds.

use super::open;
use crate::card_source::the_one;
use crate::error::Failure;
use cardscope_engine::input;
use cardscope_model::archived::StoredCard;
use cardscope_model::card::{CardFacts, Event};
use cardscope_store::{Archive, NewAttachment, StoredAttachment};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Longest file that is attached: photographs have some MiB. Several of them go with each session of the card into a
/// file, which may not be longer than [`crate::import::result_file::MOST_BYTES`].
const MOST_BYTES: u64 = 16 << 20;

/// A card in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    Ok(open(path)?.cards()?.into_iter().map(line).collect())
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
    let card = named(&mut archive, text)?;
    edit.facts.iter().try_for_each(|(word, _)| fact(&mut CardFacts::default(), word).map(|_| ()))?;
    let files = edit.attach.iter().map(|file| attachment(file)).collect::<Result<Vec<_>, _>>()?;
    let attach: Vec<NewAttachment<'_>> = files
        .iter()
        .map(|(name, media_type, bytes)| NewAttachment { name, media_type, note: None, bytes })
        .collect();
    let change = |facts: &mut CardFacts| change(facts, edit);
    archive.edit_card(&card.id, change, &edit.events, &attach)?;
    let card = named(&mut archive, &card.id)?;
    shown(&mut archive, card)
}

fn change(facts: &mut CardFacts, edit: &Edit) {
    for (word, value) in &edit.facts {
        if let Ok(fact) = fact(facts, word) {
            *fact = Some(value.trim().to_owned()).filter(|value| !value.is_empty());
        }
    }
    if let Some(marks) = &edit.marks {
        facts.marks.clone_from(marks);
    }
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
    archive.merge_cards(&from.id, &into.id)?;
    let card = named(&mut archive, &into.id)?;
    shown(&mut archive, card)
}

/// The one card that a text names.
pub(super) fn named(archive: &mut Archive, text: &str) -> Result<StoredCard, Failure> {
    let found = archive.find_cards(text)?;
    the_one(found, text)
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
    let pieces = archive.units(&id)?.into_iter().map(|s| s.id).collect();
    let events = archive.events(&id)?.into_iter().map(|(_, event)| event).collect();
    let attachments = archive.attachments(&id)?.into_iter().map(attached).collect();
    let sessions = archive.card_sessions(&id)?;
    let records = archive.card_records(&id)?;
    let names = sessions.iter().map(ToString::to_string);
    let names = names.chain(records.iter().map(|record| record.summary.id.to_string())).collect();
    Ok(CardShown { line: line(card), pieces, events, attachments, sessions_and_records: names })
}

fn attached(file: StoredAttachment) -> AttachmentLine {
    AttachmentLine { name: file.name, media_type: file.media_type, hash: file.hash, note: file.note }
}

/// The facts that are texts, by their words.
pub fn facts(facts: &mut CardFacts) -> [(&'static str, &mut Option<String>); 10] {
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

/// A fact by its word.
fn fact<'a>(of: &'a mut CardFacts, word: &str) -> Result<&'a mut Option<String>, Failure> {
    let all = facts(of);
    let known = all.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
    let found = all.into_iter().find(|(known, _)| *known == word).map(|(_, fact)| fact);
    found.ok_or_else(|| Failure::refused(format!("no fact {word:?}; they are {known}")))
}

/// A file to attach: name, media type by its first bytes, content.
pub(crate) fn attachment(file: &Path) -> Result<(String, String, Vec<u8>), Failure> {
    let bytes = input::bytes(file, MOST_BYTES)
        .map_err(|e| Failure::refused_for(format!("{}: it is not attached: {e}", file.display()), e))?;
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
        let said =
            |word: &str, value: &str| Edit { facts: vec![(word.into(), value.into())], ..Edit::default() };
        change(&mut facts, &said("brand", " Acme "));
        assert_eq!(facts.brand.as_deref(), Some("Acme"));
        change(&mut facts, &said("brand", ""));
        assert!(facts.is_empty());
        assert!(fact(&mut facts, "colour").unwrap_err().to_string().contains("no fact \"colour\""));
    }

    #[test]
    fn a_photograph_is_known_by_its_first_bytes_and_not_by_its_name() {
        assert_eq!(media_type(&[0xff, 0xd8, 0xff, 0xe1]), "image/jpeg");
        assert_eq!(media_type(b"bought in May"), "text/plain");
        assert_eq!(media_type(&[0, 159, 146, 150]), "application/octet-stream");
    }
}
