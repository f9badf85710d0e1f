//! Every promise in the chapters on safety and security names an existing test.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Names of functions below a folder, tests included. Those of the browser app are constants.
fn functions(folder: &Path, into: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let extension = path.extension().and_then(|extension| extension.to_str());
        if path.is_dir() && !path.ends_with("node_modules") {
            functions(&path, into);
        } else if let Some(begin) = extension.and_then(|extension| match extension {
            "rs" => Some("fn "),
            "mjs" => Some("\nconst "),
            _ => None,
        }) {
            let text = std::fs::read_to_string(&path).unwrap();
            let names = text.split(begin).skip(1).filter_map(|rest| rest.split(['(', '<', ' ']).next());
            into.extend(names.map(str::to_owned));
        }
    }
}

/// Cells of the column with tests in all tables, with their lines.
fn test_cells(text: &str) -> Vec<(&str, &str)> {
    let mut cells = Vec::new();
    let mut is_ours = false;
    for line in text.lines() {
        let last = line.strip_suffix(" |").and_then(|row| row.rsplit(" | ").next());
        is_ours = last.is_some_and(|cell| is_ours || cell == "held by");
        cells.extend(
            last.filter(|cell| is_ours && *cell != "held by" && *cell != "---").map(|cell| (line, cell)),
        );
    }
    cells
}

/// True if a name in a code span is that of a function. The name may be abbreviated.
fn is_there(name: &str, functions: &[String]) -> bool {
    let last = name.rsplit("::").next().unwrap_or(name);
    let mut parts = last.split('…');
    let begin = parts.next().unwrap_or_default();
    let rest: Vec<&str> = parts.collect();
    functions.iter().any(|function| match rest.is_empty() {
        true => function == begin,
        false => function.starts_with(begin) && rest.iter().all(|part| function.contains(part)),
    })
}

#[test]
fn safety_promises_name_existing_tests() {
    let mut all = Vec::new();
    ["crates", "tests"].iter().for_each(|folder| functions(&root().join(folder), &mut all));
    for (document, least) in [("docs/safety.md", 20), ("docs/security.md", 70)] {
        let text = std::fs::read_to_string(root().join(document)).unwrap();
        let cells = test_cells(&text);
        assert!(cells.len() >= least, "{document} has {} rows with tests", cells.len());
        for (line, cell) in cells {
            let named: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
            assert!(!named.is_empty() || cell.starts_with("the same"), "{document} names no test: {line}");
            // Names of files are checked by another test.
            for name in named.into_iter().filter(|name| !name.contains(['/', '.'])) {
                assert!(is_there(name, &all), "{document} names {name}, which is not there: {line}");
            }
        }
    }
}
