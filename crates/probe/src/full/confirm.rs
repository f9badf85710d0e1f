//! What is asked of a card that lost something, before it is accused: does a cache answer for more that is lost, does
//! the card still take writes at all, do addresses wrap beyond its end, and do the listed places fail after a new write
//! too.

use super::judge::gcd;
use super::ledger::{Bad, Ledger, Seen};
use super::limits::Limits;
use super::reading::{Stamped, read_judged};
use super::sentinels;
use crate::card::{Card, Piece, pieces};
use crate::sector::{SECTOR, SectorFound};
use crate::trouble::Stop;
use cardscope_model::verify::Disproof;

/// Bytes of lost ranges that are written anew at most, to push what is left of others out of a cache: the largest cache
/// that `verify --thorough` looks for, twice.
const MOST_REWRITTEN: u64 = 4 << 30;

/// Bytes in a row, from the end back, that must stand a write of as many elsewhere before those in front of them are
/// believed too.
const MOST_DOUBTED: u64 = 4 << 30;

/// In front of the first lost byte so many are doubted as well: a cache may answer for the last ones there, too. Where it
/// did, the next round doubts as many in front of those.
const DOUBTED_IN_FRONT: u64 = 1 << 20;

/// Rounds of writing and reading; each at least doubles what is known to be lost, where there is more.
const MOST_ROUNDS: u32 = 24;

/// What unmasking a cache needs to know.
pub(crate) struct Unmasking {
    /// Written from 0 on.
    pub(crate) end: u64,
    /// The range beyond is known to keep nothing.
    pub(crate) nothing_beyond: bool,
    pub(crate) salt: u64,
    pub(crate) limits: Limits,
}

/// Writes lost ranges again until nothing more turns out to be lost: a cache that keeps lost blocks for a while holds
/// only so many of them. Where the range beyond the end is known to keep nothing, it is written too: a cache that has a
/// slot for each address gives one up only to an address of the same slot. Gives the bytes that it had hidden, and
/// whether the limits let it come to its end.
pub(crate) fn unmask(
    card: &mut Card<'_>,
    ledger: &mut Ledger,
    asked: &Unmasking,
    each: &mut dyn FnMut(&Seen),
) -> Result<(u64, bool), Stop> {
    let (salt, end) = (asked.salt, asked.end);
    let stamped = Stamped { salt, generation: 1 };
    let mut hidden = 0;
    for round in 0..MOST_ROUNDS {
        let Some(first) = ledger.first_lost() else { break };
        let from = first.saturating_sub(DOUBTED_IN_FRONT);
        let doubted = from_the_end(ledger.good_between(from, end), MOST_DOUBTED);
        let lost = to_rewrite(card, ledger, asked, &doubted);
        if doubted.is_empty() || lost.is_empty() {
            break;
        }
        let bytes = |list: &[(u64, u64)]| list.iter().map(|(from, to)| to - from).sum::<u64>();
        let room = asked.limits.room(card);
        let whole = bytes(&lost) <= room;
        rewrite(card, &from_the_end(lost, room), Stamped { salt, generation: 2 + round })?;
        card.reopen()?;
        let mut found: Vec<Seen> = Vec::new();
        let block = card.block();
        let list = doubted.iter().flat_map(|(from, to)| pieces(*from, *to, block));
        read_judged(card, list, stamped, |_, _, seen| {
            found.extend(seen.iter().filter(|s| s.found != SectorFound::Expected));
        })?;
        found.retain(|s| matches!(Bad::of(s.found), Some(Bad::Lost | Bad::Alias | Bad::Failed)));
        hidden += found.iter().map(|s| s.end - s.start).sum::<u64>();
        found.iter().for_each(&mut *each);
        ledger.unmask(&found);
        if !whole {
            return Ok((hidden, false));
        }
        if found.is_empty() {
            break;
        }
    }
    Ok((hidden, true))
}

