//! Where a map writes: places far enough apart to lie in erase blocks of their own, and away from the start of the
//! card, where file systems keep what hurts most to lose. A place that rested is taken again before a fresh one: each
//! block that was touched is copied once more by the card when its content is restored: 0.6 s each on the card of
//! docs/reference/reports.md#lexar-review.

use cardscope_engine::target::TargetRegion;
use cardscope_model::random::SeededRandom;
use cardscope_model::units::MIB;
use std::collections::VecDeque;

/// A boundary of every erase block known: 64 and 48 MiB are the largest of powers of two and of three times such.
pub(super) const EVERY_UNIT: u64 = 192 * MIB;

/// Fewer places than these are too few to compare anything.
const LEAST_PLACES: u64 = 8;

/// Least distance of places, in units, from what is wanted down to what there is room for; it is larger where the unit
/// is only a stand-in.
const APART: [usize; 5] = [16, 8, 4, 2, 1];

/// How many of those steps are left out where the unit is known.
const KNOWN: usize = 2;

/// Places taken last that are not taken again yet: more than a card keeps open.
const RECENT: usize = 40;

/// Inside a place whose unit is not known for sure only so much is used: the smallest erase block there is.
const SURELY_INSIDE: u64 = MIB;

/// The part of the card that may be written to, in places of one erase block each.
#[derive(Debug, Clone)]
pub(super) struct WriteSlots {
    first: u64,
    unit: u64,
    known: bool,
    used: Vec<bool>,
    /// Slots taken last: some of them may still be open.
    recent: VecDeque<usize>,
}

impl WriteSlots {
    /// Places of `unit` bytes, known to be an erase block or only thought to, in a region from address `from` on.
    /// `None` where there are too few.
    pub(super) fn new(region: TargetRegion, unit: u64, known: bool, from: u64) -> Option<WriteSlots> {
        let first = region.start.max(from).div_ceil(unit) * unit;
        let count = region.end().saturating_sub(first) / unit;
        (count >= LEAST_PLACES).then(|| WriteSlots {
            first,
            unit,
            known,
            used: vec![false; count as usize],
            recent: VecDeque::new(),
        })
    }

    /// Bytes of a place: the erase block, or what stands for it.
    pub(super) fn unit(&self) -> u64 {
        self.unit
    }

    /// Bytes from the start of a place that lie in one erase block for sure.
    pub(super) fn inside(&self) -> u64 {
        if self.known { self.unit } else { self.unit.min(SURELY_INSIDE) }
    }

    /// Whether the bytes from `start` to `end` lie in it.
    pub(super) fn holds(&self, start: u64, end: u64) -> bool {
        start >= self.first && end <= self.first + self.bytes()
    }

    /// All bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.used.len() as u64 * self.unit
    }

    /// `n` places of which none was taken lately. `None` where there are not so many.
    pub(super) fn take(&mut self, n: usize, random: &mut SeededRandom) -> Option<Vec<u64>> {
        let steps = &APART[if self.known { KNOWN } else { 0 }..];
        let found = steps.iter().find_map(|apart| self.pick(n, *apart, random))?;
        self.note(found.iter().copied());
        Some(found.iter().map(|i| self.at(*i)).collect())
    }

    fn note(&mut self, taken: impl Iterator<Item = usize>) {
        for i in taken {
            self.used[i] = true;
            self.recent.push_back(i);
        }
        let old = self.recent.len().saturating_sub(RECENT);
        self.recent.drain(..old);
    }

    /// A range of `bytes` bytes from a multiple of `align` on that was not used before, or else not lately.
    pub(super) fn range(&mut self, bytes: u64, align: u64, random: &mut SeededRandom) -> Option<u64> {
        let slots = bytes.div_ceil(self.unit) as usize;
        let last = self.used.len().checked_sub(slots)?;
        let aligned: Vec<usize> = (0..=last).filter(|i| self.at(*i).is_multiple_of(align)).collect();
        let unused = |i: &usize| !self.used[*i..*i + slots].contains(&true);
        let rested = |i: &usize| !self.recent.iter().any(|r| (*i..*i + slots).contains(r));
        let mut free: Vec<usize> = aligned.iter().copied().filter(unused).collect();
        if free.is_empty() {
            free = aligned.into_iter().filter(rested).collect();
        }
        let chosen = *free.get(random.below(free.len().max(1) as u64) as usize)?;
        self.note(chosen..chosen + slots);
        Some(self.at(chosen))
    }

    /// The start of a range of `bytes` bytes at random, used before or not.
    pub(super) fn span(&self, bytes: u64, random: &mut SeededRandom) -> Option<u64> {
        let slots = bytes.div_ceil(self.unit) as usize;
        let last = self.used.len().checked_sub(slots)?;
        Some(self.at(random.below(last as u64 + 1) as usize))
    }

    fn at(&self, slot: usize) -> u64 {
        self.first + slot as u64 * self.unit
    }

    /// Those that rested first, in random order, then those never used.
    fn pick(&self, n: usize, apart: usize, random: &mut SeededRandom) -> Option<Vec<usize>> {
        let mut chosen: Vec<usize> = Vec::with_capacity(n);
        let ready = |i: &usize| !self.recent.contains(i);
        let (mut rested, mut fresh): (Vec<usize>, Vec<usize>) =
            (0..self.used.len()).filter(ready).partition(|i| self.used[*i]);
        for free in [&mut rested, &mut fresh] {
            while chosen.len() < n && !free.is_empty() {
                let i = free.swap_remove(random.below(free.len() as u64) as usize);
                if chosen.iter().all(|c| c.abs_diff(i) >= apart) {
                    chosen.push(i);
                }
            }
        }
        (chosen.len() == n).then_some(chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_probing::context::CARD_START;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_have_rested_lie_inside_and_begin_on_a_boundary(
            start in 0u64..1 << 34, mib in 8u64..4096, unit in prop::sample::select(vec![1u64, 4, 6, 24]), seed: u64,
        ) {
            let region = TargetRegion { start, len: mib * MIB };
            let Some(mut slots) = WriteSlots::new(region, unit * MIB, true, CARD_START) else { return Ok(()) };
            let mut random = SeededRandom::new(seed);
            let mut seen: Vec<u64> = Vec::new();
            for n in [1usize, 2, 3, 5, 8, 13, 1, 2, 3] {
                let Some(places) = slots.take(n, &mut random) else { break };
                prop_assert_eq!(places.len(), n);
                for place in places {
                    prop_assert!(!seen.iter().rev().take(RECENT).any(|s| *s == place), "{} was used before", place);
                    seen.push(place);
                    prop_assert!(place >= CARD_START.max(start) && place + unit * MIB <= start + mib * MIB);
                    prop_assert!(place.is_multiple_of(unit * MIB));
                }
            }
        }
    }

    #[test]
    fn a_range_keeps_off_what_was_written() {
        let region = TargetRegion { start: 0, len: 1024 * MIB };
        let mut slots = WriteSlots::new(region, 4 * MIB, false, CARD_START).unwrap();
        let mut random = SeededRandom::new(1);
        let places = slots.take(20, &mut random).unwrap();
        let range = slots.range(100 * MIB, 4 * MIB, &mut random).unwrap();
        assert!(range.is_multiple_of(4 * MIB));
        for place in places {
            assert!(place + 4 * MIB <= range || place >= range + 100 * MIB);
        }
    }
}
