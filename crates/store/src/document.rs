//! Records: sessions of verbs that are no benchmark (`verify`, `endure`, `format`), one JSON document each.
//!
//! Unlike that of a benchmark, whose samples stand in rows of their own, such a document is kept anew as a whole each time
//! it grows: it is small, and only its verb knows what is in it.

use crate::connection::{Connection, Durability, Outcome, statement};
use crate::record::{EndedHow, SessionId, SessionSummary, StoredSession};
use crate::{Archive, ArchiveError, read, sql, write};
use serde_json::Value;

const SESSIONS: &str =
    "SELECT id FROM session WHERE card_id = $1 AND recipe_hash <> '' ORDER BY started_at, id";
const RECORDS: &str =
    "SELECT id FROM session WHERE card_id = $1 AND recipe_hash = '' ORDER BY started_at, id";

impl Archive {
    /// Stores a record's document as it is now; it is on disk when this returns.
    pub fn update_record(&mut self, record: SessionId, document: &Value) -> Result<(), ArchiveError> {
        self.call(Durability::Now, async |c| write::record_update(c, record, document).await)
            .map_err(|e| e.about(record))
    }

    /// Stores how a record ended, and its document; they are on disk when this returns.
    pub fn finish_record(
        &mut self,
        record: SessionId,
        how: EndedHow,
        document: &Value,
    ) -> Result<(), ArchiveError> {
        self.call(Durability::Now, async |c| write::record_end(c, record, how, document).await)
            .map_err(|e| e.about(record))
    }

    /// All records, oldest first.
    pub fn records(&mut self) -> Result<Vec<SessionSummary>, ArchiveError> {
        self.read(async |c| c.all(statement(sql::RECORDS), read::summary).await)
    }

    /// The sessions of a card, oldest first.
    pub fn card_sessions(&mut self, card: &str) -> Result<Vec<SessionId>, ArchiveError> {
        self.read(async |c| names(c, SESSIONS, card).await)
    }

    /// What other verbs found out about a card, oldest first.
    pub fn card_records(&mut self, card: &str) -> Result<Vec<StoredSession>, ArchiveError> {
        let records = self.read(async |c| names(c, RECORDS, card).await)?;
        records.into_iter().map(|id| self.session(id)).collect()
    }
}

async fn names(c: &mut Connection, text: &'static str, card: &str) -> Outcome<Vec<SessionId>> {
    c.all(statement(text).bind(card), |row| row.parsed(0)).await
}
