//! Sustained workload with test reads and commands in between, which show why the card slows down
//! (docs/reference/flash.md#causes-of-a-slow-spell). Phases: workload until steady, pause with reads before and after,
//! workload again, reads.

mod conclude;
mod options;
mod phases;
mod record;
mod regions;
mod run;

use cardscope_engine::event::Listener;
use cardscope_engine::io_driver::{IoDriver, ProbeStop};
use cardscope_model::sustain::MeasuredRun;
use cardscope_probing::context::ProbeContext;
use cardscope_probing::write_scope::WriteScope;
pub use options::{MIN_REGION, QUEUE_DEPTH, RANDOM_BLOCK, SEQUENTIAL_BLOCK, SampleRecorder, SustainOptions};
pub use phases::plan_stages;
use run::SustainRun;

/// Runs a sustained workload and finds the causes of slowdowns. `scope` states what may be overwritten, `events` gets the
/// progress, `log` gets each sample at once so that a crash loses none. Results before an error remain in `into`.
///
/// # Errors
/// Fails if the card is removed, the user interrupts, or samples cannot be stored. Reaching a limit is no error.
pub fn run_sustain<'s, 't>(
    card: &'s mut IoDriver<'t>,
    scope: WriteScope<'s>,
    options: &'s SustainOptions,
    events: &'s mut dyn Listener,
    log: &'s mut dyn SampleRecorder,
    into: &mut MeasuredRun,
) -> Result<(), ProbeStop> {
    let context = ProbeContext::new(card, scope, &options.limits, events);
    let mut run = SustainRun::new(context, options, log);
    let ended = match phases::run_phases(&mut run) {
        Err(ProbeStop::Limit) => {
            run.record.ended_by = "--max-write".to_owned();
            Ok(())
        }
        ended => ended,
    };
    // The last partial second gets a sample, too.
    let ended = ended.and_then(|()| if run.record.is_sampled() { Ok(()) } else { run.record_sample() });
    // Conclusions are drawn from whatever was measured before an error.
    conclude::conclude_run(run.record, options, into);
    ended
}
