//! Evicts caches that hide losses: rewrites lost ranges until a cache no longer holds data of others.

use super::pass_verdict::WriteEnd;
use super::{FullPass, GENERATION};
use crate::probe::Result;
use cardscope_engine::io_driver::{CardExtent, split_extents};
use cardscope_probing::bad_ranges::{BadKind, SectorRun};
use cardscope_probing::reading::{bad_in_both, read_judged};

/// Most bytes of lost ranges that are rewritten: twice the largest cache that `verify --thorough` detects.
const MAX_REWRITTEN: u64 = 4 << 30;

/// Contiguous bytes before the end that must survive a write of as many elsewhere, before data in front of them is
/// trusted.
const MAX_DOUBTED: u64 = 4 << 30;

/// Bytes before the first loss that are tested as well, as a cache may hold the last lost ones there. Doubled after
/// each round that finds losses among them.
const DOUBTED_BEFORE_LOSS: u64 = 1 << 20;

/// Bytes to rewrite if only these are in doubt, more than any cache on record.
const MAX_REWRITTEN_BEFORE_LOSS: u64 = 512 << 20;

/// Rounds of writing and reading. Each at least doubles the lost bytes after the first loss, or the tested ones
/// before it.
const MAX_ROUNDS: u32 = 24;

/// Start and end of each range, in order.
type RangeList = Vec<(u64, u64)>;

impl FullPass<'_, '_> {
    /// Rewrites lost ranges until no more losses appear, since a cache holds only a limited number of lost blocks.
    pub(super) fn evict_cache(&mut self) -> Result<()> {
        let whole = self.evict_in_rounds()?;
        self.is_good_unknown = !whole;
        self.record_check("whether a cache answers for more that is lost", whole);
        Ok(())
    }

    /// Returns true if the limits did not end it.
    fn evict_in_rounds(&mut self) -> Result<bool> {
        let (end, sector) = (self.evidence.written, self.card.sector());
        let mut in_front = DOUBTED_BEFORE_LOSS;
        for round in 0..MAX_ROUNDS {
            let Some(first) = self.ledger.first_lost() else { return Ok(true) };
            let good = |from, to| shrink_to_sectors(self.ledger.good_ranges(from, to), sector);
            let behind = last_bytes(good(first, end), MAX_DOUBTED);
            let front = good(first.saturating_sub(in_front), first);
            let lost = self.ranges_to_rewrite(&behind);
            let room = self.remaining_bytes();
            let whole = total_bytes(&lost) <= room;
            if lost.is_empty() || behind.is_empty() && front.is_empty() {
                return Ok(true);
            }
            let block = self.card.block();
            self.write_stamps(split_into_blocks(&last_bytes(lost, room), block), 2 + round)?;
            let found = self.confirmed_losses(&[front, behind].concat())?;
            self.hidden_by_cache += found.iter().map(|s| s.end - s.start).sum::<u64>();
            found.iter().for_each(|seen| self.chart.add_bad(seen.start, seen.end));
            self.ledger.add_unmasked(&found);
            self.ledger.reclassify_aliases(self.evidence.wrap);
            if !whole || found.is_empty() {
                return Ok(whole);
            }
            if found.iter().any(|seen| seen.start < first) {
                in_front *= 2;
            }
        }
        Ok(false)
    }

    /// Lost ranges, and enough beyond the end to evict the doubtful data after the first loss. The range beyond a
    /// known end is written too, since a cache with a slot per address evicts data only for an address of the same
    /// slot.
    fn ranges_to_rewrite(&self, behind: &[(u64, u64)]) -> RangeList {
        let lost = self.ledger.runs().iter().filter(|run| matches!(run.bad, BadKind::Lost | BadKind::Failed));
        let mut list: RangeList = lost.map(|run| (run.start, run.end)).collect();
        let nothing_beyond = matches!(self.evidence.write_end, Some(WriteEnd::EndsAt(_)))
            && self.evidence.sentinels_good * 2 <= self.evidence.sentinels;
        if nothing_beyond && !list.is_empty() && !behind.is_empty() {
            let beyond = self.evidence.written.saturating_add(total_bytes(behind).saturating_mul(2));
            list.push((self.evidence.written, beyond.min(self.card.bytes())));
        }
        let most = if behind.is_empty() { MAX_REWRITTEN_BEFORE_LOSS } else { MAX_REWRITTEN };
        last_bytes(extend_to_sectors(list, self.card.sector()), most)
    }

