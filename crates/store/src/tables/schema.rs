//! The columns of each table, in Parquet's own notation. Names are those of the documents (`bench --json`), with the
//! parts of a nested one joined: `latency_us_p99`. docs/tables.md says what each means.

/// Sessions, one row each.
pub(super) const SESSIONS: &str = "message sessions {
    required binary session (STRING);
    required binary kind (STRING);
    optional binary card_id (STRING);
    optional binary unit_id (STRING);
    required binary target (STRING);
    optional binary recipe (STRING);
    optional binary recipe_version (STRING);
    required binary seed (STRING);
    optional int64 started_at (TIMESTAMP(MICROS, true));
    optional int64 measured_at (TIMESTAMP(MICROS, true));
    optional int64 ended_at (TIMESTAMP(MICROS, true));
    optional binary ended (STRING);
    optional binary io_path (STRING);
    optional double bus_ceiling_mb_s;
    optional binary board (STRING);
    optional binary reader (STRING);
    optional binary bus_mode (STRING);
    required binary condition (STRING);
    required binary tool_version (STRING);
}";

/// What each test gave in each run.
pub(super) const FIGURES: &str = "message figures {
    required binary session (STRING);
    required int32 run;
    required int32 place;
    required boolean counted;
    optional binary card_id (STRING);
    optional binary unit_id (STRING);
    required binary kind (STRING);
    optional int64 measured_at (TIMESTAMP(MICROS, true));
    required binary setting (STRING);
    required binary recipe (STRING);
    optional int64 size_bytes;
    optional binary state (STRING);
    optional binary cooling (STRING);
    required binary test (STRING);
    optional binary step (STRING);
    required binary op (STRING);
    required binary access (STRING);
    required int64 block_bytes;
    required int32 queue;
    required int32 threads;
    required double mb_s;
    optional double iops;
    optional double latency_us_mean;
    optional double latency_us_p50;
    optional double latency_us_p99;
    optional double latency_us_p999;
    optional double latency_us_max;
    optional int64 bytes;
    optional double seconds;
    optional double temperature_c_start;
    optional double temperature_c_end;
    optional double temperature_c_max;
    optional double printed;
    optional binary printed_unit (STRING);
}";

/// What was measured over time: a row for each bucket of a loop, and for each sample of a long run.
pub(super) const SERIES: &str = "message series {
    required binary session (STRING);
    required binary kind (STRING);
    optional binary card_id (STRING);
    optional int32 run;
    optional binary test (STRING);
    optional binary step (STRING);
    optional int32 loop;
    optional boolean counted;
    optional binary phase (STRING);
    required binary op (STRING);
    required double at_s;
    required double seconds;
    required int64 bytes;
    optional int64 ios;
    required double mb_s;
    optional double latency_us_mean;
    optional double latency_us_max;
    optional double temperature_c;
}";

/// What was concluded.
pub(super) const FINDINGS: &str = "message findings {
    required binary session (STRING);
    required binary kind (STRING);
    optional binary card_id (STRING);
    optional int64 started_at (TIMESTAMP(MICROS, true));
    required int32 place;
    required binary claim (STRING);
    required binary verdict (STRING);
    required binary weight (STRING);
    required double confidence;
    required binary evidence (STRING);
    optional binary advice (STRING);
}";

/// Cards: models as one buys them.
pub(super) const CARDS: &str = "message cards {
    required binary card_id (STRING);
    required binary title (STRING);
    optional binary brand (STRING);
    optional binary name (STRING);
    optional binary model (STRING);
    optional binary maker (STRING);
    optional int64 capacity_bytes;
    optional binary capacity_label (STRING);
    optional binary form (STRING);
    optional binary firmware (STRING);
    optional binary made (STRING);
    optional binary generation (STRING);
    required group marks (LIST) {
        repeated group list {
            required binary element (STRING);
        }
    }
    required int32 units;
    required int32 sessions;
    required int32 runs;
    optional int64 first_measured (TIMESTAMP(MICROS, true));
    optional int64 last_measured (TIMESTAMP(MICROS, true));
    optional double price;
    optional binary currency (STRING);
    optional binary priced (STRING);
    optional binary excluded (STRING);
}";
