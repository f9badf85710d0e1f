//! Lossless export and import of session files.

mod add;
mod checked;
mod export;

use crate::connection::{Connection, statement};
use crate::error::Result;
use crate::{Archive, ImportedSource, SessionId, SessionSummary, StoredSession, sql};
use cardscope_model::session_file::SessionFile;

impl Archive {
    /// Returns a session or record with its runs, samples and document.
    pub fn session(&mut self, session: SessionId) -> Result<StoredSession> {
        let read = async |c: &mut Connection| {
            let asked = statement(sql::SUMMARY).bind(session.to_string());
            let summary = c.fetch_one(asked, SessionSummary::from_row).await?;
            Ok(StoredSession { summary, file: export::load_session(c, session).await?.0 })
        };
        self.run_read(read).map_err(|e| e.for_session(session))
    }

    /// Returns a session or record as a file, with its card, events and attachments.
    pub fn export(&mut self, session: SessionId) -> Result<SessionFile> {
        let export = async |c: &mut Connection| export::export_file(c, session).await;
        self.run_read(async |c| c.snapshot(export).await).map_err(|e| e.for_session(session))
    }

    /// Imports an exported session and syncs it. Nothing is changed if the file contradicts itself.
    pub fn add_file(&mut self, file: &SessionFile) -> Result<ImportedSource> {
        let checked = checked::CheckedFile::validate(file)?;
        let stored = self.run_write(async |c| add::import_file(c, &checked).await)?;
        self.recompute_stale()?;
        Ok(stored)
    }
}
