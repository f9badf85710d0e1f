//! Cards of the archive in memory, for lists that are searched, filtered and sorted. Reread in the background after the
//! archive changed; JSON answers are cached until then.

use crate::api::{CardQuery, CardWindow};
use crate::poison;
use crate::refusal::Result;
use axum::body::Bytes;
use cardscope_compare::card_overview;
use cardscope_model::archive_rows::CardOverview;
use cardscope_verbs::list::answer_of_document;
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Limit of cached answers.
const MAX_ANSWERS: usize = 256;

/// Default and maximum number of cards in an answer.
const DEFAULT_LIMIT: usize = 100;
const MAX_LIMIT: usize = 1000;

/// Index of all cards, loaded at first use.
#[derive(Default)]
pub(crate) struct CardIndex {
    newest: Mutex<Option<Arc<CardSnapshot>>>,
    /// Held while the archive is read, so that concurrent requests wait instead of reading it again.
    reading: Mutex<()>,
}

/// Snapshot of all cards.
pub(crate) struct CardSnapshot {
    rows: Vec<CardOverview>,
    /// Searchable text of each row, in lower case.
    search_texts: Vec<String>,
    brands: Vec<String>,
    marks: Vec<String>,
    tests: Vec<String>,
    verdicts: Vec<String>,
    priced: bool,
    answers: Mutex<HashMap<String, Bytes>>,
}

impl CardIndex {
    /// Returns the current snapshot without reading; `None` before the first use.
    pub(crate) fn current(&self) -> Option<Arc<CardSnapshot>> {
        poison::lock(&self.newest).clone()
    }

    /// Returns the cards, and reads them at the first use. Later changes need [`CardIndex::refresh`].
    pub(crate) fn load(&self, archive: Option<&Path>) -> Result<Arc<CardSnapshot>> {
        if let Some(cards) = self.current() {
            return Ok(cards);
        }
        let _alone = poison::lock(&self.reading);
        // Another thread may have read them while this one waited.
        self.current().map_or_else(|| self.reload(archive), Ok)
    }

    /// Reads a new snapshot; until then requests get the old one.
    pub(crate) fn refresh(&self, archive: Option<&Path>) -> Result<()> {
        let _alone = poison::lock(&self.reading);
        self.reload(archive).map(drop)
    }

    fn reload(&self, archive: Option<&Path>) -> Result<Arc<CardSnapshot>> {
        let rows = card_overview::card_overviews(archive, answer_of_document)?;
        let cards = Arc::new(CardSnapshot::from_rows(rows));
        *poison::lock(&self.newest) = Some(Arc::clone(&cards));
        Ok(cards)
    }
}

impl CardSnapshot {
    fn from_rows(rows: Vec<CardOverview>) -> Self {
        let words = |row: &CardOverview| {
            let parts = [Some(&row.title), row.brand.as_ref(), row.model.as_ref()];
            let parts = parts.into_iter().flatten().chain(&row.marks).map(|part| part.to_lowercase());
            parts.collect::<Vec<_>>().join("\n")
        };
        let sorted = |texts: BTreeSet<&String>| texts.into_iter().cloned().collect();
        let mut often: HashMap<&str, usize> = HashMap::new();
        for test in rows.iter().flat_map(|row| row.speeds.keys()) {
            *often.entry(test).or_default() += 1;
        }
        let mut tests: Vec<(&str, usize)> = often.into_iter().collect();
        tests.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let verdicts = rows.iter().filter_map(|row| row.verdict.as_ref());
        let verdicts = verdicts.map(|verdict| &verdict.word).filter(|word| !word.is_empty());
        CardSnapshot {
            search_texts: rows.iter().map(words).collect(),
            brands: sorted(rows.iter().flat_map(|row| &row.brand).collect()),
            marks: sorted(rows.iter().flat_map(|row| &row.marks).collect()),
            tests: tests.into_iter().map(|(test, _)| test.to_owned()).collect(),
            verdicts: sorted(verdicts.collect()),
            priced: rows.iter().any(|row| row.price.is_some()),
            rows,
            answers: Mutex::default(),
        }
    }

    pub(crate) fn find_card(&self, id: &str) -> Option<&CardOverview> {
        self.rows.iter().find(|row| row.id == id)
    }

    pub(crate) fn cached_answer(&self, question: &str) -> Option<Bytes> {
        poison::lock(&self.answers).get(question).cloned()
    }

    /// Computes and caches the JSON answer of a query.
    pub(crate) fn answer_query(&self, question: &str, query: &CardQuery) -> Bytes {
        let bytes = Bytes::from(serde_json::to_vec(&self.filter(query)).unwrap_or_default());
        let mut answers = poison::lock(&self.answers);
        if answers.len() >= MAX_ANSWERS {
            answers.clear();
        }
        answers.insert(question.to_owned(), bytes.clone());
        bytes
    }

    pub(crate) fn filter(&self, query: &CardQuery) -> CardWindow {
        let asked = query.q.as_deref().unwrap_or_default().to_lowercase();
        let asked: Vec<&str> = asked.split_whitespace().collect();
        let rows = self.rows.iter().zip(&self.search_texts);
        let matching = rows
            .filter(|(row, text)| asked.iter().all(|word| text.contains(word)) && matches_query(row, query));
        let mut cards: Vec<&CardOverview> = matching.map(|(row, _)| row).collect();
        if let Some(sort) = query.sort.as_deref().filter(|sort| !sort.is_empty()) {
            let descending = query.descending.unwrap_or_default();
            cards.sort_by(|a, b| compare_by(sort, descending, a, b));
        }
        let offset = query.offset.unwrap_or_default();
        let limit = query.limit.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT);
        CardWindow {
            total: cards.len(),
            all: self.rows.len(),
            offset,
            cards: cards.into_iter().skip(offset).take(limit).cloned().collect(),
            brands: self.brands.clone(),
            marks: self.marks.clone(),
            tests: self.tests.clone(),
            verdicts: self.verdicts.clone(),
            priced: self.priced,
        }
    }
}

