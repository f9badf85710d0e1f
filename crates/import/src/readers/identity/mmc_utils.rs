//! mmc-utils: `mmc cid read`, `mmc csd read` and `mmc extcsd read`, and the raw EXT_CSD of debugfs.
//!
//! Layout of the texts: mmc-utils of 2022; of the register: JEDEC eMMC 5.1 (JESD84-B51), 7.4. A life time estimate of n
//! means that up to n times 10 % of the device's life are used, 0Bh that all of it is.

use crate::readers::{LogText, ReaderOutcome, new_log, parse_month, text_between, trimmed_text};
use cardscope_model::log::CardLog;
use serde_json::{Map, Value, json};

/// Hex digits of EXT_CSD.
const RAW_DIGITS: usize = 1024;

/// Fields that are read from the raw register: name, first byte, bytes.
const RAW_FIELDS: [(&str, usize, usize); 6] = [
    ("EXT_CSD_REV", 192, 1),
    ("CSD_STRUCTURE", 194, 1),
    ("SEC_COUNT", 212, 4),
    ("EXT_CSD_PRE_EOL_INFO", 267, 1),
    ("EXT_CSD_DEVICE_LIFE_TIME_EST_TYP_A", 268, 1),
    ("EXT_CSD_DEVICE_LIFE_TIME_EST_TYP_B", 269, 1),
];

/// True if the text has a line that only mmc-utils prints, or the raw register.
pub(crate) fn recognise(text: &LogText) -> bool {
    const STARTS: [&str; 3] = ["Extended CSD rev 1.", "======SD/C", "======MMC/C"];
    let own = |l: &str| {
        STARTS.iter().any(|s| l.trim().starts_with(s)) || matches!(parse_bracket(l), Some(("SEC_COUNT", _)))
    };
    // Either of these two alone could be from any YAML file.
    let line = |begin: &str| text.lines().any(|line| line.trim().starts_with(begin));
    text.lines().any(own) || (line("manufacturer: '") && line("product: '")) || raw_register(text).is_some()
}

pub(crate) fn read(text: &LogText) -> ReaderOutcome {
    let mut log = CardLog::default();
    let ext_csd = raw_register(text).unwrap_or_else(|| read_fields(text));
    if !ext_csd.is_empty() {
        log.card.form = Some("eMMC".to_owned());
        // Below 2 GiB the register leaves the capacity to the CSD.
        let sectors = ext_csd.get("SEC_COUNT").and_then(Value::as_u64).filter(|n| *n > 0);
        log.card.capacity_bytes = sectors.and_then(|n| n.checked_mul(512));
        log.other.insert("ext_csd".into(), to_document(ext_csd));
    }
    text.lines().for_each(|line| read_card_line(line.trim(), &mut log));
    log.tool = new_log("mmc-utils", None).tool.filter(|_| !log.is_empty());
    Ok(vec![log])
}

/// Fields under the register's names in lower case, and the life time in percent.
fn to_document(fields: Map<String, Value>) -> Value {
    let percent = |kind: &str| {
        let name = format!("EXT_CSD_DEVICE_LIFE_TIME_EST_TYP_{kind}");
        fields.get(&name).and_then(Value::as_u64).filter(|n| (1..=10).contains(n)).map(|n| n * 10)
    };
    let used = [("life_used_a_percent_at_most", percent("A")), ("life_used_b_percent_at_most", percent("B"))];
    let short = |name: &str| name.trim_start_matches("EXT_CSD_").to_lowercase();
    let mut document: Map<String, Value> = fields.into_iter().map(|(n, value)| (short(&n), value)).collect();
    document.extend(used.into_iter().filter_map(|(name, percent)| Some((name.to_owned(), json!(percent?)))));
    Value::Object(document)
}

/// `Sector Count [SEC_COUNT: 0x00e90000]` and `eMMC Pre EOL information [EXT_CSD_PRE_EOL_INFO]: 0x01`. The first value of a
/// name counts.
fn read_fields(text: &LogText) -> Map<String, Value> {
    let mut fields = Map::new();
    for (name, value) in text.lines().filter_map(parse_bracket) {
        fields.entry(name).or_insert(json!(value));
    }
    fields
}

fn parse_bracket(line: &str) -> Option<(&str, u64)> {
    let (_, rest) = line.split_once('[')?;
    let (inside, after) = rest.split_once(']')?;
    let (name, value) = inside.split_once(':').unwrap_or((inside, after.trim_start_matches([':', ' '])));
    let is_name = name.len() > 2 && name.bytes().all(|b| matches!(b, b'A'..=b'Z' | b'0'..=b'9' | b'_'));
    let digits = value.trim().strip_prefix("0x")?.split_whitespace().next()?;
    Some((name, u64::from_str_radix(digits, 16).ok()?)).filter(|_| is_name)
}

/// Register in hex, as in `/sys/kernel/debug/mmc0/mmc0:0001/ext_csd`.
fn raw_register(text: &LogText) -> Option<Map<String, Value>> {
    let line = text.lines().map(str::trim).find(|line| line.len() == RAW_DIGITS)?;
    let byte = |at: usize| u8::from_str_radix(line.get(2 * at..2 * at + 2)?, 16).ok();
    let bytes: Vec<u8> = (0..RAW_DIGITS / 2).map(byte).collect::<Option<_>>()?;
    let number = |at: usize, length: usize| {
        bytes[at..at + length].iter().rev().fold(0u64, |n, b| n << 8 | u64::from(*b))
    };
    let fields = RAW_FIELDS.iter();
    Some(fields.map(|(name, at, length)| ((*name).to_owned(), json!(number(*at, *length)))).collect())
}

/// Reads a line of `cid read`, or of its fields with `-v`.
fn read_card_line(line: &str, log: &mut CardLog) {
    let Some((name, value)) = line.split_once(':') else { return };
    let value = value.trim();
    let card = &mut log.card;
    let quoted = || trimmed_text(value.split('\'').nth(1)?);
    match name {
        "manufacturer" => card.maker = quoted().filter(|maker| maker != "Unlisted"),
        "product" => card.model = quoted(),
        "PNM" => card.model = trimmed_text(value),
        "serial" | "PSN" => card.serial = value.split_whitespace().next().map(str::to_owned),
        "manufacturing date" | "MDT" => card.made = manufacturing_month(value),
        "type" => card.form = Some(value.trim_matches('\'').replace("MMC", "eMMC")),
        "capacity" => card.capacity_bytes = card.capacity_bytes.or_else(|| capacity_bytes(value)),
        _ => {}
    }
}

/// `2024 may`, or with `-v` after the digits: `0x185 2024 may`.
fn manufacturing_month(text: &str) -> Option<String> {
    let mut words = text.split_whitespace().rev();
    let name = words.next()?.get(..3)?;
    parse_month("%Y %b", &format!("{} {name}", words.next()?))
}

/// Bytes in `29.72Gbyte (31914983424 bytes, 62333952 sectors, 512 bytes each)`. The rounded size is not used.
fn capacity_bytes(text: &str) -> Option<u64> {
    text_between(text, "(", " bytes")?.trim().parse().ok()
}
