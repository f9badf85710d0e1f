//! The document of `rank`: `figures` takes from what was measured of a card what a job asks for, `lasting` what long runs
//! showed, `valued` makes one value of it, `groups` divides the cards by what is printed on them, and `findings` says what
//! there is to say about the whole. Here values become places.

mod figures;
mod findings;
mod groups;
mod lasting;
mod valued;

pub use figures::is_of_use;
pub use groups::{GroupBy, bought, groups};
pub use lasting::{AfterCache, Lasting, after_cache, asks_for};
pub use valued::{Asked, Measure};

use crate::comparing::{self, Ranked};
use cardscope_model::archived::{StoredCard, SummaryRow};
use cardscope_model::comparison::Entry;
use cardscope_model::job::Job;
use cardscope_model::ranking::{RankedBy, RankedCard, Ranking};
use cardscope_model::verify::Verdict;
use std::collections::HashMap;
use valued::{Valued, value};

/// Ranks cards by what was measured of them, without groups.
pub fn ranking(asked: &Asked, cards: &[StoredCard], measured: &Measured) -> Ranking {
    let by = match &asked.measure {
        Measure::Job(job) => RankedBy::Job(job.name.clone()),
        Measure::Test(test) => RankedBy::Test(*test),
    };
    let (places, not_placed) = places(asked, cards, measured);
    let findings = findings::findings(asked, &places);
    let on = asked.host.as_ref().map(|host| host.name.clone());
    Ranking { by, on, places, not_placed, groups: None, findings }
}

/// What was measured that matters, by card.
#[derive(Debug, Default)]
pub struct Measured {
    /// The tests over their runs.
    pub rows: HashMap<String, Vec<SummaryRow>>,
    /// What long runs showed.
    pub lasting: HashMap<String, Lasting>,
    /// What a test of their capacity found against them.
    pub condemned: HashMap<String, Verdict>,
}

impl Measured {
    fn rows(&self, card: &str) -> &[SummaryRow] {
        self.rows.get(card).map_or(&[][..], Vec::as_slice)
    }

    fn lasting(&self, card: &str) -> Lasting {
        self.lasting.get(card).copied().unwrap_or_default()
    }
}

/// Places of all cards that have a value, best first, and the others with the reason. A card that loses data is behind all
/// that do not, however fast it is.
fn places(
    asked: &Asked,
    cards: &[StoredCard],
    measured: &Measured,
) -> (Vec<RankedCard>, Vec<(String, String)>) {
    let verdict = |id: &str| measured.condemned.get(id).copied();
    let (sound, bad): (Vec<&StoredCard>, Vec<_>) = cards.iter().partition(|card| verdict(&card.id).is_none());
    let (mut places, mut not_placed) = ordered(asked, &sound, measured);
    let (last, others) = ordered(asked, &bad, measured);
    let before = places.len() as u32;
    places.extend(last.into_iter().map(|placed| RankedCard {
        place: before + placed.place,
        verdict: verdict(&placed.entry.card_id),
        ..placed
    }));
    not_placed.extend(others);
    (places, not_placed)
}

fn ordered(
    asked: &Asked,
    cards: &[&StoredCard],
    measured: &Measured,
) -> (Vec<RankedCard>, Vec<(String, String)>) {
    let (mut valued, mut not_placed) = (Vec::new(), Vec::new());
    for card in cards {
        match value(asked, card, measured.rows(&card.id), measured.lasting(&card.id)) {
            Ok(found) => valued.push(found),
            Err(why) => not_placed.push((card.title.clone(), why)),
        }
    }
    let ranked: Vec<Ranked> = valued.iter().map(ranked).collect();
    let mut placed: Vec<(usize, u32)> =
        comparing::order(&ranked).iter().map(|p| (p.entry, p.place)).collect();
    if let Measure::Job(job) = &asked.measure {
        nobody_notices(&mut placed, |leader, other| unnoticed(job, &valued[leader], &valued[other]));
    }
    let places = placed.chunk_by(|a, b| a.1 == b.1).flat_map(|shared| {
        let of = |(entry, place): &(usize, u32)| to_place(&valued[*entry], *place, shared.len() as u32);
        shared.iter().map(of).collect::<Vec<RankedCard>>()
    });
    (places.collect(), not_placed)
}

