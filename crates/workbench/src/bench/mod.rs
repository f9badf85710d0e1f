//! `bench`: runs a recipe on a target, keeps every sample, and sums up.

mod keep;
mod pace;
mod recorder;
mod report;
mod request;
pub(crate) mod saved;
pub(crate) mod sizing;

pub use cardscope_engine::interrupt::Interrupt;
pub use request::Request;

pub(crate) use keep::fresh_seed;

use crate::backup::{self, Backup};
use crate::consent::Consent;
use crate::error::Failure;
use crate::opening::{self, Opened};
use cardscope_engine::event::Listener;
use cardscope_engine::runner::{RunError, Settings, random, run_pass};
use cardscope_engine::target::TargetError;
use cardscope_model::aggregate;
use cardscope_model::caveat::Caveat;
use cardscope_model::recipe::Recipe;
use cardscope_model::result::{BenchReport, Run};
use keep::Keeping;
use recorder::Recorder;
use std::path::Path;

/// What became of a session: always a document, and what ended it early.
#[derive(Debug)]
pub struct Outcome {
    /// The document, partial where `failure` is set.
    pub report: BenchReport,
    /// What ended the session early.
    pub failure: Option<Failure>,
}

/// Runs a session.
///
/// # Errors
/// A refusal: the request is wrong, the target is not safe to test, or consent was not given. Nothing was written.
pub fn bench(
    request: &Request,
    consent: &mut dyn Consent,
    interrupt: &Interrupt,
    listener: &mut dyn Listener,
) -> Result<Outcome, Failure> {
    let recipe = request.recipe()?;
    let stated = request.condition()?;
    let runs = runs(request, &recipe)?;
    let mut opened = opening::open(&request.target, recipe.writes(), consent, interrupt)?;
    opened.condition.overlay(&stated);
    crate::format::name_state(request.archive.as_deref(), &mut opened);
    opened.limit_writes(request.max_write);
    opened.caveats.extend(unprepared(&recipe, opened.may_write));
    let recipe = sizing::fit(request, recipe, runs, &opened)?;
    request::check_state(&recipe, &opened.condition)?;
    let fits = opened.target.area(recipe.area);
    fits.map_err(|e| Failure::Refused(format!("recipe {} does not fit: {e}", recipe.name)))?;
    let seed = request.seed.unwrap_or_else(keep::fresh_seed);
    let mut report = report::empty(request, &recipe, &opened, seed);
    listener.note(&report::plan_line(&recipe, runs, &opened));
    let mut backup = match &request.backup {
        Some(file) => Some(take_backup(file, &recipe, &mut opened, interrupt, listener)?),
        None => None,
    };
    if let (Some(backup), Ok(area)) = (&mut backup, opened.target.area(recipe.area)) {
        backup.overwritten(area.start, area.start + area.len);
    }
    let keeping = Keeping::begin(request, &recipe, &opened, &mut report);
    let mut keeping = keeping.map_err(|f| backup.as_ref().map_or_else(|| f.clone(), |b| b.named(&f)))?;
    let session = Session { recipe: &recipe, runs, first_pass_ends: first_pass_ends(request, &recipe), seed };
    let failure = session.run(&mut opened, request, interrupt, listener, &mut keeping, &mut report).err();
    report::sum_up(&mut report, &recipe, &opened);
    opened.lift_limit();
    let back = backup.map(|backup| backup.put_back(&mut opened, interrupt, listener)).transpose();
    report.header.findings.extend(back.iter().flatten().filter_map(backup::finding));
    let failure = match (failure, back) {
        // What says where the card's data is must not be lost behind what ended the session.
        (Some(Failure::Io(why)), Err(error)) => Some(Failure::Io(format!("{why}; {error}"))),
        (_, Err(error)) => Some(error),
        (failure, Ok(_)) => failure,
    };
    report.header.error = failure.as_ref().map(ToString::to_string);
    let not_kept = keeping.end(&report, failure.as_ref()).err();
    let failure = failure.or(not_kept);
    report.header.error = failure.as_ref().map(ToString::to_string);
    Ok(Outcome { report, failure })
}

