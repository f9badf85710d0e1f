//! `bench`: runs a recipe on a target, keeps every sample, and sums up.

pub(crate) mod journaled;
mod pass;
mod report;
mod request;
pub(crate) mod sizing;

pub use cardscope_engine::interrupt::Interrupt;
pub use request::Request;

use crate::error::{Failure, Result};
use crate::frame::{Common, Needs, Procedure, Session};
use crate::opened::TargetType;
use crate::recorder::Recorder;
use cardscope_engine::runner::{RunError, Settings, run_pass};
use cardscope_engine::target::TargetError;
use cardscope_model::aggregate;
use cardscope_model::caveat::Caveat;
use cardscope_model::random;
use cardscope_model::recipe::Recipe;
use cardscope_model::result::{Bench, BenchReport, Run};
use cardscope_model::session_file::FileRecipe;
use cardscope_store::{RunStart, SessionStart};
use pass::{Pass, Recording};
use std::time::Duration;

impl Procedure for Request {
    const VERB: &'static str = "bench";
    type Body = Bench;

    fn common(&self) -> &Common {
        &self.common
    }

    fn needs(&self) -> Needs {
        match self.recipe().is_ok_and(|recipe| recipe.writes()) {
            true => Needs::WriteAndLose(None),
            false => Needs::Read,
        }
    }

    fn check(&self, _: TargetType) -> Result<()> {
        let recipe = self.recipe()?;
        self.common.conditions.stated()?;
        runs(self, &recipe).map(drop)
    }

    fn run(&self, session: &mut Session<'_>, report: &mut BenchReport) -> Result<()> {
        let recipe = self.recipe()?;
        let runs = runs(self, &recipe)?;
        session.opened.limit_writes(self.limits.max_write());
        report.header.caveats.extend(unprepared(&recipe, session.opened.may_write));
        let recipe = sizing::fit(self, recipe, runs, session.opened)?;
        request::check_state(&recipe, &session.opened.condition)?;
        let area = session.opened.target.area(recipe.area);
        let area =
            area.map_err(|e| Failure::refused_for(format!("recipe {} does not fit: {e}", recipe.name), e))?;
        report::begin(report, &recipe, session.opened);
        session.events.note(&report::plan_line(&recipe, runs, session.opened));
        self.refuse_needless_backup(&recipe, session)?;
        session.back_up(self.backup.as_deref(), Some((area.start, area.start + area.len)))?;
        let (name, version) = (recipe.name.clone(), recipe.fingerprint.clone());
        let recorded = FileRecipe { name, version, text: self.recipe_text()? };
        let (io_path, bus_ceiling_mb_s) = (report.header.io_path.clone(), report.body.bus_ceiling_mb_s);
        session.record(&mut report.header, |start| SessionStart {
            recipe: Some(recorded),
            io_path,
            bus_ceiling_mb_s,
            ..start
        })?;
        let Some(mut recorder) = session.recorder.take() else { return Ok(()) };
        // A recipe with demands is tried until it passes, unless the user says how often it is to be run.
        let first_pass_ends = self.runs.is_none() && !recipe.demands.is_empty();
        let passes = Passes { recipe: &recipe, runs, first_pass_ends, budget: self.limits.budget };
        let ended = passes.run(session, &mut recorder, report);
        session.recorder = Some(recorder);
        report::sum_up(report, &recipe, session);
        ended
    }

    fn finish(recorder: Recorder, report: &BenchReport, failure: Option<&Failure>) -> Result<()> {
        recorder.finish_bench(report, failure)
    }
}

impl Request {
    /// Refuses to save an image where nothing could be lost.
    fn refuse_needless_backup(&self, recipe: &Recipe, session: &Session<'_>) -> Result<()> {
        match &self.backup {
            Some(_) if !recipe.writes() => Err(Failure::refused(format!(
                "recipe {} writes nothing, so --backup has nothing to save",
                recipe.name
            ))),
            Some(_) if session.opened.is_directory() => Err(Failure::refused(
                "in a directory only a file of the test's own is written to, so --backup has nothing to save",
            )),
            _ => Ok(()),
        }
    }
}

