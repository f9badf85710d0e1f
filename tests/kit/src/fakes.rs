//! Random fakes of every kind and genuine cards, as announced size and overrides.

use proptest::prelude::*;
use std::ops::Range;

/// Announced bytes, and overrides of the card's name.
pub type FakeCardSpec = (u64, String);

/// Offset at a share of a card, in whole sectors, at least one.
pub fn sector_offset(bytes: u64, share: f64) -> u64 {
    ((bytes as f64 * share) as u64 / 512 * 512).max(512)
}

/// Cache of a fake: its size in bytes or as a share of the lost bytes, and further overrides.
#[derive(Debug, Clone)]
pub enum HidingCache {
    None,
    Share(f64, String),
    Bytes(u64, String),
}

impl HidingCache {
    /// Overrides for a card that loses `lost_bytes`.
    fn overrides_for(&self, lost_bytes: u64) -> String {
        match self {
            HidingCache::None => String::new(),
            HidingCache::Share(share, rest) => {
                format!("&cache_bytes={}&{rest}", sector_offset(lost_bytes, *share).next_multiple_of(4096))
            }
            HidingCache::Bytes(bytes, rest) => format!("&cache_bytes={bytes}&{rest}"),
        }
    }
}

/// Overrides for the behaviour of a cache.
pub fn cache_policy() -> impl Strategy<Value = String> {
    let kind = proptest::sample::select(&["direct", "lru", "fifo"][..]);
    (kind, any::<bool>(), any::<bool>()).prop_map(|(kind, strict, survives)| {
        format!("fake.cache_kind={kind}&fake.cache_strict={strict}&fake.cache_survives={survives}")
    })
}

/// Words for the content of lost blocks.
pub type LostWords = &'static [&'static str];

fn lost_word(lost: LostWords) -> impl Strategy<Value = &'static str> {
    proptest::sample::select(lost)
}

/// Fake that stores a first part only; a share below `least` stores nothing.
pub fn limbo(
    card: impl Strategy<Value = u64>,
    share: Range<f64>,
    least: f64,
    lost: LostWords,
    cache: impl Strategy<Value = HidingCache>,
) -> impl Strategy<Value = FakeCardSpec> {
    (card, share, lost_word(lost), cache).prop_map(move |(bytes, share, lost, cache)| {
        let real = if share < least { 0 } else { sector_offset(bytes, share) };
        (bytes, format!("fake=limbo&fake_bytes={real}&fake.lost={lost}{}", cache.overrides_for(bytes - real)))
    })
}

/// Bytes of a period, by bytes of the card and a share.
pub type PeriodRule = fn(u64, f64) -> u64;

pub fn wraparound(
    card: impl Strategy<Value = u64>,
    share: Range<f64>,
    period: impl Strategy<Value = PeriodRule>,
) -> impl Strategy<Value = FakeCardSpec> {
    (card, share, period).prop_map(|(bytes, share, period)| {
        (bytes, format!("fake=wraparound&wrap_bytes={}", period(bytes, share)))
    })
}

pub fn chain(
    card: impl Strategy<Value = u64>,
    share: Range<f64>,
    period: impl Strategy<Value = PeriodRule>,
    real: Range<f64>,
    lost: LostWords,
    cache: impl Strategy<Value = HidingCache>,
) -> impl Strategy<Value = FakeCardSpec> {
    (card, share, real, lost_word(lost), period, cache).prop_map(
        |(bytes, share, real, lost, period, cache)| {
            let wrap = period(bytes, share);
            let real = sector_offset(wrap, real);
            let cache = cache.overrides_for(wrap - real);
            (bytes, format!("fake=chain&wrap_bytes={wrap}&fake_bytes={real}&fake.lost={lost}{cache}"))
        },
    )
}

/// Fake with a dead address line, worth at least `least`.
#[allow(dead_code, reason = "not every test looks for them")]
pub fn address_line(card: impl Strategy<Value = u64>, least: u64) -> impl Strategy<Value = FakeCardSpec> {
    (card, 0.0..1.0f64).prop_map(move |(bytes, share)| {
        let lines = (bytes - 1).ilog2() + 1 - least.ilog2();
        let line = least << (f64::from(lines) * share) as u32;
        (bytes, format!("fake=address-line&wrap_bytes={line}"))
    })
}

/// Fake that loses units of 64 KiB, times two for each power.
pub fn damaged(
    card: impl Strategy<Value = u64>,
    share: Range<f64>,
    powers: Range<u32>,
    lost: LostWords,
    cache: impl Strategy<Value = HidingCache>,
) -> impl Strategy<Value = FakeCardSpec> {
    (card, share, powers, lost_word(lost), 0u32..1000, cache).prop_map(|(bytes, share, power, lost, seed, cache)| {
        let unit = 65_536u64 << power;
        let cache = cache.overrides_for((bytes as f64 * share) as u64);
        (
            bytes,
            format!(
                "fake=damaged&fake.damaged_share={share}&fake.damaged_unit_bytes={unit}&fake.lost={lost}&seed={seed}{cache}"
            ),
        )
    })
}

pub fn overcommitted(
    card: impl Strategy<Value = u64>,
    share: Range<f64>,
) -> impl Strategy<Value = FakeCardSpec> {
    (card, share).prop_map(|(bytes, share)| {
        (bytes, format!("fake=overcommitted&fake_bytes={}", sector_offset(bytes, share)))
    })
}

pub fn read_only(card: impl Strategy<Value = u64>) -> impl Strategy<Value = FakeCardSpec> {
    card.prop_map(|bytes| (bytes, "fake=read-only&state=filled".to_owned()))
}

pub fn genuine(card: impl Strategy<Value = u64>) -> impl Strategy<Value = FakeCardSpec> {
    (card, 0u32..1000).prop_map(|(bytes, seed)| (bytes, format!("seed={seed}")))
}
