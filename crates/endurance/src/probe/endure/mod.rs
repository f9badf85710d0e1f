//! Wear test in rounds: everything is written in random order and read back in another, until half of it is bad.
//!
//! The method is that of mfst (docs/reference/tools.md#mfst), with blocks of 1 MiB instead of sixteen slices of the card,
//! and stamps that are checked bit by bit.

pub mod projection;
#[cfg(test)]
mod tests;

use cardscope_engine::event::Listener;
use cardscope_engine::io_driver::{CardExtent, IoDriver, ProbeStop};
use cardscope_model::endure::{BadSectors, EndureRound};
use cardscope_model::random::{Permutation, mix_bits};
use cardscope_model::units::mb_per_s;
use cardscope_model::verify::SectorFound;
use cardscope_probing::bad_ranges::SectorRun;
use cardscope_probing::reading::{ExpectedStamps, bad_in_both, read_judged};
use std::cell::Cell;

/// Settings of a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundSettings {
    /// Distinguishes the stamps of this run from all others.
    pub salt: u64,
    /// Number of the round from 1, which is part of the stamps.
    pub number: u32,
    /// Bytes to wear, from the start of the card.
    pub span: u64,
    /// Time limit in seconds.
    pub budget_s: f64,
    /// Seed of the run, from which each round derives its orders.
    pub seed: u64,
}

/// End of a card that no longer stores data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CardEnd {
    RefusesWrites,
    /// Writes are accepted, but the old data remains.
    DiscardsWrites,
}

/// Most extents in a group. After each group it is checked that the card still accepts writes.
const GROUP_EXTENTS: u64 = 64;

/// Consecutive groups without a successful write after which the card counts as dead.
const DEAD_GROUPS: u32 = 2;

/// Bad extents of a round that are read twice. More cannot be chance.
const MAX_REREAD_EXTENTS: usize = 256;

/// Share of stale sectors from which a card counts as discarding writes.
const SWALLOWING_SHARE: f64 = 0.99;

/// Makes the order of reads differ from that of writes.
const READ_ORDER_SALT: u64 = 0x7265_6164;

/// Runs a round. Returns its result, and how the card ended if it did.
///
/// # Errors
/// Fails if the card is removed, the user interrupts or the time is over. The round is then discarded, but its bytes count.
pub fn run_round(
    card: &mut IoDriver<'_>,
    settings: &RoundSettings,
    events: &mut dyn Listener,
) -> Result<(EndureRound, Option<CardEnd>), ProbeStop> {
    let seed = mix_bits(settings.seed ^ mix_bits(u64::from(settings.number)));
    let began = card.seconds();
    let end = began + settings.budget_s;
    let written = write_round(card, settings, (seed, end), events)?;
    card.flush()?;
    card.reopen()?;
    let read_began = card.seconds();
    let RoundReads { bytes: read, bad, passing_sectors } = read_round(card, settings, (seed, end), events)?;
    let now = card.seconds();
    let sectors = (read / 512).max(1) as f64;
    let stale = bad.stale as f64 / sectors;
    let discards = (stale >= SWALLOWING_SHARE).then_some(CardEnd::DiscardsWrites);
    let ended = if written.refused { Some(CardEnd::RefusesWrites) } else { discards };
    let result = EndureRound {
        round: settings.number,
        seed,
        written: written.bytes,
        read,
        bad,
        passing_sectors,
        bad_share: bad.total_sectors() as f64 / sectors,
        failed_writes: written.failed,
        write_mb_s: mb_per_s(written.bytes, read_began - began),
        read_mb_s: mb_per_s(read, now - read_began),
        seconds: now - began,
    };
    Ok((result, ended))
}

struct RoundWrites {
    bytes: u64,
    failed: u64,
    refused: bool,
}

/// Extent at a place in the order. The last one may be shorter.
fn extent_at(order: &Permutation, at: u64, block: u64, span: u64) -> CardExtent {
    let offset = order.permuted_index(at) * block;
    CardExtent { offset, len: block.min(span - offset) as u32 }
}

/// Fails with [`ProbeStop::Limit`] from `end_s` on, in seconds of the card.
fn check_time(card: &mut IoDriver<'_>, end_s: f64) -> Result<(), ProbeStop> {
    if card.seconds() < end_s { Ok(()) } else { Err(ProbeStop::Limit) }
}

