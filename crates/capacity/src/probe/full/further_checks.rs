//! Further checks of a card that lost data, before it is accused: is a range missing or a number of blocks, do
//! addresses repeat beyond its end, does it still accept writes, and do the listed places fail after a rewrite?
//!
//! A card that lost nothing is checked for uselessly slow writes from some address on, as on sticks with far less
//! fast flash than announced (public reports: 500 to 2 MB/s after 32 to 123 GB, AltraMayor/f3 #176 and #247).
//!
//! All of these checks may write, so each group first verifies that the card was not swapped.

use super::cache_eviction::{shrink_to_sectors, split_into_blocks, total_bytes};
use super::pass_verdict::PassEvidence;
use super::samples::{self, ReadSample, SAMPLE_BYTES, read_samples};
use super::{FullPass, GENERATION};
use crate::probe::Result;
use cardscope_engine::io_driver::{CardExtent, ProbeStop, split_extents};
use cardscope_model::units::mb_per_s;
use cardscope_model::verify::{AddressDisproof, MapCell, SectorFound};
use cardscope_probing::bad_ranges::gcd;
use cardscope_probing::bad_ranges::{BadRanges, SectorRun};
use cardscope_probing::previous_pass::SENTINEL_GENERATION;
use cardscope_probing::reading::read_judged;
use cardscope_probing::sector::SECTOR;

/// Positions that are read, and number of them that must all be gone at once for a swapped card.
const CARD_CHECK_SAMPLES: u64 = 16;
const MIN_LOST_SAMPLES: usize = 8;

/// Least number of sentinels beyond a suspected end that prove it; with fewer, the rest is small enough to write.
const MIN_SENTINELS: u64 = 8;

/// Bytes written at the end of each further period, and in all of them: more than any cache holds of the data lost
/// there.
const MAX_PERIOD_END: u64 = 1 << 30;
const MAX_PERIOD_ENDS: u64 = 2 << 30;

const MAX_LISTED: usize = 12;

/// Factor beyond the end of any cache: with pSLC caches the speed drops to a tenth, rarely a fifteenth.
const DROP_FACTOR: f64 = 20.0;

/// Least share of the card that must be slow, and that must be fast.
const MIN_SHARE: f64 = 0.01;

const REWRITTEN_BYTES: u64 = 8 << 20;

/// Seconds after which a cache that was merely full has room again.
const REST_S: u64 = 30;

impl FullPass<'_, '_> {
    /// True if only an end of the card explains the losses: beyond it all earlier data is lost, or all earlier data
    /// is intact and all new data is lost. Without this check consecutive losses on a damaged card would look like
    /// an end.
    pub(super) fn is_end_certain(&mut self, places: &[CardExtent]) -> Result<bool> {
        let standing = self.count_sentinels_beyond(places)?;
        let all = self.evidence.sentinels;
        if all < MIN_SENTINELS {
            return Ok(false);
        }
        Ok(standing * 10 <= all || standing * 20 >= all * 19 && self.is_new_data_lost(places)?)
    }

    /// Writes unused positions beyond the written range and reads them. Returns false if the limits leave no room.
    fn is_new_data_lost(&mut self, places: &[CardExtent]) -> Result<bool> {
        let PassEvidence { card_bytes, written, .. } = self.evidence;
        let salt = self.settings.salt;
        let taken = |new: &CardExtent| places.iter().any(|p| p.offset < new.end() && new.offset < p.end());
        let mut new = samples::sentinel_places(card_bytes, salt ^ written);
        new.retain(|extent| extent.offset >= written && !taken(extent));
        let bytes = new.iter().map(|extent| u64::from(extent.len)).sum();
        if self.keeps_new || new.is_empty() || self.remaining_bytes() < bytes {
            return Ok(false);
        }
        self.write_stamps(new.iter().copied(), SENTINEL_GENERATION)?;
        self.card.reopen()?;
        let found = self.read_beyond(&new)?;
        self.keeps_new = found.iter().filter(|sample| sample.is_good()).count() * 10 > found.len();
        Ok(!self.keeps_new)
    }

    fn read_beyond(&mut self, places: &[CardExtent]) -> Result<Vec<ReadSample>> {
        let written = self.evidence.written;
        let list = places.iter().copied().filter(|p| p.offset >= written);
        read_samples(self.card, list, self.stamps_of(SENTINEL_GENERATION))
    }

    fn count_sentinels_beyond(&mut self, places: &[CardExtent]) -> Result<u64> {
        let found = self.read_beyond(places)?;
        self.evidence.sentinels = found.len() as u64;
        self.evidence.sentinels_good = found.iter().filter(|s| s.is_good()).count() as u64;
        Ok(self.evidence.sentinels_good)
    }

