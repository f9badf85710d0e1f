//! Explanatory value of printed marks: the share of the spread between all cards that lies between groups of equal marks,
//! and the probability of such a share by chance.
//! Computed from ranks, because speeds of 4 KiB writes differ three hundredfold and a single card would dominate. The share
//! is ε² (Kelley 1935), an analysis of variance corrected for the number of groups, so that a meaningless mark explains
//! about 0. The probability comes from a permutation test.

use crate::estimate::{Estimate, estimate_values};
use cardscope_model::random::SeededRandom;
use cardscope_model::ranking::ValueGroup;
use cardscope_model::statistics::mean;
use std::collections::BTreeMap;

/// Group of cards without a known mark. It is listed but explains nothing.
pub const UNKNOWN_GROUP: &str = "unknown";

/// Permutations, which limit the least probability to 1 of 2000.
const PERMUTATIONS: u32 = 1999;

/// Relative rounding error of sums in different order.
const ROUNDING: f64 = 1e-9;

#[derive(Debug, Clone, PartialEq)]
pub struct DivisionEffect {
    pub groups: Vec<ValueGroup>,
    /// Share of the rank variance between the groups, 0 to 1. None for a single group, groups of one card each, or equal cards.
    pub explained: Option<f64>,
    pub p: Option<f64>,
}

/// Groups cards given as (group, value). A higher value is better; values that are not finite are ignored.
pub fn divide_by_group(values: &[(String, f64)], seed: u64) -> DivisionEffect {
    let mut by_name: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (name, value) in values.iter().filter(|(_, value)| value.is_finite()) {
        by_name.entry(name).or_default().push(*value);
    }
    let mut groups: Vec<ValueGroup> =
        by_name.iter().filter_map(|(name, of)| group_summary(name, of)).collect();
    groups.sort_by(|a, b| b.median.total_cmp(&a.median));
    by_name.remove(UNKNOWN_GROUP);
    let cards: Vec<(usize, f64)> =
        by_name.values().enumerate().flat_map(|(number, of)| of.iter().map(move |v| (number, *v))).collect();
    let share = explained_share(&cards, by_name.len(), seed);
    DivisionEffect { groups, explained: share.map(|s| s.0), p: share.map(|s| s.1) }
}

fn group_summary(name: &str, values: &[f64]) -> Option<ValueGroup> {
    let Estimate { n: cards, mean, median, worst, best, .. } = estimate_values(values)?;
    Some(ValueGroup { name: name.to_owned(), cards, mean, median, worst, best })
}

fn explained_share(cards: &[(usize, f64)], count: usize, seed: u64) -> Option<(f64, f64)> {
    let ranks = mean_ranks(&cards.iter().map(|(_, value)| *value).collect::<Vec<f64>>());
    let middle = mean(&ranks)?;
    let mut off: Vec<f64> = ranks.iter().map(|rank| rank - middle).collect();
    let all: f64 = off.iter().map(|o| o * o).sum();
    if count < 2 || cards.len() <= count || all == 0.0 {
        return None;
    }
    let numbers: Vec<usize> = cards.iter().map(|(number, _)| *number).collect();
    let mut sums = vec![(0.0, 0.0); count];
    let found = squares_between(&numbers, &off, &mut sums);
    let (n, k) = (cards.len() as f64, count as f64);
    let explained = 1.0 - (1.0 - found / all) * (n - 1.0) / (n - k);
    let mut random = SeededRandom::from_state(seed);
    let as_much = (0..PERMUTATIONS).filter(|_| {
        random.shuffle(&mut off);
        squares_between(&numbers, &off, &mut sums) >= found * (1.0 - ROUNDING)
    });
    let p = (1.0 + as_much.count() as f64) / (1.0 + f64::from(PERMUTATIONS));
    Some((explained.clamp(0.0, 1.0), p))
}

fn squares_between(numbers: &[usize], off: &[f64], sums: &mut [(f64, f64)]) -> f64 {
    sums.fill((0.0, 0.0));
    for (number, value) in numbers.iter().zip(off) {
        sums[*number].0 += value;
        sums[*number].1 += 1.0;
    }
    sums.iter().map(|(sum, cards)| sum * sum / cards).sum()
}

/// Ranks from 0. Equal values share their mean rank.
fn mean_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut from = 0;
    for alike in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let rank = from as f64 + (alike.len() as f64 - 1.0) / 2.0;
        alike.iter().for_each(|card| ranks[*card] = rank);
        from += alike.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cards(groups: &[(&str, &[f64])]) -> Vec<(String, f64)> {
        groups.iter().flat_map(|(name, of)| of.iter().map(|v| ((*name).to_owned(), *v))).collect()
    }

    #[test]
    fn perfect_marks_explain_everything() {
        let found = divide_by_group(
            &cards(&[("Class 4", &[4.1, 4.2, 4.3, 4.0]), ("Class 10", &[12.0, 11.0, 14.0, 13.0])]),
            1,
        );
        assert_eq!(found.groups[0].name, "Class 10");
        assert_eq!((found.groups[0].median, found.groups[0].worst, found.groups[0].cards), (12.5, 11.0, 4));
        // Ranks 0 to 3 and 4 to 7: 32 of 42 squares between, 1 − (10/42)(7/6) after correction.
        assert!((found.explained.unwrap() - (1.0 - 10.0 / 42.0 * 7.0 / 6.0)).abs() < 1e-12);
        // 2 of 70 divisions are as good.
        assert!((found.p.unwrap() - 2.0 / 70.0).abs() < 0.012, "{found:?}");
    }

    #[test]
    fn unknown_marks_explain_nothing() {
        let known = cards(&[("A1", &[1.0, 2.0, 3.0]), ("A2", &[2.5, 1.5])]);
        let mut all = known.clone();
        all.extend(cards(&[(UNKNOWN_GROUP, &[50.0, 60.0])]));
        let (with, without) = (divide_by_group(&all, 3), divide_by_group(&known, 3));
        assert_eq!((with.groups.len(), with.groups[0].name.as_str()), (3, UNKNOWN_GROUP));
        assert_eq!((with.explained, with.p), (without.explained, without.p));
    }

    #[test]
    fn degenerate_groups_have_no_share() {
        for values in [
            cards(&[]),
            cards(&[("A1", &[1.0, 2.0, 3.0])]),
            cards(&[("A1", &[1.0]), ("A2", &[2.0]), ("A3", &[3.0])]),
            cards(&[("A1", &[2.0, 2.0]), ("A2", &[2.0])]),
            cards(&[("A1", &[f64::NAN, f64::INFINITY]), ("A2", &[2.0])]),
        ] {
            let found = divide_by_group(&values, 1);
            assert_eq!((found.explained, found.p), (None, None), "{values:?}");
        }
    }

    proptest! {
        #[test]
        fn share_is_independent_of_unit_and_order(
            cards in prop::collection::vec((0usize..4, 0.0..1e3f64), 2..30), seed in any::<u64>(),
        ) {
            let named = |unit: f64| -> Vec<(String, f64)> {
                cards.iter().map(|(number, value)| (format!("mark {number}"), unit * value)).collect()
            };
            let found = divide_by_group(&named(1.0), seed);
            prop_assert_eq!(found.explained, divide_by_group(&named(8.0), seed).explained);
            let mut turned = named(1.0);
            turned.reverse();
            let turned = divide_by_group(&turned, seed).explained;
            prop_assert!((found.explained.unwrap_or(-1.0) - turned.unwrap_or(-1.0)).abs() < 1e-9);
            prop_assert!(found.p.is_none_or(|p| p > 0.0 && p <= 1.0));
        }
    }
}
