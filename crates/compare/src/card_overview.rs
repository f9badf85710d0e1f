//! Overview of all cards, of the archive and built in, each with its newest verdict and its mean speeds, for a list that can
//! be searched and sorted.

use crate::card_lookup::CardLookup;
use cardscope_model::answer::Answer;
use cardscope_model::archive_rows::{CardOverview, NewestVerdict, StoredCard};
use cardscope_model::report::NewsTone;
use cardscope_model::units::DecimalSize;
use cardscope_session::card_key::NotCard;
use cardscope_session::error::Result;
use cardscope_store::NewestDocument;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// All cards, those of the archive first, each part by title. `answer` renders a document of a verb (first argument) and
/// returns answer and tone of its page.
pub fn card_overviews(
    archive: Option<&Path>,
    answer: fn(&str, &Value) -> Option<(Answer, NewsTone)>,
) -> Result<Vec<CardOverview>> {
    let mut source = CardLookup::open(archive, true)?;
    let cards = source.cards()?;
    let mut sums: HashMap<String, BTreeMap<String, (f64, f64)>> = HashMap::new();
    for row in source.summaries(|_| true)? {
        let sum = sums.entry(row.card_id).or_default().entry(row.test.to_string()).or_default();
        *sum = (sum.0 + row.mean * f64::from(row.n), sum.1 + f64::from(row.n));
    }
    let newest = source.archive().map_or(Ok(Vec::new()), |archive| archive.newest_verdicts())?;
    let newest = newest.into_iter().map(|verdict| (verdict.card_id.clone(), verdict));
    let mut newest: HashMap<String, NewestDocument> = newest.collect();
    let not_cards = source.not_cards()?.clone();
    let verdict = |newest: NewestDocument| {
        let (text, tone) = answer(&newest.kind, &newest.document)?;
        let word = text.verdict().unwrap_or_default().to_owned();
        Some(NewestVerdict { word, text: text.into(), tone, session: newest.session })
    };
    let overview = |card: StoredCard| {
        let speeds = sums.remove(&card.id).unwrap_or_default();
        let not_card = match card.facts.simulated_target() {
            Some(_) => Some(NotCard::Simulated),
            None => not_cards.get(&card.id).copied(),
        };
        let bytes = card.facts.capacity_bytes;
        let gb = bytes.map(|bytes| bytes as f64 / 1e9).filter(|gb| *gb > 0.0);
        let [first, last] = card.measured.map_or([None, None], |days| days.map(Some));
        CardOverview {
            published: source.is_collected(&card.id),
            simulated: not_card.is_some(),
            not_card: not_card.map(|kind| kind.label().to_owned()),
            speeds: speeds.into_iter().map(|(test, (sum, runs))| (test, sum / runs.max(1.0))).collect(),
            verdict: newest.remove(&card.id).and_then(verdict),
            capacity: bytes.map(|bytes| DecimalSize(bytes).in_table()).unwrap_or_default(),
            per_gb: card.price.as_ref().zip(gb).map(|(price, gb)| price.amount / gb),
            id: card.id,
            title: card.title,
            brand: card.facts.brand,
            model: card.facts.model,
            capacity_bytes: bytes,
            marks: card.facts.marks,
            price: card.price,
            units: card.units,
            sessions: card.sessions,
            runs: card.runs,
            first,
            last,
        }
    };
    Ok(cards.into_iter().map(overview).collect())
}
