//! `rank`: cards in order, for a job or by a test, on any host or on a given one. Cards that cannot be told apart share a
//! place, as do cards whose difference nobody would notice.

mod figures;
mod groups;
mod order;

pub use groups::GroupBy;

use crate::compare::Wanted;
use crate::error::Failure;
use crate::shelf::Shelf;
use cardscope_model::host::{self, Host};
use cardscope_model::job::{self, Job};
use cardscope_model::ranking::{RankedBy, Ranking};
use cardscope_model::test_name::TestName;
use cardscope_store::{StoredCard, SummaryRow};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// What the cards are ordered by.
#[derive(Debug, Clone, PartialEq)]
pub enum By {
    /// A job's name, or a file with one of the user's own.
    Job(String),
    /// A test.
    Test(TestName),
}

/// What is asked.
#[derive(Debug, Clone)]
pub struct Request {
    /// What they are ordered by.
    pub by: By,
    /// Only these cards: names as in `compare`; none means all.
    pub cards: Vec<String>,
    /// What every setting must have.
    pub settings: Vec<Wanted>,
    /// The host that caps them: a name, or a file with one of the user's own.
    pub on: Option<String>,
    /// Into which groups they are divided.
    pub group_by: Option<GroupBy>,
    /// Leave the built-in collection out.
    pub without_collection: bool,
    /// The archive; `None` is the user's own.
    pub archive: Option<PathBuf>,
}

/// Everything that is known before cards are placed.
struct Asked {
    measure: Measure,
    host: Option<Host>,
}

/// By what a card gets its value.
enum Measure {
    Job(Job),
    Test(TestName),
}

/// Ranks.
///
/// # Errors
/// A refusal where job, host or card is not known; a failure where the archive cannot be read.
pub fn rank(request: &Request) -> Result<Ranking, Failure> {
    rank_on(request, &mut Shelf::open(request.archive.as_deref(), !request.without_collection)?)
}

/// The same with cards that are looked up already.
pub(crate) fn rank_on(request: &Request, shelf: &mut Shelf) -> Result<Ranking, Failure> {
    let asked = asked(request)?;
    let cards = cards(request, shelf)?;
    let rows = rows(request, &asked, shelf)?;
    let mut bought = HashMap::new();
    if request.group_by == Some(GroupBy::Year) {
        for card in &cards {
            bought.insert(card.id.clone(), groups::bought(&shelf.events(&card.id)?));
        }
    }
    let by = match &asked.measure {
        Measure::Job(job) => RankedBy::Job(job.name.clone()),
        Measure::Test(test) => RankedBy::Test(*test),
    };
    let (places, not_placed) = order::places(&asked, &cards, &rows);
    let grouped = request.group_by.map(|group_by| {
        let of = |id: &str| cards.iter().find(|card| card.id == id);
        let values: Vec<_> = places
            .iter()
            .filter_map(|p| {
                let card = of(&p.entry.card_id)?;
                Some((card, bought.get(&card.id).cloned().flatten(), p.value))
            })
            .collect();
        groups::groups(group_by, &values, &order::what(&asked))
    });
    let findings = order::findings(&asked, &places);
    Ok(Ranking { by, on: asked.host.map(|h| h.name), places, not_placed, groups: grouped, findings })
}

fn asked(request: &Request) -> Result<Asked, Failure> {
    let measure = match &request.by {
        By::Test(test) => Measure::Test(*test),
        By::Job(name) => Measure::Job(match own(name)? {
            Some(text) => job::parse(&text).map_err(|e| Failure::refused(format!("{name}: {e}")))?,
            None => job::find(name).map_err(Failure::refused)?,
        }),
    };
    let host = match &request.on {
        None => None,
        Some(name) => Some(match own(name)? {
            Some(text) => host::parse(&text).map_err(|e| Failure::refused(format!("{name}: {e}")))?,
            None => host::find(name).map_err(Failure::refused)?,
        }),
    };
    Ok(Asked { measure, host })
}

/// The text of a file of the user's own, where the name is one's.
fn own(name: &str) -> Result<Option<String>, Failure> {
    if Path::new(name).extension().is_none_or(|e| e != "toml") {
        return Ok(None);
    }
    let text = std::fs::read_to_string(name);
    text.map(Some).map_err(|e| Failure::refused(format!("{name} cannot be read: {e}")))
}

fn cards(request: &Request, shelf: &mut Shelf) -> Result<Vec<StoredCard>, Failure> {
    if request.cards.is_empty() {
        // Of many cards only the name is known; a list of what was not measured of them helps nobody.
        return Ok(shelf.cards()?.into_iter().filter(|card| card.runs > 0).collect());
    }
    let mut found: Vec<StoredCard> = Vec::new();
    for text in &request.cards {
        let named = shelf.find(text)?;
        if named.is_empty() {
            return Err(Failure::refused(format!(
                "no card {text:?}; `cardscope archive cards` lists those of the archive"
            )));
        }
        for card in named {
            if found.iter().all(|c| c.id != card.id) {
                found.push(card);
            }
        }
    }
    Ok(found)
}

/// The rows that matter, by card.
fn rows(
    request: &Request,
    asked: &Asked,
    shelf: &mut Shelf,
) -> Result<HashMap<String, Vec<SummaryRow>>, Failure> {
    let tests: Vec<TestName> = match &asked.measure {
        Measure::Test(test) => vec![*test],
        Measure::Job(_) => shelf.tests()?.into_iter().filter(|test| figures::is_of_use(*test)).collect(),
    };
    let mut by_card: HashMap<String, Vec<SummaryRow>> = HashMap::new();
    if tests.is_empty() {
        return Ok(by_card);
    }
    for row in shelf.summaries(&tests)? {
        if request.settings.iter().all(|wanted| wanted.is_met_by(&row.setting)) {
            by_card.entry(row.card_id.clone()).or_default().push(row);
        }
    }
    Ok(by_card)
}
