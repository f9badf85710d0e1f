//! What is read back: lists, and sessions whole.

use crate::document::{RecordStart, RecordSummary, StoredRecord};
use crate::record::{
    EndedHow, Piece, RunStart, SampleRecord, SessionId, SessionStart, SessionSummary, StoredRun,
    StoredSession,
};
use crate::{process, sql};
use cardscope_model::condition::{Condition, Origin};
use cardscope_model::result::{Sample, TemperatureC};
use cardscope_model::test_name::TestName;
use serde::de::DeserializeOwned;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{Row, query};
use std::collections::BTreeMap;
use std::str::FromStr;

type Read<T> = Result<T, sqlx::Error>;

/// Every session, oldest first.
pub(crate) async fn summaries(c: &mut SqliteConnection) -> Read<Vec<SessionSummary>> {
    query(sql::SUMMARIES).fetch_all(c).await?.iter().map(summary).collect()
}

/// One session with everything raw.
pub(crate) async fn session(c: &mut SqliteConnection, id: SessionId) -> Read<StoredSession> {
    let list_row = query(sql::SUMMARY).bind(id.to_string()).fetch_one(&mut *c).await?;
    let row = query(sql::SESSION).bind(id.to_string()).fetch_one(&mut *c).await?;
    Ok(StoredSession {
        summary: summary(&list_row)?,
        start: start(&row)?,
        report: optional_json(&row, "report")?,
        runs: runs(c, id).await?,
    })
}

/// Every record, oldest first.
pub(crate) async fn records(c: &mut SqliteConnection) -> Read<Vec<RecordSummary>> {
    query(sql::RECORDS).fetch_all(c).await?.iter().map(record_summary).collect()
}

/// One record with its document.
pub(crate) async fn record(c: &mut SqliteConnection, id: SessionId) -> Read<StoredRecord> {
    let row = query(sql::RECORD).bind(id.to_string()).fetch_one(c).await?;
    let start = RecordStart {
        kind: row.try_get("kind")?,
        target: row.try_get("target")?,
        piece: piece(&row)?,
        seed: parsed(&row, "seed")?,
        condition: condition(&row)?,
        identity: json(&row, "identity")?,
        host: json(&row, "host")?,
        tool_version: row.try_get("tool_version")?,
    };
    Ok(StoredRecord { summary: record_summary(&row)?, start, document: optional_json(&row, "document")? })
}

fn record_summary(row: &SqliteRow) -> Read<RecordSummary> {
    let (ended_at, ended, running) = end(row)?;
    Ok(RecordSummary {
        id: parsed(row, "id")?,
        kind: row.try_get("kind")?,
        target: row.try_get("target")?,
        card: row.try_get("model")?,
        started_at: row.try_get("started_at")?,
        updated_at: row.try_get("updated_at")?,
        ended_at,
        ended,
        running,
    })
}

/// When and how it ended; true where it did not and its process lives.
fn end(row: &SqliteRow) -> Read<(Option<String>, Option<EndedHow>, bool)> {
    let ended_at: Option<String> = row.try_get("ended_at")?;
    let word: Option<String> = row.try_get("ended_how")?;
    let process: String = row.try_get("process")?;
    let running = ended_at.is_none() && process::lives(&process);
    Ok((ended_at, EndedHow::ALL.into_iter().find(|how| Some(how.word()) == word.as_deref()), running))
}

fn summary(row: &SqliteRow) -> Read<SessionSummary> {
    let (ended_at, ended, running) = end(row)?;
    Ok(SessionSummary {
        id: parsed(row, "id")?,
        target: row.try_get("target")?,
        card: row.try_get("model")?,
        recipe: row.try_get("recipe")?,
        started_at: row.try_get("started_at")?,
        running,
        ended_at,
        ended,
        runs: whole(row, "runs")?,
        samples: whole(row, "samples")?,
    })
}

