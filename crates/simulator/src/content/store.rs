//! The medium by extents: what was written where, and to which address it was said to go. A terabyte of noise is
//! one entry, and a benchmark's write of noise over noise costs two comparisons.

use std::collections::BTreeMap;
use std::ops::Range;

/// What an extent holds. The bytes of a description are those of the address it was written *to*.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// Incompressible bytes.
    Noise,
    /// One byte, repeated.
    Constant(u8),
    /// The stream of a seed.
    Stream(u64),
    /// Stamps of a salt and a generation.
    Stamp(u64, u32),
    /// Bytes kept as such.
    Bytes,
}

/// A run of one content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    /// First byte on the medium.
    pub(crate) start: u64,
    /// Byte behind the last.
    pub(crate) end: u64,
    /// What it holds.
    pub(crate) what: What,
    /// The address it was written to, less its place on the medium.
    pub(crate) shift: i64,
}

/// Extents by their first byte; they do not overlap. What none covers was never written.
#[derive(Debug, Default)]
pub(crate) struct Extents {
    map: BTreeMap<u64, Extent>,
    /// The extent of the last write, which the next one often lies within.
    recent: Option<Extent>,
}

impl Extents {
    /// Notes that the range now holds `what`. Returns true if nothing changed by it.
    #[inline]
    pub(crate) fn write(&mut self, range: Range<u64>, what: What, shift: i64) -> bool {
        if let Some(recent) = &self.recent
            && recent.start <= range.start
            && range.end <= recent.end
            && recent.what == what
            && recent.shift == shift
            && what != What::Bytes
        {
            return true;
        }
        self.insert(range, what, shift);
        false
    }

    #[inline(never)]
    fn insert(&mut self, range: Range<u64>, what: What, shift: i64) {
        self.remove(range.clone());
        let mut new = Extent { start: range.start, end: range.end, what, shift };
        if let Some((_, left)) = self.map.range(..range.start).next_back()
            && left.end == new.start
            && same(left, &new)
        {
            new.start = left.start;
        }
        if let Some(right) = self.map.get(&range.end)
            && same(right, &new)
        {
            new.end = right.end;
            self.map.remove(&range.end);
        }
        self.map.insert(new.start, new);
        self.recent = Some(new);
    }

    /// Forgets the range: it reads as never written.
    pub(crate) fn remove(&mut self, range: Range<u64>) {
        self.recent = None;
        self.split(range.start);
        self.split(range.end);
        let gone: Vec<u64> = self.map.range(range).map(|(start, _)| *start).collect();
        for start in gone {
            self.map.remove(&start);
        }
    }

    /// Cuts the extent that spans `at` in two.
    fn split(&mut self, at: u64) {
        let Some((_, extent)) = self.map.range_mut(..at).next_back() else { return };
        if extent.end > at {
            let right = Extent { start: at, ..*extent };
            extent.end = at;
            self.map.insert(at, right);
        }
    }

    /// The extent that holds `at`, or the gap around it: (end of the gap, nothing).
    pub(crate) fn at(&self, at: u64) -> Result<Extent, u64> {
        match self.map.range(..=at).next_back() {
            Some((_, extent)) if extent.end > at => Ok(*extent),
            _ => Err(self.map.range(at + 1..).next().map_or(u64::MAX, |(start, _)| *start)),
        }
    }

    /// Extents kept.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.map.len()
    }
}

fn same(a: &Extent, b: &Extent) -> bool {
    a.what == b.what && a.shift == b.shift
}
