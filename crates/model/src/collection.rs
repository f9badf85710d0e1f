//! Cards that come with the program, so that a first result has something to stand beside: those of the five reports that
//! Cardscope began with, one file each in `collection/`, with what their text says and nothing else.

use crate::card::{CardFacts, Event};
use crate::condition::{Condition, Origin};
use crate::log::{Log, LogFigure, LogRun, Tool};
use crate::result::ToolPrints;
use crate::test_name::TestName;
use crate::toml_error::located;
use crate::units::{MIB, parse_size};
use serde::Deserialize;
use std::collections::BTreeMap;

static FILES: &[&str] = &[
    include_str!("../../../collection/seed-000.toml"),
    include_str!("../../../collection/seed-001.toml"),
    include_str!("../../../collection/seed-002.toml"),
    include_str!("../../../collection/seed-003.toml"),
    include_str!("../../../collection/seed-004.toml"),
];

/// A file of the collection that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the collection cannot be read: {0}")]
pub struct CollectionError(String);

/// One file: a report and its cards.
#[derive(Debug, Clone, PartialEq)]
pub struct Collected {
    /// Its short name: `seed-000`.
    pub name: String,
    /// The report's title and date.
    pub title: String,
    /// A log for each card.
    pub logs: Vec<Log>,
}

/// All of it.
///
/// # Errors
/// If a file is wrong; a test holds that none is.
pub fn builtin() -> Result<Vec<Collected>, CollectionError> {
    FILES.iter().map(|text| parse(text)).collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    title: String,
    method: String,
    card: Vec<Card>,
}

#[derive(Deserialize)]
struct Card {
    #[serde(default)]
    event: Vec<Event>,
    #[serde(default)]
    session: Vec<Session>,
    #[serde(flatten)]
    facts: CardFields,
}

/// The facts as they stand in the table of a card; unknown words are refused by [`CardFacts`].
type CardFields = toml::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Session {
    tool: String,
    size: Option<String>,
    loops: Option<u32>,
    #[serde(default)]
    condition: BTreeMap<String, String>,
    unit: String,
    tests: Vec<TestName>,
    runs: Vec<Vec<f64>>,
}

fn parse(text: &str) -> Result<Collected, CollectionError> {
    let odd = |what: String| CollectionError(what);
    let file: File = toml::from_str(text).map_err(|e| odd(located(text, &e)))?;
    let mut logs = Vec::new();
    for card in file.card {
        let facts: CardFacts =
            card.facts.try_into().map_err(|e: toml::de::Error| odd(e.message().to_owned()))?;
        let mut bare = Log::new("collection");
        (bare.card, bare.events) = (facts.clone(), card.event);
        bare.other.insert("method".to_owned(), file.method.clone().into());
        for session in &card.session {
            logs.push(self::session(session, &bare).map_err(|why| odd(format!("{}: {why}", facts.title())))?);
        }
        if card.session.is_empty() {
            logs.push(bare);
        }
    }
    Ok(Collected { name: file.name, title: file.title, logs })
}

fn session(session: &Session, bare: &Log) -> Result<Log, String> {
    let mb_s = unit(&session.unit)?;
    let size_bytes = session.size.as_deref().map(parse_size).transpose().map_err(|e| e.to_string())?;
    let mut log = bare.clone();
    log.tool = Some(Tool { name: session.tool.clone(), version: None });
    log.condition = condition(&session.condition);
    for (number, values) in (1..).zip(&session.runs) {
        if values.len() != session.tests.len() {
            return Err(format!(
                "run {number} has {} values for {} tests",
                values.len(),
                session.tests.len()
            ));
        }
        let results = session.tests.iter().zip(values).map(|(test, value)| LogFigure {
            test: test.pattern,
            op: test.op,
            step: None,
            mb_s: value * mb_s,
            iops: None,
            latency_us: None,
            max_latency_us: None,
            as_printed: ToolPrints { value: *value, unit: "MB/s".to_owned() },
        });
        log.runs.push(LogRun {
            run: number,
            size_bytes,
            loops: session.loops,
            condition: None,
            results: results.collect(),
        });
    }
    Ok(log)
}

/// What one printed "MB/s" is in MB/s (10^6).
fn unit(name: &str) -> Result<f64, String> {
    match name {
        "MB/s" => Ok(1.0),
        "MiB/s" => Ok(MIB as f64 / 1e6),
        // KDiskMark divides KiB/s by 1000.
        "KiB/ms" => Ok(1.024),
        other => Err(format!("{other:?} is no unit of the collection")),
    }
}

fn condition(words: &BTreeMap<String, String>) -> Condition {
    let mut condition = Condition::default();
    for (word, value) in words {
        condition.set(word, value, Origin::Stated);
    }
    condition
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::condition::WORDS;

    #[test]
    fn every_file_is_sound_and_names_its_report() {
        let all = builtin().unwrap();
        assert_eq!(all.len(), FILES.len());
        for collected in &all {
            assert!(!collected.logs.is_empty() && !collected.title.is_empty());
            for log in &collected.logs {
                assert!(log.card.brand.is_some(), "{log:?}");
                assert!(log.condition.iter().all(|(word, _)| WORDS.iter().any(|(w, _)| *w == word)));
            }
        }
    }

    #[test]
    fn speeds_are_true_megabytes_and_what_was_printed_stands_beside_them() {
        let all = builtin().unwrap();
        let sandisk = all[0].logs.iter().find(|log| log.card.brand.as_deref() == Some("SanDisk")).unwrap();
        let read =
            sandisk.runs[0].results.iter().find(|f| f.name().to_string() == "SEQ32M Q32T1 read").unwrap();
        assert_eq!(read.as_printed.value, 836.0);
        assert!((read.mb_s - 876.609_536).abs() < 1e-9);
    }

    #[test]
    fn a_run_with_too_few_values_is_refused() {
        let text = "name='x'\ntitle='x'\nmethod='x'\n[[card]]\nbrand='b'\n[[card.session]]\ntool='t'\nunit='MB/s'\n\
                    tests=['RND4K Q1T1 read']\nruns=[[1.0],[]]\n";
        assert!(parse(text).unwrap_err().to_string().contains("run 2 has 0 values for 1 tests"));
        assert!(parse(&text.replace("brand", "brnad")).is_err());
    }
}
