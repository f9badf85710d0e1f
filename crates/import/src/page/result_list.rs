//! Plain lists on pages: cards with their price, cards with their registers, and reviews in lines of key and value.
//!
//! A list says little about each card, so the importer is shy: it wants two cards with a price, or one whose registers
//! or measurements stand there.

use super::described::{Described, described, is_capacity};
use super::markdown::{front_matter, item, plain, title};
use super::{price, review};
use crate::dates::day;
use crate::identity::facts::{facts, registers};
use crate::{ImportError, Text};
use cardscope_model::card::{Event, EventKind};
use cardscope_model::identity::{HexRegisters, from_hex};
use cardscope_model::log::Log;

pub(super) const FORMAT: &str = "result-list";

/// Cards with a price that make a list.
const LIST: usize = 2;

/// Longest line that is looked at as a card: a list item, no paragraph.
const LONGEST_ITEM: usize = 300;

/// True where a list or a review stands in it.
pub(crate) fn recognise(text: &Text) -> bool {
    let body = text.body().to_lowercase();
    let about_cards = body.contains("microsd") || body.contains("sd card");
    review::recognise(text) || (about_cards && (priced_cards(text).len() >= LIST || !dumps(text).is_empty()))
}

/// Reads the page, a log a card.
pub(crate) fn read(text: &Text) -> Result<Vec<Log>, ImportError> {
    let mut logs: Vec<Log> = review::read(text).into_iter().collect();
    let priced = priced_cards(text);
    if priced.len() >= LIST {
        logs.extend(priced);
    }
    logs.extend(dumps(text));
    if logs.is_empty() {
        return Err(ImportError::Empty { format: FORMAT, why: "no card stands in its lists".to_owned() });
    }
    Ok(logs)
}

/// List items that describe a card: with a size in front and a purchase in brackets, or with a price behind a dash.
fn priced_cards(text: &Text) -> Vec<Log> {
    let items =
        text.lines().filter_map(item).filter(|item| item.len() <= LONGEST_ITEM || item.starts_with('['));
    let published = front_matter(text.body(), "date").and_then(day);
    let on_micro_sd = title(text.body()).to_lowercase().contains("microsd");
    let card = |item: &str| {
        let item = plain(item);
        owned_card(&item).or_else(|| {
            let mut log = recommended_card(&item, published.as_deref())?;
            log.card.form = on_micro_sd.then(|| "microSD".to_owned());
            Some(log)
        })
    };
    items.filter_map(card).collect()
}

/// `16GB Example microSDHC UHS-I Class U1 (6.81€, 05/2016)`; a size alone could be anything.
fn owned_card(item: &str) -> Option<Log> {
    if !is_capacity(item.split_whitespace().next()?) || item.contains(": ") {
        return None;
    }
    let Described { mut card, brackets } = described(item);
    if card.form.is_none() && card.marks.is_empty() {
        return None;
    }
    let mut log = Log::new(FORMAT);
    let mut notes: Vec<String> = card.note.take().into_iter().collect();
    for inside in brackets {
        match price::bought(&inside) {
            Some(event) => log.events.push(event),
            None => notes.push(inside),
        }
    }
    card.note = Some(notes.join("; ")).filter(|note| !note.is_empty());
    log.part = Some(card.title());
    log.card = card;
    Some(log)
}

/// `Example Swift - $8 on a market`: nobody bought it, but that is what it cost then.
fn recommended_card(item: &str, published: Option<&str>) -> Option<Log> {
    let (name, offer) = item.split_once(" - ").or_else(|| item.split_once(" – "))?;
    let (price, rest) = price::price(offer)?;
    let mut log = Log::new(FORMAT);
    log.part = Some(name.to_owned());
    log.card = described(name).card;
    log.events.push(Event {
        date: published.map(str::to_owned),
        kind: EventKind::Note,
        price: Some(price),
        note: Some(rest.to_owned()).filter(|rest| !rest.is_empty()),
        source: None,
    });
    Some(log)
}

/// Cards whose name stands above the lines `CID:` and `CSD:`.
fn dumps(text: &Text) -> Vec<Log> {
    let mut logs = Vec::new();
    let (mut name, mut cid) = ("", None);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match (register(line, "CID"), register(line, "CSD")) {
            (Some(hex), _) => {
                logs.extend(cid.replace(hex).and_then(|cid| dumped(name, Some(cid), None)));
            }
            (_, Some(hex)) => logs.extend(dumped(name, cid.take(), Some(hex))),
            _ => {
                logs.extend(cid.take().and_then(|cid| dumped(name, Some(cid), None)));
                name = line;
            }
        }
    }
    logs.extend(cid.and_then(|cid| dumped(name, Some(cid), None)));
    logs
}

/// The 32 hex digits behind a register's name.
fn register<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let hex = line.strip_prefix(name)?.trim_start().strip_prefix(':')?.trim();
    (hex.len() == 32 && hex.bytes().all(|b| b.is_ascii_hexdigit())).then_some(hex)
}

/// A card with its registers; without a name above them they are no list's.
fn dumped(name: &str, cid: Option<&str>, csd: Option<&str>) -> Option<Log> {
    let Described { card, .. } = described(name);
    if name.len() > LONGEST_ITEM || card.capacity_label.is_none() {
        return None;
    }
    let mut log = Log::new(FORMAT);
    log.part = Some(name.to_owned());
    log.card = card;
    match from_hex(HexRegisters { cid, csd, ..HexRegisters::default() }) {
        Ok(identity) => {
            log.card.complete_from(&facts(&identity));
            log.other = registers(&identity);
        }
        Err(error) => log.doubts.push(error.to_string()),
    }
    Some(log)
}

#[cfg(test)]
#[path = "result_list_tests.rs"]
mod tests;
