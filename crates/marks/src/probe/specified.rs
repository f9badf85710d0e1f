//! Random I/O in the conditions of the specification (docs/reference/sd.md#application-classes): the card is erased and
//! filled to 75 %, 256 MiB are written sequentially, then ten minutes of random writes and ten of reads follow there,
//! again with the card's queue if the host uses it. At last the full card is tested with 1 GiB of sequential writes.

use super::options::TEST_AREA;
use super::stopping_rule::SliceTask;
use super::tester::{MarkTester, WriteRun};
use cardscope_engine::io_driver::{ProbeStop, split_extents};
use cardscope_engine::target::TargetRegion;
use cardscope_model::mark_result::TestForm;
use cardscope_model::units::{MIB, mb_per_s};

/// Filled share of the card before random I/O, in quarters.
const FILLED_QUARTERS: u64 = 3;
/// Write size of the specification, and writes in flight, so that the bus is always busy.
const CHUNK: u32 = 4 * MIB as u32;
const IN_FLIGHT: u32 = 2;
const SUSTAINED: u64 = 1024 * MIB;
/// Seconds of random writes, and of random reads.
const TEN_MINUTES: f64 = 600.0;
const PAGE: u64 = 4096;

impl MarkTester<'_, '_, '_> {
    /// Runs the whole procedure; returns false, without a measurement, if its conditions cannot be met.
    pub(super) fn measure_as_specified(&mut self) -> Result<bool, ProbeStop> {
        let region = self.context.region;
        let filled = region.len / 4 * FILLED_QUARTERS / u64::from(CHUNK) * u64::from(CHUNK);
        let depths = [Some(1), self.queue_depth()].into_iter().flatten().collect::<Vec<_>>();
        let lasts = 2.0 * TEN_MINUTES * depths.len() as f64;
        let mut lacking = Some("no time, write limit or space left");
        if filled >= TEST_AREA && self.fits_limits(filled + TEST_AREA * depths.len() as u64, lasts) {
            self.context.begin_phase("erasing the card and filling it to 75 %");
            self.context.discard(region.start, region.len)?;
            let whole = self.write_whole(region.start, filled)?.is_some();
            lacking = (!whole).then_some("the card could not be filled to 75 %");
        }
        if let Some(why) = lacking {
            self.into.form = TestForm::Volumes;
            self.report_skipped(format!("the conditions of the specification: {why}"));
            return Ok(false);
        }
        for depth in depths {
            self.ten_minutes_each(TargetRegion { start: region.start, len: filled }, depth)?;
        }
        self.sustained_on_a_full_card(region.start + filled)?;
        Ok(true)
    }

    /// Writes the area sequentially, then measures random writes and reads in it.
    fn ten_minutes_each(&mut self, filled: TargetRegion, depth: u32) -> Result<(), ProbeStop> {
        let pages = (filled.len - TEST_AREA) / PAGE + 1;
        let start = filled.start + self.context.random.below(pages) * PAGE;
        let area = TargetRegion { start, len: TEST_AREA };
        let preconditioned = self.write_whole(area.start, area.len)?.is_some();
        for write in [true, false] {
            let (decides, null_s, lasts) = (true, None, Some(TEN_MINUTES));
            self.measure(SliceTask { write, area, depth, preconditioned, decides, null_s, lasts })?;
        }
        Ok(())
    }

    /// Fills the rest of the card, then writes 1 GiB at a random place.
    fn sustained_on_a_full_card(&mut self, from: u64) -> Result<(), ProbeStop> {
        let region = self.context.region;
        let rest = region.end().saturating_sub(from) / u64::from(CHUNK) * u64::from(CHUNK);
        let bytes = SUSTAINED.min(region.len / u64::from(CHUNK) * u64::from(CHUNK));
        let what = "sustained writing on the full card";
        if !self.fits_limits(rest + bytes, 0.0) {
            self.report_skipped(format!("{what}: no time or write limit left"));
            return Ok(());
        }
        self.context.begin_phase("filling the card for sustained writing");
        let start = self.random_offset(bytes, u64::from(CHUNK));
        let full = self.write_whole(from, rest)?;
        let seconds = if full.is_some() { self.write_whole(start, bytes)? } else { None };
        match seconds {
            Some(seconds) => self.into.full_card_mb_s = Some(mb_per_s(bytes, seconds)),
            None => self.report_skipped(format!("{what}: not all was written")),
        }
        Ok(())
    }

    /// True if so many bytes may be written and the time is enough, with `more_s` for other steps.
    fn fits_limits(&mut self, bytes: u64, more_s: f64) -> bool {
        let mb_s = self.into.writing.first().map_or(f64::INFINITY, |w| w.mb_s);
        self.context.may_write(bytes) && self.context.has_time(bytes as f64 / 1e6 / mb_s + more_s)
    }

    /// Seconds of sequential writing; `None` if not everything was written.
    fn write_whole(&mut self, start: u64, len: u64) -> Result<Option<f64>, ProbeStop> {
        self.context.set_queue(CHUNK, IN_FLIGHT)?;
        let mut run = WriteRun::new(start);
        run.write(self.context, &mut split_extents(start, start + len, CHUNK))?;
        Ok((run.bytes() == len).then(|| run.seconds()))
    }
}