    /// Losses in some ranges that two reads agree on, each after reopening the card.
    fn confirmed_losses(&mut self, ranges: &[(u64, u64)]) -> Result<Vec<SectorRun>> {
        let list: Vec<CardExtent> = split_into_blocks(ranges, self.card.block()).collect();
        let (places, first) = self.read_lost(&list)?;
        if places.is_empty() {
            return Ok(first);
        }
        let (_, second) = self.read_lost(&places)?;
        Ok(bad_in_both(&first, &second).0)
    }

    fn read_lost(&mut self, list: &[CardExtent]) -> Result<(Vec<CardExtent>, Vec<SectorRun>)> {
        self.card.reopen()?;
        let (mut places, mut found) = (Vec::new(), Vec::new());
        read_judged(self.card, list.iter().copied(), self.stamps_of(GENERATION), |extent, _, seen| {
            let before = found.len();
            found.extend(seen.iter().filter(|seen| BadKind::is_gone(seen.result)));
            places.extend((found.len() > before).then_some(extent));
        })?;
        // Failed extents are reported last.
        places.sort_unstable_by_key(|extent| extent.offset);
        found.sort_unstable_by_key(|seen: &SectorRun| seen.start);
        Ok((places, found))
    }
}

pub(super) fn total_bytes(ranges: &[(u64, u64)]) -> u64 {
    ranges.iter().map(|(from, to)| to - from).sum()
}

pub(super) fn split_into_blocks(ranges: &[(u64, u64)], block: u32) -> impl Iterator<Item = CardExtent> {
    ranges.iter().flat_map(move |(from, to)| split_extents(*from, *to, block))
}

/// Parts of ranges that consist of whole device sectors.
pub(super) fn shrink_to_sectors(ranges: RangeList, sector: u32) -> RangeList {
    let sector = u64::from(sector);
    let within = |(from, to): (u64, u64)| (from.next_multiple_of(sector), to / sector * sector);
    ranges.into_iter().map(within).filter(|(from, to)| from < to).collect()
}

fn extend_to_sectors(ranges: RangeList, sector: u32) -> RangeList {
    let sector = u64::from(sector);
    let mut around: RangeList = Vec::with_capacity(ranges.len());
    for (from, to) in ranges {
        let (from, to) = (from / sector * sector, to.next_multiple_of(sector));
        match around.last_mut() {
            Some(last) if last.1 >= from => last.1 = to,
            _ => around.push((from, to)),
        }
    }
    around
}

fn last_bytes(ranges: RangeList, most: u64) -> RangeList {
    let mut left = most;
    let mut last = RangeList::new();
    for (from, to) in ranges.into_iter().rev() {
        if left == 0 {
            break;
        }
        let len = (to - from).min(left);
        left -= len;
        last.push((to - len, to));
    }
    last.reverse();
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_aligned_to_whole_sectors() {
        let ranges = vec![(512, 9000), (12_288, 12_800), (13_312, 20_480)];
        assert_eq!(shrink_to_sectors(ranges.clone(), 4096), [(4096, 8192), (16_384, 20_480)]);
        assert_eq!(extend_to_sectors(ranges, 4096), [(0, 20_480)]);
        assert_eq!(extend_to_sectors(vec![(512, 1024), (8192, 8704)], 4096), [(0, 4096), (8192, 12_288)]);
        assert_eq!(shrink_to_sectors(vec![(512, 1024)], 512), [(512, 1024)]);
    }

    #[test]
    fn last_bytes_of_ranges_come_first() {
        assert_eq!(last_bytes(vec![(0, 100), (200, 250)], 80), [(70, 100), (200, 250)]);
        assert_eq!(last_bytes(vec![(0, 100)], 1000), [(0, 100)]);
    }
}
