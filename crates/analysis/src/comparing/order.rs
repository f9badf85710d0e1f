//! Cards in order, with places that are shared where nothing tells two cards apart.
//!
//! The best card leads; every next one shares its place until one is worse for sure and by more than anybody notices. That
//! one leads the next place. Places therefore never contradict the order of the values, and a card that is vaguely known
//! shares more widely than one that is known well. Each difference is held against Bonferroni's limit for all pairs, as
//! the leader is not any card but the luckiest of those that are alike: of a hundred rankings of cards that are all
//! alike, ninety-five have one place (`docs/comparing.md`).

use super::series::{ASSUMED, worth};
use super::{NOTICED, REAL};
use crate::estimate::NORMAL95;
use cardscope_model::statistics::median_in_place;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// So many neighbours by value say what the spread of runs usually is there.
const NEIGHBOURS: usize = 100;

/// Fewer repetitions in the whole ranking do not say what is usual; then runs are taken to spread by at least 5 %: more than
/// the 0.4 to 3.8 % of one session with a fan, as single runs are of different days.
const LEAST_REPETITIONS: f64 = 4.0;
const ONE_RUN_SPREAD: f64 = 0.05;

/// Beyond so many degrees of freedom Student's t is a normal distribution for every purpose here.
const MANY_DEGREES: f64 = 1e6;

/// A card to be placed: the more, the better, be it MB/s or points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// Its value, not negative.
    pub value: f64,
    /// Runs behind it.
    pub runs: u32,
    /// Standard error of the value, in its unit; `None` where it is unknown, as after a single run. Then the spread that
    /// is usual among the hundred cards nearest to it is taken, or at least 5 % where hardly any card has one.
    pub error: Option<f64>,
}

impl Ranked {
    /// A card by the mean of its runs and the deviation of one. As nothing is said of their order, neighbours are
    /// assumed to be alike: three runs count for less than one independent run, ten for a little more than two.
    pub fn from_runs(mean: f64, deviation: Option<f64>, runs: u32) -> Ranked {
        let error = deviation.filter(|_| runs > 1).map(|d| d / worth(runs as usize, ASSUMED).sqrt());
        Ranked { value: mean, runs, error }
    }

    /// A card by a value and its 95 % interval, as a score has it.
    pub fn from_interval(value: f64, ci95: Option<[f64; 2]>, runs: u32) -> Ranked {
        let error = ci95.map(|[low, high]| (high - low).abs() / (2.0 * NORMAL95));
        Ranked { value, runs, error }
    }

    /// Without what is no number or negative, which counts as 0 or as unknown.
    fn sanitized(self) -> Ranked {
        let usable = |v: &f64| v.is_finite() && *v >= 0.0;
        let value = Some(self.value).filter(usable).unwrap_or(0.0);
        Ranked { value, error: self.error.filter(usable), ..self }
    }

    /// Squared spread of a single run as a share of the value, free of the luck of few runs: half of all deviations of
    /// three runs are below 0.83 of the true one (the median of a χ² distribution after Wilson and Hilferty).
    fn spread_squared(&self) -> Option<f64> {
        let degrees = f64::from(self.runs.max(2)) - 1.0;
        let median_of_chi = (1.0 - 2.0 / (9.0 * degrees)).powi(3);
        let squared = (self.error? / self.value).powi(2) * self.worth() / median_of_chi;
        squared.is_finite().then_some(squared)
    }

    fn worth(&self) -> f64 {
        worth(self.runs.max(1) as usize, ASSUMED)
    }
}

/// One card in the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// Which of those given.
    pub entry: usize,
    /// Its place from 1.
    pub place: u32,
    /// How many share it.
    pub shared_by: u32,
}

/// The cards, best first, with their places. Cards of the same value stay in the order given and share a place.
pub fn order(entries: &[Ranked]) -> Vec<Placed> {
    let sanitized: Vec<Ranked> = entries.iter().map(|e| e.sanitized()).collect();
    let mut best_first: Vec<usize> = (0..sanitized.len()).collect();
    best_first.sort_by(|a, b| sanitized[*b].value.total_cmp(&sanitized[*a].value));
    let sorted: Vec<Ranked> = best_first.iter().map(|i| sanitized[*i]).collect();
    let usual = Usual::new(&sorted);
    let errors: Vec<f64> = sorted.iter().map(|card| usual.error(card)).collect();
    let limit = usual.limit(sorted.len());
    let apart = |leader: usize, other: usize| {
        let (best, value) = (sorted[leader].value, sorted[other].value);
        best > value * (1.0 + NOTICED) && best - value > limit * errors[leader].hypot(errors[other])
    };
    let mut placed: Vec<Placed> = Vec::with_capacity(sorted.len());
    let mut leader = 0;
    for (position, entry) in best_first.into_iter().enumerate() {
        if apart(leader, position) {
            leader = position;
        }
        placed.push(Placed { entry, place: leader as u32 + 1, shared_by: 1 });
    }
    for group in placed.chunk_by_mut(|a, b| a.place == b.place) {
        let shared_by = group.len() as u32;
        group.iter_mut().for_each(|card| card.shared_by = shared_by);
    }
    placed
}

