//! A card's part of a publication: its facts, series and latencies, and the documents of other verbs.

use super::over_time::OverTime;
use super::pictures;
use super::redaction::Redactor;
use crate::card_lookup::CardLookup;
use crate::judge::comparison::ComparedColumn;
use cardscope_model::archive_rows::StoredCard;
use cardscope_model::card::CardFacts;
use cardscope_model::finding::Finding;
use cardscope_model::publication::CardPart;
use cardscope_model::session_file::CardUnit;
use cardscope_model::test_name::TestName;
use cardscope_session::error::Result;
use cardscope_store::{SessionId, StoredSession};
use serde::Deserialize as _;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;

/// Most recent sessions whose series and latencies are published; more would fill a page that is too long to read.
const LAST_SESSIONS: usize = 4;

/// Gathers a card's part. `columns` are the card's columns in the comparison: only their runs are shown over time.
pub(super) fn gather_part(
    source: &mut CardLookup,
    id: &str,
    columns: &[&ComparedColumn],
    tests: &[TestName],
    (serials, room): (bool, u64),
) -> Result<CardPart> {
    let card = source.card_by_id(id)?;
    let mut part = new_part(&card, source.card_events(id)?, serials);
    if source.is_collected(id) {
        return Ok(part);
    }
    let Some(archive) = source.archive() else { return Ok(part) };
    let units = archive.units(id)?;
    let hidden = if serials { Redactor::default() } else { Redactor::for_card(&card, &units) };
    if serials {
        add_unit_names(&mut part, &units);
    }
    let notes = part.events.iter_mut().flat_map(|event| [&mut event.note, &mut event.source]);
    notes.chain([&mut part.card.note]).flatten().for_each(|text| hidden.redact_text(text));
    part.pictures = pictures::card_pictures(archive, id, room, &hidden)?;
    let mut over_time = OverTime::new(columns, tests);
    for session in last_sessions(columns) {
        let session = archive.session(session)?.file;
        if let Some(unit) = session.specimen.as_ref().filter(|_| !serials) {
            part.pieces.push(short_hash(&unit.id));
        }
        if serials && units.len() == 1 {
            // The CID that was read when the card was measured.
            let cid = || Some(session.identity.pointer("/cid/raw")?.as_str()?.to_owned());
            part.card.cid = part.card.cid.take().or_else(cid);
        }
        let findings = session.report.iter().flat_map(|report| &report.header.findings);
        findings.for_each(|finding| add_finding(&mut part, hidden.redact_finding(finding)));
        over_time.add_session(session);
    }
    (part.courses, part.latencies) = over_time.into_parts();
    for record in archive.card_sessions(id)?.iter().filter(|session| session.is_record) {
        add_record(&mut part, archive.session(record.id)?, &hidden);
    }
    part.pieces.sort_unstable();
    part.pieces.dedup();
    Ok(part)
}

fn new_part(card: &StoredCard, events: Vec<cardscope_model::card::CardEvent>, serials: bool) -> CardPart {
    CardPart {
        card_id: card.id.clone(),
        title: card.title.clone(),
        card: if serials { card.facts.clone() } else { card.facts.without_serial() },
        events,
        ..CardPart::default()
    }
}

/// Last sessions of these columns, newest first; ids sort by time.
fn last_sessions(columns: &[&ComparedColumn]) -> Vec<SessionId> {
    let all: BTreeSet<&String> = columns.iter().flat_map(|c| c.runs.iter().map(|(s, _)| s)).collect();
    all.into_iter().filter_map(|session| session.parse().ok()).rev().take(LAST_SESSIONS).collect()
}

/// Adds the serial numbers and CIDs, which the archive stores with the units and not with the card.
fn add_unit_names(part: &mut CardPart, units: &[CardUnit]) {
    if let [only] = units {
        part.card.fill_missing_from(&CardFacts {
            serial: only.facts.serial.clone().or_else(|| only.serial.clone()),
            cid: only.facts.cid.clone(),
            ..CardFacts::default()
        });
    }
    part.pieces = units.iter().map(unit_name).collect();
}

/// Serial number and CID of a unit, else the beginning of its hash.
fn unit_name(unit: &CardUnit) -> String {
    let serial = unit.serial.clone().or_else(|| unit.facts.serial.clone());
    match (serial, &unit.facts.cid) {
        (Some(serial), Some(cid)) => format!("{serial} (CID {cid})"),
        (Some(serial), None) => serial,
        (None, Some(cid)) => format!("CID {cid}"),
        (None, None) => short_hash(&unit.id),
    }
}

fn short_hash(whole: &str) -> String {
    format!("#{}", whole.get(..8).unwrap_or(whole))
}

