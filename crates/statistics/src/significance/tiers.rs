//! Ranking in tiers of cards that are about equally good.
//! Cards are ordered by expected value. A tier ends before the first card that is notably worse than its best one, and has
//! at most eight cards: a longer one is cut at its widest gap, so that seventy similar cards do not share one tier. The
//! certainty of the order is given as each card's probability of being the best.

use crate::priors::NormalMixture;
use cardscope_model::ranking::Placement;

const MAX_TIER: usize = 8;

/// Earliest cut of a tier that is too long. An earlier one would make tiers of a single card.
const MIN_TIER_CUT: usize = 3;

const INTEGRATION_STEPS: usize = 600;

/// Card to be ranked. A higher value is better.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedValue {
    /// Distribution of its value, a score or the logarithm of a speed.
    pub known: NormalMixture,
    pub value: f64,
}

/// Ranks cards. Returns their indices, best first, with place and tier. `apart` gets the indices of the best card of a
/// tier and another one, and decides whether they differ enough for separate tiers.
pub fn rank_in_tiers(cards: &[RankedValue], apart: impl Fn(usize, usize) -> bool) -> Vec<(usize, Placement)> {
    let mut order: Vec<usize> = (0..cards.len()).collect();
    order.sort_by(|a, b| cards[*b].value.total_cmp(&cards[*a].value));
    let best = probabilities_of_best(cards);
    let mut placed: Vec<(usize, Placement)> = Vec::with_capacity(order.len());
    let (mut from, mut tier) = (0, 0);
    while from < order.len() {
        tier += 1;
        let to = from + tier_end(&order[from..], cards, &apart);
        for (at, entry) in order.iter().copied().enumerate().take(to).skip(from) {
            let same = placed.last().filter(|(before, _)| cards[*before].value == cards[entry].value);
            let place = same.map_or(at as u32 + 1, |(_, before)| before.place);
            placed.push((entry, Placement { place, tier, probability_best: best[entry] }));
        }
        from = to;
    }
    placed
}

fn tier_end(rest: &[usize], cards: &[RankedValue], notable: &impl Fn(usize, usize) -> bool) -> usize {
    let alike = rest.iter().skip(1).take_while(|other| !notable(rest[0], **other)).count() + 1;
    if alike <= MAX_TIER {
        return alike;
    }
    let gap = |at: &usize| cards[rest[at - 1]].value - cards[rest[*at]].value;
    // Of equal gaps the last is used, which makes the tier longer.
    let cut = (MIN_TIER_CUT..=MAX_TIER).max_by(|a, b| gap(a).total_cmp(&gap(b)));
    cut.unwrap_or(MAX_TIER)
}