    /// Tests beyond the end of the card whether a range or a number of blocks is missing, and whether addresses
    /// repeat.
    pub(super) fn check_beyond_end(&mut self, end: u64, places: &[CardExtent]) -> Result<()> {
        if self.count_sentinels_beyond(places)? * 2 <= self.evidence.sentinels {
            let whole = self.mark_beyond(end)?;
            self.record_check("whether addresses wrap beyond the end", whole);
            self.card.reopen()?;
        }
        Ok(())
    }

    /// Writes markers beyond the written range, which show in the following pass if addresses repeat. Returns false
    /// if the limits had no room for all of them.
    fn mark_beyond(&mut self, end: u64) -> Result<bool> {
        let markers = samples::marker_places(self.evidence.written, self.card.bytes(), end);
        let mut room = self.remaining_bytes();
        let mut fits = |place: &&CardExtent| {
            room = room.saturating_sub(u64::from(place.len));
            room > 0
        };
        let fitting = markers.iter().take_while(|place| fits(place)).count();
        self.write_stamps(markers[..fitting].iter().copied(), SENTINEL_GENERATION)?;
        Ok(fitting == markers.len())
    }

    /// Tests whether the ends of the repeated ranges keep data.
    pub(super) fn check_period_ends(&mut self) -> Result<()> {
        let whole = self.write_period_ends()?;
        self.record_check("whether a part of what repeats is lost as well", whole);
        self.card.reopen()
    }

    /// Writes the ends of the next periods. If part of a period is lost, it is the end, which a cache may have
    /// hidden so far. Returns false if the limits ended it.
    ///
    /// If whole periods are written, only half of the last one is: the data that shows of the last two then lies
    /// two consecutive multiples of the period away, which determines the period.
    fn write_period_ends(&mut self) -> Result<bool> {
        let (written, sector, card_bytes) = (self.evidence.written, self.card.sector(), self.card.bytes());
        let period = self.period_at_the_start()?;
        // The end of a period shorter than a sector cannot be written separately.
        if period < u64::from(sector) {
            return Ok(true);
        }
        let (mut left, block) = (MAX_PERIOD_ENDS, self.card.block());
        let mut end = (written / period + 1) * period;
        while end <= card_bytes && left > 0 {
            let top = MAX_PERIOD_END.min(period);
            let last = end + period > card_bytes || left <= top;
            let len = if last && period <= MAX_PERIOD_END { half_period(period, sector) } else { top };
            let top = shrink_to_sectors(vec![(end.saturating_sub(len).max(written), end)], sector);
            if self.remaining_bytes() < total_bytes(&top) {
                self.card.flush()?;
                return Ok(false);
            }
            let content = self.stamps_of(SENTINEL_GENERATION).content();
            self.card.write(split_into_blocks(&top, block), content, |_, _, _| ())?;
            left = left.saturating_sub(total_bytes(&top));
            end += period;
        }
        self.card.flush()?;
        Ok(true)
    }

    /// Common divisor of forward distances that many consecutive samples show, 0 if there are none. Lost blocks
    /// show data of others too, but each with another distance.
    fn period_at_the_start(&mut self) -> Result<u64> {
        let written = self.evidence.written;
        let step = (written / 4096 / 512 * 512).max(4096);
        let len = self.card.sector();
        let place = |offset: u64| CardExtent { offset: offset / u64::from(len) * u64::from(len), len };
        let list: Vec<CardExtent> = (0..written).step_by(step as usize).map(place).collect();
        let mut samples = Vec::new();
        read_judged(self.card, list, self.stamps_of(GENERATION), |extent, _, seen| {
            if let Some(SectorRun { start, result: SectorFound::Elsewhere { address }, .. }) = seen.first() {
                samples.push((extent.offset.div_ceil(step), address.saturating_sub(*start)));
            }
        })?;
        samples.sort_unstable();
        let mut side_by_side = BadRanges::default();
        for (nth, distance) in samples {
            let start = nth * SECTOR as u64;
            let found = SectorFound::Elsewhere { address: start + distance };
            side_by_side.add_run(&SectorRun { start, end: start + SECTOR as u64, result: found });
        }
        Ok(side_by_side.contiguous_distances(u64::MAX).fold(0, gcd))
    }