/// What the runs of cards usually spread by.
struct Usual {
    /// Value and squared spread of the cards that have one, best first.
    known: Vec<(f64, f64)>,
    /// Repetitions behind them.
    repetitions: f64,
}

impl Usual {
    fn new(sorted: &[Ranked]) -> Usual {
        let known = sorted.iter().filter_map(|e| Some((e.value, e.spread_squared()?))).collect();
        let repeated = sorted.iter().filter(|e| e.error.is_some() && e.runs > 1);
        Usual { known, repetitions: repeated.map(|e| f64::from(e.runs) - 1.0).sum() }
    }

    fn is_known(&self) -> bool {
        self.repetitions >= LEAST_REPETITIONS
    }

    /// Squared spread of a run as a share of the value, near that value.
    fn squared(&self, value: f64) -> f64 {
        let nearest = self.known.partition_point(|(other, _)| *other > value);
        let last_start = self.known.len().saturating_sub(NEIGHBOURS);
        let from = nearest.saturating_sub(NEIGHBOURS / 2).min(last_start);
        let mut near: Vec<f64> =
            self.known[from..].iter().take(NEIGHBOURS).map(|(_, spread)| *spread).collect();
        let found = median_in_place(&mut near).unwrap_or(0.0);
        if self.is_known() { found } else { found.max(ONE_RUN_SPREAD.powi(2)) }
    }

    /// Standard error of a card's value, not smaller than what is usual.
    fn error(&self, card: &Ranked) -> f64 {
        let usual = card.value * (self.squared(card.value) / card.worth()).sqrt();
        usual.max(card.error.unwrap_or(0.0))
    }

    /// So many standard errors of their difference are two of so many cards apart for sure, whichever two they are.
    fn limit(&self, cards: usize) -> f64 {
        let cards = cards as f64;
        let kept = (1.0 - ASSUMED.powi(2)) / (1.0 + ASSUMED.powi(2));
        let near = self.repetitions * kept * (NEIGHBOURS as f64 / cards).min(1.0);
        // What is assumed is taken for known.
        let degrees = if self.is_known() { near.clamp(1.0, MANY_DEGREES) } else { MANY_DEGREES };
        let tail = REAL / (cards * (cards - 1.0)).max(2.0);
        StudentsT::new(0.0, 1.0, degrees).map_or(f64::INFINITY, |t| t.inverse_cdf(1.0 - tail))
    }
}

