//! First steps of the quick probe: a growing run at the end of the card, markers, and a search for copies of the
//! run; and the final checks on a card without losses.

use super::alias::{self, AddressFold, MisplacedStamp};
use super::boundary::{self, observe_after_eviction};
use super::growing_run::{self, BLOCKS_PER_CHECK, CacheFlood, GrowingRun};
use super::markers::spread_positions;
use super::options::QuickOptions;
use super::stamper::{CheckedClaims, ClaimState, StampClaim, Stamper, align_down, any_lost, lost_claims};
use cardscope_engine::content::IoContent;
use cardscope_engine::event::Listener;
use cardscope_engine::io_driver::{CardExtent, IoDriver, ProbeStop, ReadAnswer};
use cardscope_engine::journal::JournalWriter;
use cardscope_engine::target::IoDirection;
use cardscope_probing::double_reading::BYTES_BETWEEN_READS;
use cardscope_probing::write_scope::SAVE_UNIT;

pub const WRITING: &str = "writing test data";
pub const READING_BACK: &str = "reading back";

/// Most markers. If none is lost, more than 1.2 % of bad blocks are excluded.
pub(super) const MAX_MARKERS: u32 = 256;

/// Seconds for markers. A card that merges an allocation unit for each gets eight of them.
const MARKER_SECONDS: f64 = 5.0;

/// The same if their original data must be restored as well.
const MARKER_SECONDS_KEPT: f64 = 2.0;

/// Markers per batch, small so that their cost is measured early.
pub(super) const MARKER_BATCH: usize = 4;

/// Distance in blocks between samples of the run if the original data is restored.
const SAMPLE_DISTANCE: usize = 64;

/// Number and bytes of ranges written all over a card without losses, 48 MiB in total.
const RANGE_COUNT: u32 = 48;
const RANGE_BYTES: u64 = 1 << 20;

/// Length of the run when its copies are searched: long enough that 1 TB takes 8000 reads, and short on small
/// cards.
pub(super) fn alias_run_bytes(card_bytes: u64) -> u64 {
    (card_bytes / 2048).clamp(16 << 20, 64 << 20)
}

/// Markers that are searched at their addresses with one bit inverted.
const TWIN_MARKERS: usize = 8;

/// Reads of the search for copies, in the far half of the card.
pub(super) fn copy_search_reads(card_bytes: u64) -> u64 {
    card_bytes / 2 / alias_run_bytes(card_bytes)
}

/// Reads of the search at addresses with one bit inverted.
pub(super) fn inverted_bit_reads(card_bytes: u64) -> u64 {
    TWIN_MARKERS as u64 * u64::from((card_bytes / u64::from(SAVE_UNIT)).max(1).ilog2() + 1)
}

