//! Files by their names, and what others do to them meanwhile.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod names;
mod races;
