//! Writes own measurements: sessions, runs, samples and records. Removes sessions of any kind.

use crate::connection::{
    Connection, RowBatch, SqlResult, SqlRow, SqlValue, dynamic_statement, json_text, require_one_row,
    statement,
};
use crate::deduplication::{self, SampledTest};
use crate::record::{RunStart, SessionEnd, SessionId};
use crate::resolver::{CardResolver, ResolvedSighting, mark_stale};
use crate::shared_settings::SharedSettings;
use crate::{figure_json, naming, process, sql, timestamps};
use cardscope_model::condition::{Condition, ConditionOrigin};
use cardscope_model::finding::Finding;
use cardscope_model::report::ReportHeader;
use cardscope_model::result::RunResult;
use cardscope_model::run::Run;
use cardscope_model::session_file::{SampleRecord, SessionFile};
use cardscope_model::setting::Setting;
use cardscope_model::test_name::TestName;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use uuid::Uuid;

/// A session and the values of its row that a session file lacks.
pub(crate) struct SessionRow<'a> {
    pub(crate) id: &'a str,
    pub(crate) file: &'a SessionFile,
    pub(crate) placed: Option<&'a ResolvedSighting>,
    /// Hash of the imported file.
    pub(crate) source: Option<&'a str>,
    /// Process that measures it; empty for an imported session.
    pub(crate) process: String,
    pub(crate) document: Option<String>,
}

impl SessionRow<'_> {
    /// Values in the order of [`sql::INSERT_SESSIONS`]. Recipe and rig are added to the shared settings.
    pub(crate) fn into_values(self, shared: &mut SharedSettings) -> SqlResult<[SqlValue; 25]> {
        let file = self.file;
        let recipe = match &file.recipe {
            Some(recipe) => shared.add_recipe(&recipe.name, &recipe.version, &recipe.text),
            None => sql::NO_RECIPE.to_owned(),
        };
        Ok([
            self.id.into(),
            (&file.kind).into(),
            self.placed.map(|placed| placed.card.as_str()).into(),
            self.placed.and_then(|placed| placed.unit.as_deref()).into(),
            shared.add_rig(&file.condition)?.into(),
            self.source.into(),
            (&file.content_hash).into(),
            file.log.as_ref().map(json_text).transpose()?.into(),
            (&file.target).into(),
            recipe.into(),
            (&file.seed).into(),
            json_text(&file.condition)?.into(),
            json_text(&file.origins)?.into(),
            file.io_path.as_deref().unwrap_or_default().into(),
            file.bus_ceiling_mb_s.into(),
            json_text(&file.identity)?.into(),
            json_text(&file.host)?.into(),
            (&file.tool_version).into(),
            self.process.into(),
            (&file.started_at).into(),
            (&file.measured_at).into(),
            (&file.updated_at).into(),
            (&file.ended_at).into(),
            (&file.ended).into(),
            self.document.into(),
        ])
    }
}

/// Stores the start of a session with its recipe and card. An unidentified card of a benchmark becomes a new card, so
/// that two different ones never share figures.
pub(crate) async fn insert_session(c: &mut Connection, start: &SessionFile) -> SqlResult<SessionId> {
    let id = SessionId(Uuid::now_v7());
    let (name, now) = (id.to_string(), timestamps::now());
    let placed = match (&start.specimen, &start.recipe) {
        // A record of an unidentified card has no card; a benchmark always has one.
        (None, None) => None,
        (unit, _) => {
            let sighting = naming::sighting_of_unit(unit.as_ref(), &name, &start.target);
            Some(CardResolver::resolve_and_store(c, &sighting).await?)
        }
    };
    let file = SessionFile {
        origins: condition_origins(&start.condition),
        measured_at: start.recipe.as_ref().map(|_| now.clone()),
        started_at: now,
        ..start.clone()
    };
    let (placed, process) = (placed.as_ref(), process::current_process());
    let row = SessionRow { id: &name, file: &file, placed, source: None, process, document: None };
    let (mut rows, mut shared) = (RowBatch::new(sql::INSERT_SESSIONS, ""), SharedSettings::default());
    rows.push(row.into_values(&mut shared)?);
    shared.write_missing(c).await?;
    rows.write(c).await?;
    Ok(id)
}

