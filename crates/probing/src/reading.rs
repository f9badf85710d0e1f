//! Reading and judging of stamped sectors. A failed read is narrowed down to the bad sectors, within a time budget: a
//! command fails as a whole for one bad place, but each retry may take seconds, and beyond the real end of a fake card
//! nothing is readable.

use super::bad_ranges::{SectorRun, judge_sectors};
use cardscope_engine::content::IoContent;
use cardscope_engine::io_driver::{CardExtent, IoDriver, ProbeResult, ReadAnswer, split_extents};
use cardscope_model::units::Nanos;
use cardscope_model::verify::SectorFound;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpectedStamps {
    pub salt: u64,
    pub generation: u32,
}

impl ExpectedStamps {
    pub fn content(self) -> IoContent {
        IoContent::Stamp { salt: self.salt, generation: self.generation }
    }

    /// Returns the results of all sectors of an extent, or `None` if it could not be read.
    fn judge_answer(self, extent: CardExtent, answer: &ReadAnswer<'_>) -> Option<SectorRuns> {
        let ExpectedStamps { salt, generation } = self;
        match answer {
            ReadAnswer::Same => Some(vec![whole_run(extent, SectorFound::Expected)]),
            ReadAnswer::Differs { bytes, .. } => Some(judge_sectors(bytes, extent, salt, generation)),
            ReadAnswer::Failed(_) => None,
        }
    }
}

type SectorRuns = Vec<SectorRun>;

/// Per pass, for retries that find nothing readable.
const RETRY_S: f64 = 60.0;

const FINE_SHARE: f64 = 0.125;

const RETRY_SHARE: f64 = 0.02;

/// Remaining time for retries that find nothing readable.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RetryBudget {
    seconds: f64,
    fine_seconds: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryDepth {
    /// Down to ranges that fail as one in flash.
    Coarse,
    Fine,
}

impl RetryBudget {
    /// No retries: callers only need to know whether an extent is readable.
    pub(crate) const NONE: RetryBudget = RetryBudget { seconds: 0.0, fine_seconds: 0.0 };

    /// Budget of one pass, a share of its time limit if it has one.
    pub fn for_pass(budget_s: Option<f64>) -> Self {
        let seconds = budget_s.map_or(RETRY_S, |budget| RETRY_S.min(budget * RETRY_SHARE));
        let closer = seconds * FINE_SHARE;
        RetryBudget { seconds: seconds - closer, fine_seconds: closer }
    }

    pub fn has_time(self, look: RetryDepth) -> bool {
        match look {
            RetryDepth::Coarse => self.seconds > 0.0,
            RetryDepth::Fine => self.fine_seconds > 0.0,
        }
    }

    /// Charges the time of a retry, unless it found something readable.
    pub fn charge(&mut self, look: RetryDepth, seconds: f64, found_any: bool) {
        let left = match look {
            RetryDepth::Coarse => &mut self.seconds,
            RetryDepth::Fine => &mut self.fine_seconds,
        };
        *left -= if found_any { 0.0 } else { seconds };
    }
}

/// Reads extents and judges every sector, without narrowing down failures. `each` gets the runs of an extent by
/// address.
pub fn read_judged(
    card: &mut IoDriver<'_>,
    list: impl IntoIterator<Item = CardExtent>,
    stamped: ExpectedStamps,
    each: impl FnMut(CardExtent, Nanos, &[SectorRun]),
) -> ProbeResult {
    read_with_retries(card, list, stamped, &mut { RetryBudget::NONE }, each)
}

/// Reads and judges extents like [`read_judged`], and narrows down failures as long as the budget lasts.
pub fn read_with_retries(
    card: &mut IoDriver<'_>,
    list: impl IntoIterator<Item = CardExtent>,
    stamped: ExpectedStamps,
    patience: &mut RetryBudget,
    mut each: impl FnMut(CardExtent, Nanos, &[SectorRun]),
) -> ProbeResult {
    let mut failed = Vec::new();
    card.read(list, stamped.content(), |extent, at, answer| {
        match stamped.judge_answer(extent, &answer) {
            Some(seen) => each(extent, at, &seen),
            None => failed.push(extent),
        }
        Ok(())
    })?;
    for extent in failed {
        let mut seen = Vec::new();
        find_bad_sectors(card, extent, stamped, patience, &mut seen)?;
        each(extent, card.now(), &seen);
    }
    Ok(())
}

fn whole_run(extent: CardExtent, found: SectorFound) -> SectorRun {
    SectorRun { start: extent.offset, end: extent.end(), result: found }
}

