//! Reading extents and judging each sector; where an I/O fails the place is narrowed down, with some patience: a command
//! that hits one bad place fails as a whole, and only more tries can tell what is good around it; but each of them may
//! take a card seconds, and beyond the end of a fake there is nothing to be found.

use super::ledger::{SectorRun, sectors};
use cardscope_engine::card::{CardExtent, IoDriver, ProbeStop, ReadAnswer, extents};
use cardscope_engine::content::IoContent;
use cardscope_model::units::Nanos;
use cardscope_model::verify::SectorFound;

/// What is expected: the stamps of one write of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpectedStamps {
    pub salt: u64,
    pub generation: u32,
}

impl ExpectedStamps {
    pub fn content(self) -> IoContent {
        IoContent::Stamp { salt: self.salt, generation: self.generation }
    }

    /// What stands in an extent, by its answer; `None` where it could not be read.
    fn judge(self, extent: CardExtent, answer: &ReadAnswer<'_>) -> Option<Vec<SectorRun>> {
        match answer {
            ReadAnswer::Same => Some(vec![run(extent, SectorFound::Expected)]),
            ReadAnswer::Differs { bytes, .. } => Some(sectors(bytes, extent, self.salt, self.generation)),
            ReadAnswer::Failed(_) => None,
        }
    }
}

/// Seconds of a pass that may go into tries that find nothing.
const PATIENCE_S: f64 = 60.0;

/// Of that, the share that may go into closer looks at what fails at both ends and in the middle.
const CLOSER_SHARE: f64 = 0.125;

/// Of a budget, so much of it at most.
const PATIENCE_SHARE: f64 = 0.02;

/// What is left of the time for tries that find nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RetryBudget {
    seconds: f64,
    /// For closer looks.
    closer: f64,
}

/// How close a look is that needs patience.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryDepth {
    /// Down to parts that are as long as what fails as one in flash.
    Usual,
    /// At parts of these.
    Closer,
}

impl RetryBudget {
    /// For places of which no more is asked than whether they can be read.
    pub(crate) const NONE: RetryBudget = RetryBudget { seconds: 0.0, closer: 0.0 };

    /// For a pass, with its budget in seconds where it has one.
    pub fn of_a_pass(budget_s: Option<f64>) -> Self {
        let seconds = budget_s.map_or(PATIENCE_S, |budget| PATIENCE_S.min(budget * PATIENCE_SHARE));
        let closer = seconds * CLOSER_SHARE;
        RetryBudget { seconds: seconds - closer, closer }
    }

    pub fn lasts(self, look: RetryDepth) -> bool {
        match look {
            RetryDepth::Usual => self.seconds > 0.0,
            RetryDepth::Closer => self.closer > 0.0,
        }
    }

    /// A try took so many seconds; one that found something costs nothing.
    pub fn spend(&mut self, look: RetryDepth, seconds: f64, found_any: bool) {
        let left = match look {
            RetryDepth::Usual => &mut self.seconds,
            RetryDepth::Closer => &mut self.closer,
        };
        *left -= if found_any { 0.0 } else { seconds };
    }
}

/// Reads extents and judges every sector. `each` gets the runs of every extent, by address.
pub fn read_judged(
    card: &mut IoDriver<'_>,
    list: impl IntoIterator<Item = CardExtent>,
    stamped: ExpectedStamps,
    each: impl FnMut(CardExtent, Nanos, &[SectorRun]),
) -> Result<(), ProbeStop> {
    read_patiently(card, list, stamped, &mut { RetryBudget::NONE }, each)
}

/// The same, with some patience for what cannot be read.
pub fn read_patiently(
    card: &mut IoDriver<'_>,
    list: impl IntoIterator<Item = CardExtent>,
    stamped: ExpectedStamps,
    patience: &mut RetryBudget,
    mut each: impl FnMut(CardExtent, Nanos, &[SectorRun]),
) -> Result<(), ProbeStop> {
    let mut failed = Vec::new();
    card.read(list, stamped.content(), |extent, at, answer| {
        match stamped.judge(extent, &answer) {
            Some(seen) => each(extent, at, &seen),
            None => failed.push(extent),
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

fn run(extent: CardExtent, found: SectorFound) -> SectorRun {
    SectorRun { start: extent.offset, end: extent.end(), found }
}

/// One extent; nothing where it cannot be read.
fn read_one(
    card: &mut IoDriver<'_>,
    extent: CardExtent,
    stamped: ExpectedStamps,
) -> Result<Option<Vec<SectorRun>>, ProbeStop> {
    let mut seen = None;
    card.read([extent], stamped.content(), |extent, _, answer| {
        seen = stamped.judge(extent, &answer);
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
    card: &mut IoDriver<'_>,
    extent: CardExtent,
    stamped: ExpectedStamps,
    patience: &mut RetryBudget,
    out: &mut Vec<SectorRun>,
) -> Result<(), ProbeStop> {
    let sector = card.sector();
    if extent.len <= sector {
        fails(extent, out);
        return Ok(());
    }
    let middle = extent.offset + u64::from(extent.len / 2 / sector * sector);
    let mut readable = 0;
    for offset in [extent.offset, middle, extent.end() - u64::from(sector)] {
        readable += u32::from(read_one(card, CardExtent { offset, len: sector }, stamped)?.is_some());
    }
    let doubtful = readable == 0;
    let look = if extent.len <= FAILS_AS_ONE { RetryDepth::Closer } else { RetryDepth::Usual };
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
fn fails(extent: CardExtent, out: &mut Vec<SectorRun>) {
    match out.last_mut() {
        Some(last) if last.found == SectorFound::Error && last.end == extent.offset => {
            last.end = extent.end()
        }
        _ => out.push(run(extent, SectorFound::Error)),
    }
}

/// What is bad in two readings of one extent, as the second found it, and how many sectors were bad in one of them
/// only.
pub fn bad_in_both(first: &[SectorRun], second: &[SectorRun]) -> (Vec<SectorRun>, u64) {
    let bad = |list: &[SectorRun]| -> Vec<SectorRun> {
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
            both.push(SectorRun { start, end, found: moved(seen, start) });
        }
    }
    let bytes = |list: &[SectorRun]| list.iter().map(|s| s.end - s.start).sum::<u64>();
    let changed = bytes(&first) + bytes(&second) - 2 * bytes(&both);
    (both, changed / 512)
}

/// The part of a run from `start` on.
fn moved(seen: &SectorRun, start: u64) -> SectorFound {
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

    fn seen(start: u64, end: u64, found: SectorFound) -> SectorRun {
        SectorRun { start, end, found }
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

    #[test]
    fn only_what_finds_nothing_costs_patience() {
        for look in [RetryDepth::Usual, RetryDepth::Closer] {
            let mut patience = RetryBudget::of_a_pass(None);
            patience.spend(look, 1000.0, true);
            assert!(patience.lasts(look));
            patience.spend(look, PATIENCE_S, false);
            assert!(!patience.lasts(look));
            assert!(!RetryBudget::NONE.lasts(look));
        }
    }
}