/// The lost ranges, and as much beyond the end as may push out what is doubted.
fn to_rewrite(
    card: &Card<'_>,
    ledger: &Ledger,
    asked: &Unmasking,
    doubted: &[(u64, u64)],
) -> Vec<(u64, u64)> {
    let lost = ledger.runs().iter().filter(|run| matches!(run.bad, Bad::Lost | Bad::Failed));
    let mut list: Vec<(u64, u64)> = lost.map(|run| (run.start, run.end)).collect();
    if asked.nothing_beyond && !list.is_empty() {
        let bytes: u64 = doubted.iter().map(|(from, to)| to - from).sum();
        list.push((asked.end, asked.end.saturating_add(bytes.saturating_mul(2)).min(card.bytes())));
    }
    from_the_end(list, MOST_REWRITTEN)
}

/// The last `most` bytes of some ranges.
fn from_the_end(ranges: Vec<(u64, u64)>, most: u64) -> Vec<(u64, u64)> {
    let mut left = most;
    let mut kept: Vec<(u64, u64)> = Vec::new();
    for (from, to) in ranges.into_iter().rev() {
        if left == 0 {
            break;
        }
        let len = (to - from).min(left);
        left -= len;
        kept.push((to - len, to));
    }
    kept.reverse();
    kept
}

fn rewrite(card: &mut Card<'_>, lost: &[(u64, u64)], stamped: Stamped) -> Result<(), Stop> {
    let block = card.block();
    let list = lost.iter().flat_map(|(from, to)| pieces(*from, *to, block));
    card.write(list, stamped.content(), |_, _, _| ())?;
    card.flush()
}

/// Whether places that were good take a write once more; `None` where the limits forbid it. Their stamps are put back
/// by writing them again.
pub(crate) fn takes_writes(
    card: &mut Card<'_>,
    good: &[(u64, u64)],
    salt: u64,
    limits: &Limits,
) -> Result<Option<bool>, Stop> {
    let places: Vec<Piece> = good
        .iter()
        .take(4)
        .map(|(from, to)| Piece { offset: *from, len: (to - from).min(4096) as u32 })
        .collect();
    if limits.room(card) < places.iter().map(|place| 2 * u64::from(place.len)).sum() {
        return Ok(None);
    }
    let again = Stamped { salt, generation: u32::MAX };
    card.write(places.iter().copied(), again.content(), |_, _, _| ())?;
    card.flush()?;
    card.reopen()?;
    let mut taken = places.is_empty();
    read_judged(card, places.iter().copied(), again, |_, _, seen| {
        taken |= seen.iter().all(|s| s.found == SectorFound::Expected);
    })?;
    let back = Stamped { salt, generation: 1 };
    card.write(places.iter().copied(), back.content(), |_, _, _| ())?;
    card.flush()?;
    Ok(Some(taken))
}

/// Writes markers beyond the end of what was written, where addresses may wrap; they show in the pass that follows.
/// False where the limits had no room for all of them.
pub(crate) fn mark_beyond(
    card: &mut Card<'_>,
    from: u64,
    kept: u64,
    salt: u64,
    limits: &Limits,
) -> Result<bool, Stop> {
    let mut places = sentinels::markers(from, card.bytes(), kept);
    let (all, mut room) = (places.len(), limits.room(card));
    let mut fits = |place: &Piece| {
        room = room.saturating_sub(u64::from(place.len));
        room > 0
    };
    let fitting = places.iter().copied().map_while(|place| fits(&place).then_some(place)).count();
    places.truncate(fitting);
    sentinels::write(card, &places, salt)?;
    Ok(fitting == all)
}

/// Bytes at the end of each further period that are written, and of all of them: more than any cache holds of what is
/// lost there.
const TOP: u64 = 1 << 30;
const ALL_TOPS: u64 = 2 << 30;

/// Addresses wrap: where a part of what repeats is lost as well, it is its end, and a cache may have answered for that
/// so far. So the ends of the periods that come next are written. False where the limits cut it short.
///
/// Where a whole period is written each time, only half of the last one is: what shows of it and of the one before it
/// lies two numbers of periods apart that follow each other, from which the period is known.
pub(crate) fn overflow_tops(
    card: &mut Card<'_>,
    written: u64,
    salt: u64,
    limits: &Limits,
) -> Result<bool, Stop> {
    let period = period_at_the_start(card, written, salt)?;
    if period == 0 {
        return Ok(true);
    }
    let (mut left, block, bytes) = (ALL_TOPS, card.block(), card.bytes());
    let mut end = (written / period + 1) * period;
    while end <= bytes && left > 0 {
        let top = TOP.min(period);
        let last = end + period > bytes || left <= top;
        let len = if last && period <= TOP { half(period, card.sector()) } else { top };
        let from = end.saturating_sub(len).max(written);
        let stamped = Stamped { salt, generation: sentinels::GENERATION };
        if limits.room(card) < end - from {
            card.flush()?;
            return Ok(false);
        }
        card.write(pieces(from, end, block), stamped.content(), |_, _, _| ())?;
        left = left.saturating_sub(end - from);
        end += period;
    }
    card.flush()?;
    Ok(true)
}

