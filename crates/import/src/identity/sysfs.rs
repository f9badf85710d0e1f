//! A card's registers as Linux hands them out in sysfs, in the ways people show them: `cat` with its answer below,
//! `grep . /sys/…/device/*`, `head` with `==> … <==`, udev's `ATTRS{cid}=="…"`, `cid: …`, and lines of pairs
//! (`man:0x000003 oem:0x5344 name:… cid:…`).
//!
//! Names are those of drivers/mmc/core/sd.c.

use super::facts::{facts, made_by, registers};
use crate::dates::month;
use crate::error::ImportError;
use crate::text::Text;
use cardscope_model::identity::{HexRegisters, from_hex};
use cardscope_model::log::Log;
use cardscope_sd::bus::MmcBus;
use serde_json::json;
use std::collections::BTreeMap;

/// Names in sysfs, and what else they are called.
const NAMES: [(&str, &str); 17] = [
    ("cid", "cid"),
    ("csd", "csd"),
    ("scr", "scr"),
    ("ssr", "ssr"),
    ("ocr", "ocr"),
    ("name", "name"),
    ("manfid", "manfid"),
    ("man", "manfid"),
    ("oemid", "oemid"),
    ("oem", "oemid"),
    ("serial", "serial"),
    ("date", "date"),
    ("hwrev", "hwrev"),
    ("fwrev", "fwrev"),
    ("type", "type"),
    ("erase_size", "erase_size"),
    ("preferred_erase_size", "preferred_erase_size"),
];

/// Cards of one text; garbage can look like millions.
const MOST_CARDS: usize = 10_000;

/// One card's values by name.
type Values = BTreeMap<&'static str, String>;

/// True where a CID or CSD of the right length stands in it, or the three names that only such cards have.
pub(crate) fn recognise(text: &Text) -> bool {
    let hex = |value: &String| value.len() == 32 && value.bytes().all(|b| b.is_ascii_hexdigit());
    cards(text.head()).iter().any(|card| {
        ["cid", "csd"].iter().any(|name| card.get(name).is_some_and(hex))
            || ["name", "manfid", "oemid"].iter().all(|name| card.contains_key(name))
    })
}

/// Reads it: each card is a log.
///
/// # Errors
/// None; the list of formats asks for this shape.
pub(crate) fn read(text: &Text) -> Result<Vec<Log>, ImportError> {
    Ok(cards(text.body()).iter().map(log).collect())
}

fn log(card: &Values) -> Log {
    let mut log = Log::new("sysfs");
    let value = |name: &str| card.get(name).map(String::as_str);
    let hex = HexRegisters {
        cid: value("cid"),
        csd: value("csd"),
        scr: value("scr"),
        ssr: value("ssr"),
        ocr: value("ocr"),
        kind: value("type"),
    };
    match from_hex(hex) {
        Ok(identity) => {
            log.card = facts(&identity);
            log.other = registers(&identity);
        }
        Err(error) => log.doubts.push(error.to_string()),
    }
    named(card, &mut log);
    let number = |name: &str| value(name).and_then(|text| text.parse().ok());
    let bus = MmcBus {
        kind: value("type").map(str::to_owned),
        erase_size: number("erase_size"),
        preferred_erase_size: number("preferred_erase_size"),
        ..MmcBus::default()
    };
    if bus != MmcBus::default() {
        log.other.insert("mmc".into(), json!(bus));
    }
    log
}

/// What the kernel had decoded already, where the register itself is not there.
fn named(card: &Values, log: &mut Log) {
    let owned = |name: &str| card.get(name).cloned();
    let facts = &mut log.card;
    facts.model = facts.model.take().or_else(|| owned("name"));
    facts.serial = facts.serial.take().or_else(|| owned("serial"));
    facts.made = facts.made.take().or_else(|| month("%m/%Y", card.get("date")?));
    facts.maker = facts.maker.take().or_else(|| made_by(card.get("manfid")?, card.get("oemid")?));
}

/// The cards of a text; a name that comes again begins the next one.
fn cards(text: &str) -> Vec<Values> {
    let mut cards = vec![Values::new()];
    let mut asked = None;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let found = match asked.take() {
            Some(name) if command(line).is_none() => vec![(name, line)],
            _ => {
                asked = command(line);
                if asked.is_some() { Vec::new() } else { pairs(line) }
            }
        };
        if cards.len() > MOST_CARDS {
            break;
        }
        for (name, value) in found {
            if cards.last().is_some_and(|card| card.get(name).is_some_and(|known| known != value)) {
                cards.push(Values::new());
            }
            cards.iter_mut().last().into_iter().for_each(|card| {
                card.insert(name, value.to_owned());
            });
        }
    }
    cards.retain(|card| !card.is_empty());
    cards
}

fn known(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    NAMES.iter().find(|(shown, _)| *shown == name).map(|(_, known)| *known)
}

