//! What goes into the archive and comes out of it.

use cardscope_model::condition::Condition;
use cardscope_model::log::Log;
use cardscope_model::report::{Header, Report};
use cardscope_model::result::Bench;
use cardscope_model::result::{BenchReport, Run};
use cardscope_model::run::Figure;
use serde_json::Value;
use std::fmt;
use std::str::FromStr;
use uuid::Uuid;

pub use cardscope_model::session_file::SampleRecord;

/// Names a session for ever, in every archive: a UUID of version 7, so that names sort by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub(crate) Uuid);

/// A text that names no session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no session name; they look like 01890a5d-ac96-774b-bcce-b302099a8057, `cardscope archive list` shows them"
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

/// One piece of a card model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Who made it, where known.
    pub maker: Option<String>,
    /// The model, as it names itself.
    pub model: String,
    /// Bytes it announces, where known.
    pub capacity_bytes: Option<u64>,
    /// Its serial number, where it has one.
    pub serial: Option<String>,
    /// Hash of everything that tells this piece from others: see [`Piece::identity_hash`].
    pub identity_hash: String,
}

impl Piece {
    /// The hash by which a piece is known again, of what it says of itself (e.g. its CID in hex): BLAKE3, in hex.
    #[must_use]
    pub fn identity_hash(identity: &str) -> String {
        blake3::hash(identity.as_bytes()).to_hex().to_string()
    }
}

/// What is known when a session begins.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionStart {
    /// The target as the user named it.
    pub target: String,
    /// The card, where it could be identified.
    pub piece: Option<Piece>,
    /// The recipe's name.
    pub recipe: String,
    /// Its version, as the report prints it.
    pub recipe_version: String,
    /// Its text, so that the session can be repeated exactly; stored once, under its hash.
    pub recipe_text: String,
    /// The session's seed.
    pub seed: u64,
    /// What is true of card and rig.
    pub condition: Condition,
    /// How the I/O goes: `io_uring`, `preads`, `simulated`.
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
    /// Size of the test area in bytes, where known: the recipe's, whatever stretch a single test goes over.
    pub size_bytes: Option<u64>,
}

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndedHow {
    /// As planned.
    Complete,
    /// The user stopped it, or its budget was used up.
    Interrupted,
    /// An error ended it; the report says which.
    Failed,
}

impl EndedHow {
    pub(crate) const ALL: [EndedHow; 3] = [EndedHow::Complete, EndedHow::Interrupted, EndedHow::Failed];

    /// The word in the archive and in output.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            EndedHow::Complete => "complete",
            EndedHow::Interrupted => "interrupted",
            EndedHow::Failed => "failed",
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
    /// When it began, UTC.
    pub started_at: String,
    /// When a record's document was last kept, UTC.
    pub updated_at: Option<String>,
    /// When it ended, UTC; `None` while it runs, or if its process died.
    pub ended_at: Option<String>,
    /// How it ended.
    pub ended: Option<EndedHow>,
    /// True while its process lives on this machine.
    pub running: bool,
    /// Runs begun.
    pub runs: u32,
    /// Samples stored.
    pub samples: u32,
}

/// A run as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRun {
    /// As it began.
    pub start: RunStart,
    /// Its results; `None` if it did not finish.
    pub results: Option<Run>,
    /// Loops in it, where known.
    pub loops: Option<u32>,
    /// Its figures, in the shape that all runs share; none before its end.
    pub figures: Vec<Figure>,
    /// Every finished sample, in order.
    pub samples: Vec<SampleRecord>,
}

/// What is known when a record begins.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordStart {
    /// The verb: `verify`, `endure`, `format`.
    pub kind: String,
    /// The target as the user named it.
    pub target: String,
    /// The card, where it could be identified.
    pub piece: Option<Piece>,
    /// The seed of places and data.
    pub seed: u64,
    /// What is true of card and rig.
    pub condition: Condition,
    /// What the card says of itself; `Null` where it says nothing.
    pub identity: Value,
    /// The computer.
    pub host: Value,
    /// Cardscope's own version.
    pub tool_version: String,
}

/// A record as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRecord {
    /// The line it has in a list.
    pub summary: SessionSummary,
    /// As it began.
    pub start: RecordStart,
    /// Its document as last kept; `None` if it never was.
    pub document: Option<Value>,
}

/// A session as stored, with everything raw.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredSession {
    /// The line it has in a list.
    pub summary: SessionSummary,
    /// As it began.
    pub start: SessionStart,
    /// Its report; `None` if it did not finish.
    pub report: Option<BenchReport>,
    /// Its runs, in order.
    pub runs: Vec<StoredRun>,
    /// The log that it was imported from, as it was understood.
    pub log: Option<Log>,
}

impl StoredSession {
    /// The report; for a session that did not finish, one made of the runs that did, without a summary.
    #[must_use]
    pub fn report_so_far(&self) -> BenchReport {
        self.report.clone().unwrap_or_else(|| Report {
            header: Header {
                target: self.start.target.clone(),
                seed: self.start.seed,
                condition: self.start.condition.clone(),
                io_path: self.start.io_path.clone(),
                session: Some(self.summary.id.to_string()),
                error: Some(
                    if self.summary.running {
                        "it is still running"
                    } else {
                        "its process ended without a word"
                    }
                    .to_owned(),
                ),
                ..Header::default()
            },
            body: Bench {
                recipe: self.start.recipe.clone(),
                recipe_version: self.start.recipe_version.clone(),
                bus_ceiling_mb_s: self.start.bus_ceiling_mb_s,
                runs: self.runs.iter().filter_map(|r| r.results.clone()).collect(),
                ..Bench::default()
            },
        })
    }
}
