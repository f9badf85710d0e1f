//! Phases of a run: workload until steady or until its share of the time is over; pause with reads before and after, which
//! distinguishes heat from a full cache; workload again, which shows the effect of the pause; reads.

use super::options::{MAX_CACHE_SHARE, SEQUENTIAL_BLOCK, SustainOptions};
use super::record::RecordedSlice;
use super::run::SustainRun;
use crate::judge::series::PauseExperiment;
use crate::judge::series::{SeriesCauses, SeriesSlice, WINDOW_ROUNDS, find_causes, steady_state};
use cardscope_engine::io_driver::{ProbeStop, split_extents};
use cardscope_engine::target::IoDirection;
use cardscope_model::progress::{PlannedDuration, StagePlan};
use cardscope_model::statistics::median;
use cardscope_model::sustain::{EventKind, RunPhase, WorkloadKind};

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

/// Rounds of the SNIA window that fit in the run.
const ROUND_SHARE: f64 = 60.0;

/// Growth of the series between two checks for a steady state.
const CHECK_GROWTH: f64 = 1.1;

/// Temperature rise in K across the window that is not steady.
const MAX_STEADY_RISE_K: f64 = 1.5;

/// Runs all phases.
pub(super) fn run_phases(run: &mut SustainRun<'_, '_>) -> Result<(), ProbeStop> {
    let options = run.options;
    write_test_file(run)?;
    run.calibrate()?;
    run.context.events.begin_stage(workload_stage(options), options.bytes, Some(main_seconds(options)));
    run_workload(run)?;
    if run.is_over {
        return Ok(());
    }
    if run.is_used_up(false) {
        let left_out = "pause, recovery and reads: --bytes reached";
        run.record.left_out.push(left_out.to_owned());
        return Ok(());
    }
    let found = causes_so_far(run, options.work != WorkloadKind::Read);
    let something = options.work != WorkloadKind::Read || !found.levels.is_empty() && found.levels.len() > 1;
    if run.seconds_left() < MIN_REST_S || !something {
        if something {
            run.record
                .left_out
                .push(format!("pause and recovery: less than {MIN_REST_S:.0} s left (`--duration`)"));
        }
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
        if options.work != WorkloadKind::Read {
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
    run.context.set_queue(SEQUENTIAL_BLOCK, super::QUEUE_DEPTH)?;
    let mut all = split_extents(reads.start, end, SEQUENTIAL_BLOCK);
    let mut written = 0;
    loop {
        let before = written;
        run.context
            .stream_for(IoDirection::Write, 1.0, &mut all, |extent, _| written += u64::from(extent.len))?;
        if written == before {
            // Either everything is written, or no write succeeds any more.
            if all.next().is_some() {
                run.end_refused(true, 1.0);
            }
            break;
        }
        run.context.events.report_bytes(written);
    }
    (run.record.written, run.prepared_bytes) = (written, written);
    run.context.flush()
}

/// Runs the workload until it is steady or a limit is reached.
fn run_workload(run: &mut SustainRun<'_, '_>) -> Result<(), ProbeStop> {
    let options = run.options;
    let until = main_seconds(options);
    let mut look_at = 4.0 * WINDOW_ROUNDS as f64;
    let mut writes = options.work != WorkloadKind::Read;
    while !run.is_over {
        run.measure_slice(writes)?;
        if options.work == WorkloadKind::Mixed {
            writes = !writes;
        }
        if run.elapsed_s() >= until {
            run.record.ended_by = "--duration".to_owned();
            return Ok(());
        }
        if run.is_used_up(false) {
            run.record.ended_by = "--bytes".to_owned();
            return Ok(());
        }
        if run.record.slices.len() as f64 >= look_at {
            look_at *= CHECK_GROWTH;
            if is_settled(run) {
                run.record.ended_by = "steady state".to_owned();
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Seconds of a round of the SNIA window.
pub(super) fn round_s(options: &SustainOptions) -> f64 {
    (options.duration.as_secs_f64() / ROUND_SHARE).clamp(1.0, 60.0)
}

/// Slices of the workload so far.
pub(super) fn main_slices(taken: &[RecordedSlice], writes: bool) -> Vec<SeriesSlice> {
    let of_main = taken.iter().filter(|t| t.phase == RunPhase::Main && t.writes == writes);
    of_main.map(|t| t.slice.clone()).collect()
}

/// Causes in the workload so far.
fn causes_so_far(run: &SustainRun<'_, '_>, writes: bool) -> SeriesCauses {
    let slices = main_slices(&run.record.slices, writes);
    find_causes(&slices, run.record.series_facts(run.options, writes))
}

/// True if the speed is steady and nothing more is expected: the cache has ended or would be impossibly large, and the
/// temperature no longer rises.
fn is_settled(run: &SustainRun<'_, '_>) -> bool {
    let writes = run.options.work != WorkloadKind::Read;
    let slices = main_slices(&run.record.slices, writes);
    let Some(window) = steady_state(&slices, round_s(run.options)).filter(|w| w.reached) else {
        return false;
    };
    let since = slices.iter().position(|s| s.at_s >= window.from_s).unwrap_or(0);
    let celsius = |s: Option<&SeriesSlice>| s.and_then(|s| s.celsius);
    let warming = match (celsius(slices.get(since)), celsius(slices.last())) {
        (Some(then), Some(now)) => now - then > MAX_STEADY_RISE_K,
        // Without a thermometer the run cannot tell if the card still warms up, so it uses all its time.
        _ => return false,
    };
    if warming || !writes {
        return !warming;
    }
    let all = run.options.card_bytes.unwrap_or(u64::MAX) as f64;
    let beyond_any_cache = run.record.written as f64 > MAX_CACHE_SHARE * all;
    let ended = || {
        let ends = causes_so_far(run, true).cache_ends;
        ends.last().is_some_and(|end| end.at_s < window.from_s)
    };
    beyond_any_cache || ended()
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
    if run.options.work == WorkloadKind::Read || run.is_over {
        // Without writes the experiment has only reads.
        run.record.experiment = reads.map(|(reads_before, reads_after)| PauseExperiment {
            reads_before,
            reads_after,
            ..PauseExperiment::default()
        });
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
    run.record.experiment = match (reads, writes_before, writes_after, writes_later) {
        (Some((reads_before, reads_after)), Some(writes_before), Some(writes_after), Some(writes_later)) => {
            Some(PauseExperiment { reads_before, reads_after, writes_before, writes_after, writes_later })
        }
        _ => None,
    };
    Ok(())
}

/// Median speed of the last two seconds of writes.
fn last_speed(run: &SustainRun<'_, '_>) -> Option<f64> {
    let slices = main_slices(&run.record.slices, true);
    let speeds: Vec<f64> = slices.iter().rev().take(SHORT_SLICES).map(SeriesSlice::speed).collect();
    median(&speeds)
}

/// Measures two seconds. Returns the median speed, or None if less than half of the slices succeeded.
fn measure_briefly(run: &mut SustainRun<'_, '_>, writes: bool) -> Result<Option<f64>, ProbeStop> {
    let first = run.record.slices.len();
    for _ in 0..SHORT_SLICES {
        if run.is_over {
            break;
        }
        if writes { run.measure_slice(true)? } else { run.measure_read_slice()? }
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
    let until = run.seconds_left() * 0.4;
    let until = run.elapsed_s() + until.max(0.0);
    let slow =
        |run: &SustainRun<'_, '_>| run.record.slices.iter().rev().take(4).all(|t| t.slice.speed() < middle);
    while !run.is_over && !slow(run) && run.elapsed_s() < until && !run.is_used_up(false) {
        run.measure_slice(true)?;
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
        run.measure_read_slice()?;
    }
    Ok(())
}
