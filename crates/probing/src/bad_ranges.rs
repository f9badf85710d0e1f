//! Bad sectors as runs: little memory whatever the size of the card, and exact to the sector.

use crate::sector::{SECTOR, judge_sector};
use cardscope_engine::content::{ContentMatch, IoContent, compare_content, constant_byte};
use cardscope_engine::io_driver::CardExtent;
use cardscope_model::verify::SectorFound;
use std::cmp::Reverse;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadKind {
    /// Holds nothing of this test, or an earlier write of it.
    Lost,
    /// Holds data of another address.
    Alias,
    /// Holds its data with a few wrong bits.
    Flipped,
    Failed,
}

impl BadKind {
    pub fn from_result(found: SectorFound) -> Option<BadKind> {
        Some(match found {
            SectorFound::Expected => return None,
            SectorFound::Flipped { .. } => BadKind::Flipped,
            SectorFound::Elsewhere { .. } => BadKind::Alias,
            SectorFound::Error => BadKind::Failed,
            _ => BadKind::Lost,
        })
    }

    /// True if nothing of the written data remains.
    pub fn is_gone(found: SectorFound) -> bool {
        !matches!(BadKind::from_result(found), None | Some(BadKind::Flipped))
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BadBytes {
    /// Hold nothing of this pass.
    pub lost: u64,
    /// Part of `lost` that holds stamps of another pass or other data.
    pub foreign: u64,
    /// Hold data of another address.
    pub alias: u64,
    pub flipped: u64,
    pub failed: u64,
    /// Sectors that were bad in one reading and good in another; not counted as bad.
    pub passing_sectors: u64,
}

impl BadBytes {
    pub fn total(&self) -> u64 {
        self.lost + self.alias + self.flipped + self.failed
    }
}

/// Consecutive sectors that are bad in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadRun {
    pub start: u64,
    pub end: u64,
    pub bad: BadKind,
    /// Distance in bytes to the later address whose data the run holds; 0 if it holds no such data, [`MIXED_DISTANCES`] for
    /// several distances.
    pub(crate) distance: u64,
}

impl BadRun {
    /// Used when memory for runs is full. Aliases never join losses: they are not rewritten as losses are.
    fn adjoins(&self, next: &BadRun) -> bool {
        let alike = self.bad == next.bad || self.bad != BadKind::Alias && next.bad != BadKind::Alias;
        self.end == next.start && alike
    }

    fn continues_with(&self, next: &BadRun) -> bool {
        self.end == next.start && self.bad == next.bad && self.distance == next.distance
    }
}

/// Marks several distances, since 1 is no multiple of any period.
const MIXED_DISTANCES: u64 = 1;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct ForwardDistance {
    bytes: u64,
    first_address: u64,
    longest: u64,
}

/// Consecutive sectors of one reading with the same result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SectorRun {
    pub start: u64,
    pub end: u64,
    pub result: SectorFound,
}

/// 32 MB of memory. Further runs are counted, but not stored.
const MAX_RUNS: usize = 1 << 20;

const MAX_DISTANCES: usize = 256;

const EXAMPLES_PER_KIND: usize = 4;

#[derive(Debug, Clone, Default)]
pub struct BadRanges {
    runs: Vec<BadRun>,
    pub read: u64,
    pub bad: BadBytes,
    distances: BTreeMap<u64, ForwardDistance>,
    /// Latest run of one distance, as long as it is so far.
    current_distance_run: Option<BadRun>,
    highest_stamp_address: u64,
    /// Address, result and the kind under which it is counted.
    examples: Vec<(u64, SectorFound, BadKind)>,
}

impl BadRanges {
    pub fn runs(&self) -> &[BadRun] {
        &self.runs
    }

    /// A few addresses of each kind, with their results.
    pub fn examples(&self) -> impl Iterator<Item = (u64, SectorFound)> {
        self.examples.iter().map(|(address, found, _)| (*address, *found))
    }

