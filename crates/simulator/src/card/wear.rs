//! Wear: erasures, blocks that fail and are replaced, blocks at rest that are moved, and blocks that are rewritten
//! after many reads (docs/reference/flash.md#wear). Levelling keeps all blocks at about the same age, so the number of
//! failed blocks follows from the mean number of erasures and the scatter of endurance.

use super::command::{FlashUnit, ns_per_byte};
use super::noise::normal_cdf;
use crate::archetype::schema::{self, Archetype, EndOfLife};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct WearState {
    /// Erasures of all blocks together.
    erased: u64,
    /// Erasures since a block at rest was last moved.
    since_move: u32,
    pub(crate) failed: u64,
    pub(crate) moved: u64,
    /// Reads of each block since its last write; empty if reads do not matter.
    pub(super) reads: Vec<u32>,
    pub(crate) disturbed: u64,
}

#[derive(Debug)]
pub(crate) struct WearTracker {
    parameters: schema::WearParameters,
    pub(super) state: WearState,
    blocks: f64,
    pub(super) au: FlashUnit,
    /// Time of moving a block, in ns.
    copy: f64,
}

impl WearTracker {
    pub(crate) fn new(p: &schema::WearParameters, card: &Archetype) -> Self {
        let blocks = card.announced_bytes.div_ceil(card.flash.au_bytes);
        let counted = if p.disturb_reads.is_some() { blocks as usize } else { 0 };
        WearTracker {
            parameters: *p,
            state: WearState { reads: vec![0; counted], ..WearState::default() },
            blocks: blocks as f64,
            au: FlashUnit::new(card.flash.au_bytes),
            copy: card.flash.au_bytes as f64 * ns_per_byte(p.copy_mb_s),
        }
    }

    pub(crate) fn mean_cycles(&self) -> f64 {
        self.parameters.start_cycles + self.state.erased as f64 / self.blocks
    }

    /// Share of the endurance used up, in percent; may exceed 100.
    pub(crate) fn percent_used(&self) -> f64 {
        self.mean_cycles() / self.parameters.endurance_cycles * 100.0
    }

    pub(crate) fn spare_left(&self) -> u64 {
        u64::from(self.parameters.spare_blocks).saturating_sub(self.state.failed)
    }

    /// Behaviour of the worn card; None while spare blocks are left.
    pub(crate) fn end_of_life(&self) -> Option<EndOfLife> {
        (self.state.failed > u64::from(self.parameters.spare_blocks)).then_some(self.parameters.end)
    }

    /// Counts `units` erasures; returns the ns that they add to the write: a block that fails is copied, and now and
    /// then a block at rest is moved.
    pub(crate) fn count_erasures(&mut self, units: u64) -> f64 {
        self.state.erased += units;
        let mut copies = 0;
        if let Some(every) = self.parameters.level_every {
            self.state.since_move += u32::try_from(units).unwrap_or(u32::MAX);
            if self.state.since_move >= every {
                self.state.since_move = 0;
                self.state.erased += 1;
                self.state.moved += 1;
                copies += 1;
            }
        }
        let schema::WearParameters { endurance_cycles, endurance_sigma, .. } = self.parameters;
        let age = libm::log(self.mean_cycles() / endurance_cycles) / endurance_sigma;
        let failed = (self.blocks * normal_cdf(age)) as u64;
        if failed > self.state.failed {
            copies += failed - self.state.failed;
            self.state.failed = failed;
        }
        copies as f64 * self.copy
    }

    /// Counts a read of the block at `offset`; returns the ns of rewriting it, mostly 0.
    #[inline]
    pub(crate) fn count_read(&mut self, offset: u64) -> f64 {
        let Some(limit) = self.parameters.disturb_reads else { return 0.0 };
        let count = &mut self.state.reads[self.au.unit_number(offset) as usize];
        *count += 1;
        if *count < limit {
            return 0.0;
        }
        *count = 0;
        self.state.disturbed += 1;
        self.count_erasures(1) + self.copy
    }

    /// Resets the reads of the block at `offset`, since writing renews its charge.
    #[inline]
    pub(crate) fn reset_reads(&mut self, offset: u64) {
        if let Some(count) = self.state.reads.get_mut(self.au.unit_number(offset) as usize) {
            *count = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target_spec;

    fn wear(change: impl FnOnce(&mut schema::WearParameters)) -> WearTracker {
        let card = target_spec::parse("sim:lexar-16g-c10").unwrap().archetype;
        let mut p = schema::WearParameters {
            endurance_cycles: 1000.0,
            spare_blocks: 20,
            copy_mb_s: 4.194304,
            ..schema::WearParameters::default()
        };
        change(&mut p);
        WearTracker::new(&p, &card)
    }

    #[test]
    fn half_of_blocks_fail_at_endurance() {
        let mut wear = wear(|_| ());
        let blocks = 16_012_804_096u64.div_ceil(4 << 20);
        assert_eq!(wear.end_of_life(), None);
        wear.count_erasures(blocks * 1000);
        let share = wear.state.failed as f64 / blocks as f64;
        assert!((share - 0.5).abs() < 0.001, "{share}");
        assert_eq!(wear.end_of_life(), Some(EndOfLife::ReadOnly));
        assert_eq!((wear.spare_left(), wear.percent_used().round()), (0, 100.0));
    }

    #[test]
    fn spare_blocks_delay_end_of_life() {
        // 20 of 3818 blocks are 0.52 %: the normal quantile is -2.56, hence exp(-0.256) of the endurance.
        let mut wear = wear(|_| ());
        let blocks = 16_012_804_096u64.div_ceil(4 << 20);
        let mut cycles = 0;
        while wear.end_of_life().is_none() {
            cycles += 1;
            wear.count_erasures(blocks);
        }
        assert!((770..=782).contains(&cycles), "{cycles} cycles");
    }

    #[test]
    fn failed_or_moved_block_stalls_for_one_copy() {
        let mut levelled = wear(|p| p.level_every = Some(100));
        let stalls: Vec<f64> = (0..1000).map(|_| levelled.count_erasures(1)).filter(|s| *s > 0.0).collect();
        assert_eq!((stalls.len(), levelled.state.moved), (10, 10));
        assert!((stalls[0] - 1e9).abs() < 1.0, "4 MiB at 4.19 MB/s take a second: {}", stalls[0]);
    }

    #[test]
    fn read_disturb_rewrites_and_write_resets_count() {
        let mut wear = wear(|p| p.disturb_reads = Some(1000));
        let stalls =
            |wear: &mut WearTracker, n: u32| (0..n).filter(|_| wear.count_read(8 << 20) > 0.0).count();
        assert_eq!(stalls(&mut wear, 3500), 3);
        wear.reset_reads(9 << 20);
        assert_eq!(stalls(&mut wear, 999), 0);
        assert_eq!(wear.state.disturbed, 3);
    }
}
