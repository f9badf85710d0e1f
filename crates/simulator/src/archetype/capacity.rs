//! What a full test of the capacity should find, worked out from the parameters and the seed without any card.

use super::schema::{Archetype, FakeKind, PoolFull};
use crate::chance::{Units, WeakBits};
use crate::content::{FakeMap, Faults, Place, WEAK};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What is true of a card's capacity, in the words of `verify`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CapacityVerdict {
    /// All of it is there.
    #[default]
    Genuine,
    /// What lies beyond some address is lost.
    Limbo,
    /// Addresses wrap.
    Wraparound,
    /// Addresses wrap, and part of what is left is lost.
    Chain,
    /// Places here and there lose what they are given, now or later.
    Damaged,
    /// It keeps no block.
    Dead,
    /// Any address works until too many are in use.
    Overcommitted,
    /// Writes are accepted and dropped.
    ReadOnly,
    /// Two reads of one place differ, or a command fails that succeeds the next time.
    Unstable,
}

/// The capacity of a card with all its faults, whenever they begin.
#[derive(Debug, Clone, Copy)]
pub(super) struct TrueCapacity {
    pub(super) verdict: CapacityVerdict,
    /// The prefix from 0 that keeps what is written to it.
    pub(super) usable_bytes: u64,
    /// All that keeps what is written to it, wherever it lies.
    pub(super) good_bytes: u64,
}

impl TrueCapacity {
    pub(super) fn of(card: &Archetype, seed: u64) -> Self {
        let (usable_bytes, good_bytes) = kept(card, seed);
        TrueCapacity { verdict: verdict(card, good_bytes), usable_bytes, good_bytes }
    }
}

fn verdict(card: &Archetype, good_bytes: u64) -> CapacityVerdict {
    let faults = &card.faults;
    // A small share of large units may come to none of them: then nothing is damaged.
    let loses = good_bytes < card.announced_bytes;
    match card.fake.kind {
        FakeKind::ReadOnly => CapacityVerdict::ReadOnly,
        _ if good_bytes == 0 => CapacityVerdict::Dead,
        FakeKind::Limbo => CapacityVerdict::Limbo,
        FakeKind::Wraparound | FakeKind::AddressLine => CapacityVerdict::Wraparound,
        FakeKind::Chain => CapacityVerdict::Chain,
        FakeKind::Overcommitted => CapacityVerdict::Overcommitted,
        FakeKind::None | FakeKind::Damaged => {
            if loses {
                CapacityVerdict::Damaged
            } else if faults.read_flip_p > 0.0 || faults.read_error_p > 0.0 || faults.write_error_p > 0.0 {
                CapacityVerdict::Unstable
            } else {
                CapacityVerdict::Genuine
            }
        }
    }
}

/// The prefix that keeps its data, and all that does.
fn kept(card: &Archetype, seed: u64) -> (u64, u64) {
    let end = end(card);
    let (map, failing) = (FakeMap::at_last(card, seed), Faults::new(&card.faults, seed).failing());
    let (mut good, mut first_bad) = (0, end);
    for own in own_places(card, end) {
        let mut at = own.start;
        while at < own.end {
            let (kept, len) = run(&map, failing, at, own.end - at);
            if kept {
                good += len;
            } else {
                first_bad = first_bad.min(at);
            }
            at += len;
        }
    }
    if card.faults.flip_p > 0.0 {
        let weak = WeakBits::new(seed, WEAK, card.faults.flip_p);
        let mut sectors = Vec::new();
        weak.each(0, end, |byte, _| sectors.push(byte / SECTOR * SECTOR));
        sectors.sort_unstable();
        sectors.dedup();
        let counted = sectors.iter().filter(|sector| run(&map, failing, **sector, SECTOR).0).count() as u64;
        good -= counted * SECTOR;
        first_bad = sectors.first().map_or(first_bad, |sector| first_bad.min(*sector));
    }
    (first_bad, good)
}

/// The addresses that have a place of their own: up to `end`, and behind a line that is not wired every other stretch.
fn own_places(card: &Archetype, end: u64) -> impl Iterator<Item = Range<u64>> {
    let all = if card.fake.kind == FakeKind::AddressLine { card.announced_bytes } else { end };
    (0..all).step_by(2 * end.max(1) as usize).map(move |start| start..(start + end).min(all))
}

const SECTOR: u64 = 512;

/// Where the addresses end that have a place of their own.
fn end(card: &Archetype) -> u64 {
    let (fake, all) = (&card.fake, card.announced_bytes);
    let real = fake.real_bytes.unwrap_or(all);
    match fake.kind {
        FakeKind::ReadOnly => 0,
        FakeKind::Limbo => real,
        FakeKind::Wraparound | FakeKind::AddressLine => fake.wrap_bytes.unwrap_or(all),
        FakeKind::Chain => real.min(fake.wrap_bytes.unwrap_or(all)),
        // A slow card keeps what it is given all the same.
        FakeKind::Overcommitted if fake.pool_full != PoolFull::Slow => real,
        FakeKind::None | FakeKind::Damaged | FakeKind::Overcommitted => all,
    }
    .min(all)
}

/// Whether what stands at `at` is kept, and for how many bytes that holds.
fn run(map: &FakeMap, failing: Option<Units>, at: u64, len: u64) -> (bool, u64) {
    let route = map.route(at, len);
    let (fails, len) = failing.map_or((false, route.len), |units| units.run(at, route.len));
    (matches!(route.place, Place::Kept(_)) && !fails, len)
}
