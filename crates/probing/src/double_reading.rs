//! Double reading of data before it is overwritten: checksums of a first reading, made with other requests in another
//! order, must equal those of the second, or the data does not count as saved.

use crate::reader_check::read_request;
use cardscope_engine::byte_ranges::ByteRanges;
use cardscope_engine::content::IoContent;
use cardscope_engine::io_driver::{CardExtent, IoCosts, IoDriver, ProbeResult, ReadAnswer, split_extents};
use cardscope_engine::target::IoDirection;
use cardscope_model::random::SeededRandom;
use cardscope_model::suspect_reader::{ReadDifference, ReadStage, SuspectReader};
use std::collections::BTreeMap;

/// Smallest range in bytes that is saved or given up on its own: the cache page of all known fakes, and a multiple of
/// every sector size.
pub const SAVE_UNIT: u32 = 4096;

/// Bytes of other places to be read between two readings of one: no known reader caches as much.
pub const BYTES_BETWEEN_READS: u64 = 8 << 20;

/// The first reading uses the smallest of these requests in bytes for which the fixed cost of a request is a small
/// share.
const REQUEST_SIZES: [u32; 2] = [768 << 10, 3 << 20];
const FIXED_COST_SHARE: f64 = 0.025;

#[derive(Debug)]
pub(crate) struct FirstReading {
    sector: usize,
    requests: BTreeMap<u64, ReadingSums>,
}

#[derive(Debug)]
struct ReadingSums {
    request: CardExtent,
    sectors: Vec<u32>,
}

pub(crate) enum ReadingMatch {
    Equal,
    /// The first reading failed on a part of it.
    Missing,
    Differ(Box<SuspectReader>),
}

impl FirstReading {
    /// Reads `wanted` for the first time, in requests that begin one block earlier and have another size, and then as
    /// many other places as it takes for [`BYTES_BETWEEN_READS`] bytes between the two readings of each byte.
    pub(crate) fn read_first(
        card: &mut IoDriver<'_>,
        wanted: &[CardExtent],
        random: &mut SeededRandom,
    ) -> ProbeResult<Self> {
        let mut ranges = ByteRanges::default();
        wanted.iter().for_each(|extent| drop(ranges.add(extent.offset, extent.end())));
        let size = request_bytes(card.costs(), card.block());
        let requests = shifted_requests(&ranges, size, card.bytes());
        let mut first = FirstReading { sector: card.sector() as usize, requests: BTreeMap::new() };
        let mut failed = Vec::new();
        card.read(reverse_in_halves(requests), IoContent::Buffer, |extent, _, answer| {
            match answer {
                ReadAnswer::Differs { bytes, .. } => first.add_request(extent, bytes),
                ReadAnswer::Same | ReadAnswer::Failed(_) => failed.push(extent),
            }
            Ok(())
        })?;
        first.read_in_parts(card, &failed)?;
        read_other_places(card, &ranges, random)?;
        Ok(first)
    }

    fn add_request(&mut self, request: CardExtent, bytes: &[u8]) {
        let sectors = bytes.chunks(self.sector).map(crc32c::crc32c).collect();
        self.requests.insert(request.offset, ReadingSums { request, sectors });
    }

    /// Reads failed requests again in small parts, since a single bad sector fails a whole request.
    fn read_in_parts(&mut self, card: &mut IoDriver<'_>, failed: &[CardExtent]) -> ProbeResult {
        let part = (SAVE_UNIT / 2).max(self.sector as u32);
        let parts = failed.iter().flat_map(|extent| split_extents(extent.offset, extent.end(), part));
        card.read_bytes(parts, |extent, bytes| self.add_request(extent, bytes))
    }

    pub(crate) fn covers(&self, extent: CardExtent) -> bool {
        let mut offset = extent.offset;
        while offset < extent.end() {
            let Some((_, sums)) = self.checksums_from(offset) else { return false };
            offset += (sums.len() * self.sector) as u64;
        }
        true
    }

    pub(crate) fn compare(&self, extent: CardExtent, bytes: &[u8]) -> ReadingMatch {
        let mut readings = ReadingMatch::Equal;
        let mut rest = bytes.chunks(self.sector).zip((extent.offset..).step_by(self.sector)).peekable();
        while let Some((_, offset)) = rest.peek() {
            let Some((request, sums)) = self.checksums_from(*offset) else {
                rest.next();
                readings = ReadingMatch::Missing;
                continue;
            };
            for ((sector, offset), sum) in rest.by_ref().take(sums.len()).zip(sums) {
                if *sum != crc32c::crc32c(sector) {
                    return self.difference_at(offset, request, extent);
                }
            }
        }
        readings
    }