/// Probability of each card to be the best of all: the integral of its density times the probability that all others are
/// below, by the midpoint rule.
pub fn probabilities_of_best(cards: &[RankedValue]) -> Vec<f64> {
    let reach = |card: &RankedValue| {
        let (mean, deviation) = (card.known.mean(), card.known.variance().sqrt());
        (mean - 6.0 * deviation, mean + 6.0 * deviation)
    };
    let low = cards.iter().map(|card| reach(card).0).fold(f64::NEG_INFINITY, f64::max);
    let high = cards.iter().map(|card| reach(card).1).fold(f64::NEG_INFINITY, f64::max);
    if cards.len() < 2 || high <= low {
        let leads = cards.iter().map(|card| card.value).fold(f64::NEG_INFINITY, f64::max);
        let first = cards.iter().position(|card| card.value == leads);
        return (0..cards.len()).map(|at| if Some(at) == first { 1.0 } else { 0.0 }).collect();
    }
    let at = |place: usize| low + (high - low) * place as f64 / INTEGRATION_STEPS as f64;
    let mut chances = vec![0.0; cards.len()];
    let below = |place: usize| -> Vec<f64> {
        cards.iter().map(|card| card.known.probability_below(at(place))).collect()
    };
    let mut before = below(0);
    // No card can be the best below the first step, because the distribution of the surest one begins above it.
    for place in 1..=INTEGRATION_STEPS {
        let now = below(place);
        let middle: Vec<f64> = before.iter().zip(&now).map(|(a, b)| f64::midpoint(*a, *b)).collect();
        let all: f64 = middle.iter().product();
        for (card, chance) in chances.iter_mut().enumerate() {
            let others = if middle[card] > 1e-12 { all / middle[card] } else { 0.0 };
            *chance += (now[card] - before[card]) * others;
        }
        before = now;
    }
    let total: f64 = chances.iter().sum();
    chances.iter().map(|chance| if total > 0.0 { chance / total } else { 0.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn card(value: f64, deviation: f64) -> RankedValue {
        RankedValue { known: NormalMixture::single(value, deviation * deviation), value }
    }

    fn placed(cards: &[RankedValue], notable: f64) -> Vec<(usize, Placement)> {
        rank_in_tiers(cards, |leader, other| cards[leader].value - cards[other].value > notable)
    }

    #[test]
    fn notably_worse_card_starts_a_tier() {
        let cards = [card(40.0, 1.0), card(90.0, 1.0), card(88.5, 1.0), card(86.0, 1.0), card(20.0, 1.0)];
        let found: Vec<_> = placed(&cards, 3.0).iter().map(|(entry, p)| (*entry, p.place, p.tier)).collect();
        assert_eq!(found, [(1, 1, 1), (2, 2, 1), (3, 3, 2), (0, 4, 3), (4, 5, 4)]);
    }

    #[test]
    fn tiers_have_at_most_eight_cards() {
        let mut cards: Vec<RankedValue> = (0..20).map(|i| card(100.0 - 0.1 * f64::from(i), 1.0)).collect();
        for later in &mut cards[5..] {
            later.value -= 0.5;
        }
        let found = placed(&cards, 50.0);
        assert_eq!(found.iter().filter(|(_, p)| p.tier == 1).count(), 5);
        for tier in 1..=found[19].1.tier {
            assert!((1..=8).contains(&found.iter().filter(|(_, p)| p.tier == tier).count()), "{found:?}");
        }
    }

    #[test]
    fn probability_of_best_follows_the_distributions() {
        let even = probabilities_of_best(&[card(50.0, 2.0), card(50.0, 2.0)]);
        assert!((even[0] - 0.5).abs() < 1e-3, "{even:?}");
        // The means are 2 apart with an error of √2 each: Φ(1).
        let ahead = probabilities_of_best(&[card(52.0, 2f64.sqrt()), card(50.0, 2f64.sqrt())]);
        assert!((ahead[0] - 0.841_345).abs() < 2e-3, "{ahead:?}");
        let sure = probabilities_of_best(&[card(90.0, 0.1), card(20.0, 30.0), card(10.0, 0.1)]);
        assert!(sure[0] > 0.98 && sure[2] < 1e-6, "{sure:?}");
    }

    #[test]
    fn tiers_handle_none_and_one_card() {
        assert!(placed(&[], 1.0).is_empty());
        let one = placed(&[card(5.0, 1.0)], 1.0);
        assert_eq!(one[0].1, Placement { place: 1, tier: 1, probability_best: 1.0 });
    }

    proptest! {
        #[test]
        fn tiers_are_ordered_and_probabilities_sum_to_one(
            cards in prop::collection::vec((0.0..100.0f64, 0.01..20.0f64), 1..60),
        ) {
            let cards: Vec<RankedValue> = cards.iter().map(|(v, d)| card(*v, *d)).collect();
            let found = placed(&cards, 3.0);
            for pair in found.windows(2) {
                prop_assert!(cards[pair[0].0].value >= cards[pair[1].0].value);
                let (first, second) = (pair[0].1, pair[1].1);
                prop_assert!(second.tier == first.tier || second.tier == first.tier + 1);
                prop_assert!(second.place >= first.place);
            }
            prop_assert!((found.iter().map(|(_, p)| p.probability_best).sum::<f64>() - 1.0).abs() < 1e-6);
            for tier in 1..=found.last().unwrap().1.tier {
                prop_assert!(found.iter().filter(|(_, p)| p.tier == tier).count() <= MAX_TIER);
            }
        }
    }
}
