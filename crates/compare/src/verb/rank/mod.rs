//! `rank`: ranks cards for a job or by a test, on any host or on a given one. Measurements are read from the archive here;
//! `crate::judge::ranking` orders the cards.

mod excluded;

use crate::card_lookup::{CardLookup, disambiguate_titles, no_card_refusal};
use crate::judge::ranking::{self, MeasuredCards, RankingGoal, RankingMeasure, SustainedFigures};
use crate::verb::compare::MeasurementChoice;
use crate::verb::jobs;
use cardscope_model::archive_rows::{StoredCard, SummaryRow};
use cardscope_model::card_map::MapReport;
use cardscope_model::condition::Condition;
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::job::Job;
use cardscope_model::ranking::{GroupDivision, RankedCard, Ranking};
use cardscope_model::setting::Setting;
use cardscope_model::sustain::{self, SustainReport, WorkloadKind, WorkloadPattern};
use cardscope_model::test_name::TestName;
use cardscope_session::error::{Failure, Result};
use cardscope_store::StoredSession;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use jiff::Zoned;
use std::collections::{HashMap, HashSet};

use excluded::{newest_records, parse_document};

pub use crate::judge::ranking::GroupBy;
pub use excluded::exclusion_reasons;

/// Criterion of a ranking.
#[derive(Debug, Clone, PartialEq)]
pub enum RankingKey {
    /// Name of a job, or a file with a job.
    Job(String),
    CustomJob(Box<Job>),
    Test(TestName),
}

/// Options of a ranking.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RankingOptions<'a> {
    pub(crate) by: &'a RankingKey,
    /// Host that limits the cards: a name, or a file with a host.
    pub(crate) on: Option<&'a str>,
    pub(crate) group_by: &'a [GroupBy],
    /// True if the user named the cards: then simulated cards and loop devices are ranked, too.
    pub(crate) named: bool,
}

/// Order cards for a job, or by one test
///
/// A job is a set of workloads with the delays that a person notices: pi-boot, camera-4k, android, another of
/// `cardscope jobs`, or a TOML file of your own (docs/jobs.md). Within a tier no card is notably worse than the first, or
/// not for sure. Fakes are not ranked; simulated cards and loop devices only where they are named.
#[derive(Debug, Clone, Args)]
pub struct RankRequest {
    /// Cards to order [default: all]
    #[arg(value_name = "CARD")]
    pub cards: Vec<String>,
    /// Job: a name of `cardscope jobs`, or FILE.toml
    #[arg(long = "for", value_name = "JOB", conflicts_with = "test")]
    pub job: Option<String>,
    /// Limit the speeds to this host: pi-2, pi-3, pi-4, pi-5, slot-25, usb2, sd-express, or FILE.toml
    #[arg(long, value_name = "HOST")]
    pub on: Option<String>,
    /// Show how well each of these predicts the order: mark, app-mark, maker, year, capacity
    #[arg(long, value_name = "WORD,...", value_delimiter = ',', value_parser = group_parser(), hide_possible_values = true)]
    pub group_by: Vec<GroupBy>,
    /// Choice of measurements; a single test if there is no job.
    #[command(flatten)]
    pub choice: MeasurementChoice,
}

/// Parser for the words of `--group-by`.
pub fn group_parser() -> impl TypedValueParser<Value = GroupBy> {
    let group = |word: String| GroupBy::ALL.into_iter().find(|(known, _)| *known == word).map(|(_, by)| by);
    let words = PossibleValuesParser::new(GroupBy::ALL.map(|(word, _)| word));
    words.try_map(move |word| group(word).ok_or("unknown group"))
}

/// Ranks cards of the archive by one test, or for a job.
///
/// # Errors
/// Refuses unknown jobs, hosts and cards.
pub fn rank_cards(request: &RankRequest) -> Result<Ranking> {
    let by = match (&request.job, &request.choice.tests[..]) {
        (Some(job), _) => RankingKey::Job(job.clone()),
        (None, [test]) => RankingKey::Test(*test),
        (None, []) => return Err(Failure::refused("name a job (--for JOB) or a test (--test TEST)")),
        (None, _) => return Err(Failure::refused("name one test (--test TEST), or a job (--for JOB)")),
    };
    rank_cards_by(request, &by)
}

