//! What goes into the archive and comes out of it.

use cardscope_model::condition::Condition;
use cardscope_model::log::CardLog;
use cardscope_model::report::{Report, ReportHeader};
use cardscope_model::result::{BenchReport, BenchResult};
use cardscope_model::run::{Run, TestFigure};
use cardscope_model::session_file::{CardUnit, FileRecipe, FileRun, SessionFile};
use serde_json::Value;
use std::fmt;
use std::str::FromStr;
use uuid::Uuid;

/// Names a session for ever, in every archive: a UUID of version 7, so that names sort by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub(crate) Uuid);

/// A text that names no session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a session name; names look like 01890a5d-ac96-774b-bcce-b302099a8057, and `cardscope \
     archive list` shows them"
)]
pub struct SessionIdError(pub String);

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for SessionId {
    type Err = SessionIdError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Uuid::try_parse(text.trim()).map(SessionId).map_err(|_| SessionIdError(text.to_owned()))
    }
}

/// The hash by which a unit is known again, of what it says of itself (e.g. its CID in hex): BLAKE3, in hex.
pub fn unit_id(identity: &str) -> String {
    crate::hash::of_bytes(identity.as_bytes())
}

/// What is known when a session begins.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionStart {
    /// `bench`, or the verb that leaves a document: `verify`, `endure`, `format`.
    pub kind: String,
    /// The target as the user named it.
    pub target: String,
    /// The unit on the table, where it could be identified; its own `facts` are made of the rest.
    pub unit: Option<CardUnit>,
    /// The recipe of a benchmark, stored once, so that the session can be repeated exactly; `None` for a record.
    pub recipe: Option<FileRecipe>,
    /// The seed of places and data.
    pub seed: u64,
    /// What is true of card and rig.
    pub condition: Condition,
    /// How the I/O of a benchmark goes: `io_uring`, `preads`, `simulated`.
    pub io_path: String,
    /// What the bus can carry in MB/s, where known.
    pub bus_ceiling_mb_s: Option<f64>,
    /// What the card says of itself; `Null` where it says nothing.
    pub identity: Value,
    /// The computer.
    pub host: Value,
    /// Cardscope's own version.
    pub tool_version: String,
}

/// What is known when a run begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunStart {
    /// Counts from 1.
    pub run: u32,
    /// The seed of its random places and data.
    pub seed: u64,
    /// False where the run is not part of the summary.
    pub counted: bool,
    /// Size of the test area in bytes, where known: the recipe's, whatever range a single test goes over.
    pub size_bytes: Option<u64>,
}

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionEnd {
    /// As planned.
    Complete,
    /// The user stopped it, or its budget was used up.
    Interrupted,
    /// An error ended it; the report says which.
    Failed,
}

impl SessionEnd {
    pub(crate) const ALL: [SessionEnd; 3] =
        [SessionEnd::Complete, SessionEnd::Interrupted, SessionEnd::Failed];

    /// The word in the archive and in output.
    pub fn word(self) -> &'static str {
        match self {
            SessionEnd::Complete => "complete",
            SessionEnd::Interrupted => "interrupted",
            SessionEnd::Failed => "failed",
        }
    }
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionSummary {
    /// Its name.
    pub id: SessionId,
    /// `bench` for what was measured here, `import` for a log of another tool, else the verb of a record.
    pub kind: String,
    /// The target as the user named it; the name of the file for a log.
    pub target: String,
    /// The card's model, else how it is called, where known.
    pub card: Option<String>,
    /// The card's name in the archive.
    pub card_id: Option<String>,
    /// The recipe's name; empty for a record.
    pub recipe: String,
    /// True for a record: its verb leaves a document and no runs.
    pub is_record: bool,
    /// When it began, UTC.
    pub started_at: String,
    /// When a record's document was last kept, UTC.
    pub updated_at: Option<String>,
    /// When it ended, UTC; `None` while it runs, or if its process died.
    pub ended_at: Option<String>,
    /// How it ended.
    pub ended: Option<SessionEnd>,
    /// True while its process lives on this machine.
    pub running: bool,
    /// Runs begun.
    pub runs: u32,
    /// Samples stored.
    pub samples: u32,
}

/// A session as stored, with everything raw.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredSession {
    /// The line it has in a list.
    pub summary: SessionSummary,
    /// All of it, but for what hangs on it and for the bytes of its log's file.
    pub file: SessionFile,
}

impl StoredSession {
    /// Why it has no end, where it has none.
    pub fn unended(&self) -> Option<&'static str> {
        match self.summary.ended {
            Some(_) => None,
            None if self.summary.running => Some("it is still running"),
            None => Some("its process ended unexpectedly"),
        }
    }

    /// The report; for a session that did not finish, one made of the runs that did, without a summary.
    pub fn report_so_far(&self) -> BenchReport {
        let file = &self.file;
        let recipe = file.recipe.as_ref();
        file.report.clone().unwrap_or_else(|| Report {
            header: ReportHeader {
                target: file.target.clone(),
                seed: file.seed.parse().unwrap_or_default(),
                condition: file.condition.clone(),
                io_path: file.io_path.clone().unwrap_or_default(),
                session: Some(file.session.clone()),
                error: self.unended().map(str::to_owned),
                ..ReportHeader::default()
            },
            body: BenchResult {
                recipe: recipe.map(|recipe| recipe.name.clone()).unwrap_or_default(),
                recipe_version: recipe.map(|recipe| recipe.version.clone()).unwrap_or_default(),
                bus_ceiling_mb_s: file.bus_ceiling_mb_s,
                runs: file.runs.iter().filter_map(|run| run.results.clone()).collect(),
                ..BenchResult::default()
            },
        })
    }

    /// The log that it was imported from, as it was understood, with its runs, which stand in rows of their own.
    pub fn log(&self) -> Option<CardLog> {
        let printed =
            |figure: &TestFigure| TestFigure { as_printed: Some(figure.printed()), ..figure.clone() };
        let run = |run: &FileRun| Run {
            run: run.run,
            size_bytes: run.size_bytes,
            loops: run.loops,
            results: run.figures.iter().flatten().map(printed).collect(),
            ..Run::default()
        };
        let log = self.file.log.clone()?;
        Some(CardLog { runs: self.file.runs.iter().map(run).collect(), ..log })
    }
}
