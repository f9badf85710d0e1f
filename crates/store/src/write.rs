//! What is written: sessions, runs, samples, and their ends.

use crate::document::RecordStart;
use crate::record::{EndedHow, Piece, RunStart, SampleRecord, SessionId, SessionStart};
use crate::{process, sql, stamp};
use cardscope_model::condition::{Condition, Origin};
use cardscope_model::finding::Finding;
use cardscope_model::result::{BenchReport, Run};
use serde::Serialize;
use serde_json::Value;
use sqlx::sqlite::SqliteConnection;
use sqlx::{Connection, query};
use std::collections::BTreeMap;
use uuid::Uuid;

type Done = Result<(), sqlx::Error>;

/// Stores the start of a session, its recipe and its card.
pub(crate) async fn session(
    c: &mut SqliteConnection,
    start: &SessionStart,
) -> Result<SessionId, sqlx::Error> {
    let id = SessionId(Uuid::now_v7());
    let mut t = c.begin_with("BEGIN IMMEDIATE").await?;
    let recipe = recipe(&mut t, start).await?;
    if let Some(piece) = &start.piece {
        specimen(&mut t, piece).await?;
    }
    query(sql::INSERT_SESSION)
        .bind(id.to_string())
        .bind(start.piece.as_ref().map(|p| &p.identity_hash))
        .bind(&start.target)
        .bind(recipe)
        .bind(start.seed.to_string())
        .bind(json(&start.condition)?)
        .bind(json(&origins(&start.condition))?)
        .bind(&start.io_path)
        .bind(start.bus_ceiling_mb_s)
        .bind(json(&start.identity)?)
        .bind(json(&start.host)?)
        .bind(&start.tool_version)
        .bind(process::this())
        .bind(stamp::now())
        .execute(&mut *t)
        .await?;
    t.commit().await?;
    Ok(id)
}

/// Stores the start of a record, and its card.
pub(crate) async fn record(c: &mut SqliteConnection, start: &RecordStart) -> Result<SessionId, sqlx::Error> {
    let id = SessionId(Uuid::now_v7());
    let mut t = c.begin_with("BEGIN IMMEDIATE").await?;
    if let Some(piece) = &start.piece {
        specimen(&mut t, piece).await?;
    }
    query(sql::INSERT_RECORD)
        .bind(id.to_string())
        .bind(&start.kind)
        .bind(start.piece.as_ref().map(|p| &p.identity_hash))
        .bind(&start.target)
        .bind(start.seed.to_string())
        .bind(json(&start.condition)?)
        .bind(json(&origins(&start.condition))?)
        .bind(json(&start.identity)?)
        .bind(json(&start.host)?)
        .bind(&start.tool_version)
        .bind(process::this())
        .bind(stamp::now())
        .execute(&mut *t)
        .await?;
    t.commit().await?;
    Ok(id)
}

pub(crate) async fn record_update(c: &mut SqliteConnection, id: SessionId, document: &Value) -> Done {
    let done = query(sql::UPDATE_RECORD)
        .bind(id.to_string())
        .bind(stamp::now())
        .bind(json(document)?)
        .execute(c)
        .await?;
    one(done.rows_affected())
}

pub(crate) async fn record_end(
    c: &mut SqliteConnection,
    id: SessionId,
    how: EndedHow,
    document: &Value,
) -> Done {
    let done = query(sql::FINISH_RECORD)
        .bind(id.to_string())
        .bind(stamp::now())
        .bind(how.word())
        .bind(json(document)?)
        .execute(c)
        .await?;
    one(done.rows_affected())
}

/// Stores the recipe once, under the hash of all that makes it; returns the hash.
async fn recipe(c: &mut SqliteConnection, start: &SessionStart) -> Result<String, sqlx::Error> {
    let hash = hash(&[&start.recipe, &start.recipe_version, &start.recipe_text]);
    query(sql::INSERT_RECIPE)
        .bind(&hash)
        .bind(&start.recipe)
        .bind(&start.recipe_version)
        .bind(&start.recipe_text)
        .execute(c)
        .await?;
    Ok(hash)
}

