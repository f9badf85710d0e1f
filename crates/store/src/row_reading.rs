//! Reads rows of sessions, units and samples.

use crate::connection::{SqlResult, SqlRow};
use crate::record::{SessionEnd, SessionSummary};
use crate::{process, sql};
use cardscope_model::result::{LoopSample, TemperatureC};
use cardscope_model::session_file::CardUnit;
use cardscope_model::session_file::SampleRecord;
use cardscope_model::test_name::TestName;

macro_rules! units {
    ($rest:literal) => {
        concat!("SELECT id, maker, model, capacity_bytes, serial, facts FROM specimen WHERE ", $rest)
    };
}

pub(crate) const UNIT: &str = units!("id = $1");
pub(crate) const UNITS_OF_CARD: &str = units!("card_id = $1 ORDER BY first_seen, id");

pub(crate) fn unit_from_row(row: &SqlRow) -> SqlResult<CardUnit> {
    Ok(CardUnit {
        id: row.get(0)?,
        maker: row.get(1)?,
        model: row.get::<Option<String>>(2)?.unwrap_or_default(),
        capacity_bytes: row.get_optional_integer(3)?,
        serial: row.get(4)?,
        facts: row.get_json(5)?,
    })
}

/// Reads the line of a session in a list.
pub(crate) fn summary_from_row(row: &SqlRow) -> SqlResult<SessionSummary> {
    let (ended_at, word): (Option<String>, Option<String>) = (row.get("ended_at")?, row.get("ended_how")?);
    let ended = SessionEnd::ALL.into_iter().find(|how| Some(how.as_str()) == word.as_deref());
    let running = ended_at.is_none() && process::is_alive(&row.get::<String>("process")?);
    Ok(SessionSummary {
        id: row.get_parsed("id")?,
        kind: row.get("kind")?,
        target: row.get("target")?,
        card: row.get("card")?,
        card_id: row.get("card_id")?,
        recipe: row.get("recipe")?,
        is_record: row.get::<String>("recipe_hash")? == sql::NO_RECIPE,
        started_at: row.get("started_at")?,
        updated_at: row.get("updated_at")?,
        running,
        ended_at,
        ended,
        runs: row.get_integer("runs")?,
        samples: row.get_integer("samples")?,
    })
}

pub(crate) fn sample_from_row(row: &SqlRow) -> SqlResult<SampleRecord> {
    Ok(SampleRecord {
        test_key: row.get("test_key")?,
        test: TestName { pattern: row.get_parsed("test")?, op: row.get_parsed("op")? },
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
