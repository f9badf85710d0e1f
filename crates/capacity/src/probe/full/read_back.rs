//! Reads every block and judges each sector. Bad sectors are read again before they count.

use super::FullPass;
use crate::probe::Result;
use cardscope_engine::io_driver::{CardExtent, split_extents};
use cardscope_model::units::DecimalSize;
use cardscope_model::verify::SectorFound;
use cardscope_probing::bad_ranges::{BadKind, SectorRun};
use cardscope_probing::reading::{bad_in_both, read_judged, read_with_retries};

pub const READING: &str = "reading every block";

/// Bytes read at once, so that doubtful extents fit into a few MB of memory.
const RANGE_BYTES: u64 = 64 << 20;

/// Number of wholly bad extents in a range that are read again as samples of all.
const SPOT_CHECKS: usize = 8;

/// Most times that the card is reopened for bad sectors in a pass.
const MAX_REOPENINGS: u32 = 64;

struct DoubtfulExtent {
    extent: CardExtent,
    seen: Vec<SectorRun>,
}

impl DoubtfulExtent {
    fn is_wholly_bad(&self) -> bool {
        self.seen.iter().all(|s| BadKind::is_gone(s.result))
    }

    /// Parts to read again. Failed sectors are separate, so that reads need not be narrowed down twice.
    fn parts_to_reread(&self) -> Vec<CardExtent> {
        let fails = |seen: &SectorRun| seen.result == SectorFound::Error;
        let alike = self.seen.chunk_by(|a, b| fails(a) == fails(b));
        let bad = alike.filter(|runs| runs.iter().any(|run| run.result != SectorFound::Expected));
        bad.filter_map(|runs| {
            let (first, last) = (runs.first()?, runs.last()?);
            Some(CardExtent { offset: first.start, len: (last.end - first.start) as u32 })
        })
        .collect()
    }
}

impl FullPass<'_, '_> {
    pub(super) fn read_all(&mut self, end: u64) -> Result<()> {
        self.events.begin_stage(READING, Some(end), None);
        let mut at = 0;
        while at < end {
            let spent = self.card.seconds() - self.began;
            if self.settings.budget_s.is_some_and(|budget| spent >= budget) {
                let text = format!("the budget ends reading after {}", DecimalSize(at));
                self.events.report_note(&text);
                self.remarks.push(text);
                break;
            }
            let to = (at + RANGE_BYTES).min(end);
            self.read_range(at, to)?;
            at = to;
            self.evidence.read_to = at;
        }
        Ok(())
    }

    /// Reads `[0, end)` without any check that writes.
    pub(super) fn read_without_writing(&mut self, end: u64) -> Result<()> {
        self.read_all(end)?;
        self.find_wrap();
        self.rewrite_and_reread(false)
    }

    fn read_range(&mut self, from: u64, to: u64) -> Result<()> {
        let mut doubts = Vec::new();
        let (stamped, block) = (self.expected_stamps(), self.card.block());
        let (chart, events) = (&mut self.chart, &mut *self.events);
        chart.read.resume(self.card.now());
        let mut moved = from;
        let patience = &mut self.patience;
        let list = split_extents(from, to, block);
        read_with_retries(self.card, list, stamped, patience, |extent, at, seen| {
            chart.read.add_completed(extent.offset, u64::from(extent.len), at);
            moved += u64::from(extent.len);
            events.report_bytes(moved);
            if seen.iter().any(|s| s.result != SectorFound::Expected) {
                doubts.push(DoubtfulExtent { extent, seen: seen.to_vec() });
            }
        })?;
        self.reread_doubtful(doubts)?;
        self.ledger.read += to - from;
        Ok(())
    }

    /// Reads doubtful extents again: a single read accuses no card.
    fn reread_doubtful(&mut self, mut doubts: Vec<DoubtfulExtent>) -> Result<()> {
        if doubts.is_empty() {
            return Ok(());
        }
        doubts.sort_by_key(|doubt| doubt.extent.offset);
        if self.reopenings < MAX_REOPENINGS {
            self.reopenings += 1;
            self.card.reopen()?;
        }
        let wholly = doubts.iter().filter(|d| d.is_wholly_bad()).count();
        let every = (wholly / SPOT_CHECKS).max(1);
        let (mut nth, mut one_came_back) = (0, false);
        for doubt in &mut doubts {
            let before = doubt.is_wholly_bad();
            if before {
                nth += 1;
                if !one_came_back && (nth - 1) % every != 0 && nth != wholly {
                    continue;
                }
            }
            self.read_again(doubt)?;
            one_came_back |= before && !doubt.is_wholly_bad();
        }
        let bad = doubts.iter().flat_map(|doubt| &doubt.seen).filter(|s| s.result != SectorFound::Expected);
        for seen in bad {
            self.chart.add_bad(seen.start, seen.end);
            self.ledger.add_run(seen);
            if seen.result == SectorFound::Error {
                self.chart.add_error(seen.start);
            }
        }
        Ok(())
    }

    /// Reads once more, and twice more if answers vary and bits are still wrong. A sector that is good once is
    /// good.
    fn read_again(&mut self, doubt: &mut DoubtfulExtent) -> Result<()> {
        let parts = doubt.parts_to_reread();
        for reading in 0..3 {
            let mut again = Vec::new();
            let (list, stamped) = (parts.iter().copied(), self.expected_stamps());
            read_judged(self.card, list, stamped, |_, _, seen| again.extend_from_slice(seen))?;
            // Failed extents are reported last.
            again.sort_by_key(|seen| seen.start);
            let (bad, changed) = bad_in_both(&doubt.seen, &again);
            self.ledger.bad.passing_sectors += changed;
            doubt.seen = bad;
            let flips = doubt.seen.iter().any(|s| matches!(s.result, SectorFound::Flipped { .. }));
            if !flips || (self.ledger.bad.passing_sectors == 0 && reading == 0) {
                break;
            }
        }
        Ok(())
    }
}
