//! Cards that can be compared: those of the archive, and those built into the program.
//!
//! The built-in collection is never stored in a user's archive; a lookup searches both.

mod card_selection;
mod collected;

pub use card_selection::{disambiguate_titles, no_card_refusal, select_card};
pub use collected::details_from_sessions;

use cardscope_import::verb as import;
use cardscope_model::archive_rows::{StoredCard, SummaryRow};
use cardscope_model::card::CardEvent;
use cardscope_model::card_details::CardDetails;
use cardscope_model::comparison::ComparedEntry;
use cardscope_model::run::CardRun;
use cardscope_model::statistics::distinct_values;
use cardscope_model::test_name::TestName;
use cardscope_session::archive_access::open_to_read;
use cardscope_session::card_key::{NotCard, find_not_cards};
use cardscope_session::error::{Failure, Result};
use cardscope_session::spreads;
use cardscope_statistics::priors::SpreadTable;
use cardscope_store::{Archive, ArchiveError, summarize_runs};
use collected::{CollectedCard, GatheredCards, LogOrigin};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// Lookup of cards in the archive, in the collection and in files.
pub struct CardLookup {
    /// `None` if nothing was stored yet.
    archive: Option<Archive>,
    collected: Vec<CollectedCard>,
    /// Files that were read, with the ids of their cards.
    files: Vec<(PathBuf, Vec<String>)>,
    /// Entries of the archive that are not cards, once computed.
    not_cards: Option<HashMap<String, NotCard>>,
}

impl CardLookup {
    /// Opens the archive (`None` is the user's own) if it exists, and the collection if wanted.
    pub fn open(archive: Option<&Path>, with_collection: bool) -> Result<Self> {
        let archive = open_to_read(archive)?;
        let collected = if with_collection { collected::collected_cards()? } else { Vec::new() };
        Ok(CardLookup { archive, collected, files: Vec::new(), not_cards: None })
    }

    pub(crate) fn archive(&mut self) -> Option<&mut Archive> {
        self.archive.as_mut()
    }

    /// Cards whose every measurement was of something other than a card, with its kind.
    pub(crate) fn not_cards(&mut self) -> Result<&HashMap<String, NotCard>> {
        let found = match (self.not_cards.take(), &mut self.archive) {
            (Some(known), _) => known,
            (None, Some(archive)) => find_not_cards(archive)?,
            (None, None) => HashMap::new(),
        };
        Ok(self.not_cards.insert(found))
    }

    /// Usual spread of runs: the table that ships with the program, extended by the archive's series.
    pub(crate) fn spreads(&mut self) -> Result<SpreadTable> {
        self.not_cards()?;
        match (&mut self.archive, &self.not_cards) {
            (Some(archive), Some(not_cards)) => spreads::table_excluding(archive, not_cards),
            _ => Ok(SpreadTable::shipped().clone()),
        }
    }

