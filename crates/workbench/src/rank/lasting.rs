//! What a card does for as long as one likes: the speed behind its cache and its longest write, from the documents of
//! `sustain`, `map` and `check`. A short bench knows neither: it writes into the cache, and stalls are rare.

use crate::compare::Wanted;
use crate::error::Failure;
use crate::shelf::Shelf;
use cardscope_model::card_map::{self, MapReport, property::Status};
use cardscope_model::comparison::Setting;
use cardscope_model::condition::Condition;
use cardscope_model::job::{Figure, Job};
use cardscope_model::sustain::{self, Pattern, SustainReport, Work};
use cardscope_store::{SessionId, StoredCard, StoredRecord};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// Documents of one card that are looked into, the newest first: each is read whole, and one of the last says it or none.
const MOST_DOCUMENTS: usize = 6;

/// The speed of sequential writes behind the end of a cache.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) enum AfterCache {
    /// In MB/s.
    Measured(f64),
    /// There is no cache that ends: the speed of a short test lasts.
    NoCache,
    /// Nobody wrote long enough.
    #[default]
    Unknown,
}

/// What a long write and a map say of it; the long write is the better witness.
pub(crate) fn after_cache(long: Option<&sustain::Measured>, map: Option<&card_map::Measured>) -> AfterCache {
    let caches = [long.map(|long| &long.cache_bytes), map.map(|map| &map.slc_cache_bytes)];
    let speeds = [long.map(|long| &long.after_cache_mb_s), map.map(|map| &map.after_cache_mb_s)];
    match speeds.into_iter().flatten().find_map(|speed| speed.value.filter(|_| speed.is_measured())) {
        Some(mb_s) => AfterCache::Measured(mb_s),
        None if caches.into_iter().flatten().any(|cache| cache.status == Status::None) => AfterCache::NoCache,
        None => AfterCache::Unknown,
    }
}

/// What is known of one card.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Lasting {
    pub(super) after_cache: AfterCache,
    /// The longest write of a long run in seconds, 0 where it had no stall.
    pub(super) longest_write_s: Option<f64>,
}

/// Whether a job depends on it.
pub(super) fn asks_for(job: &Job) -> bool {
    let lasts = |figure: Figure| matches!(figure, Figure::SustainedWriteMbS | Figure::LongestWriteS);
    job.work.iter().any(|work| work.sustained_write_mb > 0.0) || job.demand.iter().any(|d| lasts(d.figure))
}

/// The newest of these documents under what is asked, by card.
pub(super) fn of_cards(
    shelf: &mut Shelf,
    cards: &[StoredCard],
    settings: &[Wanted],
) -> Result<HashMap<String, Lasting>, Failure> {
    let Some(archive) = shelf.archive() else { return Ok(HashMap::new()) };
    let asked: HashSet<&str> = cards.iter().map(|card| card.id.as_str()).collect();
    let mut by_card: HashMap<String, Vec<SessionId>> = HashMap::new();
    for record in archive.records()?.into_iter().rev() {
        let says_it = ["sustain", "map", "check"].contains(&record.kind.as_str());
        if let Some(card) = record.card_id.filter(|card| says_it && asked.contains(card.as_str())) {
            by_card.entry(card).or_default().push(record.id);
        }
    }
    let mut found = HashMap::new();
    for (card, records) in by_card {
        let mut known = Lasting::default();
        for id in records.into_iter().take(MOST_DOCUMENTS) {
            known.complete_from(of_record(&archive.record(id)?, settings));
            if known.is_complete() {
                break;
            }
        }
        found.insert(card, known);
    }
    Ok(found)
}

impl Lasting {
    /// Takes over what an older document knows and the newer ones do not.
    fn complete_from(&mut self, older: Lasting) {
        if self.after_cache == AfterCache::Unknown {
            self.after_cache = older.after_cache;
        }
        self.longest_write_s = self.longest_write_s.or(older.longest_write_s);
    }

    fn is_complete(&self) -> bool {
        self.after_cache != AfterCache::Unknown && self.longest_write_s.is_some()
    }
}

