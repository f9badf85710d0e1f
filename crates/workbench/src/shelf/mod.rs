//! The cards that can be compared: those of the archive, and those that come with the program.
//!
//! The built-in collection never goes into anybody's archive; it stands beside it whenever cards are looked up.

mod collected;

use crate::error::Failure;
use crate::import;
use cardscope_model::card::Event;
use cardscope_model::test_name::TestName;
use cardscope_store::{Archive, MeasuredRun, StoredCard, SummaryRow};
use collected::Collected;
use std::path::{Path, PathBuf};

/// Where cards are looked up.
pub(crate) struct Shelf {
    /// `None` where nothing was ever kept.
    archive: Option<Archive>,
    collected: Vec<Collected>,
}

impl Shelf {
    /// Opens the archive (`None` is the user's own) where there is one, and the collection where it is wanted. An archive
    /// that nobody has made yet is an empty one: looking something up makes none.
    pub(crate) fn open(archive: Option<&Path>, with_collection: bool) -> Result<Self, Failure> {
        let place = archive.map_or_else(Archive::default_path, |p| Ok(PathBuf::from(p)));
        let archive = match place {
            Ok(path) if is_there(&path) => Some(Archive::open(path).map_err(Failure::io)?),
            _ => None,
        };
        let collected = if with_collection { collected::all()? } else { Vec::new() };
        Ok(Shelf { archive, collected })
    }

    /// The archive, where there is one.
    pub(crate) fn archive(&mut self) -> Option<&mut Archive> {
        self.archive.as_mut()
    }

    /// Every card, those of the archive first.
    pub(crate) fn cards(&mut self) -> Result<Vec<StoredCard>, Failure> {
        let mut cards = match &mut self.archive {
            Some(archive) => archive.cards().map_err(Failure::io)?,
            None => Vec::new(),
        };
        let others = self.besides(&cards, |_| true);
        cards.extend(others);
        Ok(cards)
    }

    /// Collected cards that are none of these: who took the report of one in has it himself.
    fn besides(&self, own: &[StoredCard], wanted: impl Fn(&Collected) -> bool) -> Vec<StoredCard> {
        let is_own = |c: &Collected| own.iter().any(|card| card.title.eq_ignore_ascii_case(&c.card.title));
        self.collected.iter().filter(|c| wanted(c) && !is_own(c)).map(|c| c.card.clone()).collect()
    }

    /// True for a card that comes with the program, and for one of a file that was only looked into.
    pub(crate) fn is_collected(&self, card: &str) -> bool {
        self.collected.iter().any(|c| c.card.id == card)
    }

    /// The card of an id.
    pub(crate) fn card(&mut self, id: &str) -> Result<StoredCard, Failure> {
        let found = self.find(id)?.into_iter().find(|card| card.id == id);
        found.ok_or_else(|| Failure::io(format!("the card {id} is no longer there")))
    }

    /// The cards that a text names: by the beginning of their id, or by words in their names.
    pub(crate) fn find(&mut self, text: &str) -> Result<Vec<StoredCard>, Failure> {
        let mut found = match &mut self.archive {
            Some(archive) => archive.find_cards(text).map_err(Failure::io)?,
            None => Vec::new(),
        };
        let others = self.besides(&found, |c| c.is_named(text));
        found.extend(others);
        Ok(found)
    }

    /// Takes the logs of a file as cards of their own, without keeping them; gives the cards.
    pub(crate) fn take_file(&mut self, path: &Path) -> Result<Vec<StoredCard>, Failure> {
        let name = path.display().to_string();
        let found = collected::of_logs(&name, &name, &import::logs_of(path)?);
        let cards = found.iter().filter(|c| !c.runs.is_empty()).map(|c| c.card.clone()).collect();
        self.collected.extend(found);
        Ok(cards)
    }

    /// All runs of some cards, in the order measured.
    pub(crate) fn measurements(&mut self, cards: &[String]) -> Result<Vec<MeasuredRun>, Failure> {
        let mut runs = match &mut self.archive {
            Some(archive) => archive.measurements(cards).map_err(Failure::io)?,
            None => Vec::new(),
        };
        let asked = self.collected.iter().filter(|c| cards.contains(&c.card.id));
        runs.extend(asked.flat_map(|c| c.runs.iter().cloned()));
        Ok(runs)
    }

    /// Means over the runs of every card, for some tests (all where none is named).
    pub(crate) fn summaries(&mut self, tests: &[TestName]) -> Result<Vec<SummaryRow>, Failure> {
        let mut rows = match &mut self.archive {
            Some(archive) => archive.summaries(tests).map_err(Failure::io)?,
            None => Vec::new(),
        };
        rows.extend(self.collected.iter().flat_map(|c| c.summaries(tests)));
        Ok(rows)
    }

    /// Every test of which there is a summary.
    pub(crate) fn tests(&mut self) -> Result<Vec<TestName>, Failure> {
        let mut tests = match &mut self.archive {
            Some(archive) => archive.tests().map_err(Failure::io)?,
            None => Vec::new(),
        };
        for figure in self.collected.iter().flat_map(|c| &c.runs).flat_map(|run| &run.figures) {
            if !tests.contains(&figure.test) {
                tests.push(figure.test);
            }
        }
        Ok(tests)
    }

    /// What happened to a card.
    pub(crate) fn events(&mut self, card: &str) -> Result<Vec<Event>, Failure> {
        if let Some(collected) = self.collected.iter().find(|c| c.card.id == card) {
            return Ok(collected.events.clone());
        }
        match &mut self.archive {
            Some(archive) => {
                let events = archive.events(card).map_err(Failure::io)?;
                Ok(events.into_iter().map(|(_, event)| event).collect())
            }
            None => Ok(Vec::new()),
        }
    }
}

/// A server is asked when it is opened; a file must be there already, since looking something up makes none.
fn is_there(place: &Path) -> bool {
    place.to_str().is_some_and(|text| text.contains("://")) || place.exists()
}
