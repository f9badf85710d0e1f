//! Sessions that leave the archive as files and come in as such, without loss.

mod add;
mod checked;
mod export;

use crate::connection::{Connection, Durability};
use crate::{Archive, ArchiveError, SessionId, Stored, StoredSession, read};
use cardscope_model::session_file::SessionFile;

impl Archive {
    /// A session or a record with its runs, samples and document.
    ///
    /// # Errors
    /// If there is none of that name, or it cannot be read.
    pub fn session(&mut self, session: SessionId) -> Result<StoredSession, ArchiveError> {
        let read = async |c: &mut Connection| {
            let summary = read::summary_of(c, session).await?;
            Ok(StoredSession { summary, file: export::session(c, session).await?.0 })
        };
        self.call(self.durability(), read).map_err(|e| e.about(session))
    }

    /// A session or a record with everything that is known about it and its card.
    ///
    /// # Errors
    /// If there is none of that name, or it cannot be read.
    pub fn export(&mut self, session: SessionId) -> Result<SessionFile, ArchiveError> {
        let export = async |c: &mut Connection| export::file(c, session).await;
        self.call(self.durability(), async |c| c.at_once(export).await).map_err(|e| e.about(session))
    }

    /// Takes in a session that was exported, here or elsewhere; it is on disk when this returns.
    ///
    /// # Errors
    /// If the file contradicts itself, or it cannot be written; nothing is changed then.
    pub fn add_file(&mut self, file: &SessionFile) -> Result<Stored, ArchiveError> {
        let checked = checked::Checked::of(file)?;
        let kept =
            self.call(Durability::Now, async |c| c.alone(async |c| add::file(c, &checked).await).await)?;
        self.settle()?;
        Ok(kept)
    }
}
