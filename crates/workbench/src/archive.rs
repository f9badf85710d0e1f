//! The archive as people see it: what was measured, and one session whole.

use crate::error::Failure;
use cardscope_model::result::BenchReport;
use cardscope_store::{Archive, SessionId, SessionSummary};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// One session of the list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// Its name.
    pub session: String,
    /// When it began, in UTC.
    pub started_at: String,
    /// The target as it was named.
    pub target: String,
    /// The card, where it could be identified.
    pub card: Option<String>,
    /// The recipe.
    pub recipe: String,
    /// `complete`, `interrupted`, `failed`, `running`, or `crashed` where its process ended without a word.
    pub state: String,
}

fn open(path: Option<&Path>) -> Result<Archive, Failure> {
    let path = path.map_or_else(Archive::default_path, |p| Ok(PathBuf::from(p))).map_err(Failure::io)?;
    Archive::open(path).map_err(Failure::io)
}

/// All sessions, oldest first.
///
/// # Errors
/// If the archive cannot be opened or read.
pub fn list(path: Option<&Path>) -> Result<Vec<Line>, Failure> {
    Ok(open(path)?.sessions().map_err(Failure::io)?.iter().map(line).collect())
}

fn line(summary: &SessionSummary) -> Line {
    let state = match summary.ended {
        Some(how) => how.word(),
        None if summary.running => "running",
        None => "crashed",
    };
    Line {
        session: summary.id.to_string(),
        started_at: summary.started_at.clone(),
        target: summary.target.clone(),
        card: summary.card.clone(),
        recipe: summary.recipe.clone(),
        state: state.to_owned(),
    }
}

/// A session's document; of one that did not finish, what was measured.
///
/// # Errors
/// If there is no such session, or it cannot be read.
pub fn show(path: Option<&Path>, session: &str) -> Result<BenchReport, Failure> {
    let id: SessionId = session.parse().map_err(Failure::refused)?;
    Ok(open(path)?.session(id).map_err(Failure::refused)?.report_so_far())
}
