//! Code does not parse its own sentences: calls that did so are gone and stay gone.

use std::path::{Path, PathBuf};

/// Call, file in which it parsed a sentence, and its replacement.
const READ_BACK: [(&str, &str, &str); 17] = [
    (".has_run(", "model/finding", "Finding::advised_verb"),
    (".value_of(", "session/frame, capacity/page/verdict", "FalseCapacity, Opened::waiting_journals"),
    (".contains(\" --", "session/after_verdict", "TestOptions"),
    (".split_once(\"; \")", "device/list", "Refusal::cause, Refusal::advice"),
    (".split(\". \")", "cli/verbs/archive/pages", "Answer::brief"),
    (".contains(\" now\")", "bench/verb/limits", "SupplyState"),
    ("card.title.starts_with(", "compare/card_overview, compare/card_lookup", "CardFacts::simulated_target"),
    ("title.startsWith(", "web/src/text, web/src/cards", "CardOverview.not_card"),
    (".trim_start_matches(\"a \")", "compare/card_lookup", "NotCard::label"),
    ("self.answer.starts_with(", "page/tree", "Answer::verdict"),
    ("self.answer.ends_with(", "page/tree", "Answer::advice"),
    ("toneOf", "web/src", "the field `tone` of the API"),
    ("error.message)", "web/src/live/TestForm", "ApiError.needsConsent"),
    (".contains(\"in memory\")", "capacity/verb/files/folder", "FileSystem::is_in_memory"),
    (".contains(\"read or wrote\")", "import/readers/speed/microsd_benchmarks", "dd::doubts"),
    (
        "pattern.split_once(",
        "page/chart/visit, compare/page/bar_charts",
        "Pattern::access, Pattern::parallelism",
    ),
    ("strip.name.split", "page/plot, page/chart/csv", "Strip::speeds"),
];

/// Modules that write the evidence which they read.
const WRITERS: [&str; 2] = ["crates/model/src/label_check.rs", "crates/model/src/label_check/speed.rs"];

fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder can be read") {
        let path = entry.expect("a folder can be read").path();
        let is_source = path.extension().is_some_and(|e| e == "rs" || e == "ts" || e == "svelte");
        let is_test = path.file_stem().is_some_and(|stem| stem.to_string_lossy().contains("test"));
        match path.is_dir() {
            true => files(&path, into),
            false => into.extend((is_source && !is_test).then_some(path)),
        }
    }
}

/// Sources of the program and of the app without tests, with names relative to the root.
fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let crates = std::fs::read_dir(root.join("crates")).expect("a folder can be read");
    let crates = crates.map(|entry| entry.expect("a folder can be read").path().join("src"));
    let mut found = Vec::new();
    crates.chain([root.join("web/src")]).for_each(|folder| files(&folder, &mut found));
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("a source can be read");
        let product = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned();
        (path.strip_prefix(&root).expect("it lies in the root").display().to_string(), product)
    };
    found.into_iter().map(read).collect()
}

#[test]
fn code_parses_none_of_its_own_sentences() {
    let sources = sources();
    assert!(sources.len() > 500, "{} files", sources.len());
    let mut found = Vec::new();
    for (name, text) in sources.iter().filter(|(name, _)| !WRITERS.contains(&name.as_str())) {
        let calls = READ_BACK.iter().filter(|(call, ..)| text.contains(call));
        found.extend(calls.map(|(call, stood, now)| format!("{name}: {call} as once in {stood}; use {now}")));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