/// What one document says; nothing where it was made under another setting than what is asked.
fn of_record(record: &StoredRecord, settings: &[Wanted]) -> Lasting {
    let (kind, Some(document)) = (record.summary.kind.as_str(), &record.document) else {
        return Lasting::default();
    };
    let met = |condition: &Condition| {
        let setting = Setting { recipe: kind.to_owned(), size_bytes: None, condition: condition.clone() };
        settings.iter().all(|wanted| wanted.is_met_by(&setting))
    };
    match kind {
        "sustain" => read::<SustainReport>(document)
            .filter(|run| {
                run.body.work == Work::Write
                    && run.body.pattern == Pattern::Sequential
                    && met(&run.header.condition)
            })
            .map(|run| of_parts(Some(&run.body.measured), None)),
        "map" => read::<MapReport>(document)
            .filter(|map| met(&map.header.condition))
            .map(|map| of_parts(None, Some(&map.body.measured))),
        _ => {
            let map = read::<MapReport>(&document["map"]);
            let long = read::<sustain::Measured>(&document["sustain"]);
            let condition = read::<Condition>(&document["condition"]).unwrap_or_default();
            met(&condition).then(|| of_parts(long.as_ref(), map.as_ref().map(|map| &map.body.measured)))
        }
    }
    .unwrap_or_default()
}

fn of_parts(long: Option<&sustain::Measured>, map: Option<&card_map::Measured>) -> Lasting {
    let stall = |run: &sustain::Measured| run.stalls.as_ref().map_or(0.0, |stalls| stalls.longest_s);
    Lasting { after_cache: after_cache(long, map), longest_write_s: long.map(stall) }
}

fn read<T: for<'a> Deserialize<'a>>(document: &Value) -> Option<T> {
    T::deserialize(document).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::card_map::property::{Evidence, Property};

    fn long(mb_s: f64) -> sustain::Measured {
        sustain::Measured {
            after_cache_mb_s: Property::measured(mb_s, 0.9, Evidence::default()),
            ..sustain::Measured::default()
        }
    }

    fn map(cache: Property<u64>, mb_s: Option<f64>) -> card_map::Measured {
        let mut map = card_map::Measured { slc_cache_bytes: cache, ..card_map::Measured::default() };
        if let Some(mb_s) = mb_s {
            map.after_cache_mb_s = Property::measured(mb_s, 0.9, Evidence::default());
        }
        map
    }

    #[test]
    fn a_long_write_is_believed_before_a_map_and_a_map_without_a_cache_says_that_speed_lasts() {
        let cached = map(Property::measured(1 << 30, 0.9, Evidence::default()), Some(25.0));
        let none = map(Property::none(0.9, Evidence::default()), None);
        let untested = map(Property::not_tested("no time"), None);
        assert_eq!(after_cache(Some(&long(22.0)), Some(&cached)), AfterCache::Measured(22.0));
        assert_eq!(after_cache(None, Some(&cached)), AfterCache::Measured(25.0));
        assert_eq!(after_cache(None, Some(&none)), AfterCache::NoCache);
        assert_eq!(after_cache(None, Some(&untested)), AfterCache::Unknown);
        assert_eq!(after_cache(Some(&sustain::Measured::default()), None), AfterCache::Unknown);
        let through = sustain::Measured {
            cache_bytes: Property::none(0.9, Evidence::default()),
            ..sustain::Measured::default()
        };
        assert_eq!(after_cache(Some(&through), None), AfterCache::NoCache);
    }

    #[test]
    fn a_newer_document_wins_and_an_older_one_fills_what_it_does_not_know() {
        let mut known = of_parts(None, Some(&map(Property::not_tested("no time"), Some(30.0))));
        known.complete_from(of_parts(Some(&long(22.0)), None));
        assert_eq!(known.after_cache, AfterCache::Measured(30.0));
        assert_eq!(known.longest_write_s, Some(0.0), "a long write without a stall");
        assert!(known.is_complete());
    }
}
