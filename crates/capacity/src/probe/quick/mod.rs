//! Quick capacity test. It preserves the data if it has a journal, and writes at most 514 MiB to a genuine card.
//!
//! Method (error rates on simulated cards: docs/accuracy.md; limits of any method:
//! docs/reference/flash.md#fake-cards): a run grows downwards from the end of the card until it has overflowed
//! every cache up to 512 MiB, with markers all over the card. Its stamps are searched at other addresses. Losses
//! are read twice, with the card reopened in between, and written again before they count.

mod alias;
mod boundary;
mod first_period;
mod growing_run;
mod markers;
mod probe_steps;
mod quick_verdict;
mod stamper;

use crate::probe::Result;
use alias::{AddressFold, MisplacedStamp};
use boundary::observe_evicted;
use cardscope_engine::content::IoContent;
use cardscope_engine::event::Listener;
use cardscope_engine::io_driver::{CardExtent, IoDriver, ProbeStop, ReadAnswer};
use cardscope_engine::journal::JournalWriter;
use cardscope_engine::target::IoDirection;
use cardscope_model::verify::{Verdict, Verification};
use cardscope_probing::context::ProbeLimits;
use cardscope_probing::double_reading::BYTES_BETWEEN_READS;
use cardscope_probing::reader_check::MIN_CHECK_READS;
use growing_run::{BLOCKS_PER_CHECK, CacheFlood, GrowingRun};
use markers::spread_positions;
use stamper::{CheckedClaim, CheckedClaims, StampClaim, Stamper, UNIT, any_lost, lost_claims};

/// Bytes of a run that overflows every cache up to 512 MiB, twice the largest in public reports. The last 2 MiB
/// must then be missing.
pub const QUICK_RUN: u64 = 514 << 20;

/// Bytes of a run that overflows caches up to 2 GiB.
pub const THOROUGH_RUN: u64 = (2048 + 16) << 20;

/// Shortest run that allows a verdict after the user's limits ended it, as caches of 31 MB are on record.
pub const MIN_RUN: u64 = 64 << 20;

#[derive(Debug, Clone, Copy)]
pub struct QuickOptions {
    /// Overflows caches up to 2 GiB.
    pub thorough: bool,
    /// Limits; the region is the whole card.
    pub limits: ProbeLimits,
}

