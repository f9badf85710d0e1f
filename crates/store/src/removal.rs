//! Removes sessions and records, with everything that only they use.

use crate::connection::{Connection, SqlResult, dynamic_statement, statement};
use crate::resolver::mark_stale;
use crate::{Archive, ArchiveError, SessionId, cards};

/// An unnamed card without sessions, units, events and attachments.
const SELECT_EMPTY_CARD: &str = "SELECT id FROM card WHERE id = $1 AND NOT named \
    AND NOT EXISTS (SELECT 1 FROM session WHERE card_id = $1) \
    AND NOT EXISTS (SELECT 1 FROM specimen WHERE card_id = $1) \
    AND NOT EXISTS (SELECT 1 FROM event WHERE card_id = $1) \
    AND NOT EXISTS (SELECT 1 FROM attached WHERE card_id = $1)";

impl Archive {
    /// Removes a session or record for good. The imported file goes with its last session, so that it can be imported
    /// again. The card stays unless it has no name and nothing else refers to it.
    pub fn remove_session(&mut self, session: SessionId) -> Result<(), ArchiveError> {
        self.run_write(async |c| remove_rows(c, &session.to_string()).await)
            .map_err(|e| e.for_session(session))
    }
}

async fn remove_rows(c: &mut Connection, id: &str) -> SqlResult<()> {
    let asked = statement("SELECT card_id, source_hash FROM session WHERE id = $1").bind(id);
    let (card, source): (Option<String>, Option<String>) =
        c.fetch_one(asked, |row| Ok((row.get(0)?, row.get(1)?))).await?;
    delete_measurements(c, id).await?;
    c.execute(statement("DELETE FROM attached WHERE session_id = $1").bind(id)).await?;
    c.execute(statement("DELETE FROM session WHERE id = $1").bind(id)).await?;
    // Equal files share one row, which is removed with its last owner.
    let unused =
        "DELETE FROM attachment WHERE NOT EXISTS (SELECT 1 FROM attached WHERE hash = attachment.hash)";
    c.execute(statement(unused)).await?;
    if let Some(source) = source {
        let last = "DELETE FROM source WHERE hash = $1 AND NOT EXISTS (SELECT 1 FROM session WHERE source_hash = $1)";
        c.execute(statement(last).bind(source)).await?;
    }
    match card {
        Some(card) => update_or_delete_card(c, card).await,
        None => Ok(()),
    }
}

/// Removes samples, findings and runs of a session.
pub(crate) async fn delete_measurements(c: &mut Connection, id: &str) -> SqlResult<()> {
    for table in ["sample", "finding", "run"] {
        c.execute(dynamic_statement(format!("DELETE FROM {table} WHERE session_id = $1")).bind(id)).await?;
    }
    Ok(())
}

async fn update_or_delete_card(c: &mut Connection, card: String) -> SqlResult<()> {
    match c.fetch_optional(statement(SELECT_EMPTY_CARD).bind(&card), |_| Ok(())).await? {
        Some(()) => cards::delete_card(c, &card).await,
        None => mark_stale(c, &[card].into()).await,
    }
}
