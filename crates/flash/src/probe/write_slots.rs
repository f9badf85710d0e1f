//! Positions for writes: in different erase blocks, away from the card's start, where file systems keep data that
//! is the worst to lose. Used positions that have rested are preferred to unused ones, since the card copies every
//! touched block once more when its data is restored: 0.6 s each on the card of
//! docs/reference/reports.md#lexar-review.

use cardscope_engine::target::TargetRegion;
use cardscope_model::random::SeededRandom;
use cardscope_model::units::MIB;
use std::collections::VecDeque;

/// Common boundary of all erase blocks on record: the largest are 64 and 48 MiB.
pub(super) const EVERY_UNIT: u64 = 192 * MIB;

const MIN_SLOTS: u64 = 8;

/// Distances between positions in units, most preferred first. The first ones are for an assumed unit.
const DISTANCES: [usize; 5] = [16, 8, 4, 2, 1];

/// Number of those distances to skip if the unit is known.
const SKIPPED_IF_MEASURED: usize = 2;

/// Recently used positions that are not reused; more than a card keeps open.
const RECENT_SLOTS: usize = 40;

/// Usable bytes at a position if the unit is assumed: the smallest erase block.
const SMALLEST_BLOCK: u64 = MIB;

#[derive(Debug, Clone)]
pub(super) struct WriteSlots {
    first: u64,
    unit: u64,
    is_measured: bool,
    used: Vec<bool>,
    /// Slots used last, which the card may still keep open.
    recent: VecDeque<usize>,
}

impl WriteSlots {
    /// Divides the region from address `from` into units; `known` is false for an assumed unit. Returns `None` if
    /// there are too few.
    pub(super) fn new(region: TargetRegion, unit: u64, known: bool, from: u64) -> Option<WriteSlots> {
        let first = region.start.max(from).div_ceil(unit) * unit;
        let count = region.end().saturating_sub(first) / unit;
        (count >= MIN_SLOTS).then(|| WriteSlots {
            first,
            unit,
            is_measured: known,
            used: vec![false; count as usize],
            recent: VecDeque::new(),
        })
    }

    /// Bytes of an erase block, measured or assumed.
    pub(super) fn unit(&self) -> u64 {
        self.unit
    }

    /// Bytes from the start of a slot that certainly lie in one erase block.
    pub(super) fn certain_bytes(&self) -> u64 {
        if self.is_measured { self.unit } else { self.unit.min(SMALLEST_BLOCK) }
    }

    pub(super) fn contains_range(&self, start: u64, end: u64) -> bool {
        start >= self.first && end <= self.first + self.bytes()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.used.len() as u64 * self.unit
    }

    /// `n` slots that were not used recently, or `None` if there are fewer.
    pub(super) fn take_slots(&mut self, n: usize, random: &mut SeededRandom) -> Option<Vec<u64>> {
        let steps = &DISTANCES[if self.is_measured { SKIPPED_IF_MEASURED } else { 0 }..];
        let found = steps.iter().find_map(|apart| self.pick_slots(n, *apart, random))?;
        self.mark_used(found.iter().copied());
        Some(found.iter().map(|i| self.slot_start(*i)).collect())
    }

    fn mark_used(&mut self, taken: impl Iterator<Item = usize>) {
        for i in taken {
            self.used[i] = true;
            self.recent.push_back(i);
        }
        let old = self.recent.len().saturating_sub(RECENT_SLOTS);
        self.recent.drain(..old);
    }

    /// Range of `bytes` at a multiple of `align`, unused if possible, else not used recently.
    pub(super) fn take_range(&mut self, bytes: u64, align: u64, random: &mut SeededRandom) -> Option<u64> {
        let slots = bytes.div_ceil(self.unit) as usize;
        let last = self.used.len().checked_sub(slots)?;
        let aligned: Vec<usize> = (0..=last).filter(|i| self.slot_start(*i).is_multiple_of(align)).collect();
        let unused = |i: &usize| !self.used[*i..*i + slots].contains(&true);
        let rested = |i: &usize| !self.recent.iter().any(|r| (*i..*i + slots).contains(r));
        let mut free: Vec<usize> = aligned.iter().copied().filter(unused).collect();
        if free.is_empty() {
            free = aligned.into_iter().filter(rested).collect();
        }
        let chosen = *free.get(random.below(free.len().max(1) as u64) as usize)?;
        self.mark_used(chosen..chosen + slots);
        Some(self.slot_start(chosen))
    }

    /// Start of a random range of `bytes`, used or not.
    pub(super) fn random_span(&self, bytes: u64, random: &mut SeededRandom) -> Option<u64> {
        let slots = bytes.div_ceil(self.unit) as usize;
        let last = self.used.len().checked_sub(slots)?;
        Some(self.slot_start(random.below(last as u64 + 1) as usize))
    }

    fn slot_start(&self, slot: usize) -> u64 {
        self.first + slot as u64 * self.unit
    }

    /// Rested slots in random order, then unused ones.
    fn pick_slots(&self, n: usize, apart: usize, random: &mut SeededRandom) -> Option<Vec<usize>> {
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
        fn taken_slots_are_rested_aligned_and_inside_the_region(
            start in 0u64..1 << 34, mib in 8u64..4096, unit in prop::sample::select(vec![1u64, 4, 6, 24]), seed: u64,
        ) {
            let region = TargetRegion { start, len: mib * MIB };
            let Some(mut slots) = WriteSlots::new(region, unit * MIB, true, CARD_START) else { return Ok(()) };
            let mut random = SeededRandom::new(seed);
            let mut seen: Vec<u64> = Vec::new();
            for n in [1usize, 2, 3, 5, 8, 13, 1, 2, 3] {
                let Some(places) = slots.take_slots(n, &mut random) else { break };
                prop_assert_eq!(places.len(), n);
                for place in places {
                    prop_assert!(!seen.iter().rev().take(RECENT_SLOTS).any(|s| *s == place), "{} was used before", place);
                    seen.push(place);
                    prop_assert!(place >= CARD_START.max(start) && place + unit * MIB <= start + mib * MIB);
                    prop_assert!(place.is_multiple_of(unit * MIB));
                }
            }
        }
    }

    #[test]
    fn range_avoids_used_slots() {
        let region = TargetRegion { start: 0, len: 1024 * MIB };
        let mut slots = WriteSlots::new(region, 4 * MIB, false, CARD_START).unwrap();
        let mut random = SeededRandom::new(1);
        let places = slots.take_slots(20, &mut random).unwrap();
        let range = slots.take_range(100 * MIB, 4 * MIB, &mut random).unwrap();
        assert!(range.is_multiple_of(4 * MIB));
        for place in places {
            assert!(place + 4 * MIB <= range || place >= range + 100 * MIB);
        }
    }
}