/// Reads of a card that keeps its content find what happens to be there.
fn unprepared(recipe: &Recipe, may_write: bool) -> Option<Caveat> {
    let text = "the test area was not written before, since a recipe that only reads leaves a device or file as it is: \
                blocks that were never written or were trimmed read faster than data";
    (recipe.prepares() && !may_write).then(|| Caveat::Other { text: text.to_owned() })
}

/// How many passes at most.
fn runs(request: &Request, recipe: &Recipe) -> Result<u32> {
    match request.runs {
        Some(0) => Err(Failure::refused("--runs must be at least 1")),
        Some(n) => Ok(n),
        None => Ok(recipe.tries),
    }
}

/// The passes of a recipe.
struct Passes<'a> {
    recipe: &'a Recipe,
    runs: u32,
    first_pass_ends: bool,
    budget: Option<Duration>,
}

impl Passes<'_> {
    fn run(
        &self,
        session: &mut Session<'_>,
        recorder: &mut Recorder,
        report: &mut BenchReport,
    ) -> Result<()> {
        let start = session.opened.target.now();
        let deadline = self.budget.map(|b| start + b.as_nanos() as u64);
        for number in 1..=self.runs {
            if number > 1 && deadline.is_some_and(|d| session.opened.target.now() >= d) {
                break;
            }
            session.opened.limit.share_out(self.runs - number + 1);
            let settings = Settings {
                label: "",
                seed: random::mix(report.header.seed.wrapping_add(u64::from(number))),
                may_write: session.opened.may_write,
                interrupt: session.interrupt,
                deadline,
                more_follow: number < self.runs,
            };
            let (run, outcome) = self.pass(number, session, &settings, recorder)?;
            let passed = run.passed == Some(true);
            report.body.runs.push(run);
            outcome?;
            if passed && self.first_pass_ends {
                break;
            }
        }
        Ok(())
    }

    /// One pass: what it yielded, and how it ended.
    fn pass(
        &self,
        number: u32,
        session: &mut Session<'_>,
        settings: &Settings<'_>,
        recorder: &mut Recorder,
    ) -> Result<(Run, Result<()>)> {
        let label = if self.runs > 1 { format!("run {number} of {}: ", self.runs) } else { String::new() };
        let start =
            RunStart { run: number, seed: settings.seed, counted: true, size_bytes: Some(self.recipe.area) };
        recorder.archive.begin_run(recorder.id, start)?;
        let recording = Recording { recorder: &mut *recorder, run: number };
        let mut pass = Pass::new(self.recipe, Some(recording));
        let settings = Settings { label: &label, ..*settings };
        let target = session.opened.target.as_mut();
        let ended = run_pass(target, self.recipe, &settings, &mut pass, session.events);
        pass.settle_paces();
        let Pass { samples, caveats, precisions, not_measured, .. } = pass;
        let mut run = Run {
            run: number,
            counted: true,
            seed: settings.seed,
            results: report::results(self.recipe, &samples, caveats, precisions, session.opened.ceiling_mb_s),
            not_measured,
            scores: Vec::new(),
            passed: None,
        };
        run.scores = aggregate::scores(&run, self.recipe);
        run.passed = aggregate::demands_met(&run, self.recipe);
        // What was measured belongs into the document also where the archive could not take it.
        let recorded = recorder.archive.finish_run(recorder.id, &run).map_err(Failure::from);
        Ok((run, ended.map_err(failure).and(recorded)))
    }
}

fn failure(error: RunError) -> Failure {
    match error {
        RunError::Target(TargetError::Interrupted) => Failure::Interrupted,
        RunError::ReadOnly(_) => Failure::refused(error),
        _ => Failure::io(error),
    }
}
