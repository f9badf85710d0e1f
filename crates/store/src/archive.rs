//! `Archive`: opens the database and offers blocking calls with one error type.

use crate::address::DatabaseAddress;
use crate::archive_file::ArchiveFile;
use crate::connection::{
    Connection, DatabaseWork, Durability, SqlResult, SqlRow, SqlStatement, json_value, statement,
};
use crate::error::{ArchiveError, Result};
use crate::opening::{self, DEFAULT_ANSWER_TIMEOUT};
use crate::record::{RunStart, SessionEnd, SessionId, SessionSummary};
use crate::{archive_file, measurement_writing, sql};
use cardscope_model::report::{Report, ReportHeader};
use cardscope_model::result::RunResult;
use cardscope_model::session_file::{SampleRecord, SessionFile};
use serde::Serialize;
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::runtime::Runtime;

/// Minimum length of a suffix that selects a session by its id.
const MIN_SUFFIX_DIGITS: usize = 8;

/// True if the path is the address of a database server.
///
/// # Errors
/// If the address has an unsupported scheme: a file of that name could show a password.
pub fn is_server_address(path: &Path) -> Result<bool> {
    Ok(DatabaseAddress::parse(path)?.is_some())
}

/// An open archive.
///
/// Its calls block; async code calls them from a blocking thread. Archives of several processes may be open on one
/// file and wait up to 20 s for each other's writes.
///
/// # Errors
/// Every call fails if the archive cannot be read or written, or lacks the given name. Earlier data are kept.
#[derive(Debug)]
pub struct Archive {
    path: PathBuf,
    durability: Durability,
    /// Declared before the runtime, so that it is dropped first. `None` only while dropping.
    connection: Option<Connection>,
    /// `None` for a server. Held until the connection is closed.
    _file: Option<ArchiveFile>,
    /// `None` for a file.
    server: Option<DatabaseAddress>,
    /// Longest silence of the server within a statement.
    answer_timeout: Duration,
    runtime: Runtime,
}

impl Archive {
    /// Returns the default path: `$XDG_DATA_HOME/cardscope/archive.sqlite`, else
    /// `~/.local/share/cardscope/archive.sqlite`.
    ///
    /// # Errors
    /// If neither `XDG_DATA_HOME` nor `HOME` is set.
    pub fn default_path() -> Result<PathBuf> {
        archive_file::default_path()
    }

