//! Test of the card reader before data is overwritten that must be restored: reads of one place with different size,
//! alignment and order must return the same data.
//!
//! Some readers repeat the first 64 KiB of a larger request, flip a bit now and then, or answer with the data of the
//! previous request (docs/safety.md has the sources, and what this check cannot find).

use cardscope_engine::content::constant_byte;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::io_driver::{CardExtent, IoDriver, ProbeResult, ProbeStop, split_extents};
use cardscope_engine::target::{IoDirection, Target};
use cardscope_model::random::SeededRandom;
use cardscope_model::report::IoTotals;
use cardscope_model::suspect_reader::{ReadDifference, ReadRequest, ReadStage, SuspectReader};
use cardscope_model::units::Nanos;
use std::collections::{HashMap, HashSet};

/// Bytes of a compared place, and of the largest request.
pub(crate) const PLACE_BYTES: u32 = 1 << 20;

const PLACES: usize = 3;

const REQUEST_SIZES: [u32; 6] = [4 << 10, 16 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10];

/// Per size and place: two on a multiple of their size, two on no multiple of 4 KiB.
const REQUESTS_PER_SIZE: u32 = 4;

const MAX_CANDIDATES: usize = 24;
const SAMPLES_PER_PLACE: u64 = 4;

const SAMPLE_BYTES: u32 = 4096;

/// More than the sectors that a reader may announce beyond the end of the card.
const END_BYTES: u64 = 2 * SAMPLE_BYTES as u64;

const TIME_SHARE: f64 = 0.05;

/// Without data to preserve the check ends after this, at the end of a place: the user waits for the prompt that
/// follows.
const UNSAVED_CHECK_LIMIT: Nanos = 2_000_000_000;

/// Reads of the shortest check: the end of the card, samples of four places, and one place compared.
pub const MIN_CHECK_READS: u64 = END_BYTES / SAMPLE_BYTES as u64 + 4 * SAMPLES_PER_PLACE + READS_PER_PLACE;
const READS_PER_PLACE: u64 = 2 + REQUEST_SIZES.len() as u64 * REQUESTS_PER_SIZE as u64;

pub(crate) fn min_check_seconds(card: &IoDriver<'_>) -> f64 {
    card.costs().estimate(IoDirection::Read, MIN_CHECK_READS, 6 * u64::from(PLACE_BYTES))
}

/// Deadline of a check that begins now: a small share of the time until `end`, which the test itself needs.
pub(crate) fn check_deadline(card: &mut IoDriver<'_>, end: Option<Nanos>) -> Option<Nanos> {
    let now = card.now();
    end.map(|end| now + (end.saturating_sub(now) as f64 * TIME_SHARE) as Nanos)
}

/// Checks the reader before a test that preserves nothing. Returns `None` if all reads agree, or the card holds no data
/// that would show a difference. `moved` counts reads and failures.
pub fn check_reader(
    target: &mut dyn Target,
    interrupt: &InterruptFlag,
    moved: &mut IoTotals,
) -> ProbeResult<Option<SuspectReader>> {
    let mut card = IoDriver::new(target, interrupt, PLACE_BYTES, 2)?;
    let compared = run_check(&mut card);
    moved.add_failed(card.counts(), card.io_errors());
    match compared {
        Err(ProbeStop::SuspectReader(reader)) => Ok(Some(SuspectReader { ended_test: false, ..*reader })),
        ended => ended.map(|()| None),
    }
}

fn run_check(card: &mut IoDriver<'_>) -> ProbeResult {
    let mut random = SeededRandom::new(card.bytes());
    let end = Some(card.now() + UNSAVED_CHECK_LIMIT);
    read_end(card)?;
    let places = places_with_data(card, &mut random, end)?;
    compare_reads(card, &places, &mut random, end)
}

/// Reads the very end of the card, where a reader fails that announces more sectors than the card has.
pub(crate) fn read_end(card: &mut IoDriver<'_>) -> ProbeResult {
    let start = card.bytes().saturating_sub(END_BYTES) / u64::from(SAMPLE_BYTES) * u64::from(SAMPLE_BYTES);
    card.read_bytes(split_extents(start, card.bytes(), SAMPLE_BYTES), |_, _| ())
}

/// Places with varied data, not one byte repeated: only there would a wrong answer show.
pub(crate) fn places_with_data(
    card: &mut IoDriver<'_>,
    random: &mut SeededRandom,
    end: Option<Nanos>,
) -> ProbeResult<Vec<u64>> {
    let mut found = Vec::new();
    for (tried, start) in candidate_places(card.bytes(), random).into_iter().enumerate() {
        // Four places are sampled even if time is over, so that the check is not empty.
        let is_over = tried >= 4 && end.is_some_and(|end| card.now() > end);
        if found.len() == PLACES || is_over {
            break;
        }
        if holds_data(card, start, random)? {
            found.push(start);
        }
    }
    Ok(found)
}

/// Places where file systems put tables and first files alternate with places all over the card.
fn candidate_places(card_bytes: u64, random: &mut SeededRandom) -> Vec<u64> {
    let window = u64::from(PLACE_BYTES);
    let windows = card_bytes / window;
    let half = MAX_CANDIDATES as u64 / 2;
    let mut seen = HashSet::new();
    let mut all = Vec::new();
    for n in 0..half {
        let low = if n == 0 { 0 } else { 1u64 << (n - 1) };
        let spread = windows * n / half + random.below(windows / half);
        all.extend([low, spread].into_iter().filter(|place| *place < windows && seen.insert(*place)));
    }
    all.into_iter().map(|n| n * window).collect()
}

