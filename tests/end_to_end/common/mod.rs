//! What the end-to-end tests share: the built binary with an archive of its own for each test, and things of the
//! machine (loop devices, mounts, served cards) that are taken away again when dropped, also when a test panics.

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

/// No command of a test takes nearly as long, on a busy machine either: beyond it, it hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(100);

/// The real logs, where they are at hand: by themselves beside the workspace.
pub(crate) fn data() -> PathBuf {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    std::env::var_os("CARDSCOPE_DATA").map_or(beside, PathBuf::from)
}

/// Waits until `ready` holds.
#[track_caller]
pub(crate) fn until(what: &str, mut ready: impl FnMut() -> bool) {
    let start = Instant::now();
    while !ready() {
        assert!(start.elapsed() < PATIENCE, "waited {PATIENCE:?} for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The number at a JSON pointer.
#[track_caller]
pub(crate) fn number(value: &Value, pointer: &str) -> f64 {
    let found = value.pointer(pointer).unwrap_or_else(|| panic!("no {pointer} in {value:#}"));
    found.as_f64().unwrap_or_else(|| panic!("{pointer} is no number: {found}"))
}

/// A document without the answer of its page, which is made from it and stored nowhere.
#[track_caller]
pub(crate) fn without_answer(mut document: Value) -> Value {
    let answer = document.as_object_mut().and_then(|fields| fields.remove("answer"));
    assert!(answer.is_some_and(|answer| answer.as_str().is_some_and(|a| !a.is_empty())), "{document:#}");
    document
}

/// The text at a JSON pointer.
#[track_caller]
pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    let found = value.pointer(pointer).unwrap_or_else(|| panic!("no {pointer} in {value:#}"));
    found.as_str().unwrap_or_else(|| panic!("{pointer} is no text: {found}"))
}

/// The list at a JSON pointer.
#[track_caller]
pub(crate) fn list<'a>(value: &'a Value, pointer: &str) -> &'a Vec<Value> {
    let found = value.pointer(pointer).unwrap_or_else(|| panic!("no {pointer} in {value:#}"));
    found.as_array().unwrap_or_else(|| panic!("{pointer} is no list: {found}"))
}

/// All results of all runs of a bench document.
pub(crate) fn results(document: &Value) -> Vec<&Value> {
    list(document, "/runs").iter().flat_map(|run| list(run, "/results")).collect()
}

/// The result of one test, named like `RND4K Q32T1 read`, in the first run.
#[track_caller]
pub(crate) fn result<'a>(document: &'a Value, name: &str) -> &'a Value {
    let named = |r: &&Value| format!("{} {}", text(r, "/test"), text(r, "/op")) == name;
    let found = list(document, "/runs/0/results").iter().find(named);
    found.unwrap_or_else(|| panic!("no result of {name} in {document:#}"))
}

/// The words by which the doubts about a document are known.
pub(crate) fn caveats(document: &Value) -> Vec<&str> {
    let of = |value: &'_ Value| value.get("caveats").and_then(Value::as_array).cloned().unwrap_or_default();
    let known =
        ["no-direct-io", "layered", "no-io-uring", "not-precise", "above-bus-ceiling", "failed-ios", "other"];
    let there: Vec<Value> =
        of(document).into_iter().chain(results(document).into_iter().flat_map(of)).collect();
    known.into_iter().filter(|word| there.iter().any(|c| c["code"] == *word)).collect()
}
