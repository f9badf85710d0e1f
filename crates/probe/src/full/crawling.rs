//! A card that keeps everything and becomes useless: from some address on it writes many times slower, as sticks do
//! that have far less fast flash than they announce (public reports: 500 to 2 MB/s after 32 to 123 GB, AltraMayor/f3
//! #176 and #247).

use super::pass::{GENERATION, Pass};
use cardscope_engine::card::{Stop, extents};
use cardscope_model::units::mb_per_s;
use cardscope_model::verify::MapCell;

/// So many times slower is no end of a cache: pSLC caches of today end in a fall to a tenth, seldom a fifteenth.
const FALL: f64 = 20.0;

/// At least this share of the card must be slow, and this share fast.
const SHARE: f64 = 0.01;

/// Bytes that are written once more after a rest.
const AGAIN: u64 = 8 << 20;

/// A cache that was merely full has room again after it, in seconds.
const REST_S: u64 = 30;

impl Pass<'_, '_> {
    /// Everything is there; so what is left to ask is whether it is of any use.
    pub(super) fn ask_for_a_crawl(&mut self) -> Result<(), Stop> {
        if self.room() >= AGAIN && self.has_time(REST_S as f64) {
            self.seen.crawls = self.crawls()?;
        } else if self.fall(self.seen.written).is_some() {
            self.seen.may_crawl = true;
            self.asked("whether the card writes as slowly for good as it did at the end", false);
        }
        Ok(())
    }

    /// Whether writing fell for good: the fall lasts to the end, and after a rest it is no faster.
    fn crawls(&mut self) -> Result<bool, Stop> {
        let end = self.seen.written;
        let Some((from, before)) = self.fall(end) else { return Ok(false) };
        self.card.idle(std::time::Duration::from_secs(REST_S));
        let from = from.max(end.saturating_sub(AGAIN));
        let from = from / u64::from(self.card.sector()) * u64::from(self.card.sector());
        let began = self.card.seconds();
        let block = self.card.block();
        self.write_stamps(extents(from, end, block), GENERATION)?;
        let after = mb_per_s(end - from, self.card.seconds() - began);
        Ok(after * FALL <= before)
    }

    /// Where writing fell to a fraction and stayed there; and the speed before, in MB/s.
    fn fall(&self, end: u64) -> Option<(u64, f64)> {
        let map = self.chart.finish();
        // An extent at the end of the card is no measure.
        let whole = |c: &&MapCell| c.bytes == map.cell_bytes && c.start + c.bytes <= end;
        let speeds: Vec<(u64, f64)> =
            map.cells.iter().filter(whole).filter_map(|c| Some((c.start, c.write_mb_s?))).collect();
        let least = ((speeds.len() as f64 * SHARE) as usize).max(1);
        let first = speeds.first()?;
        // Seen from the end: the longest tail in which no cell is fast.
        let before = speeds.iter().take(least).map(|s| s.1).sum::<f64>() / least as f64;
        let slow = speeds.iter().rev().take_while(|s| s.1 * FALL <= before).count();
        let at = speeds.len().checked_sub(slow).filter(|at| slow >= least && *at >= least)?;
        let before = self.chart.write.mb_s_between(first.0, speeds[at - 1].0)?;
        Some((speeds[at].0, before)).filter(|(_, before)| speeds[at].1 * FALL <= *before)
    }
}