pub(crate) async fn update_record(c: &mut Connection, id: SessionId, document: &Json) -> SqlResult<()> {
    clear_document(c, id).await?;
    let update = statement(sql::UPDATE_RECORD).bind(id.to_string()).bind(timestamps::now());
    require_one_row(c.execute(update.bind(json_text(document)?)).await?)
}

/// Frees the pages of a document before it is replaced: SQLite would write the new one to other pages, and a file does
/// not shrink.
async fn clear_document(c: &mut Connection, id: SessionId) -> SqlResult<()> {
    if c.is_server() {
        return Ok(());
    }
    c.execute(statement(sql::CLEAR_DOCUMENT).bind(id.to_string())).await.map(drop)
}

pub(crate) async fn insert_run(c: &mut Connection, session: SessionId, start: RunStart) -> SqlResult<()> {
    let mut rows = RowBatch::new(sql::INSERT_RUNS, "");
    rows.push([
        session.to_string().into(),
        start.run.into(),
        start.seed.to_string().into(),
        start.counted.into(),
        timestamps::now().into(),
        SqlValue::Text(None),
        SqlValue::Text(None),
        SqlValue::Text(None),
        start.size_bytes.into(),
        SqlValue::Int(None),
        SqlValue::Text(None),
    ]);
    rows.write(c).await
}

pub(crate) async fn insert_sample(
    c: &mut Connection,
    session: &str,
    run: u32,
    record: &SampleRecord,
) -> SqlResult<()> {
    let s = &record.sample;
    let insert = statement(sql::INSERT_SAMPLE)
        .bind(session)
        .bind(run)
        .bind(&record.test_key)
        .bind(record.test.pattern.to_string())
        .bind(record.test.op.to_string())
        .bind(&record.step)
        .bind(record.loop_index)
        .bind(s.counted)
        .bind(s.bytes)
        .bind(s.ios)
        .bind(s.nanos)
        .bind(json_text(&s.histogram)?)
        .bind(json_text(&s.series)?)
        .bind(s.temperature_c.start)
        .bind(s.temperature_c.end)
        .bind(s.temperature_c.max)
        .bind(json_text(&record.caveats)?);
    c.execute(insert).await.map(|_| ())
}

/// Stores the results of a run.
///
/// All writers mark the card before they store settings; another order could deadlock.
pub(crate) async fn finish_run(c: &mut Connection, session: SessionId, run: &RunResult) -> SqlResult<()> {
    let (setting, card) = session_setting(c, session).await?;
    mark_stale(c, &card.into_iter().collect()).await?;
    let mut shared = SharedSettings::default();
    let setting = shared.add_setting(&setting)?;
    shared.write_missing(c).await?;
    let figures = Run::from(run);
    let stored = tests_with_loops(c, session, run.run).await?;
    let end = statement(sql::FINISH_RUN)
        .bind(session.to_string())
        .bind(run.run)
        .bind(run.counted)
        .bind(timestamps::now())
        .bind(json_text(&deduplication::without_series(run, &stored))?)
        .bind(setting)
        .bind(figures.loops)
        .bind(figure_json::figures_to_json(&figures.valid_figures())?);
    require_one_row(c.execute(end).await?)
}

pub(crate) async fn finish_session(
    c: &mut Connection,
    id: SessionId,
    how: SessionEnd,
    mut document: Json,
    header: &ReportHeader,
) -> SqlResult<()> {
    let recipe = statement(sql::SESSION_RECIPE).bind(id.to_string());
    let recipe: String = c.fetch_one(recipe, |row| row.get(0)).await?;
    // Records have neither runs nor rows of findings.
    if recipe != sql::NO_RECIPE {
        store_final_condition(c, id, header).await?;
        deduplication::remove_stored_runs(&mut document, &finished_runs(c, id).await?);
    }
    clear_document(c, id).await?;
    let end = statement(sql::FINISH_SESSION)
        .bind(id.to_string())
        .bind(timestamps::now())
        .bind(how.as_str())
        .bind(json_text(&document)?);
    require_one_row(c.execute(end).await?)
}

