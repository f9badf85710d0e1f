//! `bench`: runs a recipe on a target, stores every sample, and summarizes.

pub(crate) mod limit_findings;
mod part;
mod pass_recorder;
mod passes;
mod report;
pub(crate) mod sizing;

pub use crate::request::BenchRequest;
pub use part::BenchPart;

use cardscope_model::caveat::Caveat;
use cardscope_model::recipe::{MAX_RUNS, Recipe};
use cardscope_model::result::{BenchReport, BenchResult, TIME_LIMIT_REASON};
use cardscope_model::shell::shell_quote;
use cardscope_model::units::{nanos_to_seconds, option_size};
use cardscope_session::after_verdict::{SOME_DATA, next_step, repeat_description};
use cardscope_session::error::{Failure, Result};
use cardscope_session::frame::{CardNeeds, CommonOptions, Procedure, VerbSession};
use cardscope_session::open_target::TargetType;
use passes::PassRunner;

impl Procedure for BenchRequest {
    const VERB: &'static str = "bench";
    type Body = BenchResult;

    fn common(&self) -> &CommonOptions {
        &self.common
    }

    fn needs(&self) -> CardNeeds {
        match self.recipe().is_ok_and(|recipe| recipe.writes()) {
            true => CardNeeds::Overwrite(None),
            false => CardNeeds::Read,
        }
    }

    fn check(&self, _: TargetType) -> Result<()> {
        checked_runs(self, &self.recipe()?).map(drop)
    }

    fn run(&self, session: &mut VerbSession<'_>, report: &mut BenchReport) -> Result<()> {
        let recipe = self.recipe()?;
        let runs = checked_runs(self, &recipe)?;
        session.opened.limit_writes(self.limits.max_write());
        report.header.caveats.extend(unprepared_caveat(&recipe, session.opened.is_writable));
        let recipe = sizing::fit_recipe(self, recipe, runs, session.opened)?;
        crate::request::check_state(&recipe, &session.opened.condition)?;
        let misfit = |e| Failure::refused_for(format!("recipe {} does not fit: {e}", recipe.name), e);
        let area = session.opened.target.area(recipe.area).map_err(misfit)?;
        report::begin_report(report, &recipe, session.opened);
        self.refuse_needless_backup(&recipe, session)?;
        let mut passes = PassRunner {
            recipe: &recipe,
            runs,
            // A recipe with demands is repeated until it passes, unless the user gave a number of runs.
            first_pass_ends: self.runs.is_none() && !recipe.demands.is_empty(),
            deadline: None,
            may_write: session.opened.is_writable,
            saved: None,
            reserved_shares: 0,
        };
        let line = report::plan_line(&recipe, runs, session.opened);
        let image = self.backup.as_ref().map(|_| session.bytes());
        // With --backup the budget begins after the image was taken, so it does not belong to the plan.
        let budget = self.limits.budget.filter(|_| image.is_none());
        session.events.announce_plan(passes.stage_plan(image).with_budget(budget).with_summary(line));
        let overwritten = Some((area.start, area.start + area.len));
        session.back_up(self.backup.as_deref(), overwritten, &mut report.body.moved)?;
        report::begin_row(report, &recipe, self.recipe_text()?, session)?;
        let began = session.opened.target.now();
        passes.deadline = self.limits.budget.map(|budget| began + budget.as_nanos() as u64);
        let ended = passes.run(session, report);
        // In a directory only the test's own file is written.
        report.body.moved.data_kept = session.opened.is_directory();
        report.body.moved.seconds = nanos_to_seconds(session.opened.target.now() - began);
        report::summarize(report, &recipe, session);
        let timed_out = report.body.runs.iter().flat_map(|run| &run.not_measured);
        if timed_out.into_iter().any(|test| test.reason == TIME_LIMIT_REASON) {
            let loses = passes.may_write && self.backup.is_none() && !session.opened.is_directory();
            let again = "measure it again without the time limit";
            let what = repeat_description(again, loses.then_some(SOME_DATA));
            report.header.next.push(next_step(what, Some(self.without_time_limit())));
        }
        ended.map_err(Failure::from)
    }
}

impl BenchRequest {
    /// Command that repeats this session without its time limit.
    fn without_time_limit(&self) -> String {
        let (target, recipe) = (shell_quote(&self.common.target), shell_quote(&self.recipe));
        let mut command = format!("cardscope bench {target} --recipe {recipe}");
        let options = [
            self.runs.map(|runs| format!(" --runs {runs}")),
            self.size.map(|size| format!(" --size {}", option_size(size))),
            self.backup.as_ref().map(|file| format!(" --backup {}", shell_quote(&file.to_string_lossy()))),
        ];
        command.extend(self.only.iter().map(|test| format!(" --only {}", shell_quote(test))));
        command.extend(options.into_iter().flatten());
        command + &self.common.repeat_options(self.limits.max_write())
    }

    /// Refuses `--backup` where no data could be lost.
    fn refuse_needless_backup(&self, recipe: &Recipe, session: &VerbSession<'_>) -> Result<()> {
        let why = match &self.backup {
            Some(_) if !recipe.writes() => format!(": recipe {} writes nothing", recipe.name),
            Some(_) if session.opened.is_directory() => {
                " in a directory, where only the test file is written".to_owned()
            }
            _ => return Ok(()),
        };
        Err(Failure::refused(format!("--backup has no effect{why}")))
    }
}

/// Caveat of a read-only recipe, whose test area has unknown content.
fn unprepared_caveat(recipe: &Recipe, may_write: bool) -> Option<Caveat> {
    let text = "a read-only recipe does not fill the test area first: unwritten or trimmed blocks read faster than data";
    (recipe.prepares() && !may_write).then(|| Caveat::Other { text: text.to_owned() })
}

/// Most passes that will run.
fn checked_runs(request: &BenchRequest, recipe: &Recipe) -> Result<u32> {
    match request.runs {
        Some(n) if (1..=MAX_RUNS).contains(&n) => Ok(n),
        Some(n) => {
            let why = format!("--runs {n} is not between 1 and {MAX_RUNS}; for more, run the command again");
            Err(Failure::refused(why))
        }
        None => Ok(recipe.tries),
    }
}
