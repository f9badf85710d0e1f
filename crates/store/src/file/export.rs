//! Exports a session from all tables into a session file.

use super::checked::encode_base64;
use crate::cards::{UNIT, unit_from_row};
use crate::connection::{Connection, SqlResult, SqlRow, statement, unreadable};
use crate::measurement_writing::test_from_row;
use crate::stored_files::owner_kind;
use crate::{SessionId, deduplication, events, figure_json, shared_settings, sql};
use cardscope_model::condition::{Condition, ConditionOrigin};
use cardscope_model::finding::Finding;
use cardscope_model::result::{LoopSample, TemperatureC};
use cardscope_model::session_file::{
    FORMAT, FileAttachment, FileCard, FileEvent, FileRecipe, FileRun, FileSource, SampleRecord, SessionFile,
    VERSION,
};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

const SESSION: &str = "SELECT s.id, s.kind, s.card_id, s.specimen_id, s.target, s.seed, s.condition, \
    s.condition_origins, s.identity, s.host, s.tool_version, s.started_at, s.ended_at, s.ended_how, \
    r.hash, r.name, r.version, r.text, s.io_path, s.bus_ceiling_mb_s, s.measured_at, s.updated_at, s.document, s.log, \
    s.content_hash, s.source_hash FROM session s JOIN recipe r ON r.hash = s.recipe_hash WHERE s.id = $1";

const CARD: &str = "SELECT id, title, facts FROM card WHERE id = $1";
const FINDINGS: &str = "SELECT claim, verdict, weight, confidence, evidence, advice FROM finding \
    WHERE session_id = $1 ORDER BY place";
const SOURCE: &str = "SELECT hash, name, format, imported_at, content FROM source WHERE hash = $1";
const ATTACHMENTS: &str = "SELECT d.card_id, d.specimen_id, d.name, d.media_type, d.note, d.added_at, a.content \
    FROM attached d JOIN attachment a ON a.hash = d.hash \
    WHERE d.card_id = $1 OR d.specimen_id = $2 OR d.session_id = $3 ORDER BY d.added_at, d.id";

/// Keys of other tables in the row of a session.
pub(super) struct SessionKeys {
    card: Option<String>,
    unit: Option<String>,
    source: Option<String>,
}

pub(super) async fn export_file(c: &mut Connection, id: SessionId) -> SqlResult<SessionFile> {
    let (mut file, named) = load_session(c, id).await?;
    if let Some(id) = &named.card {
        file.card = c.fetch_optional(statement(CARD).bind(id), card_from_row).await?;
        let events = events::load_events(c, id).await?.into_iter();
        // Events of another unit are exported with that unit's sessions.
        let here = events.filter(|(unit, _)| unit.is_none() || *unit == named.unit);
        file.events = here.map(|(specimen, event)| FileEvent { specimen, event }).collect();
    }
    if let Some(hash) = &named.source {
        file.source = c.fetch_optional(statement(SOURCE).bind(hash), source_from_row).await?;
    }
    file.findings = c.fetch_all(statement(FINDINGS).bind(&file.session), finding_from_row).await?;
    let hanging = statement(ATTACHMENTS).bind(named.card).bind(named.unit).bind(&file.session);
    file.attachments = c.fetch_all(hanging, attachment_from_row).await?;
    Ok(file)
}

/// Returns a session with its unit, runs and samples, and the keys of the other tables.
pub(super) async fn load_session(c: &mut Connection, id: SessionId) -> SqlResult<(SessionFile, SessionKeys)> {
    let (mut file, named) = c.fetch_one(statement(SESSION).bind(id.to_string()), session_from_row).await?;
    if let Some(id) = &named.unit {
        file.specimen = c.fetch_optional(statement(UNIT).bind(id), unit_from_row).await?;
    }
    file.runs = load_runs(c, id).await?;
    if let Some(report) = &mut file.report {
        deduplication::restore_runs(report, file.runs.iter().filter_map(|run| run.results.as_ref()));
    }
    Ok((file, named))
}

