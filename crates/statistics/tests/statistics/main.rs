//! Statistics on real logs and on simulated series, with a module for each subject.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod cdm_fio_logs;
mod comparing;
mod coverage;
mod express_logs;
mod flashbench_logs;
mod usual;