async fn specimen(c: &mut SqliteConnection, piece: &Piece) -> Done {
    let capacity = piece.capacity_bytes.map(|b| b.to_string()).unwrap_or_default();
    let card = hash(&[piece.maker.as_deref().unwrap_or_default(), &piece.model, &capacity]);
    query(sql::INSERT_CARD)
        .bind(&card)
        .bind(&piece.maker)
        .bind(&piece.model)
        .bind(piece.capacity_bytes.map(int))
        .bind(stamp::now())
        .execute(&mut *c)
        .await?;
    query(sql::INSERT_SPECIMEN)
        .bind(&piece.identity_hash)
        .bind(card)
        .bind(&piece.serial)
        .bind(stamp::now())
        .execute(c)
        .await?;
    Ok(())
}

pub(crate) async fn run(c: &mut SqliteConnection, session: SessionId, start: RunStart) -> Done {
    query(sql::INSERT_RUN)
        .bind(session.to_string())
        .bind(i64::from(start.run))
        .bind(start.seed.to_string())
        .bind(start.counted)
        .bind(stamp::now())
        .execute(c)
        .await?;
    Ok(())
}

pub(crate) async fn sample(
    c: &mut SqliteConnection,
    session: SessionId,
    run: u32,
    record: &SampleRecord,
) -> Done {
    let s = &record.sample;
    query(sql::INSERT_SAMPLE)
        .bind(session.to_string())
        .bind(i64::from(run))
        .bind(&record.test_key)
        .bind(record.test.pattern.to_string())
        .bind(record.test.op.to_string())
        .bind(&record.step)
        .bind(i64::from(record.loop_index))
        .bind(s.counted)
        .bind(int(s.bytes))
        .bind(int(s.ios))
        .bind(int(s.nanos))
        .bind(json(&s.histogram)?)
        .bind(json(&s.series)?)
        .bind(s.temperature_c.start)
        .bind(s.temperature_c.end)
        .bind(s.temperature_c.max)
        .bind(json(&record.caveats)?)
        .execute(c)
        .await?;
    Ok(())
}

pub(crate) async fn run_end(c: &mut SqliteConnection, session: SessionId, run: &Run) -> Done {
    let done = query(sql::FINISH_RUN)
        .bind(session.to_string())
        .bind(i64::from(run.run))
        .bind(run.counted)
        .bind(stamp::now())
        .bind(json(run)?)
        .execute(c)
        .await?;
    one(done.rows_affected())
}

/// Stores the report with its findings; what the report says of the condition wins over what the start said.
pub(crate) async fn session_end(
    c: &mut SqliteConnection,
    id: SessionId,
    how: EndedHow,
    report: &BenchReport,
) -> Done {
    let mut t = c.begin_with("BEGIN IMMEDIATE").await?;
    let done = query(sql::FINISH_SESSION)
        .bind(id.to_string())
        .bind(stamp::now())
        .bind(how.word())
        .bind(json(report)?)
        .bind(json(&report.condition)?)
        .bind(json(&origins(&report.condition))?)
        .execute(&mut *t)
        .await?;
    one(done.rows_affected())?;
    query(sql::DELETE_FINDINGS).bind(id.to_string()).execute(&mut *t).await?;
    for (place, finding) in (1..).zip(&report.findings) {
        self::finding(&mut t, id, place, finding).await?;
    }
    t.commit().await
}

async fn finding(c: &mut SqliteConnection, session: SessionId, place: i64, finding: &Finding) -> Done {
    let weight = json(&finding.weight)?;
    query(sql::INSERT_FINDING)
        .bind(session.to_string())
        .bind(place)
        .bind(&finding.claim)
        .bind(&finding.verdict)
        .bind(weight.trim_matches('"'))
        .bind(finding.confidence)
        .bind(json(&finding.evidence)?)
        .bind(&finding.advice)
        .execute(c)
        .await?;
    Ok(())
}

/// Who says what of a condition, which its own stored form leaves out.
fn origins(condition: &Condition) -> BTreeMap<&str, Origin> {
    condition.iter().filter_map(|(word, _)| Some((word, condition.origin(word)?))).collect()
}

/// An update that found nothing to update names a session or run that is not there.
fn one(rows: u64) -> Done {
    if rows == 1 { Ok(()) } else { Err(sqlx::Error::RowNotFound) }
}

fn json(value: &impl Serialize) -> Result<String, sqlx::Error> {
    serde_json::to_string(value).map_err(|e| sqlx::Error::Encode(Box::new(e)))
}

/// Hash of several texts; each with its length, so that no two lists run together.
fn hash(parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

/// Databases have no unsigned 64 bits; no count of bytes or nanoseconds of a card comes near 2^63.
fn int(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
