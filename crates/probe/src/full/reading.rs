//! Reading every sector of a range and judging each: what was bad is read again before it counts, and where an I/O
//! fails the place is narrowed down.

use super::chart::Chart;
use super::ledger::{Bad, Ledger, Seen, sectors};
use super::patience::{Look, Patience};
use crate::sector::SectorFound;
use cardscope_engine::card::{Answer, Card, Extent, Stop, extents};
use cardscope_engine::content::Content;
use cardscope_engine::event::Listener;
use cardscope_model::units::Nanos;

/// What is expected: the stamps of one write of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamped {
    pub(crate) salt: u64,
    pub(crate) generation: u32,
}

impl Stamped {
    pub(crate) fn content(self) -> Content {
        Content::Stamp { salt: self.salt, generation: self.generation }
    }
}

/// Read in one go, so that what is doubtful in it fits into a few MB of memory.
pub(crate) const STRETCH: u64 = 64 << 20;

/// Where all of an extent is bad, so many such extents stand for the others of the stretch when they are read again.
const SPOT_CHECKS: usize = 8;

/// A card is opened again for the sake of bad sectors so many times in a pass.
const MOST_REOPENINGS: u32 = 64;

/// Reads extents and judges every sector. `each` gets the runs of every extent, by address.
pub(crate) fn read_judged(
    card: &mut Card<'_>,
    list: impl IntoIterator<Item = Extent>,
    stamped: Stamped,
    each: impl FnMut(Extent, Nanos, &[Seen]),
) -> Result<(), Stop> {
    read_patiently(card, list, stamped, &mut { Patience::NONE }, each)
}

/// The same, with some patience for what cannot be read.
pub(crate) fn read_patiently(
    card: &mut Card<'_>,
    list: impl IntoIterator<Item = Extent>,
    stamped: Stamped,
    patience: &mut Patience,
    mut each: impl FnMut(Extent, Nanos, &[Seen]),
) -> Result<(), Stop> {
    let mut failed = Vec::new();
    card.read(list, stamped.content(), |extent, at, answer| {
        match answer {
            Answer::Same => each(extent, at, &[run(extent, SectorFound::Expected)]),
            Answer::Differs { bytes, .. } => {
                each(extent, at, &sectors(bytes, extent, stamped.salt, stamped.generation));
            }
            Answer::Failed(_) => failed.push(extent),
        }
        Ok(())
    })?;
    for extent in failed {
        let mut seen = Vec::new();
        narrow(card, extent, stamped, patience, &mut seen)?;
        each(extent, card.now(), &seen);
    }
    Ok(())
}

fn run(extent: Extent, found: SectorFound) -> Seen {
    Seen { start: extent.offset, end: extent.end(), found }
}

/// One extent; nothing where it cannot be read.
fn read_one(card: &mut Card<'_>, extent: Extent, stamped: Stamped) -> Result<Option<Vec<Seen>>, Stop> {
    let mut seen = None;
    card.read([extent], stamped.content(), |extent, _, answer| {
        seen = match answer {
            Answer::Same => Some(vec![run(extent, SectorFound::Expected)]),
            Answer::Differs { bytes, .. } => Some(sectors(bytes, extent, stamped.salt, stamped.generation)),
            Answer::Failed(_) => None,
        };
        Ok(())
    })?;
    Ok(seen)
}

/// Parts of a failing extent by which it is narrowed down.
const PARTS: u32 = 8;

/// Where both ends and the middle of so many bytes fail, all of them most likely have: what fails in flash are pages and
/// blocks, not single sectors.
const FAILS_AS_ONE: u32 = 128 << 10;

/// Where they fail in a part of that, all of it counts as failed.
const FAILS_FOR_SURE: u32 = FAILS_AS_ONE / PARTS;

