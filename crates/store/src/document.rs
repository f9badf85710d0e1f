//! Records: results of verbs that are no benchmark session (`verify`, `endure`, `format`), one JSON document each.
//!
//! Unlike a session, whose samples stand in rows of their own, a record is kept anew as a whole each time it grows:
//! its document is small, and only its verb knows what is in it.

use crate::firmness::Firmness;
use crate::record::{EndedHow, Piece, SessionId};
use crate::{Archive, ArchiveError, read, write};
use cardscope_model::condition::Condition;
use serde_json::Value;

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

/// A record in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordSummary {
    /// Its name; sessions and records share their names, so that no two are alike.
    pub id: SessionId,
    /// The verb.
    pub kind: String,
    /// The target as the user named it.
    pub target: String,
    /// The card's model, where known.
    pub card: Option<String>,
    /// The card's name in the archive, where it could be identified.
    pub card_id: Option<String>,
    /// When it began, UTC.
    pub started_at: String,
    /// When its document was last kept, UTC.
    pub updated_at: Option<String>,
    /// When it ended, UTC; `None` while it runs, or if its process died.
    pub ended_at: Option<String>,
    /// How it ended.
    pub ended: Option<EndedHow>,
    /// True while its process lives on this machine.
    pub running: bool,
}

/// A record as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRecord {
    /// The line it has in a list.
    pub summary: RecordSummary,
    /// As it began.
    pub start: RecordStart,
    /// Its document as last kept; `None` if it never was.
    pub document: Option<Value>,
}

impl Archive {
    /// Stores the start of a record; it is on disk when this returns.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin_record(&mut self, start: &RecordStart) -> Result<SessionId, ArchiveError> {
        self.call(Firmness::Now, async |c| c.alone(async |c| write::record(c, start).await).await)
    }

    /// Stores a record's document as it is now; it is on disk when this returns.
    ///
    /// # Errors
    /// If it cannot be written, or there is no such record; the document before it is kept then.
    pub fn update_record(&mut self, record: SessionId, document: &Value) -> Result<(), ArchiveError> {
        self.call(Firmness::Now, async |c| write::record_update(c, record, document).await)
            .map_err(|e| e.about(record))
    }

    /// Stores how a record ended, and its document; they are on disk when this returns.
    ///
    /// # Errors
    /// If they cannot be written, or there is no such record.
    pub fn finish_record(
        &mut self,
        record: SessionId,
        how: EndedHow,
        document: &Value,
    ) -> Result<(), ArchiveError> {
        self.call(Firmness::Now, async |c| write::record_end(c, record, how, document).await)
            .map_err(|e| e.about(record))
    }

    /// A record with its document.
    ///
    /// # Errors
    /// If there is none of that name, or it cannot be read.
    pub fn record(&mut self, record: SessionId) -> Result<StoredRecord, ArchiveError> {
        self.call(self.firmness(), async |c| read::record(c, record).await).map_err(|e| e.about(record))
    }

    /// All records, oldest first.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn records(&mut self) -> Result<Vec<RecordSummary>, ArchiveError> {
        self.call(self.firmness(), async |c| read::records(c).await)
    }
}
