//! Tests of marks on simulated cards in virtual time.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod marks;
