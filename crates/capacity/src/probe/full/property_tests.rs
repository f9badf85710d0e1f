//! Random fakes of any size and genuine cards in virtual time: the full pass is accurate to the sector.

use super::tests::{run_pass, settings, true_verdict};
use super::{PassFindings, PassSettings};
use cardscope_simulator::SimTarget;
use cardscope_testkit::fakes::{self, HidingCache, LostWords, PeriodRule, cache_policy, sector_offset};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// Bytes of a card: 1 to 64 MiB in sectors, rarely a power of two.
fn card() -> impl Strategy<Value = u64> {
    (2048u64..=131_072).prop_map(|sectors| sectors * 512)
}

#[derive(Debug, Clone)]
struct PassCase {
    bytes: u64,
    fake: String,
    two_passes: bool,
    salt: u64,
}

const LOST: LostWords = &["zeros", "ones", "stale", "error"];

fn cache() -> impl Strategy<Value = HidingCache> {
    prop_oneof![
        Just(HidingCache::None),
        // Less than a tenth of the lost bytes; larger caches are in `known_limit`.
        (0.001..0.1f64, cache_policy()).prop_map(|(share, policy)| HidingCache::Share(share, policy)),
    ]
}

fn fake() -> impl Strategy<Value = (u64, String)> {
    let period = || Just(sector_offset as PeriodRule);
    prop_oneof![
        4 => fakes::limbo(card(), 0.0..0.97, 0.05, LOST, cache()),
        3 => fakes::wraparound(card(), 0.1..0.97, period()),
        3 => fakes::chain(card(), 0.1..0.9, period(), 0.1..0.9, LOST, Just(HidingCache::None)),
        3 => fakes::damaged(card(), 0.02..0.4, 0..5, LOST, Just(HidingCache::None)),
        2 => fakes::overcommitted(card(), 0.1..0.9),
        1 => fakes::read_only(card()),
        3 => fakes::genuine(card())
    ]
}

fn case() -> impl Strategy<Value = PassCase> {
    let parts = (fake(), any::<bool>(), any::<u64>());
    parts.prop_map(|((bytes, fake), two_passes, salt)| PassCase { bytes, fake, two_passes, salt })
}

/// Name of a limit that no test from outside can overcome, if this result is one.
fn known_limit(found: &PassFindings, target: &SimTarget, fake: &str) -> Option<&'static str> {
    let truth = target.truth();
    let reported = found.body.verdict.word();
    let holes_alone = ["damaged", "limbo", "overcommitted", "dead"];
    match true_verdict(target).as_str() {
        "damaged" if holes_alone.contains(&reported) && found.body.good_bytes == Some(truth.good_bytes) => {
            Some("holes that lie like one end of the card, or between sentinels, look like it")
        }
        "overcommitted" if reported == "overcommitted" && near(found.body.good_bytes, truth.good_bytes) => {
            Some("the last page of a pool that is no whole one counts as a whole one")
        }
        "dead"
            if ["chain", "wraparound"].contains(&reported)
                && stale_direct_cache_bytes(fake) == found.body.wrap_bytes =>
        {
            Some(
                "a cache alone that shows in every address what its slot holds is a card that wraps at its size",
            )
        }
        "dead" if reported == "limbo" && found.body.usable_bytes == Some(0) => {
            Some("a limbo of nothing is a dead card")
        }
        "limbo" if reported == "dead" && truth.usable_bytes == 0 => Some("a limbo of nothing is a dead card"),
        _ if fake.contains("lost=stale") && reported == "read-only" && truth.usable_bytes == 0 => {
            Some("a card that drops every write and shows what was there is one that can only be read")
        }
        _ => None,
    }
}

/// Bytes of a cache with a slot per address that answers lost addresses with the content of their slot.
fn stale_direct_cache_bytes(fake: &str) -> Option<u64> {
    let value = |key: &str| fake.split('&').find_map(|part| part.strip_prefix(key)?.strip_prefix('='));
    let shows = value("fake.lost") == Some("stale") && value("fake.cache_kind") == Some("direct");
    value("cache_bytes").filter(|_| shows)?.parse().ok()
}

fn near(reported: Option<u64>, truth: u64) -> bool {
    reported.is_some_and(|reported| reported.abs_diff(truth) <= 4096)
}

fn mistake(case: &PassCase) -> Option<String> {
    let name = format!("sim:constant?announced_bytes={}&{}", case.bytes, case.fake);
    let (found, target) =
        run_pass(&name, PassSettings { two_passes: case.two_passes, salt: case.salt, ..settings() });
    let truth = target.truth();
    let wanted = true_verdict(&target);
    let reported = (found.body.verdict.word().to_owned(), found.body.usable_bytes, found.body.good_bytes);
    let right = reported == (wanted.clone(), Some(truth.usable_bytes), Some(truth.good_bytes));
    (!right && known_limit(&found, &target, &case.fake).is_none()).then(|| {
        format!(
            "{name}, two passes {}, salt {:#x}: {reported:?}, true is {wanted} with {} and {} good; {:?} {:?}",
            case.two_passes, case.salt, truth.usable_bytes, truth.good_bytes, found.bad, found.remarks
        )
    })
}

/// Uses the same cards in each run; with `CARDSCOPE_LONG=1` many more and random ones.
#[test]
fn random_cards_are_judged_to_the_sector() {
    let long = std::env::var("CARDSCOPE_LONG").is_ok_and(|value| !value.is_empty());
    let mut runner = if long { TestRunner::default() } else { TestRunner::deterministic() };
    let cases = (0..if long { 2000 } else { 60 }).map(|_| case().new_tree(&mut runner).unwrap().current());
    let wrong: Vec<String> = cases.filter_map(|case| mistake(&case)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Cards that were once judged wrong, one per line: the salt of that run in hexadecimal, then everything after
/// `announced_bytes=`.
const ONCE_MISJUDGED: &str = include_str!("once_wrong.txt");

#[test]
fn once_misjudged_cards_are_judged_right() {
    let cases = ONCE_MISJUDGED.lines().flat_map(|line| {
        let (salt, card) = line.strip_prefix("0x").unwrap().split_once(' ').unwrap();
        let (bytes, fake) = card.split_once('&').unwrap();
        let salt = u64::from_str_radix(salt, 16).unwrap();
        [(false, 1), (true, 1), (false, 0xdead_beef), (false, salt)].map(|(two_passes, salt)| PassCase {
            bytes: bytes.parse().unwrap(),
            fake: fake.to_owned(),
            two_passes,
            salt,
        })
    });
    let wrong: Vec<String> = cases.filter_map(|case| mistake(&case)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
