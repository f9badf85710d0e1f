//! The archive as its users see it: blocking calls, one error type.

use crate::address::DatabaseAddress;
use crate::archive_file::ArchiveFile;
use crate::connection::{Connection, Durability, SqlResult, statement, tree};
use crate::record::{RunStart, SessionEnd, SessionId, SessionStart, SessionSummary};
use crate::{ArchiveError, archive_file, postgres, read, sql, sqlite, write};
use cardscope_model::report::{Report, ReportHeader};
use cardscope_model::result::RunResult;
use cardscope_model::session_file::SampleRecord;
use serde::Serialize;
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::runtime::Runtime;

/// Digits that name a session by the end of its id, at least.
const END_DIGITS: usize = 8;

/// Whether an archive's place is a server rather than a file.
///
/// # Errors
/// If it is the address of something that is neither, so that no file gets such a name, which may hold a password.
pub fn is_server(path: &Path) -> Result<bool, ArchiveError> {
    Ok(DatabaseAddress::of(path)?.is_some())
}

/// An open archive.
///
/// Its calls block; from asynchronous code use it on a thread of its own. Several archives, in several processes,
/// may be open on one file: they wait for each other for up to 20 s.
///
/// # Errors
/// Each call fails where the archive cannot be read or written, or has nothing of the name that was asked for. What was
/// stored before is kept.
#[derive(Debug)]
pub struct Archive {
    path: PathBuf,
    durability: Durability,
    /// Before the runtime, so that it is gone when the runtime goes. `None` only while dropping.
    connection: Option<Connection>,
    /// The file, where it is one: held until its connection is closed.
    _place: Option<ArchiveFile>,
    /// The server, where it is not a file.
    server: Option<DatabaseAddress>,
    /// How long the server may be silent.
    answer: Duration,
    runtime: Runtime,
}

impl Archive {
    /// Where the archive lies if nothing else is said: `$XDG_DATA_HOME/cardscope/archive.sqlite`, by default
    /// `~/.local/share/cardscope/archive.sqlite`.
    ///
    /// # Errors
    /// If neither `XDG_DATA_HOME` nor `HOME` is set.
    pub fn default_path() -> Result<PathBuf, ArchiveError> {
        archive_file::default_path()
    }

