//! Fakes compared with a naive model: a map of blocks, written as the descriptions of the fakes read, without the
//! structures that make the real one fast.

use super::*;
use crate::archetype::{Archetype, CacheKind, FakeCapacity, FakeKind, LostRead, PoolFull};
use crate::seeded_choice::{ChosenUnits, mapped_ranges};
use cardscope_engine::content::{self, IoContent};
use proptest::prelude::*;
use std::collections::HashMap;

const BLOCK: u64 = 4096;
const BLOCKS: u64 = 96;
const SEED: u64 = 11;

/// Bytes of a block, or None for a read error.
type BlockBytes = Option<Vec<u8>>;

/// Fake as its description reads.
struct NaiveFake {
    fake: FakeCapacity,
    kept: HashMap<u64, Vec<u8>>,
    /// Cached blocks, the next to be evicted first.
    cached: Vec<(u64, Vec<u8>)>,
    bad: Vec<bool>,
}

impl NaiveFake {
    fn new(fake: FakeCapacity) -> Self {
        let units =
            ChosenUnits::new(SEED, super::faults::DAMAGED_UNITS, fake.damaged_unit_bytes, fake.damaged_share);
        let damaged = fake.kind == FakeKind::Damaged;
        let bad = |block: u64| damaged && units.is_chosen(block * BLOCK / fake.damaged_unit_bytes);
        NaiveFake { fake, kept: HashMap::new(), cached: Vec::new(), bad: (0..BLOCKS).map(bad).collect() }
    }

    fn real(&self) -> u64 {
        self.fake.real_bytes.unwrap_or(BLOCKS * BLOCK) / BLOCK
    }

    /// Block that keeps the data written to this one.
    fn home_block(&self, block: u64) -> Option<u64> {
        let wrapped = block % (self.fake.wrap_bytes.unwrap_or(BLOCKS * BLOCK) / BLOCK);
        match self.fake.kind {
            FakeKind::Limbo => (block < self.real()).then_some(block),
            FakeKind::Wraparound => Some(wrapped),
            FakeKind::AddressLine => Some(block & !(self.fake.wrap_bytes? / BLOCK)),
            FakeKind::Chain => (wrapped < self.real()).then_some(wrapped),
            FakeKind::Damaged => (!self.bad[block as usize]).then_some(block),
            _ => Some(block),
        }
    }

    fn slots(&self) -> usize {
        (self.fake.cache_bytes.unwrap_or(0) / BLOCK) as usize
    }

    /// Adds a block to the cache.
    fn insert_cached(&mut self, block: u64, bytes: Vec<u8>) {
        if self.slots() == 0 {
            return;
        }
        let place = self.cached.iter().position(|(held, _)| *held == block);
        match (self.fake.cache_kind, place) {
            (CacheKind::Fifo, Some(at)) => self.cached[at].1 = bytes,
            (CacheKind::Direct, _) => {
                let slots = self.slots() as u64;
                self.cached.retain(|(held, _)| held % slots != block % slots);
                self.cached.push((block, bytes));
            }
            (_, found) => {
                if let Some(at) = found {
                    self.cached.remove(at);
                }
                self.cached.push((block, bytes));
            }
        }
        if self.cached.len() > self.slots() {
            self.cached.remove(0);
        }
    }

    fn write(&mut self, block: u64, bytes: &[u8]) {
        let full = self.kept.len() as u64 >= self.real();
        match (self.fake.kind, self.home_block(block)) {
            (FakeKind::ReadOnly, _) => {}
            (FakeKind::Overcommitted, _)
                if full && !self.kept.contains_key(&block) && self.fake.pool_full == PoolFull::Vanish => {}
            (_, Some(home)) => {
                if !self.fake.cache_strict {
                    self.insert_cached(block, Vec::new());
                }
                self.kept.insert(home, bytes.to_vec());
            }
            (_, None) => self.insert_cached(block, bytes.to_vec()),
        }
    }

    fn discard(&mut self, block: u64) {
        match (self.fake.kind, self.home_block(block)) {
            (FakeKind::ReadOnly, _) => {}
            (_, Some(home)) => drop(self.kept.remove(&home)),
            (_, None) => self.cached.iter_mut().filter(|c| c.0 == block).for_each(|c| c.1.fill(0)),
        }
    }

    fn read(&mut self, block: u64) -> BlockBytes {
        let zeros = vec![0; BLOCK as usize];
        if let Some(home) = self.home_block(block) {
            let pool_full = self.fake.kind == FakeKind::Overcommitted
                && self.kept.len() as u64 >= self.real()
                && !self.kept.contains_key(&block);
            return if pool_full {
                self.lost_block()
            } else {
                Some(self.kept.get(&home).cloned().unwrap_or(zeros))
            };
        }
        let Some(at) = self.cached.iter().position(|(held, _)| *held == block) else {
            return self.lost_block();
        };
        let bytes = self.cached[at].1.clone();
        if self.fake.cache_kind == CacheKind::Lru {
            let used = self.cached.remove(at);
            self.cached.push(used);
        }
        Some(bytes)
    }

