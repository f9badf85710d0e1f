//! Expected speeds of a card that one buys, which is another unit than the measured one.

use cardscope_model::archive_rows::{StoredCard, SummaryRow};
use cardscope_model::test_name::TestName;
use cardscope_statistics::priors::{NormalMixture, SpreadKind, SpreadTable, UsualSpeed};

/// Basis for the figures of one card.
#[derive(Clone, Copy)]
pub(super) struct PurchaseBasis<'a> {
    pub(super) card: &'a StoredCard,
    pub(super) table: &'a SpreadTable,
}

impl PurchaseBasis<'_> {
    /// Logarithm of the usual speed in MB/s of a unit of the model, in one test; `None` for an invalid speed.
    pub(super) fn unit_speed(&self, row: &SummaryRow) -> Option<NormalMixture> {
        let kind = SpreadKind::new(&self.card.facts, Some(&row.setting), row.test);
        let usual = UsualSpeed::from_mean(row.mean, row.sd, row.n, self.table.spread_of_kind(kind))?;
        Some(usual.log_speed().widened(self.between_units()))
    }

    /// 95 % interval of a figure that was measured once, as by a long write. Its spread is that of a single run of the test.
    pub(super) fn single_run_interval(&self, mean: f64, test: TestName) -> [f64; 2] {
        let spread = self.table.spread_of_kind(SpreadKind::new(&self.card.facts, None, test));
        let usual = UsualSpeed::from_mean(mean, None, 1, spread);
        usual.map_or([mean; 2], |usual| {
            interval_around(mean, &usual.log_speed().widened(self.between_units()))
        })
    }

    /// Variance between units of a model; it decreases with the number of measured units.
    fn between_units(&self) -> f64 {
        self.table.units.deviation.powi(2) * (1.0 + 1.0 / f64::from(self.card.units.max(1)))
    }
}

/// 95 % interval around the mean of a figure that is proportional to a speed.
pub(super) fn interval_around(mean: f64, log: &NormalMixture) -> [f64; 2] {
    let middle = log.mean();
    let [low, high] = log.central95().map(|end| mean * (end - middle).exp());
    [low.min(mean), high.max(mean)]
}
