//! The probes on simulated cards in virtual time, one module an idea. Run one of them by its name:
//! `cargo test -p cardscope-probe --test probe map_reading::`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod budgets;
mod bus_errors;
mod capacity;
mod common;
mod failing_end;
#[path = "../fakes/mod.rs"]
mod fakes;
mod lying_readers;
mod map_accuracy;
mod map_reading;
mod map_writing;
mod marks;
#[path = "../memory/mod.rs"]
mod memory;
mod put_back;
mod random_fakes;
mod sustain;
mod sustain_accuracy;
mod watched;
#[path = "../../../../tests/written_docs.rs"]
mod written_docs;

/// More cards and cases, where nobody waits (`./check --long`).
fn is_long() -> bool {
    std::env::var("CARDSCOPE_LONG").is_ok_and(|value| !value.is_empty())
}
