//! All cards at a glance: those of the archive and those that come with the program, each with its newest verdict and its mean
//! speeds. What a list that is searched and sorted is made of.

use crate::card_source::CardSource;
use cardscope_model::archived::StoredCard;
use cardscope_model::card::SIMULATED;
use cardscope_session::error::Result;
use cardscope_store::NewestDocument;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// A card.
#[derive(Debug, Clone)]
pub struct Shelved {
    /// What is known of it.
    pub card: StoredCard,
    /// Whether it comes with the program.
    pub published: bool,
    /// Whether nothing but a simulated card or a device that is none was measured under its name.
    pub is_no_card: bool,
    /// Mean speed in MB/s by test, over all counted runs under all settings.
    pub speeds: BTreeMap<String, f64>,
    /// The document of its newest verdict.
    pub newest: Option<NewestDocument>,
}

/// All of them, those of the archive first, each part by title.
///
/// # Errors
/// If the archive cannot be opened or read.
pub fn all(archive: Option<&Path>) -> Result<Vec<Shelved>> {
    let mut source = CardSource::open(archive, true)?;
    let cards = source.cards()?;
    let mut sums: HashMap<String, BTreeMap<String, (f64, f64)>> = HashMap::new();
    for row in source.summaries(|_| true)? {
        let sum = sums.entry(row.card_id).or_default().entry(row.test.to_string()).or_default();
        *sum = (sum.0 + row.mean * f64::from(row.n), sum.1 + f64::from(row.n));
    }
    let mut newest: HashMap<String, NewestDocument> = HashMap::new();
    if let Some(archive) = source.archive() {
        newest
            .extend(archive.newest_verdicts()?.into_iter().map(|verdict| (verdict.card_id.clone(), verdict)));
    }
    let not_cards = source.not_cards()?.clone();
    let shelved = |card: StoredCard| {
        let speeds = sums.remove(&card.id).unwrap_or_default();
        Shelved {
            published: source.is_collected(&card.id),
            is_no_card: card.title.starts_with(SIMULATED) || not_cards.contains_key(&card.id),
            speeds: speeds.into_iter().map(|(test, (sum, runs))| (test, sum / runs.max(1.0))).collect(),
            newest: newest.remove(&card.id),
            card,
        }
    };
    Ok(cards.into_iter().map(shelved).collect())
}
