//! Session recorder: stores the document of a verb in the archive at its start, during the run and at its end. Each call is
//! on disk when it returns, so a crash leaves the last version.

use crate::archive_access::open_or_create;
use crate::card_key;
use crate::error::{Failure, Result};
use cardscope_engine::pending::{self, PendingGuard};
use cardscope_model::condition::Condition;
use cardscope_model::identity::Identity;
use cardscope_model::recipe::RecipeTest;
use cardscope_model::report::Report;
use cardscope_model::result::LoopSample;
use cardscope_model::session_file::{SampleRecord, SessionFile};
use cardscope_store::{Archive, SessionEnd, SessionId};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Message of a program that is killed while it records.
pub(crate) const RESULTS_STORED: &str = "the results are stored in the archive";

pub struct SessionRecorder {
    pub archive: Archive,
    pub id: SessionId,
    _owing: PendingGuard,
}

impl SessionRecorder {
    /// Opens the archive (the default one for None) and stores the start of the session.
    pub fn begin(archive: Option<&Path>, start: &SessionFile) -> Result<Self> {
        let mut archive = open_or_create(archive)?;
        let id = archive.begin_session(start)?;
        Ok(SessionRecorder { archive, id, _owing: pending::register_cleanup(RESULTS_STORED, "") })
    }

    pub fn name(&self) -> String {
        self.id.to_string()
    }

    pub fn update(&mut self, document: &impl Serialize) -> Result<()> {
        Ok(self.archive.update_record(self.id, &to_document(document)?)?)
    }

    pub fn finish<B: Serialize>(mut self, document: &Report<B>, failure: Option<&Failure>) -> Result<()> {
        Ok(self.archive.finish(self.id, ended_how(failure), document)?)
    }

    /// Stores a sample, which is on disk when this returns.
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

pub fn session_start(
    kind: &str,
    target: &str,
    seed: u64,
    condition: &Condition,
    identity: Option<&Identity>,
) -> SessionFile {
    // Condition keys that describe the computer.
    let of_host = |word: &str| ["kernel", "board", "cpu_governor"].contains(&word);
    let host: BTreeMap<_, _> = condition.iter().filter(|(word, _)| of_host(word)).collect();
    SessionFile {
        kind: kind.to_owned(),
        target: target.to_owned(),
        specimen: identity.and_then(|identity| card_key::target_unit(target, identity)),
        seed: seed.to_string(),
        condition: condition.clone(),
        identity: identity.and_then(|i| serde_json::to_value(i).ok()).unwrap_or(Value::Null),
        host: json!(host),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        ..SessionFile::default()
    }
}

pub(crate) fn ended_how(failure: Option<&Failure>) -> SessionEnd {
    match failure {
        None => SessionEnd::Complete,
        Some(Failure::Interrupted) => SessionEnd::Interrupted,
        Some(_) => SessionEnd::Failed,
    }
}

fn to_document(document: &impl Serialize) -> Result<Value> {
    let failed = |e| Failure::io_for(format!("the result cannot be stored: {e}"), e);
    serde_json::to_value(document).map_err(failed)
}
