//! Helpers of the end-to-end tests: the built binary with its own archive, and loop devices, mounts and served cards
//! that are removed when dropped, also after a panic.

pub(crate) mod binary;
pub(crate) mod logs;
pub(crate) mod machine;
pub(crate) mod maps;
pub(crate) mod nbd;
pub(crate) mod pages;
pub(crate) mod python;
pub(crate) mod served;
#[path = "../../../crates/store/tests/archive/server.rs"]
pub(crate) mod server;
pub(crate) mod turns;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Limit of every wait. No command takes nearly as long, even on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(100);

/// Folder of the real logs, beside the workspace, if they are available.
pub(crate) fn data() -> PathBuf {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    std::env::var_os("CARDSCOPE_DATA").map_or(beside, PathBuf::from)
}

/// Waits until `ready` returns true.
#[track_caller]
pub(crate) fn until(what: &str, mut ready: impl FnMut() -> bool) {
    let start = Instant::now();
    while !ready() {
        assert!(start.elapsed() < PATIENCE, "waited {PATIENCE:?} for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Number at a JSON pointer.
#[track_caller]
pub(crate) fn number(value: &Value, pointer: &str) -> f64 {
    let found = value.pointer(pointer).unwrap_or_else(|| panic!("no {pointer} in {value:#}"));
    found.as_f64().unwrap_or_else(|| panic!("{pointer} is no number: {found}"))
}

/// Document without the answer of its page, which is not stored.
#[track_caller]
pub(crate) fn without_answer(mut document: Value) -> Value {
    let answer = document.as_object_mut().and_then(|fields| fields.remove("answer"));
    assert!(answer.is_some_and(|answer| answer.as_str().is_some_and(|a| !a.is_empty())), "{document:#}");
    document
}

/// Text at a JSON pointer.
#[track_caller]
pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    let found = value.pointer(pointer).unwrap_or_else(|| panic!("no {pointer} in {value:#}"));
    found.as_str().unwrap_or_else(|| panic!("{pointer} is no text: {found}"))
}

/// List at a JSON pointer.
#[track_caller]
pub(crate) fn list<'a>(value: &'a Value, pointer: &str) -> &'a Vec<Value> {
    let found = value.pointer(pointer).unwrap_or_else(|| panic!("no {pointer} in {value:#}"));
    found.as_array().unwrap_or_else(|| panic!("{pointer} is no list: {found}"))
}

/// Results of all runs of a bench document.
pub(crate) fn results(document: &Value) -> Vec<&Value> {
    list(document, "/runs").iter().flat_map(|run| list(run, "/results")).collect()
}

/// Result of one test in the first run, named like `RND4K Q32T1 read`.
#[track_caller]
pub(crate) fn result<'a>(document: &'a Value, name: &str) -> &'a Value {
    let named = |r: &&Value| format!("{} {}", text(r, "/test"), text(r, "/op")) == name;
    let found = list(document, "/runs/0/results").iter().find(named);
    found.unwrap_or_else(|| panic!("no result of {name} in {document:#}"))
}

/// Kinds of the caveats in a document.
pub(crate) fn caveats(document: &Value) -> Vec<&str> {
    let of = |value: &'_ Value| value.get("caveats").and_then(Value::as_array).cloned().unwrap_or_default();
    let known =
        ["no-direct-io", "layered", "no-io-uring", "not-precise", "above-bus-ceiling", "failed-ios", "other"];
    let there: Vec<Value> =
        of(document).into_iter().chain(results(document).into_iter().flat_map(of)).collect();
    known.into_iter().filter(|word| there.iter().any(|c| c["code"] == *word)).collect()
}