    pub fn total_good(&self) -> u64 {
        self.read.saturating_sub(self.bad.total())
    }

    pub fn first_bad(&self) -> Option<u64> {
        self.runs.first().map(|run| run.start)
    }

    /// First address whose data is lost entirely.
    pub fn first_lost(&self) -> Option<u64> {
        self.runs.iter().find(|run| matches!(run.bad, BadKind::Lost | BadKind::Failed)).map(|run| run.start)
    }

    /// Highest address named by a stamp that lies at another address.
    pub fn highest_stamp_address(&self) -> u64 {
        self.highest_stamp_address
    }

    /// Turns aliases into losses unless their distance is a multiple of the period; all of them without a period.
    pub fn reclassify_aliases(&mut self, period: Option<u64>) {
        let shares = |run: &BadRun| period.is_some_and(|period| run.distance.is_multiple_of(period));
        let mut lost = 0;
        for run in self.runs.iter_mut().filter(|run| run.bad == BadKind::Alias && !shares(run)) {
            lost += run.end - run.start;
            *run = BadRun { bad: BadKind::Lost, distance: 0, ..*run };
        }
        // Runs beyond the memory limit were counted and not stored, so the sum over runs may be too small.
        let lost = if period.is_some() { lost } else { self.bad.alias };
        self.bad.alias -= lost;
        self.bad.lost += lost;
        self.merge_adjacent();
    }

    /// Distances with at least `least` bytes whose first address lies before `end`.
    pub fn distances_before(&self, end: u64, least: u64) -> impl Iterator<Item = u64> {
        self.filter_distances(move |seen| seen.bytes >= least && seen.first_address < end)
    }

    /// Distances with a run of at least `least` bytes, or of half the longest run if that is shorter.
    pub fn contiguous_distances(&self, least: u64) -> impl Iterator<Item = u64> {
        let longest = self.distances.values().map(|seen| seen.longest).max().unwrap_or(0);
        self.filter_distances(move |seen| seen.longest >= least.min(longest.div_ceil(2)))
    }

    fn filter_distances(&self, counts: impl Fn(&ForwardDistance) -> bool) -> impl Iterator<Item = u64> {
        self.distances.iter().filter(move |(_, seen)| counts(seen)).map(|(distance, _)| *distance)
    }

    /// Records a run of one distance. A full map drops the distance with the shortest run for a longer one; of equal
    /// ones, the latest.
    fn record_distance(&mut self, run: &BadRun) {
        let (ahead, full) = (run.distance, self.distances.len() >= MAX_DISTANCES);
        let before = self.current_distance_run.filter(|last| last.end == run.start && last.distance == ahead);
        let whole = BadRun { start: before.map_or(run.start, |last| last.start), ..*run };
        self.current_distance_run = Some(whole);
        let in_a_row = whole.end - whole.start;
        if full && !self.distances.contains_key(&ahead) {
            let rank =
                |(at, seen): (&u64, &ForwardDistance)| (seen.longest, Reverse(seen.first_address), *at);
            match self.distances.iter().map(rank).min() {
                Some((longest, _, distance)) if longest < in_a_row => self.distances.remove(&distance),
                _ => return,
            };
        }
        let new = ForwardDistance { bytes: run.start - whole.start, first_address: whole.start, longest: 0 };
        let seen = self.distances.entry(ahead).or_insert(new);
        seen.bytes += run.end - run.start;
        seen.first_address = whole.start.min(seen.first_address);
        seen.longest = in_a_row.max(seen.longest);
    }

