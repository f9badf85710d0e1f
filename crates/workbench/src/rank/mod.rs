//! `rank`: cards in order, for a job or by a test, on any host or on a given one. Cards that cannot be told apart share a
//! place, as do cards whose difference nobody would notice.

mod figures;
mod findings;
mod groups;
pub(crate) mod lasting;
mod order;
mod valued;

pub use groups::GroupBy;

use crate::compare::Wanted;
use crate::error::Failure;
use crate::shelf::Shelf;
use cardscope_engine::input;
use cardscope_model::host::{self, Host};
use cardscope_model::job::{self, Job};
use cardscope_model::ranking::{Groups, Place, RankedBy, Ranking};
use cardscope_model::test_name::TestName;
use cardscope_store::{StoredCard, SummaryRow};
use lasting::Lasting;
use std::collections::{HashMap, HashSet};
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
    let mut shelf = Shelf::open(request.archive.as_deref(), !request.without_collection)?;
    let cards = cards(request, &mut shelf)?;
    rank_among(request, &cards, &mut shelf)
}

/// The same with cards that are looked up already, whatever the request names.
pub(crate) fn rank_among(
    request: &Request,
    cards: &[StoredCard],
    shelf: &mut Shelf,
) -> Result<Ranking, Failure> {
    let asked = asked(request)?;
    let measured = measured(request, &asked, cards, shelf)?;
    let by = match &asked.measure {
        Measure::Job(job) => RankedBy::Job(job.name.clone()),
        Measure::Test(test) => RankedBy::Test(*test),
    };
    let (places, not_placed) = order::places(&asked, cards, &measured);
    let grouped = match request.group_by {
        Some(group_by) => Some(grouped(group_by, &asked, cards, &places, shelf)?),
        None => None,
    };
    let findings = findings::findings(&asked, &places);
    Ok(Ranking { by, on: asked.host.map(|h| h.name), places, not_placed, groups: grouped, findings })
}

/// The placed cards in groups.
fn grouped(
    group_by: GroupBy,
    asked: &Asked,
    cards: &[StoredCard],
    places: &[Place],
    shelf: &mut Shelf,
) -> Result<Groups, Failure> {
    let by_id: HashMap<&str, &StoredCard> = cards.iter().map(|card| (card.id.as_str(), card)).collect();
    let mut values = Vec::new();
    for place in places {
        let Some(card) = by_id.get(place.entry.card_id.as_str()) else { continue };
        // A card's events are a question of their own: asked only where nothing else tells the year.
        let bought = match (group_by, &card.facts.made) {
            (GroupBy::Year, None) => groups::bought(&shelf.events(&card.id)?),
            _ => None,
        };
        values.push((*card, bought, place.value));
    }
    Ok(groups::groups(group_by, &values, &asked.what()))
}

impl Asked {
    /// What is ordered, in words.
    fn what(&self) -> String {
        match &self.measure {
            Measure::Job(job) => format!("the score for {:?}", job.name),
            Measure::Test(test) => test.to_string(),
        }
    }
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
    let text = input::text(Path::new(name), input::MOST_TEXT);
    text.map(Some).map_err(|e| Failure::refused(format!("{name} cannot be read: {e}")))
}

fn cards(request: &Request, shelf: &mut Shelf) -> Result<Vec<StoredCard>, Failure> {
    if request.cards.is_empty() {
        // Of many cards only the name is known; a list of what was not measured of them helps nobody.
        return Ok(shelf.cards()?.into_iter().filter(|card| card.runs > 0).collect());
    }
    let mut found: Vec<StoredCard> = Vec::new();
    let mut ids: HashSet<String> = HashSet::new();
    for text in &request.cards {
        let named = shelf.find(text)?;
        if named.is_empty() {
            return Err(Failure::refused(format!(
                "no card {text:?}; `cardscope archive cards` lists those of the archive"
            )));
        }
        found.extend(named.into_iter().filter(|card| ids.insert(card.id.clone())));
    }
    Ok(found)
}

/// What was measured that matters, by card.
struct Measured {
    rows: HashMap<String, Vec<SummaryRow>>,
    lasting: HashMap<String, Lasting>,
}

impl Measured {
    fn rows(&self, card: &str) -> &[SummaryRow] {
        self.rows.get(card).map_or(&[][..], Vec::as_slice)
    }

    fn lasting(&self, card: &str) -> Lasting {
        self.lasting.get(card).copied().unwrap_or_default()
    }
}

fn measured(
    request: &Request,
    asked: &Asked,
    cards: &[StoredCard],
    shelf: &mut Shelf,
) -> Result<Measured, Failure> {
    let (read, lasting) = match &asked.measure {
        Measure::Test(one) => (shelf.summaries(|test| test == *one)?, HashMap::new()),
        Measure::Job(job) => {
            let lasting = match lasting::asks_for(job) {
                true => lasting::of_cards(shelf, cards, &request.settings)?,
                false => HashMap::new(),
            };
            (shelf.summaries(figures::is_of_use)?, lasting)
        }
    };
    let mut rows: HashMap<String, Vec<SummaryRow>> = HashMap::new();
    for row in read.into_iter().filter(|row| request.settings.iter().all(|w| w.is_met_by(&row.setting))) {
        rows.entry(row.card_id.clone()).or_default().push(row);
    }
    Ok(Measured { rows, lasting })
}