    fn lost_block(&self) -> BlockBytes {
        match self.fake.lost {
            LostRead::Zeros | LostRead::Stale | LostRead::Noise | LostRead::Garbage | LostRead::Last => {
                Some(vec![0; BLOCK as usize])
            }
            LostRead::Ones => Some(vec![0xff; BLOCK as usize]),
            LostRead::Error => None,
        }
    }
}

fn card(fake: FakeCapacity) -> Archetype {
    Archetype { announced_bytes: BLOCKS * BLOCK, fake, ..Archetype::load("constant").unwrap() }
}

fn read(medium: &mut CardMedium, block: u64) -> BlockBytes {
    tests::read(medium, block * BLOCK, BLOCK as usize)
}

fn any_fake() -> impl Strategy<Value = FakeCapacity> {
    let kind = prop_oneof![
        Just(FakeKind::None),
        Just(FakeKind::Limbo),
        Just(FakeKind::Wraparound),
        Just(FakeKind::Chain),
        Just(FakeKind::AddressLine),
        Just(FakeKind::Damaged),
        Just(FakeKind::Overcommitted),
        Just(FakeKind::ReadOnly),
    ];
    let cache = prop_oneof![Just(CacheKind::Direct), Just(CacheKind::Lru), Just(CacheKind::Fifo)];
    let lost = prop_oneof![Just(LostRead::Zeros), Just(LostRead::Ones), Just(LostRead::Error)];
    let full = prop_oneof![Just(PoolFull::Vanish), Just(PoolFull::Slow)];
    (kind, 1..60u64, 1..30u64, prop::option::of(1..12u64), cache, any::<bool>(), lost, full).prop_map(
        |(kind, real, more, cache, cache_kind, cache_strict, lost, pool_full)| {
            let line = kind == FakeKind::AddressLine;
            let wrap = if line { (real + more).next_power_of_two().min(64) } else { real + more };
            let hides = matches!(kind, FakeKind::Limbo | FakeKind::Chain | FakeKind::Damaged);
            FakeCapacity {
                kind,
                real_bytes: Some(real * BLOCK),
                wrap_bytes: Some(wrap * BLOCK),
                damaged_unit_bytes: 2 * BLOCK,
                damaged_share: 0.4,
                pool_full,
                cache_bytes: cache.filter(|_| hides).map(|blocks| blocks * BLOCK),
                cache_kind,
                cache_strict,
                lost,
                ..FakeCapacity::default()
            }
        },
    )
}

#[derive(Debug, Clone)]
enum MediumStep {
    Described(u64, u64, u64),
    Bytes(u64, u64, u8),
    Read(u64),
    Discard(u64, u64),
}

fn steps(most: usize) -> impl Strategy<Value = Vec<MediumStep>> {
    let step = prop_oneof![
        3 => (0..BLOCKS, 1..20u64, 0..3u64).prop_map(|(at, count, seed)| MediumStep::Described(at, count, seed)),
        3 => (0..BLOCKS, 1..20u64, any::<u8>()).prop_map(|(at, count, first)| MediumStep::Bytes(at, count, first)),
        3 => (0..BLOCKS).prop_map(MediumStep::Read),
        1 => (0..BLOCKS, 1..20u64).prop_map(|(at, count)| MediumStep::Discard(at, count)),
    ];
    prop::collection::vec(step, 1..most)
}

/// Executes a step on the medium; returns the blocks that it wrote, with their bytes.
fn execute_step(medium: &mut CardMedium, step: &MediumStep) -> Vec<(u64, Vec<u8>)> {
    let clip = |at: u64, count: u64| count.min(BLOCKS - at);
    let (at, bytes) = match *step {
        MediumStep::Described(at, count, seed) => {
            let mut bytes = vec![0; (clip(at, count) * BLOCK) as usize];
            content::fill_content(IoContent::Stream { seed }, at * BLOCK, &mut bytes);
            tests::write(medium, at * BLOCK, bytes.len() as u64, IoContent::Stream { seed });
            (at, bytes)
        }
        MediumStep::Bytes(at, count, first) => {
            let len = clip(at, count) * BLOCK;
            let bytes: Vec<u8> = (0..len).map(|i| first.wrapping_add((i / 7) as u8)).collect();
            tests::write_bytes(medium, at * BLOCK, &bytes);
            (at, bytes)
        }
        MediumStep::Discard(at, count) => {
            medium.discard(at * BLOCK, clip(at, count) * BLOCK);
            return Vec::new();
        }
        MediumStep::Read(_) => return Vec::new(),
    };
    (at..).zip(bytes.chunks(BLOCK as usize).map(<[u8]>::to_vec)).collect()
}

