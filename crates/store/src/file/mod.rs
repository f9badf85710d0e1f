//! Sessions that leave the archive as files and come in as such, without loss.

mod add;
mod checked;
mod export;

use crate::connection::{Connection, statement};
use crate::{Archive, ArchiveError, ImportedSource, SessionId, StoredSession, read, sql};
use cardscope_model::session_file::SessionFile;

impl Archive {
    /// A session or a record with its runs, samples and document.
    pub fn session(&mut self, session: SessionId) -> Result<StoredSession, ArchiveError> {
        let read = async |c: &mut Connection| {
            let asked = statement(sql::SUMMARY).bind(session.to_string());
            let summary = c.one(asked, read::summary).await?;
            Ok(StoredSession { summary, file: export::session(c, session).await?.0 })
        };
        self.read(read).map_err(|e| e.about(session))
    }

    /// A session or a record with everything that is known about it and its card.
    pub fn export(&mut self, session: SessionId) -> Result<SessionFile, ArchiveError> {
        let export = async |c: &mut Connection| export::file(c, session).await;
        self.read(async |c| c.at_once(export).await).map_err(|e| e.about(session))
    }

    /// Takes in a session that was exported, here or elsewhere; it is on disk when this returns.
    ///
    /// # Errors
    /// If the file contradicts itself, or it cannot be written; nothing is changed then.
    pub fn add_file(&mut self, file: &SessionFile) -> Result<ImportedSource, ArchiveError> {
        let checked = checked::CheckedFile::of(file)?;
        let stored = self.write(async |c| add::file(c, &checked).await)?;
        self.settle()?;
        Ok(stored)
    }
}