fn holds_data(card: &mut IoDriver<'_>, start: u64, random: &mut SeededRandom) -> ProbeResult<bool> {
    let part = u64::from(PLACE_BYTES) / SAMPLES_PER_PLACE;
    let blocks = part / u64::from(SAMPLE_BYTES);
    let mut place = |n| start + n * part + random.below(blocks) * u64::from(SAMPLE_BYTES);
    let samples = (0..SAMPLES_PER_PLACE).map(|n| CardExtent { offset: place(n), len: SAMPLE_BYTES });
    let mut sums = HashSet::new();
    card.read_bytes(samples, |_, bytes| {
        if constant_byte(bytes).is_none() {
            sums.insert(crc32c::crc32c(bytes));
        }
    })?;
    Ok(sums.len() as u64 >= SAMPLES_PER_PLACE - 1)
}

/// Reads places of [`PLACE_BYTES`] bytes in requests of all sizes, aligned and unaligned, in random order. Returns
/// [`ProbeStop::SuspectReader`] if two reads of a sector differ; failed requests count as failed I/Os.
pub(crate) fn compare_reads(
    card: &mut IoDriver<'_>,
    places: &[u64],
    random: &mut SeededRandom,
    end: Option<Nanos>,
) -> ProbeResult {
    let sector = card.sector();
    let mut comparison = ReadComparison { sector: sector as usize, ..ReadComparison::default() };
    // Short checks finish place by place, so that the reads of at least one place can be compared.
    let groups: Vec<&[u64]> = if end.is_some() { places.chunks(1).collect() } else { vec![places] };
    for (done, group) in groups.into_iter().enumerate() {
        if done > 0 && end.is_some_and(|end| card.now() > end) {
            break;
        }
        let mut requests = Vec::new();
        for start in group {
            requests.extend(place_requests(*start, sector, random));
        }
        random.shuffle(&mut requests);
        card.read_bytes(requests, |extent, bytes| comparison.add_read(extent, bytes))?;
    }
    comparison.conclude()
}

fn place_requests(start: u64, sector: u32, random: &mut SeededRandom) -> Vec<CardExtent> {
    let whole = CardExtent { offset: start, len: PLACE_BYTES };
    let small = CardExtent {
        offset: start + random.below(u64::from(PLACE_BYTES / SAMPLE_BYTES)) * u64::from(SAMPLE_BYTES),
        len: SAMPLE_BYTES,
    };
    let mut all = vec![whole, small];
    for len in REQUEST_SIZES {
        for n in 0..REQUESTS_PER_SIZE {
            let room = u64::from(PLACE_BYTES - len);
            let mut multiple_of = |unit: u32| random.below(room / u64::from(unit) + 1) * u64::from(unit);
            let offset = match n < REQUESTS_PER_SIZE / 2 {
                true => multiple_of(len),
                false => misalign(multiple_of(sector), sector, room),
            };
            all.push(CardExtent { offset: start + offset, len });
        }
    }
    all
}

/// Moves an offset off a multiple of 4 KiB; unchanged where sectors are 4 KiB or larger.
fn misalign(offset: u64, sector: u32, room: u64) -> u64 {
    let sector = u64::from(sector);
    let is_aligned = offset.is_multiple_of(4096) && sector < 4096;
    match (is_aligned, offset < room) {
        (false, _) => offset,
        (true, true) => offset + sector,
        (true, false) => offset.saturating_sub(sector),
    }
}

/// Checksum of each sector from its first read, and the later reads that differ.
#[derive(Debug, Default)]
struct ReadComparison {
    sector: usize,
    sectors: HashMap<u64, (u32, ReadRequest)>,
    reads: u64,
    differing_reads: u64,
    differences: Vec<ReadDifference>,
}

impl ReadComparison {
    fn add_read(&mut self, extent: CardExtent, bytes: &[u8]) {
        let second = read_request(extent);
        self.reads += 1;
        let mut difference = None;
        for (sector, offset) in bytes.chunks(self.sector).zip((extent.offset..).step_by(self.sector)) {
            let sum = crc32c::crc32c(sector);
            let (known, first) = *self.sectors.entry(offset).or_insert((sum, second));
            if known != sum {
                difference = difference.or(Some(ReadDifference { offset, first, second }));
            }
        }
        self.differing_reads += u64::from(difference.is_some());
        let room = self.differences.len() < SuspectReader::MAX_LISTED;
        self.differences.extend(difference.filter(|_| room));
    }

    fn conclude(self) -> ProbeResult {
        let ReadComparison { reads, differing_reads, differences, .. } = self;
        if differing_reads == 0 {
            return Ok(());
        }
        let (stage, ended_test) = (ReadStage::BeforeWriting, true);
        let reader = SuspectReader { stage, reads, differing_reads, differences, ended_test };
        Err(ProbeStop::SuspectReader(Box::new(reader)))
    }
}

pub(crate) fn read_request(extent: CardExtent) -> ReadRequest {
    ReadRequest { offset: extent.offset, len: u64::from(extent.len) }
}