    /// Adds a run of one reading. Runs must come in order of address.
    pub fn add_run(&mut self, seen: &SectorRun) {
        let bad = match (seen.result, BadKind::from_result(seen.result)) {
            (_, None) => return,
            // Addresses are written in order, so only a later address can have overwritten this one.
            (SectorFound::Elsewhere { address }, _) if address < seen.start => BadKind::Lost,
            (_, Some(bad)) => bad,
        };
        let len = seen.end - seen.start;
        *match bad {
            BadKind::Lost => &mut self.bad.lost,
            BadKind::Alias => &mut self.bad.alias,
            BadKind::Flipped => &mut self.bad.flipped,
            BadKind::Failed => &mut self.bad.failed,
        } += len;
        match seen.result {
            // Erased flash reads as zeros or ones.
            SectorFound::Constant { byte: 0x00 | 0xff } => {}
            SectorFound::Foreign { .. } | SectorFound::Other | SectorFound::Constant { .. } => {
                self.bad.foreign += len;
            }
            SectorFound::Elsewhere { address } => {
                self.highest_stamp_address = self.highest_stamp_address.max(address);
            }
            _ => {}
        }
        let run = BadRun { start: seen.start, end: seen.end, bad, distance: forward_distance(seen) };
        if run.distance > 0 {
            self.record_distance(&run);
        }
        if self.examples.iter().filter(|(_, _, sort)| *sort == bad).count() < EXAMPLES_PER_KIND {
            self.examples.push((seen.start, seen.result, bad));
        }
        let room = self.runs.len() < MAX_RUNS;
        match self.runs.last_mut() {
            Some(last) if last.continues_with(&run) || !room && last.adjoins(&run) => extend_run(last, &run),
            _ if room => self.runs.push(run),
            _ => {}
        }
    }

    /// Adds sectors that read as good from a cache and proved to be lost afterwards.
    pub fn add_unmasked(&mut self, lost: &[SectorRun]) {
        lost.iter().for_each(|run| self.add_run(run));
        self.merge_adjacent();
    }

    fn merge_adjacent(&mut self) {
        self.runs.sort_unstable_by_key(|run| run.start);
        self.runs.dedup_by(|next, run| {
            let goes_on = run.continues_with(next);
            if goes_on {
                extend_run(run, next);
            }
            goes_on
        });
    }

    pub fn good_bytes(&self, from: u64, to: u64) -> u64 {
        self.good_ranges(from, to).iter().map(|(from, to)| to - from).sum()
    }

    /// Good ranges in `from..to`.
    pub fn good_ranges(&self, from: u64, to: u64) -> Vec<(u64, u64)> {
        let mut ranges = Vec::new();
        let mut at = from;
        let first = self.runs.partition_point(|run| run.end <= from);
        for run in self.runs[first..].iter().take_while(|run| run.start < to) {
            if run.start > at {
                ranges.push((at, run.start));
            }
            at = at.max(run.end);
        }
        if at < to {
            ranges.push((at, to));
        }
        ranges
    }
}

/// 0 if the data belongs to no later address.
fn forward_distance(seen: &SectorRun) -> u64 {
    let SectorFound::Elsewhere { address } = seen.result else { return 0 };
    address.saturating_sub(seen.start)
}

/// Extends a run by the one that follows it. Runs of two kinds, joined when memory is full, count as lost.
fn extend_run(run: &mut BadRun, next: &BadRun) {
    run.end = next.end;
    if run.bad != next.bad {
        (run.bad, run.distance) = (BadKind::Lost, 0);
    } else if run.distance != next.distance {
        run.distance = MIXED_DISTANCES;
    }
}

/// Judges the sectors of one read. Returns runs by address, good ones included.
pub(crate) fn judge_sectors(bytes: &[u8], extent: CardExtent, salt: u64, generation: u32) -> Vec<SectorRun> {
    let whole = |found| vec![SectorRun { start: extent.offset, end: extent.end(), result: found }];
    if let Some(byte) = constant_byte(bytes) {
        return whole(SectorFound::Constant { byte });
    }
    if compare_content(IoContent::Stamp { salt, generation }, extent.offset, bytes) == ContentMatch::Same {
        return whole(SectorFound::Expected);
    }
    let mut runs: Vec<SectorRun> = Vec::new();
    for (start, sector) in (extent.offset..).step_by(SECTOR).zip(bytes.chunks(SECTOR)) {
        let (result, end) = (judge_sector(sector, start, salt, generation), start + SECTOR as u64);
        match runs.last_mut() {
            Some(last) if is_same_run(last, result, start) => last.end = end,
            _ => runs.push(SectorRun { start, end, result }),
        }
    }
    runs
}