/// The p of each comparison after Holm's correction (Scandinavian Journal of Statistics 1979), in the order given: where
/// they are held against 5 %, all differences that are called real are so in 95 of 100 such lists. What is no number
/// counts as 1.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let sanitized = |p: f64| if p.is_nan() { 1.0 } else { p.clamp(0.0, 1.0) };
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| sanitized(p[*a]).total_cmp(&sanitized(p[*b])));
    let mut corrected = vec![1.0; p.len()];
    let mut greatest: f64 = 0.0;
    for (rank, place) in order.into_iter().enumerate() {
        greatest = greatest.max(sanitized(p[place]) * (p.len() - rank) as f64).min(1.0);
        corrected[place] = greatest;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::random::Random;
    use proptest::prelude::*;

    fn places(entries: &[Ranked]) -> Vec<(usize, u32, u32)> {
        order(entries).iter().map(|p| (p.entry, p.place, p.shared_by)).collect()
    }

    #[test]
    fn cards_that_cannot_be_told_apart_share_a_place_and_the_next_place_counts_them() {
        let card = |mean: f64| Ranked::from_runs(mean, Some(mean * 0.01), 10);
        let found = places(&[card(40.0), card(90.0), card(91.0), card(20.0)]);
        assert_eq!(found, [(2, 1, 2), (1, 1, 2), (0, 3, 1), (3, 4, 1)]);
    }

    #[test]
    fn a_card_with_one_run_borrows_the_spread_of_its_neighbours() {
        let steady: Vec<Ranked> =
            (1..20).map(|i| Ranked::from_runs(20.0 * f64::from(i), Some(0.06 * f64::from(i)), 10)).collect();
        let wild: Vec<Ranked> =
            steady.iter().map(|e| Ranked { error: e.error.map(|v| 100.0 * v), ..*e }).collect();
        let place_of_one_run = |mut all: Vec<Ranked>| {
            all.push(Ranked::from_runs(330.0, None, 1));
            let placed = order(&all);
            placed.iter().find(|p| p.entry == 19).unwrap().shared_by
        };
        assert_eq!(place_of_one_run(steady), 1);
        assert!(place_of_one_run(wild) > 3);
    }

    #[test]
    fn a_vague_card_shares_a_place_that_a_sure_one_of_the_same_value_does_not() {
        let card =
            |value: f64, half: f64| Ranked::from_interval(value, Some([value - half, value + half]), 5);
        assert_eq!(places(&[card(80.0, 2.0), card(70.0, 2.0)])[1].1, 2);
        assert_eq!(places(&[card(80.0, 2.0), card(70.0, 15.0)])[1].1, 1);
    }

    #[test]
    fn nothing_one_card_and_garbage_have_places() {
        assert!(order(&[]).is_empty());
        assert_eq!(places(&[Ranked::from_runs(5.0, None, 1)]), [(0, 1, 1)]);
        let garbage =
            [f64::NAN, f64::INFINITY, -3.0, 0.0].map(|v| Ranked { value: v, runs: 0, error: Some(v) });
        assert_eq!(places(&garbage).last(), Some(&(3, 1, 4)));
    }

    #[test]
    fn five_thousand_cards_are_placed_in_the_blink_of_an_eye() {
        let mut random = Random::from_state(1);
        let cards: Vec<Ranked> = (0..5000)
            .map(|_| Ranked::from_runs(100.0 * random.normal().exp(), Some(2.0), 1 + random.index(9) as u32))
            .collect();
        let began = std::time::Instant::now();
        assert_eq!(order(&cards).len(), 5000);
        // Unoptimised and on a busy machine; 10 ms in a release.
        assert!(began.elapsed().as_secs_f64() < 2.0, "{:?}", began.elapsed());
    }

    proptest! {
        #[test]
        fn places_never_contradict_the_values_and_count_up_to_the_number_of_cards(
            cards in prop::collection::vec((0.0..1e3f64, prop::option::of(0.0..50.0f64), 1u32..12), 1..60),
        ) {
            let entries: Vec<Ranked> = cards.iter().map(|(v, d, n)| Ranked::from_runs(*v, *d, *n)).collect();
            let placed = order(&entries);
            for pair in placed.windows(2) {
                prop_assert!(entries[pair[0].entry].value >= entries[pair[1].entry].value);
                prop_assert!(pair[0].place == pair[1].place || pair[1].place == pair[0].place + pair[0].shared_by);
            }
            let alike = |p: &Placed| placed.iter().filter(|q| q.place == p.place).count() as u32 == p.shared_by;
            prop_assert!(placed.iter().all(alike));
        }

        #[test]
        fn the_unit_of_the_values_changes_no_place(
            cards in prop::collection::vec((1.0..1e3f64, 0.1..20.0f64, 2u32..12), 1..40),
        ) {
            let of = |unit: f64| -> Vec<Ranked> {
                cards.iter().map(|(v, d, n)| Ranked::from_runs(unit * v, Some(unit * d), *n)).collect()
            };
            prop_assert_eq!(order(&of(1.0)), order(&of(1024.0)));
        }
    }

    #[test]
    fn four_tests_of_two_cards_give_the_numbers_of_p_adjust_in_r() {
        // p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")
        let expected = [0.03, 0.06, 0.06, 0.02];
        for (found, expected) in holm(&[0.01, 0.04, 0.03, 0.005]).iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        assert!(holm(&[]).is_empty());
        assert_eq!(holm(&[f64::NAN, 0.01]), [1.0, 0.02]);
    }

    proptest! {
        #[test]
        fn a_correction_never_lowers_p_nor_changes_which_difference_is_the_surer(
            p in prop::collection::vec(0.0..=1.0f64, 1..30),
        ) {
            let corrected = holm(&p);
            for (a, b) in p.iter().zip(&corrected) {
                prop_assert!(a <= b && *b <= 1.0);
            }
            for (i, j) in (0..p.len()).flat_map(|i| (0..p.len()).map(move |j| (i, j))) {
                prop_assert!(p[i] > p[j] || corrected[i] <= corrected[j]);
            }
        }
    }
}