    pub(super) fn run_further_checks(&mut self, places: &[CardExtent]) -> Result<()> {
        self.find_wrap();
        if self.ledger.bad.total() == 0 {
            return self.check_slow_writes();
        }
        self.events.begin_phase("reading bad blocks again", None, None);
        self.check_same_card()?;
        if self.ledger.total_good() == 0 {
            self.evidence.keeps_originals = self.originals.are_unchanged(self.card)?;
        }
        let whole = self.evidence.read_to >= self.evidence.written;
        if self.ledger.bad.lost + self.ledger.bad.failed > 0 && whole && !self.evidence.keeps_originals {
            self.evict_cache()?;
        }
        if self.ledger.bad.lost + self.ledger.bad.failed > 0 && self.evidence.wrap.is_none() {
            self.check_good_places()?;
            self.count_sentinels_beyond(places)?;
            self.check_intact_sentinels(places);
        }
        self.rewrite_and_reread(!self.evidence.refuses_rewrites)
    }

    fn check_good_places(&mut self) -> Result<()> {
        let good = self.ledger.good_ranges(0, self.evidence.read_to);
        if good.is_empty() {
            return Ok(());
        }
        let taken = self.accepts_writes(good)?;
        self.evidence.refuses_rewrites = taken == Some(false);
        self.record_check("whether the card still takes writes", taken.is_some());
        Ok(())
    }

    /// Rewrites some good places and restores their stamps. Returns `None` if the limits forbid it.
    fn accepts_writes(&mut self, good: Vec<(u64, u64)>) -> Result<Option<bool>> {
        let places: Vec<CardExtent> = shrink_to_sectors(good, self.card.sector())
            .iter()
            .take(4)
            .map(|(from, to)| CardExtent { offset: *from, len: (to - from).min(4096) as u32 })
            .collect();
        if self.remaining_bytes() < places.iter().map(|place| 2 * u64::from(place.len)).sum() {
            return Ok(None);
        }
        // A generation that no other write uses, so that the old stamp cannot pass for the new one.
        let again = u32::MAX;
        self.write_stamps(places.iter().copied(), again)?;
        self.card.reopen()?;
        let mut taken = places.is_empty();
        read_judged(self.card, places.iter().copied(), self.stamps_of(again), |_, _, seen| {
            taken |= seen.iter().all(|s| s.result == SectorFound::Expected);
        })?;
        self.write_stamps(places, GENERATION)?;
        Ok(Some(taken))
    }

    /// Determines whether the good ranges after the first loss are sentinels only.
    fn check_intact_sentinels(&mut self, places: &[CardExtent]) {
        let Some(first) = self.ledger.first_lost() else { return };
        let good = self.ledger.good_ranges(first, self.evidence.read_to);
        let stands = |place: &CardExtent| -> u64 {
            let part = |(from, to): &(u64, u64)| place.end().min(*to).saturating_sub(place.offset.max(*from));
            good.iter().map(part).sum()
        };
        let standing: Vec<u64> = places.iter().map(stands).filter(|bytes| *bytes > 0).collect();
        self.evidence.islands = standing.len() as u64;
        // Sentinels may touch, so their total must equal the good bytes.
        let all = total_bytes(&good);
        self.evidence.islands_are_sentinels = all > 0 && standing.iter().sum::<u64>() == all;
    }

    /// Examples of bad sectors by address, each read twice.
    pub(super) fn listed_disproofs(&self) -> Vec<AddressDisproof> {
        let mut listed: Vec<(u64, SectorFound)> = self.ledger.examples().collect();
        listed.sort_by_key(|(address, _)| *address);
        listed.truncate(MAX_LISTED);
        let disproof = |(address, found)| {
            let expected = format!("stamp of address {address}, write 1");
            AddressDisproof { address, expected, found, seen: 2 }
        };
        listed.into_iter().map(disproof).collect()
    }

    /// Lists examples of bad sectors, rewrites them if `may_write` and the limits allow it, and reads them a third
    /// time. Counts the places that are good now. Places overwritten through another address are not rewritten.
    pub(super) fn rewrite_and_reread(&mut self, may_write: bool) -> Result<()> {
        self.disproofs = self.listed_disproofs();
        let len = self.card.sector();
        let (mut rewritten, mut kept) = (0, 0);
        for nth in 0..self.disproofs.len() {
            let AddressDisproof { address, found, .. } = self.disproofs[nth];
            let may_write = may_write && self.remaining_bytes() >= u64::from(len);
            if may_write && !matches!(found, SectorFound::Elsewhere { .. } | SectorFound::Error) {
                let place = CardExtent { offset: address / u64::from(len) * u64::from(len), len };
                self.write_stamps([place], GENERATION)?;
                let mut good = false;
                read_judged(self.card, [place], self.stamps_of(GENERATION), |_, _, seen| {
                    good = seen.iter().all(|s| s.result == SectorFound::Expected);
                })?;
                // A cache may still hold a lost block written just now, so only repaired flips speak for the card.
                let flipped = matches!(found, SectorFound::Flipped { .. });
                self.evidence.healed += u64::from(good && flipped);
                (rewritten, kept) = (rewritten + u64::from(!flipped), kept + u64::from(good && !flipped));
                self.disproofs[nth].seen += u32::from(!good);
            }
        }
        self.evidence.kept_in_sectors = rewritten > 0 && kept == rewritten && self.hidden_by_cache == 0;
        Ok(())
    }