    /// Adds the kind of an object that is not a card to its title: `Samsung Evo+ 32GB (simulated)`. The name of a simulated card
    /// shows it already.
    pub(crate) fn label_not_cards<'a>(
        &mut self,
        cards: impl Iterator<Item = &'a mut StoredCard>,
    ) -> Result<()> {
        let not_cards = self.not_cards()?;
        for card in cards.filter(|card| card.facts.simulated_target().is_none()) {
            let Some(what) = not_cards.get(&card.id) else { continue };
            let label = format!(" ({})", what.label());
            if !card.title.ends_with(&label) {
                card.title += &label;
            }
        }
        Ok(())
    }

    /// Result of a query to the archive; empty without an archive.
    fn query_archive<T, F>(&mut self, query: F) -> Result<Vec<T>>
    where
        F: FnOnce(&mut Archive) -> Result<Vec<T>, ArchiveError>,
    {
        self.archive.as_mut().map_or(Ok(Vec::new()), |archive| Ok(query(archive)?))
    }

    fn find_collected(&self, id: &str) -> Option<&CollectedCard> {
        self.collected.iter().find(|collected| collected.card.id == id)
    }

    /// Every card, those of the archive first.
    pub fn cards(&mut self) -> Result<Vec<StoredCard>> {
        let mut cards = self.query_archive(|archive| archive.cards())?;
        let others = self.other_collected(&cards, |_| true);
        cards.extend(others);
        Ok(cards)
    }

    /// Collected cards with other titles than these. A user who imported a report has its card in the archive, too.
    fn other_collected(&self, own: &[StoredCard], want: impl Fn(&CollectedCard) -> bool) -> Vec<StoredCard> {
        let is_own = |title: &str| own.iter().any(|card| card.title.eq_ignore_ascii_case(title));
        let others = self.collected.iter().filter(|c| want(c) && !is_own(&c.card.title));
        others.map(|c| c.card.clone()).collect()
    }

    /// True for a built-in card, and for a card of a file.
    pub(crate) fn is_collected(&self, card: &str) -> bool {
        self.find_collected(card).is_some()
    }

    pub(crate) fn card_by_id(&mut self, id: &str) -> Result<StoredCard> {
        let collected = self.find_collected(id).map(|c| c.card.clone());
        let found = match (collected, &mut self.archive) {
            (None, Some(archive)) => archive.find_cards(id)?.into_iter().find(|c| c.id == id),
            (collected, _) => collected,
        };
        found.ok_or_else(|| Failure::io(format!("the card {id} no longer exists")))
    }

    /// Cards that match a text by words of their names, or by a prefix of their id.
    pub(crate) fn find_cards(&mut self, text: &str) -> Result<Vec<StoredCard>> {
        let mut found = self.query_archive(|archive| archive.find_cards(text))?;
        let others = self.other_collected(&found, |c| c.matches_text(text));
        found.extend(others);
        // A short text is a prefix of many ids, so ids count only if no name matches.
        match found.is_empty() {
            true => self.query_archive(|archive| archive.cards_by_id(text)),
            false => Ok(found),
        }
    }

    /// Reads the logs of a file as cards, without storing them, and returns the cards with runs. Each file is read once.
    pub(crate) fn read_file(&mut self, path: &Path) -> Result<Vec<StoredCard>> {
        // Several paths may lead to one file.
        let file = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if !self.files.iter().any(|(taken, _)| *taken == file) {
            let found = cards_in_file(path)?;
            self.files.push((file.clone(), found.iter().map(|c| c.card.id.clone()).collect()));
            self.collected.extend(found);
        }
        let ids = self.files.iter().filter(|(taken, _)| *taken == file).flat_map(|(_, ids)| ids);
        let measured = |id: &String| self.find_collected(id).filter(|c| !c.runs.is_empty());
        Ok(ids.filter_map(measured).map(|c| c.card.clone()).collect())
    }

    /// All runs of some cards, in the order measured.
    pub(crate) fn measurements(&mut self, cards: &[String]) -> Result<Vec<CardRun>> {
        let mut runs = self.query_archive(|archive| archive.measurements(cards))?;
        let asked = self.collected.iter().filter(|c| cards.contains(&c.card.id));
        runs.extend(asked.flat_map(|c| c.runs.iter().cloned()));
        Ok(runs)
    }

    /// Means over the runs of every card, for the tests that are wanted.
    pub(crate) fn summaries(&mut self, wanted: impl Fn(TestName) -> bool + Sync) -> Result<Vec<SummaryRow>> {
        let mut rows = self.query_archive(|archive| archive.summaries(&wanted))?;
        rows.extend(self.collected.iter().flat_map(|c| summarize_runs(&c.runs, &wanted)));
        Ok(rows)
    }

    /// Details of the cards of a comparison; cards without any are omitted.
    pub(crate) fn details_by_card(&mut self, entries: &[ComparedEntry]) -> Result<DetailsByCard> {
        let mut all = BTreeMap::new();
        for card in distinct_values(entries.iter().map(|entry| &entry.card_id)) {
            let details = match self.find_collected(card) {
                Some(collected) => collected.details.clone(),
                None => details_from_sessions(&self.query_archive(|archive| archive.card_statements(card))?),
            };
            all.insert(card.clone(), details);
        }
        all.retain(|_, details| !details.is_empty());
        Ok(all)
    }

    pub(crate) fn card_events(&mut self, card: &str) -> Result<Vec<CardEvent>> {
        if let Some(collected) = self.find_collected(card) {
            return Ok(collected.events.clone());
        }
        let events = self.query_archive(|archive| archive.events(card))?;
        Ok(events.into_iter().map(|(_, event)| event).collect())
    }
}

type DetailsByCard = BTreeMap<String, CardDetails>;

pub fn builtin_cards() -> Result<Vec<StoredCard>> {
    Ok(collected::collected_cards()?.into_iter().map(|collected| collected.card).collect())
}

/// Cards in the logs of a file, or of each file packed in it.
fn cards_in_file(path: &Path) -> Result<Vec<CollectedCard>> {
    let file = path.display().to_string();
    let mut gathered = GatheredCards::default();
    for found in import::read_logs(path)? {
        let part = &if found.member.is_empty() { String::new() } else { format!("/{}", found.member) };
        let (source, title) = (&format!("{file}{part}"), found.title.as_deref());
        gathered.add_logs(&LogOrigin { file: &file, part, source, title }, &found.logs);
    }
    Ok(gathered.cards)
}

#[cfg(test)]
mod tests;