impl QuickOptions {
    /// Bytes of the longest run on a card of this size. An eighth of a small card is left for markers.
    pub fn run_bytes(&self, card_bytes: u64) -> u64 {
        let wanted = if self.thorough { THOROUGH_RUN } else { QUICK_RUN };
        wanted.min(card_bytes - card_bytes / 8)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct QuickOutcome {
    /// Verdict with its evidence.
    pub body: Verification,
    /// Largest cache that the run overflowed.
    pub overflown_bytes: u64,
    /// Blocks that gave different answers when read again.
    pub changed_answers: u64,
    /// True if the user's limits ended the probe.
    pub cut_short: bool,
}

pub const WRITING: &str = "writing test data";
pub const READING_BACK: &str = "reading back";

/// Most markers. If none is lost, more than 1.2 % of bad blocks are excluded.
const MAX_MARKERS: u32 = 256;

/// Seconds for markers. A card that merges an allocation unit for each gets eight of them.
const MARKER_SECONDS: f64 = 5.0;

/// Seconds for markers whose original data must be restored.
const MARKER_SECONDS_KEPT: f64 = 2.0;

/// Markers per batch, small so that their cost is measured early.
const MARKER_BATCH: usize = 4;

/// Distance in blocks between samples of the run if the original data is restored.
const SAMPLE_DISTANCE: usize = 64;

/// Number and bytes of ranges written all over a card without losses, 48 MiB in total.
const RANGE_COUNT: u32 = 48;
const RANGE_BYTES: u64 = 1 << 20;

/// Length of the run when its copies are searched: long enough that 1 TB takes 8000 reads, and short on small
/// cards.
fn alias_run_bytes(card_bytes: u64) -> u64 {
    (card_bytes / 2048).clamp(16 << 20, 64 << 20)
}

/// Markers that are searched at their addresses with one bit inverted.
const TWIN_MARKERS: usize = 8;

/// Reads of the search for copies, in the far half of the card.
fn copy_search_reads(card_bytes: u64) -> u64 {
    card_bytes / 2 / alias_run_bytes(card_bytes)
}

/// Reads of the search at addresses with one bit inverted.
fn inverted_bit_reads(card_bytes: u64) -> u64 {
    TWIN_MARKERS as u64 * u64::from((card_bytes / UNIT).max(1).ilog2() + 1)
}

/// I/Os of the shortest probe with any result: original content, reader check, and one block saved, written, read
/// and restored.
pub const MIN_IOS: u64 = 4 * MARKER_BATCH as u64 + 16 + MIN_CHECK_READS + 4;

/// I/Os of the shortest probe that may pass a card, approximately: a run of [`MIN_RUN`], the search for its
/// copies, and its restoration in extents of 1 MiB.
pub fn min_ios_for_verdict(card_bytes: u64) -> u64 {
    let looks = copy_search_reads(card_bytes) + inverted_bit_reads(card_bytes);
    MIN_IOS + 150 + looks + 7 * (MIN_RUN >> 20)
}

/// Probes a card. With a journal all data is saved before it is overwritten; the caller restores it, after an error
/// as well.
///
/// # Errors
/// If the card is gone, the user stopped the test, or data on the card could not be saved.
pub fn probe_card<'g>(
    card: &'g mut IoDriver<'_>,
    journal: Option<&'g mut dyn JournalWriter>,
    options: &QuickOptions,
    events: &'g mut dyn Listener,
) -> Result<QuickOutcome> {
    let mut quick = QuickProbe::new(card, journal, options, events)?;
    let mut body = match quick.run_probe() {
        Err(ProbeStop::Limit) => quick.cut_short_outcome(),
        ended => ended?,
    };
    let overflown_bytes = body.excluded_cache_bytes.take().unwrap_or(0);
    let most = overflown_bytes.min(quick.io.context.card_bytes());
    body.excluded_cache_bytes = (body.verdict == Verdict::Genuine).then_some(most);
    let changed_answers = quick.io.changed_answers;
    Ok(QuickOutcome { body, overflown_bytes, changed_answers, cut_short: quick.cut_short })
}

/// Evidence while the run grew.
enum GrowthEvidence {
    NoLoss,
    /// The oldest blocks are lost, after this many bytes.
    OldLost {
        after: u64,
        seen: CheckedClaims,
    },
    /// The newest blocks are lost, while older ones are kept.
    NewLost(CheckedClaims),
    /// Markers are lost immediately, while the end of the card is kept.
    MarkersLost(CheckedClaims),
    /// Stamps of the run appear at other addresses.
    Aliases(AddressFold),
}

/// True if more than half are lost. Markers in the same cache slots evict a few of the run's blocks, which says
/// nothing about the size of the cache; few losses are examined at the end.
fn mostly_lost(seen: &[CheckedClaim]) -> bool {
    2 * lost_claims(seen).len() > seen.len()
}

struct InitialContent {
    extent: CardExtent,
    bytes: Vec<u8>,
}

struct QuickProbe<'g, 't> {
    io: Stamper<'g, 't>,
    options: QuickOptions,
    places: Vec<u64>,
    initial_content: Vec<InitialContent>,
    run: GrowingRun,
    markers: Vec<StampClaim>,
    marker_s: f64,
    /// Bytes of the additional ranges.
    range_bytes: u64,
    /// Run that evicts a cache before a loss shows.
    flood: CacheFlood,
    /// True if the end of the card is certainly lost.
    end_is_lost: bool,
    cut_short: bool,
}

impl<'g, 't> QuickProbe<'g, 't> {
    fn new(
        card: &'g mut IoDriver<'t>,
        journal: Option<&'g mut dyn JournalWriter>,
        options: &QuickOptions,
        events: &'g mut dyn Listener,
    ) -> Result<Self> {
        let mut io = Stamper::new(card, journal, events, &options.limits);
        let all = io.context.card_bytes();
        // The first MiB with the partition table is written only if the boundary may lie there.
        let (from, to) = ((1 << 20).min(all / 8), all - (1 << 20).min(all / 8));
        let places = spread_positions(from, to, MAX_MARKERS, &mut io.context.random);
        Ok(QuickProbe {
            io,
            options: *options,
            places,
            initial_content: Vec::new(),
            run: GrowingRun::ending_at(all),
            markers: Vec::new(),
            marker_s: 0.0,
            range_bytes: 0,
            flood: CacheFlood::default(),
            end_is_lost: false,
            cut_short: false,
        })
    }
}

impl QuickProbe<'_, '_> {
    /// Saves the content of some positions, to distinguish a card that ignores writes from one that loses them.
    fn save_initial_content(&mut self) -> Result<()> {
        let places = self.places.iter().take(4 * MARKER_BATCH);
        let extents: Vec<CardExtent> = places.map(|p| self.io.block_of(*p)).collect();
        let before = &mut self.initial_content;
        self.io.context.read_and_compare(extents, IoContent::Buffer, |extent, _, answer| {
            if let ReadAnswer::Differs { bytes, .. } = answer {
                before.push(InitialContent { extent, bytes: bytes.to_vec() });
            }
            Ok(())
        })
    }