fn start(row: &SqliteRow) -> Read<SessionStart> {
    Ok(SessionStart {
        target: row.try_get("target")?,
        piece: piece(row)?,
        recipe: row.try_get("name")?,
        recipe_version: row.try_get("version")?,
        recipe_text: row.try_get("text")?,
        seed: parsed(row, "seed")?,
        condition: condition(row)?,
        io_path: row.try_get("io_path")?,
        bus_ceiling_mb_s: row.try_get("bus_ceiling_mb_s")?,
        identity: json(row, "identity")?,
        host: json(row, "host")?,
        tool_version: row.try_get("tool_version")?,
    })
}

fn piece(row: &SqliteRow) -> Read<Option<Piece>> {
    let Some(identity_hash) = row.try_get("identity_hash")? else { return Ok(None) };
    let capacity: Option<i64> = row.try_get("capacity_bytes")?;
    Ok(Some(Piece {
        maker: row.try_get("maker")?,
        model: row.try_get("model")?,
        capacity_bytes: capacity.map(|_| whole(row, "capacity_bytes")).transpose()?,
        serial: row.try_get("serial")?,
        identity_hash,
    }))
}

fn condition(row: &SqliteRow) -> Read<Condition> {
    let mut condition: Condition = json(row, "condition")?;
    let origins: BTreeMap<String, Origin> = json(row, "condition_origins")?;
    for (word, origin) in origins {
        if let Some(value) = condition.get(&word).map(str::to_owned) {
            condition.set(&word, value, origin);
        }
    }
    Ok(condition)
}

async fn runs(c: &mut SqliteConnection, id: SessionId) -> Read<Vec<StoredRun>> {
    let mut runs = Vec::new();
    for row in query(sql::RUNS).bind(id.to_string()).fetch_all(&mut *c).await? {
        let start = RunStart {
            run: whole(&row, "number")?,
            seed: parsed(&row, "seed")?,
            counted: row.try_get("counted")?,
        };
        let samples = samples(c, id, start.run).await?;
        runs.push(StoredRun { start, results: optional_json(&row, "results")?, samples });
    }
    Ok(runs)
}

async fn samples(c: &mut SqliteConnection, id: SessionId, run: u32) -> Read<Vec<SampleRecord>> {
    let rows = query(sql::SAMPLES).bind(id.to_string()).bind(i64::from(run)).fetch_all(c).await?;
    rows.iter().map(sample).collect()
}

fn sample(row: &SqliteRow) -> Read<SampleRecord> {
    Ok(SampleRecord {
        test_key: row.try_get("test_key")?,
        test: TestName { pattern: parsed(row, "test")?, op: parsed(row, "op")? },
        step: row.try_get("step")?,
        loop_index: whole(row, "loop_index")?,
        sample: Sample {
            bytes: whole(row, "bytes")?,
            ios: whole(row, "ios")?,
            nanos: whole(row, "nanos")?,
            histogram: json(row, "histogram")?,
            series: json(row, "series")?,
            temperature_c: TemperatureC {
                start: row.try_get("start_c")?,
                end: row.try_get("end_c")?,
                max: row.try_get("max_c")?,
            },
            counted: row.try_get("counted")?,
        },
        caveats: json(row, "caveats")?,
    })
}

/// A column that holds JSON.
fn json<T: DeserializeOwned>(row: &SqliteRow, column: &str) -> Read<T> {
    let text: String = row.try_get(column)?;
    serde_json::from_str(&text).map_err(|e| unreadable(column, e.to_string()))
}

fn optional_json<T: DeserializeOwned>(row: &SqliteRow, column: &str) -> Read<Option<T>> {
    let text: Option<String> = row.try_get(column)?;
    text.map(|_| json(row, column)).transpose()
}

/// A column whose text is parsed.
fn parsed<T: FromStr<Err: std::fmt::Display>>(row: &SqliteRow, column: &str) -> Read<T> {
    let text: String = row.try_get(column)?;
    text.parse().map_err(|e: T::Err| unreadable(column, e.to_string()))
}

/// A column that holds a count.
fn whole<T: TryFrom<i64>>(row: &SqliteRow, column: &str) -> Read<T> {
    let number: i64 = row.try_get(column)?;
    T::try_from(number).map_err(|_| unreadable(column, format!("{number} is out of range")))
}

fn unreadable(column: &str, reason: String) -> sqlx::Error {
    sqlx::Error::ColumnDecode { index: column.to_owned(), source: reason.into() }
}