/// The register that the next line answers: `# cat /sys/block/mmcblk0/device/cid`, `==> /sys/…/cid <==`.
fn command(line: &str) -> Option<&'static str> {
    let path = match line.strip_prefix("==> ").and_then(|rest| rest.strip_suffix(" <==")) {
        Some(path) => path,
        None => line.split_once("cat ")?.1.split_whitespace().next()?,
    };
    known(path.rsplit('/').next()?)
}

/// The pairs of a line.
fn pairs(line: &str) -> Vec<(&'static str, &str)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let several: Vec<_> = words.iter().filter_map(|word| pair(word)).collect();
    if words.len() > 1 && several.len() == words.len() {
        return several;
    }
    pair(line).into_iter().collect()
}

/// `cid: 0353…`, `cid=0353…`, `/sys/bus/mmc/devices/mmc0:aaaa/cid:0353…`, `ATTRS{cid}=="0353…"`
fn pair(text: &str) -> Option<(&'static str, &str)> {
    let (left, right) = match text.starts_with('/') {
        true => text.rsplit_once(':'),
        false => text.split_once(['=', ':']),
    }?;
    let name = left.trim().trim_end_matches('}').rsplit(['/', '{']).next()?;
    let value = right.trim_matches(|c: char| c.is_whitespace() || matches!(c, '=' | '"' | '\''));
    Some((known(name.trim())?, value)).filter(|(_, value)| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const CID: &str = "1b534d454231515430a1b2c3d4017a00";
    const CSD: &str = "400e00325b590000ee7f7f800a400000";

    fn logs(text: &str) -> Vec<Log> {
        let text = Text::decode(text.as_bytes());
        assert!(recognise(&text));
        read(&text).unwrap()
    }

    #[rstest]
    #[case::cat(format!("$ cat /sys/block/mmcblk0/device/cid\r\n{CID}\r\n$ cat /sys/block/mmcblk0/device/csd\r\n{CSD}\r\n"))]
    #[case::grep(format!("/sys/bus/mmc/devices/mmc0:aaaa/cid:{CID}\n/sys/bus/mmc/devices/mmc0:aaaa/csd:{CSD}\n/sys/bus/mmc/devices/mmc0:aaaa/dsr:0x404\n"))]
    #[case::head(format!("==> /sys/block/mmcblk0/device/cid <==\n{CID}\n\n==> /sys/block/mmcblk0/device/csd <==\n{CSD}\n"))]
    #[case::udev(format!("    ATTRS{{cid}}==\"{CID}\"\n    ATTRS{{csd}}==\"{CSD}\"\n"))]
    #[case::plain(format!("CID: {CID}\nCSD = {CSD}\n"))]
    #[case::pairs(format!("man:0x00001b oem:0x534d name:EB1QT hwrev:0x3 fwrev:0x0 date:10/2023 cid:{CID} csd:{CSD}"))]
    fn a_cards_registers_are_found_however_they_are_shown(#[case] text: String) {
        let logs = logs(&text);
        let card = &logs[0].card;
        assert_eq!((logs.len(), card.cid.as_deref(), card.csd.as_deref()), (1, Some(CID), Some(CSD)));
        assert_eq!((card.model.as_deref(), card.capacity_bytes), (Some("EB1QT"), Some(32_010_928_128)));
        assert_eq!(logs[0].other["cid"]["pnm"], "EB1QT");
    }

    #[test]
    fn garbage_that_looks_like_millions_of_cards_ends() {
        assert!(cards(&"name:a\nname:b\n".repeat(20_000)).len() <= MOST_CARDS + 1);
    }

    #[test]
    fn what_the_kernel_decoded_counts_where_the_register_is_missing() {
        let log = &logs(
            "manfid: 0x000003\noemid: 0x5344\nname: SX64G\nserial: 0x12345678\ndate: 04/2021\ntype: SD\npreferred_erase_size: 8388608\n",
        )[0];
        assert_eq!((log.card.model.as_deref(), log.card.made.as_deref()), (Some("SX64G"), Some("2021-04")));
        assert!(
            log.card.maker.as_deref().is_some_and(|maker| maker.contains("SanDisk")),
            "{:?}",
            log.card.maker
        );
        assert_eq!(log.other["mmc"]["preferred_erase_size"], 8_388_608);
    }

    #[test]
    fn a_second_cid_is_a_second_card() {
        let other = CID.replace("a1b2c3d4", "00000001");
        assert_eq!(logs(&format!("cid: {CID}\ncid: {other}\n")).len(), 2);
    }

    #[test]
    fn a_register_cut_in_the_middle_is_a_doubt() {
        let log = &logs(&format!("cid: {CID}\ncsd: {}", &CSD[..20]))[0];
        assert!(log.doubts[0].contains("CSD"), "{:?}", log.doubts);
        assert!(!recognise(&Text::of(&format!("cid: {}", &CID[..20]))));
    }

    proptest::proptest! {
        #[test]
        fn any_cid_comes_back(cid in "[0-9a-f]{32}") {
            let log = &logs(&format!("cid: {cid}\n"))[0];
            proptest::prop_assert_eq!(log.card.cid.as_deref(), Some(cid.as_str()));
        }
    }
}