    /// Opens the archive: a file, or a database of a PostgreSQL server by its address (`postgres://user@host/name`).
    /// A file is made with its folder where there is none; a database has to be there.
    ///
    /// # Errors
    /// If the system refuses, the disk is full, the server cannot be reached, or what lies there is no archive, a
    /// damaged one, or one of a newer Cardscope; nothing is changed then.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ArchiveError> {
        let server = DatabaseAddress::of(path.as_ref())?;
        let path = server.as_ref().map_or_else(|| path.as_ref().to_owned(), DatabaseAddress::shown);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|e| ArchiveError::Failed(path.clone(), e.to_string()))?;
        let place = if server.is_none() { Some(archive_file::look(&path)?) } else { None };
        let connection = match (&server, &place) {
            (Some(address), _) => Some(runtime.block_on(postgres::open(address, postgres::ANSWER))?),
            (None, place) => place.as_ref().map(|p| runtime.block_on(sqlite::open(p))).transpose()?,
        };
        let (durability, answer) = (Durability::Later, postgres::ANSWER);
        Ok(Archive { path, durability, connection, _place: place, server, answer, runtime })
    }

    /// Sets how long a server may go on without a row or an end to a statement, before the call fails as
    /// [`ArchiveError::Unreachable`]; 60 s unless something else is said. Nothing limits the whole of a large import.
    pub fn wait_for_answers(&mut self, at_most: Duration) {
        self.answer = at_most;
        if let Some(Connection::Postgres(server)) = &mut self.connection {
            server.answer = at_most;
        }
    }

    /// Where it lies; the address of a server without its password.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Stores the start of a session. That of a benchmark survives a crash of the process at once; on disk it is with the
    /// first sample, so that a test does not wait for two syncs. That of another verb is on disk when this returns.
    pub fn begin_session(&mut self, start: &SessionStart) -> Result<SessionId, ArchiveError> {
        let durability = if start.recipe.is_some() { Durability::Later } else { Durability::Now };
        let work = async |c: &mut Connection| {
            let session = write::session(c, start).await?;
            c.announce().await.map(|()| session)
        };
        self.call(durability, async |c| c.alone(work).await)
    }

    /// Stores the start of a run, as firmly as that of a session.
    ///
    /// # Errors
    /// If it cannot be written, or the session has a run of that number.
    pub fn begin_run(&mut self, session: SessionId, start: RunStart) -> Result<(), ArchiveError> {
        let work = async |c: &mut Connection| write::run(c, session, start).await;
        self.call(Durability::Later, async |c| c.told(work).await)
    }

    /// Stores a sample of a run that was begun; it is on disk when this returns.
    pub fn add_sample(
        &mut self,
        session: SessionId,
        run: u32,
        record: &SampleRecord,
    ) -> Result<(), ArchiveError> {
        self.call(Durability::Now, async |c| write::sample(c, &session.to_string(), run, record).await)
    }

    /// Stores the results of a run that was begun; they are on disk when this returns.
    pub fn finish_run(&mut self, session: SessionId, run: &RunResult) -> Result<(), ArchiveError> {
        self.write(async |c| write::run_end(c, session, run).await).map_err(|e| e.about(session))
    }

    /// Stores a record's document as it is now; it is on disk when this returns. It is stored anew as a whole each time,
    /// because only its verb knows what is in it.
    pub fn update_record(&mut self, record: SessionId, document: &Value) -> Result<(), ArchiveError> {
        self.write(async |c| write::record_update(c, record, document).await).map_err(|e| e.about(record))
    }

    /// Stores how a session ended and its last document, and settles its runs where it has any: they were measured under
    /// the condition that the document states. All of it is on disk when this returns.
    pub fn finish<B: Serialize>(
        &mut self,
        session: SessionId,
        how: SessionEnd,
        document: &Report<B>,
    ) -> Result<(), ArchiveError> {
        self.end(session, how, tree(document), &document.header)
    }

    /// One for the documents of all verbs, since what it calls is large.
    fn end(
        &mut self,
        session: SessionId,
        how: SessionEnd,
        document: SqlResult<Value>,
        header: &ReportHeader,
    ) -> Result<(), ArchiveError> {
        self.write(async |c| write::session_end(c, session, how, document?, header).await)
            .map_err(|e| e.about(session))
    }

    /// All sessions, records included, oldest first.
    pub fn sessions(&mut self) -> Result<Vec<SessionSummary>, ArchiveError> {
        self.read(async |c| c.all(statement(sql::SUMMARIES), read::summary).await)
    }

    /// A window of the sessions, records included, newest first; and how many there are.
    pub fn newest_sessions(
        &mut self,
        offset: usize,
        limit: usize,
    ) -> Result<(Vec<SessionSummary>, usize), ArchiveError> {
        let whole = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let asked = statement(sql::NEWEST_SUMMARIES).bind(whole(limit)).bind(whole(offset));
        self.read(async |c| {
            let window = c.all(asked, read::summary).await?;
            let all: u64 = c.one(statement("SELECT COUNT(*) FROM session"), |row| row.whole(0)).await?;
            Ok((window, usize::try_from(all).unwrap_or(usize::MAX)))
        })
    }

    /// The sessions whose ids begin with a text or end in it, records included, oldest first. Sessions of one moment begin
    /// alike; an end of fewer digits than a list shows is none.
    pub fn sessions_by_id(&mut self, part: &str) -> Result<Vec<SessionSummary>, ArchiveError> {
        let part = part.trim().to_lowercase();
        // Nothing that LIKE would take for a pattern.
        if part.is_empty() || !part.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-') {
            return Ok(Vec::new());
        }
        let begins = format!("{part}%");
        let ends = if part.len() < END_DIGITS { begins.clone() } else { format!("%{part}") };
        let asked = statement(sql::SUMMARIES_BY_ID).bind(begins).bind(ends);
        self.read(async |c| c.all(asked, read::summary).await)
    }

    /// How many sessions each card has, records included.
    pub fn session_counts(&mut self) -> Result<HashMap<String, u32>, ArchiveError> {
        let counted =
            statement("SELECT card_id, COUNT(*) FROM session WHERE card_id IS NOT NULL GROUP BY card_id");
        let counts = self.read(async |c| c.all(counted, |row| Ok((row.get(0)?, row.whole(1)?))).await)?;
        Ok(counts.into_iter().collect())
    }

    /// The sessions of a card, records included, oldest first.
    pub fn card_sessions(&mut self, card: &str) -> Result<Vec<SessionSummary>, ArchiveError> {
        self.read(async |c| c.all(statement(sql::SUMMARIES_OF_CARD).bind(card), read::summary).await)
    }

    /// The sessions of one unit, records included, oldest first.
    pub fn unit_sessions(&mut self, unit: &str) -> Result<Vec<SessionSummary>, ArchiveError> {
        self.read(async |c| c.all(statement(sql::SUMMARIES_OF_UNIT).bind(unit), read::summary).await)
    }

    /// Work that only reads, however firmly the last call wrote.
    pub(crate) fn read<T>(
        &mut self,
        work: impl AsyncFnOnce(&mut Connection) -> SqlResult<T>,
    ) -> Result<T, ArchiveError> {
        self.call(self.durability, work)
    }

    /// Work that is on disk when this returns, all of it or nothing, while nobody else does such work. Those who watch the
    /// archive ([`Changes`](crate::Changes)) hear of it.
    pub(crate) fn write<T>(
        &mut self,
        work: impl AsyncFnOnce(&mut Connection) -> SqlResult<T>,
    ) -> Result<T, ArchiveError> {
        let told = async |c: &mut Connection| {
            let done = work(c).await?;
            c.announce().await.map(|()| done)
        };
        self.call(Durability::Now, async |c| c.alone(told).await)
    }

    /// Work on the database, that blocks. A server that went away is asked for again with the next call.
    pub(crate) fn call<T>(
        &mut self,
        durability: Durability,
        work: impl AsyncFnOnce(&mut Connection) -> SqlResult<T>,
    ) -> Result<T, ArchiveError> {
        let mut connection = self.connected()?;
        let set = match durability == self.durability {
            true => Ok(()),
            false => self.runtime.block_on(connection.set(durability)),
        };
        if set.is_ok() {
            self.durability = durability;
        }
        let done = match set {
            Ok(()) => self.runtime.block_on(work(&mut connection)),
            Err(error) => Err(error),
        };
        let done = done.map_err(|e| ArchiveError::of_database(&self.path, &e));
        if matches!(done, Err(ArchiveError::Unreachable(..))) {
            // As a new connection writes.
            self.durability = Durability::Later;
        } else {
            self.connection = Some(connection);
        }
        done
    }

    /// Takes the connection out; where it was lost, a new one.
    fn connected(&mut self) -> Result<Connection, ArchiveError> {
        match (self.connection.take(), &self.server) {
            (Some(connection), _) => Ok(connection),
            (None, Some(address)) => self.runtime.block_on(postgres::open(address, self.answer)),
            (None, None) => Err(ArchiveError::Failed(self.path.clone(), "it is closed".to_owned())),
        }
    }
}

