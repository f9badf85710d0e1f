//! What is known of a card that one buys: it is another unit than the one that was measured.

use cardscope_model::archived::{StoredCard, SummaryRow};
use cardscope_model::test_name::TestName;
use cardscope_statistics::usual::{NormalMixture, SpreadKind, SpreadTable, UsualSpeed};

/// What the figures of one card are held against.
#[derive(Clone, Copy)]
pub(super) struct PurchaseBasis<'a> {
    pub(super) card: &'a StoredCard,
    pub(super) table: &'a SpreadTable,
}

impl PurchaseBasis<'_> {
    /// The logarithm of the usual speed, in MB/s, of a unit of the model in one test; `None` for a speed that is no number.
    pub(super) fn speed(&self, row: &SummaryRow) -> Option<NormalMixture> {
        let kind = SpreadKind::new(&self.card.facts, Some(&row.setting), row.test);
        let usual = UsualSpeed::of_mean(row.mean, row.sd, row.n, self.table.spread(kind))?;
        Some(usual.log().widened(self.between_units()))
    }

    /// 95 % interval of a figure that was measured once, as by a long write: in its unit, spread as a single run of the
    /// test is.
    pub(super) fn once(&self, mean: f64, test: TestName) -> [f64; 2] {
        let spread = self.table.spread(SpreadKind::new(&self.card.facts, None, test));
        let usual = UsualSpeed::of_mean(mean, None, 1, spread);
        usual.map_or([mean; 2], |usual| around(mean, &usual.log().widened(self.between_units())))
    }

    /// Variance between units of a model, as far as the units that were measured leave it open.
    fn between_units(&self) -> f64 {
        self.table.units.deviation.powi(2) * (1.0 + 1.0 / f64::from(self.card.units.max(1)))
    }
}

/// 95 % interval of a figure that goes with a speed, around its mean.
pub(super) fn around(mean: f64, log: &NormalMixture) -> [f64; 2] {
    let middle = log.mean();
    let [low, high] = log.middle95().map(|end| mean * (end - middle).exp());
    [low.min(mean), high.max(mean)]
}