fn matches_query(row: &CardOverview, query: &CardQuery) -> bool {
    let same = |asked: &Option<String>, has: &dyn Fn(&str) -> bool| {
        asked.as_deref().is_none_or(|text| text.is_empty() || has(text))
    };
    let verdict = |asked: &str| match &row.verdict {
        Some(verdict) => verdict.word.eq_ignore_ascii_case(asked),
        None => asked == "none",
    };
    same(&query.mark, &|mark| row.marks.iter().any(|has| has.eq_ignore_ascii_case(mark)))
        && same(&query.brand, &|brand| row.brand.as_ref().is_some_and(|has| has.eq_ignore_ascii_case(brand)))
        && same(&query.verdict, &verdict)
        && query.min_bytes.is_none_or(|least| row.capacity_bytes.is_some_and(|bytes| bytes >= least))
        && query.max_bytes.is_none_or(|most| row.capacity_bytes.is_some_and(|bytes| bytes <= most))
        && query.max_price.is_none_or(|most| row.price.as_ref().is_some_and(|price| price.amount <= most))
        && (query.simulated.unwrap_or(true) || !row.simulated)
        && !(query.own.unwrap_or_default() && row.published)
}

/// Order of two cards; missing values come last in both directions.
fn compare_by(sort: &str, descending: bool, a: &CardOverview, b: &CardOverview) -> Ordering {
    let turned = |order: Ordering| if descending { order.reverse() } else { order };
    let numbers = |of: &dyn Fn(&CardOverview) -> Option<f64>| match (of(a), of(b)) {
        (Some(a), Some(b)) => turned(a.total_cmp(&b)),
        (a, b) => b.is_some().cmp(&a.is_some()),
    };
    let texts = |of: &dyn Fn(&CardOverview) -> Option<String>| match (of(a), of(b)) {
        (Some(a), Some(b)) => turned(a.cmp(&b)),
        (a, b) => b.is_some().cmp(&a.is_some()),
    };
    let by_title = a.title.to_lowercase().cmp(&b.title.to_lowercase());
    let order = match sort {
        "title" => turned(by_title),
        "capacity" => numbers(&|row| row.capacity_bytes.map(|bytes| bytes as f64)),
        "price" => numbers(&|row| row.price.as_ref().map(|price| price.amount)),
        "per-gb" => numbers(&|row| row.per_gb),
        "runs" => numbers(&|row| Some(f64::from(row.runs))),
        "last" => texts(&|row| row.last.clone()),
        "verdict" => texts(&|row| row.verdict.as_ref().map(|verdict| verdict.text.clone())),
        test => numbers(&|row| row.speeds.get(test).copied()),
    };
    order.then(by_title)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::archive_rows::NewestVerdict;

    fn shelf(rows: Vec<CardOverview>) -> CardSnapshot {
        let mut read = CardSnapshot::from_rows(Vec::new());
        read.search_texts = rows.iter().map(|row| row.title.to_lowercase()).collect();
        read.rows = rows;
        read
    }

    fn card(title: &str, bytes: Option<u64>) -> CardOverview {
        CardOverview { title: title.to_owned(), capacity_bytes: bytes, ..CardOverview::default() }
    }

    fn titles(cards: &CardWindow) -> Vec<&str> {
        cards.cards.iter().map(|card| card.title.as_str()).collect()
    }

    #[test]
    fn missing_values_sort_last_in_both_directions() {
        let read = shelf(vec![card("A", None), card("B", Some(1)), card("C", Some(2))]);
        let query = |descending| CardQuery {
            sort: Some("capacity".into()),
            descending: Some(descending),
            ..CardQuery::default()
        };
        assert_eq!(titles(&read.filter(&query(false))), ["B", "C", "A"]);
        assert_eq!(titles(&read.filter(&query(true))), ["C", "B", "A"]);
    }

    #[test]
    fn words_match_in_any_order_and_windows_are_limited() {
        let read = shelf((0..250).map(|n| card(&format!("Acme Ultra {n}"), None)).collect());
        let query = CardQuery { q: Some("ultra ACME 24".into()), ..CardQuery::default() };
        assert_eq!(read.filter(&query).total, 13);
        let far = CardQuery { offset: Some(usize::MAX), limit: Some(usize::MAX), ..CardQuery::default() };
        assert_eq!((read.filter(&far).total, read.filter(&far).cards.len()), (250, 0));
        assert_eq!(read.filter(&CardQuery::default()).cards.len(), DEFAULT_LIMIT);
    }

    #[test]
    fn verdict_filter_matches_first_word() {
        let mut fake = card("A", None);
        fake.verdict = Some(NewestVerdict { word: "FAKE".into(), ..NewestVerdict::default() });
        let read = shelf(vec![fake, card("B", None)]);
        let query = |verdict: &str| CardQuery { verdict: Some(verdict.into()), ..CardQuery::default() };
        assert_eq!(titles(&read.filter(&query("fake"))), ["A"]);
        assert_eq!(titles(&read.filter(&query("none"))), ["B"]);
    }
}
