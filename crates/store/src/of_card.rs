//! What the archive holds of one card: its sessions, and the documents of other verbs about it.

use crate::connection::{Connection, Outcome, statement};
use crate::{Archive, ArchiveError, SessionId, StoredRecord, read};

const SESSIONS: &str = "SELECT id FROM session WHERE card_id = $1 ORDER BY started_at, id";
const RECORDS: &str = "SELECT id FROM record WHERE card_id = $1 ORDER BY started_at, id";

impl Archive {
    /// The sessions of a card, oldest first.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn card_sessions(&mut self, card: &str) -> Result<Vec<SessionId>, ArchiveError> {
        self.call(self.firmness(), async |c| names(c, SESSIONS, card).await)
    }

    /// What other verbs found out about a card, oldest first.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn card_records(&mut self, card: &str) -> Result<Vec<StoredRecord>, ArchiveError> {
        self.call(self.firmness(), async |c| {
            let mut records = Vec::new();
            for id in names(c, RECORDS, card).await? {
                records.push(read::record(c, id).await?);
            }
            Ok(records)
        })
    }
}

async fn names(c: &mut Connection, text: &'static str, card: &str) -> Outcome<Vec<SessionId>> {
    c.all(statement(text).bind(card), |row| row.parsed(0)).await
}
