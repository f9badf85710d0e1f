//! Guards and commands on loop devices, mounts and swap of this machine. Needs root.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod commands;
mod guards;
mod held_objects;
