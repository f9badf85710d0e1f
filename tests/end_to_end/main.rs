//! Tests of the built binary from outside, one module a topic; shared helpers are in `common`. Run one by name:
//! `cargo test -p cardscope --test end_to_end served_nbd::`.

#![allow(clippy::unwrap_used, reason = "what tests share fails by panicking, as they do")]

mod common;

mod advice;
mod archive_refusals;
mod archive_server;
mod archives;
mod bad_input;
mod bad_readers;
mod bounded;
mod check;
mod command_line;
mod comparing;
mod doctor;
mod documents;
mod endure;
mod engines;
mod faults;
mod files;
mod first_archive;
mod fit;
mod format;
mod full;
mod geometries;
mod guards;
mod hostile_input;
mod imports;
mod interrupts;
mod killed;
mod map;
mod map_safety;
mod max_write;
mod observe;
mod output;
mod outside_text;
mod own_home;
mod pages;
mod progress;
mod progress_events;
mod published_reports;
mod races;
mod recorded_sys;
mod report_files;
mod reports;
mod restore;
mod screens;
mod served_ends;
mod served_errors;
mod served_fakes;
mod served_files;
mod served_nbd;
mod server;
mod signal_response;
mod simulated;
mod situations;
mod sustain;
mod top;
mod verdicts;
#[path = "../vm/mod.rs"]
mod vm;
mod without_others;
