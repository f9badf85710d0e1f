//! Timeouts of a PostgreSQL connection: a frozen server or a cut line would be waited for for ever.

use super::value::{SqlResult, SqlStatement, SqlValue};
use sqlx::postgres::PgConnection;
use std::io::{Error, ErrorKind};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

#[derive(Debug)]
pub(crate) struct ServerConnection {
    pub(crate) connection: PgConnection,
    /// Longest silence within a statement.
    pub(crate) answer_timeout: Duration,
}

/// Assumed minimum speed of the line in bytes a second: sending a large statement takes time.
const MIN_LINE_SPEED: u64 = 128 << 10;

/// Returns the longest silence allowed for a statement, by its size.
pub(super) fn statement_timeout(answer: Duration, statement: &SqlStatement) -> Duration {
    let bytes: usize = statement.values.iter().map(value_bytes).sum();
    answer + Duration::from_secs(bytes as u64 / MIN_LINE_SPEED)
}

fn value_bytes(value: &SqlValue) -> usize {
    match value {
        SqlValue::Text(Some(text)) => text.len(),
        SqlValue::Bytes(Some(bytes)) => bytes.len(),
        _ => 0,
    }
}

/// Awaits work, and restarts the timeout with each row.
///
/// # Errors
/// That of the work, or `TimedOut` after a silence.
pub(super) async fn with_silence_limit<T>(
    patience: Duration,
    rows: &AtomicU64,
    work: impl Future<Output = SqlResult<T>>,
) -> SqlResult<T> {
    let mut work = pin!(work);
    loop {
        let before = rows.load(Ordering::Relaxed);
        match tokio::time::timeout(patience, work.as_mut()).await {
            Ok(done) => return done,
            Err(_) if rows.load(Ordering::Relaxed) != before => {}
            Err(_) => {
                let why = format!("no answer within {} s", patience.as_secs_f64());
                return Err(sqlx::Error::Io(Error::new(ErrorKind::TimedOut, why)));
            }
        }
    }
}

/// Awaits work that returns no rows.
pub(super) async fn with_timeout<T>(
    patience: Duration,
    work: impl Future<Output = SqlResult<T>>,
) -> SqlResult<T> {
    with_silence_limit(patience, &AtomicU64::new(0), work).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::statement;

    const SHORT: Duration = Duration::from_millis(200);

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
    }

    #[test]
    fn timeout_restarts_with_each_row() {
        let rows = AtomicU64::new(0);
        let slow = async {
            for _ in 0..5 {
                tokio::time::sleep(SHORT / 2).await;
                rows.fetch_add(1, Ordering::Relaxed);
            }
            Ok(5)
        };
        assert_eq!(runtime().block_on(with_silence_limit(SHORT, &rows, slow)).unwrap(), 5);
        let silent = runtime().block_on(with_timeout(SHORT, std::future::pending::<SqlResult<()>>()));
        assert!(silent.unwrap_err().to_string().contains("no answer within 0.2 s"));
    }

    #[test]
    fn timeout_grows_with_statement_size() {
        let long = statement("INSERT").bind(vec![0; 64 << 20]);
        assert_eq!(statement_timeout(Duration::from_secs(60), &long), Duration::from_secs(60 + 512));
    }
}
