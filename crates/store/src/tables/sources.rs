//! Sessions, runs, samples and findings as read for the tables.

use crate::connection::{SqlResult, SqlRow};
use crate::timestamps::{parse_micros, utc_year};
use cardscope_model::condition::Condition;
use cardscope_model::result::TemperatureC;
use cardscope_model::run::TestFigure;
use cardscope_model::test_name::{AccessPattern, TestOp};
use serde::Deserialize;
use serde_json::Value as Json;

pub(super) struct SessionSource {
    pub(super) id: String,
    pub(super) has_recipe: bool,
    /// False for an imported log.
    pub(super) is_measured_here: bool,
    pub(super) kind: String,
    pub(super) card: Option<String>,
    pub(super) unit: Option<String>,
    pub(super) started: String,
    pub(super) started_at: Option<i64>,
    pub(super) measured_at: Option<i64>,
    pub(super) year: i16,
}

impl SessionSource {
    /// Reads a row of the statement `SESSIONS` of the parent module.
    pub(super) fn from_row(row: &SqlRow) -> SqlResult<Self> {
        let (id, started): (String, String) = (row.get(0)?, row.get(8)?);
        let (started_at, measured): (_, Option<String>) = (parse_micros(&started), row.get(9)?);
        Ok(SessionSource {
            has_recipe: row.get(19)?,
            is_measured_here: row.get(20)?,
            kind: row.get(1)?,
            card: row.get(2)?,
            unit: row.get(3)?,
            year: started_at.or_else(|| id_micros(&id)).and_then(utc_year).unwrap_or(UNDATED_YEAR),
            started_at,
            measured_at: measured.as_deref().and_then(parse_micros),
            id,
            started,
        })
    }
}

/// Year of sessions without any time.
pub(super) const UNDATED_YEAR: i16 = 1970;

/// Creation time of a session id in µs, which a UUID of version 7 contains.
fn id_micros(id: &str) -> Option<i64> {
    let (seconds, nanos) = uuid::Uuid::try_parse(id).ok()?.get_timestamp()?.to_unix();
    Some(i64::try_from(seconds).ok()? * 1_000_000 + i64::from(nanos / 1000))
}

/// Values shared by all figures of a run.
pub(super) struct RunSource {
    pub(super) number: i64,
    pub(super) counted: bool,
    pub(super) measured_at: Option<i64>,
    pub(super) setting: String,
    pub(super) recipe: String,
    pub(super) size_bytes: Option<i64>,
    pub(super) condition: Condition,
}

/// Traffic of one interval of time.
#[derive(Default)]
pub(super) struct SeriesPoint<'a> {
    pub(super) run: Option<i64>,
    pub(super) test: Option<&'a str>,
    pub(super) step: Option<&'a str>,
    pub(super) number: Option<i64>,
    pub(super) counted: Option<bool>,
    pub(super) phase: Option<&'a str>,
    pub(super) op: &'a str,
    pub(super) at_s: f64,
    pub(super) seconds: f64,
    pub(super) bytes: u64,
    pub(super) ios: Option<u64>,
    pub(super) mb_s: f64,
    pub(super) latency_us: Option<f64>,
    pub(super) max_latency_us: Option<f64>,
    pub(super) temperature_c: Option<f64>,
}

pub(super) struct StoredFinding {
    pub(super) claim: String,
    pub(super) verdict: String,
    pub(super) weight: String,
    pub(super) confidence: f64,
    pub(super) evidence: String,
    pub(super) advice: Option<String>,
}

/// Details of results that were measured here, beyond their figures.
#[derive(Default, Deserialize)]
pub(super) struct ResultDetails {
    #[serde(default)]
    pub(super) results: Vec<ResultDetail>,
}

#[derive(Deserialize)]
pub(super) struct ResultDetail {
    pub(super) test: AccessPattern,
    pub(super) op: TestOp,
    #[serde(default)]
    pub(super) step: Option<String>,
    pub(super) bytes: u64,
    pub(super) seconds: f64,
    #[serde(default)]
    pub(super) temperature_c: TemperatureC,
}

impl ResultDetails {
    pub(super) fn for_figure(&self, figure: &TestFigure) -> Option<&ResultDetail> {
        self.results.iter().find(|d| d.test == figure.test && d.op == figure.op && d.step == figure.step)
    }
}

#[derive(Default, Deserialize)]
pub(super) struct TableDocument {
    #[serde(default)]
    pub(super) findings: Json,
    #[serde(default)]
    pub(super) series: Json,
}
