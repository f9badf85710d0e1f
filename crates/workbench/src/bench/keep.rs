//! Keeps a session in the archive: every sample is on disk before the next begins.

use super::Request;
use super::recorder::Keeper;
use crate::card_key;
use crate::error::Failure;
use crate::opening::Opened;
use crate::recording;
use cardscope_engine::pending::{self, Owing};
use cardscope_engine::runner::{ObserverError, random};
use cardscope_model::recipe::Recipe;
use cardscope_model::result::{BenchReport, Run, Sample};
use cardscope_store::{Archive, RunStart, SampleRecord, SessionId, SessionStart};

/// A session that is being kept.
pub(super) struct Keeping {
    archive: Archive,
    session: SessionId,
    run: u32,
    recipe: Recipe,
    _owing: Owing,
}

impl Keeping {
    /// Opens the archive and stores the start; puts the session's name into the report.
    pub(super) fn begin(
        request: &Request,
        recipe: &Recipe,
        opened: &Opened,
        report: &mut BenchReport,
    ) -> Result<Self, Failure> {
        let path = request.archive.clone().map_or_else(Archive::default_path, Ok)?;
        let mut archive = Archive::open(path)?;
        let session = archive.begin_session(&start(request, opened, report)?)?;
        report.header.session = Some(session.to_string());
        let owing = pending::owing(recording::STORED, "");
        Ok(Keeping { archive, session, run: 0, recipe: recipe.clone(), _owing: owing })
    }

    pub(super) fn begin_run(&mut self, run: u32, seed: u64) -> Result<(), Failure> {
        self.run = run;
        let start = RunStart { run, seed, counted: true, size_bytes: Some(self.recipe.area) };
        Ok(self.archive.begin_run(self.session, start)?)
    }

    pub(super) fn end_run(&mut self, run: &Run) -> Result<(), Failure> {
        Ok(self.archive.finish_run(self.session, run)?)
    }

    pub(super) fn end(mut self, report: &BenchReport, failure: Option<&Failure>) -> Result<(), Failure> {
        Ok(self.archive.finish_session(self.session, recording::how(failure), report)?)
    }
}

impl Keeper for Keeping {
    fn keep(&mut self, test: usize, index: u32, sample: &Sample) -> Result<(), ObserverError> {
        let spec = &self.recipe.tests[test];
        let record = SampleRecord {
            test_key: spec.key(),
            test: spec.name,
            step: spec.step.clone(),
            loop_index: index,
            sample: sample.clone(),
            caveats: Vec::new(),
        };
        self.archive.add_sample(self.session, self.run, &record).map_err(Into::into)
    }
}

fn start(request: &Request, opened: &Opened, report: &BenchReport) -> Result<SessionStart, Failure> {
    Ok(SessionStart {
        target: report.header.target.clone(),
        piece: card_key::piece(opened),
        recipe: report.body.recipe.clone(),
        recipe_version: report.body.recipe_version.clone(),
        recipe_text: request.recipe_text()?,
        seed: report.header.seed,
        condition: report.header.condition.clone(),
        io_path: report.header.io_path.clone(),
        bus_ceiling_mb_s: report.body.bus_ceiling_mb_s,
        identity: card_key::identity_json(opened),
        host: card_key::host_json(&report.header.condition),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

/// A seed that no earlier session had: from a fresh random UUID.
pub(crate) fn fresh_seed() -> u64 {
    let (high, low) = uuid::Uuid::now_v7().as_u64_pair();
    // 53 bits: JSON readers keep numbers as doubles, and a seed must come back unchanged.
    random::mix(high ^ low) >> 11
}
