//! SQL statements that several modules use: numbered parameters and plain SQL for SQLite and PostgreSQL.

use crate::connection::{SqlResult, SqlValue, json_text};
use crate::naming;
use cardscope_model::card::CardFacts;

pub(crate) const INSERT_CARDS: &str =
    "INSERT INTO card (id, title, named, brand, name, model, maker, capacity_bytes, facts, first_seen)";
pub(crate) const UPDATE_CARD: &str = "UPDATE card SET title = $2, named = $3, brand = $4, name = $5, model = $6, \
    maker = $7, capacity_bytes = $8, facts = $9 WHERE id = $1";
pub(crate) const INSERT_NAMES: &str = "INSERT INTO known_as (fingerprint, card_id, label, registers)";
pub(crate) const INSERT_SPECIMENS: &str =
    "INSERT INTO specimen (id, card_id, serial, maker, model, capacity_bytes, facts, first_seen)";
pub(crate) const UPDATE_SPECIMEN: &str = "UPDATE specimen SET facts = $2 WHERE id = $1";
pub(crate) const INSERT_STALE: &str = "INSERT INTO stale (card_id)";
pub(crate) const ON_STALE_CONFLICT: &str = "ON CONFLICT (card_id) DO UPDATE SET card_id = excluded.card_id";

/// Values of a card in the order of [`INSERT_CARDS`], without the time; `unnamed` is the title if the facts have no name.
pub(crate) fn card_row(id: &str, facts: &CardFacts, unnamed: Option<&str>) -> SqlResult<[SqlValue; 9]> {
    let named = naming::is_named(facts);
    let title = if named { facts.title() } else { unnamed.map_or_else(|| facts.title(), str::to_owned) };
    Ok([
        id.into(),
        title.into(),
        named.into(),
        (&facts.brand).into(),
        (&facts.name).into(),
        (&facts.model).into(),
        (&facts.maker).into(),
        facts.capacity_bytes.into(),
        json_text(facts)?.into(),
    ])
}

pub(crate) const INSERT_SESSIONS: &str = "INSERT INTO session (id, kind, card_id, specimen_id, rig_hash, source_hash, \
    content_hash, log, target, recipe_hash, seed, condition, condition_origins, io_path, bus_ceiling_mb_s, identity, \
    host, tool_version, process, started_at, measured_at, updated_at, ended_at, ended_how, document)";

/// Recipe hash of a record, which has no recipe.
pub(crate) const NO_RECIPE: &str = "";

/// Completes a session that was imported before its end.
pub(crate) const ON_SESSION_CONFLICT: &str = "ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, card_id = excluded.card_id, \
    specimen_id = excluded.specimen_id, rig_hash = excluded.rig_hash, source_hash = excluded.source_hash, \
    content_hash = excluded.content_hash, log = excluded.log, target = excluded.target, \
    recipe_hash = excluded.recipe_hash, seed = excluded.seed, condition = excluded.condition, \
    condition_origins = excluded.condition_origins, io_path = excluded.io_path, \
    bus_ceiling_mb_s = excluded.bus_ceiling_mb_s, identity = excluded.identity, host = excluded.host, \
    tool_version = excluded.tool_version, process = excluded.process, started_at = excluded.started_at, \
    measured_at = excluded.measured_at, updated_at = excluded.updated_at, ended_at = excluded.ended_at, \
    ended_how = excluded.ended_how, document = excluded.document";

pub(crate) const INSERT_RUNS: &str = "INSERT INTO run (session_id, number, seed, counted, started_at, ended_at, \
    results, setting_hash, size_bytes, loops, figures)";

pub(crate) const INSERT_SAMPLE: &str = "INSERT INTO sample (session_id, run_number, place, test_key, test, op, step, \
    loop_index, counted, bytes, ios, nanos, histogram, series, start_c, end_c, max_c, caveats) \
    VALUES ($1, $2, (SELECT COALESCE(MAX(place), 0) + 1 FROM sample WHERE session_id = $1 AND run_number = $2), \
    $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)";

pub(crate) const FINISH_RUN: &str = "UPDATE run SET counted = $3, ended_at = $4, results = $5, setting_hash = $6, \
    loops = $7, figures = $8 WHERE session_id = $1 AND number = $2";

