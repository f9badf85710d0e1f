//! The archive as text.

use cardscope_report::figure::count;
use cardscope_report::table::Table;
use cardscope_session::archive::{self, CardLine, CardShown, Line, Taken};
use serde::de::DeserializeOwned;
use serde_json::Value;

pub(super) fn sessions(sessions: &[Line]) -> String {
    if sessions.is_empty() {
        return "Nothing was measured yet.".to_owned();
    }
    let mut table = Table::new(["session", "began (UTC)", "target", "card", "verb", "recipe", "ended"]);
    for s in sessions {
        let card = s.card.clone().unwrap_or_default();
        let recipe = s.recipe.clone().unwrap_or_default();
        table.row(
            [&s.session, &s.started_at, &s.target, &card, &s.kind, &recipe, &s.state].map(String::clone),
        );
    }
    table.to_string()
}

pub(super) fn cards(cards: &[CardLine]) -> String {
    if cards.is_empty() {
        return "The archive has no cards yet; `cardscope import` and every test bring some.".to_owned();
    }
    let mut table = Table::new(["card", "id", "pieces", "sessions", "runs", "measured"]);
    for card in cards {
        let measured = card.measured.as_ref().map_or(String::new(), |[first, last]| {
            let day = |text: &str| text.get(..10).unwrap_or(text).to_owned();
            if day(first) == day(last) { day(first) } else { format!("{} to {}", day(first), day(last)) }
        });
        table.row([
            card.title.clone(),
            card.id.get(..12).unwrap_or(&card.id).to_owned(),
            card.specimens.to_string(),
            card.sessions.to_string(),
            card.runs.to_string(),
            measured,
        ]);
    }
    table.to_string()
}

pub(super) fn card(card: &CardShown) -> String {
    let line = &card.line;
    let mut out = format!("{}\n  id        {}\n", line.title, line.id);
    let mut facts = line.facts.clone();
    for (word, value) in archive::facts(&mut facts) {
        if let Some(value) = value {
            out += &format!("  {word:<9} {value}\n");
        }
    }
    if !facts.marks.is_empty() {
        out += &format!("  marks     {}\n", facts.marks.join(" "));
    }
    out += &format!(
        "  measured  {} in {}, {}\n",
        count(line.runs, "run"),
        count(line.sessions, "session"),
        count(line.specimens, "unit")
    );
    for event in &card.events {
        let date = event.date.as_deref().unwrap_or("no date");
        let price = event.price.as_ref().map_or(String::new(), |p| format!(", {} {}", p.amount, p.currency));
        let note = event.note.as_ref().map_or(String::new(), |n| format!(", {n}"));
        let source = event.source.as_ref().map_or(String::new(), |s| format!(" (source: {s})"));
        let kind = serde_json::to_value(event.kind).ok();
        let kind = kind.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
        out += &format!("  {date:<9} {kind}{price}{note}{source}\n");
    }
    for file in &card.attachments {
        out += &format!(
            "  attached  {} ({}, {})\n",
            file.name,
            file.media_type,
            file.hash.get(..12).unwrap_or("")
        );
    }
    for session in &card.sessions_and_records {
        out += &format!("  session   {session}\n");
    }
    out
}

pub(super) fn taken(files: &[Taken]) -> String {
    let new = files.iter().filter(|f| f.session.is_some()).count();
    let known = files.iter().filter(|f| f.known).count();
    let mut out = String::new();
    for file in files {
        if let Some(error) = &file.error {
            out += &format!("{}: not taken: {error}\n", file.file);
        }
    }
    out + &format!(
        "{} files: {new} taken, {known} known already, {} not taken",
        files.len(),
        files.len() - new - known
    )
}

/// A record as its verb prints it; as JSON where it is too early or too old for that.
pub(super) fn record(kind: &str, document: &Value) -> String {
    let known = match kind {
        "verify" => as_text(document, cardscope_report::verify::text),
        "map" => as_text(document, cardscope_report::card_map::text),
        "check" => as_text(document, cardscope_report::check::text),
        "marks" => as_text(document, cardscope_report::check::marks),
        "endure" => as_text(document, cardscope_report::endure::text),
        "format" => as_text(document, cardscope_report::format::text),
        "sustain" => as_text(document, cardscope_report::sustain::text),
        "observe" => as_text(document, cardscope_report::observe::text),
        _ => None,
    };
    known.or_else(|| serde_json::to_string_pretty(document).ok()).unwrap_or_default()
}

fn as_text<T: DeserializeOwned>(document: &Value, text: impl FnOnce(&T) -> String) -> Option<String> {
    T::deserialize(document).ok().map(|report| text(&report))
}
