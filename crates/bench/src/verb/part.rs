//! A recipe as a part of another verb: one pass over an area whose data is saved and restored, unless it may be lost.

use super::passes::{PassRunner, PreservedArea};
use super::sizing::smaller_area;
use super::{BenchRequest, report};
use cardscope_engine::target::{TargetRegion, place_area};
use cardscope_model::recipe::Recipe;
use cardscope_model::result::{BenchReport, BenchResult};
use cardscope_model::units::{MIB, Nanos};
use cardscope_probing::context::stamp_salt;
use cardscope_session::error::{Failure, Result};
use cardscope_session::frame::{CommonOptions, Procedure, VerbSession};
use cardscope_session::open_target::OpenTarget;

/// Room in the journal for its headers, in addition to the area.
const FRAME: u64 = 16 * MIB;

/// Benchmark on a card that another verb has opened.
pub struct BenchPart {
    pub request: BenchRequest,
    /// Bytes from 0 on that the card is known to keep.
    pub usable: u64,
    /// False if only the recipe's reads may run.
    pub writes: bool,
    /// True if the content of the area may be lost: a file of the test, or with consent.
    pub may_lose_data: bool,
    /// Time by the target's clock after which nothing new begins.
    pub deadline: Nanos,
}

impl Procedure for BenchPart {
    const VERB: &'static str = BenchRequest::VERB;
    type Body = BenchResult;

    fn common(&self) -> &CommonOptions {
        &self.request.common
    }

    fn run(&self, session: &mut VerbSession<'_>, report: &mut BenchReport) -> Result<()> {
        let recipe = self.recipe(session.opened)?;
        let region = self.area_region(&recipe, session.opened)?;
        report::begin_report(report, &recipe, session.opened);
        report.body.moved.data_kept = true;
        let salt = stamp_salt(report.header.seed);
        let saved = (self.writes && !self.may_lose_data).then_some(PreservedArea { region, salt });
        if let Some(saved) = &saved {
            session.begin_journal(region.len + FRAME, saved.salt)?;
        }
        report::begin_row(report, &recipe, self.request.recipe_text()?, session)?;
        let passes = PassRunner {
            recipe: &recipe,
            runs: 1,
            first_pass_ends: false,
            deadline: Some(self.deadline),
            may_write: self.writes,
            saved,
            reserved_shares: 1,
        };
        session.events.announce_plan(passes.stage_plan(None));
        let ended = passes.run(session, report);
        report.body.moved.data_kept = !self.writes || !self.may_lose_data || session.opened.is_directory();
        let (returned, ended) = session.restore_after_probe(ended.err(), None, &mut report.body.moved);
        report::summarize(report, &recipe, session);
        report.header.findings.extend(returned.and_then(|returned| returned.finding(None)));
        ended
    }
}

impl BenchPart {
    /// The recipe without its writes if they are not allowed, and over a smaller area if few are.
    fn recipe(&self, opened: &OpenTarget) -> Result<Recipe> {
        let mut recipe = self.request.recipe()?;
        if let Some(left) = opened.limit.bytes_left().filter(|left| self.writes && recipe.area > left / 2) {
            let area = smaller_area(left).ok_or_else(|| opened.limit.refuse_write("it", recipe.area * 2))?;
            recipe = self.request.recipe_with_area(Some(area))?;
        }
        if !self.writes {
            recipe.tests.retain(|test| !test.name.op.writes());
        }
        Ok(recipe)
    }

    fn area_region(&self, recipe: &Recipe, opened: &mut OpenTarget) -> Result<TargetRegion> {
        let region = match opened.target.info().whole_card {
            true => place_area(self.usable, recipe.area),
            false => opened.target.area(recipe.area),
        };
        region.map_err(|e| Failure::refused_for(format!("there is no room for it: {e}"), e))
    }
}
