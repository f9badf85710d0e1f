//! Is everything that an earlier pass wrote still there? Nothing is written.

use super::pass::Pass;
use super::resume::Earlier;
use super::{Findings, Settings};
use cardscope_engine::card::Card;
use cardscope_engine::event::Listener;
use cardscope_model::units::Capacity;

/// Reads again what an earlier pass wrote. What holds something else by now may have been overwritten since by anybody,
/// so that alone is not held against the card.
pub fn recheck(
    card: &mut Card<'_>,
    earlier: &Earlier,
    budget_s: Option<f64>,
    watch: &mut dyn Listener,
) -> Findings {
    let settings = Settings {
        salt: earlier.salt,
        two_passes: true,
        resumed_at: earlier.reached,
        budget_s,
        max_write: None,
    };
    let mut pass = Pass::new(card, settings, watch);
    pass.seen.recheck = true;
    pass.generation = earlier.generation;
    let stop = pass.look_only(earlier.reached).err();
    let mut findings = pass.finish(stop);
    if earlier.reached < findings.map.cells.iter().map(|c| c.bytes).sum() {
        let text = format!(
            "the earlier pass had come to {}; what lies beyond was not read",
            Capacity(earlier.reached)
        );
        findings.remarks.push(text);
    }
    findings
}
