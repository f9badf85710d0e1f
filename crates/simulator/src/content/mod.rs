//! Content of a simulated card: extents with descriptions instead of bytes, and false where the card is a fake. This
//! file has the medium behind the false address map: places of writes, the cache that hides a fake, the pool of an
//! overcommitted card, flipped bits.

mod blocks;
mod extents;
mod faults;
mod medium_read;
#[cfg(test)]
mod model_tests;
mod read_content;
mod store;
#[cfg(test)]
mod tests;

use crate::archetype::{Archetype, FakeCapacity, FakeKind, LostRead, PoolFull, UnwrittenRead};
use crate::seeded_choice::{SeededChance, WeakBits, mapped_ranges};
use blocks::{LiveBlocks, WriteCache};
use cardscope_engine::content::IoContent;
use extents::ContentExtents;
use faults::AddressRoute;
pub(crate) use faults::{CardIoError, CardResult, FakeMap, FaultCounters, FaultModel, MediumLocation};
pub(crate) use read_content::ReadContent;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io;
use std::ops::Range;
use store::{ContentStore, StoreLayer, no_room_error};
pub(crate) use store::{PAGE, WrittenData};

/// Unit of caches and pools.
const BLOCK: u64 = 4096;

/// Purpose numbers: each purpose draws random numbers that are independent of the others.
pub(crate) const WEAK_BITS: u64 = 0x7765_616b;
const READ_FLIPS: u64 = 0x6f6e_6365;
const LOST_DATA: u64 = 0x6f74_6865;

#[derive(Debug)]
pub(crate) struct CardMedium {
    map: FakeMap,
    /// True if nothing is false: reads and writes go straight to the store.
    is_honest: bool,
    fake: FakeCapacity,
    unwritten: u8,
    store: ContentStore,
    cache: Option<WriteCache>,
    pool: Option<BlockPool>,
    weak: Option<WeakBits>,
    read_flips: Option<WeakBits>,
    /// Blocks that failed by wear.
    worn: Option<LiveBlocks>,
    lost_data: SeededChance,
    /// Address in the cache's layer of a copy of the block written last, beyond all real addresses; for cards that
    /// return it for lost blocks.
    last_block_at: u64,
    read_number: u64,
}

#[derive(Debug)]
struct BlockPool {
    live: LiveBlocks,
    blocks: u64,
}

impl BlockPool {
    fn is_full(&self) -> bool {
        self.live.count() >= self.blocks
    }
}

impl CardMedium {
    /// Card with its start content; bytes beyond `budget` go to a file.
    pub(crate) fn new(card: &Archetype, seed: u64, budget: u64) -> Self {
        let mut medium = CardMedium::empty(card, seed, budget);
        medium.write_start_content(card, seed);
        medium
    }

    /// Card that was never written.
    pub(crate) fn empty(card: &Archetype, seed: u64, budget: u64) -> Self {
        let (fake, faults) = (&card.fake, &card.faults);
        let blocks = fake.real_bytes.unwrap_or(card.announced_bytes).div_ceil(BLOCK);
        let pool = BlockPool { live: LiveBlocks::default(), blocks };
        let weak = |p: f64, purpose| (p > 0.0).then(|| WeakBits::new(seed, purpose, p));
        let cached = matches!(fake.kind, FakeKind::Limbo | FakeKind::Chain | FakeKind::Damaged);
        let cache = fake.cache_bytes.filter(|_| cached);
        CardMedium {
            map: FakeMap::new(card, seed),
            is_honest: fake.kind == FakeKind::None && faults.is_faultless(),
            fake: *fake,
            unwritten: match card.state.unwritten {
                UnwrittenRead::Zeros => 0,
                UnwrittenRead::Ones => 0xff,
            },
            store: ContentStore::new(budget),
            cache: cache.map(|bytes| WriteCache::new(fake.cache_kind, bytes / BLOCK)),
            pool: (fake.kind == FakeKind::Overcommitted).then_some(pool),
            weak: weak(faults.flip_p, WEAK_BITS),
            read_flips: weak(faults.read_flip_p, READ_FLIPS),
            worn: None,
            lost_data: SeededChance::new(seed, LOST_DATA),
            last_block_at: card.announced_bytes.next_multiple_of(BLOCK),
            read_number: 0,
        }
    }

    /// Writes a new card's content to the flash in address order, bypassing the cache.
    fn write_start_content(&mut self, card: &Archetype, seed: u64) {
        for range in mapped_ranges(card, seed) {
            let end = self.occupy_pool(&range);
            // Only stored bytes can lack room.
            let _ = self.for_each_part(range.start, end - range.start, |medium, address, len, place| {
                let (MediumLocation::Kept(at) | MediumLocation::Bad(at)) = place else { return Ok(()) };
                let noise = WrittenData::described(IoContent::Noise);
                medium.store.put(StoreLayer::Flash, at..at + len, address, noise)
            });
        }
    }

