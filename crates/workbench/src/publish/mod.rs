//! `report`: everything that is known of some cards, gathered for publishing. Which file it becomes is the business of crate
//! `report`.
//!
//! What names a piece (serial numbers, CIDs) is taken out here, before anything is laid out, unless it is asked for.

mod part;

use crate::compare::{self, Request as Compared};
use crate::error::Failure;
use crate::rank::{self, By, GroupBy};
use crate::shelf::Shelf;
use cardscope_model::publication::Publication;
use jiff::Zoned;

/// What is asked.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The cards, as `compare` takes them.
    pub compared: Compared,
    /// Its title; `None` makes one of the cards' names.
    pub title: Option<String>,
    /// Jobs by which the cards are ordered, too.
    pub jobs: Vec<String>,
    /// The host on which they are ordered.
    pub on: Option<String>,
    /// Into which groups the order is divided.
    pub group_by: Option<GroupBy>,
    /// Publish serial numbers and CIDs.
    pub serials: bool,
}

/// Gathers it.
///
/// # Errors
/// As `compare` and `rank`.
pub fn publish(request: &Request) -> Result<Publication, Failure> {
    let compared = &request.compared;
    let mut shelf = Shelf::open(compared.archive.as_deref(), !compared.without_collection)?;
    let columns = compare::chosen(compared, &mut shelf)?;
    let mut ids: Vec<String> = Vec::new();
    for column in &columns {
        if !ids.contains(&column.entry.card_id) {
            ids.push(column.entry.card_id.clone());
        }
    }
    let mut rankings = Vec::new();
    for job in &request.jobs {
        rankings.push(rank::rank_on(&ranked(request, job, &ids), &mut shelf)?);
    }
    let cards = ids.iter().map(|id| part::part(&mut shelf, id, request.serials)).collect::<Result<_, _>>()?;
    let comparison = compare::comparison(columns, compared.by.clone());
    Ok(Publication {
        title: request.title.clone().unwrap_or_else(|| title(&comparison.entries)),
        made_on: Zoned::now().strftime("%Y-%m-%d").to_string(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        comparison,
        rankings,
        cards,
    })
}

fn ranked(request: &Request, job: &str, ids: &[String]) -> rank::Request {
    rank::Request {
        by: By::Job(job.to_owned()),
        cards: ids.to_vec(),
        settings: request.compared.settings.clone(),
        on: request.on.clone(),
        group_by: request.group_by,
        without_collection: request.compared.without_collection,
        archive: request.compared.archive.clone(),
    }
}

/// `A and B`, or how many cards.
fn title(entries: &[cardscope_model::comparison::Entry]) -> String {
    let mut names: Vec<String> = Vec::new();
    for entry in entries {
        let name = entry.card.title();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    match names.as_slice() {
        [one] => one.clone(),
        [first, second] => format!("{first} and {second}"),
        all => format!("{} cards compared", all.len()),
    }
}