    /// Opens a file, which is created with its folder if missing, or an existing PostgreSQL database by its address
    /// (`postgres://user@host/name`).
    ///
    /// # Errors
    /// If access fails, the disk is full, or the target is another kind of file, damaged, or of a newer Cardscope.
    /// Nothing is changed then.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let server = DatabaseAddress::parse(path.as_ref())?;
        let path = server.as_ref().map_or_else(|| path.as_ref().to_owned(), DatabaseAddress::redacted);
        let (runtime, answer_timeout) = (new_runtime(&path)?, DEFAULT_ANSWER_TIMEOUT);
        let (connection, file) = match &server {
            Some(address) => (runtime.block_on(opening::open_server(address, answer_timeout))?, None),
            None => {
                let file = archive_file::open_checked(&path)?;
                (runtime.block_on(opening::open_file(&file))?, Some(file))
            }
        };
        let (durability, connection) = (Durability::Later, Some(connection));
        Ok(Archive { path, durability, connection, _file: file, server, answer_timeout, runtime })
    }

    /// Sets the longest silence of a server within a statement (default 60 s), after which a call fails as
    /// [`ArchiveError::Unreachable`]. A large import has no limit in all.
    pub fn set_answer_timeout(&mut self, at_most: Duration) {
        self.answer_timeout = at_most;
        if let Some(Connection::Postgres(server)) = &mut self.connection {
            server.answer_timeout = at_most;
        }
    }

    /// Path of the file, or address of the server without its password.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Stores the start of a session: target, unit, recipe (`None` for a record), seed, condition, I/O path, identity and host.
    /// Id, times and card are set here. A benchmark's start survives a crash of the process at once and reaches the disk
    /// with the first sample, so that a test does not wait for two syncs. Other starts are synced at once.
    pub fn begin_session(&mut self, start: &SessionFile) -> Result<SessionId> {
        let durability = if start.recipe.is_some() { Durability::Later } else { Durability::Now };
        self.run_notifying(durability, async |c| measurement_writing::insert_session(c, start).await)
    }

    /// Stores the start of a run. It reaches the disk with its first sample; fails if the number is taken.
    pub fn begin_run(&mut self, session: SessionId, start: RunStart) -> Result<()> {
        let work = async |c: &mut Connection| measurement_writing::insert_run(c, session, start).await;
        self.run_blocking(Durability::Later, async |c| c.notifying(work).await)
    }

    /// Stores and syncs a sample of a run.
    pub fn add_sample(&mut self, session: SessionId, run: u32, record: &SampleRecord) -> Result<()> {
        self.run_blocking(Durability::Now, async |c| {
            measurement_writing::insert_sample(c, &session.to_string(), run, record).await
        })
    }

    /// Stores and syncs the results of a run.
    pub fn finish_run(&mut self, session: SessionId, run: &RunResult) -> Result<()> {
        self.run_write(async |c| measurement_writing::finish_run(c, session, run).await)
            .map_err(|e| e.for_session(session))
    }

    /// Replaces and syncs a record's whole document: only its verb knows what is in it.
    pub fn update_record(&mut self, record: SessionId, document: &Value) -> Result<()> {
        self.run_write(async |c| measurement_writing::update_record(c, record, document).await)
            .map_err(|e| e.for_session(record))
    }

    /// Stores and syncs the end of a session and its last document. The document's condition replaces the one that
    /// was stored at the start, also for the runs.
    pub fn finish<B: Serialize>(
        &mut self,
        session: SessionId,
        how: SessionEnd,
        document: &Report<B>,
    ) -> Result<()> {
        self.finish_with(session, how, json_value(document), &document.header)
    }

    /// Not generic, so that its large callees are compiled once.
    fn finish_with(
        &mut self,
        session: SessionId,
        how: SessionEnd,
        document: SqlResult<Value>,
        header: &ReportHeader,
    ) -> Result<()> {
        let finish = async |c: &mut Connection| {
            measurement_writing::finish_session(c, session, how, document?, header).await
        };
        self.run_write(finish).map_err(|e| e.for_session(session))
    }

    /// Returns all sessions and records, oldest first.
    pub fn sessions(&mut self) -> Result<Vec<SessionSummary>> {
        self.read_rows(statement(sql::SUMMARIES), SessionSummary::from_row)
    }

    /// Returns one page of the sessions and records, newest first, and the total number.
    pub fn newest_sessions(&mut self, offset: usize, limit: usize) -> Result<(Vec<SessionSummary>, usize)> {
        let page = statement(sql::NEWEST_SUMMARIES).bind(limit as u64).bind(offset as u64);
        self.run_read(async |c| {
            let sessions = c.fetch_all(page, SessionSummary::from_row).await?;
            let count = statement("SELECT COUNT(*) FROM session");
            Ok((sessions, c.fetch_one(count, |row| row.get_integer(0)).await?))
        })
    }

    /// Returns sessions and records whose id starts or ends with `part`, oldest first. Ids start with the time, so
    /// sessions of one moment share their prefix; a suffix needs at least 8 digits.
    pub fn sessions_by_id(&mut self, part: &str) -> Result<Vec<SessionSummary>> {
        let part = part.trim().to_lowercase();
        // Refuses the wildcards of LIKE.
        if part.is_empty() || !part.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-') {
            return Ok(Vec::new());
        }
        let begins = format!("{part}%");
        let ends = if part.len() < MIN_SUFFIX_DIGITS { begins.clone() } else { format!("%{part}") };
        self.read_rows(statement(sql::SUMMARIES_BY_ID).bind(begins).bind(ends), SessionSummary::from_row)
    }

    /// Returns the number of sessions and records of each card.
    pub fn session_counts(&mut self) -> Result<HashMap<String, u32>> {
        let counts = "SELECT card_id, COUNT(*) FROM session WHERE card_id IS NOT NULL GROUP BY card_id";
        let counts = self.read_rows(statement(counts), |row| Ok((row.get(0)?, row.get_integer(1)?)))?;
        Ok(counts.into_iter().collect())
    }

    /// Returns the sessions and records of a card, oldest first.
    pub fn card_sessions(&mut self, card: &str) -> Result<Vec<SessionSummary>> {
        self.read_rows(statement(sql::SUMMARIES_OF_CARD).bind(card), SessionSummary::from_row)
    }

    /// Returns the sessions and records of a unit, oldest first.
    pub fn unit_sessions(&mut self, unit: &str) -> Result<Vec<SessionSummary>> {
        self.read_rows(statement(sql::SUMMARIES_OF_UNIT).bind(unit), SessionSummary::from_row)
    }

    /// Returns all rows of a query.
    pub(crate) fn read_rows<T: Send + Unpin>(
        &mut self,
        query: SqlStatement,
        read: impl FnMut(&SqlRow) -> SqlResult<T> + Send,
    ) -> Result<Vec<T>> {
        self.run_read(async |c| c.fetch_all(query, read).await)
    }

    /// Runs work that only reads, at the durability that is set.
    pub(crate) fn run_read<T>(&mut self, work: impl DatabaseWork<T>) -> Result<T> {
        self.run_blocking(self.durability, work)
    }

    /// Runs work in one synced transaction that excludes other writers, and notifies
    /// [`ArchiveChanges`](crate::ArchiveChanges).
    pub(crate) fn run_write<T>(&mut self, work: impl DatabaseWork<T>) -> Result<T> {
        self.run_notifying(Durability::Now, work)
    }

    fn run_notifying<T>(&mut self, durability: Durability, work: impl DatabaseWork<T>) -> Result<T> {
        let notifying = async |c: &mut Connection| {
            let done = work(c).await?;
            c.notify_watchers().await.map(|()| done)
        };
        self.run_blocking(durability, async |c| c.exclusive(notifying).await)
    }

    /// Runs work on the connection and blocks. After a lost connection the next call reconnects to the server.
    pub(crate) fn run_blocking<T>(&mut self, level: Durability, work: impl DatabaseWork<T>) -> Result<T> {
        let mut connection = self.take_connection()?;
        let current = &mut self.durability;
        let done = self.runtime.block_on(async {
            if level != *current {
                connection.set_durability(level).await?;
                *current = level;
            }
            work(&mut connection).await
        });
        let done = done.map_err(|e| ArchiveError::from_database(&self.path, &e));
        // The broken connection is dropped, so that the next call reconnects.
        if matches!(done, Err(ArchiveError::Unreachable(..))) {
            // A new connection starts with this durability.
            self.durability = Durability::Later;
        } else {
            self.connection = Some(connection);
        }
        done
    }

    /// Takes the connection out, or reconnects.
    fn take_connection(&mut self) -> Result<Connection> {
        match (self.connection.take(), &self.server) {
            (Some(connection), _) => Ok(connection),
            (None, Some(address)) => {
                self.runtime.block_on(opening::open_server(address, self.answer_timeout))
            }
            (None, None) => Err(ArchiveError::Failed(self.path.clone(), "it is closed".to_owned())),
        }
    }
}