/// Finds out which sectors of an extent cannot be read, with few tries: a failing read may take a card seconds. Where
/// both ends and the middle fail, its parts are looked at as long as the patience for that lasts; without it all of the
/// extent counts as failed.
fn narrow(
    card: &mut Card<'_>,
    extent: Extent,
    stamped: Stamped,
    patience: &mut Patience,
    out: &mut Vec<Seen>,
) -> Result<(), Stop> {
    let sector = card.sector();
    if extent.len <= sector {
        fails(extent, out);
        return Ok(());
    }
    let middle = extent.offset + u64::from(extent.len / 2 / sector * sector);
    let mut readable = 0;
    for offset in [extent.offset, middle, extent.end() - u64::from(sector)] {
        readable += u32::from(read_one(card, Extent { offset, len: sector }, stamped)?.is_some());
    }
    let doubtful = readable == 0;
    let look = if extent.len <= FAILS_AS_ONE { Look::Closer } else { Look::Usual };
    if doubtful && (extent.len <= FAILS_FOR_SURE || !patience.lasts(look)) {
        fails(extent, out);
        return Ok(());
    }
    let part = (extent.len / PARTS / sector * sector).max(sector);
    for part in extents(extent.offset, extent.end(), part) {
        if doubtful && !patience.lasts(look) {
            fails(part, out);
            continue;
        }
        let (before, began) = (out.len(), card.seconds());
        match read_one(card, part, stamped)? {
            Some(seen) => out.extend(seen),
            None => narrow(card, part, stamped, patience, out)?,
        }
        if doubtful {
            let found_any = out[before..].iter().any(|seen| seen.found != SectorFound::Error);
            patience.spend(look, card.seconds() - began, found_any);
        }
    }
    Ok(())
}

/// Appends an extent that cannot be read to the runs before it.
fn fails(extent: Extent, out: &mut Vec<Seen>) {
    match out.last_mut() {
        Some(last) if last.found == SectorFound::Error && last.end == extent.offset => {
            last.end = extent.end()
        }
        _ => out.push(run(extent, SectorFound::Error)),
    }
}

/// A pass that reads everything.
pub(crate) struct Reader<'a, 't> {
    pub(crate) card: &'a mut Card<'t>,
    pub(crate) watch: &'a mut dyn Listener,
    pub(crate) stamped: Stamped,
    pub(crate) ledger: &'a mut Ledger,
    pub(crate) chart: &'a mut Chart,
    patience: &'a mut Patience,
    reopenings: u32,
}

struct Doubt {
    extent: Extent,
    seen: Vec<Seen>,
}

impl Doubt {
    /// No sector of it is good.
    fn wholly(&self) -> bool {
        self.seen.iter().all(|s| matches!(Bad::of(s.found), Some(Bad::Lost | Bad::Alias | Bad::Failed)))
    }

    /// What of it is read again: what could not be read by itself, so that nothing is narrowed down twice.
    fn parts(&self) -> Vec<Extent> {
        let fails = |seen: &Seen| seen.found == SectorFound::Error;
        let alike = self.seen.chunk_by(|a, b| fails(a) == fails(b));
        let bad = alike.filter(|runs| runs.iter().any(|run| run.found != SectorFound::Expected));
        bad.filter_map(|runs| {
            let (first, last) = (runs.first()?, runs.last()?);
            Some(Extent { offset: first.start, len: (last.end - first.start) as u32 })
        })
        .collect()
    }
}

impl<'a, 't> Reader<'a, 't> {
    pub(crate) fn new(
        card: &'a mut Card<'t>,
        watch: &'a mut dyn Listener,
        stamped: Stamped,
        ledger: &'a mut Ledger,
        chart: &'a mut Chart,
        patience: &'a mut Patience,
    ) -> Self {
        Reader { card, watch, stamped, ledger, chart, patience, reopenings: 0 }
    }

    /// Reads and judges a range; `done` bytes of the phase and `began` on the card's clock are for the progress.
    pub(crate) fn stretch(&mut self, from: u64, to: u64, done: u64, began: f64) -> Result<(), Stop> {
        let mut doubts = Vec::new();
        let (chart, watch) = (&mut *self.chart, &mut *self.watch);
        chart.read.resume(self.card.now());
        let block = self.card.block();
        let mut moved = done;
        let (stamped, patience) = (self.stamped, &mut *self.patience);
        read_patiently(self.card, extents(from, to, block), stamped, patience, |extent, at, seen| {
            chart.read.ended(extent.offset, u64::from(extent.len), at);
            moved += u64::from(extent.len);
            watch.progress(moved, at as f64 / 1e9 - began);
            if seen.iter().any(|s| s.found != SectorFound::Expected) {
                doubts.push(Doubt { extent, seen: seen.to_vec() });
            }
        })?;
        self.settle(doubts)?;
        self.ledger.read += to - from;
        Ok(())
    }

