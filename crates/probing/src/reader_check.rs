//! Does the reader give the same data however it is asked? Reads of one place in requests of different size, alignment and
//! order, compared with each other, before anything is overwritten that must be restored.
//!
//! Readers are known that repeat the first 64 KiB of a larger request, that flip a bit now and then, and that answer with
//! what the request before asked for (docs/safety.md has the sources, and what this check cannot find).

use cardscope_engine::card::{CardExtent, IoDriver, ProbeStop, ReadAnswer, extents};
use cardscope_engine::content::IoContent;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::target::{IoDirection, Target};
use cardscope_model::random::SeededRandom;
use cardscope_model::report::IoTotals;
use cardscope_model::suspect_reader::{ReadDifference, ReadRequest, ReadStage, SuspectReader};
use cardscope_model::units::Nanos;
use std::collections::{HashMap, HashSet};

/// Bytes of a place that is read in many ways; also the largest request.
pub(crate) const WINDOW: u32 = 1 << 20;

/// Places that are compared.
const WINDOWS: usize = 3;

/// Smaller requests, in bytes.
const SIZES: [u32; 6] = [4 << 10, 16 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10];

/// Requests of each size and place: two on a multiple of their size, two on no multiple of 4 KiB.
const REQUESTS: u32 = 4;

/// Places that are searched for data at most, and small reads of each.
const CANDIDATES: usize = 24;
const SAMPLES: u64 = 4;

/// Bytes of such a read.
const SAMPLE: u32 = 4096;

/// Bytes at the end that are read: more than the sectors that a reader may announce beyond the card's.
const END: u64 = 2 * SAMPLE as u64;

/// Share of the time left that the search for data and the comparison may take.
const TIME_SHARE: f64 = 0.05;

/// Where nothing is preserved the check ends after this, at the end of a place: somebody waits for the question.
const UNASKED: Nanos = 2_000_000_000;

/// Reads of the shortest check: the end, four places sampled, one compared.
pub const LEAST_READS: u64 = END / SAMPLE as u64 + 4 * SAMPLES + WINDOW_READS;
const WINDOW_READS: u64 = 2 + SIZES.len() as u64 * REQUESTS as u64;

/// Seconds that the shortest check takes.
pub(crate) fn least_seconds(card: &IoDriver<'_>) -> f64 {
    card.costs().of(IoDirection::Read, LEAST_READS, 6 * u64::from(WINDOW))
}

/// When a check that begins now must end, so that a test that ends at `end` keeps its time for what it is about.
pub(crate) fn must_end(card: &mut IoDriver<'_>, end: Option<Nanos>) -> Option<Nanos> {
    let now = card.now();
    end.map(|end| now + (end.saturating_sub(now) as f64 * TIME_SHARE) as Nanos)
}

/// Reads a card in many ways before a test that preserves nothing; `None` where all reads agree, or the card holds no data
/// on which a difference would show. Nothing is written; `moved` counts the reads, and those that failed.
///
/// # Errors
/// If the card is gone, or the user stopped it.
pub fn suspect_reader(
    target: &mut dyn Target,
    interrupt: &InterruptFlag,
    moved: &mut IoTotals,
) -> Result<Option<SuspectReader>, ProbeStop> {
    let mut card = IoDriver::new(target, interrupt, WINDOW, 2)?;
    let compared = look(&mut card);
    moved.add_failed(card.counts(), card.io_errors());
    match compared {
        Err(ProbeStop::SuspectReader(reader)) => Ok(Some(SuspectReader { ended_test: false, ..*reader })),
        ended => ended.map(|()| None),
    }
}

fn look(card: &mut IoDriver<'_>) -> Result<(), ProbeStop> {
    let mut random = SeededRandom::new(card.bytes());
    let end = Some(card.now() + UNASKED);
    read_end(card)?;
    let places = places_with_data(card, &mut random, end)?;
    compare_reads(card, &places, &mut random, end)
}

/// Reads the very end of the card: a reader that announces more sectors than the card has fails in the last ones only.
///
/// # Errors
/// As [`Card::read`].
pub(crate) fn read_end(card: &mut IoDriver<'_>) -> Result<(), ProbeStop> {
    let start = card.bytes().saturating_sub(END) / u64::from(SAMPLE) * u64::from(SAMPLE);
    card.read(extents(start, card.bytes(), SAMPLE), IoContent::Buffer, |_, _, _| Ok(()))
}

/// Places that hold data: unlike blocks, none of them one byte repeated. Only there a wrong answer shows.
pub(crate) fn places_with_data(
    card: &mut IoDriver<'_>,
    random: &mut SeededRandom,
    end: Option<Nanos>,
) -> Result<Vec<u64>, ProbeStop> {
    let mut found = Vec::new();
    for (tried, start) in candidates(card.bytes(), random).into_iter().enumerate() {
        let is_over = tried >= 4 && end.is_some_and(|end| card.now() > end);
        if found.len() == WINDOWS || is_over {
            break;
        }
        if holds_data(card, start, random)? {
            found.push(start);
        }
    }
    Ok(found)
}

/// Starts of places: where file systems have their tables and first files, in turn with places all over the card.
fn candidates(card_bytes: u64, random: &mut SeededRandom) -> Vec<u64> {
    let window = u64::from(WINDOW);
    let windows = card_bytes / window;
    let half = CANDIDATES / 2;
    let low = (0..half as u32).map(|n| if n == 0 { 0 } else { 1u64 << (n - 1) });
    let spread: Vec<u64> =
        (0..half as u64).map(|n| windows * n / half as u64 + random.below(windows / half as u64)).collect();
    let mut all: Vec<u64> =
        low.zip(spread).flat_map(|(low, spread)| [low, spread]).filter(|n| *n < windows).collect();
    let mut seen = HashSet::new();
    all.retain(|window| seen.insert(*window));
    all.into_iter().map(|n| n * window).collect()
}

