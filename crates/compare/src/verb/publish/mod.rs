//! `report`: gathers all data of some cards for publication; `crate::page::publication` writes the formats.
//!
//! Serial numbers and CIDs are redacted here (`hidden`), before any layout, unless they are requested. Of more cards than a
//! comparison can show only rankings are published; `orders` chooses them if the user does not.

mod default_rankings;
mod metadata;
mod over_time;
mod part;
mod pictures;
mod redaction;

use crate::card_lookup::CardLookup;
use crate::judge::comparison::{ComparedColumn, MOST_PAIRED, build_comparison};
use crate::verb::compare::{self, CompareRequest as Compared};
use crate::verb::rank::{self, GroupBy, RankingKey, RankingOptions, group_parser};
use cardscope_model::archive_rows::StoredCard;
use cardscope_model::comparison::Comparison;
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::publication::{CardPart, Publication};
use cardscope_model::statistics::distinct_values;
use cardscope_model::test_name::TestName;
use cardscope_session::error::Result;
use clap::{ArgGroup, Args};
use jiff::Zoned;
use std::collections::BTreeSet;

/// Content of a publication. Many cards are ranked by default.
#[derive(Debug, Clone, Default, Args)]
#[group(skip)]
#[command(
    group(ArgGroup::new("order").args(["job", "rank_by"]).multiple(true)),
    mut_arg("cards", |cards| {
        cards.help("Cards as in `compare`, or log files [default: all of the archive]")
    }),
    mut_arg("by", |by| by.help("Split each card by WORD, as `compare --by`"))
)]
pub struct PublishRequest {
    /// Title of the report
    #[arg(long)]
    pub title: Option<String>,
    /// Also order the cards for this job of `cardscope jobs` (repeatable)
    #[arg(long = "for", value_name = "JOB")]
    pub job: Vec<String>,
    /// Also order the cards by this test, e.g. "RND4K Q1T1 write" (repeatable)
    #[arg(long, value_name = "TEST")]
    pub rank_by: Vec<TestName>,
    /// Limit the speeds to this host, in these orders
    #[arg(long, value_name = "HOST", requires = "order")]
    pub on: Option<String>,
    /// Show how well each of these predicts the orders: mark, app-mark, maker, year, capacity
    #[arg(long, value_name = "WORD,...", requires = "order", value_delimiter = ',', value_parser = group_parser())]
    #[arg(hide_possible_values = true)]
    pub group_by: Vec<GroupBy>,
    /// Also publish serial numbers and CIDs
    #[arg(long)]
    pub serials: bool,
    /// The cards, and how they are compared.
    #[command(flatten)]
    pub compared: Compared,
}

impl PublishRequest {
    /// Criteria by which the user ranks the cards.
    fn ranking_keys(&self) -> Vec<RankingKey> {
        let jobs = self.job.iter().cloned().map(RankingKey::Job);
        jobs.chain(self.rank_by.iter().copied().map(RankingKey::Test)).collect()
    }
}