fn add_record(part: &mut CardPart, record: StoredSession, hidden: &Redactor) {
    let Some(mut document) = record.file.document else { return };
    hidden.redact_document(&mut document);
    match record.summary.kind.as_str() {
        "map" => keep_best(&mut part.map, &document, |_| 0.0),
        "verify" => keep_best(&mut part.verify, &document, |test| test.body.evidence_rank()),
        // A check writes for a minute only, which shows less than a longer run.
        "sustain" => keep_best(&mut part.sustain, &document, |run| run.body.moved.seconds),
        "check" => {
            keep_best(&mut part.map, &document["map"], |_| 0.0);
            keep_best(&mut part.verify, &document["verify"], |test| test.body.evidence_rank());
        }
        _ => return,
    }
    let findings = Vec::deserialize(&document["findings"]).unwrap_or_default();
    findings.into_iter().for_each(|finding| add_finding(part, finding));
}

/// Adds a finding unless another session has the same.
fn add_finding(part: &mut CardPart, finding: Finding) {
    if !part.findings.contains(&finding) {
        part.findings.push(finding);
    }
}

/// Keeps the record of the highest rank, of equal ones the last; records come oldest first.
fn keep_best<T, R>(place: &mut Option<T>, document: &serde_json::Value, rank: fn(&T) -> R)
where
    T: DeserializeOwned,
    R: PartialOrd,
{
    let Ok(found) = T::deserialize(document) else { return };
    if place.as_ref().is_none_or(|known| rank(known) <= rank(&found)) {
        *place = Some(found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::sustain::SustainReport;
    use cardscope_model::verify::VerifyReport;
    use cardscope_model::verify::{TestMethod, Verdict};

    fn unit(serial: Option<&str>, cid: Option<&str>) -> CardUnit {
        CardUnit {
            id: "0123456789abcdef".into(),
            serial: serial.map(str::to_owned),
            facts: CardFacts { cid: cid.map(str::to_owned), ..CardFacts::default() },
            ..CardUnit::default()
        }
    }

    #[test]
    fn unit_name_uses_serial_cid_or_hash() {
        assert_eq!(unit_name(&unit(Some("0x811e"), Some("1d41"))), "0x811e (CID 1d41)");
        assert_eq!(unit_name(&unit(None, None)), "#01234567");
    }

    #[test]
    fn single_unit_gives_the_card_serial_and_cid() {
        let card = cardscope_testkit::cards::stored_card("A");
        let mut part = new_part(&card, Vec::new(), true);
        add_unit_names(&mut part, &[unit(Some("0x811e"), Some("1d41"))]);
        assert_eq!((part.card.serial.as_deref(), part.card.cid.as_deref()), (Some("0x811e"), Some("1d41")));
        let mut two = new_part(&card, Vec::new(), true);
        add_unit_names(&mut two, &[unit(Some("0x811e"), Some("1d41")), unit(Some("0x811f"), Some("1d42"))]);
        assert_eq!((two.card.cid.as_deref(), two.pieces.len()), (None, 2));
    }

    #[test]
    fn surest_verification_is_kept() {
        let mut shown = None;
        let mut after = |verdict: Verdict, method: TestMethod| {
            let mut report = VerifyReport::default();
            (report.body.verdict, report.body.method) = (verdict, method);
            let document = serde_json::to_value(report).unwrap();
            keep_best(&mut shown, &document, |report: &VerifyReport| report.body.evidence_rank());
            shown.as_ref().map(|shown| (shown.body.verdict, shown.body.method))
        };
        assert_eq!(
            after(Verdict::Inconclusive, TestMethod::Full),
            Some((Verdict::Inconclusive, TestMethod::Full))
        );
        assert_eq!(after(Verdict::Genuine, TestMethod::Quick), Some((Verdict::Genuine, TestMethod::Quick)));
        assert_eq!(after(Verdict::Genuine, TestMethod::Full), Some((Verdict::Genuine, TestMethod::Full)));
        assert_eq!(after(Verdict::Genuine, TestMethod::Quick), Some((Verdict::Genuine, TestMethod::Full)));
        assert_eq!(after(Verdict::Limbo, TestMethod::Quick), Some((Verdict::Limbo, TestMethod::Quick)));
        assert_eq!(after(Verdict::Inconclusive, TestMethod::Full), Some((Verdict::Limbo, TestMethod::Quick)));
    }

    #[test]
    fn longest_sustain_run_is_kept() {
        let lasting = |seconds: f64, target: &str| {
            let mut run = SustainReport::default();
            (run.body.moved.seconds, run.header.target) = (seconds, target.to_owned());
            serde_json::to_value(run).unwrap()
        };
        let mut shown = None;
        for (seconds, target) in [(30.0, "first"), (600.0, "long"), (60.0, "visit"), (600.0, "again")] {
            let rank = |run: &SustainReport| run.body.moved.seconds;
            keep_best(&mut shown, &lasting(seconds, target), rank);
        }
        assert_eq!(shown.unwrap().header.target, "again");
    }
}
