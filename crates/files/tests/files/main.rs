//! Tests of files by name while other users exchange the names.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod names;
mod races;