/// Gathers everything that a request publishes, so that all formats have the same data.
///
/// # Errors
/// As `compare` and `rank`. Too many cards for a comparison are refused only if they cannot be ranked either.
pub fn gather_publication(request: &PublishRequest) -> Result<Publication> {
    let compared = &request.compared;
    let mut source = compared.choice.open_source()?;
    let chosen = compare::chosen_cards(compared, &mut source)?;
    let division = compare::requested_division(compared)?;
    let columns = compare::read_columns(compared, &chosen, &division, &mut source)?;
    let mut known = BTreeSet::new();
    let cards = chosen.into_iter().map(|(card, _)| card).filter(|card| known.insert(card.id.clone()));
    let cards: Vec<StoredCard> = cards.collect();
    let mut orders = request.ranking_keys();
    let is_asked = !orders.is_empty();
    // Differences between many cards are unreadable, so a ranking replaces them.
    let many = columns.as_ref().is_none_or(|columns| columns.len() > MOST_PAIRED);
    if many && !is_asked {
        orders = default_rankings::default_keys(&compared.choice, &cards, &mut source)?;
    }
    let (on, group_by, named) = (request.on.as_deref(), &request.group_by[..], !compared.cards.is_empty());
    let ranking = |by| {
        let order = RankingOptions { by, on, group_by, named };
        rank::rank_selected(order, &compared.choice, cards.clone(), &mut source)
    };
    let rankings = orders.iter().map(ranking).collect::<Result<Vec<_>>>()?;
    let (comparison, parts) = match columns {
        Some(columns) => {
            let parts = card_parts(request, &columns, &mut source)?;
            let mut compared = build_comparison(columns, &division, &source.spreads()?);
            compared.details = source.details_by_card(&compared.entries)?;
            (compared, parts)
        }
        None if rankings.is_empty() => return Err(compare::too_many_columns(cards.len())),
        None => (omitted_comparison(cards.len(), is_asked), Vec::new()),
    };
    Ok(Publication {
        title: request.title.clone().unwrap_or_else(|| default_title(&parts, cards.len())),
        made_on: Zoned::now().strftime("%Y-%m-%d").to_string(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        comparison,
        rankings,
        cards: parts,
    })
}

/// Parts of all cards with a column, in the order of these.
fn card_parts(
    request: &PublishRequest,
    columns: &[ComparedColumn],
    source: &mut CardLookup,
) -> Result<Vec<CardPart>> {
    let ids = distinct_values(columns.iter().map(|column| column.entry.card_id.as_str()));
    let limits = (request.serials, pictures::bytes_per_card(ids.len()));
    let part = |id: &str| {
        let own: Vec<_> = columns.iter().filter(|column| column.entry.card_id == id).collect();
        part::gather_part(source, id, &own, &request.compared.choice.tests, limits)
    };
    ids.into_iter().map(part).collect()
}

/// Replaces a comparison of too many cards. `asked` is true if the user chose the rankings.
fn omitted_comparison(cards: usize, asked: bool) -> Comparison {
    let (by, or) = match asked {
        true => ("", ""),
        false => (", by their most common tests", "; choose another order with --for JOB or --rank-by TEST"),
    };
    let verdict = format!("{cards} cards are too many for a comparison, so they are only ranked{by}.");
    let advice = format!("Name a few of them for results, differences and series{or}.");
    let why = Finding::new("not-compared", FindingWeight::Note, 1.0, verdict).with_advice(advice);
    Comparison { findings: vec![why], ..Comparison::default() }
}

/// Default title: `A and B`, or the number of cards.
fn default_title(compared: &[CardPart], cards: usize) -> String {
    match compared {
        [] => format!("{cards} cards in order"),
        [one] => one.title.clone(),
        [first, second] => format!("{} and {}", first.title, second.title),
        all => format!("{} cards compared", all.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verb::compare::MeasurementChoice;
    use cardscope_model::ranking::RankedBy;
    use cardscope_session::options::ArchiveAt;
    use cardscope_testkit::cards::csv_of_cards;

    /// Publication of 240 cards with one test each, from a file.
    fn many(rank_by: &[&str], tests: &[&str]) -> Result<Publication> {
        let file = csv_of_cards(240);
        let archive = tempfile::NamedTempFile::new().unwrap();
        let named = |tests: &[&str]| tests.iter().map(|test| test.parse().unwrap()).collect();
        gather_publication(&PublishRequest {
            compared: Compared {
                cards: vec![file.path().to_str().unwrap().to_owned()],
                choice: MeasurementChoice {
                    tests: named(tests),
                    without_collection: true,
                    archive: ArchiveAt { archive: Some(archive.path().to_owned()) },
                    ..MeasurementChoice::default()
                },
                ..Compared::default()
            },
            rank_by: named(rank_by),
            group_by: vec![GroupBy::Maker],
            ..PublishRequest::default()
        })
    }

    #[test]
    fn many_cards_are_published_as_rankings() {
        let found = many(&["SEQ1M Q8T1 read"], &[]).unwrap();
        assert_eq!((found.title.as_str(), found.comparison.entries.len()), ("240 cards in order", 0));
        assert_eq!(found.rankings[0].places.len(), 240);
        let groups = &found.rankings[0].groups[0];
        assert_eq!(groups.groups.iter().map(|g| g.cards).sum::<u32>(), 240);
        let [why] = &found.comparison.findings[..] else { panic!("{:?}", found.comparison.findings) };
        assert_eq!(why.claim, "not-compared");
        assert!(!why.verdict.contains("most common tests"), "somebody chose the order: {}", why.verdict);
    }

    #[test]
    fn many_cards_are_ranked_by_default_tests() {
        let usual = many(&[], &[]).unwrap();
        let by = |found: &Publication| found.rankings.iter().map(|r| r.by.clone()).collect::<Vec<_>>();
        let reads = RankedBy::Test("SEQ1M Q8T1 read".parse().unwrap());
        assert_eq!(by(&usual), std::slice::from_ref(&reads));
        assert_eq!(usual.rankings[0].places.len(), 240);
        let why = &usual.comparison.findings[0];
        assert!(why.verdict.contains("their most common tests"), "{}", why.verdict);
        assert!(why.advice.as_ref().unwrap().contains("--rank-by"));
        assert_eq!(by(&many(&[], &["SEQ1M Q8T1 read"]).unwrap()), [reads]);
    }
}