/// Ranks by `by`, whatever the request names.
pub fn rank_cards_by(request: &RankRequest, by: &RankingKey) -> Result<Ranking> {
    let mut source = request.choice.open_source()?;
    let mut cards = requested_cards(request, &mut source)?;
    disambiguate_titles(cards.iter_mut());
    let named = !request.cards.is_empty();
    let order = RankingOptions { by, on: request.on.as_deref(), group_by: &request.group_by, named };
    rank_selected(order, &request.choice, cards, &mut source)
}

/// Ranks cards that are already selected.
pub(crate) fn rank_selected(
    order: RankingOptions<'_>,
    choice: &MeasurementChoice,
    cards: Vec<StoredCard>,
    source: &mut CardLookup,
) -> Result<Ranking> {
    let asked = ranking_goal(order)?;
    let (mut cards, excluded) = excluded::separate_excluded(source, cards, order.named)?;
    source.label_not_cards(cards.iter_mut())?;
    let measured = read_measurements(choice, &asked, &cards, source)?;
    let table = source.spreads()?;
    let mut ranking = ranking::build_ranking(&asked, &table, &cards, &measured, excluded);
    ranking.findings.extend(old_price_finding(&ranking.places));
    for group_by in order.group_by {
        ranking.groups.push(group_places(*group_by, &asked, &cards, &ranking.places, source)?);
    }
    Ok(ranking)
}

/// Years after which prices count as old: the price of a gigabyte halves in about this time.
const OLD_YEARS: i64 = 3;

fn old_price_finding(places: &[RankedCard]) -> Option<Finding> {
    let year = |date: &str| date.get(..4)?.parse::<i64>().ok();
    let priced = places.iter().filter(|place| place.per_price.is_some());
    let years: Vec<i64> = priced.filter_map(|place| year(place.priced.as_deref()?)).collect();
    let (first, last) = (*years.iter().min()?, *years.iter().max()?);
    let old = i64::from(Zoned::now().year()) - first >= OLD_YEARS;
    let span = if first == last { first.to_string() } else { format!("{first} to {last}") };
    let finding =
        Finding::new("old-prices", FindingWeight::Hint, 1.0, format!("Prices are those of {span}."));
    old.then(|| finding.with_advice("Look up today's; `cardscope archive edit CARD --price` takes them."))
}

fn group_places(
    group_by: GroupBy,
    asked: &RankingGoal,
    cards: &[StoredCard],
    places: &[RankedCard],
    source: &mut CardLookup,
) -> Result<GroupDivision> {
    let by_id: HashMap<&str, &StoredCard> = cards.iter().map(|card| (card.id.as_str(), card)).collect();
    let mut values = Vec::new();
    for place in places {
        let Some(card) = by_id.get(place.entry.card_id.as_str()) else { continue };
        // Reading a card's events needs a query, so it is done only if no other fact has the year.
        let bought = match (group_by, &card.facts.made) {
            (GroupBy::Year, None) => ranking::first_purchase(&source.card_events(&card.id)?),
            _ => None,
        };
        values.push((*card, bought, place.value));
    }
    Ok(ranking::group_cards(group_by, &values, &asked.value_name()))
}

fn ranking_goal(order: RankingOptions<'_>) -> Result<RankingGoal> {
    let measure = match order.by {
        RankingKey::Test(test) => RankingMeasure::Test(*test),
        RankingKey::Job(name) => RankingMeasure::Job(jobs::find_job(name)?),
        RankingKey::CustomJob(job) => RankingMeasure::Job((**job).clone()),
    };
    Ok(RankingGoal { measure, host: order.on.map(jobs::find_host).transpose()? })
}

