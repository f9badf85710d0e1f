//! Phases of a run: workload until steady or until its share of the time is over; pause with reads before and after, which
//! distinguishes heat from a full cache; workload again, which shows the effect of the pause; reads.

use super::conclude::conclude_run;
use super::run::SustainRun;
use super::{MAX_CACHE_SHARE, QUEUE_DEPTH, SEQUENTIAL_BLOCK, SampleRecorder, SustainOptions};
use crate::judge::series::{
    PauseExperiment, SeriesCauses, SeriesSlice, WINDOW_ROUNDS, find_causes, steady_state,
};
use cardscope_engine::event::Listener;
use cardscope_engine::io_driver::{IoDriver, ProbeStop, split_extents};
use cardscope_engine::target::IoDirection;
use cardscope_model::progress::{PlannedDuration, StagePlan};
use cardscope_model::statistics::median;
use cardscope_model::sustain::{EventKind, MeasuredRun, RunPhase, WorkloadKind};
use cardscope_probing::context::ProbeContext;
use cardscope_probing::write_scope::WriteScope;

/// Share of the time for the workload, if other phases follow.
const MAIN_SHARE: f64 = 0.75;

/// Length of the pause in seconds, if there is time (docs/reference/flash.md#causes-of-a-slow-spell).
const PAUSE_S: f64 = 30.0;

/// Slices of reads before and after the pause, and of writes at the end: two seconds.
const SHORT_SLICES: usize = 8;

/// Length of the reads at the end, in seconds.
const FINAL_READS_S: f64 = 25.0;

/// Least time after the workload for a pause, in seconds.
const MIN_REST_S: f64 = 12.0;

/// Growth of the series between two checks for a steady state.
const CHECK_GROWTH: f64 = 1.1;

/// Temperature rise in K across the window that is not steady.
const MAX_STEADY_RISE_K: f64 = 1.5;

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
    let mut ended = run_phases(&mut run);
    if matches!(ended, Err(ProbeStop::Limit)) {
        run.record.ended_by = "--max-write".to_owned();
        ended = Ok(());
    }
    // The last partial second gets a sample, too.
    let ended = ended.and_then(|()| if run.record.is_sampled() { Ok(()) } else { run.record_sample() });
    // Conclusions are drawn from whatever was measured before an error.
    conclude_run(run.record, options, into);
    ended
}

fn run_phases(run: &mut SustainRun<'_, '_>) -> Result<(), ProbeStop> {
    let options = run.options;
    write_test_file(run)?;
    run.calibrate()?;
    run.context.events.begin_stage(workload_stage(options), options.bytes, Some(main_seconds(options)));
    run_workload(run)?;
    if run.is_over {
        return Ok(());
    }
    if run.is_used_up(false) {
        run.record.left_out.push("pause, recovery and reads: --bytes reached".to_owned());
        return Ok(());
    }
    let found = causes_so_far(run, options.writes());
    if !options.writes() && found.levels.len() < 2 {
        return Ok(());
    }
    if run.seconds_left() < MIN_REST_S {
        let left_out = format!("pause and recovery: less than {MIN_REST_S:.0} s left (`--duration`)");
        run.record.left_out.push(left_out);
        return Ok(());
    }
    run_pause_phases(run, &found)
}

fn workload_stage(options: &SustainOptions) -> &'static str {
    match options.work {
        WorkloadKind::Read => "sustained reading",
        WorkloadKind::Write => "sustained writing",
        WorkloadKind::Mixed => "sustained writing and reading",
    }
}

/// Names of the other stages.
const PREPARE_STAGE: &str = "writing the test file";
const PAUSE_STAGE: &str = "pausing";
const WRITE_AGAIN_STAGE: &str = "writing again";
const READ_STAGE: &str = "reading in order";

/// Planned stages. Those that turn out to be unnecessary are skipped.
pub fn plan_stages(options: &SustainOptions) -> StagePlan {
    let main = main_seconds(options);
    let rest = options.duration.as_secs_f64() - main;
    let mut stages = vec![(workload_stage(options), main)];
    if options.is_test_file {
        stages.insert(0, (PREPARE_STAGE, 0.0));
    }
    if rest > 0.0 {
        let pause = PAUSE_S.min(rest * 0.4);
        let reading = FINAL_READS_S.min(rest - pause);
        stages.push((PAUSE_STAGE, pause));
        if options.writes() {
            stages.push((WRITE_AGAIN_STAGE, rest - pause - reading));
        }
        stages.push((READ_STAGE, reading));
    }
    StagePlan { duration: PlannedDuration::SumOfWeights, long: true, ..StagePlan::from_stages(stages) }
}

