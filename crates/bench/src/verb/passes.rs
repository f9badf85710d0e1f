//! Runs the passes of a recipe. Each sample and each pass is stored before the next begins.

use super::pass_recorder::PassResult;
use cardscope_engine::event::Listener;
use cardscope_engine::io_driver::ProbeStop;
use cardscope_engine::journal::JournalError;
use cardscope_engine::runner::{self, RunError, RunnerSettings, run_pass};
use cardscope_engine::target::{TargetError, TargetRegion};
use cardscope_journal::restoring::RESTORING;
use cardscope_journal::{Journal, backup};
use cardscope_model::aggregate;
use cardscope_model::progress::{PlannedDuration, StagePlan};
use cardscope_model::random;
use cardscope_model::recipe::Recipe;
use cardscope_model::report::IoTotals;
use cardscope_model::result::{BenchReport, RunResult};
use cardscope_model::units::{MB, Nanos};
use cardscope_probing::saved_area::SavedArea;
use cardscope_probing::write_scope::WriteScope;
use cardscope_session::error::Failure;
use cardscope_session::frame::VerbSession;
use cardscope_session::open_target::OpenTarget;
use cardscope_session::recorder::SessionRecorder;
use cardscope_store::RunStart;

const SAVING: &str = "saving the test area";

/// Expected speed of saving and restoring in MB/s, for the plan.
const SAVING_MB_S: f64 = 40.0;

/// Recipe with the conditions under which it runs.
pub(super) struct PassRunner<'a> {
    pub(super) recipe: &'a Recipe,
    /// Most passes to run.
    pub(super) runs: u32,
    /// True if the first pass that meets the recipe's demands is the last.
    pub(super) first_pass_ends: bool,
    /// Time by the target's clock after which nothing new begins.
    pub(super) deadline: Option<Nanos>,
    /// False if only the recipe's reads may run.
    pub(super) may_write: bool,
    /// Area that is saved in the session's journal before it is written.
    pub(super) saved: Option<PreservedArea>,
    /// Shares of the write limit, each as large as a pass's, that are reserved for later tests.
    pub(super) reserved_shares: u32,
}

pub(super) struct PreservedArea {
    pub(super) region: TargetRegion,
    /// Salt of the stamps to be written, which the journal has recorded.
    pub(super) salt: u64,
}