/// Saves an image of a card that the recipe is going to overwrite.
fn take_backup(
    file: &Path,
    recipe: &Recipe,
    opened: &mut Opened,
    interrupt: &Interrupt,
    listener: &mut dyn Listener,
) -> Result<Backup, Failure> {
    if !recipe.writes() {
        return Err(Failure::Refused(format!(
            "recipe {} writes nothing, so --backup has nothing to save",
            recipe.name
        )));
    }
    if opened.is_directory() {
        return Err(Failure::refused(
            "in a directory only a file of the test's own is written to, so --backup has nothing to save",
        ));
    }
    Backup::take(file, opened, interrupt, listener)
}

/// Reads of a card that keeps its content find what happens to be there.
fn unprepared(recipe: &Recipe, may_write: bool) -> Option<Caveat> {
    let text = "the test area was not written before, since a recipe that only reads leaves a device or file as it is: \
                blocks that were never written or were trimmed read faster than data";
    (recipe.prepares() && !may_write).then(|| Caveat::Other { text: text.to_owned() })
}

/// How many passes at most.
fn runs(request: &Request, recipe: &Recipe) -> Result<u32, Failure> {
    match request.runs {
        Some(0) => Err(Failure::Refused("--runs must be at least 1".into())),
        Some(n) => Ok(n),
        None => Ok(recipe.tries),
    }
}

/// A recipe with demands is tried until it passes, unless the user says how often it is to be run.
fn first_pass_ends(request: &Request, recipe: &Recipe) -> bool {
    request.runs.is_none() && !recipe.demands.is_empty()
}

struct Session<'a> {
    recipe: &'a Recipe,
    runs: u32,
    first_pass_ends: bool,
    seed: u64,
}

impl Session<'_> {
    fn run(
        &self,
        opened: &mut Opened,
        request: &Request,
        interrupt: &Interrupt,
        listener: &mut dyn Listener,
        keeping: &mut Keeping,
        report: &mut BenchReport,
    ) -> Result<(), Failure> {
        let start = opened.target.now();
        let deadline = request.budget.map(|b| start + b.as_nanos() as u64);
        for number in 1..=self.runs {
            if number > 1 && deadline.is_some_and(|d| opened.target.now() >= d) {
                break;
            }
            opened.limit.share_out(self.runs - number + 1);
            let settings = Settings {
                seed: random::mix(self.seed.wrapping_add(u64::from(number))),
                may_write: opened.may_write,
                interrupt,
                deadline,
                more_follow: number < self.runs,
            };
            let (run, outcome) = self.pass(number, opened, &settings, listener, keeping)?;
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
        opened: &mut Opened,
        settings: &Settings<'_>,
        listener: &mut dyn Listener,
        keeping: &mut Keeping,
    ) -> Result<(Run, Result<(), Failure>), Failure> {
        let label = if self.runs > 1 { format!("run {number} of {}: ", self.runs) } else { String::new() };
        keeping.begin_run(number, settings.seed)?;
        let mut recorder = Recorder::new(self.recipe, label, listener, Some(keeping));
        let ended = run_pass(opened.target.as_mut(), self.recipe, settings, &mut recorder);
        recorder.settle_paces();
        let Recorder { samples, caveats, precisions, not_measured, .. } = recorder;
        let mut run = Run {
            run: number,
            counted: true,
            seed: settings.seed,
            results: report::results(self.recipe, &samples, caveats, precisions, opened.ceiling_mb_s),
            not_measured,
            scores: Vec::new(),
            passed: None,
        };
        run.scores = aggregate::scores(&run, self.recipe);
        run.passed = aggregate::demands_met(&run, self.recipe);
        // What was measured belongs into the document also where the archive could not take it.
        let kept = keeping.end_run(&run);
        Ok((run, ended.map_err(failure).and(kept)))
    }
}

fn failure(error: RunError) -> Failure {
    match error {
        RunError::Target(TargetError::Interrupted) => Failure::Interrupted,
        RunError::ReadOnly(_) => Failure::refused(error),
        _ => Failure::io(error),
    }
}
