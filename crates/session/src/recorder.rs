//! Records the results of verbs in the archive: begun, stored anew any number of times,
//! finished. Each call is on disk when it returns, so a crash leaves the last document.

use crate::archive_access::open;
use crate::card_key;
use crate::error::{Failure, Result};
use cardscope_engine::pending::{self, CleanupGuard};
use cardscope_model::condition::Condition;
use cardscope_model::identity::Identity;
use cardscope_model::recipe::RecipeTest;
use cardscope_model::report::Report;
use cardscope_model::result::LoopSample;
use cardscope_model::session_file::SampleRecord;
use cardscope_store::{Archive, SessionEnd, SessionId, SessionStart};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// What is done before a program that keeps results ends by itself.
pub(crate) const STORED: &str = "the results are stored in the archive";

/// A result that is being recorded.
pub struct SessionRecorder {
    pub archive: Archive,
    pub id: SessionId,
    _owing: CleanupGuard,
}

impl SessionRecorder {
    /// Opens the archive (`None` is the user's own) and stores the start.
    pub fn of(archive: Option<&Path>, start: &SessionStart) -> Result<Self> {
        let mut archive = open(archive)?;
        let id = archive.begin_session(start)?;
        Ok(SessionRecorder { archive, id, _owing: pending::owing(STORED, "") })
    }

    /// Its name, for the document's `session`.
    pub fn name(&self) -> String {
        self.id.to_string()
    }

    /// Stores the document as it is now.
    ///
    /// # Errors
    /// If it cannot be written; what was stored before stays.
    pub fn update(&mut self, document: &impl Serialize) -> Result<()> {
        Ok(self.archive.update_record(self.id, &value(document)?)?)
    }

    /// Stores the last document and how it ended.
    ///
    /// # Errors
    /// If it cannot be written; what was stored before stays.
    pub fn finish<B: Serialize>(mut self, document: &Report<B>, failure: Option<&Failure>) -> Result<()> {
        Ok(self.archive.finish(self.id, how(failure), document)?)
    }

    /// Stores a sample of a pass; it is on disk when this returns.
    pub fn add_sample(&mut self, run: u32, test: &RecipeTest, index: u32, sample: &LoopSample) -> Result<()> {
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
}

/// What is known when a verb begins on a card that says this of itself.
pub fn start(
    kind: &str,
    target: &str,
    seed: u64,
    condition: &Condition,
    identity: Option<&Identity>,
) -> SessionStart {
    // The words of the condition that are about the computer.
    let of_host = |word: &str| ["kernel", "board", "cpu_governor"].contains(&word);
    let host: BTreeMap<_, _> = condition.iter().filter(|(word, _)| of_host(word)).collect();
    SessionStart {
        kind: kind.to_owned(),
        target: target.to_owned(),
        unit: identity.and_then(|identity| card_key::unit_at(target, identity)),
        recipe: None,
        seed,
        condition: condition.clone(),
        io_path: String::new(),
        bus_ceiling_mb_s: None,
        identity: identity.and_then(|i| serde_json::to_value(i).ok()).unwrap_or(Value::Null),
        host: json!(host),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// How something ended, in the archive's words.
pub(crate) fn how(failure: Option<&Failure>) -> SessionEnd {
    match failure {
        None => SessionEnd::Complete,
        Some(Failure::Interrupted) => SessionEnd::Interrupted,
        Some(_) => SessionEnd::Failed,
    }
}

fn value(document: &impl Serialize) -> Result<Value> {
    serde_json::to_value(document).map_err(|e| {
        Failure::io_for(
            format!(
                "the result cannot be stored: \
        {e}"
            ),
            e,
        )
    })
}
