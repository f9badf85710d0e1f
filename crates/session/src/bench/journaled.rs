//! One pass of a recipe over a part of a card whose content is saved first and put back by whoever holds the journal:
//! for a verb that measures without losing anything.

use super::pass;
use super::report;
use super::sizing::smaller_area;
use crate::error::{Failure, Result};
use crate::frame::Session;
use crate::opened::Opened;
use cardscope_engine::card::Stop;
use cardscope_engine::journal::{Journal, JournalError};
use cardscope_engine::runner::{RunError, Settings, run_pass};
use cardscope_engine::target::{TargetError, place_area};
use cardscope_model::recipe::{self, Recipe};
use cardscope_model::result::{NotMeasured, TestResult};
use cardscope_model::units::Nanos;
use cardscope_probe::saved_area::SavedArea;
use cardscope_probe::write_scope::WriteScope;

/// What a pass yielded.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    /// Tests that have a figure.
    pub(crate) results: Vec<TestResult>,
    /// Tests that have none, and why.
    pub(crate) not_measured: Vec<NotMeasured>,
    /// What ended it early; a card that is gone is not written to by whoever puts back.
    pub(crate) stop: Option<Stop>,
}

/// How a pass is run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pass<'a> {
    /// A built-in recipe's name.
    pub(crate) recipe: &'a str,
    /// Seed of places and data.
    pub(crate) seed: u64,
    /// The salt of the stamps that are written; the journal has noted it.
    pub(crate) salt: u64,
    /// Bytes from 0 on that the card is known to keep.
    pub(crate) usable: u64,
    /// True where what stands in the area may go: a file of our own, or with consent.
    pub(crate) content_may_go: bool,
    /// False where only its reads are wanted.
    pub(crate) writes: bool,
    /// The end of the budget on the target's clock.
    pub(crate) deadline: Option<Nanos>,
}

/// Runs the pass. What it writes over is saved in the session's journal, or may go.
///
/// # Errors
/// A refusal, nothing was written: there is no room for the area, or nowhere to save it. The failure of the card itself
/// stands in [`Measured`].
pub(crate) fn pass(pass: &Pass<'_>, session: &mut Session<'_>) -> Result<Measured> {
    if pass.writes && session.journal.is_none() && !pass.content_may_go {
        return Err(Failure::refused("a card whose data is kept is not written to without a journal"));
    }
    let Session { opened, interrupt, events, journal, .. } = session;
    let recipe = recipe_of(pass, opened)?;
    let room =
        |reason: TargetError| Failure::refused_for(format!("there is no room for it: {reason}"), reason);
    let region = match opened.target.info().whole_card {
        true => place_area(pass.usable, recipe.area),
        false => opened.target.area(recipe.area),
    };
    let region = region.map_err(room)?;
    let settings = Settings {
        label: "",
        seed: pass.seed,
        may_write: pass.writes,
        interrupt,
        deadline: pass.deadline,
        more_follow: false,
    };
    let mut seen = pass::Pass::new(&recipe, None);
    let ended = match journal {
        Some(journal) if pass.writes => {
            let mut scope = WriteScope::new(Some(journal as &mut dyn Journal));
            let saved = SavedArea::save(opened.target.as_mut(), &mut scope, region, pass.salt, interrupt);
            saved.and_then(|mut area| {
                run_pass(&mut area, &recipe, &settings, &mut seen, *events).map_err(stop)
            })
        }
        _ => run_pass(opened.target.as_mut(), &recipe, &settings, &mut seen, *events).map_err(stop),
    };
    seen.settle_paces();
    Ok(measured(&recipe, seen, opened.ceiling_mb_s, ended.err()))
}

/// The recipe, cut to its reads where nothing may be written, and over a smaller area where little may be.
fn recipe_of(pass: &Pass<'_>, opened: &Opened) -> Result<Recipe> {
    let text = recipe::RECIPES.find(pass.recipe).map_err(Failure::refused)?;
    let mut recipe = recipe::parse(text, None).map_err(Failure::refused)?;
    if let Some(left) = opened.limit.left().filter(|left| pass.writes && recipe.area > left / 2) {
        let refusal = || opened.limit.refuse("it", recipe.area * 2);
        let area = smaller_area(left).ok_or_else(refusal)?;
        recipe = recipe::parse(text, Some(area)).map_err(Failure::refused)?;
    }
    if !pass.writes {
        recipe.tests.retain(|test| !test.name.op.writes());
    }
    Ok(recipe)
}

fn stop(error: RunError) -> Stop {
    match error {
        RunError::Target(TargetError::Interrupted) => Stop::Interrupted,
        RunError::Target(error) => Stop::Target(error),
        other => Stop::Journal(JournalError(other.into())),
    }
}

fn measured(recipe: &Recipe, seen: pass::Pass<'_>, ceiling: Option<f64>, stop: Option<Stop>) -> Measured {
    let pass::Pass { samples, caveats, precisions, not_measured, .. } = seen;
    let results = report::results(recipe, &samples, caveats, precisions, ceiling);
    Measured { results, not_measured, stop }
}