fn session_from_row(row: &SqlRow) -> SqlResult<(SessionFile, SessionKeys)> {
    let mut condition: Condition = row.get_json("condition")?;
    let origins: BTreeMap<String, ConditionOrigin> = row.get_json("condition_origins")?;
    for (word, origin) in &origins {
        if let Some(value) = condition.get(word).map(str::to_owned) {
            condition.set(word, value, *origin);
        }
    }
    let has_recipe = row.get::<String>("hash")? != sql::NO_RECIPE;
    let recipe = FileRecipe { name: row.get("name")?, version: row.get("version")?, text: row.get("text")? };
    let file = SessionFile {
        format: FORMAT.to_owned(),
        version: VERSION,
        session: row.get("id")?,
        kind: row.get("kind")?,
        rig: shared_settings::rig_words(&condition),
        condition,
        origins,
        recipe: has_recipe.then_some(recipe),
        target: row.get("target")?,
        seed: row.get("seed")?,
        io_path: Some(row.get("io_path")?).filter(|_| has_recipe),
        bus_ceiling_mb_s: row.get("bus_ceiling_mb_s")?,
        identity: row.get_json("identity")?,
        host: row.get_json("host")?,
        tool_version: row.get("tool_version")?,
        started_at: row.get("started_at")?,
        measured_at: row.get("measured_at")?,
        updated_at: row.get("updated_at")?,
        ended_at: row.get("ended_at")?,
        ended: row.get("ended_how")?,
        report: if has_recipe { row.get_optional_json("document")? } else { None },
        document: if has_recipe { None } else { row.get_optional_json("document")? },
        log: row.get_optional_json("log")?,
        content_hash: row.get("content_hash")?,
        ..SessionFile::default()
    };
    let (card, unit) = (row.get("card_id")?, row.get("specimen_id")?);
    Ok((file, SessionKeys { card, unit, source: row.get("source_hash")? }))
}

fn card_from_row(row: &SqlRow) -> SqlResult<FileCard> {
    Ok(FileCard { id: row.get(0)?, title: row.get(1)?, facts: row.get_json(2)? })
}

fn source_from_row(row: &SqlRow) -> SqlResult<FileSource> {
    Ok(FileSource {
        hash: row.get(0)?,
        name: row.get(1)?,
        format: row.get(2)?,
        imported_at: row.get(3)?,
        content: encode_base64(&row.get::<Vec<u8>>(4)?),
    })
}

fn attachment_from_row(row: &SqlRow) -> SqlResult<FileAttachment> {
    Ok(FileAttachment {
        on: owner_kind(&[row.get(0)?, row.get(1)?]),
        name: row.get(2)?,
        media_type: row.get(3)?,
        note: row.get(4)?,
        added_at: row.get(5)?,
        content: encode_base64(&row.get::<Vec<u8>>(6)?),
    })
}

fn finding_from_row(row: &SqlRow) -> SqlResult<Finding> {
    Ok(Finding {
        claim: row.get(0)?,
        verdict: row.get(1)?,
        weight: Deserialize::deserialize(Value::from(row.get::<String>(2)?))
            .map_err(|e| unreadable("weight", e))?,
        confidence: row.get(3)?,
        evidence: row.get_json(4)?,
        advice: row.get(5)?,
        advised_verb: None,
    })
}

async fn load_runs(c: &mut Connection, id: SessionId) -> SqlResult<Vec<FileRun>> {
    let mut runs = c.fetch_all(statement(sql::RUNS).bind(id.to_string()), run_from_row).await?;
    for run in &mut runs {
        let samples = statement(sql::SAMPLES).bind(id.to_string()).bind(run.run);
        run.samples = c.fetch_all(samples, sample_from_row).await?;
        run.results.iter_mut().for_each(|results| deduplication::restore_series(results, &run.samples));
    }
    Ok(runs)
}

fn run_from_row(row: &SqlRow) -> SqlResult<FileRun> {
    let figures: Option<String> = row.get("figures")?;
    Ok(FileRun {
        run: row.get_integer("number")?,
        seed: row.get("seed")?,
        counted: row.get("counted")?,
        started_at: row.get("started_at")?,
        ended_at: row.get("ended_at")?,
        size_bytes: row.get_optional_integer("size_bytes")?,
        loops: row.get_optional_integer("loops")?,
        figures: figures.map(|text| figure_json::figures_from_json(&text)).transpose()?,
        results: row.get_optional_json("results")?,
        samples: Vec::new(),
    })
}

fn sample_from_row(row: &SqlRow) -> SqlResult<SampleRecord> {
    Ok(SampleRecord {
        test_key: row.get("test_key")?,
        test: test_from_row(row)?,
        step: row.get("step")?,
        loop_index: row.get_integer("loop_index")?,
        sample: LoopSample {
            bytes: row.get_integer("bytes")?,
            ios: row.get_integer("ios")?,
            nanos: row.get_integer("nanos")?,
            histogram: row.get_json("histogram")?,
            series: row.get_json("series")?,
            temperature_c: TemperatureC {
                start: row.get("start_c")?,
                end: row.get("end_c")?,
                max: row.get("max_c")?,
            },
            counted: row.get("counted")?,
        },
        caveats: row.get_json("caveats")?,
    })
}
