//! Citations in sources name a section of `docs/reference`, and no page outside of the project.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const PREFIX: &str = "docs/reference/";

/// Notes outside of the project. "seed 00" numbers a published report without its title.
const OUTSIDE: [&str; 8] = [
    "reference page",
    "flash-behaviour",
    "sd-facts",
    "kernel-and-cards",
    "real-drivers",
    "style-and-deps",
    "`peers`",
    "seed 00",
];

/// Tests that contain these names themselves.
const OWN: [&str; 2] = ["tests/structure/sources.rs", "tests/structure/voice.rs"];

const FOLDERS: [&str; 16] = [
    "benches",
    "capacities",
    "cards",
    "collection",
    "crates",
    "docs",
    "fuzz",
    "hosts",
    "jobs",
    "packaging",
    "recipes",
    "scripts",
    "tests",
    "web",
    "README.md",
    "CHANGELOG.md",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Text files of the project below `path`, with their content.
fn texts(path: &str, into: &mut Vec<(String, String)>) {
    let full = root().join(path);
    if !full.is_dir() {
        into.extend(std::fs::read_to_string(full).ok().map(|text| (path.to_owned(), text)));
        return;
    }
    for entry in std::fs::read_dir(full).expect("a folder of the project can be read") {
        let name = entry.expect("an entry can be read").file_name().into_string().expect("a name is UTF-8");
        if !["target", "node_modules", "dist"].contains(&name.as_str()) && !name.starts_with('.') {
            texts(&format!("{path}/{name}"), into);
        }
    }
}

/// Anchors of a page's headings as mdBook names them. No two headings of these pages are alike.
fn anchors(page: &str) -> BTreeSet<String> {
    let headings = page.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#'));
    let letter = |c: char| (c.is_alphanumeric() || "_-".contains(c)).then_some(c);
    let name = |heading: &str| {
        let lower = heading.trim().to_lowercase();
        lower.chars().filter_map(|c| if c.is_whitespace() { Some('-') } else { letter(c) }).collect()
    };
    headings.map(name).collect()
}

/// Citations in a text: `NAME.md` or `NAME.md#anchor` after `docs/reference/`.
fn citations(text: &str) -> impl Iterator<Item = &str> {
    text.split(PREFIX).skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "-_.#".contains(c)));
        let cited = rest[..end.unwrap_or(rest.len())].trim_end_matches('.');
        (!cited.is_empty()).then_some(cited)
    })
}

/// Reason why a citation is wrong.
fn fault(cited: &str) -> Option<&'static str> {
    let (page, anchor) = cited.split_once('#').unwrap_or((cited, ""));
    let Ok(text) = std::fs::read_to_string(root().join(PREFIX).join(page)) else {
        return Some("no such page");
    };
    (!anchor.is_empty() && !anchors(&text).contains(anchor)).then_some("no such heading")
}

#[test]
fn citations_name_existing_sections() {
    let mut sources = Vec::new();
    FOLDERS.iter().for_each(|folder| texts(folder, &mut sources));
    sources.retain(|(path, _)| !OWN.contains(&path.as_str()));
    let cited: Vec<_> =
        sources.iter().flat_map(|(path, text)| citations(text).map(move |cited| (path, cited))).collect();
    assert!(cited.len() > 150, "{} citations are not all", cited.len());
    let wrong: Vec<_> = cited
        .iter()
        .filter_map(|(path, cited)| fault(cited).map(|fault| format!("{path}: {cited}: {fault}")))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn sources_cite_no_page_outside_of_the_project() {
    let mut sources = Vec::new();
    FOLDERS.iter().for_each(|folder| texts(folder, &mut sources));
    assert!(sources.len() > 1000, "{} files are not all", sources.len());
    let mut wrong = Vec::new();
    for (path, text) in sources.iter().filter(|(path, _)| !OWN.contains(&path.as_str())) {
        let lower = text.to_lowercase();
        wrong.extend(
            OUTSIDE.iter().filter(|name| lower.contains(*name)).map(|name| format!("{path}: {name:?}")),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn wrong_citations_are_reported() {
    assert_eq!(
        citations("see docs/reference/flash.md#open-blocks). And").next(),
        Some("flash.md#open-blocks")
    );
    assert_eq!(fault("flash.md#open-blocks"), None);
    assert_eq!(fault("flash.md#no-such"), Some("no such heading"));
    assert_eq!(fault("nowhere.md"), Some("no such page"));
}
