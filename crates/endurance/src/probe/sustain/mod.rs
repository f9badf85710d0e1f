//! Sustained use: the card is written or read without a pause, with test reads and commands in between that show why it
//! becomes slower (docs/reference/flash.md#causes-of-a-slow-spell). Phases: the workload until it is steady, a pause
//! with reads before and after, the workload again, reads.

mod conclude;
mod options;
mod phases;
mod record;
mod regions;
mod run;

use cardscope_engine::card::{IoDriver, ProbeStop};
use cardscope_engine::event::Listener;
use cardscope_model::sustain::MeasuredRun;
use cardscope_probing::context::ProbeContext;
use cardscope_probing::write_scope::WriteScope;
pub use options::{BLOCK, DEPTH, LEAST_REGION, SMALL, SampleRecorder, SustainOptions};
pub use phases::plan;
use run::SustainRun;

/// Writes or reads for as long as the options say, and finds out what slows the card down. `scope` says what may be
/// overwritten, `events` hears how far it is, and `log` gets each sample as it is taken, so that a crash costs none. What
/// was measured before an early end stays in `into`.
///
/// # Errors
/// If the card is gone, the user stopped it, or samples cannot be kept. The limits of the run are no error.
pub fn sustain<'s, 't>(
    card: &'s mut IoDriver<'t>,
    scope: WriteScope<'s>,
    options: &'s SustainOptions,
    events: &'s mut dyn Listener,
    log: &'s mut dyn SampleRecorder,
    into: &mut MeasuredRun,
) -> Result<(), ProbeStop> {
    let context = ProbeContext::new(card, scope, &options.limits, events);
    let mut run = SustainRun::new(context, options, log);
    let ended = match phases::all(&mut run) {
        Err(ProbeStop::Limit) => {
            run.record.ended_by = "--max-write".to_owned();
            Ok(())
        }
        ended => ended,
    };
    // What came after the last whole second is not lost.
    let ended = ended.and_then(|()| if run.record.is_sampled() { Ok(()) } else { run.sample() });
    // Whatever ended it: what was measured is concluded from.
    conclude::conclude(run.record, options, into);
    ended
}
