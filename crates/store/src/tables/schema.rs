//! Columns of the tables with their Parquet types, and the values of a row. Names are those of the JSON documents
//! (`bench --json`); nested names are joined: `latency_us_p99`. docs/tables.md explains each.

use super::columns::ColumnCell;
use super::sources::{ResultDetail, RunSource, SeriesPoint, SessionSource, StoredFinding};
use super::table::ExportTable;
use crate::connection::{SqlResult, SqlRow};
use crate::timestamps::parse_micros;
use cardscope_model::archive_rows::StoredCard;
use cardscope_model::run::TestFigure;
use cardscope_model::test_name::IoOrder;
use std::io;

/// Column in Parquet's notation.
macro_rules! declaration {
    (text $name:ident) => {
        concat!("binary ", stringify!($name), " (STRING);")
    };
    (time $name:ident) => {
        concat!("int64 ", stringify!($name), " (TIMESTAMP(MICROS, true));")
    };
    (texts $name:ident) => {
        concat!(
            "group ",
            stringify!($name),
            " (LIST) { repeated group list { required binary element (STRING); } }"
        )
    };
    ($type:ident $name:ident) => {
        concat!(stringify!($type), " ", stringify!($name), ";")
    };
}

/// Makes a module of each table, with `table` to create it and `row` for the cells of a row.
macro_rules! tables {
    ($($(#[$doc:meta])* $table:ident<$life:lifetime>($($of:ident: $source:ty),+) {
        $($need:ident $type:ident $column:ident = $value:expr,)+
    })+) => {$(
        $(#[$doc])*
        pub(super) mod $table {
            use super::*;

            const COLUMNS: &[&str] = &[$(concat!(stringify!($need), " ", declaration!($type $column))),+];

            pub(in super::super) fn table() -> io::Result<ExportTable> {
                ExportTable::new(stringify!($table), COLUMNS)
            }

            pub(in super::super) fn row<$life>($($of: $source),+) -> SqlResult<[ColumnCell<$life>; COLUMNS.len()]> {
                Ok([$(ColumnCell::from($value)),+])
            }
        }
    )+};
}

tables! {
    /// Rows of the statement `SESSIONS` of the parent module.
    sessions<'a>(s: &'a SessionSource, row: &SqlRow) {
        required text session = &s.id,
        required text kind = &s.kind,
        optional text card_id = &s.card,
        optional text unit_id = &s.unit,
        required text target = row.get::<String>(4)?,
        optional text recipe = non_empty(row.get(5)?),
        optional text recipe_version = non_empty(row.get(6)?),
        required text seed = row.get::<String>(7)?,
        optional time started_at = s.started_at,
        optional time measured_at = s.measured_at,
        optional time ended_at = row.get::<Option<String>>(10)?.as_deref().and_then(parse_micros),
        optional text ended = row.get::<Option<String>>(11)?,
        optional text io_path = non_empty(row.get(12)?),
        optional double bus_ceiling_mb_s = row.get::<Option<f64>>(13)?,
        optional text board = row.get::<Option<String>>(14)?,
        optional text reader = row.get::<Option<String>>(15)?,
        optional text bus_mode = row.get::<Option<String>>(16)?,
        required text condition = row.get::<String>(17)?,
        required text tool_version = row.get::<String>(18)?,
    }

    /// Rows of the tests of each run.
    figures<'a>(s: &'a SessionSource, run: &'a RunSource, place: i64, figure: &'a TestFigure, detail: Option<&'a ResultDetail>) {
        required text session = &s.id,
        required int32 run = run.number,
        required int32 place = place,
        required boolean counted = run.counted,
        optional text card_id = &s.card,
        optional text unit_id = &s.unit,
        required text kind = &s.kind,
        optional time measured_at = run.measured_at,
        required text setting = &run.setting,
        required text recipe = &run.recipe,
        optional int64 size_bytes = run.size_bytes,
        optional text state = run.condition.get("state"),
        optional text cooling = run.condition.get("cooling"),
        required text test = figure.name().to_string(),
        optional text step = &figure.step,
        required text op = figure.op.to_string(),
        required text access = access_name(figure.test.order),
        required int64 block_bytes = figure.test.block,
        required int32 queue = figure.test.queue,
        required int32 threads = figure.test.threads,
        required double mb_s = figure.mb_s,
        optional double iops = figure.iops,
        optional double latency_us_mean = figure.latency_us,
        optional double latency_us_p50 = figure.percentiles_us.p50,
        optional double latency_us_p99 = figure.percentiles_us.p99,
        optional double latency_us_p999 = figure.percentiles_us.p999,
        optional double latency_us_max = figure.max_latency_us,
        optional int64 bytes = detail.map(|detail| detail.bytes),
        optional double seconds = detail.map(|detail| detail.seconds),
        optional double temperature_c_start = detail.and_then(|detail| detail.temperature_c.start),
        optional double temperature_c_end = detail.and_then(|detail| detail.temperature_c.end),
        optional double temperature_c_max = detail.and_then(|detail| detail.temperature_c.max),
        optional double printed = figure.as_printed.as_ref().map(|printed| printed.value),
        optional text printed_unit = figure.as_printed.as_ref().map(|printed| printed.unit.as_str()),
    }

    /// Rows of the buckets of a loop and the samples of a long run.
    series<'a>(s: &'a SessionSource, point: &'a SeriesPoint<'_>) {
        required text session = &s.id,
        required text kind = &s.kind,
        optional text card_id = &s.card,
        optional int32 run = point.run,
        optional text test = point.test,
        optional text step = point.step,
        optional int32 loop = point.number,
        optional boolean counted = point.counted,
        optional text phase = point.phase,
        required text op = point.op,
        required double at_s = point.at_s,
        required double seconds = point.seconds,
        required int64 bytes = point.bytes,
        optional int64 ios = point.ios,
        required double mb_s = point.mb_s,
        optional double latency_us_mean = point.latency_us,
        optional double latency_us_max = point.max_latency_us,
        optional double temperature_c = point.temperature_c,
    }

    findings<'a>(s: &'a SessionSource, place: i64, finding: &'a StoredFinding) {
        required text session = &s.id,
        required text kind = &s.kind,
        optional text card_id = &s.card,
        optional time started_at = s.started_at,
        required int32 place = place,
        required text claim = &finding.claim,
        required text verdict = &finding.verdict,
        required text weight = &finding.weight,
        required double confidence = finding.confidence,
        required text evidence = &finding.evidence,
        optional text advice = &finding.advice,
    }

    /// Cards, which are models as sold, one row each.
    cards<'a>(card: &'a StoredCard, excluded: Option<&'a String>) {
        required text card_id = &card.id,
        required text title = &card.title,
        optional text brand = &card.facts.brand,
        optional text name = &card.facts.name,
        optional text model = &card.facts.model,
        optional text maker = &card.facts.maker,
        optional int64 capacity_bytes = card.facts.capacity_bytes,
        optional text capacity_label = &card.facts.capacity_label,
        optional text form = &card.facts.form,
        optional text firmware = &card.facts.firmware,
        optional text made = &card.facts.made,
        optional text generation = &card.facts.generation,
        required texts marks = card.facts.marks.as_slice(),
        required int32 units = card.units,
        required int32 sessions = card.sessions,
        required int32 runs = card.runs,
        optional time first_measured = measured_at(card, 0),
        optional time last_measured = measured_at(card, 1),
        optional double price = card.price.as_ref().map(|price| price.amount),
        optional text currency = card.price.as_ref().map(|price| price.currency.as_str()),
        optional text priced = &card.priced,
        optional text excluded = excluded.map(String::as_str),
    }
}

/// Day of the first (0) or last (1) measurement of a card, in µs.
fn measured_at(card: &StoredCard, which: usize) -> Option<i64> {
    parse_micros(&card.measured.as_ref()?[which])
}

fn non_empty(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

fn access_name(order: IoOrder) -> &'static str {
    match order {
        IoOrder::Sequential => "SEQ",
        IoOrder::Random => "RND",
    }
}
