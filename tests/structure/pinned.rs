//! A sentence of the program is pinned in one test file: a better wording changes one test.

use crate::voice::{entries, files, is_for_tests, is_test, literals, root, shown};
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Words in a row that make a sentence known again.
const WORDS: usize = 5;

/// Runs of words alone: numbers, signs and placeholders are of logs and recipes, or differ from case to case.
fn runs_of_words(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_word = |word: &&str| word.trim_end_matches(['.', ',', ';', ':']).chars().all(char::is_alphabetic);
    words.windows(WORDS).filter(|run| run.iter().all(is_word)).map(|run| run.join(" ")).collect()
}

/// Literals of a source's tests: of the whole file, or of its test modules.
fn literals_of_tests(path: &Path, source: &str) -> Vec<String> {
    let mut file = syn::parse_file(source).expect("a source that is built can be read");
    let of_program = path.components().any(|part| part.as_os_str() == "src") && !is_for_tests(path);
    if of_program {
        file.items.retain(|item| matches!(item, syn::Item::Mod(module) if module.attrs.iter().any(is_test)));
    }
    let mut found = Vec::new();
    literals(file.to_token_stream(), false, &mut found);
    found
}

#[test]
fn each_sentence_is_pinned_in_one_test_file() {
    let mut sources = Vec::new();
    for krate in entries(&root().join("crates")) {
        files(&krate, "rs", &mut sources);
    }
    let read = |path: &PathBuf| std::fs::read_to_string(path).expect("a source can be read");
    let of_program =
        |path: &&PathBuf| path.components().any(|part| part.as_os_str() == "src") && !is_for_tests(path);
    let texts = sources.iter().filter(of_program).flat_map(|path| shown(&read(path)));
    let said: BTreeSet<String> = texts.flat_map(|text| runs_of_words(&text)).collect();
    assert!(said.len() > 5000, "{} runs of words are not all that there are", said.len());
    for folder in ["tests/end_to_end", "tests/vm"] {
        files(&root().join(folder), "rs", &mut sources);
    }
    let mut pinned: BTreeMap<String, BTreeSet<&Path>> = BTreeMap::new();
    for path in &sources {
        let runs = literals_of_tests(path, &read(path)).into_iter().flat_map(|text| runs_of_words(&text));
        runs.filter(|run| said.contains(run)).for_each(|run| _ = pinned.entry(run).or_default().insert(path));
    }
    pinned.retain(|_, paths| paths.len() > 1);
    assert!(pinned.is_empty(), "pin each in the crate that writes it: {pinned:#?}");
}
