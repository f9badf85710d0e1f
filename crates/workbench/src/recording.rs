//! Keeps the results of verbs that are no benchmark session in the archive: begun, kept anew any number of times,
//! finished. Each call is on disk when it returns, so a crash leaves the last document.

use crate::card_key;
use crate::error::Failure;
use crate::opening::Opened;
use cardscope_engine::pending::{self, Owing};
use cardscope_store::{Archive, EndedHow, RecordStart, SessionId};
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What is done before a program that keeps results ends by itself.
pub(crate) const STORED: &str = "what was measured is stored in the archive";

/// A result that is being kept.
pub(crate) struct Recording {
    archive: Archive,
    id: SessionId,
    _owing: Owing,
}

impl Recording {
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
        let path = archive.map_or_else(Archive::default_path, |p| Ok(PathBuf::from(p)))?;
        let mut archive = Archive::open(path)?;
        let id = archive.begin_record(start)?;
        let owing = pending::owing(STORED, "");
        Ok(Recording { archive, id, _owing: owing })
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

    /// Notes in a document what ended it early (`error` is where it says so), and stores it. Also a document that could
    /// not be kept says so: what ended it, whichever came first.
    pub(crate) fn close<D: Serialize>(
        self,
        document: &mut D,
        error: fn(&mut D) -> &mut Option<String>,
        failure: Option<Failure>,
    ) -> Option<Failure> {
        *error(document) = failure.as_ref().map(ToString::to_string);
        let not_kept = self.finish(document, failure.as_ref()).err();
        let failure = failure.or(not_kept);
        *error(document) = failure.as_ref().map(ToString::to_string);
        failure
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
