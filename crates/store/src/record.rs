//! Public types of sessions, runs and their ids.

use crate::connection::{SqlResult, SqlRow};
use crate::{process, sql};
use cardscope_model::log::CardLog;
use cardscope_model::report::{Report, ReportHeader};
use cardscope_model::result::{BenchReport, BenchResult};
use cardscope_model::run::{Run, TestFigure};
use cardscope_model::session_file::{FileRun, SessionFile};
use std::fmt;
use std::str::FromStr;
use uuid::Uuid;

/// Globally unique id of a session: a UUID of version 7, so that ids sort by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub(crate) Uuid);

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

/// Facts about a run at its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunStart {
    /// Counts from 1.
    pub run: u32,
    pub seed: u64,
    /// False if the summary ignores the run.
    pub counted: bool,
    /// Size of the recipe's test area in bytes, if known; single tests may use another range.
    pub size_bytes: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionEnd {
    Complete,
    /// Stopped by the user or by an exhausted budget.
    Interrupted,
    /// Ended by an error, which the report contains.
    Failed,
}

impl SessionEnd {
    pub(crate) fn from_word(word: &str) -> Option<Self> {
        let all = [SessionEnd::Complete, SessionEnd::Interrupted, SessionEnd::Failed];
        all.into_iter().find(|end| end.as_str() == word)
    }

    /// Word in the archive and in output.
    pub fn as_str(self) -> &'static str {
        match self {
            SessionEnd::Complete => "complete",
            SessionEnd::Interrupted => "interrupted",
            SessionEnd::Failed => "failed",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct SessionSummary {
    pub id: SessionId,
    /// `bench`, `import`, or the verb of a record.
    pub kind: String,
    /// Target as the user named it, or name of the imported file.
    pub target: String,
    /// Model of the unit, else title of the card, if known.
    pub card: Option<String>,
    pub card_id: Option<String>,
    /// Name of the recipe; empty for a record.
    pub recipe: String,
    /// True for a record, which has a document and no runs.
    pub is_record: bool,
    /// UTC.
    pub started_at: String,
    /// Last update of a record's document, UTC.
    pub updated_at: Option<String>,
    /// UTC; `None` while it runs, and if its process died.
    pub ended_at: Option<String>,
    pub ended: Option<SessionEnd>,
    /// True while its process lives on this machine.
    pub running: bool,
    pub runs: u32,
    pub samples: u32,
}

impl SessionSummary {
    /// Reads the line of a session in a list.
    pub(crate) fn from_row(row: &SqlRow) -> SqlResult<Self> {
        let (ended_at, end): (Option<String>, Option<String>) = (row.get("ended_at")?, row.get("ended_how")?);
        let running = ended_at.is_none() && process::is_alive(&row.get::<String>("process")?);
        Ok(SessionSummary {
            id: row.get_parsed("id")?,
            kind: row.get("kind")?,
            target: row.get("target")?,
            card: row.get("card")?,
            card_id: row.get("card_id")?,
            recipe: row.get("recipe")?,
            is_record: row.get::<String>("recipe_hash")? == sql::NO_RECIPE,
            started_at: row.get("started_at")?,
            updated_at: row.get("updated_at")?,
            running,
            ended_at,
            ended: end.as_deref().and_then(SessionEnd::from_word),
            runs: row.get_integer("runs")?,
            samples: row.get_integer("samples")?,
        })
    }
}

/// Session as stored, with all raw data.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredSession {
    pub summary: SessionSummary,
    /// Without attachments and the bytes of the imported file.
    pub file: SessionFile,
}

impl StoredSession {
    /// Returns the reason why the session has no end, or `None` if it has one.
    pub fn missing_end_reason(&self) -> Option<&'static str> {
        match self.summary.ended {
            Some(_) => None,
            None if self.summary.running => Some("it is still running"),
            None => Some("its process ended unexpectedly"),
        }
    }

    /// Returns the report, or one without a summary made of the finished runs.
    pub fn partial_report(&self) -> BenchReport {
        let file = &self.file;
        let recipe = file.recipe.as_ref().map(|recipe| (recipe.name.clone(), recipe.version.clone()));
        let (recipe, recipe_version) = recipe.unwrap_or_default();
        file.report.clone().unwrap_or_else(|| Report {
            header: ReportHeader {
                target: file.target.clone(),
                seed: file.seed.parse().unwrap_or_default(),
                condition: file.condition.clone(),
                io_path: file.io_path.clone().unwrap_or_default(),
                session: Some(file.session.clone()),
                error: self.missing_end_reason().map(str::to_owned),
                ..ReportHeader::default()
            },
            body: BenchResult {
                recipe,
                recipe_version,
                bus_ceiling_mb_s: file.bus_ceiling_mb_s,
                runs: file.runs.iter().filter_map(|run| run.results.clone()).collect(),
                ..BenchResult::default()
            },
        })
    }

    /// Returns the imported log as it was parsed, with its runs from their own rows.
    pub fn log(&self) -> Option<CardLog> {
        let printed = |figure: &TestFigure| TestFigure {
            as_printed: Some(figure.printed_or_speed()),
            ..figure.clone()
        };
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
