//! What is PostgreSQL's own: the address of the server, opening, and how firmly it writes.
//!
//! Addresses are those of libpq (<https://www.postgresql.org/docs/15/libpq-connect.html#LIBPQ-CONNSTRING>), as sqlx
//! reads them; what an address leaves out comes from `PGHOST`, `PGUSER`, `PGPASSWORD` and `~/.pgpass`. The connection
//! is not encrypted: put a tunnel around it where the network is not yours.

use crate::connection::{Connection, Outcome, composed, statement};
use crate::firmness::Firmness;
use crate::{ArchiveError, migration};
use sqlx::ConnectOptions;
use sqlx::postgres::PgConnectOptions;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long to wait for a server that does not answer, and for what others hold.
const PATIENCE: Duration = Duration::from_secs(20);

/// Where a server's database is.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    url: String,
}

impl Address {
    /// The address, if it is one and no path of a file.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let url = path.to_str()?;
        let is_one = ["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme));
        is_one.then(|| Address { url: url.to_owned() })
    }

    /// The address as it may be shown: without its password.
    pub(crate) fn shown(&self) -> PathBuf {
        PathBuf::from(without_password(&self.url))
    }
}

fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
    let (server, database) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let server = match server.rsplit_once('@') {
        Some((user, host)) => format!("{}@{host}", user.split(':').next().unwrap_or_default()),
        None => server.to_owned(),
    };
    let shown = query.map(|query| {
        let words = query.split('&').filter(|word| !word.starts_with("password="));
        words.collect::<Vec<_>>().join("&")
    });
    let query = shown.filter(|words| !words.is_empty()).map(|words| format!("?{words}"));
    format!("{scheme}://{server}{database}{}", query.unwrap_or_default())
}

/// Opens the database, fills or upgrades it where needed.
pub(crate) async fn open(address: &Address) -> Result<Connection, ArchiveError> {
    let shown = address.shown();
    let failed = |e: sqlx::Error| ArchiveError::of_database(&shown, &e);
    let options: PgConnectOptions = address
        .url
        .parse()
        .map_err(|e: sqlx::Error| ArchiveError::Open { path: shown.clone(), reason: e.to_string() })?;
    let options = options.application_name("cardscope").disable_statement_logging();
    let connected = tokio::time::timeout(PATIENCE, options.connect()).await;
    let connected = connected.map_err(|_| ArchiveError::Unreachable {
        path: shown.clone(),
        reason: format!("no answer within {} s", PATIENCE.as_secs()),
    })?;
    let mut connection = Connection::Postgres(connected.map_err(failed)?);
    prepare(&mut connection).await.map_err(failed)?;
    migration::ready(&mut connection, &shown).await?;
    Ok(connection)
}

async fn prepare(c: &mut Connection) -> Outcome<()> {
    c.execute(composed(format!("SET lock_timeout = '{}s'", PATIENCE.as_secs()))).await?;
    c.execute(statement("SET client_min_messages = warning")).await?;
    c.execute(statement(firmness(Firmness::Later))).await.map(|_| ())
}

/// How PostgreSQL is told how firmly to write.
pub(crate) fn firmness(firmness: Firmness) -> &'static str {
    match firmness {
        Firmness::Later => "SET synchronous_commit = off",
        Firmness::Now => "SET synchronous_commit = on",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_password() {
        for (url, shown) in [
            ("postgres://me:secret@db.example/cards", "postgres://me@db.example/cards"),
            ("postgres://me@db.example/cards", "postgres://me@db.example/cards"),
            ("postgresql:///cards?host=/run&password=secret", "postgresql:///cards?host=/run"),
            ("postgres://me:p@ss:w@db/cards?password=x", "postgres://me@db/cards"),
            ("postgres://db", "postgres://db"),
        ] {
            let address = Address::of(Path::new(url)).unwrap();
            assert_eq!(address.shown(), Path::new(shown));
        }
    }

    #[test]
    fn a_path_is_no_address() {
        for path in ["postgres", "/srv/postgres:/a.sqlite", "archive.sqlite", "mysql://db/cards"] {
            assert!(Address::of(Path::new(path)).is_none(), "{path}");
        }
    }
}
