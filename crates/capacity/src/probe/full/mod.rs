//! Full test: writes every block and reads it back, the only proof of a capacity
//! (docs/reference/flash.md#fake-cards).
//!
//! Ranges are written in order. Samples of older ranges are read after each, so that a fake shows early. Then
//! everything is read regardless of the samples, and bad sectors are tested again.

mod cache_eviction;
#[cfg(test)]
mod device_tests;
mod early_end;
mod further_checks;
mod pass;
mod pass_verdict;
#[cfg(test)]
mod property_tests;
mod read_back;
mod samples;
mod speed_chart;
#[cfg(test)]
mod tests;
mod writing;

use cardscope_engine::event::Listener;
use cardscope_engine::io_driver::{IoDriver, ProbeStop};
use cardscope_model::units::{DecimalSize, seconds_to_nanos};
pub use cardscope_probing::bad_ranges::BadBytes;
pub use pass::{PassFindings, PassSettings};
pub use read_back::READING;
pub use writing::WRITING;

/// Writes and reads the whole card. `written` is called with the bytes that are safely on the card so far. The
/// reason of an early end is in [`PassFindings::stop`], with all findings until then.
pub fn verify_card(
    card: &mut IoDriver<'_>,
    settings: &PassSettings,
    written: &mut dyn FnMut(u64),
    events: &mut dyn Listener,
) -> PassFindings {
    let end = settings.budget_s.map(|budget| seconds_to_nanos(card.seconds() + budget));
    card.set_deadline(end);
    let mut pass = pass::FullPass::new(card, *settings, events);
    let stop = match pass.run(written) {
        Err(ProbeStop::Limit) => {
            pass.record_time_limit();
            None
        }
        ended => ended.err(),
    };
    let findings = pass.finish(stop);
    card.set_deadline(None);
    findings
}

/// Reads data of an earlier pass again without writing. Other data may have been written by anyone since, so it
/// does not accuse the card.
pub fn recheck_card(
    card: &mut IoDriver<'_>,
    previous: &cardscope_probing::previous_pass::PreviousPass,
    budget_s: Option<f64>,
    events: &mut dyn Listener,
) -> PassFindings {
    let (salt, reached) = (previous.salt, previous.reached);
    let settings = PassSettings { salt, two_passes: true, resumed_at: reached, budget_s, max_write: None };
    let card_bytes = card.bytes();
    let mut pass = pass::FullPass::new(card, settings, events);
    pass.evidence.recheck = true;
    pass.generation = previous.generation;
    let stop = pass.read_without_writing(reached).err();
    let mut findings = pass.finish(stop);
    if reached < card_bytes {
        let text = format!("the earlier pass ended at {}; nothing beyond was read", DecimalSize(reached));
        findings.remarks.push(text);
    }
    findings
}
