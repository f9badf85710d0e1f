//! Writes to allocation units that are partly in use, where the card must move data first. Classes C2 to C6 may be
//! recorded to such units; a formula combines the speed of writing (Pw) and of moving (Pm) (Physical Layer
//! Specification 4.13.1.3). The result is information and no part of a mark: a host sees the cost and not its cause,
//! and a genuine card that states 5 MB/s shows 0.7 (`sandisk-su04g`), because gaps cost it more than moving.

use super::sequential::slowest_unit;
use super::tester::{CapacityFamily, DEPTH, MarkTester, WriteRun};
use cardscope_engine::io_driver::{CardExtent, ProbeStop};
use cardscope_model::mark_result::PartlyUsed;
use cardscope_model::units::mb_per_s;

/// Units that are half written.
const UNITS: u64 = 2;

/// Most time that writing half of two units may take, in times of writing one unit sequentially.
const SLOWDOWN_LIMIT: f64 = 3.0;

/// Smallest share of the writing time at which the cost of moving can be measured.
const MIN_COST_SHARE: f64 = 0.05;

/// `(N − Nu)·Pm·Pw / ((N − Nu)·Pm + Nu·Pw)`: speed of filling units of which the share `used` is in use.
pub(super) fn fill_speed(write_mb_s: f64, move_mb_s: f64, used: f64) -> f64 {
    let free = 1.0 - used;
    let below = free * move_mb_s + used * write_mb_s;
    if below > 0.0 { free * move_mb_s * write_mb_s / below } else { 0.0 }
}

/// Solves the formula for the speed of moving, to which the whole cost of half used units is attributed; `None` if
/// there is no measurable cost.
fn move_speed(write_mb_s: f64, half_mb_s: f64) -> Option<f64> {
    // With half of the units in use: 1/half = 1/Pw + 1/Pm.
    let rest = 1.0 / half_mb_s - 1.0 / write_mb_s;
    (rest > MIN_COST_SHARE / write_mb_s).then(|| 1.0 / rest)
}

impl MarkTester<'_, '_, '_> {
    /// Measures writes to half used units, if classes may be recorded to such.
    pub(super) fn write_partly_used(&mut self) -> Result<(), ProbeStop> {
        // Larger cards record to free units only.
        if self.family == CapacityFamily::Extended {
            return Ok(());
        }
        // The last recording unit belongs to the lowest class, which may use such units.
        let low = self.options.claimed.iter().any(|c| c.mark.letter() == 'C' && c.mark.number() < 10);
        let whole = self.into.writing.last().filter(|w| low || slowest_unit(w) < 10.0);
        let Some(whole) = whole else { return Ok(()) };
        let (io, write_mb_s) = (whole.io_bytes as u32, slowest_unit(whole));
        self.context.begin_phase("writing into units that are partly in use");
        let Some(half_mb_s) = self.write_half_units(io, write_mb_s)? else {
            let why = "no time or write limit left, or a write failed";
            self.report_skipped(format!("allocation units that are partly in use: {why}"));
            return Ok(());
        };
        let (measured, stated) = (move_speed(write_mb_s, half_mb_s), self.options.stated_move_mb_s);
        let slower = [measured, stated].into_iter().flatten().reduce(f64::min);
        self.into.partly_used = Some(PartlyUsed {
            used_share: 0.5,
            mb_s: half_mb_s,
            move_mb_s: measured,
            stated_move_mb_s: stated,
            formula_mb_s: slower.map_or(write_mb_s.min(half_mb_s), |pm| fill_speed(write_mb_s, pm, 0.5)),
        });
        Ok(())
    }

    /// Writes every second recording unit of some allocation units and begins another one, so that the card must finish
    /// them. Returns MB/s, or `None` if not everything could be written.
    fn write_half_units(&mut self, io: u32, write_mb_s: f64) -> Result<Option<f64>, ProbeStop> {
        let seconds = SLOWDOWN_LIMIT * self.cut.unit as f64 / 1e6 / write_mb_s;
        if !self.context.may_write(2 * UNITS * self.cut.unit) || !self.context.has_time(seconds) {
            return Ok(None);
        }
        // Same queue as in the measurement of Pw, so that the cost of a reader is in both.
        self.context.set_queue(io, DEPTH)?;
        let all = self.half_unit_extents(io);
        if !self.context.try_save_before_write(&all)? {
            return Ok(None);
        }
        let mut run = WriteRun::new(0);
        run.write(self.context, &mut all.iter().copied())?;
        let run = run.without_startup();
        Ok((run.ends.len() == all.len()).then(|| mb_per_s(run.bytes(), run.seconds())))
    }

    /// Every second recording unit of some allocation units, and the first of one more, which makes the card close the
    /// previous one.
    fn half_unit_extents(&mut self, io: u32) -> Vec<CardExtent> {
        let (io_bytes, unit) = (u64::from(io), self.cut.unit);
        let mut all = Vec::new();
        for n in 0..=UNITS {
            let start = self.random_unit(unit);
            let count = if n < UNITS { unit / io_bytes } else { 1 };
            all.extend((0..count).step_by(2).map(|n| CardExtent { offset: start + n * io_bytes, len: io }));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fill_speed_matches_the_specification() {
        // N = 64, Nu = 16, Pw = 6, Pm = 3: 48·3·6 / (48·3 + 16·6) = 864 / 240 = 3.6 MB/s.
        assert!((fill_speed(6.0, 3.0, 0.25) - 3.6).abs() < 1e-12);
        // Nothing in use: the speed of writing. Everything in use: nothing can be written.
        assert!((fill_speed(6.0, 3.0, 0.0) - 6.0).abs() < 1e-12);
        assert!(fill_speed(6.0, 3.0, 1.0).abs() < 1e-12);
    }

    #[test]
    fn move_speed_inverts_the_formula() {
        let half = fill_speed(8.0, 4.0, 0.5);
        assert!((move_speed(8.0, half).unwrap() - 4.0).abs() < 1e-9);
        assert_eq!(move_speed(8.0, 7.9), None);
    }
}
