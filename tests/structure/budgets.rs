//! Size budgets of the code from `tests/structure/budgets.toml`: lines of each crate, files, names and docs. Lower a
//! budget when the code shrinks; raise it only for a reason stated in an issue.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};

/// Share by which a budget may exceed the count, so that not every commit has to change the file.
const SLACK: f64 = 0.01;

/// First words of docs that are neither a noun phrase nor a verb.
const RELATIVES: &[&str] =
    &["What", "Whether", "How", "Where", "Who", "Whom", "Whose", "Of", "That", "As", "Which", "When", "So"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Counts of a product file, without its unit tests.
#[derive(Debug, Default)]
struct FileCounts {
    code: usize,
    docs: usize,
    comments: usize,
    lines: usize,
    relative_docs: usize,
    types: Vec<String>,
}

/// Source before its unit tests.
fn product(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text)
}

fn count(text: &str) -> FileCounts {
    let mut counts = FileCounts::default();
    let mut in_docs = false;
    for line in product(text).lines().map(str::trim) {
        counts.lines += 1;
        let is_doc = line.starts_with("///");
        match line {
            "" => {}
            line if is_doc || line.starts_with("//!") => counts.docs += 1,
            line if line.starts_with("//") => counts.comments += 1,
            _ => counts.code += 1,
        }
        if is_doc && !in_docs {
            let first = line[3..].split_whitespace().next().unwrap_or_default();
            counts.relative_docs += usize::from(RELATIVES.contains(&first));
        }
        in_docs = is_doc;
    }
    let mut names = TypeNames(Vec::new());
    names.visit_file(&syn::parse_file(product(text)).unwrap());
    counts.types = names.0;
    counts
}

struct TypeNames(Vec<String>);

impl<'a> Visit<'a> for TypeNames {
    fn visit_item_struct(&mut self, item: &'a syn::ItemStruct) {
        self.0.push(item.ident.to_string());
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'a syn::ItemEnum) {
        self.0.push(item.ident.to_string());
    }

    fn visit_item_trait(&mut self, item: &'a syn::ItemTrait) {
        self.0.push(item.ident.to_string());
        visit::visit_item_trait(self, item);
    }
}

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let is_test = matches!(name.as_str(), "tests" | "testing") || name.ends_with("_tests");
        match path.is_dir() {
            _ if is_test => {}
            true => sources(&path, into),
            false if path.extension().is_some_and(|e| e == "rs") => into.push(path),
            false => {}
        }
    }
}

/// Counts of all files, by crate.
fn counted() -> BTreeMap<String, Vec<FileCounts>> {
    let crates = std::fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    crates
        .map(|folder| {
            let mut files = Vec::new();
            sources(&folder.join("src"), &mut files);
            let counts = files.iter().map(|file| count(&std::fs::read_to_string(file).unwrap()));
            (folder.file_name().unwrap().to_str().unwrap().to_owned(), counts.collect())
        })
        .collect()
}

/// Number of type names that are defined three times or more.
fn repeated_names<'a>(files: impl Iterator<Item = &'a FileCounts>) -> usize {
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for name in files.flat_map(|file| &file.types) {
        *times.entry(name).or_default() += 1;
    }
    times.values().filter(|n| **n >= 3).count()
}

#[test]
fn code_is_within_budgets() {
    let budgets: toml::Table = toml::from_str(include_str!("budgets.toml")).unwrap();
    let counted = counted();
    let files = || counted.values().flatten();
    let sum = |of: fn(&FileCounts) -> usize| files().map(of).sum::<usize>();
    let mut figures: BTreeMap<String, usize> = BTreeMap::from([
        ("files".into(), files().count()),
        ("files_under_60_lines".into(), files().filter(|file| file.lines < 60).count()),
        ("names_defined_three_times".into(), repeated_names(files())),
        ("docs_that_begin_with_a_relative".into(), sum(|file| file.relative_docs)),
        ("doc_lines_per_mille".into(), 1000 * sum(|file| file.docs) / sum(|file| file.lines)),
    ]);
    for (name, files) in &counted {
        figures.insert(format!("code.{name}"), files.iter().map(|file| file.code).sum());
    }
    let budget = |key: &str| {
        let at = |table: &toml::Table, key: &str| table.get(key)?.as_integer();
        match key.split_once('.') {
            Some((table, key)) => budgets.get(table).and_then(|table| at(table.as_table()?, key)),
            None => at(&budgets, key),
        }
    };
    let mut wrong = Vec::new();
    for (key, figure) in &figures {
        let most = budget(key).unwrap_or(-1);
        let slack = (most as f64 * SLACK).max(3.0);
        if *figure as i64 > most {
            wrong.push(format!("{key} is {figure}, its budget {most}: make it smaller"));
        } else if (*figure as f64) < most as f64 - slack {
            wrong.push(format!("{key} is only {figure}, its budget {most}: lower the budget"));
        }
    }
    assert!(wrong.is_empty(), "tests/structure/budgets.toml:\n{}", wrong.join("\n"));
    let comments = sum(|file| file.comments);
    assert!(comments > 500, "{comments} lines of comments: say why");
}
