//! Taking a session or a record out of the archive, with what was there for it alone.

use crate::connection::{Connection, SqlResult, composed, statement};
use crate::resolver::mark_stale;
use crate::{Archive, ArchiveError, SessionId, cards};

/// A card that nothing names and that nothing is left of.
const EMPTY: &str = "SELECT id FROM card WHERE id = $1 AND NOT named \
    AND NOT EXISTS (SELECT 1 FROM session WHERE card_id = $1) \
    AND NOT EXISTS (SELECT 1 FROM specimen WHERE card_id = $1) \
    AND NOT EXISTS (SELECT 1 FROM event WHERE card_id = $1) \
    AND NOT EXISTS (SELECT 1 FROM attached WHERE card_id = $1)";

impl Archive {
    /// Removes a session or a record for good. A file from which no other session came goes too, so that it can be
    /// imported again; its card stays, unless nothing names it and nothing else is known of it.
    pub fn remove_session(&mut self, session: SessionId) -> Result<(), ArchiveError> {
        self.write(async |c| remove(c, &session.to_string()).await).map_err(|e| e.about(session))
    }
}

async fn remove(c: &mut Connection, id: &str) -> SqlResult<()> {
    let asked = statement("SELECT card_id, source_hash FROM session WHERE id = $1").bind(id);
    let (card, source): (Option<String>, Option<String>) =
        c.one(asked, |row| Ok((row.get(0)?, row.get(1)?))).await?;
    measured(c, id).await?;
    c.execute(statement("DELETE FROM attached WHERE session_id = $1").bind(id)).await?;
    c.execute(statement("DELETE FROM session WHERE id = $1").bind(id)).await?;
    let unused =
        "DELETE FROM attachment WHERE NOT EXISTS (SELECT 1 FROM attached WHERE hash = attachment.hash)";
    c.execute(statement(unused)).await?;
    if let Some(source) = source {
        let last = "DELETE FROM source WHERE hash = $1 AND NOT EXISTS (SELECT 1 FROM session WHERE source_hash = $1)";
        c.execute(statement(last).bind(source)).await?;
    }
    match card {
        Some(card) => leave(c, card).await,
        None => Ok(()),
    }
}

/// Removes what was measured in a session.
pub(crate) async fn measured(c: &mut Connection, id: &str) -> SqlResult<()> {
    for table in ["sample", "finding", "run"] {
        c.execute(composed(format!("DELETE FROM {table} WHERE session_id = $1")).bind(id)).await?;
    }
    Ok(())
}

async fn leave(c: &mut Connection, card: String) -> SqlResult<()> {
    match c.optional(statement(EMPTY).bind(&card), |_| Ok(())).await? {
        Some(()) => cards::forget(c, &card).await,
        None => mark_stale(c, &[card].into()).await,
    }
}
