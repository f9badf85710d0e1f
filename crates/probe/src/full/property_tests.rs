//! Any fake of any size, and genuine cards, in virtual time: the full pass finds the truth to the sector.

use super::tests::{run, settings};
use super::{Findings, Settings};
use cardscope_simulator::SimTarget;
use fakes::{Cache, Lost, Period, place, policy};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

#[path = "../../tests/fakes/mod.rs"]
mod fakes;

/// A size of 1 to 64 MiB in sectors, seldom a power of two.
fn card() -> impl Strategy<Value = u64> {
    (2048u64..=131_072).prop_map(|sectors| sectors * 512)
}

#[derive(Debug, Clone)]
struct Case {
    bytes: u64,
    fake: String,
    two_passes: bool,
    salt: u64,
}

const LOST: Lost = &["zeros", "ones", "stale", "error"];

fn cache() -> impl Strategy<Value = Cache> {
    prop_oneof![
        Just(Cache::None),
        // Smaller than a tenth of what is lost: see the known limits.
        (0.001..0.1f64, policy()).prop_map(|(share, policy)| Cache::Share(share, policy)),
    ]
}

fn fake() -> impl Strategy<Value = (u64, String)> {
    let period = || Just(place as Period);
    prop_oneof![
        4 => fakes::limbo(card(), 0.0..0.97, 0.05, LOST, cache()),
        3 => fakes::wraparound(card(), 0.1..0.97, period()),
        3 => fakes::chain(card(), 0.1..0.9, period(), 0.1..0.9, LOST, Just(Cache::None)),
        3 => fakes::damaged(card(), 0.02..0.4, 0..5, LOST, Just(Cache::None)),
        2 => fakes::overcommitted(card(), 0.1..0.9),
        1 => fakes::read_only(card()),
        3 => fakes::genuine(card())
    ]
}

fn case() -> impl Strategy<Value = Case> {
    (fake(), any::<bool>(), any::<u64>()).prop_map(|((bytes, fake), two_passes, salt)| Case {
        bytes,
        fake,
        two_passes,
        salt,
    })
}

/// What no look from outside can tell, by name.
fn known_limit(found: &Findings, target: &SimTarget, fake: &str) -> Option<&'static str> {
    let truth = target.truth();
    let verdict = serde_json::to_value(truth.verdict).unwrap();
    let reported = found.verdict.word();
    let holes_alone = ["damaged", "limbo", "overcommitted", "dead"];
    match verdict.as_str().unwrap() {
        "damaged" if holes_alone.contains(&reported) && found.good_bytes == Some(truth.good_bytes) => {
            Some("holes that lie like one end of the card, or between sentinels, look like it")
        }
        "overcommitted" if reported == "overcommitted" && near(found.good_bytes, truth.good_bytes) => {
            Some("the last page of a pool that is no whole one counts as a whole one")
        }
        "dead"
            if ["chain", "wraparound"].contains(&reported) && direct_and_stale(fake) == found.wrap_bytes =>
        {
            Some(
                "a cache alone that shows in every address what its slot holds is a card that wraps at its size",
            )
        }
        "dead" if reported == "limbo" && found.usable_bytes == Some(0) => {
            Some("a limbo of nothing is a dead card")
        }
        "limbo" if reported == "dead" && truth.usable_bytes == 0 => Some("a limbo of nothing is a dead card"),
        _ if fake.contains("lost=stale") && reported == "read-only" && truth.usable_bytes == 0 => {
            Some("a card that drops every write and shows what was there is one that can only be read")
        }
        _ => None,
    }
}

/// Bytes of a cache that has a slot for each address, and shows lost ones what their slot holds.
fn direct_and_stale(fake: &str) -> Option<u64> {
    let value = |key: &str| fake.split('&').find_map(|part| part.strip_prefix(key)?.strip_prefix('='));
    let shows = value("fake.lost") == Some("stale") && value("fake.cache_kind") == Some("direct");
    value("cache_bytes").filter(|_| shows)?.parse().ok()
}

fn near(reported: Option<u64>, truth: u64) -> bool {
    reported.is_some_and(|reported| reported.abs_diff(truth) <= 4096)
}

fn mistake(case: &Case) -> Option<String> {
    let name = format!("sim:constant?announced_bytes={}&{}", case.bytes, case.fake);
    let (found, target) = run(&name, Settings { two_passes: case.two_passes, salt: case.salt, ..settings() });
    let truth = target.truth();
    let wanted = serde_json::to_value(truth.verdict).unwrap().as_str().unwrap().to_owned();
    let reported = (found.verdict.word().to_owned(), found.usable_bytes, found.good_bytes);
    let right = reported == (wanted.clone(), Some(truth.usable_bytes), Some(truth.good_bytes));
    (!right && known_limit(&found, &target, &case.fake).is_none()).then(|| {
        format!(
            "{name}, two passes {}, salt {:#x}: {reported:?}, true is {wanted} with {} and {} good; {:?} {:?}",
            case.two_passes, case.salt, truth.usable_bytes, truth.good_bytes, found.bad, found.remarks
        )
    })
}

