//! Correct results of a full test, derived from a card's parameters and seed without simulating it, so that overrides
//! change them, too. A test compares them with the truth in each card's file.

use super::schema::{
    Archetype, CardFaults, CardTruth, ErrorRanges, FakeKind, OpenBlocks, PoolFull, WriteTimes,
};
use crate::content::{FakeMap, FaultModel, MediumLocation, WEAK_BITS};
use crate::seeded_choice::{ChosenUnits, WeakBits};
use cardscope_model::verify::Verdict;

impl CardTruth {
    /// Derives the truth from parameters and seed. A card of constant speed has no flash units.
    pub fn from_parameters(card: &Archetype, seed: u64) -> CardTruth {
        let (usable_bytes, good_bytes) = usable_and_good_bytes(card, seed);
        let mapped = card.constant.is_none();
        let path_shows = card.front.path_s > 0.0;
        let unit_shows = card.read.is_some_and(|r| r.within_read_unit_s.is_some() || path_shows);
        let segment_shows = card.read.is_some_and(|r| r.segment_step_s > 0.0);
        let heat = card.thermal.filter(|_| card.rig.heat);
        let most_bytes = card.shown_bytes().min(card.reachable_bytes());
        CardTruth {
            page_bytes: mapped.then_some(card.flash.page_bytes),
            read_unit_bytes: unit_shows.then_some(card.flash.read_unit_bytes),
            erase_block_bytes: mapped.then_some(card.flash.au_bytes),
            map_segment_bytes: card.flash.map_segment_bytes.filter(|_| segment_shows),
            fat_region_bytes: card.fat_region.map(|r| r.bytes),
            verdict: expected_verdict(card, good_bytes),
            usable_bytes: usable_bytes.min(most_bytes),
            good_bytes: good_bytes.min(most_bytes),
            open_blocks: open_blocks(card),
            slc_cache_bytes: card.cache.as_ref().map(|c| c.filled_bytes(card.announced_bytes) as u64),
            queue_depth: queue_depth(card),
            tmt1_c: heat.map(|t| t.tmt1_c),
            tmt2_c: heat.map(|t| t.tmt2_c),
        }
    }
}

fn open_blocks(card: &Archetype) -> Option<OpenBlocks> {
    let Some(WriteTimes::Hybrid(hybrid)) = card.write else { return None };
    // A limit that is not below the card's number of blocks never shows.
    let shows = u64::from(hybrid.open_linear) < card.announced_bytes / card.flash.au_bytes;
    shows.then_some(OpenBlocks { linear: hybrid.open_linear, random: hybrid.open_random })
}

/// Depth up to which a queue gains. The least time between two reads, or the transfers, which follow each other on the
/// bus, may end the gain before the queue is full.
fn queue_depth(card: &Archetype) -> u32 {
    let Some(read) = &card.read else { return card.queue.depth };
    let (base_s, serial_s) = card.cache.map_or((read.base_s, read.serial_s), |c| {
        (c.read_base_s.unwrap_or(read.base_s), c.read_serial_s.unwrap_or(read.serial_s))
    });
    let transfer_s = 4096.0 / (read.mb_s.min(card.rig.bus_mb_s.unwrap_or(f64::INFINITY)) * 1e6);
    let gain = (base_s + transfer_s) / serial_s.max(transfer_s);
    (f64::from(card.queue.depth).min(gain).min(depth_on_planes(card))).round() as u32
}

/// Commands at work at a time on planes that each take one: of q in flight at random places on p planes
/// p·q/(p + q − 1), as in any closed queue of equal servers.
fn depth_on_planes(card: &Archetype) -> f64 {
    let (planes, depth) = (f64::from(card.flash.planes), f64::from(card.queue.depth));
    if planes > 1.0 { planes * depth / (planes + depth - 1.0) } else { f64::INFINITY }
}