impl Drop for Archive {
    /// Closes it in order, so that the log is folded into the file. Failing costs nothing: the log is read next time.
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.runtime.block_on(connection.close());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_may_be_opened_on_one_thread_and_used_on_another() {
        fn is_send<T: Send>() {}
        is_send::<Archive>();
    }

    #[test]
    fn what_must_be_on_disk_is_synced_and_what_may_wait_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let mut archive = Archive::open(folder.path().join("a.sqlite")).unwrap();
        // PRAGMA synchronous: 1 is NORMAL, 2 is FULL.
        for (durability, expected) in [(Durability::Later, 1), (Durability::Now, 2), (Durability::Later, 1)] {
            let level = archive.call(durability, async |c| {
                c.one(statement("PRAGMA synchronous"), |row| row.get::<i64>(0)).await
            });
            assert_eq!(level.unwrap(), expected, "{durability:?}");
        }
    }

    #[test]
    fn what_could_not_be_set_is_set_with_the_next_call() {
        let folder = tempfile::tempdir().unwrap();
        let mut archive = Archive::open(folder.path().join("a.sqlite")).unwrap();
        let run = |archive: &mut Archive, durability, text| {
            archive.call(durability, async |c| c.execute(statement(text)).await)
        };
        // SQLite refuses to set it within a transaction.
        run(&mut archive, Durability::Later, "BEGIN").unwrap();
        run(&mut archive, Durability::Now, "SELECT 1").unwrap_err();
        run(&mut archive, Durability::Later, "COMMIT").unwrap();
        let level = archive.call(Durability::Now, async |c| {
            c.one(statement("PRAGMA synchronous"), |row| row.get::<i64>(0)).await
        });
        assert_eq!(level.unwrap(), 2, "FULL");
    }

    #[test]
    fn a_path_is_no_address_and_another_address_is_no_path() {
        for path in ["postgres", "/srv/postgres:/a.sqlite", "archive.sqlite", "./odd://name", "://x"] {
            assert_eq!(is_server(Path::new(path)), Ok(false), "{path}");
        }
        for server in ["postgres://db/cards", "PostgreSQL://db/cards", "POSTGRES://db"] {
            assert_eq!(is_server(Path::new(server)), Ok(true), "{server}");
        }
        for other in ["mysql://me:secret@db/cards", "sqlite:///secret.sqlite", "HTTP://secret"] {
            let refused = is_server(Path::new(other)).unwrap_err().to_string();
            assert!(refused.contains("postgres://") && !refused.contains("secret"), "{refused}");
        }
    }
}
