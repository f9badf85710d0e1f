//! Reading every sector of a range and judging each: what was bad is read again before it counts, and where an I/O
//! fails the place is narrowed down.

use super::chart::Chart;
use super::ledger::{Bad, Ledger, Seen, sectors};
use super::patience::{Look, Patience};
use crate::sector::SectorFound;
use cardscope_engine::card::{Answer, Card, Piece, Stop, pieces};
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

/// Where all of a piece is bad, so many such pieces stand for the others of the stretch when they are read again.
const SPOT_CHECKS: usize = 8;

/// A card is opened again for the sake of bad sectors so many times in a pass.
const MOST_REOPENINGS: u32 = 64;

/// Reads pieces and judges every sector. `each` gets the runs of every piece, by address.
pub(crate) fn read_judged(
    card: &mut Card<'_>,
    list: impl IntoIterator<Item = Piece>,
    stamped: Stamped,
    each: impl FnMut(Piece, Nanos, &[Seen]),
) -> Result<(), Stop> {
    read_patiently(card, list, stamped, &mut { Patience::NONE }, each)
}

/// The same, with some patience for what cannot be read.
pub(crate) fn read_patiently(
    card: &mut Card<'_>,
    list: impl IntoIterator<Item = Piece>,
    stamped: Stamped,
    patience: &mut Patience,
    mut each: impl FnMut(Piece, Nanos, &[Seen]),
) -> Result<(), Stop> {
    let mut failed = Vec::new();
    card.read(list, stamped.content(), |piece, at, answer| {
        match answer {
            Answer::Same => each(piece, at, &[run(piece, SectorFound::Expected)]),
            Answer::Differs { bytes, .. } => {
                each(piece, at, &sectors(bytes, piece, stamped.salt, stamped.generation));
            }
            Answer::Failed(_) => failed.push(piece),
        }
        Ok(())
    })?;
    for piece in failed {
        let mut seen = Vec::new();
        narrow(card, piece, stamped, patience, &mut seen)?;
        each(piece, card.now(), &seen);
    }
    Ok(())
}

fn run(piece: Piece, found: SectorFound) -> Seen {
    Seen { start: piece.offset, end: piece.end(), found }
}

/// One piece; nothing where it cannot be read.
fn read_one(card: &mut Card<'_>, piece: Piece, stamped: Stamped) -> Result<Option<Vec<Seen>>, Stop> {
    let mut seen = None;
    card.read([piece], stamped.content(), |piece, _, answer| {
        seen = match answer {
            Answer::Same => Some(vec![run(piece, SectorFound::Expected)]),
            Answer::Differs { bytes, .. } => Some(sectors(bytes, piece, stamped.salt, stamped.generation)),
            Answer::Failed(_) => None,
        };
        Ok(())
    })?;
    Ok(seen)
}

/// Parts of a failing piece by which it is narrowed down.
const PARTS: u32 = 8;

/// Where both ends and the middle of so many bytes fail, all of them most likely have: what fails in flash are pages and
/// blocks, not single sectors.
const FAILS_AS_ONE: u32 = 128 << 10;

/// Where they fail in a part of that, all of it counts as failed.
const FAILS_FOR_SURE: u32 = FAILS_AS_ONE / PARTS;

/// Finds out which sectors of a piece cannot be read, with few tries: a failing read may take a card seconds. Where
/// both ends and the middle fail, its parts are looked at as long as the patience for that lasts; without it all of the
/// piece counts as failed.
fn narrow(
    card: &mut Card<'_>,
    piece: Piece,
    stamped: Stamped,
    patience: &mut Patience,
    out: &mut Vec<Seen>,
) -> Result<(), Stop> {
    let sector = card.sector();
    if piece.len <= sector {
        fails(piece, out);
        return Ok(());
    }
    let middle = piece.offset + u64::from(piece.len / 2 / sector * sector);
    let mut readable = 0;
    for offset in [piece.offset, middle, piece.end() - u64::from(sector)] {
        readable += u32::from(read_one(card, Piece { offset, len: sector }, stamped)?.is_some());
    }
    let doubtful = readable == 0;
    let look = if piece.len <= FAILS_AS_ONE { Look::Closer } else { Look::Usual };
    if doubtful && (piece.len <= FAILS_FOR_SURE || !patience.lasts(look)) {
        fails(piece, out);
        return Ok(());
    }
    let part = (piece.len / PARTS / sector * sector).max(sector);
    for part in pieces(piece.offset, piece.end(), part) {
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

/// Appends a piece that cannot be read to the runs before it.
fn fails(piece: Piece, out: &mut Vec<Seen>) {
    match out.last_mut() {
        Some(last) if last.found == SectorFound::Error && last.end == piece.offset => last.end = piece.end(),
        _ => out.push(run(piece, SectorFound::Error)),
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
    piece: Piece,
    seen: Vec<Seen>,
}

impl Doubt {
    /// No sector of it is good.
    fn wholly(&self) -> bool {
        self.seen.iter().all(|s| matches!(Bad::of(s.found), Some(Bad::Lost | Bad::Alias | Bad::Failed)))
    }

    /// What of it is read again: what could not be read by itself, so that nothing is narrowed down twice.
    fn parts(&self) -> Vec<Piece> {
        let fails = |seen: &Seen| seen.found == SectorFound::Error;
        let alike = self.seen.chunk_by(|a, b| fails(a) == fails(b));
        let bad = alike.filter(|runs| runs.iter().any(|run| run.found != SectorFound::Expected));
        bad.filter_map(|runs| {
            let (first, last) = (runs.first()?, runs.last()?);
            Some(Piece { offset: first.start, len: (last.end - first.start) as u32 })
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
        read_patiently(self.card, pieces(from, to, block), stamped, patience, |piece, at, seen| {
            chart.read.ended(piece.offset, u64::from(piece.len), at);
            moved += u64::from(piece.len);
            watch.progress(moved, at as f64 / 1e9 - began);
            if seen.iter().any(|s| s.found != SectorFound::Expected) {
                doubts.push(Doubt { piece, seen: seen.to_vec() });
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
        doubts.sort_by_key(|doubt| doubt.piece.offset);
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

/// What is bad in two readings of one piece, as the second found it, and how many sectors were bad in one of them
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