/// Seconds of the workload. In a short run it takes all the time.
fn main_seconds(options: &SustainOptions) -> f64 {
    let seconds = options.duration.as_secs_f64();
    let rest = ((1.0 - MAIN_SHARE) * seconds).min(PAUSE_S * 2.0 + FINAL_READS_S);
    if rest >= MIN_REST_S { seconds - rest } else { seconds }
}

/// Writes the test file, if there is one, so that it can be read.
fn write_test_file(run: &mut SustainRun<'_, '_>) -> Result<(), ProbeStop> {
    if !run.options.is_test_file {
        return Ok(());
    }
    let (reads, work) = (run.regions.reads, run.regions.work);
    let end = if run.options.work == WorkloadKind::Write { work.start } else { work.start + work.len };
    run.context.events.begin_stage(PREPARE_STAGE, Some(end - reads.start), None);
    run.context.set_queue(SEQUENTIAL_BLOCK, QUEUE_DEPTH)?;
    let mut all = split_extents(reads.start, end, SEQUENTIAL_BLOCK);
    let (mut written, mut before) = (0, None);
    while before != Some(written) {
        before = Some(written);
        let write = IoDirection::Write;
        run.context.stream_for(write, 1.0, &mut all, |extent, _| written += u64::from(extent.len))?;
        run.context.events.report_bytes(written);
    }
    // Either everything is written, or no write succeeds any more.
    if all.next().is_some() {
        run.end_refused(true, 1.0);
    }
    (run.record.written, run.prepared_bytes) = (written, written);
    run.context.flush()
}

/// Runs the workload until it is steady or a limit is reached.
fn run_workload(run: &mut SustainRun<'_, '_>) -> Result<(), ProbeStop> {
    let options = run.options;
    let until = main_seconds(options);
    let mut check_at = 4.0 * WINDOW_ROUNDS as f64;
    let mut writes = options.writes();
    while !run.is_over {
        run.measure_slice(writes, false)?;
        writes ^= options.work == WorkloadKind::Mixed;
        let due = run.record.slices.len() as f64 >= check_at;
        if due {
            check_at *= CHECK_GROWTH;
        }
        let ended_by = match () {
            () if run.elapsed_s() >= until => "--duration",
            () if run.is_used_up(false) => "--bytes",
            () if due && is_settled(run) => "steady state",
            () => continue,
        };
        run.record.ended_by = ended_by.to_owned();
        break;
    }
    Ok(())
}

/// Causes in the workload so far.
fn causes_so_far(run: &SustainRun<'_, '_>, writes: bool) -> SeriesCauses {
    find_causes(&run.record.main_slices(writes), run.record.series_facts(run.options, writes))
}

/// True if the speed is steady and nothing more is expected: the cache has ended or would be impossibly large, and the
/// temperature no longer rises.
fn is_settled(run: &SustainRun<'_, '_>) -> bool {
    let writes = run.options.writes();
    let slices = run.record.main_slices(writes);
    let window = steady_state(&slices, run.options.round_s()).filter(|window| window.reached);
    let Some(from_s) = window.map(|window| window.from_s) else { return false };
    let first = slices.iter().find(|s| s.at_s >= from_s).or(slices.first());
    let celsius = |s: Option<&SeriesSlice>| s.and_then(|s| s.celsius);
    // Without a thermometer it is unknown if the card still warms up, so the run uses all its time.
    let Some((then, now)) = celsius(first).zip(celsius(slices.last())) else { return false };
    if now - then > MAX_STEADY_RISE_K {
        return false;
    }
    let all = run.options.card_bytes.unwrap_or(u64::MAX) as f64;
    !writes
        || run.record.written as f64 > MAX_CACHE_SHARE * all
        || causes_so_far(run, true).cache_ends.last().is_some_and(|end| end.at_s < from_s)
}

