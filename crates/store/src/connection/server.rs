//! A server's connection, and the end of patience with one that does not answer: a frozen server, or one behind a line
//! that was cut, would be waited for for ever.

use super::value::{SqlResult, SqlStatement, SqlValue};
use sqlx::postgres::PgConnection;
use std::io::{Error, ErrorKind};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A connection to a server.
#[derive(Debug)]
pub(crate) struct ServerConnection {
    pub(crate) connection: PgConnection,
    /// How long a statement may go on without a row or an end.
    pub(crate) answer: Duration,
}

/// Bytes a second that the slowest line carries on which anybody has an archive: what is sent takes its time.
const SLOWEST_LINE: u64 = 128 << 10;

/// How long the answer to a statement is waited for.
pub(super) fn patience(answer: Duration, statement: &SqlStatement) -> Duration {
    let bytes: usize = statement.values.iter().map(bytes).sum();
    answer + Duration::from_secs(bytes as u64 / SLOWEST_LINE)
}

fn bytes(value: &SqlValue) -> usize {
    match value {
        SqlValue::Text(Some(text)) => text.len(),
        SqlValue::Bytes(Some(bytes)) => bytes.len(),
        _ => 0,
    }
}

/// Waits for an answer, as long as rows come in.
///
/// # Errors
/// That of the work, or that nothing came for that long.
pub(super) async fn answered<T>(
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

/// The same for work that gives no rows.
pub(super) async fn ended<T>(patience: Duration, work: impl Future<Output = SqlResult<T>>) -> SqlResult<T> {
    answered(patience, &AtomicU64::new(0), work).await
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
    fn rows_that_keep_coming_are_waited_for_and_silence_is_not() {
        let rows = AtomicU64::new(0);
        let slow = async {
            for _ in 0..5 {
                tokio::time::sleep(SHORT / 2).await;
                rows.fetch_add(1, Ordering::Relaxed);
            }
            Ok(5)
        };
        assert_eq!(runtime().block_on(answered(SHORT, &rows, slow)).unwrap(), 5);
        let silent = runtime().block_on(ended(SHORT, std::future::pending::<SqlResult<()>>()));
        assert!(silent.unwrap_err().to_string().contains("no answer within 0.2 s"));
    }

    #[test]
    fn what_is_long_may_take_longer() {
        let long = statement("INSERT").bind(vec![0; 64 << 20]);
        assert_eq!(patience(Duration::from_secs(60), &long), Duration::from_secs(60 + 512));
    }
}
