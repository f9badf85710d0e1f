//! Finds the geometry of a card by timing: page, erase block, open blocks, cache, queue
//! (docs/reference/flash.md#pages and the sections after it). Reading parts run first and write nothing. Writing
//! parts save what they overwrite, or use a region whose data may be lost.

mod curve;
pub mod discard;
mod flashbench_tables;
mod options;
mod reading;
mod unmeasured;
mod writing;

pub use options::{MapOptions, MapPart};

use cardscope_engine::event::Listener;
use cardscope_engine::io_driver::{IoDriver, ProbeStop};
use cardscope_model::card_map::MeasuredMap;
use cardscope_model::card_map::property::{Property, PropertyStatus};
use cardscope_probing::context::ProbeContext;
use cardscope_probing::write_scope::WriteScope;
use cardscope_statistics::long_stalls;
use unmeasured::OUT_OF_LIMITS;

/// Names of the stages of a map, as listeners receive them.
pub fn stage_names(options: &MapOptions) -> Vec<&'static str> {
    [reading::stages::reading_stages(options), writing::writing_stages(options)].concat()
}

/// Makes the map. `scope` states and saves what may be overwritten. Results before an early end remain in `into`.
///
/// # Errors
/// If the card is gone, the user stopped the test, or data on the card could not be saved. Limits of time and bytes
/// are no error: the properties after them are `not_tested`.
pub fn measure_map<'s, 't>(
    card: &'s mut IoDriver<'t>,
    scope: WriteScope<'s>,
    options: &MapOptions,
    events: &'s mut dyn Listener,
    into: &mut MeasuredMap,
) -> Result<(), ProbeStop> {
    options::skip_unselected(options, into);
    let mut context = ProbeContext::new(card, scope, &options.limits, events);
    let ended = measure_parts(&mut context, options, into);
    into.findings.extend(long_stalls::long_stall_finding(context.longest_write_s(), "in a single write"));
    [&mut into.page_bytes, &mut into.erase_block_bytes].into_iter().for_each(limit_none_confidence);
    ended
}

fn measure_parts(
    context: &mut ProbeContext<'_, '_>,
    options: &MapOptions,
    into: &mut MeasuredMap,
) -> Result<(), ProbeStop> {
    match reading::measure_reads(context, options, into) {
        // The skipped properties already have their reason.
        Err(ProbeStop::Limit) => {}
        read => read?,
    }
    if !options.writes {
        options::skip_writes(into, "it writes, and --read-only was given");
        return Ok(());
    }
    match writing::measure_writes(context, options, into) {
        Err(ProbeStop::Limit) => options::skip_writes(into, OUT_OF_LIMITS),
        written => written?,
    }
    Ok(())
}

/// Limits the confidence of "none": all flash has pages and erase blocks, so an absent sign does not prove their
/// absence.
fn limit_none_confidence(unit: &mut Property<u64>) {
    if unit.status == PropertyStatus::None {
        unit.confidence = unit.confidence.min(UNDECIDED);
    }
}

const UNDECIDED: f64 = 0.5;