/// True where small reads all over a place give different blocks.
fn holds_data(card: &mut IoDriver<'_>, start: u64, random: &mut SeededRandom) -> Result<bool, ProbeStop> {
    let part = u64::from(WINDOW) / SAMPLES;
    let blocks = part / u64::from(SAMPLE);
    let samples: Vec<CardExtent> = (0..SAMPLES)
        .map(|n| CardExtent {
            offset: start + n * part + random.below(blocks) * u64::from(SAMPLE),
            len: SAMPLE,
        })
        .collect();
    let mut sums = Vec::new();
    card.read(samples, IoContent::Buffer, |_, _, answer| {
        if let ReadAnswer::Differs { bytes, .. } = answer
            && bytes.iter().any(|byte| *byte != bytes[0])
        {
            sums.push(crc32c::crc32c(bytes));
        }
        Ok(())
    })?;
    sums.sort_unstable();
    sums.dedup();
    Ok(sums.len() as u64 >= SAMPLES - 1)
}

/// Reads places of [`WINDOW`] bytes in requests of all sizes, on and off their alignment, in random order over all places.
///
/// # Errors
/// [`Stop::SuspectReader`] where two reads of a sector differ. A request that fails is no difference: it is counted as a
/// failed I/O.
pub(crate) fn compare_reads(
    card: &mut IoDriver<'_>,
    places: &[u64],
    random: &mut SeededRandom,
    end: Option<Nanos>,
) -> Result<(), ProbeStop> {
    let sector = card.sector();
    let mut comparison = ReadComparison { sector: sector as usize, ..ReadComparison::default() };
    // Place by place where time is short, so that what was read of one can be compared.
    let groups: Vec<&[u64]> = if end.is_some() { places.chunks(1).collect() } else { vec![places] };
    for (done, group) in groups.into_iter().enumerate() {
        if done > 0 && end.is_some_and(|end| card.now() > end) {
            break;
        }
        let mut requests: Vec<CardExtent> =
            group.iter().flat_map(|start| requests(*start, sector, random)).collect();
        random.shuffle(&mut requests);
        card.read(requests, IoContent::Buffer, |extent, _, answer| {
            if let ReadAnswer::Differs { bytes, .. } = answer {
                comparison.take(extent, bytes);
            }
            Ok(())
        })?;
    }
    comparison.conclude()
}

/// All requests of one place.
fn requests(start: u64, sector: u32, random: &mut SeededRandom) -> Vec<CardExtent> {
    let whole = CardExtent { offset: start, len: WINDOW };
    let small = CardExtent {
        offset: start + random.below(u64::from(WINDOW / SAMPLE)) * u64::from(SAMPLE),
        len: SAMPLE,
    };
    let mut all = vec![whole, small];
    for len in SIZES {
        for n in 0..REQUESTS {
            let room = u64::from(WINDOW - len);
            let offset = match n < REQUESTS / 2 {
                true => random.below(room / u64::from(len) + 1) * u64::from(len),
                false => {
                    unaligned(random.below(room / u64::from(sector) + 1) * u64::from(sector), sector, room)
                }
            };
            all.push(CardExtent { offset: start + offset, len });
        }
    }
    all
}

/// Moves an offset away from a multiple of 4 KiB, where sectors are smaller than that.
fn unaligned(offset: u64, sector: u32, room: u64) -> u64 {
    let sector = u64::from(sector);
    let is_aligned = offset.is_multiple_of(4096) && sector < 4096;
    match (is_aligned, offset < room) {
        (false, _) => offset,
        (true, true) => offset + sector,
        (true, false) => offset.saturating_sub(sector),
    }
}

/// What each sector was when it was read first, and the reads that differ from that.
#[derive(Debug, Default)]
struct ReadComparison {
    sector: usize,
    sectors: HashMap<u64, (u32, ReadRequest)>,
    reads: u64,
    differing_reads: u64,
    differences: Vec<ReadDifference>,
}

impl ReadComparison {
    fn take(&mut self, extent: CardExtent, bytes: &[u8]) {
        let second = request_of(extent);
        self.reads += 1;
        let mut difference = None;
        for (sector, offset) in bytes.chunks(self.sector).zip((extent.offset..).step_by(self.sector)) {
            let sum = crc32c::crc32c(sector);
            let (known, first) = *self.sectors.entry(offset).or_insert((sum, second));
            if known != sum {
                difference = difference.or(Some(ReadDifference { offset, first, second }));
            }
        }
        if let Some(difference) = difference {
            self.differing_reads += 1;
            if self.differences.len() < SuspectReader::LISTED {
                self.differences.push(difference);
            }
        }
    }

    fn conclude(self) -> Result<(), ProbeStop> {
        let ReadComparison { reads, differing_reads, differences, .. } = self;
        match differing_reads {
            0 => Ok(()),
            _ => Err(ProbeStop::SuspectReader(Box::new(SuspectReader {
                stage: ReadStage::BeforeWriting,
                reads,
                differing_reads,
                differences,
                ended_test: true,
            }))),
        }
    }
}

/// An extent as the request that read it.
pub(crate) fn request_of(extent: CardExtent) -> ReadRequest {
    ReadRequest { offset: extent.offset, len: u64::from(extent.len) }
}