impl PassRunner<'_> {
    /// Runs all passes and adds each to the report, also one that ended early. Needs the session's row in the archive.
    pub(super) fn run(&self, session: &mut VerbSession<'_>, into: &mut BenchReport) -> Result<(), ProbeStop> {
        let Some(mut recorder) = session.recorder.take() else { return Ok(()) };
        let ended = self.run_passes(session, &mut recorder, into);
        session.recorder = Some(recorder);
        ended
    }

    fn run_passes(
        &self,
        session: &mut VerbSession<'_>,
        recorder: &mut SessionRecorder,
        report: &mut BenchReport,
    ) -> Result<(), ProbeStop> {
        for number in 1..=self.runs {
            if number > 1 && self.deadline.is_some_and(|end| session.opened.target.now() >= end) {
                break;
            }
            session.opened.limit.reserve_shares(self.runs - number + 1 + self.reserved_shares);
            // Every pass uses other random addresses, and the session's seed repeats them all.
            let seed = random::mix_bits(report.header.seed.wrapping_add(u64::from(number)));
            let (run, outcome) = self.run_one(number, seed, session, recorder, &mut report.body.moved)?;
            let passed = run.passed == Some(true);
            report.body.runs.push(run);
            outcome?;
            if passed && self.first_pass_ends {
                break;
            }
        }
        Ok(())
    }

    /// Stages of all passes, with saving and restoring the area, or an image of so many bytes, around them.
    pub(super) fn stage_plan(&self, image: Option<u64>) -> StagePlan {
        let takes = |bytes: u64| bytes as f64 / MB / SAVING_MB_S;
        let area = takes(self.recipe.area);
        let (before, after) = match (&self.saved, image) {
            (Some(_), _) => (Some((SAVING, area)), Some((RESTORING, area))),
            (None, Some(all)) => (Some((backup::SAVING, takes(all))), Some((backup::RESTORING, area))),
            (None, None) => (None, None),
        };
        let around = |stage: Option<(&str, f64)>| stage.map(|(stage, takes)| (stage.to_owned(), takes));
        let pass = |number| runner::planned_stages(self.recipe, &self.run_label(number), self.may_write);
        let passes = (1..=self.runs).flat_map(pass);
        let duration = match before.is_none() && runner::ends_by_time(self.recipe, self.may_write) {
            true => PlannedDuration::SumOfWeights,
            false => PlannedDuration::Extrapolated,
        };
        let stages = around(before).into_iter().chain(passes).chain(around(after));
        StagePlan { duration, ..StagePlan::from_stages(stages) }
    }

    /// Suffix of the stage names of a run.
    fn run_label(&self, number: u32) -> String {
        if self.runs > 1 { format!(", run {number} of {}", self.runs) } else { String::new() }
    }

    /// Runs one pass. Returns its result even if it ended early, with how it ended.
    fn run_one(
        &self,
        number: u32,
        seed: u64,
        session: &mut VerbSession<'_>,
        recorder: &mut SessionRecorder,
        moved: &mut IoTotals,
    ) -> Result<(RunResult, Result<(), ProbeStop>), ProbeStop> {
        let label = self.run_label(number);
        let start = RunStart { run: number, seed, counted: true, size_bytes: Some(self.recipe.area) };
        recorder.archive.begin_run(recorder.id, start).map_err(archive_stop)?;
        let mut pass = PassResult::new(self.recipe, number, recorder, moved);
        let VerbSession { opened, interrupt, events, journal, .. } = session;
        let settings = RunnerSettings {
            label: &label,
            seed,
            may_write: self.may_write,
            interrupt,
            deadline: self.deadline,
            more_follow: number < self.runs,
        };
        let ended = self.measure_pass(&settings, opened, journal.as_mut(), &mut pass, *events);

        let (results, not_measured) = pass.into_results(opened.ceiling_mb_s);
        let (scores, passed) = (Vec::new(), None);
        let mut run = RunResult { run: number, counted: true, seed, results, not_measured, scores, passed };
        run.scores = aggregate::tool_scores(&run, self.recipe);
        run.passed = aggregate::demands_met(&run, self.recipe);
        // The report gets what was measured even if the archive could not store it.
        let recorded = recorder.archive.finish_run(recorder.id, &run).map_err(archive_stop);
        Ok((run, ended.and(recorded)))
    }

    fn measure_pass(
        &self,
        settings: &RunnerSettings<'_>,
        opened: &mut OpenTarget,
        journal: Option<&mut Journal>,
        pass: &mut PassResult<'_>,
        events: &mut dyn Listener,
    ) -> Result<(), ProbeStop> {
        let target = opened.target.as_mut();
        let Some(PreservedArea { region, salt }) = &self.saved else {
            return run_pass(target, self.recipe, settings, pass, events).map_err(to_stop);
        };
        let Some(journal) = journal else {
            let why = "the data of the card cannot be preserved without a journal";
            return Err(ProbeStop::Journal(JournalError(why.into())));
        };
        events.begin_stage(SAVING, Some(region.len), None);
        let mut scope = WriteScope::new(Some(journal as _));
        let mut area = SavedArea::save(target, &mut scope, *region, *salt, settings.interrupt)?;
        pass.moved.bytes_read += region.len;
        run_pass(&mut area, self.recipe, settings, pass, events).map_err(to_stop)
    }
}

fn to_stop(error: RunError) -> ProbeStop {
    match error {
        RunError::Target(TargetError::Interrupted) => ProbeStop::Interrupted,
        RunError::Target(error) => ProbeStop::Target(error),
        other => ProbeStop::Journal(JournalError(other.into())),
    }
}

fn archive_stop(error: cardscope_store::ArchiveError) -> ProbeStop {
    ProbeStop::Journal(JournalError(Failure::from(error).into()))
}