fn group_size(count: u64) -> u64 {
    (count / 8).clamp(1, GROUP_EXTENTS)
}

/// Name of a round's stage.
pub fn stage_name(round: u32) -> String {
    format!("round {round}")
}

fn write_round(
    card: &mut IoDriver<'_>,
    settings: &RoundSettings,
    (seed, end_s): (u64, f64),
    events: &mut dyn Listener,
) -> Result<RoundWrites, ProbeStop> {
    events.begin_stage(&stage_name(settings.number), None, None);
    events.begin_part(0.0..0.5, "writing", Some(settings.span), None);
    let block = u64::from(card.block());
    let count = settings.span.div_ceil(block);
    let order = Permutation::new(count, seed);
    let content = ExpectedStamps { salt: settings.salt, generation: settings.number }.content();
    let mut written = RoundWrites { bytes: 0, failed: 0, refused: false };
    let mut dead_groups = 0;
    let size = group_size(count);
    for group in (0..count).step_by(size as usize) {
        check_time(card, end_s)?;
        let end = (group + size).min(count);
        let over = Cell::new(false);
        let list = (group..end).map(|at| extent_at(&order, at, block, settings.span));
        let mut failed = 0;
        card.write(list.take_while(|_| !over.get()), content, |extent, at, io_error| {
            over.set(at as f64 / 1e9 >= end_s);
            match io_error {
                None => written.bytes += u64::from(extent.len),
                Some(_) => failed += 1,
            }
            events.report_bytes(written.bytes);
        })?;
        written.failed += failed;
        dead_groups = if failed == end - group { dead_groups + 1 } else { 0 };
        if dead_groups >= DEAD_GROUPS || written.failed == count {
            written.refused = true;
            break;
        }
    }
    Ok(written)
}

#[derive(Debug, Default)]
struct RoundReads {
    bytes: u64,
    bad: BadSectors,
    passing_sectors: u64,
}

fn read_round(
    card: &mut IoDriver<'_>,
    settings: &RoundSettings,
    (seed, end_s): (u64, f64),
    events: &mut dyn Listener,
) -> Result<RoundReads, ProbeStop> {
    events.begin_part(0.5..1.0, "reading", Some(settings.span), None);
    let block = u64::from(card.block());
    let count = settings.span.div_ceil(block);
    let order = Permutation::new(count, mix_bits(seed ^ READ_ORDER_SALT));
    let stamped = ExpectedStamps { salt: settings.salt, generation: settings.number };
    let (mut done, mut twice) = (RoundReads::default(), 0);
    for group in (0..count).step_by(GROUP_EXTENTS as usize) {
        check_time(card, end_s)?;
        let end = (group + GROUP_EXTENTS).min(count);
        let list = (group..end).map(|at| extent_at(&order, at, block, settings.span));
        let mut doubts: Vec<(CardExtent, Vec<SectorRun>)> = Vec::new();
        read_judged(card, list, stamped, |extent, _, seen| {
            done.bytes += u64::from(extent.len);
            events.report_bytes(done.bytes);
            if seen.iter().any(|s| s.result != SectorFound::Expected) {
                doubts.push((extent, seen.to_vec()));
            }
        })?;
        for (extent, mut seen) in doubts {
            if twice < MAX_REREAD_EXTENTS {
                twice += 1;
                let mut again = Vec::new();
                read_judged(card, [extent], stamped, |_, _, s| again.extend_from_slice(s))?;
                let (both, changed) = bad_in_both(&seen, &again);
                done.passing_sectors += changed;
                seen = both;
            }
            seen.iter().for_each(|s| count_sectors(&mut done.bad, s));
        }
    }
    Ok(done)
}

fn count_sectors(bad: &mut BadSectors, seen: &SectorRun) {
    let counter = match seen.result {
        SectorFound::Expected => return,
        SectorFound::Flipped { .. } => &mut bad.flipped,
        SectorFound::Elsewhere { .. } => &mut bad.misdirected,
        SectorFound::Stale { .. } => &mut bad.stale,
        SectorFound::Foreign { .. } => &mut bad.foreign,
        SectorFound::Constant { .. } | SectorFound::Other => &mut bad.lost,
        SectorFound::Error => &mut bad.unreadable,
    };
    *counter += (seen.end - seen.start) / 512;
}