fn requested_cards(request: &RankRequest, source: &mut CardLookup) -> Result<Vec<StoredCard>> {
    if request.cards.is_empty() {
        // An archive may have many cards without runs, and a list of these would be of no use.
        return Ok(source.cards()?.into_iter().filter(|card| card.runs > 0).collect());
    }
    let mut found: Vec<StoredCard> = Vec::new();
    let mut ids: HashSet<String> = HashSet::new();
    for text in &request.cards {
        let named = source.find_cards(text)?;
        if named.is_empty() {
            return Err(no_card_refusal(text));
        }
        found.extend(named.into_iter().filter(|card| ids.insert(card.id.clone())));
    }
    Ok(found)
}

fn read_measurements(
    choice: &MeasurementChoice,
    asked: &RankingGoal,
    cards: &[StoredCard],
    source: &mut CardLookup,
) -> Result<MeasuredCards> {
    let (read, lasting) = match &asked.measure {
        RankingMeasure::Test(one) => (source.summaries(|test| test == *one)?, HashMap::new()),
        RankingMeasure::Job(job) if ranking::needs_long_runs(job) => {
            let lasting = read_sustained(source, cards, choice)?;
            (source.summaries(ranking::is_relevant_test)?, lasting)
        }
        RankingMeasure::Job(_) => (source.summaries(ranking::is_relevant_test)?, HashMap::new()),
    };
    let mut rows: HashMap<String, Vec<SummaryRow>> = HashMap::new();
    for row in read.into_iter().filter(|row| choice.is_met_by(&row.setting)) {
        rows.entry(row.card_id.clone()).or_default().push(row);
    }
    Ok(MeasuredCards { rows, sustained: lasting })
}

/// Sustained performance of each card, from its newest documents under the selected condition.
fn read_sustained(
    source: &mut CardLookup,
    cards: &[StoredCard],
    choice: &MeasurementChoice,
) -> Result<HashMap<String, SustainedFigures>> {
    let Some(archive) = source.archive() else { return Ok(HashMap::new()) };
    let mut found = HashMap::new();
    for (card, records) in newest_records(archive, cards, &["sustain", "map", "check"])? {
        let mut known = SustainedFigures::default();
        for id in records {
            known.complete_from(sustained_in_record(&archive.session(id)?, choice));
            if known.is_complete() {
                break;
            }
        }
        found.insert(card, known);
    }
    Ok(found)
}

/// Sustained performance in one document; nothing if its setting is not selected.
fn sustained_in_record(record: &StoredSession, choice: &MeasurementChoice) -> SustainedFigures {
    let (kind, Some(document)) = (record.summary.kind.as_str(), &record.file.document) else {
        return SustainedFigures::default();
    };
    let met = |condition: &Condition| {
        let condition = condition.clone();
        choice.is_met_by(&Setting { recipe: kind.to_owned(), size_bytes: None, condition })
    };
    let long_write = |run: &SustainReport| {
        run.body.work == WorkloadKind::Write && run.body.pattern == WorkloadPattern::Sequential
    };
    let (long, map, condition) = match kind {
        "sustain" => {
            let run = parse_document::<SustainReport>(document).filter(long_write);
            let condition = run.as_ref().map(|run| run.header.condition.clone());
            (run.map(|run| run.body.measured), None, condition)
        }
        "map" => {
            let map = parse_document::<MapReport>(document);
            let condition = map.as_ref().map(|map| map.header.condition.clone());
            (None, map, condition)
        }
        _ => {
            let long = parse_document::<sustain::MeasuredRun>(&document["sustain"]);
            let condition = parse_document::<Condition>(&document["condition"]).unwrap_or_default();
            (long, parse_document::<MapReport>(&document["map"]), Some(condition))
        }
    };
    if !condition.is_some_and(|condition| met(&condition)) {
        return SustainedFigures::default();
    }
    SustainedFigures::from_documents(long.as_ref(), map.as_ref().map(|map| &map.body.measured))
}