    /// Nothing is held against the card that was seen once only.
    fn settle(&mut self, mut doubts: Vec<Doubt>) -> Result<(), Stop> {
        if doubts.is_empty() {
            return Ok(());
        }
        doubts.sort_by_key(|doubt| doubt.extent.offset);
        if self.reopenings < MOST_REOPENINGS {
            self.reopenings += 1;
            self.card.reopen()?;
        }
        let wholly = doubts.iter().filter(|d| d.wholly()).count();
        let every = (wholly / SPOT_CHECKS).max(1);
        let (mut nth, mut one_came_back) = (0, false);
        for doubt in &mut doubts {
            if doubt.wholly() {
                nth += 1;
                if !one_came_back && (nth - 1) % every != 0 && nth != wholly {
                    continue;
                }
            }
            let before = doubt.wholly();
            self.read_again(doubt)?;
            one_came_back |= before && !doubt.wholly();
        }
        for doubt in &doubts {
            for seen in doubt.seen.iter().filter(|s| s.found != SectorFound::Expected) {
                self.chart.bad(seen.start, seen.end);
                self.ledger.add(seen);
                if seen.found == SectorFound::Error {
                    self.chart.error(seen.start);
                }
            }
        }
        Ok(())
    }

    /// A second reading, and two more where the card's answers change and bits are still wrong: what is good once is
    /// good.
    fn read_again(&mut self, doubt: &mut Doubt) -> Result<(), Stop> {
        let parts = doubt.parts();
        for reading in 0..3 {
            let mut again = Vec::new();
            let list = parts.iter().copied();
            read_judged(self.card, list, self.stamped, |_, _, seen| again.extend_from_slice(seen))?;
            // What fails is heard of last.
            again.sort_by_key(|seen| seen.start);
            let (bad, changed) = bad_in_both(&doubt.seen, &again);
            self.ledger.passing += changed;
            doubt.seen = bad;
            let flips = doubt.seen.iter().any(|s| matches!(s.found, SectorFound::Flipped { .. }));
            if !flips || (self.ledger.passing == 0 && reading == 0) {
                break;
            }
        }
        Ok(())
    }
}

/// What is bad in two readings of one extent, as the second found it, and how many sectors were bad in one of them
/// only.
pub(crate) fn bad_in_both(first: &[Seen], second: &[Seen]) -> (Vec<Seen>, u64) {
    let bad = |list: &[Seen]| -> Vec<Seen> {
        list.iter().filter(|s| s.found != SectorFound::Expected).copied().collect()
    };
    let (first, second) = (bad(first), bad(second));
    let mut both = Vec::new();
    let mut from = 0;
    for seen in &second {
        while first.get(from).is_some_and(|f| f.end <= seen.start) {
            from += 1;
        }
        for other in first[from..].iter().take_while(|f| f.start < seen.end) {
            let (start, end) = (seen.start.max(other.start), seen.end.min(other.end));
            both.push(Seen { start, end, found: moved(seen, start) });
        }
    }
    let bytes = |list: &[Seen]| list.iter().map(|s| s.end - s.start).sum::<u64>();
    let changed = bytes(&first) + bytes(&second) - 2 * bytes(&both);
    (both, changed / 512)
}

/// The part of a run from `start` on.
fn moved(seen: &Seen, start: u64) -> SectorFound {
    match seen.found {
        SectorFound::Elsewhere { address } => {
            SectorFound::Elsewhere { address: address.wrapping_add(start - seen.start) }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(start: u64, end: u64, found: SectorFound) -> Seen {
        Seen { start, end, found }
    }

    #[test]
    fn only_what_is_bad_twice_is_bad() {
        let zero = SectorFound::Constant { byte: 0 };
        let flip = SectorFound::Flipped { bits: 1 };
        let first = [seen(0, 512, flip), seen(1024, 4096, zero)];
        let second = [seen(0, 1024, SectorFound::Expected), seen(2048, 8192, zero)];
        let (both, changed) = bad_in_both(&first, &second);
        assert_eq!(both, [seen(2048, 4096, zero)]);
        // One flip, two sectors at the start of the hole, eight behind it.
        assert_eq!(changed, 1 + 2 + 8);
    }
}
