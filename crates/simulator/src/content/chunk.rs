//! One MiB of the medium: which description each of its sectors holds, in the cheapest of three forms. Random 4 KiB
//! writes of one description over another cost one bit a block, whatever their order.

use serde::{Deserialize, Serialize};

/// Number of a description; [`NOTHING`] where none was ever written.
pub(crate) type Id = u32;

/// Never written, or discarded.
pub(crate) const NOTHING: Id = 0;

/// Bytes of a sector.
pub(super) const SECTOR: u64 = 512;

/// Sectors of a chunk.
pub(super) const SECTORS: u16 = 2048;

/// Sectors of a block, of which the middle form keeps one bit each.
const BLOCK: u16 = 8;

/// Runs below which a bit a block saves nothing.
const FEW: usize = 6;

/// What one MiB holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Chunk {
    /// The same everywhere.
    Same(Id),
    /// One of two in each block of 4 KiB.
    Two(Box<Two>),
    /// Anything.
    Runs(Box<Runs>),
}

/// Two descriptions by blocks of 4 KiB.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Two {
    ids: [Id; 2],
    /// Set where the second one stands.
    second: [u64; 4],
}

/// Runs in order; each ends where the next begins, and the first begins at 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Runs(Vec<(u16, Id)>);

impl Default for Chunk {
    fn default() -> Self {
        Chunk::Same(NOTHING)
    }
}

impl Chunk {
    /// Notes that the sectors `start..end` hold `id`. Returns true if they did already.
    pub(super) fn write(&mut self, start: u16, end: u16, id: Id) -> bool {
        if start == 0 && end == SECTORS {
            let same = matches!(self, Chunk::Same(old) if *old == id);
            *self = Chunk::Same(id);
            return same;
        }
        let blocks = (start | end).is_multiple_of(BLOCK);
        match self {
            Chunk::Same(old) if *old == id => return true,
            Chunk::Same(old) if blocks => {
                let mut two = Box::new(Two { ids: [*old, id], second: [0; 4] });
                two.set(start / BLOCK, end / BLOCK, true);
                *self = Chunk::Two(two);
            }
            Chunk::Two(two) if blocks && two.ids.contains(&id) => {
                let second = two.ids[1] == id;
                two.set(start / BLOCK, end / BLOCK, second);
                if two.second == [if second { u64::MAX } else { 0 }; 4] {
                    *self = Chunk::Same(id);
                }
            }
            _ => self.splice(start, end, id),
        }
        false
    }

    fn splice(&mut self, start: u16, end: u16, id: Id) {
        let mut runs = match std::mem::take(self) {
            Chunk::Runs(runs) => runs,
            other => Box::new(Runs(other.runs().collect())),
        };
        runs.splice(start, end, id);
        *self = simplest(runs);
    }

    /// All runs, in order.
    fn runs(&self) -> impl Iterator<Item = (u16, Id)> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let start = at;
            (start < SECTORS).then(|| {
                let (end, id) = self.at(start);
                at = end;
                (start, id)
            })
        })
    }

    /// What the sector holds, and the sector up to which it is the same.
    pub(super) fn at(&self, sector: u16) -> (u16, Id) {
        match self {
            Chunk::Same(id) => (SECTORS, *id),
            Chunk::Two(two) => two.at(sector),
            Chunk::Runs(runs) => runs.at(sector),
        }
    }

    /// Bytes of memory beside the chunk itself.
    #[cfg(test)]
    pub(super) fn memory(&self) -> usize {
        match self {
            Chunk::Same(_) => 0,
            Chunk::Two(_) => size_of::<Two>(),
            Chunk::Runs(runs) => size_of::<Runs>() + runs.0.capacity() * size_of::<(u16, Id)>(),
        }
    }

    /// Whether it can be what this module made, with descriptions below `ids`.
    pub(super) fn is_valid(&self, ids: Id) -> bool {
        match self {
            Chunk::Same(id) => *id < ids,
            Chunk::Two(two) => two.ids.iter().all(|id| *id < ids),
            Chunk::Runs(runs) => {
                let runs = &runs.0;
                runs.first().is_some_and(|(start, _)| *start == 0)
                    && runs.iter().all(|(start, id)| *start < SECTORS && *id < ids)
                    && runs.is_sorted_by(|a, b| a.0 < b.0)
            }
        }
    }
}

impl Two {
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

    fn at(&self, sector: u16) -> (u16, Id) {
        let block = sector / BLOCK;
        let second = self.second[usize::from(block / 64)] >> (block % 64) & 1;
        let flip = if second == 1 { u64::MAX } else { 0 };
        let mut end = block;
        while end < SECTORS / BLOCK {
            // Bits that differ from the first one's; what lies below `end` in its word is shifted out.
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

impl Runs {
    fn at(&self, sector: u16) -> (u16, Id) {
        let next = self.0.partition_point(|(start, _)| *start <= sector);
        let end = self.0.get(next).map_or(SECTORS, |(start, _)| *start);
        (end, self.0[next - 1].1)
    }

    fn splice(&mut self, start: u16, end: u16, id: Id) {
        let first = self.0.partition_point(|(at, _)| *at < start);
        let last = self.0.partition_point(|(at, _)| *at <= end);
        let left = first.checked_sub(1).map(|i| self.0[i].1);
        // What stood behind the range goes on there, unless it is the same.
        let right = (end < SECTORS).then(|| self.0[last - 1].1).filter(|right| *right != id);
        let new = (left != Some(id)).then_some((start, id));
        self.0.splice(first..last, new.into_iter().chain(right.map(|right| (end, right))));
    }
}

/// The cheapest form of the same.
fn simplest(runs: Box<Runs>) -> Chunk {
    let list = &runs.0;
    if let [(_, id)] = list.as_slice() {
        return Chunk::Same(*id);
    }
    let ids = [list[0].1, list[1].1];
    let two = list.len() >= FEW && list.iter().all(|(start, id)| start % BLOCK == 0 && ids.contains(id));
    if !two {
        return Chunk::Runs(runs);
    }
    let mut made = Box::new(Two { ids, second: [0; 4] });
    for (i, (start, id)) in list.iter().enumerate().filter(|(_, (_, id))| *id == ids[1]) {
        debug_assert_eq!(*id, ids[1]);
        let end = list.get(i + 1).map_or(SECTORS, |(next, _)| *next);
        made.set(start / BLOCK, end / BLOCK, true);
    }
    Chunk::Two(made)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_chunk_holds_what_an_array_of_sectors_would(
            writes in prop::collection::vec((0..256u16, 1..40u16, 0..8u16, 1..4u32), 1..120)
        ) {
            let mut chunk = Chunk::default();
            let mut plain = [NOTHING; SECTORS as usize];
            for (block, blocks, odd, id) in writes {
                // Half of the writes are whole blocks, which keeps the middle form in use.
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
                let (end, id) = chunk.at(at);
                prop_assert!(end > at && plain[usize::from(at)..usize::from(end)].iter().all(|p| *p == id));
                at = end;
            }
        }
    }
}
