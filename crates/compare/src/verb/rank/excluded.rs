//! Cards that are excluded from a ranking: those that lose data, and objects that are not real cards.

use crate::card_lookup::CardLookup;
use cardscope_model::archive_rows::StoredCard;
use cardscope_model::endure::EndureReport;
use cardscope_model::ranking::ExcludedCard;
use cardscope_model::verify::{Verdict, Verification, VerifyReport};
use cardscope_session::error::Result;
use cardscope_store::{Archive, CardConclusion, SessionId, is_named};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// Tools whose logs end in a verdict on the capacity.
const CAPACITY_TOOLS: [&str; 4] = ["f3probe", "f3read", "h2testw", "mfst"];

/// Cards whose tests are queried together.
const CARDS_AT_ONCE: usize = 64;

/// Separates ranked from excluded cards. Cards that the user `named` are excluded only if they lose data.
pub(super) fn separate_excluded(
    source: &mut CardLookup,
    cards: Vec<StoredCard>,
    named: bool,
) -> Result<(Vec<StoredCard>, Vec<ExcludedCard>)> {
    let mut reasons = exclusion_reasons(source, &cards, named)?;
    let (mut ranked, mut excluded) = (Vec::new(), Vec::new());
    for card in cards {
        match reasons.remove(&card.id) {
            Some((reason, avoid)) => excluded.push(ExcludedCard { name: card.title, reason, avoid }),
            None => ranked.push(card),
        }
    }
    Ok((ranked, excluded))
}

/// Excluded cards by id, each with the reason, and true if it is one to avoid.
pub fn exclusion_reasons(
    source: &mut CardLookup,
    cards: &[StoredCard],
    named: bool,
) -> Result<HashMap<String, (String, bool)>> {
    let condemned = failed_cards(source, cards)?;
    let not_cards = if named { &HashMap::new() } else { source.not_cards()? };
    let reason = |card: &StoredCard| {
        let unnamed = (!named && !is_named(&card.facts)).then_some("its logs do not name a card");
        let of_no_card = || not_cards.get(&card.id).map(|not_card| not_card.reason()).or(unnamed);
        let by_a_test = condemned.get(&card.id).map(|reason| (reason.clone(), true));
        by_a_test.or_else(|| of_no_card().map(|reason| (reason.to_owned(), false)))
    };
    Ok(cards.iter().filter_map(|card| Some((card.id.clone(), reason(card)?))).collect())
}

/// Cards that the surest of their recent tests found fake, damaged or dead, and cards that failed under wear, each with the
/// reason.
fn failed_cards(source: &mut CardLookup, cards: &[StoredCard]) -> Result<HashMap<String, String>> {
    let Some(archive) = source.archive() else { return Ok(HashMap::new()) };
    let mut found = HashMap::new();
    let kinds = ["verify", "check", "endure", "import"];
    let records: Vec<_> = newest_records(archive, cards, &kinds)?.into_iter().collect();
    for some in records.chunks(CARDS_AT_ONCE) {
        let ids: Vec<_> = some.iter().flat_map(|(_, records)| records).copied().collect();
        let conclusions = archive.conclusions(&ids)?;
        for (card, records) in some {
            let last: Vec<&CardConclusion> = records.iter().filter_map(|id| conclusions.get(id)).collect();
            found.extend(failure_reason(&last).map(|reason| (card.clone(), reason)));
        }
    }
    Ok(found)
}

/// Reason to exclude a card, from its recent tests, newest first.
fn failure_reason(last: &[&CardConclusion]) -> Option<String> {
    let tests: Vec<Verification> = last.iter().filter_map(|test| parse_verification(test)).collect();
    // Of equally sure tests the newest counts; `max_by_key` returns the last, hence `rev`.
    let surest = tests.iter().rev().max_by_key(|test| test.evidence_rank());
    let by_test = surest.filter(|t| t.verdict.is_bad()).map(|test| verdict_word(test.verdict).to_owned());
    let by_tool = tests.is_empty().then(|| last.iter().find_map(|log| tool_verdict(log))).flatten();
    let worn = last.iter().any(|test| has_worn_out(test)).then(|| "failed under `endure`".to_owned());
    by_test.or(by_tool).or(worn)
}

fn parse_verification(test: &CardConclusion) -> Option<Verification> {
    let document = test.document.as_ref()?;
    let report = match test.kind.as_str() {
        "check" => document.get("verify")?,
        "verify" => document,
        _ => return None,
    };
    parse_document::<VerifyReport>(report).map(|report| report.body)
}

fn has_worn_out(test: &CardConclusion) -> bool {
    let document = test.document.as_ref().filter(|_| test.kind == "endure");
    document.and_then(parse_document::<EndureReport>).is_some_and(|report| report.body.is_bad())
}

/// Verdict of another tool against the card's capacity.
fn tool_verdict(record: &CardConclusion) -> Option<String> {
    let other = &record.log.as_ref()?.other;
    let documents = CAPACITY_TOOLS.into_iter().filter_map(|tool| Some((tool, other.get(tool)?)));
    // Several runs of a program are a list.
    let each = documents.flat_map(|(tool, of)| match of {
        Value::Array(list) => list.iter().map(|of| (tool, of)).collect(),
        one => vec![(tool, one)],
    });
    let mut verdicts = each.filter_map(|(t, of)| Some((t, Verdict::deserialize(of.get("verdict")?).ok()?)));
    let (tool, verdict) = verdicts.find(|(_, verdict)| verdict.is_bad())?;
    Some(format!("{} according to {tool}", verdict_word(verdict)))
}

fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Damaged => "damaged",
        Verdict::Dead => "dead",
        Verdict::ReadOnly => "read-only",
        Verdict::Unstable => "unstable",
        _ => "fake",
    }
}

/// Most documents that are read of one card, newest first. Each is read whole, and older ones hardly ever decide.
const MOST_DOCUMENTS: usize = 6;

/// Records of these kinds by card, newest first; at most [`MOST_DOCUMENTS`] of each card.
pub(super) fn newest_records(
    archive: &mut Archive,
    cards: &[StoredCard],
    kinds: &[&str],
) -> Result<HashMap<String, Vec<SessionId>>> {
    let asked: HashSet<&str> = cards.iter().map(|card| card.id.as_str()).collect();
    let mut by_card = archive.newest_sessions_of_kinds(kinds, MOST_DOCUMENTS)?;
    by_card.retain(|card, _| asked.contains(card.as_str()));
    Ok(by_card)
}

/// Parses a document, or a part of one; `None` if it is of another kind.
pub(super) fn parse_document<T: for<'a> Deserialize<'a>>(document: &Value) -> Option<T> {
    T::deserialize(document).ok()
}
