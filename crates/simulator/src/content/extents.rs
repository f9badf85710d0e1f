//! Content of a medium as extents, in chunks of 1 MiB: descriptions and the addresses that they were written to. A
//! terabyte of noise takes 16 bytes per MiB, a terabyte of random 4 KiB writes 56, and the worst case 16 KiB per MiB
//! written.

use cardscope_engine::content::IoContent;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::ops::Range;

const CHUNK: u64 = 1 << 20;

/// Chunks that are allocated at a time, so that unwritten parts cost nothing.
const GROUP: usize = 64;

/// Description of an extent, and its write address minus its place on the medium, since the bytes of a description
/// depend on the address it was written *to*. [`IoContent::Buffer`] stands for content that is stored as bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct ExtentKind {
    pub(crate) what: IoContent,
    pub(crate) shift: i64,
}

/// Content of a medium by extent; unwritten parts have none.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
#[serde(try_from = "StoredExtents")]
pub(crate) struct ContentExtents {
    groups: Vec<Option<Box<[MibChunk]>>>,
    kinds: Vec<ExtentKind>,
    #[serde(skip)]
    ids: HashMap<ExtentKind, KindId>,
    /// Kind of the last write, which is mostly that of the next one.
    #[serde(skip)]
    recent: Option<(ExtentKind, KindId)>,
}

impl ContentExtents {
    /// Sets a range of whole sectors to `kind`. Returns true if nothing changed.
    #[inline]
    pub(crate) fn write(&mut self, range: Range<u64>, kind: ExtentKind) -> bool {
        let id = match self.recent {
            Some((recent, id)) if recent == kind => id,
            _ => self.kind_id(kind),
        };
        // Nearly all writes of a benchmark find the same description in place.
        let chunk = (range.start / CHUNK) as usize;
        if (range.end - 1) / CHUNK == chunk as u64
            && let Some(Some(group)) = self.groups.get(chunk / GROUP)
            && let MibChunk::Same(old) = &group[chunk % GROUP]
            && *old == id
        {
            return true;
        }
        self.set_range(range, id)
    }

    pub(crate) fn remove(&mut self, range: Range<u64>) {
        let known = (self.groups.len() * GROUP) as u64 * CHUNK;
        if range.start < known {
            self.set_range(range.start..range.end.min(known), NO_KIND);
        }
    }

    #[inline(never)]
    fn set_range(&mut self, range: Range<u64>, id: KindId) -> bool {
        let mut unchanged = true;
        let mut at = range.start;
        while at < range.end {
            let number = (at / CHUNK) as usize;
            let end = range.end.min((number as u64 + 1) * CHUNK);
            let first = (at % CHUNK / SECTOR) as u16;
            let last = first + ((end - at) / SECTOR) as u16;
            if let Some(chunk) = self.chunk_mut(number, id) {
                unchanged &= chunk.write(first, last, id);
            }
            at = end;
        }
        unchanged
    }

    /// Chunk by number, allocated unless it would hold nothing.
    fn chunk_mut(&mut self, number: usize, id: KindId) -> Option<&mut MibChunk> {
        let group = number / GROUP;
        if group >= self.groups.len() {
            self.groups.resize_with(group + 1, || None);
        }
        let slot = &mut self.groups[group];
        if slot.is_none() && id == NO_KIND {
            return None;
        }
        let group = slot.get_or_insert_with(|| vec![MibChunk::default(); GROUP].into_boxed_slice());
        Some(&mut group[number % GROUP])
    }

    fn kind_id(&mut self, kind: ExtentKind) -> KindId {
        let next = self.kinds.len() as KindId + 1;
        let id = *self.ids.entry(kind).or_insert(next);
        if id == next {
            self.kinds.push(kind);
        }
        self.recent = Some((kind, id));
        id
    }

    /// Kind at `at`, and the offset up to which it is the same, at most `end`.
    pub(crate) fn kind_at(&self, at: u64, end: u64) -> (u64, Option<ExtentKind>) {
        let number = (at / CHUNK) as usize;
        match self.groups.get(number / GROUP) {
            Some(Some(group)) => {
                let base = number as u64 * CHUNK;
                let (last, id) = group[number % GROUP].id_at(((at - base) / SECTOR) as u16);
                let kind = (id as usize).checked_sub(1).and_then(|i| self.kinds.get(i)).copied();
                ((base + u64::from(last) * SECTOR).min(end), kind)
            }
            Some(None) => (end.min(((number / GROUP + 1) * GROUP) as u64 * CHUNK), None),
            None => (end, None),
        }
    }
}

/// Part that a file holds; the rest is derived from it.
#[derive(Deserialize)]
struct StoredExtents {
    groups: Vec<Option<Box<[MibChunk]>>>,
    kinds: Vec<ExtentKind>,
}

impl TryFrom<StoredExtents> for ContentExtents {
    type Error = &'static str;

