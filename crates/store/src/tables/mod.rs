//! Exports the archive as Parquet tables in a folder a year, for other query engines (docs/tables.md).
//!
//! All reads see one snapshot. Some hundred sessions are read and written at a time, so memory does not grow with the
//! archive. `schema` describes the tables, `sources` reads the archive, `rows` makes rows of it, `columns` and `table`
//! write files.

mod columns;
mod rows;
mod schema;
mod sources;
mod table;

pub use table::{TableFile, TablesError};

use crate::connection::{Connection, SqlResult, SqlRow, dynamic_statement, statement};
use crate::{Archive, cards};
use rows::TableWriter;
use sources::SessionSource;
use std::collections::HashMap;
use std::fs::File;
use std::io;

/// Sessions read together.
const SESSIONS_PER_BATCH: usize = 200;

macro_rules! sessions {
    ($rest:literal) => {
        concat!(
            "SELECT s.id, s.kind, s.card_id, s.specimen_id, s.target, m.name, m.version, s.seed, s.started_at, \
             s.measured_at, s.ended_at, s.ended_how, s.io_path, s.bus_ceiling_mb_s, g.host, g.reader, g.bus_mode, \
             s.condition, s.tool_version, s.recipe_hash <> '', s.kind <> 'import' \
             FROM session s LEFT JOIN recipe m ON m.hash = s.recipe_hash LEFT JOIN rig g ON g.hash = s.rig_hash ",
            $rest
        )
    };
}

/// Sessions after the last one read, by the index over their starts; the texts sort as the times do.
const SESSIONS: &str = sessions!(
    "WHERE s.started_at >= $1 AND (s.started_at > $1 OR s.id > $2) ORDER BY s.started_at, s.id LIMIT $3"
);

const RUNS: &str = "SELECT r.session_id, r.number, r.counted, r.started_at, r.setting_hash, t.recipe, t.size_bytes, \
    t.condition, r.figures, r.results FROM run r LEFT JOIN setting t ON t.hash = r.setting_hash \
    WHERE r.figures IS NOT NULL AND r.session_id IN ";

const SAMPLES: &str = "SELECT run_number, test, op, step, loop_index, counted, series FROM sample \
    WHERE session_id = $1 ORDER BY run_number, place";

const FINDINGS: &str = "SELECT session_id, place, claim, verdict, weight, confidence, evidence, advice FROM finding \
    WHERE session_id IN ";

const DOCUMENT: &str = "SELECT document FROM session WHERE id = $1 AND document IS NOT NULL";

impl Archive {
    /// Exports all tables. `make` creates a file of a name such as `figures/year=2026/part-00000.parquet`; each is synced.
    /// `excluded` maps cards that are not ranked to the reason. `stop` is polled every few milliseconds.
    ///
    /// # Errors
    /// If reading or writing fails, or it was stopped; the files are incomplete then.
    pub fn write_tables(
        &mut self,
        excluded: &HashMap<String, String>,
        mut make: impl FnMut(&str) -> io::Result<File> + Send,
        stop: impl Fn() -> bool + Sync,
    ) -> Result<Vec<TableFile>, TablesError> {
        self.recompute_stale()?;
        let mut tables = TableWriter::new(&mut make, &stop).map_err(TablesError::File)?;
        self.run_read(async |c| c.snapshot(async |c| export_all(c, &mut tables, excluded).await).await)?;
        tables.finish()
    }
}

/// Reads the whole archive. A write error ends it early and is kept in `tables`.
async fn export_all(
    c: &mut Connection,
    tables: &mut TableWriter<'_>,
    excluded: &HashMap<String, String>,
) -> SqlResult<()> {
    let mut all = cards::load_cards(c).await?;
    all.sort_by(|a, b| a.id.cmp(&b.id));
    for card in all {
        tables.add_card(&card, excluded.get(&card.id))?;
    }
    let mut last = (String::new(), String::new());
    while !tables.is_stopped() {
        let asked = statement(SESSIONS).bind(&last.0).bind(&last.1).bind(SESSIONS_PER_BATCH as i64);
        let sessions = c.fetch_all(asked, |row| tables.add_session(row)).await?;
        let Some(newest) = sessions.last() else { break };
        last = (newest.started.clone(), newest.id.clone());
        // Each year has its own files, which are written one after the other.
        for of_year in sessions.chunk_by(|a, b| a.year == b.year) {
            export_batch(c, tables, of_year).await?;
        }
    }
    Ok(())
}

async fn export_batch(
    c: &mut Connection,
    tables: &mut TableWriter<'_>,
    sessions: &[SessionSource],
) -> SqlResult<()> {
    let by_id: HashMap<&str, &SessionSource> = sessions.iter().map(|s| (s.id.as_str(), s)).collect();
    let ids: Vec<&str> = sessions.iter().map(|s| s.id.as_str()).collect();
    let of_these = |head: &str, places: String, order: &str| {
        dynamic_statement(format!("{head}({places}) ORDER BY session_id, {order}"))
            .bind_all(ids.iter().copied())
    };
    let session = |row: &SqlRow| -> SqlResult<&SessionSource> {
        by_id.get(row.get::<String>(0)?.as_str()).copied().ok_or(sqlx::Error::RowNotFound)
    };
    let places = c.placeholders(ids.len());
    let runs = of_these(RUNS, places.clone(), "number");
    c.fetch_all(runs, |row| tables.add_figures(session(row)?, row)).await?;
    c.fetch_all(of_these(FINDINGS, places, "place"), |row| tables.add_finding(session(row)?, row)).await?;
    for session in sessions.iter().filter(|s| s.is_measured_here) {
        if tables.is_stopped() {
            break;
        }
        if session.has_recipe {
            // One session at a time, because its series may be long.
            c.fetch_all(statement(SAMPLES).bind(&session.id), |row| tables.add_series(session, row)).await?;
        } else {
            c.fetch_all(statement(DOCUMENT).bind(&session.id), |row| tables.add_record(session, row)).await?;
        }
    }
    Ok(())
}