fn expected_verdict(card: &Archetype, good_bytes: u64) -> Verdict {
    let CardFaults { read_flip_p, read_error_p, write_error_p, .. } = card.faults;
    // A small share of large units may choose none of them: then nothing is damaged.
    let loses = good_bytes < card.announced_bytes;
    match card.fake.kind {
        // A test through a reader that misreads says nothing about the card.
        _ if card.reader_is_bad() => Verdict::ReaderSuspect,
        FakeKind::ReadOnly => Verdict::ReadOnly,
        _ if good_bytes == 0 => Verdict::Dead,
        FakeKind::Limbo => Verdict::Limbo,
        FakeKind::Wraparound | FakeKind::AddressLine => Verdict::Wraparound,
        FakeKind::Chain => Verdict::Chain,
        FakeKind::Overcommitted => Verdict::Overcommitted,
        FakeKind::None | FakeKind::Damaged if loses => Verdict::Damaged,
        _ if read_flip_p > 0.0 || read_error_p > 0.0 || write_error_p > 0.0 => Verdict::Unstable,
        _ => Verdict::Genuine,
    }
}

/// Length of the prefix that keeps its data, and number of all bytes that do, after all faults have begun.
fn usable_and_good_bytes(card: &Archetype, seed: u64) -> (u64, u64) {
    let end = end_of_distinct(card);
    let map = FakeMap::with_all_faults(card, seed);
    let failing = FaultModel::new(&card.faults, seed).failing;
    let kept_run = |at, len| kept_run(&map, failing, &card.faults.error_ranges, at, len);
    let (mut good, mut first_bad) = (0, end);
    // With a dead address line every other range shares no place with lower ones, else only the first does.
    let all = if card.fake.kind == FakeKind::AddressLine { card.announced_bytes } else { end };
    for start in (0..all).step_by(2 * end.max(1) as usize) {
        let (mut at, own_end) = (start, (start + end).min(all));
        while at < own_end {
            let (kept, len) = kept_run(at, own_end - at);
            good += if kept { len } else { 0 };
            first_bad = if kept { first_bad } else { first_bad.min(at) };
            at += len;
        }
    }
    if card.faults.flip_p > 0.0 {
        let weak = WeakBits::new(seed, WEAK_BITS, card.faults.flip_p);
        let mut sectors = Vec::new();
        weak.for_each_weak(0, end, |byte, _| sectors.push(byte / SECTOR * SECTOR));
        sectors.sort_unstable();
        sectors.dedup();
        // Sectors that are bad for another reason must not be subtracted twice.
        let counted = sectors.iter().filter(|sector| kept_run(**sector, SECTOR).0).count();
        good -= counted as u64 * SECTOR;
        first_bad = sectors.first().map_or(first_bad, |sector| first_bad.min(*sector));
    }
    (first_bad, good)
}

const SECTOR: u64 = 512;

/// End of the addresses that have places, none of them shared with lower ones.
fn end_of_distinct(card: &Archetype) -> u64 {
    let (fake, all) = (&card.fake, card.announced_bytes);
    let real = fake.real_bytes.unwrap_or(all);
    match fake.kind {
        FakeKind::ReadOnly => 0,
        FakeKind::Limbo => real,
        FakeKind::Wraparound | FakeKind::AddressLine => fake.wrap_bytes.unwrap_or(all),
        FakeKind::Chain => real.min(fake.wrap_bytes.unwrap_or(all)),
        // A card that slows down when it is full still keeps its data.
        FakeKind::Overcommitted if fake.pool_full != PoolFull::Slow => real,
        FakeKind::None | FakeKind::Damaged | FakeKind::Overcommitted => all,
    }
    .min(all)
}

/// Returns whether the data at `at` is kept, and for how many bytes, at most `len`, that answer holds.
fn kept_run(
    map: &FakeMap,
    failing: Option<ChosenUnits>,
    bad: &ErrorRanges,
    at: u64,
    len: u64,
) -> (bool, u64) {
    let route = map.route(at, len);
    let (fails, len) = failing.map_or((false, route.len), |units| units.run_at(at, route.len));
    let (errs, len) = bad.failing_run(at, len);
    (matches!(route.place, MediumLocation::Kept(_)) && !fails && !errs, len)
}