/// Evidence while the run grew.
pub(super) enum GrowthEvidence {
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
pub(super) fn mostly_lost(seen: &[(StampClaim, ClaimState)]) -> bool {
    2 * lost_claims(seen).len() > seen.len()
}

/// Original content of a position.
pub(super) struct InitialContent {
    pub(super) extent: CardExtent,
    pub(super) bytes: Vec<u8>,
}

/// State of a quick probe.
pub(super) struct QuickProbe<'g, 't> {
    pub(super) stamper: Stamper<'g, 't>,
    pub(super) options: QuickOptions,
    pub(super) places: Vec<u64>,
    pub(super) initial_content: Vec<InitialContent>,
    pub(super) run: GrowingRun,
    pub(super) markers: Vec<StampClaim>,
    pub(super) marker_s: f64,
    /// Bytes of the additional ranges.
    pub(super) range_bytes: u64,
    /// Run that evicts a cache before a loss shows.
    pub(super) flood: CacheFlood,
    /// True if the end of the card is certainly lost.
    pub(super) end_is_lost: bool,
    pub(super) cut_short: bool,
}

impl<'g, 't> QuickProbe<'g, 't> {
    pub(super) fn new(
        card: &'g mut IoDriver<'t>,
        journal: Option<&'g mut dyn JournalWriter>,
        options: &QuickOptions,
        events: &'g mut dyn Listener,
    ) -> Result<Self, ProbeStop> {
        let mut stamper = Stamper::new(card, journal, events, options);
        let all = stamper.context.card_bytes();
        // The first MiB with the partition table is written only if the boundary may lie there.
        let (from, to) = ((1 << 20).min(all / 8), all - (1 << 20).min(all / 8));
        let places = spread_positions(from, to, MAX_MARKERS, &mut stamper.context.random);
        Ok(QuickProbe {
            stamper,
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
    pub(super) fn save_initial_content(&mut self) -> Result<(), ProbeStop> {
        let extents: Vec<CardExtent> =
            self.places.iter().take(4 * MARKER_BATCH).map(|p| self.stamper.block_of(*p)).collect();
        let before = &mut self.initial_content;
        self.stamper.context.read_and_compare(extents, IoContent::Buffer, |extent, _, answer| {
            if let ReadAnswer::Differs { bytes, .. } = answer {
                before.push(InitialContent { extent, bytes: bytes.to_vec() });
            }
            Ok(())
        })
    }

    pub(super) fn grow_run(&mut self) -> Result<GrowthEvidence, ProbeStop> {
        let all = self.stamper.context.card_bytes();
        let most = self.options.run_bytes(all);
        self.stamper.context.begin_stamp_stage(WRITING, most);
        let mut searched = false;
        self.read_first_steps_ahead(most)?;
        for size in growing_run::run_lengths(most) {
            let next = self.run.extents_to_grow(&self.stamper, size);
            let besides = self.final_reads_s(searched);
            if !self.stamper.may_stamp(&next, besides) {
                self.cut_short = true;
                break;
            }
            self.run.grow_to(&mut self.stamper, size)?;
            let look = self.run.read_blocks(&mut self.stamper)?;
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
    fn read_first_steps_ahead(&mut self, most: u64) -> Result<(), ProbeStop> {
        let mut next = self.run.extents_to_grow(&self.stamper, most.min(2 * BYTES_BETWEEN_READS));
        let besides = self.final_reads_s(false);
        if !self.stamper.may_stamp(&next, besides) {
            return Ok(());
        }
        let start = next.first().map_or(0, |extent| extent.offset);
        let markers = self.places.iter().map(|p| self.stamper.block_of(*p));
        next.extend(markers.filter(|extent| extent.end() <= start));
        self.stamper.context.read_ahead(&next)
    }

    fn final_reads_s(&self, searched: bool) -> f64 {
        let all = self.stamper.context.card_bytes();
        let scan = if searched { 0 } else { copy_search_reads(all) };
        let looks =
            self.markers.len() as u64 + (2 * BLOCKS_PER_CHECK) as u64 + scan + inverted_bit_reads(all);
        self.stamper.context.costs().estimate(
            IoDirection::Read,
            looks,
            self.run.bytes() / SAMPLE_DISTANCE as u64,
        )
    }

    /// Fold that makes stamps of the run appear elsewhere, if new writes confirm it.
    pub(super) fn search_aliases(&mut self) -> Result<Option<AddressFold>, ProbeStop> {
        let all = self.stamper.context.card_bytes();
        let start = self.run.start();
        if all - start < 2 * u64::from(SAVE_UNIT) {
            return Ok(None);
        }
        let hits = alias::search_copies(&mut self.stamper, start, all - start, start)?;
        alias::confirm_fold(&mut self.stamper, &hits)
    }

    /// Writes markers within their time limit.
    pub(super) fn write_markers(&mut self) -> Result<(), ProbeStop> {
        let limit = if self.stamper.context.saves_first() { MARKER_SECONDS_KEPT } else { MARKER_SECONDS };
        let begun = self.stamper.context.seconds();
        let tail = self.run.start();
        let markers = self.places.iter().map(|p| self.stamper.block_of(*p));
        let extents: Vec<CardExtent> = markers.filter(|extent| extent.end() <= tail).collect();
        for (done, batch) in extents.chunks(MARKER_BATCH).enumerate() {
            let spent = self.stamper.context.seconds() - begun;
            // The next batch is expected to take as long as the earlier ones.
            let next = spent / self.markers.len().max(1) as f64 * MARKER_BATCH as f64;
            if spent + next > limit && !self.markers.is_empty() {
                break;
            }
            if !self.stamper.may_stamp(batch, 0.0) {
                self.cut_short = true;
                break;
            }
            self.stamper.context.read_ahead(&extents[done * MARKER_BATCH..])?;
            let claims = self.stamper.write_stamps(batch)?;
            self.markers.extend(claims);
        }
        let spent = self.stamper.context.seconds() - begun;
        self.marker_s = spent / self.markers.len().max(1) as f64;
        Ok(())
    }

    /// Reads every second marker immediately, since holes show without eviction. The others remain unread, as a
    /// cache may keep requested data forever. Markers may have evicted each other from a small cache, so lost ones
    /// are written and read again alone.
    pub(super) fn check_half_of_markers(&mut self) -> Result<CheckedClaims, ProbeStop> {
        let half: Vec<StampClaim> = self.markers.iter().step_by(2).copied().collect();
        let mut seen = self.stamper.check_claims(&half)?;
        for claim in lost_claims(&seen).into_iter().take(2 * MARKER_BATCH) {
            if !any_lost(&observe_after_eviction(&mut self.stamper, &[claim.extent], &CacheFlood::default())?)
            {
                return Ok(Vec::new());
            }
        }
        seen.retain(|(claim, _)| self.markers.contains(claim));
        Ok(seen)
    }

    pub(super) fn check_markers(&mut self) -> Result<CheckedClaims, ProbeStop> {
        let start = self.run.start();
        self.markers.retain(|claim| claim.extent.end() <= start);
        self.stamper.check_claims(&self.markers)
    }

    /// Searches stamps of some markers at addresses with one bit inverted.
    pub(super) fn search_marker_twins(
        &mut self,
        seen: &[(StampClaim, ClaimState)],
    ) -> Result<Vec<MisplacedStamp>, ProbeStop> {
        let kept: Vec<StampClaim> = seen.iter().filter(|(_, s)| s.is_kept()).map(|(c, _)| *c).collect();
        let some: Vec<StampClaim> =
            kept.iter().step_by(kept.len().div_ceil(TWIN_MARKERS).max(1)).copied().collect();
        alias::search_inverted_bits(&mut self.stamper, &some)
    }

    /// Reads half of the run again; less if all of it will be read for the restoration.
    pub(super) fn reread_run(&mut self) -> Result<CheckedClaims, ProbeStop> {
        let block = self.stamper.context.block();
        let all = self.run.claims(block);
        let stride = if self.stamper.context.saves_first() { SAMPLE_DISTANCE } else { 2 };
        let some: Vec<StampClaim> = all.chunks(2).step_by(stride).flatten().copied().collect();
        self.stamper.check_claims(&some)
    }

    /// Writes ranges all over the card if that is cheap. A small cache full of lost blocks hides a hole from
    /// markers, but not from these.
    pub(super) fn check_ranges(&mut self) -> Result<CheckedClaims, ProbeStop> {
        let end = self.run.start();
        let room = end / u64::from(RANGE_COUNT) >= 2 * RANGE_BYTES;
        if self.marker_s > boundary::DEAR_MARKER_S || !room {
            return Ok(Vec::new());
        }
        let starts =
            spread_positions(RANGE_BYTES, end - RANGE_BYTES, RANGE_COUNT, &mut self.stamper.context.random);
        let extents: Vec<CardExtent> = starts
            .into_iter()
            .map(|at| CardExtent { offset: align_down(at), len: RANGE_BYTES as u32 })
            .collect();
        // Includes the time to read them again in blocks.
        let bytes = extents.len() as u64 * RANGE_BYTES;
        let blocks = bytes.div_ceil(u64::from(self.stamper.context.block()));
        let look = self.stamper.context.costs().estimate(IoDirection::Read, blocks, bytes);
        if !self.stamper.may_stamp(&extents, look) {
            self.cut_short = true;
            return Ok(Vec::new());
        }
        let claims = self.stamper.write_stamps(&extents)?;
        self.range_bytes += claims.iter().map(|c| u64::from(c.extent.len)).sum::<u64>();
        let seen = self.stamper.check_claims(&claims)?;
        self.flood = CacheFlood::over_extents(&extents);
        Ok(seen)
    }
}
