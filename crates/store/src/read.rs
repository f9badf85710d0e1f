//! What is read back: lists, and sessions whole.

use crate::connection::{Connection, Outcome, Row, statement};
use crate::record::{
    EndedHow, Piece, RecordStart, RunStart, SampleRecord, SessionId, SessionStart, SessionSummary,
    StoredRecord, StoredRun, StoredSession,
};
use crate::{figures, once, process, sql};
use cardscope_model::condition::{Condition, Origin};
use cardscope_model::log::Log;
use cardscope_model::result::{BenchReport, Sample, TemperatureC};
use cardscope_model::run::{Figure, Run};
use cardscope_model::test_name::TestName;
use std::collections::BTreeMap;

/// Every session, oldest first.
pub(crate) async fn summaries(c: &mut Connection) -> Outcome<Vec<SessionSummary>> {
    c.all(statement(sql::SUMMARIES), summary).await
}

/// One session with everything raw.
pub(crate) async fn session(c: &mut Connection, id: SessionId) -> Outcome<StoredSession> {
    let name = id.to_string();
    let summary = c.one(statement(sql::SUMMARY).bind(&name), summary).await?;
    let read = c.one(statement(sql::SESSION).bind(&name), |row| {
        Ok((start(row)?, row.optional_json::<BenchReport>("document")?, row.optional_json("log")?))
    });
    let (start, mut report, log) = read.await?;
    let mut runs = c.all(statement(sql::RUNS).bind(&name), run).await?;
    for run in &mut runs {
        run.samples = samples(c, id, run.start.run).await?;
        run.results.iter_mut().for_each(|results| once::with_courses(results, &run.samples));
    }
    if let Some(report) = &mut report {
        once::with_runs(report, runs.iter().filter_map(|run| run.results.as_ref()));
    }
    let log = log.map(|log: Log| Log { runs: runs.iter().map(log_run).collect(), ..log });
    Ok(StoredSession { summary, start, report, runs, log })
}

fn run(row: &Row) -> Outcome<StoredRun> {
    let start = RunStart {
        run: row.whole("number")?,
        seed: row.parsed("seed")?,
        counted: row.get("counted")?,
        size_bytes: row.optional_whole("size_bytes")?,
    };
    let figures: Option<String> = row.get("figures")?;
    Ok(StoredRun {
        start,
        loops: row.optional_whole("loops")?,
        figures: figures.map(|text| figures::of_text(&text)).transpose()?.unwrap_or_default(),
        results: row.optional_json("results")?,
        samples: Vec::new(),
    })
}

/// A run as a log has it: a log is stored without its runs, which stand in rows of their own.
fn log_run(run: &StoredRun) -> Run {
    let printed = |figure: &Figure| Figure { as_printed: Some(figure.printed()), ..figure.clone() };
    Run {
        run: run.start.run,
        size_bytes: run.start.size_bytes,
        loops: run.loops,
        results: run.figures.iter().map(printed).collect(),
        ..Run::default()
    }
}

/// Every record, oldest first.
pub(crate) async fn records(c: &mut Connection) -> Outcome<Vec<SessionSummary>> {
    c.all(statement(sql::RECORDS), summary).await
}

/// One record with its document.
pub(crate) async fn record(c: &mut Connection, id: SessionId) -> Outcome<StoredRecord> {
    let name = id.to_string();
    let summary = c.one(statement(sql::RECORD).bind(&name), summary).await?;
    let kind = summary.kind.clone();
    let read = c.one(statement(sql::SESSION).bind(&name), |row| {
        let SessionStart { target, piece, seed, condition, identity, host, tool_version, .. } = start(row)?;
        let start =
            RecordStart { kind: kind.clone(), target, piece, seed, condition, identity, host, tool_version };
        Ok((start, row.optional_json("document")?))
    });
    let (start, document) = read.await?;
    Ok(StoredRecord { summary, start, document })
}

/// When and how it ended; true where it did not and its process lives.
fn end(row: &Row) -> Outcome<(Option<String>, Option<EndedHow>, bool)> {
    let ended_at: Option<String> = row.get("ended_at")?;
    let word: Option<String> = row.get("ended_how")?;
    let process: String = row.get("process")?;
    let running = ended_at.is_none() && process::lives(&process);
    Ok((ended_at, EndedHow::ALL.into_iter().find(|how| Some(how.word()) == word.as_deref()), running))
}

fn summary(row: &Row) -> Outcome<SessionSummary> {
    let (ended_at, ended, running) = end(row)?;
    Ok(SessionSummary {
        id: row.parsed("id")?,
        kind: row.get("kind")?,
        target: row.get("target")?,
        card: row.get("card")?,
        card_id: row.get("card_id")?,
        recipe: row.get("recipe")?,
        started_at: row.get("started_at")?,
        updated_at: row.get("updated_at")?,
        running,
        ended_at,
        ended,
        runs: row.whole("runs")?,
        samples: row.whole("samples")?,
    })
}

fn start(row: &Row) -> Outcome<SessionStart> {
    Ok(SessionStart {
        target: row.get("target")?,
        piece: piece(row)?,
        recipe: row.get("name")?,
        recipe_version: row.get("version")?,
        recipe_text: row.get("text")?,
        seed: row.parsed("seed")?,
        condition: condition(row)?,
        io_path: row.get("io_path")?,
        bus_ceiling_mb_s: row.get("bus_ceiling_mb_s")?,
        identity: row.json("identity")?,
        host: row.json("host")?,
        tool_version: row.get("tool_version")?,
    })
}

fn piece(row: &Row) -> Outcome<Option<Piece>> {
    let Some(identity_hash) = row.get("identity_hash")? else { return Ok(None) };
    Ok(Some(Piece {
        maker: row.get("maker")?,
        model: row.get::<Option<String>>("model")?.unwrap_or_default(),
        capacity_bytes: row.optional_whole("capacity_bytes")?,
        serial: row.get("serial")?,
        identity_hash,
    }))
}

pub(crate) fn condition(row: &Row) -> Outcome<Condition> {
    let mut condition: Condition = row.json("condition")?;
    let origins: BTreeMap<String, Origin> = row.json("condition_origins")?;
    for (word, origin) in origins {
        if let Some(value) = condition.get(&word).map(str::to_owned) {
            condition.set(&word, value, origin);
        }
    }
    Ok(condition)
}

pub(crate) async fn samples(c: &mut Connection, id: SessionId, run: u32) -> Outcome<Vec<SampleRecord>> {
    c.all(statement(sql::SAMPLES).bind(id.to_string()).bind(run), sample).await
}

fn sample(row: &Row) -> Outcome<SampleRecord> {
    Ok(SampleRecord {
        test_key: row.get("test_key")?,
        test: TestName { pattern: row.parsed("test")?, op: row.parsed("op")? },
        step: row.get("step")?,
        loop_index: row.whole("loop_index")?,
        sample: Sample {
            bytes: row.whole("bytes")?,
            ios: row.whole("ios")?,
            nanos: row.whole("nanos")?,
            histogram: row.json("histogram")?,
            series: row.json("series")?,
            temperature_c: TemperatureC {
                start: row.get("start_c")?,
                end: row.get("end_c")?,
                max: row.get("max_c")?,
            },
            counted: row.get("counted")?,
        },
        caveats: row.json("caveats")?,
    })
}
