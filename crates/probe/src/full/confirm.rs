//! What is asked of a card that lost something, before it is accused: does a cache answer for more that is lost, does
//! the card still take writes at all, do addresses wrap beyond its end, and do the listed places fail after a new write
//! too.

use super::ledger::{Bad, Ledger, Seen};
use super::reading::{Stamped, bad_in_both, read_judged};
use super::remaining::Remaining;
use super::sentinels;
use crate::period::gcd;
use crate::sector::{SECTOR, SectorFound};
use cardscope_engine::card::{Card, Extent, Stop, extents};
use cardscope_model::verify::Disproof;

/// Bytes of lost ranges that are written anew at most, to push what is left of others out of a cache: the largest cache
/// that `verify --thorough` looks for, twice.
const MOST_REWRITTEN: u64 = 4 << 30;

/// Bytes in a row, from the end back, that must stand a write of as many elsewhere before those in front of them are
/// believed too.
const MOST_DOUBTED: u64 = 4 << 30;

/// In front of the first lost byte so many are doubted as well: a cache may answer for the last ones there, too. Twice
/// as many in each round that follows one in which it did.
const DOUBTED_IN_FRONT: u64 = 1 << 20;

/// Where nothing but those is doubted, so much of what is lost is written anew: no cache that is known of holds more.
const REWRITTEN_FOR_THE_FRONT: u64 = 512 << 20;

/// Rounds of writing and reading; each at least doubles what is known to be lost behind the first byte, or is doubted in
/// front of it, where there is more.
const MOST_ROUNDS: u32 = 24;

/// What unmasking a cache needs to know.
pub(crate) struct Unmasking {
    /// Written from 0 on.
    pub(crate) end: u64,
    /// The period in which addresses repeat.
    pub(crate) period: Option<u64>,
    /// The range beyond is known to keep nothing.
    pub(crate) nothing_beyond: bool,
    pub(crate) salt: u64,
    pub(crate) remaining: Remaining,
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
    let (end, sector) = (asked.end, card.sector());
    let (mut hidden, mut in_front) = (0, DOUBTED_IN_FRONT);
    for round in 0..MOST_ROUNDS {
        let Some(first) = ledger.first_lost() else { return Ok((hidden, true)) };
        let behind = from_the_end(whole_within(ledger.good_between(first, end), sector), MOST_DOUBTED);
        let front = whole_within(ledger.good_between(first.saturating_sub(in_front), first), sector);
        let lost = to_rewrite(card, ledger, asked, &behind);
        let room = asked.remaining.room(card) / u64::from(sector) * u64::from(sector);
        let whole = bytes(&lost) <= room;
        if lost.is_empty() || behind.is_empty() && front.is_empty() {
            return Ok((hidden, true));
        }
        rewrite(card, &from_the_end(lost, room), Stamped { salt: asked.salt, generation: 2 + round })?;
        let found = lost_of(card, &[front, behind].concat(), asked.salt)?;
        hidden += found.iter().map(|s| s.end - s.start).sum::<u64>();
        found.iter().for_each(&mut *each);
        ledger.unmask(&found);
        ledger.others_are_losses(asked.period);
        if !whole || found.is_empty() {
            return Ok((hidden, whole));
        }
        if found.iter().any(|seen| seen.start < first) {
            in_front *= 2;
        }
    }
    Ok((hidden, false))
}

fn bytes(ranges: &[(u64, u64)]) -> u64 {
    ranges.iter().map(|(from, to)| to - from).sum()
}

/// What of some ranges is lost, in two readings with the card opened anew before each.
fn lost_of(card: &mut Card<'_>, ranges: &[(u64, u64)], salt: u64) -> Result<Vec<Seen>, Stop> {
    let block = card.block();
    let lost = |seen: &Seen| matches!(Bad::of(seen.found), Some(Bad::Lost | Bad::Alias | Bad::Failed));
    let read = |card: &mut Card<'_>, list: &[Extent]| -> Result<(Vec<Extent>, Vec<Seen>), Stop> {
        card.reopen()?;
        let (mut places, mut found) = (Vec::new(), Vec::new());
        read_judged(card, list.iter().copied(), Stamped { salt, generation: 1 }, |extent, _, seen| {
            if seen.iter().any(lost) {
                places.push(extent);
                found.extend(seen.iter().filter(|seen| lost(seen)));
            }
        })?;
        // What fails is heard of last.
        places.sort_unstable_by_key(|extent| extent.offset);
        found.sort_unstable_by_key(|seen: &Seen| seen.start);
        Ok((places, found))
    };
    let list: Vec<Extent> = ranges.iter().flat_map(|(from, to)| extents(*from, *to, block)).collect();
    let (places, first) = read(card, &list)?;
    if places.is_empty() {
        return Ok(first);
    }
    let (_, second) = read(card, &places)?;
    Ok(bad_in_both(&first, &second).0)
}

/// What of some ranges lies in sectors of the device that belong to them as a whole.
fn whole_within(ranges: Vec<(u64, u64)>, sector: u32) -> Vec<(u64, u64)> {
    let sector = u64::from(sector);
    let within = |(from, to): (u64, u64)| (from.next_multiple_of(sector), to / sector * sector);
    ranges.into_iter().map(within).filter(|(from, to)| from < to).collect()
}

