//! What is told of machines that were recorded: trees of text, on any machine.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod guards;
mod inspect;
mod list;
mod support;
mod system_disk;
