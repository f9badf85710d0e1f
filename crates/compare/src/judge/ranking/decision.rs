//! Advice as by a reviewer: the card to buy, the one to buy at a lower price, and those to avoid.

use cardscope_model::card::CardPrice;
use cardscope_model::job::JobFit;
use cardscope_model::ranking::{AlternativeCard, ExcludedCard, RankedCard, RankingDecision};
use cardscope_statistics::estimate::NORMAL_QUANTILE_975;

/// Least chance to be the best (one in five) for a second card to be named.
const RIVAL_CHANCE: f64 = 0.2;

/// Most cards that are named to be avoided.
const MOST_AVOIDED: usize = 3;

/// Most further runs that are advised. If more are needed, runs are not what is missing.
const MOST_RUNS: u32 = 20;

/// Decision; `None` if no card is suitable. `between_units` is the standard deviation of the logarithm of a speed between units
/// of a model.
pub(super) fn decide_purchase(
    places: &[RankedCard],
    excluded: &[ExcludedCard],
    between_units: f64,
) -> Option<RankingDecision> {
    let unfit = |place: &&RankedCard| place.job.as_ref().is_some_and(|job| job.fit == JobFit::Unfit);
    let fit: Vec<&RankedCard> = places.iter().filter(|place| !unfit(place)).collect();
    let (first, rest) = fit.split_first()?;
    let rival = rest.iter().filter(|place| {
        place.placement.tier == first.placement.tier && place.placement.probability_best >= RIVAL_CHANCE
    });
    let rival = rival.max_by(|a, b| a.placement.probability_best.total_cmp(&b.placement.probability_best));
    let avoid = excluded.iter().filter(|c| c.avoid).map(|card| (card.name.clone(), card.reason.clone()));
    let misses = |place: &RankedCard| {
        let missed = place.job.as_ref()?.missed.first()?;
        // The reason after the figure is listed with the card.
        let figure = missed.split(" (needs").next().unwrap_or(missed);
        Some((place.entry.name.clone(), format!("too little: {figure}")))
    };
    // The worst card comes first.
    let missing = places.iter().rev().filter_map(misses);
    Some(RankingDecision {
        buy: [*first].into_iter().chain(rival.copied()).map(|place| place.entry.name.clone()).collect(),
        probability: first.placement.probability_best,
        more_runs: rival.and_then(|rival| missing_runs(first, rival, between_units)),
        instead: rest.iter().find_map(|place| cheaper_alternative(first, place)),
        avoid: avoid.chain(missing).take(MOST_AVOIDED).collect(),
    })
}

/// Further runs of each card after which their speeds would probably differ significantly. `None` if too many are needed, if
/// units of a model may differ by more than these two cards, which no run settles, and for scores, which mix tests.
fn missing_runs(first: &RankedCard, rival: &RankedCard, between_units: f64) -> Option<u32> {
    let is_speed = |place: &RankedCard| place.job.is_none() && place.value > 0.0;
    let by_units = |place: &RankedCard| {
        let units = f64::from(place.entry.specimens.max(1));
        (NORMAL_QUANTILE_975 * between_units).powi(2) * (1.0 + 1.0 / units)
    };
    let whole = |place: &RankedCard| place.ci95.map(|[low, high]| ((high / low).ln() / 2.0).powi(2));
    let units = by_units(first) + by_units(rival);
    let runs = (whole(first)? + whole(rival)? - units).max(0.0);
    let apart = (first.value / rival.value).ln().powi(2) - units;
    let made = f64::from(first.entry.runs.min(rival.entry.runs).max(1));
    let needed = made * (runs / apart - 1.0);
    let told = is_speed(first) && is_speed(rival) && apart > 0.0 && needed <= f64::from(MOST_RUNS);
    told.then(|| (needed.ceil().max(1.0)) as u32)
}