/// The same cards each time; with `CARDSCOPE_LONG=1` many more, others each time.
#[test]
fn any_card_is_known_to_the_sector() {
    let long = std::env::var("CARDSCOPE_LONG").is_ok_and(|value| !value.is_empty());
    let mut runner = if long { TestRunner::default() } else { TestRunner::deterministic() };
    let cases = (0..if long { 2000 } else { 60 }).map(|_| case().new_tree(&mut runner).unwrap().current());
    let wrong: Vec<String> = cases.filter_map(|case| mistake(&case)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Cards that were judged wrongly once: what follows `announced_bytes=`, and the salt with which they were.
const ONCE_WRONG: &[(&str, u64)] = &[
    (
        "1735168&fake=damaged&fake.damaged_share=0.04618561915709108&fake.damaged_unit_bytes=1048576&fake.lost=ones&seed=912",
        0x1715_609f_7c74_6c69,
    ),
    (
        "18238976&fake=damaged&fake.damaged_share=0.3002953940547113&fake.damaged_unit_bytes=131072&fake.lost=error&seed=644",
        0x1715_609f_7c74_6c69,
    ),
    (
        "26812416&fake=damaged&fake.damaged_share=0.3061644776398848&fake.damaged_unit_bytes=65536&fake.lost=error&seed=665",
        0x1715_609f_7c74_6c69,
    ),
    ("11511808&fake=chain&wrap_bytes=1535488&fake_bytes=164352&fake.lost=error", 0x1715_609f_7c74_6c69),
    (
        "32592384&fake=limbo&fake_bytes=5570048&fake.lost=stale&cache_bytes=319488&fake.cache_kind=direct&fake.cache_strict=false",
        0x1715_609f_7c74_6c69,
    ),
    (
        "18399232&fake=limbo&fake_bytes=8663552&fake.lost=stale&cache_bytes=348160&fake.cache_kind=direct",
        0x1715_609f_7c74_6c69,
    ),
    (
        "63512064&fake=limbo&fake_bytes=3821568&fake.lost=stale&cache_bytes=2719744&fake.cache_kind=direct&fake.cache_strict=false",
        0x1715_609f_7c74_6c69,
    ),
    (
        "22049280&fake=limbo&fake_bytes=0&fake.lost=stale&cache_bytes=1556480&fake.cache_kind=direct",
        0x1715_609f_7c74_6c69,
    ),
    (
        "31815680&fake=damaged&fake.damaged_share=0.3425003984849942&fake.damaged_unit_bytes=1048576&fake.lost=ones&seed=629",
        0x1715_609f_7c74_6c69,
    ),
    ("32921600&fake=chain&wrap_bytes=11314176&fake_bytes=2306048&fake.lost=stale", 0x1715_609f_7c74_6c69),
    ("37158912&fake=chain&wrap_bytes=15666688&fake_bytes=4338176&fake.lost=stale", 0x1715_609f_7c74_6c69),
    ("16760320&fake=chain&wrap_bytes=14790656&fake_bytes=6173696&fake.lost=stale", 0x1715_609f_7c74_6c69),
    ("1096704&fake=overcommitted&fake_bytes=153600", 0x1715_609f_7c74_6c69),
    ("1848832&fake=overcommitted&fake_bytes=1357824", 0x1715_609f_7c74_6c69),
    ("3101696&fake=overcommitted&fake_bytes=2286080", 0x1715_609f_7c74_6c69),
    ("10112000&fake=overcommitted&fake_bytes=9045504", 0x1715_609f_7c74_6c69),
    ("15930368&fake=wraparound&wrap_bytes=3109888", 0x1715_609f_7c74_6c69),
    ("1326592&fake=chain&wrap_bytes=248320&fake_bytes=36864&fake.lost=stale", 0x56c1_f312_12ee_2345),
    (
        "29389824&fake=limbo&fake_bytes=1936896&fake.lost=ones&cache_bytes=1277952&fake.cache_kind=lru&fake.cache_strict=false&fake.cache_survives=true",
        0x53ff_12bb_6792_8636,
    ),
    (
        "28382720&fake=limbo&fake_bytes=11746816&fake.lost=stale&cache_bytes=1638400&fake.cache_kind=lru&fake.cache_strict=true&fake.cache_survives=true",
        0xb10e_60dd_1843_e336,
    ),
    ("7764480&fake=chain&wrap_bytes=5211648&fake_bytes=4683264&fake.lost=stale", 0x4934_f09c_0763_1297),
    ("1524736&fake=chain&wrap_bytes=179200&fake_bytes=29696&fake.lost=error", 0x4c26_7c18_2ecf_d47d),
    ("1059328&fake=chain&wrap_bytes=910848&fake_bytes=569344&fake.lost=stale", 0x7a00_e382_6306_ad39),
    ("2190336&fake=chain&wrap_bytes=984064&fake_bytes=236544&fake.lost=stale", 0x14f5_171b_2e5d_65f1),
    ("21495808&fake=chain&wrap_bytes=17818112&fake_bytes=12887040&fake.lost=stale", 0xa98f_5cf7_4707_833d),
    ("54574592&fake=chain&wrap_bytes=33555456&fake_bytes=9356800&fake.lost=stale", 0x8b1e_a092_a545_c833),
    ("22126080&fake=chain&wrap_bytes=7438336&fake_bytes=1123328&fake.lost=stale", 0xabc5_0e35_6829_532c),
];

#[test]
fn cards_that_were_judged_wrongly_once_are_judged_rightly() {
    let cards = ONCE_WRONG.iter().filter_map(|(name, salt)| Some((name.split_once('&')?, *salt)));
    let cases = cards.flat_map(|((bytes, fake), salt)| {
        [(false, 1), (true, 1), (false, 0xdead_beef), (false, salt)].map(|(two_passes, salt)| Case {
            bytes: bytes.parse().unwrap(),
            fake: fake.to_owned(),
            two_passes,
            salt,
        })
    });
    let wrong: Vec<String> = cases.filter_map(|case| mistake(&case)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