/// Returns a runtime for the calls of one archive.
pub(crate) fn new_runtime(path: &Path) -> Result<Runtime> {
    let built = tokio::runtime::Builder::new_current_thread().enable_all().build();
    built.map_err(|e| ArchiveError::Failed(path.to_owned(), e.to_string()))
}

impl Drop for Archive {
    /// Closes the connection, which folds SQLite's log into the file. An error is harmless: the log is read next time.
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
    fn archive_can_move_between_threads() {
        fn is_send<T: Send>() {}
        is_send::<Archive>();
    }

    #[test]
    fn durability_sets_sqlite_synchronous_level() {
        let folder = tempfile::tempdir().unwrap();
        let mut archive = Archive::open(folder.path().join("a.sqlite")).unwrap();
        // PRAGMA synchronous: 1 is NORMAL, 2 is FULL.
        for (durability, expected) in [(Durability::Later, 1), (Durability::Now, 2), (Durability::Later, 1)] {
            let level = archive.run_blocking(durability, async |c| {
                c.fetch_one(statement("PRAGMA synchronous"), |row| row.get::<i64>(0)).await
            });
            assert_eq!(level.unwrap(), expected, "{durability:?}");
        }
    }

    #[test]
    fn failed_durability_change_is_retried_by_next_call() {
        let folder = tempfile::tempdir().unwrap();
        let mut archive = Archive::open(folder.path().join("a.sqlite")).unwrap();
        let run = |archive: &mut Archive, durability, text| {
            archive.run_blocking(durability, async |c| c.execute(statement(text)).await)
        };
        // SQLite refuses to set it within a transaction.
        run(&mut archive, Durability::Later, "BEGIN").unwrap();
        run(&mut archive, Durability::Now, "SELECT 1").unwrap_err();
        run(&mut archive, Durability::Later, "COMMIT").unwrap();
        let level = archive.run_blocking(Durability::Now, async |c| {
            c.fetch_one(statement("PRAGMA synchronous"), |row| row.get::<i64>(0)).await
        });
        assert_eq!(level.unwrap(), 2, "FULL");
    }

    #[test]
    fn paths_and_server_addresses_are_distinguished() {
        for path in ["postgres", "/srv/postgres:/a.sqlite", "archive.sqlite", "./odd://name", "://x"] {
            assert_eq!(is_server_address(Path::new(path)), Ok(false), "{path}");
        }
        for server in ["postgres://db/cards", "PostgreSQL://db/cards", "POSTGRES://db"] {
            assert_eq!(is_server_address(Path::new(server)), Ok(true), "{server}");
        }
        for other in ["mysql://me:secret@db/cards", "sqlite:///secret.sqlite", "HTTP://secret"] {
            let refused = is_server_address(Path::new(other)).unwrap_err().to_string();
            assert!(refused.contains("postgres://") && !refused.contains("secret"), "{refused}");
        }
    }
}
