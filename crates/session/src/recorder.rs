//! Keeps the results of verbs in the archive: begun, kept anew any number of times,
//! finished. Each call is on disk when it returns, so a crash leaves the last document.

use crate::archive::open;
use crate::card_key;
use crate::error::Failure;
use crate::opening::Opened;
use cardscope_engine::pending::{self, Owing};
use cardscope_model::recipe::{Recipe, Test};
use cardscope_model::result::{BenchReport, Run, Sample};
use cardscope_store::{Archive, EndedHow, RecordStart, RunStart, SampleRecord, SessionId, SessionStart};
use serde::Serialize;
use serde_json::Value;
use std::path::Path;

/// What is done before a program that keeps results ends by itself.
pub(crate) const STORED: &str = "what was measured is stored in the archive";

/// A result that is being kept.
pub struct Recorder {
    archive: Archive,
    id: SessionId,
    _owing: Owing,
}

impl Recorder {
    /// Opens the archive (`None` is the user's own) and stores the start. `kind` is the verb.
    ///
    /// # Errors
    /// If the archive cannot be opened or written.
    pub(crate) fn begin(
        archive: Option<&Path>,
        kind: &str,
        target: &str,
        seed: u64,
        opened: &Opened,
    ) -> Result<Self, Failure> {
        let start = RecordStart {
            kind: kind.to_owned(),
            target: target.to_owned(),
            piece: card_key::piece(opened),
            seed,
            condition: opened.condition.clone(),
            identity: card_key::identity_json(opened),
            host: card_key::host_json(&opened.condition),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        Self::of(archive, &start)
    }

    /// The same for what was never opened: a card that is only watched.
    ///
    /// # Errors
    /// If the archive cannot be opened or written.
    pub(crate) fn of(archive: Option<&Path>, start: &RecordStart) -> Result<Self, Failure> {
        let mut archive = open(archive)?;
        let id = archive.begin_record(start)?;
        Ok(Recorder { archive, id, _owing: pending::owing(STORED, "") })
    }

    /// Its name, for the document's `session`.
    pub(crate) fn name(&self) -> String {
        self.id.to_string()
    }

    /// Stores the document as it is now.
    ///
    /// # Errors
    /// If it cannot be written; what was kept before stays.
    pub(crate) fn update(&mut self, document: &impl Serialize) -> Result<(), Failure> {
        Ok(self.archive.update_record(self.id, &value(document)?)?)
    }

    /// Stores the last document and how it ended.
    ///
    /// # Errors
    /// If it cannot be written; what was kept before stays.
    pub(crate) fn finish(
        mut self,
        document: &impl Serialize,
        failure: Option<&Failure>,
    ) -> Result<(), Failure> {
        let document = value(document)?;
        Ok(self.archive.finish_record(self.id, how(failure), &document)?)
    }

    /// Begins the row of a bench, whose samples are rows of their own.
    ///
    /// # Errors
    /// If the archive cannot be opened or written.
    pub(crate) fn begin_bench(
        archive: Option<&Path>,
        report: &BenchReport,
        recipe_text: String,
        opened: &Opened,
    ) -> Result<Self, Failure> {
        let start = SessionStart {
            target: report.header.target.clone(),
            piece: card_key::piece(opened),
            recipe: report.body.recipe.clone(),
            recipe_version: report.body.recipe_version.clone(),
            recipe_text,
            seed: report.header.seed,
            condition: report.header.condition.clone(),
            io_path: report.header.io_path.clone(),
            bus_ceiling_mb_s: report.body.bus_ceiling_mb_s,
            identity: card_key::identity_json(opened),
            host: card_key::host_json(&report.header.condition),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let mut archive = open(archive)?;
        let id = archive.begin_session(&start)?;
        Ok(Recorder { archive, id, _owing: pending::owing(STORED, "") })
    }

    /// Begins a pass of a recipe.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn begin_run(&mut self, run: u32, seed: u64, recipe: &Recipe) -> Result<(), Failure> {
        let start = RunStart { run, seed, counted: true, size_bytes: Some(recipe.area) };
        Ok(self.archive.begin_run(self.id, start)?)
    }

    /// Stores a sample of a pass; it is on disk when this returns.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn add_sample(
        &mut self,
        run: u32,
        test: &Test,
        index: u32,
        sample: &Sample,
    ) -> Result<(), Failure> {
        let record = SampleRecord {
            test_key: test.key(),
            test: test.name,
            step: test.step.clone(),
            loop_index: index,
            sample: sample.clone(),
            caveats: Vec::new(),
        };
        Ok(self.archive.add_sample(self.id, run, &record)?)
    }

    /// Stores what a pass yielded.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn finish_run(&mut self, run: &Run) -> Result<(), Failure> {
        Ok(self.archive.finish_run(self.id, run)?)
    }

    /// Stores the last document of a bench, and how it ended.
    ///
    /// # Errors
    /// If it cannot be written; what was kept before stays.
    pub(crate) fn finish_bench(
        mut self,
        report: &BenchReport,
        failure: Option<&Failure>,
    ) -> Result<(), Failure> {
        Ok(self.archive.finish_session(self.id, how(failure), report)?)
    }
}

/// How something ended, in the archive's words.
pub(crate) fn how(failure: Option<&Failure>) -> EndedHow {
    match failure {
        None => EndedHow::Complete,
        Some(Failure::Interrupted) => EndedHow::Interrupted,
        Some(_) => EndedHow::Failed,
    }
}

fn value(document: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(document).map_err(|e| Failure::Io(format!("the result cannot be kept: {e}")))
}
