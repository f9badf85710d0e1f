//! Restoring what probes overwrote on simulated cards.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod restore;