fn read_extent(
    card: &mut IoDriver<'_>,
    at: CardExtent,
    by: ExpectedStamps,
) -> ProbeResult<Option<SectorRuns>> {
    let mut seen = None;
    card.read([at], by.content(), |extent, _, answer| {
        seen = by.judge_answer(extent, &answer);
        Ok(())
    })?;
    Ok(seen)
}

const PARTS: u32 = 8;

/// Flash fails by pages and blocks, not by sectors: if both ends and the middle of a range of this size fail, the rest
/// most likely does too.
const FAILS_AS_ONE: u32 = 128 << 10;

/// Ranges this small are not read further: if both ends and the middle fail, the whole range counts as failed.
const SURELY_FAILED: u32 = FAILS_AS_ONE / PARTS;

/// Finds the unreadable sectors of an extent with few reads, since a failing read may take seconds. If both ends and
/// the middle fail, parts are tried while the retry budget lasts; after that the rest counts as failed.
fn find_bad_sectors(
    card: &mut IoDriver<'_>,
    extent: CardExtent,
    stamped: ExpectedStamps,
    patience: &mut RetryBudget,
    out: &mut Vec<SectorRun>,
) -> ProbeResult {
    let sector = card.sector();
    if extent.len <= sector {
        push_failed(extent, out);
        return Ok(());
    }
    let middle = extent.offset + u64::from(extent.len / 2 / sector * sector);
    let mut readable = 0;
    for offset in [extent.offset, middle, extent.end() - u64::from(sector)] {
        readable += u32::from(read_extent(card, CardExtent { offset, len: sector }, stamped)?.is_some());
    }
    let doubtful = readable == 0;
    let look = if extent.len <= FAILS_AS_ONE { RetryDepth::Fine } else { RetryDepth::Coarse };
    if doubtful && (extent.len <= SURELY_FAILED || !patience.has_time(look)) {
        push_failed(extent, out);
        return Ok(());
    }
    let part = (extent.len / PARTS / sector * sector).max(sector);
    for part in split_extents(extent.offset, extent.end(), part) {
        if doubtful && !patience.has_time(look) {
            push_failed(part, out);
            continue;
        }
        let (before, began) = (out.len(), card.seconds());
        match read_extent(card, part, stamped)? {
            Some(seen) => out.extend(seen),
            None => find_bad_sectors(card, part, stamped, patience, out)?,
        }
        if doubtful {
            let found_any = out[before..].iter().any(|seen| seen.result != SectorFound::Error);
            patience.charge(look, card.seconds() - began, found_any);
        }
    }
    Ok(())
}

fn push_failed(extent: CardExtent, out: &mut Vec<SectorRun>) {
    match out.last_mut() {
        Some(run) if run.result == SectorFound::Error && run.end == extent.offset => run.end = extent.end(),
        _ => out.push(whole_run(extent, SectorFound::Error)),
    }
}

/// Returns the sectors that are bad in both readings, with the second result, and the number of sectors that were bad
/// in one reading only.
pub fn bad_in_both(first: &[SectorRun], second: &[SectorRun]) -> (Vec<SectorRun>, u64) {
    let is_bad = |run: &&SectorRun| run.result != SectorFound::Expected;
    let [first, second] = [first, second].map(|list| list.iter().filter(is_bad).copied().collect::<Vec<_>>());
    let mut both = Vec::new();
    let mut from = 0;
    for seen in &second {
        while first.get(from).is_some_and(|f| f.end <= seen.start) {
            from += 1;
        }
        for other in first[from..].iter().take_while(|f| f.start < seen.end) {
            let (start, end) = (seen.start.max(other.start), seen.end.min(other.end));
            both.push(SectorRun { start, end, result: result_from(seen, start) });
        }
    }
    let bytes = |list: &[SectorRun]| list.iter().map(|s| s.end - s.start).sum::<u64>();
    let changed = bytes(&first) + bytes(&second) - 2 * bytes(&both);
    (both, changed / 512)
}

/// A stamp of another address names one address per sector: a run that begins later names a later one.
fn result_from(seen: &SectorRun, start: u64) -> SectorFound {
    let ahead = start - seen.start;
    match seen.result {
        SectorFound::Elsewhere { address } => SectorFound::Elsewhere { address: address.wrapping_add(ahead) },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(start: u64, end: u64, found: SectorFound) -> SectorRun {
        SectorRun { start, end, result: found }
    }

    #[test]
    fn only_sectors_bad_in_both_readings_count() {
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
    fn only_fruitless_retries_use_retry_budget() {
        for look in [RetryDepth::Coarse, RetryDepth::Fine] {
            let mut patience = RetryBudget::for_pass(None);
            patience.charge(look, 1000.0, true);
            assert!(patience.has_time(look));
            patience.charge(look, RETRY_S, false);
            assert!(!patience.has_time(look));
            assert!(!RetryBudget::NONE.has_time(look));
        }
    }
}
