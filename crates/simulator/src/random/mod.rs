//! Random cards within the ranges of real ones, each with its truth: measures how often a detector is right on cards
//! that it was not tuned for. A seed names one card.
//!
//! Ranges and shares come from 58 public flashbench runs of 29 cards (docs/reference/flash.md#public-logs) and from
//! published speeds of UHS-I and SD Express cards; some are assumed.

mod families;
mod registers;

use crate::archetype::schema::DEFAULT_SEED;
use crate::archetype::{
    Archetype, CacheKind, CardTruth, FakeCapacity, FakeKind, LostRead, PoolFull, StartContent, StartState,
};
use families::FamilyDraw;

/// Prefix of the name of a random card; its seed follows.
pub const RANDOM_PREFIX: &str = "random-";

const MIB: u64 = 1 << 20;

pub fn random_card(seed: u64) -> Archetype {
    let mut draw = FamilyDraw::new(seed);
    let mut card = families::draw_card(&mut draw);
    card.name = format!("{RANDOM_PREFIX}{seed}");
    card.fake = draw_fake(&mut draw, card.announced_bytes);
    card.state = StartState {
        start: draw.one_of(&[(3, StartContent::Factory), (4, StartContent::Filled), (3, StartContent::Used)]),
        used_share: families::round_to_three_digits(draw.between(0.2, 0.8)),
        ..StartState::default()
    };
    let honesty = if card.fake.kind == FakeKind::None { "" } else { "a fake, " };
    card.title = format!("{honesty}{}", families::family_title(&card));
    card.identity = families::draw_identity(&card, draw.below(u64::from(u32::MAX)) as u32);
    card.truth = CardTruth::from_parameters(&card, DEFAULT_SEED);
    card
}

/// Draws a false capacity; most cards have none.
fn draw_fake(draw: &mut FamilyDraw, announced: u64) -> FakeCapacity {
    let kind = draw.one_of(&[
        (70, FakeKind::None),
        (14, FakeKind::Limbo),
        (4, FakeKind::Wraparound),
        (4, FakeKind::Chain),
        (4, FakeKind::Damaged),
        (2, FakeKind::Overcommitted),
        (2, FakeKind::ReadOnly),
    ]);
    let lost =
        draw.one_of(&[(3, LostRead::Zeros), (2, LostRead::Ones), (1, LostRead::Stale), (1, LostRead::Error)]);
    // Real capacity: from a twentieth to two thirds, in units of 4 KiB.
    let real = (announced as f64 * draw.between(0.05, 0.66)) as u64 / 4096 * 4096;
    match kind {
        FakeKind::None => FakeCapacity::default(),
        FakeKind::ReadOnly => FakeCapacity { kind, ..FakeCapacity::default() },
        FakeKind::Damaged => {
            FakeCapacity { kind, damaged_share: draw.between(0.005, 0.3), lost, ..FakeCapacity::default() }
        }
        FakeKind::Overcommitted => {
            let pool_full = draw.one_of(&[(2, PoolFull::Vanish), (1, PoolFull::Slow), (1, PoolFull::Dies)]);
            FakeCapacity { kind, real_bytes: Some(real), pool_full, lost, ..FakeCapacity::default() }
        }
        FakeKind::Limbo => FakeCapacity {
            kind,
            real_bytes: Some(real),
            cache_bytes: draw.one_of(&[
                (4, None),
                (2, Some(2 * MIB)),
                (1, Some(128 * MIB)),
                (1, Some(256 * MIB)),
            ]),
            cache_kind: draw.one_of(&[(3, CacheKind::Direct), (1, CacheKind::Lru), (1, CacheKind::Fifo)]),
            cache_strict: draw.chance(0.7),
            cache_survives: draw.chance(0.5),
            lost,
            ..FakeCapacity::default()
        },
        FakeKind::Wraparound => {
            let wrap = if draw.chance(0.7) { 1 << real.ilog2() } else { real };
            FakeCapacity { kind, wrap_bytes: Some(wrap), ..FakeCapacity::default() }
        }
        FakeKind::AddressLine => {
            FakeCapacity { kind, wrap_bytes: Some(1 << real.ilog2()), ..FakeCapacity::default() }
        }
        FakeKind::Chain => {
            let wrap = real.next_power_of_two().min(announced / 4096 * 4096);
            FakeCapacity {
                kind,
                real_bytes: Some(real),
                wrap_bytes: Some(wrap),
                lost,
                ..FakeCapacity::default()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SimTarget, target_spec};
    use std::collections::BTreeSet;

    #[test]
    fn seed_gives_same_valid_card() {
        for seed in 0..500 {
            let first = random_card(seed);
            assert_eq!(first, random_card(seed), "{seed}");
            first.check().unwrap_or_else(|e| panic!("{seed}: {e}"));
            assert_eq!(first.truth, CardTruth::from_parameters(&first, DEFAULT_SEED), "{seed}");
        }
    }

    #[test]
    fn random_cards_round_trip_as_toml() {
        for seed in 0..100 {
            let card = random_card(seed);
            let file = card.to_toml();
            assert_eq!(
                Archetype::from_toml("x", &file).unwrap_or_else(|e| panic!("{e}\n{file}")),
                card,
                "{file}"
            );
        }
    }

    #[test]
    fn shares_of_families_units_and_fakes_are_met() {
        let cards: Vec<_> = (0..1000).map(random_card).collect();
        let share = |is: &dyn Fn(&Archetype) -> bool| cards.iter().filter(|c| is(c)).count() as f64 / 1000.0;
        let families: BTreeSet<_> = cards.iter().map(families::family_title).collect();
        assert_eq!(families.len(), 4, "{families:?}");
        let odd = share(&|c| !c.flash.au_bytes.is_power_of_two());
        assert!((0.1..0.4).contains(&odd), "3 · 2^k units: {odd}");
        let fakes = share(&|c| c.fake.kind != FakeKind::None);
        assert!((0.15..0.35).contains(&fakes), "{fakes}");
        let step = share(&|c| c.read.is_some_and(|r| r.au_step_s > 0.0));
        assert!((0.8..0.97).contains(&step), "24 of 27 cards show their unit to reads: {step}");
    }

    #[test]
    fn random_card_opens_by_name_with_overrides() {
        let spec = target_spec::parse("sim:random-7?noise.read_sigma=0").unwrap();
        assert_eq!(spec.archetype.name, "random-7");
        assert_eq!(spec.archetype.noise.read_sigma, 0.0);
        assert_eq!(SimTarget::open(spec).unwrap().truth().usable_bytes, random_card(7).truth.usable_bytes);
        let error = target_spec::parse("sim:random-x").unwrap_err().to_string();
        assert!(error.contains("random-7"), "{error}");
    }
}
