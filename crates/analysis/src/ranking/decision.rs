//! What a reviewer would advise: the card to buy, the one to take at a better price, and those to leave.

use cardscope_model::card::Price;
use cardscope_model::job::Fit;
use cardscope_model::ranking::{Decision, Excluded, Instead, RankedCard};

/// A second card is named beside the first where it is the best with at least this chance: one in five.
const OPEN: f64 = 0.2;

/// Cards that are named to be avoided.
const AVOIDED: usize = 3;

/// Of further runs more settle nothing: units differ, not runs.
const MOST_RUNS: u32 = 20;

/// The decision; `None` where no card is fit to be bought.
pub(super) fn decision(places: &[RankedCard], excluded: &[Excluded]) -> Option<Decision> {
    let unfit = |place: &&RankedCard| place.job.as_ref().is_some_and(|job| job.fit == Fit::Unfit);
    let fit: Vec<&RankedCard> = places.iter().filter(|place| !unfit(place)).collect();
    let (first, rest) = fit.split_first()?;
    let rival = rest.iter().filter(|place| place.tier == first.tier && place.probability_best >= OPEN);
    let rival = rival.max_by(|a, b| a.probability_best.total_cmp(&b.probability_best));
    let avoid =
        excluded.iter().filter(|card| card.avoid).map(|card| (card.name.clone(), card.reason.clone()));
    let misses = |place: &RankedCard| {
        let missed = place.job.as_ref()?.missed.first()?;
        // Why it matters stands with the card.
        let figure = missed.split(" (needs").next().unwrap_or(missed);
        Some((place.entry.name.clone(), format!("too little: {figure}")))
    };
    // The worst first.
    let missing = places.iter().rev().filter_map(misses);
    Some(Decision {
        buy: [*first].into_iter().chain(rival.copied()).map(|place| place.entry.name.clone()).collect(),
        probability: first.probability_best,
        more_runs: rival.and_then(|rival| more_runs(first, rival)),
        instead: rest.iter().find_map(|place| instead(first, place)),
        avoid: avoid.chain(missing).take(AVOIDED).collect(),
    })
}

/// Further runs of each that bring the error of their difference down to a half of it.
fn more_runs(first: &RankedCard, rival: &RankedCard) -> Option<u32> {
    let half = |place: &RankedCard| place.ci95.map(|[low, high]| (high - low) / 2.0);
    let error = half(first)?.hypot(half(rival)?);
    let apart = first.value - rival.value;
    let runs = f64::from(first.entry.runs.min(rival.entry.runs).max(1));
    let needed = runs * (error / apart).powi(2) - runs;
    (apart > 0.0 && needed.is_finite() && needed <= f64::from(MOST_RUNS))
        .then(|| (needed.ceil() as u32).max(1))
}

/// A worse card is the better value below the price at which its value costs as much as the first one's.
fn instead(first: &RankedCard, other: &RankedCard) -> Option<Instead> {
    let paid = first.price.as_ref().filter(|price| price.amount > 0.0)?;
    let below = Price { amount: paid.amount * other.value / first.value, currency: paid.currency.clone() };
    let cheaper = |price: &&Price| price.currency == below.currency && price.amount < below.amount;
    let costs = other.price.as_ref();
    // A price that is known to be too high is no advice.
    let of_use = below.amount > 0.0 && costs.is_none_or(|price| cheaper(&price));
    of_use.then(|| Instead { name: other.entry.name.clone(), below: below.clone(), costs: costs.cloned() })
}
