//! Hostile input: damaged archives, kernel files, files that must not be lost, endless texts, decompression bombs,
//! impossible dates, and small limits of file size and stack. Nothing panics, nothing is lost, and every message has
//! the cause.
//!
//! Verbs and options are those of the published command line (`docs/cli.md`).

mod archives;
mod cards;
mod limits;
mod messages;

use crate::common::binary::Outcome;
use std::collections::BTreeMap;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;

/// Simulated card that is tested within moments.
const CARD: &str = "sim:constant?announced_bytes=64MiB";

/// Asserts that a program ended by itself with one of our exit statuses.
#[track_caller]
fn ended(outcome: Outcome) -> Outcome {
    let status = outcome.status.code();
    // 124 is the status of `timeout` for a program that a busy machine had not finished: it was interrupted, and ended.
    assert!(status.is_some_and(|status| [0, 1, 2, 3, 4, 124, 130].contains(&status)), "{outcome}");
    assert!(!outcome.stderr.contains("panicked"), "{outcome}");
    outcome
}

/// Selects cases: every n-th from a random one on, or all of them in `./check --long`.
fn drawn(every: usize) -> impl FnMut() -> bool {
    let long = std::env::var("CARDSCOPE_LONG").is_ok_and(|value| !value.is_empty() && value != "0");
    let every = if long { 1 } else { every };
    let mut at = RandomState::new().hash_one(every) as usize % every;
    move || {
        at += 1;
        at.is_multiple_of(every)
    }
}

/// Verbs of the published command line, with their options that take a value and their number of positional arguments.
fn published() -> BTreeMap<String, (Vec<String>, usize)> {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md")).unwrap();
    let mut verbs = BTreeMap::new();
    for section in page.split("\n## cardscope ").skip(1) {
        let verb = section.lines().next().unwrap().to_owned();
        let words = section.split_whitespace();
        let is_name = |word: &&str| word.starts_with("--") && word[2..].starts_with(char::is_alphabetic);
        let mut options = Vec::new();
        for line in section.lines().map(str::trim).filter(|line| line.starts_with('-')) {
            let name = line.split([' ', ',', '=', '[']).find(is_name).map(str::to_owned);
            options.extend(name.filter(|_| line.contains('<')));
        }
        let usage = section.lines().find(|line| line.starts_with("Usage:")).unwrap_or_default();
        let positional = usage.matches('<').count().max(usize::from(usage.contains("...")));
        assert!(words.count() > 3, "{verb}");
        verbs.insert(verb, (options, positional));
    }
    assert!(verbs.len() > 30, "{verbs:?}");
    verbs
}
