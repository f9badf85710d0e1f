//! Builds the document of `rank`: `figures` computes the figures that a job requires, `lasting` adds those of long runs,
//! `valued` combines them to one value, `groups` groups the cards by their marks, and `findings` comments on the whole. This
//! module turns values into places.

mod card_value;
mod decision;
mod figures;
mod findings;
mod groups;
mod sustained;

pub use card_value::{RankingGoal, RankingMeasure};
pub use figures::is_relevant_test;
pub use groups::{GroupBy, first_purchase, group_cards};
pub use sustained::{AfterCache, SustainedFigures, needs_long_runs, speed_after_cache};

use card_value::{ValuedCard, card_value};
use cardscope_model::archive_rows::{StoredCard, SummaryRow};
use cardscope_model::comparison::{ComparedEntry, NOTABLE_CHANGE};
use cardscope_model::job::Job;
use cardscope_model::ranking::{ExcludedCard, Placement, RankedBy, RankedCard, Ranking};
use cardscope_statistics::priors::{SpreadTable, noticed_log};
use cardscope_statistics::significance::{self, RankedValue};
use figures::PurchaseBasis;
use std::collections::HashMap;

/// Ranks cards, without groups. `excluded` are cards that are not ranked whatever their speeds.
pub fn build_ranking(
    asked: &RankingGoal,
    table: &SpreadTable,
    cards: &[StoredCard],
    measured: &MeasuredCards,
    excluded: Vec<ExcludedCard>,
) -> Ranking {
    let by = match &asked.measure {
        RankingMeasure::Job(job) => RankedBy::Job(job.name.clone()),
        RankingMeasure::Test(test) => RankedBy::Test(*test),
    };
    let (places, not_placed) = place_cards(asked, table, cards, measured);
    let findings = findings::ranking_findings(&places);
    let decision = decision::decide_purchase(&places, &excluded, table.units.deviation);
    let on = asked.host.as_ref().map(|host| host.name.clone());
    Ranking { by, on, places, not_placed, excluded, decision, groups: Vec::new(), findings }
}

/// Measurements for a ranking, by card.
#[derive(Debug, Default)]
pub struct MeasuredCards {
    pub rows: HashMap<String, Vec<SummaryRow>>,
    pub sustained: HashMap<String, SustainedFigures>,
}

/// Places of all cards with a value, best first, and the other cards with the reason.
fn place_cards(
    asked: &RankingGoal,
    table: &SpreadTable,
    cards: &[StoredCard],
    measured: &MeasuredCards,
) -> (Vec<RankedCard>, Vec<(String, String)>) {
    let (mut valued, mut not_placed) = (Vec::new(), Vec::new());
    for card in cards {
        let rows = measured.rows.get(&card.id).map_or(&[][..], Vec::as_slice);
        let sustained = measured.sustained.get(&card.id).copied().unwrap_or_default();
        match card_value(asked, PurchaseBasis { card, table }, rows, sustained) {
            Ok(found) => valued.push(found),
            Err(why) => not_placed.push((card.title.clone(), why)),
        }
    }
    let contenders: Vec<RankedValue> = valued.iter().map(|valued| valued.contender.clone()).collect();
    let placed = significance::rank_in_tiers(&contenders, |leader, other| match &asked.measure {
        RankingMeasure::Job(job) => {
            !is_unnoticeable(job, &valued[leader], &valued[other])
                && is_likely_worse(&contenders, leader, other, 0.0)
        }
        RankingMeasure::Test(_) => {
            valued[leader].value > valued[other].value * (1.0 + NOTABLE_CHANGE)
                && is_likely_worse(&contenders, leader, other, noticed_log())
        }
    });
    (placed.into_iter().map(|(entry, placement)| to_place(&valued[entry], placement)).collect(), not_placed)
}

/// Least chance of being worse with which a card falls into a lower tier: the limit for "likely".
const LIKELY: f64 = 0.8;

fn is_likely_worse(contenders: &[RankedValue], leader: usize, other: usize, by: f64) -> bool {
    contenders[leader].known.difference(&contenders[other].known).probability_above(by) >= LIKELY
}

fn is_unnoticeable(job: &Job, first: &ValuedCard<'_>, second: &ValuedCard<'_>) -> bool {
    let (Some(a), Some(b)) = (&first.job, &second.job) else { return false };
    a.missed.is_empty() == b.missed.is_empty()
        && a.seconds.len() == b.seconds.len()
        && a.seconds.iter().zip(&b.seconds).all(|((what, before), (same, after))| {
            let work = job.work.iter().find(|work| work.what == *what);
            what == same && work.is_some_and(|work| (before - after).abs() < work.notice_s)
        })
}

fn to_place(valued: &ValuedCard<'_>, placement: Placement) -> RankedCard {
    let card = valued.card;
    let entry = ComparedEntry {
        name: card.title.clone(),
        card_id: card.id.clone(),
        card: card.facts.without_serial(),
        settings: valued.figures.settings.iter().map(|s| (**s).clone()).collect(),
        specimens: card.units,
        sessions: card.sessions,
        runs: valued.runs,
        measured: card.measured.clone().map(|t| t.map(|time| time.get(..10).unwrap_or(&time).to_owned())),
        sources: Vec::new(),
    };
    let paid = card.price.as_ref().filter(|price| price.amount > 0.0);
    RankedCard {
        placement,
        entry,
        value: valued.value,
        ci95: valued.ci95,
        job: valued.job.clone(),
        spread: valued.spread.clone(),
        price: card.price.clone(),
        priced: card.priced.clone(),
        per_price: paid.map(|price| valued.value / price.amount),
        figures_per_price: paid.map(|price| valued.figures.speeds_per_price(price.amount)),
        gb_per_price: paid.zip(card_value::gigabytes(card)).map(|(price, gb)| gb / price.amount),
        capped: valued.capped.clone(),
        doubts: valued.figures.doubts.clone(),
        caveat: valued.figures.collapse.clone(),
    }
}
