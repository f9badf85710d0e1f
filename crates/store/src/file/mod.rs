//! Lossless export and import of session files.

mod add;
mod checked;
mod export;

use crate::connection::{Connection, statement};
use crate::{Archive, ArchiveError, ImportedSource, SessionId, StoredSession, read, sql};
use cardscope_model::session_file::SessionFile;

impl Archive {
    /// Returns a session or record with its runs, samples and document.
    pub fn session(&mut self, session: SessionId) -> Result<StoredSession, ArchiveError> {
        let read = async |c: &mut Connection| {
            let asked = statement(sql::SUMMARY).bind(session.to_string());
            let summary = c.one(asked, read::summary).await?;
            Ok(StoredSession { summary, file: export::session(c, session).await?.0 })
        };
        self.read(read).map_err(|e| e.about(session))
    }

    /// Returns a session or record as a file, with its card, events and attachments.
    pub fn export(&mut self, session: SessionId) -> Result<SessionFile, ArchiveError> {
        let export = async |c: &mut Connection| export::file(c, session).await;
        self.read(async |c| c.at_once(export).await).map_err(|e| e.about(session))
    }

    /// Imports an exported session and syncs it. Nothing is changed if the file contradicts itself.
    pub fn add_file(&mut self, file: &SessionFile) -> Result<ImportedSource, ArchiveError> {
        let checked = checked::CheckedFile::of(file)?;
        let stored = self.write(async |c| add::file(c, &checked).await)?;
        self.settle()?;
        Ok(stored)
    }
}