/// Half a period in whole sectors; one of a sector stays whole.
fn half(period: u64, sector: u32) -> u64 {
    let sector = u64::from(sector);
    (period / 2 / sector * sector).max(sector)
}

/// What the forward distances share that many samples in a row show; 0 where there are none. Lost blocks may show the
/// data of any other, each of its own.
fn period_at_the_start(card: &mut Card<'_>, written: u64, salt: u64) -> Result<u64, Stop> {
    let step = (written / 4096 / 512 * 512).max(4096);
    let sector = card.sector();
    let place = |offset: u64| Piece { offset: offset / u64::from(sector) * u64::from(sector), len: sector };
    let list: Vec<Piece> = (0..written).step_by(step as usize).map(place).collect();
    let mut samples = Vec::new();
    read_judged(card, list, Stamped { salt, generation: 1 }, |piece, _, seen| {
        if let Some(Seen { start, found: SectorFound::Elsewhere { address }, .. }) = seen.first() {
            samples.push((piece.offset / step, address.saturating_sub(*start)));
        }
    })?;
    samples.sort_unstable();
    let mut side_by_side = Ledger::default();
    for (nth, distance) in samples {
        let start = nth * SECTOR as u64;
        let found = SectorFound::Elsewhere { address: start + distance };
        side_by_side.add(&Seen { start, end: start + SECTOR as u64, found });
    }
    Ok(side_by_side.distances_in_a_row(u64::MAX).fold(0, gcd))
}

/// Disproofs that are listed at most.
const MOST_LISTED: usize = 12;

/// Writes the listed places anew, where the limits allow it, and reads them a third time; gives them with how often they were bad, and how many of
/// them were good this time. What another address has overwritten is no matter for a new write.
pub(crate) fn third_time(
    card: &mut Card<'_>,
    ledger: &Ledger,
    salt: u64,
    limits: Option<Limits>,
) -> Result<(Vec<Disproof>, u64), Stop> {
    let mut listed: Vec<(u64, SectorFound)> = ledger.examples().to_vec();
    listed.sort_by_key(|(address, _)| *address);
    listed.truncate(MOST_LISTED);
    let sector = card.sector();
    let mut came_back = 0;
    let mut disproofs = Vec::new();
    for (address, found) in listed {
        let expected = format!("stamp of address {address}, write 1");
        let mut seen_bad = 2;
        let room = limits.is_some_and(|limits| limits.room(card) >= u64::from(sector));
        if room && !matches!(found, SectorFound::Elsewhere { .. } | SectorFound::Error) {
            let offset = address / u64::from(sector) * u64::from(sector);
            let place = Piece { offset, len: sector };
            let stamped = Stamped { salt, generation: 1 };
            card.write([place], stamped.content(), |_, _, _| ())?;
            card.flush()?;
            let mut good = false;
            read_judged(card, [place], stamped, |_, _, seen| {
                good = seen.iter().all(|s| s.found == SectorFound::Expected);
            })?;
            // A cache may answer for a lost block that was written this moment, so only flips speak for the card.
            came_back += u64::from(good && matches!(found, SectorFound::Flipped { .. }));
            seen_bad += u32::from(!good);
        }
        disproofs.push(Disproof { address, expected, found, seen: seen_bad });
    }
    Ok((disproofs, came_back))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_the_good_ranges_is_doubted_first() {
        assert_eq!(from_the_end(vec![(0, 100), (200, 250)], 80), [(70, 100), (200, 250)]);
        assert_eq!(from_the_end(vec![(0, 100)], 1000), [(0, 100)]);
    }
}