    fn try_from(stored: StoredExtents) -> Result<Self, Self::Error> {
        let StoredExtents { groups, kinds } = stored;
        let ids = kinds.len() as KindId + 1;
        let fits = |group: &[MibChunk]| group.len() == GROUP && group.iter().all(|c| c.is_valid(ids));
        if !groups.iter().flatten().all(|group| fits(group)) {
            return Err("no card can have written this");
        }
        let numbered = kinds.iter().zip(1..).map(|(kind, id)| (*kind, id)).collect();
        Ok(ContentExtents { groups, kinds, ids: numbered, recent: None })
    }
}

/// Number of a kind, from 1; [`NO_KIND`] for none.
pub(crate) type KindId = u32;

/// Never written, or discarded.
pub(crate) const NO_KIND: KindId = 0;

pub(super) const SECTOR: u64 = 512;

pub(super) const SECTORS: u16 = 2048;

/// Sectors of a block; [`Two`] has one bit for each block.
const BLOCK: u16 = 8;

/// Number of runs below which [`Two`] saves nothing.
const MIN_BITMAP_RUNS: usize = 6;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum MibChunk {
    Same(KindId),
    /// Either of two kinds for each block of 4 KiB.
    Two(Box<TwoKinds>),
    Runs(Box<ExtentRuns>),
}

/// Two kinds by block of 4 KiB.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TwoKinds {
    ids: [KindId; 2],
    /// Set for blocks of the second kind.
    second: [u64; 4],
}

/// Runs in order; each ends where the next begins, the first begins at 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ExtentRuns(Vec<(u16, KindId)>);

impl Default for MibChunk {
    fn default() -> Self {
        MibChunk::Same(NO_KIND)
    }
}

impl MibChunk {
    /// Sets the sectors `start..end` to `id`. Returns true if nothing changed.
    pub(super) fn write(&mut self, start: u16, end: u16, id: KindId) -> bool {
        if start == 0 && end == SECTORS {
            let same = matches!(self, MibChunk::Same(old) if *old == id);
            *self = MibChunk::Same(id);
            return same;
        }
        let blocks = (start | end).is_multiple_of(BLOCK);
        match self {
            MibChunk::Same(old) if *old == id => return true,
            MibChunk::Same(old) if blocks => {
                let mut two = Box::new(TwoKinds { ids: [*old, id], second: [0; 4] });
                two.set(start / BLOCK, end / BLOCK, true);
                *self = MibChunk::Two(two);
            }
            MibChunk::Two(two) if blocks && two.ids.contains(&id) => {
                let second = two.ids[1] == id;
                two.set(start / BLOCK, end / BLOCK, second);
                if two.second == [if second { u64::MAX } else { 0 }; 4] {
                    *self = MibChunk::Same(id);
                }
            }
            _ => {
                let mut runs = match std::mem::take(self) {
                    MibChunk::Runs(runs) => runs,
                    other => Box::new(ExtentRuns(other.runs().collect())),
                };
                runs.splice(start, end, id);
                *self = runs.into_chunk();
            }
        }
        false
    }

    fn runs(&self) -> impl Iterator<Item = (u16, KindId)> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let start = at;
            (start < SECTORS).then(|| {
                let (end, id) = self.id_at(start);
                at = end;
                (start, id)
            })
        })
    }

    /// Kind of the sector, and the sector up to which it is the same.
    pub(super) fn id_at(&self, sector: u16) -> (u16, KindId) {
        match self {
            MibChunk::Same(id) => (SECTORS, *id),
            MibChunk::Two(two) => two.id_at_block(sector),
            MibChunk::Runs(runs) => runs.id_at_run(sector),
        }
    }

    /// True if this module can have made the chunk, with kinds below `ids`; a file may hold anything.
    pub(super) fn is_valid(&self, ids: KindId) -> bool {
        match self {
            MibChunk::Same(id) => *id < ids,
            MibChunk::Two(two) => two.ids.iter().all(|id| *id < ids),
            MibChunk::Runs(runs) => {
                let runs = &runs.0;
                runs.first().is_some_and(|(start, _)| *start == 0)
                    && runs.iter().all(|(start, id)| *start < SECTORS && *id < ids)
                    && runs.is_sorted_by(|a, b| a.0 < b.0)
            }
        }
    }
}

impl TwoKinds {
    fn set(&mut self, start: u16, end: u16, second: bool) {
        for (word, bits) in (0u16..).zip(&mut self.second) {
            let from = start.saturating_sub(word * 64).min(64);
            let to = end.saturating_sub(word * 64).min(64);
            if from < to {
                let mask = (u64::MAX >> (64 - (to - from))) << from;
                *bits = if second { *bits | mask } else { *bits & !mask };
            }
        }
    }

