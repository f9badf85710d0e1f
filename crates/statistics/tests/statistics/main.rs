//! The statistics on real logs and on series whose truth is known, one module an idea.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod cdm_fio_logs;
mod comparing;
mod coverage;
mod express_logs;
mod flashbench_logs;
mod usual;
