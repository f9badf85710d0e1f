//! PostgreSQL: opens and prepares a connection.
//!
//! Parts that an address leaves out come from `PGHOST`, `PGUSER`, `PGPASSWORD` and `~/.pgpass`, as in libpq. The
//! connection is not encrypted; use a tunnel in a foreign network.

use crate::address::DatabaseAddress;
use crate::connection::{Connection, Durability, ServerConnection, SqlResult, dynamic_statement, statement};
use crate::{ArchiveError, migration};
use sqlx::ConnectOptions;
use sqlx::postgres::PgConnectOptions;
use std::time::Duration;

/// Longest wait for a connection, and for locks that others hold.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// Default of the longest silence within a statement. Longer than [`CONNECT_TIMEOUT`], which bounds the wait for locks, and
/// than a busy disk needs to sync a large batch.
pub(crate) const DEFAULT_ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// Opens the database, and creates or upgrades its tables.
pub(crate) async fn open(address: &DatabaseAddress, answer: Duration) -> Result<Connection, ArchiveError> {
    let shown = address.redacted();
    let failed = |e: sqlx::Error| ArchiveError::from_database(&shown, &e);
    let connected = tokio::time::timeout(CONNECT_TIMEOUT, parse_options(address)?.connect()).await;
    let silent = |_| {
        ArchiveError::Unreachable(shown.clone(), format!("no answer within {} s", CONNECT_TIMEOUT.as_secs()))
    };
    let connected = connected.map_err(silent)?;
    let mut connection = Connection::Postgres(ServerConnection {
        connection: connected.map_err(failed)?,
        answer_timeout: answer,
    });
    prepare_connection(&mut connection).await.map_err(failed)?;
    migration::ensure_current(&mut connection, &shown).await?;
    Ok(connection)
}

/// Parses the connection options of an address.
pub(crate) fn parse_options(address: &DatabaseAddress) -> Result<PgConnectOptions, ArchiveError> {
    let wrong = |e: sqlx::Error| ArchiveError::Open(address.redacted(), e.to_string());
    let options: PgConnectOptions = address.url.parse().map_err(wrong)?;
    Ok(options.application_name("cardscope").disable_statement_logging())
}

async fn prepare_connection(c: &mut Connection) -> SqlResult<()> {
    c.execute(dynamic_statement(format!("SET lock_timeout = '{}s'", CONNECT_TIMEOUT.as_secs()))).await?;
    c.execute(statement("SET client_min_messages = warning")).await?;
    c.set_durability(Durability::Later).await
}