    /// Tests a card without losses for uselessly slow writes.
    pub(super) fn check_slow_writes(&mut self) -> Result<()> {
        if self.remaining_bytes() >= REWRITTEN_BYTES && self.has_time(REST_S as f64) {
            self.evidence.crawls = self.is_slow_for_good()?;
        } else if self.speed_drop(self.evidence.written).is_some() {
            self.evidence.may_crawl = true;
            self.record_check("whether the card writes as slowly for good as it did at the end", false);
        }
        Ok(())
    }

    /// True if writes became slow for good: up to the end, and after a pause as well.
    fn is_slow_for_good(&mut self) -> Result<bool> {
        let end = self.evidence.written;
        let Some((from, before)) = self.speed_drop(end) else { return Ok(false) };
        self.events.report_wait(REST_S as f64);
        self.card.idle(std::time::Duration::from_secs(REST_S));
        let sector = u64::from(self.card.sector());
        let from = from.max(end.saturating_sub(REWRITTEN_BYTES)) / sector * sector;
        let (began, block) = (self.card.seconds(), self.card.block());
        self.write_stamps(split_extents(from, end, block), GENERATION)?;
        let after = mb_per_s(end - from, self.card.seconds() - began);
        Ok(after * DROP_FACTOR <= before)
    }

    /// Address from which writes stayed at a fraction of the speed, and the speed before in MB/s.
    fn speed_drop(&self, end: u64) -> Option<(u64, f64)> {
        let map = self.chart.to_map();
        // A shorter cell at the end of the card gives no reliable speed.
        let whole = |c: &&MapCell| c.bytes == map.cell_bytes && c.start + c.bytes <= end;
        let speeds = map.cells.iter().filter(whole).filter_map(|c| Some((c.start, c.write_mb_s?)));
        let speeds: Vec<(u64, f64)> = speeds.collect();
        let least = ((speeds.len() as f64 * MIN_SHARE) as usize).max(1);
        let first = speeds.first()?;
        // The longest tail without a fast cell, searched from the end.
        let before = speeds.iter().take(least).map(|s| s.1).sum::<f64>() / least as f64;
        let slow = speeds.iter().rev().take_while(|s| s.1 * DROP_FACTOR <= before).count();
        let at = speeds.len().checked_sub(slow).filter(|at| slow >= least && *at >= least)?;
        let before = self.chart.write.mb_s_between(first.0, speeds[at - 1].0)?;
        Some((speeds[at].0, before)).filter(|(_, before)| speeds[at].1 * DROP_FACTOR <= *before)
    }

    /// Fails if all data is gone at once, so that nothing is written to a swapped card. Checks the samples of the
    /// writing and positions before the first bad address.
    fn check_same_card(&mut self) -> Result<()> {
        if let Some(last) = self.sample_checker.last {
            self.sample_checker.check_samples(self.card, last)?;
        }
        let stood = self.ledger.first_bad().unwrap_or(self.evidence.read_to).min(self.evidence.written);
        let step = (stood / CARD_CHECK_SAMPLES / SAMPLE_BYTES * SAMPLE_BYTES).max(SAMPLE_BYTES);
        let starts = (0..stood / SAMPLE_BYTES * SAMPLE_BYTES).step_by(step as usize);
        let places = starts.take(CARD_CHECK_SAMPLES as usize);
        let places = places.map(|offset| CardExtent { offset, len: SAMPLE_BYTES as u32 });
        let stamped = self.expected_stamps();
        for _ in 0..2 {
            let found = read_samples(self.card, places.clone(), stamped)?;
            if found.len() < MIN_LOST_SAMPLES || !found.iter().all(|sample| sample.is_gone()) {
                return Ok(());
            }
            self.card.reopen()?;
        }
        Err(ProbeStop::Swapped("the data at the first addresses is gone at once".to_owned()))
    }
}

/// Half a period in whole sectors, at least one.
fn half_period(period: u64, sector: u32) -> u64 {
    let sector = u64::from(sector);
    (period / 2 / sector * sector).max(sector)
}