    fn grow_run(&mut self) -> Result<GrowthEvidence> {
        let all = self.io.context.card_bytes();
        let most = self.options.run_bytes(all);
        self.io.context.begin_stamp_stage(WRITING, most);
        let mut searched = false;
        self.read_first_steps_ahead(most)?;
        for size in growing_run::run_lengths(most) {
            let next = self.run.extents_to_grow(&self.io, size);
            let besides = self.final_reads_s(searched);
            if !self.io.may_stamp(&next, besides) {
                self.cut_short = true;
                break;
            }
            self.run.grow_to(&mut self.io, size)?;
            let look = self.run.read_blocks(&mut self.io)?;
            // If part of the old and most of the new blocks are lost, a small cache holds the old blocks that were
            // read.
            if mostly_lost(&look.old) || mostly_lost(&look.new) && any_lost(&look.old) {
                return Ok(GrowthEvidence::OldLost { after: size, seen: look.old });
            }
            if mostly_lost(&look.new) {
                return Ok(GrowthEvidence::NewLost(look.new));
            }
            if size >= 1 << 20 && self.markers.is_empty() {
                self.write_markers()?;
                let seen = self.check_half_of_markers()?;
                if any_lost(&seen) {
                    return Ok(GrowthEvidence::MarkersLost(seen));
                }
            }
            if size >= alias_run_bytes(all) && !searched {
                searched = true;
                if let Some(fold) = self.search_aliases()? {
                    return Ok(GrowthEvidence::Aliases(fold));
                }
            }
        }
        if searched {
            return Ok(GrowthEvidence::NoLoss);
        }
        Ok(self.search_aliases()?.map_or(GrowthEvidence::NoLoss, GrowthEvidence::Aliases))
    }

    /// Reads everything that the first steps and the markers overwrite at once, as reading before each small step
    /// would jump to other positions each time.
    fn read_first_steps_ahead(&mut self, most: u64) -> Result<()> {
        let mut next = self.run.extents_to_grow(&self.io, most.min(2 * BYTES_BETWEEN_READS));
        let besides = self.final_reads_s(false);
        if !self.io.may_stamp(&next, besides) {
            return Ok(());
        }
        let start = next.first().map_or(0, |extent| extent.offset);
        let markers = self.places.iter().map(|p| self.io.block_of(*p));
        next.extend(markers.filter(|extent| extent.end() <= start));
        self.io.context.read_ahead(&next)
    }

    fn final_reads_s(&self, searched: bool) -> f64 {
        let all = self.io.context.card_bytes();
        let scan = if searched { 0 } else { copy_search_reads(all) };
        let reads = (self.markers.len() + 2 * BLOCKS_PER_CHECK) as u64 + scan + inverted_bit_reads(all);
        self.io.context.costs().estimate(IoDirection::Read, reads, self.run.bytes() / SAMPLE_DISTANCE as u64)
    }

    /// Fold that makes stamps of the run appear elsewhere, if new writes confirm it.
    fn search_aliases(&mut self) -> Result<Option<AddressFold>> {
        let all = self.io.context.card_bytes();
        let start = self.run.start();
        if all - start < 2 * UNIT {
            return Ok(None);
        }
        let hits = alias::search_copies(&mut self.io, start, all - start, start)?;
        alias::confirm_fold(&mut self.io, &hits)
    }

