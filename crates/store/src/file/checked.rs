//! Validates a session file before anything of it is stored.

use crate::timestamps::is_valid_time;
use crate::{SessionEnd, SessionId, hash};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cardscope_model::card::is_date;
use cardscope_model::session_file::{AttachedTo, FileAttachment, SessionFile, SessionFileError};
use cardscope_model::untrusted_text::shorten_text;
use std::collections::BTreeSet;

/// A consistent session file with its binary parts decoded.
pub(super) struct CheckedFile<'a> {
    pub(super) file: &'a SessionFile,
    pub(super) id: SessionId,
    /// Canonical form of the session's id: a file may spell it in capitals or braces.
    pub(super) name: String,
    pub(super) source: Option<Vec<u8>>,
    pub(super) attachments: Vec<(&'a FileAttachment, Vec<u8>)>,
}

impl<'a> CheckedFile<'a> {
    pub(super) fn validate(file: &'a SessionFile) -> Result<Self, SessionFileError> {
        let unnamed = |_| damaged(format!("{:?} is not a session", file.session));
        let id: SessionId = file.session.parse().map_err(unnamed)?;
        check_numbers(file)?;
        check_speeds(file)?;
        check_ids(file)?;
        check_times(file)?;
        check_parts(file)?;
        let source =
            file.source.as_ref().map(|source| decode_base64(&source.content, "source")).transpose()?;
        if let (Some(source), Some(bytes)) = (&file.source, &source)
            && hash::hash_bytes(bytes) != source.hash
        {
            return Err(damaged("its source does not match its hash".to_owned()));
        }
        let attachments = file.attachments.iter().map(|a| Ok((a, decode_base64(&a.content, &a.name)?)));
        let attachments = attachments.collect::<Result<_, _>>()?;
        Ok(CheckedFile { file, id, name: id.to_string(), source, attachments })
    }
}

fn decode_base64(text: &str, what: &str) -> Result<Vec<u8>, SessionFileError> {
    STANDARD.decode(text).map_err(|e| damaged(format!("the bytes of {what} are not base64: {e}")))
}

pub(super) fn encode_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

fn check_numbers(file: &SessionFile) -> Result<(), SessionFileError> {
    for seed in file.runs.iter().map(|run| &run.seed).chain([&file.seed]) {
        seed.parse::<u64>().map_err(|_| damaged(format!("{seed:?} is not a seed")))?;
    }
    let numbers: BTreeSet<u32> = file.runs.iter().map(|run| run.run).collect();
    if numbers.len() < file.runs.len() {
        return Err(damaged("two of its runs have the same number".to_owned()));
    }
    match file.ended.as_deref().filter(|word| SessionEnd::from_word(word).is_none()) {
        Some(word) => Err(damaged(format!("unknown way to end: {word:?}"))),
        None => Ok(()),
    }
}

/// Refuses absurd speeds, which would spoil the mean of all runs.
fn check_speeds(file: &SessionFile) -> Result<(), SessionFileError> {
    let mut figures = file.runs.iter().flat_map(|run| &run.figures).flatten();
    match figures.find(|figure| !figure.is_speed()) {
        Some(wrong) => Err(damaged(format!("{} MB/s is not a speed", wrong.mb_s))),
        None => Ok(()),
    }
}

/// Ids of cards, units and logs must be hashes, as every archive writes them.
fn check_ids(file: &SessionFile) -> Result<(), SessionFileError> {
    let card = file.card.as_ref().map(|card| &card.id);
    let unit = file.specimen.as_ref().map(|unit| &unit.id);
    let mut hashes = card.into_iter().chain(unit).chain(&file.content_hash);
    if let Some(wrong) = hashes.find(|name| !hash::is_hash(name)) {
        return Err(damaged(format!("{wrong:?} is not a hash")));
    }
    Ok(())
}

/// Sessions are sorted, dated and compared by their times, so all must be valid.
fn check_times(file: &SessionFile) -> Result<(), SessionFileError> {
    let of_session = [
        ("started_at", Some(&file.started_at)),
        ("measured_at", file.measured_at.as_ref()),
        ("updated_at", file.updated_at.as_ref()),
        ("ended_at", file.ended_at.as_ref()),
        ("log.date", file.log.as_ref().and_then(|log| log.date.as_ref())),
        ("source.imported_at", file.source.as_ref().map(|source| &source.imported_at)),
    ];
    let of_session = of_session.map(|(name, time)| (name.to_owned(), time)).into_iter();
    let of_runs = file.runs.iter().flat_map(|run| {
        let named = |field| format!("{field} of run {}", run.run);
        [(named("started_at"), Some(&run.started_at)), (named("ended_at"), run.ended_at.as_ref())]
    });
    let attachments = (1_usize..).zip(&file.attachments);
    let of_attachments = attachments.map(|(n, a)| (format!("added_at of attachment {n}"), Some(&a.added_at)));
    let mut times = of_session.chain(of_runs).chain(of_attachments);
    if let Some((field, Some(wrong))) = times.find(|(_, time)| time.is_some_and(|t| !is_valid_time(t))) {
        return Err(damaged(format!("{field} is {:?}, which is not a time", shorten_text(wrong))));
    }
    let of_log = file.log.iter().flat_map(|log| &log.events);
    let events = file.events.iter().map(|event| &event.event).chain(of_log);
    let events = events.filter_map(|event| event.date.as_ref());
    match (1_usize..).zip(events).find(|(_, date)| !is_date(date)) {
        Some((n, wrong)) => {
            Err(damaged(format!("the date of event {n} is {:?}, which is not a date", shorten_text(wrong))))
        }
        None => Ok(()),
    }
}

/// A session needs card, recipe and I/O path; a record must not have parts of a session.
fn check_parts(file: &SessionFile) -> Result<(), SessionFileError> {
    let is_session = ["bench", "import"].contains(&file.kind.as_str());
    let whole = file.card.is_some() && file.recipe.is_some() && file.io_path.is_some();
    let is_record =
        file.recipe.is_none() && file.runs.is_empty() && file.report.is_none() && file.log.is_none();
    let without_unit = file.specimen.is_none();
    let is_ownerless = file.attachments.iter().any(|a| match a.on {
        AttachedTo::Card => file.card.is_none(),
        AttachedTo::Specimen => without_unit,
        AttachedTo::Session => !is_session,
    });
    match (is_session, is_ownerless) {
        (_, true) => Err(damaged("an attachment belongs to something outside of the file".to_owned())),
        (true, _) if !whole => Err(damaged("its card, its recipe or its io_path is missing".to_owned())),
        (false, _) if !is_record => Err(damaged(format!("a record of {:?} has no runs", file.kind))),
        _ if file.card.is_none() && (!without_unit || !file.events.is_empty()) => {
            Err(damaged("it has a unit or events without a card".to_owned()))
        }
        _ => Ok(()),
    }
}

fn damaged(reason: String) -> SessionFileError {
    SessionFileError::Damaged(reason)
}
