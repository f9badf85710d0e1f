//! One card's part: what is known of it, its courses and latencies, and the last documents about its inside.

use crate::error::Failure;
use crate::shelf::Shelf;
use cardscope_model::card::CardFacts;
use cardscope_model::condition::Condition;
use cardscope_model::finding::Finding;
use cardscope_model::histogram::Histogram;
use cardscope_model::publication::{CardPart, Course, Latencies};
use cardscope_model::result::Second;
use cardscope_model::test_name::TestName;
use cardscope_store::{StoredCard, StoredRecord, StoredSession};
use serde::de::DeserializeOwned;

/// Sessions whose courses and latencies are published: the last ones. More fill a page that nobody reads.
const LAST_SESSIONS: usize = 4;

/// Points of one course; longer ones are thinned by putting neighbours together.
const MOST_SECONDS: usize = 600;

/// Gathers a card's part.
pub(super) fn part(shelf: &mut Shelf, id: &str, serials: bool) -> Result<CardPart, Failure> {
    let card = shelf.card(id)?;
    let events = shelf.events(id)?;
    let mut part = CardPart {
        title: card.title.clone(),
        card: facts(&card, serials),
        pieces: Vec::new(),
        events,
        findings: Vec::new(),
        courses: Vec::new(),
        latencies: Vec::new(),
        map: None,
        verify: None,
        sustain: None,
    };
    let Some(archive) = shelf.archive() else { return Ok(part) };
    let sessions = archive.card_sessions(id).map_err(Failure::io)?;
    for session in sessions.into_iter().rev().take(LAST_SESSIONS) {
        let session = archive.session(session).map_err(Failure::io)?;
        add_session(&mut part, session, serials);
    }
    for record in archive.card_records(id).map_err(Failure::io)? {
        add_record(&mut part, &record);
    }
    part.pieces.sort_unstable();
    part.pieces.dedup();
    Ok(part)
}

fn facts(card: &StoredCard, serials: bool) -> CardFacts {
    if serials { card.facts.clone() } else { card.facts.without_serial() }
}

fn add_session(part: &mut CardPart, session: StoredSession, serials: bool) {
    let condition = words(&session.start.condition);
    if let Some(piece) = &session.start.piece {
        part.pieces.push(named(piece.serial.as_deref(), &piece.identity_hash, serials));
    }
    part.findings.extend(session.report.iter().flat_map(|report| report.findings.clone()));
    let mut histograms: Vec<(TestName, u32, Histogram)> = Vec::new();
    for run in session.runs.into_iter().filter(|run| run.start.counted) {
        for record in run.samples.into_iter().filter(|record| record.sample.counted) {
            let course = Course {
                test: record.test,
                run: run.start.run,
                condition: condition.clone(),
                seconds: thinned(record.sample.series),
            };
            // One second is no course.
            if course.seconds.len() > 1 {
                part.courses.push(course);
            }
            match histograms.iter_mut().find(|(test, ..)| *test == record.test) {
                Some((_, runs, all)) => {
                    all.merge(&record.sample.histogram);
                    *runs = (*runs).max(run.start.run);
                }
                None => histograms.push((record.test, run.start.run, record.sample.histogram)),
            }
        }
    }
    part.latencies.extend(histograms.into_iter().map(|(test, runs, histogram)| Latencies {
        test,
        runs,
        condition: condition.clone(),
        histogram,
    }));
}

/// The piece's serial number where it is asked for, else enough of its hash to tell it from others.
fn named(serial: Option<&str>, hash: &str, serials: bool) -> String {
    match serial {
        Some(serial) if serials => serial.to_owned(),
        _ => format!("#{}", &hash[..hash.len().min(8)]),
    }
}

fn add_record(part: &mut CardPart, record: &StoredRecord) {
    let Some(document) = &record.document else { return };
    match record.summary.kind.as_str() {
        "map" => last(&mut part.map, document),
        "verify" => last(&mut part.verify, document),
        "sustain" => last(&mut part.sustain, document),
        "check" => {
            last(&mut part.map, &document["map"]);
            last(&mut part.verify, &document["verify"]);
        }
        _ => return,
    }
    let findings: Vec<Finding> = serde_json::from_value(document["findings"].clone()).unwrap_or_default();
    for finding in findings {
        if !part.findings.contains(&finding) {
            part.findings.push(finding);
        }
    }
}

/// Records come oldest first: the last one that can be read stays.
fn last<T: DeserializeOwned>(place: &mut Option<T>, document: &serde_json::Value) {
    if let Ok(found) = T::deserialize(document) {
        *place = Some(found);
    }
}

/// A condition in a line.
fn words(condition: &Condition) -> String {
    let said: Vec<String> = condition
        .iter()
        .filter(|(word, _)| !["note", "kernel", "tool"].contains(word))
        .map(|(word, value)| format!("{word} {value}"))
        .collect();
    said.join(" · ")
}

/// A course short enough to draw: neighbours put together, the longest latency and the last temperature kept.
fn thinned(seconds: Vec<Second>) -> Vec<Second> {
    let together = seconds.len().div_ceil(MOST_SECONDS).max(1);
    if together == 1 {
        return seconds;
    }
    let merged = |chunk: &[Second]| Second {
        at_s: chunk[0].at_s,
        bytes: chunk.iter().map(|s| s.bytes).sum::<u64>() / chunk.len() as u64,
        ios: chunk.iter().map(|s| s.ios).sum::<u64>() / chunk.len() as u64,
        max_us: chunk.iter().map(|s| s.max_us).fold(0.0, f64::max),
        temperature_c: chunk.iter().rev().find_map(|s| s.temperature_c),
    };
    seconds.chunks(together).map(merged).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_course_is_thinned_without_losing_speed_or_the_longest_stall() {
        let seconds: Vec<Second> = (0..7200)
            .map(|at_s| Second {
                at_s,
                bytes: 20_000_000,
                ios: 20,
                max_us: if at_s == 3601 { 9e5 } else { 100.0 },
                temperature_c: Some(40.0),
            })
            .collect();
        let thin = thinned(seconds);
        assert_eq!(thin.len(), MOST_SECONDS);
        assert!(thin.iter().all(|s| s.bytes == 20_000_000));
        assert!(thin.iter().any(|s| s.max_us == 9e5));
    }

    #[test]
    fn a_serial_number_is_a_hash_unless_it_is_asked_for() {
        assert_eq!(named(Some("0x811e"), "0123456789abcdef", false), "#01234567");
        assert_eq!(named(Some("0x811e"), "0123456789abcdef", true), "0x811e");
    }
}
