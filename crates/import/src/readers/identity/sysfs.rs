//! Registers of a card from Linux' sysfs, in the forms that people post: `cat` with its output, `grep . /sys/…/device/*`,
//! `head` with `==> … <==`, udev's `ATTRS{cid}=="…"`, `cid: …`, and lines of pairs (`man:0x000003 oem:0x5344 name:… cid:…`).
//!
//! Names are those of drivers/mmc/core/sd.c.

use super::facts::{card_facts, given_registers, maker_name};
use crate::readers::{LogText, ReaderOutcome, parse_month};
use cardscope_model::identity::{HexRegisters, from_hex};
use cardscope_model::log::CardLog;
use cardscope_sd::bus::MmcBus;
use serde_json::json;
use std::collections::BTreeMap;

const REGISTER_NAMES: &str = "cid csd scr ssr ocr name manfid oemid serial date hwrev fwrev type erase_size \
    preferred_erase_size";

/// Most cards of one text; garbage can look like millions.
const MOST_CARDS: usize = 10_000;

type Values = BTreeMap<&'static str, String>;

/// True if the text has a CID or CSD of the right length, or the three names that only such cards have.
pub(crate) fn recognise(text: &LogText) -> bool {
    let hex = |value: &String| value.len() == 32 && value.bytes().all(|b| b.is_ascii_hexdigit());
    split_cards(text.head()).iter().any(|card| {
        ["cid", "csd"].iter().any(|name| card.get(name).is_some_and(hex))
            || ["name", "manfid", "oemid"].iter().all(|name| card.contains_key(name))
    })
}

/// Reads the text; each card is a log.
pub(crate) fn read(text: &LogText) -> ReaderOutcome {
    Ok(split_cards(text.body()).iter().map(card_log).collect())
}

fn card_log(card: &Values) -> CardLog {
    let mut log = CardLog::default();
    let value = |name: &str| card.get(name).map(String::as_str);
    let [cid, csd, scr, ssr, ocr, kind] = ["cid", "csd", "scr", "ssr", "ocr", "type"].map(value);
    match from_hex(HexRegisters { cid, csd, scr, ssr, ocr, kind }) {
        Ok(identity) => {
            log.card = card_facts(&identity);
            log.other = given_registers(&identity);
        }
        Err(error) => log.doubts.push(error.to_string()),
    }
    add_kernel_facts(card, &mut log);
    let number = |name: &str| value(name).and_then(|text| text.parse().ok());
    let bus = MmcBus {
        kind: kind.map(str::to_owned),
        erase_size: number("erase_size"),
        preferred_erase_size: number("preferred_erase_size"),
        ..MmcBus::default()
    };
    log.other.extend((bus != MmcBus::default()).then(|| ("mmc".to_owned(), json!(bus))));
    log
}

/// Adds facts that the kernel decoded, if the register itself is missing.
fn add_kernel_facts(card: &Values, log: &mut CardLog) {
    let owned = |name: &str| card.get(name).cloned();
    let facts = &mut log.card;
    facts.model = facts.model.take().or_else(|| owned("name"));
    facts.serial = facts.serial.take().or_else(|| owned("serial"));
    facts.made = facts.made.take().or_else(|| parse_month("%m/%Y", card.get("date")?));
    facts.maker = facts.maker.take().or_else(|| maker_name(card.get("manfid")?, card.get("oemid")?));
}

/// Splits the text into cards; a second value of a name begins the next card.
fn split_cards(text: &str) -> Vec<Values> {
    let mut cards = vec![Values::new()];
    let mut asked = None;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let found = match asked.take() {
            Some(name) if printed_register(line).is_none() => vec![(name, line)],
            _ => {
                asked = printed_register(line);
                if asked.is_some() { Vec::new() } else { parse_pairs(line) }
            }
        };
        if cards.len() > MOST_CARDS {
            break;
        }
        for (name, value) in found {
            if cards.last().is_some_and(|card| card.get(name).is_some_and(|known| known != value)) {
                cards.push(Values::new());
            }
            let last = cards.len() - 1;
            cards[last].insert(name, value.to_owned());
        }
    }
    cards.retain(|card| !card.is_empty());
    cards
}

fn canonical_name(name: &str) -> Option<&'static str> {
    let name = match name {
        _ if name.eq_ignore_ascii_case("man") => "manfid",
        _ if name.eq_ignore_ascii_case("oem") => "oemid",
        name => name,
    };
    REGISTER_NAMES.split(' ').find(|known| name.eq_ignore_ascii_case(known))
}

/// Name of the register whose value follows a header line, `# cat /sys/block/mmcblk0/device/cid` or `==> /sys/…/cid
/// <==`; `None` for other lines.
fn printed_register(line: &str) -> Option<&'static str> {
    let path = match line.strip_prefix("==> ").and_then(|rest| rest.strip_suffix(" <==")) {
        Some(path) => path,
        None => line.split_once("cat ")?.1.split_whitespace().next()?,
    };
    canonical_name(path.rsplit('/').next()?)
}

fn parse_pairs(line: &str) -> Vec<(&'static str, &str)> {
    let several: Option<Vec<_>> = line.split_whitespace().map(parse_pair).collect();
    several.filter(|pairs| pairs.len() > 1).unwrap_or_else(|| parse_pair(line).into_iter().collect())
}

/// `cid: 0353…`, `cid=0353…`, `/sys/bus/mmc/devices/mmc0:aaaa/cid:0353…`, `ATTRS{cid}=="0353…"`
fn parse_pair(text: &str) -> Option<(&'static str, &str)> {
    let (left, right) = match text.starts_with('/') {
        true => text.rsplit_once(':'),
        false => text.split_once(['=', ':']),
    }?;
    let name = left.trim().trim_end_matches('}').rsplit(['/', '{']).next()?;
    let value = right.trim_matches(|c: char| c.is_whitespace() || matches!(c, '=' | '"' | '\''));
    Some((canonical_name(name.trim())?, value)).filter(|(_, value)| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_of_cards_is_limited() {
        assert!(split_cards(&"name:a\nname:b\n".repeat(20_000)).len() <= MOST_CARDS + 1);
    }
}
