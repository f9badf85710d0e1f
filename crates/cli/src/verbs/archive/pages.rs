//! The pages of the archive.

use cardscope_report::page::table::Table;
use cardscope_report::page::{Block, Page, Tone};
use cardscope_report::{figure::count, page::Fact};
use cardscope_session::archive::{self, CardLine, CardShown, Exported, Line, Taken};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// What to do about an archive with nothing in it.
fn nothing(answer: &str) -> Page {
    let mut page = Page::plain(answer);
    page.step("Test a card, or import a log:", Some("cardscope check DEVICE".to_owned()));
    page
}

pub(super) fn sessions(sessions: &[Line]) -> Page {
    if sessions.is_empty() {
        return nothing("The archive has no sessions yet.");
    }
    let mut page = Page::plain(format!("{} in the archive.", count(sessions.len() as u64, "session")));
    let short = shortest(sessions.iter().map(|line| line.session.as_str()));
    let table = Table::of(
        sessions,
        &[
            ("session", &|s| s.session.get(..short).unwrap_or(&s.session).to_owned()),
            ("began (UTC)", &|s| s.started_at.get(..16).unwrap_or(&s.started_at).replace('T', " ")),
            ("verb", &|s| s.kind.clone()),
            ("target", &|s| s.target.clone()),
            ("card", &|s| s.card.clone().unwrap_or_default()),
            ("recipe", &|s| s.recipe.clone().unwrap_or_default()),
            ("ended", &|s| s.state.clone()),
        ],
    );
    let words = table.left_aligned(["began (UTC)", "verb", "target", "card", "recipe", "ended"]);
    page.add("", [Block::Table(words.least(["recipe", "card"]).always(["verb"]))]);
    page.step("Show one:", Some("cardscope archive show SESSION".to_owned()));
    page
}

/// So many characters tell all names apart; eight at least, by which people know them again.
fn shortest<'a>(names: impl Iterator<Item = &'a str>) -> usize {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    let common = |pair: &[&str]| pair[0].bytes().zip(pair[1].bytes()).take_while(|(a, b)| a == b).count();
    names.windows(2).map(common).max().map_or(8, |common| (common + 1).max(8))
}

fn day(text: &str) -> &str {
    text.get(..10).unwrap_or(text)
}

pub(super) fn cards(cards: &[CardLine]) -> Page {
    if cards.is_empty() {
        return nothing("The archive has no cards yet.");
    }
    let mut page = Page::plain(format!("{} in the archive.", count(cards.len() as u64, "card")));
    let short = shortest(cards.iter().map(|card| card.id.as_str()));
    let measured = |card: &CardLine| match &card.measured {
        Some([first, last]) if day(first) == day(last) => day(first).to_owned(),
        Some([first, last]) => format!("{} to {}", day(first), day(last)),
        None => String::new(),
    };
    let table = Table::of(
        cards,
        &[
            ("card", &|c| c.title.clone()),
            ("id", &|c| c.id.get(..short).unwrap_or(&c.id).to_owned()),
            ("units", &|c| c.specimens.to_string()),
            ("sessions", &|c| c.sessions.to_string()),
            ("runs", &|c| c.runs.to_string()),
            ("measured", &measured),
        ],
    );
    page.add("", [Block::Table(table.left_aligned(["id", "measured"]).least(["units", "measured"]))]);
    page
}

pub(super) fn card(card: &CardShown) -> Page {
    let line = &card.line;
    let mut page = Page::plain(line.title.clone());
    let fact = |name: &str, value: String| -> Fact { (name.to_owned(), value) };
    let mut known = vec![fact("id", line.id.clone())];
    let mut facts = line.facts.clone();
    known.extend(
        archive::facts(&mut facts).into_iter().filter_map(|(word, value)| Some(fact(word, value.clone()?))),
    );
    if !facts.marks.is_empty() {
        known.push(fact("marks", facts.marks.join(" ")));
    }
    let (runs, sessions) = (count(line.runs, "run"), count(line.sessions, "session"));
    known.push(fact("measured", format!("{runs} in {sessions} of {}", count(line.specimens, "unit"))));
    page.add("", [Block::Facts(known)]);
    let event = |event: &cardscope_model::card::Event| {
        let price = event.price.as_ref().map_or(String::new(), |p| format!(", {} {}", p.amount, p.currency));
        let note = event.note.as_ref().map_or(String::new(), |n| format!(", {n}"));
        let source = event.source.as_ref().map_or(String::new(), |s| format!(" (source: {s})"));
        let kind = serde_json::to_value(event.kind).ok();
        let kind = kind.as_ref().and_then(Value::as_str).unwrap_or_default();
        fact(event.date.as_deref().unwrap_or("no date"), format!("{kind}{price}{note}{source}"))
    };
    page.add("History", [Block::Facts(card.events.iter().map(event).collect())]);
    let files = card
        .attachments
        .iter()
        .map(|file| format!("{} ({}, {})", file.name, file.media_type, file.hash.get(..12).unwrap_or("")));
    page.add("Attached", [Block::Lines(files.collect())]);
    page.add("Sessions", [Block::Lines(card.sessions_and_records.clone())]);
    page
}

pub(super) fn taken(files: &[Taken]) -> Page {
    let new = files.iter().filter(|f| f.session.is_some()).count();
    let known = files.iter().filter(|f| f.known).count();
    let failed: Vec<String> =
        files.iter().filter_map(|f| Some(format!("{}: {}", f.file, f.error.as_ref()?))).collect();
    let tone = if failed.is_empty() { Tone::Plain } else { Tone::Bad };
    let answer = format!("Imported {} of {}.", new, count(files.len() as u64, "file"));
    let mut page = Page::new("", tone, answer);
    page.because_all(
        Tone::Plain,
        (known > 0).then(|| format!("{}: imported before.", count(known as u64, "file"))),
    );
    page.add("Not imported", [Block::Lines(failed)]);
    page
}

pub(super) fn exported(files: &[Exported], folder: &str) -> Page {
    Page::plain(format!("Wrote {} to {folder}.", count(files.len() as u64, "session")))
}

/// A record as its verb shows it; as JSON where it is too early or too old for that.
pub(super) fn record(kind: &str, document: &Value) -> Page {
    let known = match kind {
        "verify" => as_page(document, cardscope_report::verify::page),
        "map" => as_page(document, cardscope_report::card_map::page),
        "check" => as_page(document, cardscope_report::check::page),
        "marks" => as_page(document, cardscope_report::check::marks),
        "endure" => as_page(document, cardscope_report::endure::page),
        "format" => as_page(document, cardscope_report::format::page),
        "sustain" => as_page(document, cardscope_report::sustain::page),
        "observe" => as_page(document, cardscope_report::observe::page),
        _ => None,
    };
    known.unwrap_or_else(|| {
        let mut page = Page::plain(format!("A session of {kind}, as JSON."));
        page.add("", serde_json::to_string_pretty(document).ok().map(Block::Verbatim));
        page
    })
}

fn as_page<T: DeserializeOwned>(document: &Value, page: impl FnOnce(&T) -> Page) -> Option<Page> {
    T::deserialize(document).ok().map(|report| page(&report))
}
