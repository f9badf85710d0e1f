//! Is everything that an earlier pass wrote still there? Nothing is written.

use super::pass::Pass;
use super::resume::PreviousPass;
use super::{Findings, Settings};
use cardscope_engine::card::Card;
use cardscope_engine::event::Listener;
use cardscope_model::units::Capacity;

/// Reads again what an earlier pass wrote. What holds something else by now may have been overwritten since by anybody,
/// so that alone is not held against the card.
pub fn recheck(
    card: &mut Card<'_>,
    previous: &PreviousPass,
    budget_s: Option<f64>,
    watch: &mut dyn Listener,
) -> Findings {
    let settings = Settings {
        salt: previous.salt,
        two_passes: true,
        resumed_at: previous.reached,
        budget_s,
        max_write: None,
    };
    let mut pass = Pass::new(card, settings, watch);
    pass.seen.recheck = true;
    pass.generation = previous.generation;
    let stop = pass.look_only(previous.reached).err();
    let mut findings = pass.finish(stop);
    if previous.reached < findings.map.cells.iter().map(|c| c.bytes).sum() {
        let text = format!(
            "the earlier pass had come to {}; what lies beyond was not read",
            Capacity(previous.reached)
        );
        findings.remarks.push(text);
    }
    findings
}