fn ranked(valued: &Valued<'_>) -> Ranked {
    match &valued.spread {
        Some(spread) => Ranked::from_runs(valued.value, valued.deviation, spread.n),
        None => Ranked::from_interval(valued.value, valued.ci95, valued.runs),
    }
}

/// Cards whose seconds differ by less than a person notices from those of the first of the place above share that place. The
/// next place counts all that stand before it.
fn nobody_notices(placed: &mut [(usize, u32)], unnoticed: impl Fn(usize, usize) -> bool) {
    let before: Vec<u32> = placed.iter().map(|(_, place)| *place).collect();
    let mut leader = 0;
    for at in 1..placed.len() {
        let shares = before[at] == before[leader] || unnoticed(placed[leader].0, placed[at].0);
        if !shares {
            leader = at;
        }
        placed[at].1 = leader as u32 + 1;
    }
}

fn unnoticed(job: &Job, first: &Valued<'_>, second: &Valued<'_>) -> bool {
    let (Some(a), Some(b)) = (&first.job, &second.job) else { return false };
    a.missed.is_empty() == b.missed.is_empty()
        && a.seconds.len() == b.seconds.len()
        && a.seconds.iter().zip(&b.seconds).all(|((what, before), (same, after))| {
            let work = job.work.iter().find(|work| work.what == *what);
            what == same && work.is_some_and(|work| (before - after).abs() < work.notice_s)
        })
}

/// The day of a time of any length.
fn day(time: &str) -> String {
    time.get(..10).unwrap_or(time).to_owned()
}

fn to_place(valued: &Valued<'_>, place: u32, shared_by: u32) -> RankedCard {
    let card = valued.card;
    let entry = Entry {
        name: card.title.clone(),
        card_id: card.id.clone(),
        card: card.facts.without_serial(),
        settings: valued.of.settings.iter().map(|s| (**s).clone()).collect(),
        specimens: card.units,
        sessions: card.sessions,
        runs: valued.runs,
        measured: Option::zip(card.first.as_deref(), card.last.as_deref())
            .map(|days| [day(days.0), day(days.1)]),
        sources: Vec::new(),
    };
    let paid = card.price.as_ref().filter(|price| price.amount > 0.0);
    RankedCard {
        place,
        shared_by,
        entry,
        value: valued.value,
        ci95: valued.ci95,
        job: valued.job.clone(),
        spread: valued.spread.clone(),
        price: card.price.clone(),
        per_price: paid.map(|price| valued.value / price.amount),
        capped: valued.capped.clone(),
        verdict: None,
        doubts: valued.of.doubts.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cards 0, 1, 2 … at these places, of which some pairs of a leader and another are not to be noticed.
    fn places(before: &[u32], unnoticed: &[(usize, usize)]) -> Vec<u32> {
        let mut placed: Vec<(usize, u32)> = before.iter().copied().enumerate().collect();
        nobody_notices(&mut placed, |leader, other| unnoticed.contains(&(leader, other)));
        placed.into_iter().map(|(_, place)| place).collect()
    }

    #[test]
    fn a_card_that_nobody_tells_from_the_first_shares_its_place_and_the_next_one_is_third() {
        assert_eq!(places(&[1, 2, 2], &[(0, 1)]), [1, 1, 3]);
        assert_eq!(places(&[1, 2, 2, 4], &[(0, 1)]), [1, 1, 3, 4]);
        assert_eq!(places(&[1, 2, 3], &[(0, 1), (0, 2)]), [1, 1, 1]);
    }

    #[test]
    fn places_that_are_shared_already_stay_so_and_count_on_behind_them() {
        assert_eq!(places(&[1, 1, 3], &[]), [1, 1, 3]);
        assert_eq!(places(&[1, 2, 2, 2, 5], &[(0, 1)]), [1, 1, 3, 3, 5]);
        assert_eq!(places(&[1], &[]), [1]);
        assert!(places(&[], &[]).is_empty());
    }

    #[test]
    fn every_place_is_one_more_than_the_cards_before_it() {
        for pattern in 0u32..64 {
            let before = [1, 1, 3, 3, 5, 6];
            let pairs: Vec<(usize, usize)> =
                (0..6).map(|n| (n, n + 1)).filter(|(n, _)| pattern >> n & 1 == 1).collect();
            let found = places(&before, &pairs);
            for (at, place) in found.iter().enumerate() {
                let first = found.iter().position(|p| p == place).unwrap();
                assert_eq!(*place as usize, first + 1, "{found:?} at {at}");
            }
        }
    }
}