proptest! {
    #[test]
    fn fake_agrees_with_naive_model(fake in any_fake(), steps in steps(60)) {
        let mut medium = CardMedium::new(&card(fake), SEED, 1 << 20);
        let mut naive = NaiveFake::new(fake);
        for step in &steps {
            for (block, bytes) in execute_step(&mut medium, step) {
                naive.write(block, &bytes);
            }
            match *step {
                MediumStep::Discard(at, count) => (at..(at + count).min(BLOCKS)).for_each(|b| naive.discard(b)),
                MediumStep::Read(block) => prop_assert!(read(&mut medium, block) == naive.read(block), "block {block}"),
                _ => {}
            }
        }
        for block in 0..BLOCKS {
            prop_assert!(read(&mut medium, block) == naive.read(block), "block {block}");
        }
    }

    #[test]
    fn spilled_pages_read_like_memory(steps in steps(60)) {
        let mut kept = CardMedium::new(&card(FakeCapacity::default()), SEED, 1 << 30);
        let mut spilled = CardMedium::new(&card(FakeCapacity::default()), SEED, 3 * BLOCK);
        for step in &steps {
            execute_step(&mut kept, step);
            execute_step(&mut spilled, step);
        }
        for block in 0..BLOCKS {
            prop_assert!(read(&mut kept, block) == read(&mut spilled, block), "block {block}");
        }
    }

    #[test]
    fn truth_matches_full_test_of_fake(mut fake in any_fake()) {
        fake.cache_bytes = None;
        fake.pool_full = PoolFull::Vanish;
        let card = card(fake);
        prop_assume!(card.check().is_ok());
        let mut medium = CardMedium::new(&card, SEED, 0);
        let stamp = IoContent::Stamp { salt: 5, generation: 1 };
        tests::write(&mut medium, 0, BLOCKS * BLOCK, stamp);
        let good = |block: &u64| {
            let mut expected = vec![0; BLOCK as usize];
            content::fill_content(stamp, block * BLOCK, &mut expected);
            read(&mut medium, *block) == Some(expected)
        };
        let good: Vec<_> = (0..BLOCKS).filter(good).collect();
        let truth = crate::archetype::CardTruth::from_parameters(&card, SEED);
        prop_assert_eq!(truth.good_bytes, good.len() as u64 * BLOCK);
        if !matches!(fake.kind, FakeKind::Wraparound | FakeKind::Chain | FakeKind::AddressLine) {
            let prefix = (0..).zip(&good).take_while(|(i, block)| i == *block).count() as u64;
            prop_assert_eq!(truth.usable_bytes, prefix * BLOCK);
        }
    }
}

#[test]
fn full_disk_fails_write_and_keeps_old_data() {
    let mut store = super::store::ContentStore::new(0);
    let full = std::fs::OpenOptions::new().read(true).write(true).open("/dev/full").unwrap();
    store.bytes.file = Some(full);
    let bytes: Vec<u8> = (0..8192).map(|i| (i % 251) as u8).collect();
    let stamp = IoContent::Stamp { salt: 1, generation: 1 };
    let flash = super::store::StoreLayer::Flash;
    store.put(flash, 0..1 << 20, 0, super::store::WrittenData::described(stamp)).unwrap();
    let failed = store.put(flash, 4096..12288, 4096, super::store::WrittenData::Bytes(&bytes)).unwrap_err();
    let CardIoError::Failed { reason, errno } = failed else { panic!("{failed:?}") };
    assert_eq!(errno, libc::ENOSPC);
    assert!(reason.contains("TMPDIR"), "{reason}");
    let (len, piece) = store.piece_at(flash, 0, 1 << 20);
    assert_eq!((len, piece.unwrap().description), (1 << 20, stamp), "all of it is still what it was");
}

#[test]
fn filled_fake_holds_data_in_real_bytes_only() {
    let mut card =
        card(FakeCapacity { kind: FakeKind::Limbo, real_bytes: Some(10 * BLOCK), ..FakeCapacity::default() });
    card.state.start = crate::archetype::StartContent::Filled;
    assert!(mapped_ranges(&card, 1).eq(std::iter::once(0..BLOCKS * BLOCK)));
    let mut medium = CardMedium::new(&card, 1, 0);
    assert!(read(&mut medium, 9).unwrap().iter().any(|b| *b != 0));
    assert!(read(&mut medium, 10).unwrap().iter().all(|b| *b == 0));
}