/// Stores findings and condition of the document; the condition replaces the one of the start.
async fn store_final_condition(c: &mut Connection, id: SessionId, header: &ReportHeader) -> SqlResult<()> {
    let (mut setting, card) = session_setting(c, id).await?;
    mark_stale(c, &card.into_iter().collect()).await?;
    setting.condition.clone_from(&header.condition);
    let mut shared = SharedSettings::default();
    let (setting, rig) = (shared.add_setting(&setting)?, shared.add_rig(&header.condition)?);
    shared.write_missing(c).await?;
    let settled = statement(sql::SETTLE_SESSION)
        .bind(id.to_string())
        .bind(json_text(&header.condition)?)
        .bind(json_text(&condition_origins(&header.condition))?)
        .bind(rig);
    c.execute(settled).await?;
    c.execute(statement(sql::SETTLE_RUNS).bind(id.to_string()).bind(setting)).await?;
    c.execute(statement(sql::DELETE_FINDINGS).bind(id.to_string())).await?;
    insert_findings(c, &id.to_string(), &header.findings).await
}

pub(crate) fn test_from_row(row: &SqlRow) -> SqlResult<TestName> {
    Ok(TestName { pattern: row.get_parsed("test")?, op: row.get_parsed("op")? })
}

/// Tests that have stored loops in a run.
async fn tests_with_loops(c: &mut Connection, session: SessionId, run: u32) -> SqlResult<Vec<SampledTest>> {
    let read = |row: &SqlRow| Ok((test_from_row(row)?, row.get("step")?));
    c.fetch_all(statement(sql::TESTS).bind(session.to_string()).bind(run), read).await
}

async fn finished_runs(c: &mut Connection, id: SessionId) -> SqlResult<Vec<(RunResult, Vec<SampledTest>)>> {
    let runs = statement(sql::FINISHED_RUNS).bind(id.to_string());
    let mut all = Vec::new();
    for run in c.fetch_all(runs, |row| row.get_json::<RunResult>("results")).await? {
        let tests = tests_with_loops(c, id, run.run).await?;
        all.push((run, tests));
    }
    Ok(all)
}

/// Setting of the runs of a session, and its card.
async fn session_setting(c: &mut Connection, session: SessionId) -> SqlResult<(Setting, Option<String>)> {
    let read = |row: &SqlRow| {
        let (recipe, size_bytes) = (row.get(0)?, row.get_optional_integer(3)?);
        Ok((Setting { recipe, size_bytes, condition: row.get_json(1)? }, row.get(2)?))
    };
    c.fetch_one(statement(sql::SESSION_SETTING).bind(session.to_string()), read).await
}

pub(crate) async fn insert_findings(c: &mut Connection, id: &str, findings: &[Finding]) -> SqlResult<()> {
    let mut rows = RowBatch::new(sql::INSERT_FINDINGS, "");
    for (place, finding) in (1..).zip(findings) {
        let weight = json_text(&finding.weight)?;
        rows.push([
            id.into(),
            SqlValue::Int(Some(place)),
            (&finding.claim).into(),
            (&finding.verdict).into(),
            weight.trim_matches('"').into(),
            finding.confidence.into(),
            json_text(&finding.evidence)?.into(),
            (&finding.advice).into(),
        ]);
    }
    rows.write(c).await
}

/// Origin of each word of a condition, which the condition's own stored form lacks.
pub(crate) fn condition_origins(condition: &Condition) -> BTreeMap<String, ConditionOrigin> {
    condition.iter().filter_map(|(word, _)| Some((word.to_owned(), condition.origin(word)?))).collect()
}

/// Removes samples, findings and runs of a session.
pub(crate) async fn delete_measurements(c: &mut Connection, id: &str) -> SqlResult<()> {
    for table in ["sample", "finding", "run"] {
        c.execute(dynamic_statement(format!("DELETE FROM {table} WHERE session_id = $1")).bind(id)).await?;
    }
    Ok(())
}
