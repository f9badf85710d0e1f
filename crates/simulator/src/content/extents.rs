//! The medium by chunks of 1 MiB: what was written where, and to which address it was said to go. A terabyte of noise
//! costs 16 bytes a MiB, a terabyte of random 4 KiB writes 56, and the worst of all histories 16 KiB a MiB written.

use super::chunk::{Chunk, Id, NOTHING, SECTOR};
use cardscope_engine::content::Content;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

const CHUNK: u64 = 1 << 20;

/// Chunks that are made at a time: what nobody wrote near costs nothing.
const GROUP: usize = 64;

/// What an extent holds, and the address it was written to less its place on the medium: the bytes of a description are
/// those of the address it was written *to*. [`Content::Buffer`] stands for bytes kept as such.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Kind {
    pub(crate) what: Content,
    pub(crate) shift: i64,
}

/// What stands on a medium. What nobody wrote holds nothing.
#[derive(Debug, Default, Clone)]
pub(crate) struct Extents {
    groups: Vec<Option<Box<[Chunk]>>>,
    kinds: Vec<Kind>,
    ids: HashMap<Kind, Id>,
    /// The kind of the last write, which is most often that of the next.
    recent: Option<(Kind, Id)>,
}

impl Extents {
    /// Notes that the range, of whole sectors, now holds `kind`. Returns true if nothing changed by it.
    #[inline]
    pub(crate) fn write(&mut self, range: Range<u64>, kind: Kind) -> bool {
        let id = match self.recent {
            Some((recent, id)) if recent == kind => id,
            _ => self.id(kind),
        };
        // Nearly all writes of a benchmark find their own description in place.
        let chunk = (range.start / CHUNK) as usize;
        if (range.end - 1) / CHUNK == chunk as u64
            && let Some(Some(group)) = self.groups.get(chunk / GROUP)
            && let Chunk::Same(old) = &group[chunk % GROUP]
            && *old == id
        {
            return true;
        }
        self.set(range, id)
    }

    /// Forgets the range.
    pub(crate) fn remove(&mut self, range: Range<u64>) {
        let known = (self.groups.len() * GROUP) as u64 * CHUNK;
        if range.start < known {
            self.set(range.start..range.end.min(known), NOTHING);
        }
    }

    #[inline(never)]
    fn set(&mut self, range: Range<u64>, id: Id) -> bool {
        let mut unchanged = true;
        let mut at = range.start;
        while at < range.end {
            let number = (at / CHUNK) as usize;
            let end = range.end.min((number as u64 + 1) * CHUNK);
            let first = (at % CHUNK / SECTOR) as u16;
            let last = first + ((end - at) / SECTOR) as u16;
            if let Some(chunk) = self.chunk(number, id) {
                unchanged &= chunk.write(first, last, id);
            }
            at = end;
        }
        unchanged
    }

    /// The chunk, made if something is to stand there.
    fn chunk(&mut self, number: usize, id: Id) -> Option<&mut Chunk> {
        let group = number / GROUP;
        if group >= self.groups.len() {
            self.groups.resize_with(group + 1, || None);
        }
        let slot = &mut self.groups[group];
        if slot.is_none() && id == NOTHING {
            return None;
        }
        let group = slot.get_or_insert_with(|| vec![Chunk::default(); GROUP].into_boxed_slice());
        Some(&mut group[number % GROUP])
    }

    fn id(&mut self, kind: Kind) -> Id {
        let next = self.kinds.len() as Id + 1;
        let id = *self.ids.entry(kind).or_insert(next);
        if id == next {
            self.kinds.push(kind);
        }
        self.recent = Some((kind, id));
        id
    }

    /// What stands at `at`, and the byte up to which it is the same; never further than `end`.
    pub(crate) fn at(&self, at: u64, end: u64) -> (u64, Option<Kind>) {
        let number = (at / CHUNK) as usize;
        match self.groups.get(number / GROUP) {
            Some(Some(group)) => {
                let base = number as u64 * CHUNK;
                let (last, id) = group[number % GROUP].at(((at - base) / SECTOR) as u16);
                let kind = (id as usize).checked_sub(1).and_then(|i| self.kinds.get(i)).copied();
                ((base + u64::from(last) * SECTOR).min(end), kind)
            }
            Some(None) => (end.min(((number / GROUP + 1) * GROUP) as u64 * CHUNK), None),
            None => (end, None),
        }
    }

    /// Bytes of memory that the descriptions cost.
    #[cfg(test)]
    pub(crate) fn memory(&self) -> usize {
        let chunks = self.groups.iter().flatten().flat_map(|group| group.iter());
        self.groups.len() * size_of::<Option<Box<[Chunk]>>>()
            + chunks.map(|chunk| size_of::<Chunk>() + chunk.memory()).sum::<usize>()
    }
}

/// What a file keeps of it; the rest follows.
#[derive(Serialize, Deserialize)]
struct Shape<'a> {
    groups: Cow<'a, [Option<Box<[Chunk]>>]>,
    kinds: Cow<'a, [Kind]>,
}

impl Serialize for Extents {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Shape { groups: Cow::Borrowed(&self.groups), kinds: Cow::Borrowed(&self.kinds) }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Extents {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Shape { groups, kinds } = Shape::deserialize(deserializer)?;
        let (groups, kinds) = (groups.into_owned(), kinds.into_owned());
        let ids = kinds.len() as Id + 1;
        let valid = |group: &[Chunk]| group.len() == GROUP && group.iter().all(|chunk| chunk.is_valid(ids));
        if !groups.iter().flatten().all(|group| valid(group)) {
            return Err(D::Error::custom("no card can have written this"));
        }
        let numbered = kinds.iter().zip(1..).map(|(kind, id)| (*kind, id)).collect();
        Ok(Extents { groups, kinds, ids: numbered, recent: None })
    }
}