    /// Request that read the sector at `offset`, and its checksums from there on.
    fn checksums_from(&self, offset: u64) -> Option<(CardExtent, &[u32])> {
        let (start, ReadingSums { request, sectors }) = self.requests.range(..=offset).next_back()?;
        let sums = sectors.get(((offset - start) / self.sector as u64) as usize..)?;
        (!sums.is_empty()).then_some((*request, sums))
    }

    fn difference_at(&self, offset: u64, first: CardExtent, second: CardExtent) -> ReadingMatch {
        let (first, second) = (read_request(first), read_request(second));
        ReadingMatch::Differ(Box::new(SuspectReader {
            stage: ReadStage::Saving,
            reads: self.requests.len() as u64,
            differing_reads: 1,
            differences: vec![ReadDifference { offset, first, second }],
            ended_test: true,
        }))
    }
}

/// Estimated seconds of a first reading of `ios` extents with `bytes` in all, including the reads of other places.
pub(crate) fn estimated_seconds(costs: &IoCosts, block: u32, ios: u64, bytes: u64) -> f64 {
    if ios == 0 {
        return 0.0;
    }
    let requests = ios + bytes / u64::from(request_bytes(costs, block));
    let others = bytes_elsewhere(bytes);
    costs.estimate(IoDirection::Read, requests, bytes)
        + costs.estimate(IoDirection::Read, others.div_ceil(u64::from(block)), others)
}

fn request_bytes(costs: &IoCosts, block: u32) -> u32 {
    let alone = costs.estimate(IoDirection::Read, 1, 0);
    let cost = |bytes: u32| costs.estimate(IoDirection::Read, 1, u64::from(bytes));
    let small = |bytes: &u32| alone <= FIXED_COST_SHARE * cost(*bytes);
    let fits = REQUEST_SIZES.into_iter().filter(|bytes| *bytes < block);
    fits.clone().find(small).or(fits.max()).unwrap_or(block / 2 / SAVE_UNIT * SAVE_UNIT).max(SAVE_UNIT)
}

/// Requests that cover ranges and begin one block earlier, so that none begins where a request of the second reading
/// does. At the very start of a card the first request is shortened instead.
fn shifted_requests(ranges: &ByteRanges, size: u32, card_bytes: u64) -> Vec<CardExtent> {
    let unit = u64::from(SAVE_UNIT);
    let mut covered = ByteRanges::default();
    for (start, end) in ranges.iter() {
        covered.add((start / unit * unit).saturating_sub(unit), end.next_multiple_of(unit).min(card_bytes));
    }
    let cut = |(start, end): (u64, u64)| {
        let head = if start == 0 { end.min(3 * unit) } else { start };
        split_extents(start, head, size).chain(split_extents(head, end, size))
    };
    covered.iter().flat_map(cut).collect()
}

/// Backwards in two halves: at least half of all requests lie between the two readings of each.
fn reverse_in_halves(mut requests: Vec<CardExtent>) -> Vec<CardExtent> {
    requests.reverse();
    let half = requests.len() / 2;
    requests.rotate_left(half);
    requests
}

fn bytes_elsewhere(bytes: u64) -> u64 {
    BYTES_BETWEEN_READS.saturating_sub(bytes / 2).next_multiple_of(u64::from(SAVE_UNIT))
}

fn read_other_places(card: &mut IoDriver<'_>, apart: &ByteRanges, random: &mut SeededRandom) -> ProbeResult {
    let (bytes, unit) = (card.bytes(), u64::from(SAVE_UNIT));
    let len = bytes_elsewhere(apart.bytes()).min(bytes / 2 / unit * unit);
    let mut place = || random.below((bytes - len) / unit + 1) * unit;
    let is_apart = |start: &u64| !apart.intersects(*start, start + len);
    let first = place();
    let start = std::iter::repeat_with(place).take(8).find(is_apart).unwrap_or(first);
    card.read_bytes(split_extents(start, start + len, card.block()), |_, _| ())
}
