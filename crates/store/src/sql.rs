//! Every statement of the archive, in one place: numbered parameters and plain SQL, which SQLite and PostgreSQL
//! both take.

pub(crate) const INSERT_RECIPE: &str =
    "INSERT INTO recipe (hash, name, version, text) VALUES ($1, $2, $3, $4) ON CONFLICT (hash) DO NOTHING";

pub(crate) const INSERT_CARD: &str = "INSERT INTO card (id, maker, model, capacity_bytes, first_seen) \
    VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO NOTHING";

pub(crate) const INSERT_SPECIMEN: &str = "INSERT INTO specimen (id, card_id, serial, first_seen) \
    VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO NOTHING";

pub(crate) const INSERT_SESSION: &str = "INSERT INTO session (id, specimen_id, target, recipe_hash, seed, condition, \
    condition_origins, io_path, bus_ceiling_mb_s, identity, host, tool_version, process, started_at) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";

pub(crate) const INSERT_RUN: &str =
    "INSERT INTO run (session_id, number, seed, counted, started_at) VALUES ($1, $2, $3, $4, $5)";

pub(crate) const INSERT_SAMPLE: &str = "INSERT INTO sample (session_id, run_number, place, test_key, test, op, step, \
    loop_index, counted, bytes, ios, nanos, histogram, series, start_c, end_c, max_c, caveats) \
    VALUES ($1, $2, (SELECT COALESCE(MAX(place), 0) + 1 FROM sample WHERE session_id = $1 AND run_number = $2), \
    $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)";

pub(crate) const FINISH_RUN: &str =
    "UPDATE run SET counted = $3, ended_at = $4, results = $5 WHERE session_id = $1 AND number = $2";

pub(crate) const FINISH_SESSION: &str = "UPDATE session SET ended_at = $2, ended_how = $3, report = $4, condition = $5, condition_origins = $6 WHERE id = $1";

pub(crate) const DELETE_FINDINGS: &str = "DELETE FROM finding WHERE session_id = $1";

pub(crate) const INSERT_FINDING: &str = "INSERT INTO finding (session_id, place, claim, verdict, weight, confidence, \
    evidence, advice) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";

/// The columns of a session in a list.
macro_rules! summaries {
    ($rest:literal) => {
        concat!(
            "SELECT s.id, s.target, c.model, r.name AS recipe, s.started_at, s.ended_at, s.ended_how, s.process, \
             (SELECT COUNT(*) FROM run WHERE session_id = s.id) AS runs, \
             (SELECT COUNT(*) FROM sample WHERE session_id = s.id) AS samples \
             FROM session s JOIN recipe r ON r.hash = s.recipe_hash \
             LEFT JOIN specimen p ON p.id = s.specimen_id LEFT JOIN card c ON c.id = p.card_id ",
            $rest
        )
    };
}

pub(crate) const SUMMARIES: &str = summaries!("ORDER BY s.started_at, s.id");
pub(crate) const SUMMARY: &str = summaries!("WHERE s.id = $1");

pub(crate) const SESSION: &str = "SELECT s.target, s.seed, s.condition, s.condition_origins, s.io_path, \
    s.bus_ceiling_mb_s, s.identity, s.host, s.tool_version, s.report, r.name, r.version, r.text, \
    c.maker, c.model, c.capacity_bytes, p.serial, p.id AS identity_hash \
    FROM session s JOIN recipe r ON r.hash = s.recipe_hash \
    LEFT JOIN specimen p ON p.id = s.specimen_id LEFT JOIN card c ON c.id = p.card_id WHERE s.id = $1";

pub(crate) const RUNS: &str =
    "SELECT number, seed, counted, results FROM run WHERE session_id = $1 ORDER BY number";

pub(crate) const SAMPLES: &str = "SELECT test_key, test, op, step, loop_index, counted, bytes, ios, nanos, histogram, \
    series, start_c, end_c, max_c, caveats FROM sample WHERE session_id = $1 AND run_number = $2 ORDER BY place";

pub(crate) const INSERT_RECORD: &str = "INSERT INTO record (id, kind, specimen_id, target, seed, condition, \
    condition_origins, identity, host, tool_version, process, started_at) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";

pub(crate) const UPDATE_RECORD: &str = "UPDATE record SET updated_at = $2, document = $3 WHERE id = $1";

pub(crate) const FINISH_RECORD: &str =
    "UPDATE record SET updated_at = $2, ended_at = $2, ended_how = $3, document = $4 WHERE id = $1";

/// The columns of a record, all but its document.
macro_rules! records {
    ($more:literal, $rest:literal) => {
        concat!(
            "SELECT d.id, d.kind, d.target, d.seed, d.condition, d.condition_origins, d.identity, d.host, \
             d.tool_version, d.process, d.started_at, d.updated_at, d.ended_at, d.ended_how, \
             c.maker, c.model, c.capacity_bytes, p.serial, p.id AS identity_hash",
            $more,
            " FROM record d LEFT JOIN specimen p ON p.id = d.specimen_id LEFT JOIN card c ON c.id = p.card_id ",
            $rest
        )
    };
}

pub(crate) const RECORDS: &str = records!("", "ORDER BY d.started_at, d.id");
pub(crate) const RECORD: &str = records!(", d.document", "WHERE d.id = $1");
