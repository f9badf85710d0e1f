//! Cards from logs outside of an archive: the built-in collection, and files that are read without being stored.

use cardscope_model::archive_rows::StoredCard;
use cardscope_model::card::{CardEvent, EventKind};
use cardscope_model::card_details::CardDetails;
use cardscope_model::card_map::FlashGeometry;
use cardscope_model::collection;
use cardscope_model::log::CardLog;
use cardscope_model::run::{CardRun, Run};
use cardscope_session::error::{Failure, Result};
use cardscope_statistics::flashbench::geometry_in_log;
use cardscope_store::{CardStatement, is_named, run_setting};
use serde::Deserialize;
use serde_json::Value;

pub(super) struct CollectedCard {
    pub(super) card: StoredCard,
    pub(super) events: Vec<CardEvent>,
    pub(super) runs: Vec<CardRun>,
    pub(super) details: CardDetails,
}

pub(super) fn collected_cards() -> Result<Vec<CollectedCard>> {
    let reports = collection::load_builtin_reports().map_err(Failure::io)?;
    let of = |report: &collection::CollectedReport| {
        let source = &format!("{} (built in)", report.title);
        let mut gathered = GatheredCards::default();
        gathered.add_logs(&LogOrigin { file: &report.name, part: "", source, title: None }, &report.logs);
        gathered.cards
    };
    Ok(reports.iter().flat_map(of).collect())
}

pub(super) struct LogOrigin<'a> {
    /// File, which is part of a card's id.
    pub(super) file: &'a str,
    /// Part of the file, for cards without a name.
    pub(super) part: &'a str,
    /// Source as displayed.
    pub(super) source: &'a str,
    /// Title for cards without a name.
    pub(super) title: Option<&'a str>,
}

/// Cards in the logs of one file, each once.
#[derive(Default)]
pub(super) struct GatheredCards {
    pub(super) cards: Vec<CollectedCard>,
    logs: usize,
}

impl GatheredCards {
    /// Adds logs to their cards, and new cards.
    pub(super) fn add_logs(&mut self, origin: &LogOrigin<'_>, logs: &[CardLog]) {
        for log in logs {
            let title = origin.log_title(log);
            let id = origin.log_id(log, &title, self.logs);
            let at = self.cards.iter().position(|c| c.card.id == id).unwrap_or_else(|| {
                self.cards.push(new_card(id, title, log));
                self.cards.len() - 1
            });
            self.cards[at].add_log(log, origin.source, self.logs);
            self.logs += 1;
        }
    }
}

impl LogOrigin<'_> {
    fn log_title(&self, log: &CardLog) -> String {
        match (self.title.filter(|_| !is_named(&log.card)), &log.part) {
            (Some(title), Some(part)) => format!("{title} ({part})"),
            (Some(title), None) => title.to_owned(),
            (None, _) => log.card.title(),
        }
    }

    /// Id that is the same in every archive and that no archive makes. Two cards without a name get two ids.
    fn log_id(&self, log: &CardLog, title: &str, number: usize) -> String {
        // An id is typed, so it contains no character that a shell interprets.
        let words = title.split(|c: char| !c.is_alphanumeric() && !['+', '.'].contains(&c));
        let words: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
        let (file, words) = (self.file, words.join("-"));
        match is_named(&log.card) {
            true => format!("{file}:{words}"),
            false => format!("{file}{}:{words}-{}", self.part, number + 1),
        }
    }
}

fn new_card(id: String, title: String, log: &CardLog) -> CollectedCard {
    let bought = log.events.iter().rev().find(|e| e.kind == EventKind::Bought);
    let card = StoredCard {
        price: bought.and_then(|e| e.price.clone()),
        priced: bought.and_then(|e| e.date.clone()),
        ..StoredCard::new(id, title, log.card.clone())
    };
    CollectedCard { card, events: log.events.clone(), runs: Vec::new(), details: CardDetails::default() }
}

impl CollectedCard {
    fn add_log(&mut self, log: &CardLog, source: &str, number: usize) {
        self.details.add_note_temperatures(&log.condition);
        add_log_details(&mut self.details, &Value::Object(log.other.clone()));
        let session = stable_session_id(&format!("{} {number}", self.card.id));
        let runs = log.runs.iter().map(|run| CardRun {
            session: session.clone(),
            card_id: self.card.id.clone(),
            unit: None,
            setting: run_setting(log, run),
            measured_at: log.date.clone(),
            source: Some(source.to_owned()),
            run: Run { run: run.run, loops: run.loops, results: run.valid_figures(), ..Run::default() },
        });
        let before = self.runs.len();
        self.runs.extend(runs.filter(|run| !run.run.results.is_empty()));
        self.card.runs = self.runs.len() as u32;
        self.card.sessions += u32::from(self.runs.len() > before);
    }

    /// True if all words of a text are in the card's name, or its id begins with the text.
    pub(super) fn matches_text(&self, text: &str) -> bool {
        let facts = &self.card.facts;
        let facts = [&facts.brand, &facts.name, &facts.model].into_iter().flatten().chain(&facts.marks);
        let name: Vec<String> = facts.chain([&self.card.title]).map(|fact| fact.to_lowercase()).collect();
        let name = name.join(" ");
        // An id contains the name of its file, in which case matters.
        self.card.id.starts_with(text.trim())
            || text.to_lowercase().split_whitespace().all(|word| name.contains(word))
    }
}

/// Session id that is always the same (FNV-1a of 128 bits), and that no archive makes (theirs are of version 7).
fn stable_session_id(text: &str) -> String {
    let (offset, prime) =
        (0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128, 0x0000_0000_0100_0000_0000_0000_0000_013b);
    let hash = text.bytes().fold(offset, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(prime));
    uuid::Builder::from_custom_bytes(hash.to_be_bytes()).into_uuid().to_string()
}

/// Details from sessions, oldest first; later values win.
pub fn details_from_sessions(words: &[CardStatement]) -> CardDetails {
    let mut details = CardDetails::default();
    for word in words {
        details.add_identity_json(&word.identity);
        details.add_note_temperatures(&word.condition);
        let (idle_c, peak_c) = word.temperatures;
        details.add_temperatures(&word.condition, idle_c, peak_c);
        let Some(document) = &word.document else { continue };
        match word.kind.as_str() {
            "import" => add_log_details(&mut details, &document["other"]),
            "map" => add_map_geometry(&mut details, document),
            "check" => add_map_geometry(&mut details, &document["map"]),
            _ => {}
        }
    }
    details
}

/// Adds the details in a log.
pub(crate) fn add_log_details(details: &mut CardDetails, other: &Value) {
    details.add_identity_json(other);
    geometry_in_log(other).into_iter().for_each(|found| details.add_geometry(found));
}

fn add_map_geometry(details: &mut CardDetails, map: &Value) {
    FlashGeometry::deserialize(map).into_iter().for_each(|found| details.add_geometry(found));
}