    fn id_at_block(&self, sector: u16) -> (u16, KindId) {
        let block = sector / BLOCK;
        let second = self.second[usize::from(block / 64)] >> (block % 64) & 1;
        let flip = if second == 1 { u64::MAX } else { 0 };
        let mut end = block;
        while end < SECTORS / BLOCK {
            // Bits that differ from the first one; bits below `end` in its word are shifted out.
            let differ = (self.second[usize::from(end / 64)] ^ flip) >> (end % 64);
            if differ != 0 {
                end += differ.trailing_zeros() as u16;
                break;
            }
            end = (end / 64 + 1) * 64;
        }
        (end * BLOCK, self.ids[second as usize])
    }
}

impl ExtentRuns {
    fn id_at_run(&self, sector: u16) -> (u16, KindId) {
        let next = self.0.partition_point(|(start, _)| *start <= sector);
        let end = self.0.get(next).map_or(SECTORS, |(start, _)| *start);
        (end, self.0[next - 1].1)
    }

    fn splice(&mut self, start: u16, end: u16, id: KindId) {
        let first = self.0.partition_point(|(at, _)| *at < start);
        let last = self.0.partition_point(|(at, _)| *at <= end);
        let left = first.checked_sub(1).map(|i| self.0[i].1);
        // The run behind the range continues after it, unless it is of the same kind.
        let right = (end < SECTORS).then(|| self.0[last - 1].1).filter(|right| *right != id);
        let new = (left != Some(id)).then_some((start, id));
        self.0.splice(first..last, new.into_iter().chain(right.map(|right| (end, right))));
    }

    fn into_chunk(self: Box<Self>) -> MibChunk {
        let list = &self.0;
        if let [(_, id)] = list.as_slice() {
            return MibChunk::Same(*id);
        }
        let ids = [list[0].1, list[1].1];
        let fits = |(start, id): &(u16, KindId)| start % BLOCK == 0 && ids.contains(id);
        if list.len() < MIN_BITMAP_RUNS || !list.iter().all(fits) {
            return MibChunk::Runs(self);
        }
        let mut two = Box::new(TwoKinds { ids, second: [0; 4] });
        for (i, (start, id)) in list.iter().enumerate() {
            let end = list.get(i + 1).map_or(SECTORS, |(next, _)| *next);
            two.set(start / BLOCK, end / BLOCK, *id == ids[1]);
        }
        MibChunk::Two(two)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::random::SeededRandom;
    use proptest::prelude::*;

    fn heap_bytes(chunk: &MibChunk) -> usize {
        match chunk {
            MibChunk::Same(_) => 0,
            MibChunk::Two(_) => size_of::<TwoKinds>(),
            MibChunk::Runs(runs) => size_of::<ExtentRuns>() + runs.0.capacity() * size_of::<(u16, KindId)>(),
        }
    }

    #[test]
    fn random_writes_take_little_memory() {
        let mut extents = ContentExtents::default();
        let kind = ExtentKind { what: IoContent::Noise, shift: 0 };
        // 1 GiB stands for 1 TB: memory is per MiB, and each MiB is written 100 times, as by 100 million writes to 1 TB.
        let mut random = SeededRandom::from_state(1);
        for _ in 0..100_000 {
            let at = random.next_u64() % 262_144 * 4096;
            extents.write(at..at + 4096, kind);
        }
        let chunks = extents.groups.iter().flatten().flat_map(|group| group.iter());
        let bytes = extents.groups.len() * size_of::<Option<Box<[MibChunk]>>>()
            + chunks.map(|chunk| size_of::<MibChunk>() + heap_bytes(chunk)).sum::<usize>();
        let per_mib = bytes as f64 / 1024.0;
        assert!(per_mib < 80.0, "{per_mib} bytes a MiB");
    }

    proptest! {
        #[test]
        fn chunk_agrees_with_sector_array(
            writes in prop::collection::vec((0..256u16, 1..40u16, 0..8u16, 1..4u32), 1..120)
        ) {
            let mut chunk = MibChunk::default();
            let mut plain = [NO_KIND; SECTORS as usize];
            for (block, blocks, odd, id) in writes {
                // Half of the writes are whole blocks, so that the form for two kinds stays in use.
                let odd = if odd < 4 { 0 } else { odd };
                let start = block * BLOCK + odd;
                let end = (start + blocks * BLOCK - odd).min(SECTORS);
                let part = &mut plain[usize::from(start)..usize::from(end)];
                let same = part.iter().all(|old| *old == id);
                part.fill(id);
                let said = chunk.write(start, end, id);
                prop_assert!(!said || same, "it says that nothing changed");
            }
            prop_assert!(chunk.is_valid(4));
            let mut at = 0;
            while at < SECTORS {
                let (end, id) = chunk.id_at(at);
                prop_assert!(end > at && plain[usize::from(at)..usize::from(end)].iter().all(|p| *p == id));
                at = end;
            }
        }
    }
}
