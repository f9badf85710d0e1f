//! Helpers for tests of `map`.

use super::binary::Home;
use super::machine::names_in;
use super::{list, number, text};
use serde_json::Value;
use std::path::PathBuf;

/// Properties that `DESIGN.md` promises in the document.
pub(crate) const PROMISED: [&str; 8] = [
    "/page_bytes",
    "/read_unit_bytes",
    "/erase_block_bytes",
    "/open_blocks/linear",
    "/open_blocks/random",
    "/fat_region_bytes",
    "/slc_cache_bytes",
    "/queue_depth_effective",
];

/// Asserts that each promised property has a status, a value exactly if measured, and otherwise a reason.
#[track_caller]
pub(crate) fn holds_what_is_promised(document: &Value) {
    for name in PROMISED {
        let property = document.pointer(name).unwrap_or_else(|| panic!("no {name} in {document:#}"));
        let value = property.get("value").unwrap();
        match text(property, "/status") {
            "measured" => assert!(!value.is_null(), "{name}"),
            "none" => assert!(value.is_null(), "{name}"),
            "at_least" => assert!(value.is_null() && property["bound"].is_number(), "{name}"),
            "not_tested" => assert!(value.is_null() && !text(property, "/reason").is_empty(), "{name}"),
            other => panic!("{name} is {other}"),
        }
        assert!((0.0..=1.0).contains(&number(property, "/confidence")), "{name}");
        assert!(property.get("evidence").is_some(), "{name}");
    }
    assert!(document["advice"].is_object() && !list(document, "/profile").is_empty());
}

/// Writing parts without those that take long on a loop device; all parts with `CARDSCOPE_LONG=1`.
pub(crate) fn parts() -> &'static [&'static str] {
    let long = std::env::var("CARDSCOPE_LONG").is_ok_and(|value| !value.is_empty() && value != "0");
    if long { &["--cache", "16M"] } else { &["--cache", "16M", "--only", "open-blocks", "--only", "cache"] }
}

/// Journals in a home.
pub(crate) fn journals(home: &Home) -> Vec<PathBuf> {
    let folder = home.path("state/cardscope");
    let names = if folder.exists() { names_in(&folder) } else { Vec::new() };
    names.into_iter().filter(|name| name.starts_with("journal-")).map(|name| folder.join(name)).collect()
}

pub(crate) fn claims(document: &Value) -> Vec<String> {
    let findings = document.get("findings").and_then(Value::as_array).cloned().unwrap_or_default();
    findings.iter().map(|f| text(f, "/claim").to_owned()).collect()
}