/// Runs the pause and the phases after it.
fn run_pause_phases(run: &mut SustainRun<'_, '_>, found: &SeriesCauses) -> Result<(), ProbeStop> {
    let left = run.seconds_left();
    let pause_s = PAUSE_S.min(left * 0.4);
    run.phase = RunPhase::Experiment;
    let reads_before = measure_briefly(run, false)?;
    run.phase = RunPhase::Pause;
    run.context.events.begin_stage(PAUSE_STAGE, None, Some(pause_s));
    run.record_event(EventKind::Pause, 1.0, &[("length", format!("{pause_s:.1} s"))]);
    run.record.pause_s = pause_s;
    run.wait_idle(pause_s)?;
    run.phase = RunPhase::Experiment;
    let reads_after = measure_briefly(run, false)?;
    let reads = reads_before.zip(reads_after);
    if run.is_over {
        run.record.left_out.push("effect of the pause: the run ended first".to_owned());
    }
    let experiment = reads.map(|(reads_before, reads_after)| PauseExperiment {
        reads_before,
        reads_after,
        ..PauseExperiment::default()
    });
    if !run.options.writes() || run.is_over {
        // Without writes the experiment has only reads.
        run.record.experiment = experiment;
        return read_sequentially(run);
    }
    let writes_before = last_speed(run);
    let writes_after = write_again(run, found)?;
    read_sequentially(run)?;
    let mut writes_later = writes_after;
    if found.is_ambiguous() && !run.is_over && run.seconds_left() > 2.0 {
        run.phase = RunPhase::Experiment;
        writes_later = measure_briefly(run, true)?.or(writes_after);
    }
    // A speed on one side of the pause alone is useless.
    let writes = writes_before.zip(writes_after).zip(writes_later);
    run.record.experiment =
        experiment.zip(writes).map(|(reads, ((writes_before, writes_after), writes_later))| {
            PauseExperiment { writes_before, writes_after, writes_later, ..reads }
        });
    Ok(())
}

/// Median speed of the last two seconds of writes.
fn last_speed(run: &SustainRun<'_, '_>) -> Option<f64> {
    let slices = run.record.main_slices(true);
    median(&slices.iter().rev().take(SHORT_SLICES).map(SeriesSlice::speed).collect::<Vec<_>>())
}

/// Measures two seconds. Returns the median speed, or None if less than half of the slices succeeded.
fn measure_briefly(run: &mut SustainRun<'_, '_>, writes: bool) -> Result<Option<f64>, ProbeStop> {
    let first = run.record.slices.len();
    for _ in 0..SHORT_SLICES {
        if !run.is_over {
            run.measure_slice(writes, !writes)?;
        }
    }
    let speeds: Vec<f64> = run.record.slices[first..].iter().map(|t| t.slice.speed()).collect();
    Ok(median(&speeds).filter(|_| speeds.len() * 2 >= SHORT_SLICES))
}

/// Writes until the cache that the pause freed is full again. Returns the median speed of the first two seconds.
fn write_again(run: &mut SustainRun<'_, '_>, found: &SeriesCauses) -> Result<Option<f64>, ProbeStop> {
    run.phase = RunPhase::Again;
    run.context.events.begin_stage(WRITE_AGAIN_STAGE, None, None);
    let first = measure_briefly(run, true)?;
    let Some(end) = found.cache_ends.last() else { return Ok(first) };
    let middle = (end.before * end.after).sqrt();
    let until = run.elapsed_s() + (run.seconds_left() * 0.4).max(0.0);
    while !run.is_over && run.elapsed_s() < until && !run.is_used_up(false) {
        if run.record.slices.iter().rev().take(4).all(|t| t.slice.speed() < middle) {
            break;
        }
        run.measure_slice(true, false)?;
    }
    Ok(first)
}

/// Reads sequentially, which shows slow reads without writes.
fn read_sequentially(run: &mut SustainRun<'_, '_>) -> Result<(), ProbeStop> {
    run.phase = RunPhase::Reading;
    let seconds = FINAL_READS_S.min(run.seconds_left() - 2.5);
    if seconds <= 1.0 {
        return Ok(());
    }
    run.context.events.begin_stage(READ_STAGE, None, Some(seconds));
    let until = run.elapsed_s() + seconds;
    while !run.is_over && run.elapsed_s() < until && !run.is_used_up(true) {
        run.measure_slice(false, true)?;
    }
    Ok(())
}