    /// End of the part of the range for which an overcommitted card has blocks; marks them as in use.
    fn occupy_pool(&mut self, range: &Range<u64>) -> u64 {
        let Some(pool) = &mut self.pool else { return range.end };
        let mut block = range.start / BLOCK;
        while block * BLOCK < range.end && !pool.is_full() {
            pool.live.insert(block);
            block += 1;
        }
        (block * BLOCK).clamp(range.start, range.end)
    }

    pub(crate) fn begin_faults(&mut self) {
        self.map.begun = true;
    }

    /// Marks a range of the medium as failed: it loses its data.
    pub(crate) fn mark_worn(&mut self, range: Range<u64>) {
        self.is_honest = false;
        let worn = self.worn.get_or_insert_default();
        (range.start / BLOCK..range.end.div_ceil(BLOCK)).for_each(|block| worn.insert(block));
    }

    fn route(&self, address: u64, len: u64) -> AddressRoute {
        let route = self.map.route(address, len);
        let (Some(worn), MediumLocation::Kept(at)) = (&self.worn, route.place) else { return route };
        let bad = worn.contains(at / BLOCK);
        let same = split_blocks(at, route.len).take_while(|part| worn.contains(part.start / BLOCK) == bad);
        let place = if bad { MediumLocation::Bad(at) } else { MediumLocation::Kept(at) };
        AddressRoute { len: same.map(|part| part.end - part.start).sum(), place }
    }

    /// True if an overcommitted card has no free block and is slow because of it.
    pub(crate) fn is_slow(&self) -> bool {
        self.fake.pool_full == PoolFull::Slow && self.pool.as_ref().is_some_and(BlockPool::is_full)
    }

    /// True if a read changes the card or may fail, so that it must be executed even if its content is not needed.
    pub(crate) fn reads_have_effects(&self) -> bool {
        self.fake.lost == LostRead::Error || self.cache.is_some()
    }

    /// Writes `len` bytes. Fails if there is no room for them, or the card dies of it.
    #[inline]
    pub(crate) fn write(&mut self, offset: u64, len: u64, data: WrittenData<'_>) -> CardResult {
        if self.is_honest {
            return self.store.put(StoreLayer::Flash, offset..offset + len, offset, data);
        }
        self.write_through_map(offset, len, data)
    }

    fn write_through_map(&mut self, offset: u64, len: u64, data: WrittenData<'_>) -> CardResult {
        if self.fake.kind == FakeKind::ReadOnly {
            return Ok(());
        }
        if self.fake.lost == LostRead::Last {
            self.keep_last_block(offset, len, data)?;
        }
        let pooled = self.pool.is_some();
        self.for_each_part(offset, len, |medium, address, len, place| {
            let part = data.part(address - offset, len);
            match place {
                MediumLocation::Kept(at) if pooled => medium.write_pooled(address, at, len, part),
                MediumLocation::Kept(at) => {
                    if !medium.fake.cache_strict {
                        split_blocks(address, len).for_each(|block| medium.add_cached(block.start / BLOCK));
                    }
                    medium.store.put(StoreLayer::Flash, at..at + len, address, part)
                }
                MediumLocation::Bad(_) | MediumLocation::Nowhere => medium.write_lost(address, len, part),
            }
        })
    }

    fn keep_last_block(&mut self, offset: u64, len: u64, data: WrittenData<'_>) -> CardResult {
        let Some(Range { start, end }) = split_blocks(offset, len).last() else { return Ok(()) };
        let at = self.last_block_at + start % BLOCK;
        let part = data.part(start - offset, end - start);
        self.store.put(StoreLayer::Cache, at..at + (end - start), start, part)
    }

    /// Calls `act` with address, length and place of each part of the range that leads to one place.
    fn for_each_part(
        &mut self,
        offset: u64,
        len: u64,
        mut act: impl FnMut(&mut Self, u64, u64, MediumLocation) -> CardResult,
    ) -> CardResult {
        let (mut address, end) = (offset, offset + len);
        while address < end {
            let route = self.route(address, end - address);
            act(self, address, route.len, route.place)?;
            address += route.len;
        }
        Ok(())
    }

    /// Writes to an overcommitted card: blocks in use keep the data, and new ones while there are any.
    fn write_pooled(&mut self, address: u64, at: u64, len: u64, data: WrittenData<'_>) -> CardResult {
        for Range { start, end } in split_blocks(address, len) {
            let Some(pool) = &mut self.pool else { return Ok(()) };
            let block = start / BLOCK;
            if !pool.live.contains(block) {
                match self.fake.pool_full {
                    PoolFull::Vanish if pool.is_full() => continue,
                    PoolFull::Dies if pool.is_full() => {
                        return CardIoError::card_gone("the card died when its last block was in use");
                    }
                    _ => pool.live.insert(block),
                }
            }
            let (place, part) = (at + (start - address), data.part(start - address, end - start));
            self.store.put(StoreLayer::Flash, place..place + (end - start), start, part)?;
        }
        Ok(())
    }

    /// Adds a written block to the cache, if there is one; another block may be evicted.
    fn add_cached(&mut self, block: u64) {
        if let Some(old) = self.cache.as_mut().and_then(|cache| cache.insert_written(block)) {
            self.store.remove(StoreLayer::Cache, old * BLOCK..(old + 1) * BLOCK);
        }
    }