/// Price below which a worse card is the better value: its value then costs less than the first card's.
fn cheaper_alternative(first: &RankedCard, other: &RankedCard) -> Option<AlternativeCard> {
    let paid = first.price.as_ref().filter(|price| price.amount > 0.0)?;
    let amount = paid.amount * other.value / first.value;
    let below = CardPrice { amount, currency: paid.currency.clone() };
    let cheaper = |price: &&CardPrice| price.currency == below.currency && price.amount < below.amount;
    let costs = other.price.as_ref();
    // A price above that makes the card no alternative.
    let of_use = below.amount > 0.0 && costs.is_none_or(|price| cheaper(&price));
    let name = other.entry.name.clone();
    of_use.then(|| AlternativeCard { name, below: below.clone(), costs: costs.cloned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::comparison::ComparedEntry;
    use cardscope_model::ranking::Placement;

    /// Card with its MB/s, half of its interval as a share, its chance to be the best, and its price.
    fn card(name: &str, mb_s: f64, half: f64, best: f64, euros: Option<f64>) -> RankedCard {
        RankedCard {
            placement: Placement { place: 1, tier: 1, probability_best: best },
            entry: ComparedEntry { name: name.into(), runs: 3, specimens: 1, ..ComparedEntry::default() },
            value: mb_s,
            ci95: Some([mb_s / (1.0 + half), mb_s * (1.0 + half)]),
            price: euros.map(|amount| CardPrice { amount, currency: "EUR".into() }),
            ..RankedCard::default()
        }
    }

    fn names(found: &RankingDecision) -> Vec<&str> {
        found.buy.iter().map(String::as_str).collect()
    }

    #[test]
    fn likely_rival_is_named_with_the_best_card() {
        let sure = [card("A", 90.0, 0.02, 0.97, None), card("B", 60.0, 0.02, 0.03, None)];
        assert_eq!(names(&decide_purchase(&sure, &[], 0.0).unwrap()), ["A"]);
        let open = [card("A", 90.0, 0.2, 0.6, None), card("B", 80.0, 0.2, 0.4, None)];
        let found = decide_purchase(&open, &[], 0.0).unwrap();
        assert_eq!(names(&found), ["A", "B"]);
        assert!(found.more_runs.is_some_and(|more| (1..20).contains(&more)), "{found:?}");
        let other_units = decide_purchase(&open, &[], 0.05).unwrap();
        assert_eq!(other_units.more_runs, None, "another unit may differ by more than the two do");
    }

    #[test]
    fn worse_card_is_advised_below_its_share_of_the_price() {
        let at = |euros| [card("A", 90.0, 0.1, 0.97, Some(30.0)), card("B", 60.0, 0.1, 0.03, euros)];
        let instead = |euros| decide_purchase(&at(euros), &[], 0.05).unwrap().instead;
        let open = instead(None).unwrap();
        assert!((open.below.amount - 20.0).abs() < 1e-9 && open.costs.is_none(), "{open:?}");
        assert!(instead(Some(15.0)).unwrap().costs.is_some());
        assert_eq!(instead(Some(25.0)), None);
        let dollars = Some(CardPrice { amount: 5.0, currency: "USD".into() });
        let mut other = at(None);
        other[1].price = dollars;
        assert_eq!(decide_purchase(&other, &[], 0.05).unwrap().instead, None, "currencies are never mixed");
    }

    #[test]
    fn fakes_are_avoided_but_not_simulated_cards() {
        let excluded = |name: &str, avoid| ExcludedCard { name: name.into(), reason: "fake".into(), avoid };
        let found = decide_purchase(
            &[card("A", 90.0, 0.1, 1.0, None)],
            &[excluded("F", true), excluded("S", false)],
            0.05,
        );
        assert_eq!(found.unwrap().avoid, [("F".to_owned(), "fake".to_owned())]);
        assert_eq!(decide_purchase(&[], &[excluded("F", true)], 0.05), None);
    }
}