    /// Blocks at `most` addresses that are spread over a range.
    fn spread_blocks(&mut self, from: u64, to: u64, most: u32) -> Vec<CardExtent> {
        let places = spread_positions(from, to, most, &mut self.io.context.random);
        places.into_iter().map(|place| self.io.block_of(place)).collect()
    }
    /// Writes places and evicts caches as far as detected, and returns the state of the places.
    fn observe(&mut self, places: &[CardExtent]) -> Result<CheckedClaims> {
        observe_evicted(&mut self.io, places, &self.flood)
    }
    fn write_markers(&mut self) -> Result<()> {
        let limit = if self.io.context.saves_first() { MARKER_SECONDS_KEPT } else { MARKER_SECONDS };
        let begun = self.io.context.seconds();
        let tail = self.run.start();
        let markers = self.places.iter().map(|p| self.io.block_of(*p));
        let extents: Vec<CardExtent> = markers.filter(|extent| extent.end() <= tail).collect();
        for (done, batch) in extents.chunks(MARKER_BATCH).enumerate() {
            let spent = self.io.context.seconds() - begun;
            // The next batch is expected to take as long as the earlier ones.
            let next = spent / self.markers.len().max(1) as f64 * MARKER_BATCH as f64;
            if spent + next > limit && !self.markers.is_empty() {
                break;
            }
            if !self.io.may_stamp(batch, 0.0) {
                self.cut_short = true;
                break;
            }
            self.io.context.read_ahead(&extents[done * MARKER_BATCH..])?;
            let claims = self.io.write_stamps(batch)?;
            self.markers.extend(claims);
        }
        let spent = self.io.context.seconds() - begun;
        self.marker_s = spent / self.markers.len().max(1) as f64;
        Ok(())
    }

    /// Reads every second marker immediately, since holes show without eviction. The others remain unread, as a
    /// cache may keep requested data forever. Markers may have evicted each other from a small cache, so lost ones
    /// are written and read again alone.
    fn check_half_of_markers(&mut self) -> Result<CheckedClaims> {
        let half: Vec<StampClaim> = self.markers.iter().step_by(2).copied().collect();
        let mut seen = self.io.check_claims(&half)?;
        for claim in lost_claims(&seen).into_iter().take(2 * MARKER_BATCH) {
            let alone = observe_evicted(&mut self.io, &[claim.extent], &CacheFlood::default())?;
            if !any_lost(&alone) {
                return Ok(Vec::new());
            }
        }
        seen.retain(|(claim, _)| self.markers.contains(claim));
        Ok(seen)
    }

    fn check_markers(&mut self) -> Result<CheckedClaims> {
        let start = self.run.start();
        self.markers.retain(|claim| claim.extent.end() <= start);
        self.io.check_claims(&self.markers)
    }

    /// Searches stamps of some markers at addresses with one bit inverted.
    fn search_marker_twins(&mut self, seen: &[CheckedClaim]) -> Result<Vec<MisplacedStamp>> {
        let kept: Vec<StampClaim> = seen.iter().filter(|(_, s)| s.is_kept()).map(|(c, _)| *c).collect();
        let step = kept.len().div_ceil(TWIN_MARKERS).max(1);
        let some: Vec<StampClaim> = kept.into_iter().step_by(step).collect();
        alias::search_inverted_bits(&mut self.io, &some)
    }

    /// Reads half of the run again; less if all of it will be read for the restoration.
    fn reread_run(&mut self) -> Result<CheckedClaims> {
        let block = self.io.context.block();
        let all = self.run.claims(block);
        let stride = if self.io.context.saves_first() { SAMPLE_DISTANCE } else { 2 };
        let some: Vec<StampClaim> = all.chunks(2).step_by(stride).flatten().copied().collect();
        self.io.check_claims(&some)
    }

    /// Writes ranges all over the card if that is cheap. A small cache full of lost blocks hides a hole from
    /// markers, but not from these.
    fn check_ranges(&mut self) -> Result<CheckedClaims> {
        let end = self.run.start();
        let room = end / u64::from(RANGE_COUNT) >= 2 * RANGE_BYTES;
        if self.marker_s > boundary::DEAR_MARKER_S || !room {
            return Ok(Vec::new());
        }
        let starts = self.spread_blocks(RANGE_BYTES, end - RANGE_BYTES, RANGE_COUNT).into_iter();
        let range = |block: CardExtent| CardExtent { len: RANGE_BYTES as u32, ..block };
        let extents: Vec<CardExtent> = starts.map(range).collect();
        // Includes the time to read them again in blocks.
        let bytes = extents.len() as u64 * RANGE_BYTES;
        let blocks = bytes.div_ceil(u64::from(self.io.context.block()));
        let look = self.io.context.costs().estimate(IoDirection::Read, blocks, bytes);
        if !self.io.may_stamp(&extents, look) {
            self.cut_short = true;
            return Ok(Vec::new());
        }
        let claims = self.io.write_stamps(&extents)?;
        self.range_bytes += claims.iter().map(|c| u64::from(c.extent.len)).sum::<u64>();
        let seen = self.io.check_claims(&claims)?;
        self.flood = CacheFlood::over_extents(&extents);
        Ok(seen)
    }
}