    /// Writes a lost range: the cache holds it for a while.
    fn write_lost(&mut self, address: u64, len: u64, data: WrittenData<'_>) -> CardResult {
        for Range { start, end } in split_blocks(address, len) {
            let Some(cache) = &self.cache else { return Ok(()) };
            let block = start / BLOCK;
            let new = !cache.contains(block);
            self.add_cached(block);
            // A new block is a full one: the rest of it reads as a lost block.
            if new && end - start < BLOCK {
                let rest = WrittenData::described(IoContent::Constant(self.lost_byte()));
                let first = block * BLOCK;
                self.store.put(StoreLayer::Cache, first..first + BLOCK, first, rest)?;
            }
            let part = data.part(start - address, end - start);
            self.store.put(StoreLayer::Cache, start..end, start, part)?;
        }
        Ok(())
    }

    fn lost_byte(&self) -> u8 {
        match self.fake.lost {
            LostRead::Zeros | LostRead::Error => 0,
            LostRead::Ones => 0xff,
            LostRead::Stale | LostRead::Noise | LostRead::Garbage | LostRead::Last => self.unwritten,
        }
    }

    /// Discards a range, which then reads as if it had never been written.
    pub(crate) fn discard(&mut self, offset: u64, len: u64) {
        if self.fake.kind == FakeKind::ReadOnly {
            return;
        }
        // Removing data cannot fail.
        let _ = self.for_each_part(offset, len, |medium, address, len, place| {
            if let MediumLocation::Kept(at) = place {
                medium.store.remove(StoreLayer::Flash, at..at + len);
            } else if medium.cache.is_some() {
                medium.store.remove(StoreLayer::Cache, address..address + len);
            }
            if let Some(pool) = &mut medium.pool {
                let whole = address.div_ceil(BLOCK)..(address + len) / BLOCK;
                whole.for_each(|block| pool.live.remove(block));
            }
            Ok(())
        });
    }

    pub(crate) fn reset(&mut self) {
        if self.fake.cache_survives {
            return;
        }
        if let Some(cache) = &mut self.cache {
            for block in cache.cached_blocks() {
                self.store.remove(StoreLayer::Cache, block * BLOCK..(block + 1) * BLOCK);
            }
            cache.clear();
        }
    }

    /// All content except the pages of bytes.
    pub(crate) fn save_content(&self) -> ContentState<'_> {
        ContentState {
            flash: Cow::Borrowed(&self.store.layers[0]),
            cache: Cow::Borrowed(&self.store.layers[1]),
            cached: self.cache.as_ref().map(WriteCache::cached_blocks).unwrap_or_default(),
            live: self.pool.as_ref().map(|pool| Cow::Borrowed(&pool.live)),
            worn: self.worn.as_ref().map(Cow::Borrowed),
        }
    }

    /// Restores saved content on an unwritten card. Returns false if it does not fit this card.
    pub(crate) fn restore_content(&mut self, state: ContentState<'_>) -> bool {
        self.store.layers = [state.flash.into_owned(), state.cache.into_owned()];
        match &mut self.cache {
            Some(cache) => {
                for block in &state.cached {
                    cache.insert_written(*block);
                }
            }
            None if state.cached.is_empty() => {}
            None => return false,
        }
        match (&mut self.pool, state.live) {
            (Some(pool), Some(live)) if live.is_valid() => pool.live = live.into_owned(),
            (None, None) => {}
            _ => return false,
        }
        self.is_honest &= state.worn.is_none();
        self.worn = state.worn.map(Cow::into_owned);
        self.worn.as_ref().is_none_or(LiveBlocks::is_valid)
    }

    pub(crate) fn page_numbers(&self) -> Vec<u64> {
        self.store.bytes.page_numbers()
    }

    /// Reads a page. Fails if the host cannot read it.
    pub(crate) fn read_page(&self, number: u64, out: &mut [u8; PAGE]) -> io::Result<()> {
        self.store.bytes.read(number * PAGE as u64, out)
    }

    /// Restores a page. Fails if there is no room for it.
    pub(crate) fn restore_page(&mut self, number: u64, page: &[u8; PAGE]) -> CardResult {
        let offset = number.checked_mul(PAGE as u64).unwrap_or_default();
        self.store.bytes.write(offset, page).map_err(no_room_error)
    }
}

/// Splits a range at block boundaries.
fn split_blocks(offset: u64, len: u64) -> impl Iterator<Item = Range<u64>> {
    let end = offset + len;
    let starts = std::iter::successors(Some(offset), |at| Some((at / BLOCK + 1) * BLOCK));
    starts.take_while(move |at| *at < end).map(move |at| at..((at / BLOCK + 1) * BLOCK).min(end))
}

/// Content of a card for a saved state: borrowed for saving, owned after loading.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ContentState<'a> {
    flash: Cow<'a, ContentExtents>,
    cache: Cow<'a, ContentExtents>,
    /// Cached blocks, in order of eviction.
    cached: Vec<u64>,
    live: Option<Cow<'a, LiveBlocks>>,
    /// Blocks that failed by wear.
    worn: Option<Cow<'a, LiveBlocks>>,
}