/// Some ranges, each grown to whole sectors of the device.
fn whole_around(ranges: Vec<(u64, u64)>, sector: u32) -> Vec<(u64, u64)> {
    let sector = u64::from(sector);
    let mut around: Vec<(u64, u64)> = Vec::with_capacity(ranges.len());
    for (from, to) in ranges {
        let (from, to) = (from / sector * sector, to.next_multiple_of(sector));
        match around.last_mut() {
            Some(last) if last.1 >= from => last.1 = to,
            _ => around.push((from, to)),
        }
    }
    around
}

/// The lost ranges, and as much beyond the end as may push out what is doubted behind the first lost byte.
fn to_rewrite(card: &Card<'_>, ledger: &Ledger, asked: &Unmasking, behind: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let lost = ledger.runs().iter().filter(|run| matches!(run.bad, Bad::Lost | Bad::Failed));
    let mut list: Vec<(u64, u64)> = lost.map(|run| (run.start, run.end)).collect();
    if asked.nothing_beyond && !list.is_empty() && !behind.is_empty() {
        let beyond = asked.end.saturating_add(bytes(behind).saturating_mul(2));
        list.push((asked.end, beyond.min(card.bytes())));
    }
    let most = if behind.is_empty() { REWRITTEN_FOR_THE_FRONT } else { MOST_REWRITTEN };
    from_the_end(whole_around(list, card.sector()), most)
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
    let list = lost.iter().flat_map(|(from, to)| extents(*from, *to, block));
    card.write(list, stamped.content(), |_, _, _| ())?;
    card.flush()
}

/// Whether places that were good take a write once more; `None` where the limits forbid it. Their stamps are put back
/// by writing them again.
pub(crate) fn takes_writes(
    card: &mut Card<'_>,
    good: &[(u64, u64)],
    salt: u64,
    remaining: &Remaining,
) -> Result<Option<bool>, Stop> {
    let places: Vec<Extent> = whole_within(good.to_vec(), card.sector())
        .iter()
        .take(4)
        .map(|(from, to)| Extent { offset: *from, len: (to - from).min(4096) as u32 })
        .collect();
    if remaining.room(card) < places.iter().map(|place| 2 * u64::from(place.len)).sum() {
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
    remaining: &Remaining,
) -> Result<bool, Stop> {
    let mut places = sentinels::markers(from, card.bytes(), kept);
    let (all, mut room) = (places.len(), remaining.room(card));
    let mut fits = |place: &Extent| {
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
    remaining: &Remaining,
) -> Result<bool, Stop> {
    let period = period_at_the_start(card, written, salt)?;
    // One that is shorter than a sector has no end that could be written by itself.
    if period < u64::from(card.sector()) {
        return Ok(true);
    }
    let (mut left, block, card_bytes) = (ALL_TOPS, card.block(), card.bytes());
    let mut end = (written / period + 1) * period;
    while end <= card_bytes && left > 0 {
        let top = TOP.min(period);
        let last = end + period > card_bytes || left <= top;
        let len = if last && period <= TOP { half(period, card.sector()) } else { top };
        let top = whole_within(vec![(end.saturating_sub(len).max(written), end)], card.sector());
        let stamped = Stamped { salt, generation: sentinels::GENERATION };
        if remaining.room(card) < bytes(&top) {
            card.flush()?;
            return Ok(false);
        }
        let list = top.iter().flat_map(|(from, to)| extents(*from, *to, block));
        card.write(list, stamped.content(), |_, _, _| ())?;
        left = left.saturating_sub(bytes(&top));
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
    let place = |offset: u64| Extent { offset: offset / u64::from(sector) * u64::from(sector), len: sector };
    let list: Vec<Extent> = (0..written).step_by(step as usize).map(place).collect();
    let mut samples = Vec::new();
    read_judged(card, list, Stamped { salt, generation: 1 }, |extent, _, seen| {
        if let Some(Seen { start, found: SectorFound::Elsewhere { address }, .. }) = seen.first() {
            samples.push((extent.offset.div_ceil(step), address.saturating_sub(*start)));
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
    remaining: Option<Remaining>,
) -> Result<(Vec<Disproof>, u64), Stop> {
    let mut listed: Vec<(u64, SectorFound)> = ledger.examples().collect();
    listed.sort_by_key(|(address, _)| *address);
    listed.truncate(MOST_LISTED);
    let sector = card.sector();
    let mut came_back = 0;
    let mut disproofs = Vec::new();
    for (address, found) in listed {
        let expected = format!("stamp of address {address}, write 1");
        let mut seen_bad = 2;
        let room = remaining.is_some_and(|remaining| remaining.room(card) >= u64::from(sector));
        if room && !matches!(found, SectorFound::Elsewhere { .. } | SectorFound::Error) {
            let offset = address / u64::from(sector) * u64::from(sector);
            let place = Extent { offset, len: sector };
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
    fn what_is_read_and_written_again_are_whole_sectors() {
        let ranges = vec![(512, 9000), (12_288, 12_800), (13_312, 20_480)];
        assert_eq!(whole_within(ranges.clone(), 4096), [(4096, 8192), (16_384, 20_480)]);
        assert_eq!(whole_around(ranges, 4096), [(0, 20_480)]);
        assert_eq!(whole_around(vec![(512, 1024), (8192, 8704)], 4096), [(0, 4096), (8192, 12_288)]);
        assert_eq!(whole_within(vec![(512, 1024)], 512), [(512, 1024)]);
    }

    #[test]
    fn the_end_of_the_good_ranges_is_doubted_first() {
        assert_eq!(from_the_end(vec![(0, 100), (200, 250)], 80), [(70, 100), (200, 250)]);
        assert_eq!(from_the_end(vec![(0, 100)], 1000), [(0, 100)]);
    }
}