pub(crate) const SESSION_RECIPE: &str = "SELECT recipe_hash FROM session WHERE id = $1";

pub(crate) const CLEAR_DOCUMENT: &str = "UPDATE session SET document = NULL WHERE id = $1";

pub(crate) const FINISH_SESSION: &str = "UPDATE session SET ended_at = $2, ended_how = $3, document = $4, \
    updated_at = CASE WHEN recipe_hash = '' THEN $2 ELSE updated_at END WHERE id = $1";

pub(crate) const SETTLE_SESSION: &str =
    "UPDATE session SET condition = $2, condition_origins = $3, rig_hash = $4 WHERE id = $1";

pub(crate) const SETTLE_RUNS: &str =
    "UPDATE run SET setting_hash = $2 WHERE session_id = $1 AND figures IS NOT NULL";

pub(crate) const TESTS: &str =
    "SELECT DISTINCT test, op, step FROM sample WHERE session_id = $1 AND run_number = $2";

pub(crate) const FINISHED_RUNS: &str =
    "SELECT results FROM run WHERE session_id = $1 AND results IS NOT NULL ORDER BY number";

pub(crate) const DELETE_FINDINGS: &str = "DELETE FROM finding WHERE session_id = $1";

pub(crate) const INSERT_FINDINGS: &str =
    "INSERT INTO finding (session_id, place, claim, verdict, weight, confidence, evidence, advice)";

/// Setting of the runs of a session, as far as it is stored.
pub(crate) const SESSION_SETTING: &str = "SELECT r.name, s.condition, s.card_id, \
    (SELECT MAX(size_bytes) FROM run WHERE session_id = s.id) FROM session s JOIN recipe r ON r.hash = s.recipe_hash WHERE s.id = $1";

/// Columns of a session in a list.
macro_rules! summaries {
    ($rest:literal) => {
        concat!(
            "SELECT s.id, s.kind, s.target, s.card_id, \
             COALESCE(p.model, CASE WHEN c.named THEN c.title END) AS card, r.name AS recipe, s.recipe_hash, \
             s.started_at, s.updated_at, s.ended_at, s.ended_how, s.process, \
             (SELECT COUNT(*) FROM run WHERE session_id = s.id) AS runs, \
             (SELECT COUNT(*) FROM sample WHERE session_id = s.id) AS samples \
             FROM session s JOIN recipe r ON r.hash = s.recipe_hash \
             LEFT JOIN specimen p ON p.id = s.specimen_id LEFT JOIN card c ON c.id = s.card_id ",
            $rest
        )
    };
}

pub(crate) const SUMMARIES: &str = summaries!("ORDER BY s.started_at, s.id");
pub(crate) const NEWEST_SUMMARIES: &str =
    summaries!("ORDER BY s.started_at DESC, s.id DESC LIMIT $1 OFFSET $2");
pub(crate) const SUMMARIES_OF_CARD: &str = summaries!("WHERE s.card_id = $1 ORDER BY s.started_at, s.id");
pub(crate) const SUMMARIES_OF_UNIT: &str = summaries!("WHERE s.specimen_id = $1 ORDER BY s.started_at, s.id");
pub(crate) const SUMMARIES_BY_ID: &str =
    summaries!("WHERE s.id LIKE $1 OR s.id LIKE $2 ORDER BY s.started_at, s.id");
pub(crate) const SUMMARY: &str = summaries!("WHERE s.id = $1");

pub(crate) const RUNS: &str = "SELECT number, seed, counted, results, started_at, ended_at, size_bytes, loops, \
    figures FROM run WHERE session_id = $1 ORDER BY number";

pub(crate) const SAMPLES: &str = "SELECT test_key, test, op, step, loop_index, counted, bytes, ios, nanos, histogram, \
    series, start_c, end_c, max_c, caveats FROM sample WHERE session_id = $1 AND run_number = $2 ORDER BY place";

pub(crate) const INSERT_SOURCES: &str =
    "INSERT INTO source (hash, name, format, content_bytes, content, imported_at)";

pub(crate) const UPDATE_RECORD: &str =
    "UPDATE session SET updated_at = $2, document = $3 WHERE id = $1 AND recipe_hash = ''";
