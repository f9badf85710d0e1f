//! The document of a session: as it was printed, or what there is of it.

use crate::error::{Failure, Result};
use cardscope_model::log::Log;
use cardscope_model::result::BenchReport;
use cardscope_store::{Archive, SessionId, StoredSession};
use serde_json::{Value, json};

/// A session's document.
#[derive(Debug, Clone, PartialEq)]
pub enum Shown {
    /// A benchmark session.
    Bench(Box<BenchReport>),
    /// A log of another tool, as it was understood.
    Log(Box<Log>),
    /// The document of another verb.
    Record {
        /// The verb.
        kind: String,
        /// Its document.
        document: Value,
    },
}

impl Shown {
    /// The verb, and its document; `import` for a log of another tool.
    pub fn into_document(self) -> (String, Value) {
        // Their fields are named and their numbers finite: each can be written as JSON.
        match self {
            Shown::Bench(report) => ("bench".to_owned(), serde_json::to_value(*report).unwrap_or_default()),
            Shown::Log(log) => ("import".to_owned(), serde_json::to_value(*log).unwrap_or_default()),
            Shown::Record { kind, document } => (kind, document),
        }
    }
}

/// The document of a session that is there.
pub(super) fn document(archive: &mut Archive, id: SessionId) -> Result<Shown> {
    let session = archive.session(id).map_err(Failure::refused)?;
    Ok(match session.log() {
        Some(log) => Shown::Log(Box::new(log)),
        None if session.file.recipe.is_some() => Shown::Bench(Box::new(session.report_so_far())),
        None => Shown::Record { kind: session.summary.kind.clone(), document: so_far(session) },
    })
}

/// The document as last kept; one that did not end says so.
fn so_far(record: StoredSession) -> Value {
    let unended = record.unended();
    let begun = json!({ "target": record.file.target, "seed": record.file.seed.parse::<u64>().ok() });
    let mut document = record.file.document.unwrap_or(begun);
    if let (Some(why), Some(fields)) = (unended, document.as_object_mut()) {
        fields.entry("error").or_insert_with(|| why.into());
    }
    document
}
