//! What is PostgreSQL's own: opening, how long its answers are waited for, and how firmly it writes.
//!
//! sqlx reads addresses as libpq does; what an address leaves out comes from `PGHOST`, `PGUSER`, `PGPASSWORD` and `~/.pgpass`. The connection
//! is not encrypted: put a tunnel around it where the network is not yours.

use crate::address::DatabaseAddress;
use crate::connection::{Connection, Durability, ServerConnection, SqlResult, composed, statement};
use crate::{ArchiveError, migration};
use sqlx::ConnectOptions;
use sqlx::postgres::PgConnectOptions;
use std::time::Duration;

/// How long to wait for a server that lets nobody in, and for what others hold.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long one statement may go on without a row or an end, if nothing else is said. Longer than [`PATIENCE`] for what
/// others hold, and than what a busy disk takes to sync a large batch.
pub(crate) const ANSWER: Duration = Duration::from_secs(60);

/// Opens the database, fills or upgrades it where needed.
pub(crate) async fn open(address: &DatabaseAddress, answer: Duration) -> Result<Connection, ArchiveError> {
    let shown = address.shown();
    let failed = |e: sqlx::Error| ArchiveError::of_database(&shown, &e);
    let connected = tokio::time::timeout(PATIENCE, options(address)?.connect()).await;
    let silent =
        |_| ArchiveError::Unreachable(shown.clone(), format!("no answer within {} s", PATIENCE.as_secs()));
    let connected = connected.map_err(silent)?;
    let mut connection =
        Connection::Postgres(ServerConnection { connection: connected.map_err(failed)?, answer });
    prepare(&mut connection).await.map_err(failed)?;
    migration::ready(&mut connection, &shown).await?;
    Ok(connection)
}

/// What an address says of a connection.
pub(crate) fn options(address: &DatabaseAddress) -> Result<PgConnectOptions, ArchiveError> {
    let wrong = |e: sqlx::Error| ArchiveError::Open(address.shown(), e.to_string());
    let options: PgConnectOptions = address.url.parse().map_err(wrong)?;
    Ok(options.application_name("cardscope").disable_statement_logging())
}

async fn prepare(c: &mut Connection) -> SqlResult<()> {
    c.execute(composed(format!("SET lock_timeout = '{}s'", PATIENCE.as_secs()))).await?;
    c.execute(statement("SET client_min_messages = warning")).await?;
    c.set(Durability::Later).await
}