/// Data of another address forms one run as long as the distance stays the same.
fn is_same_run(last: &SectorRun, found: SectorFound, at: u64) -> bool {
    match (last.result, found) {
        (SectorFound::Elsewhere { address: before }, SectorFound::Elsewhere { address: now }) => {
            now.wrapping_sub(at) == before.wrapping_sub(last.start)
        }
        (SectorFound::Foreign { salt: before, .. }, SectorFound::Foreign { salt: now, .. }) => before == now,
        // Flips are counted one by one.
        (SectorFound::Flipped { .. }, _) => false,
        (before, now) => before == now,
    }
}

pub fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Returns the greatest common divisor of all distances, or `None` if there are none.
pub fn common_divisor(distances: impl IntoIterator<Item = u64>) -> Option<u64> {
    distances.into_iter().reduce(gcd)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_engine::content::fill_content;

    fn extent(offset: u64, len: u32) -> CardExtent {
        CardExtent { offset, len }
    }

    fn stamped(address: u64, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        fill_content(IoContent::Stamp { salt: 7, generation: 1 }, address, &mut bytes);
        bytes
    }

    #[test]
    fn alias_data_forms_one_run_with_distance() {
        let bytes = stamped(1 << 20, 8192);
        let runs = judge_sectors(&bytes, extent(0, 8192), 7, 1);
        assert_eq!(
            runs,
            [SectorRun { start: 0, end: 8192, result: SectorFound::Elsewhere { address: 1 << 20 } }]
        );
        let mut ledger = BadRanges { read: 8192, ..BadRanges::default() };
        ledger.add_run(&runs[0]);
        assert_eq!(ledger.contiguous_distances(1).collect::<Vec<_>>(), [1 << 20]);
        assert_eq!((ledger.bad.alias, ledger.total_good()), (8192, 0));
    }

    #[test]
    fn hole_is_located_to_the_sector() {
        let mut bytes = stamped(0, 65536);
        bytes[1024..4096].fill(0);
        bytes[60000] ^= 4;
        let runs = judge_sectors(&bytes, extent(0, 65536), 7, 1);
        let found: Vec<(u64, u64)> =
            runs.iter().filter(|r| r.result != SectorFound::Expected).map(|r| (r.start, r.end)).collect();
        assert_eq!(found, [(1024, 4096), (59904, 60416)]);
    }

    #[test]
    fn losses_hidden_by_cache_merge_with_earlier_runs() {
        let lost = |start, end| SectorRun { start, end, result: SectorFound::Constant { byte: 0 } };
        let mut ledger = BadRanges { read: 1 << 20, ..BadRanges::default() };
        ledger.add_run(&lost(4096, 8192));
        assert_eq!(ledger.good_ranges(0, 16384), [(0, 4096), (8192, 16384)]);
        ledger.add_unmasked(&[lost(8192, 16384)]);
        assert_eq!(ledger.runs(), [BadRun { start: 4096, end: 16384, bad: BadKind::Lost, distance: 0 }]);
        assert_eq!(ledger.total_good(), (1 << 20) - 12288);
    }

    #[test]
    fn period_is_common_divisor_of_distances() {
        let (mib, odd) = (1 << 20, 18_350_592);
        assert_eq!(common_divisor([256 * mib]), Some(256 * mib));
        assert_eq!(common_divisor([3 * odd, 2 * odd, odd]), Some(odd));
        assert_eq!(common_divisor([3 * odd, 2 * odd]), Some(odd), "also where no two copies are neighbours");
        assert_eq!(
            common_divisor([256 * mib, 256 * mib - 4096]),
            Some(4096),
            "gaps of a file system are no period"
        );
        assert_eq!((common_divisor([]), gcd(7, 0)), (None, 7));
    }
}
