//! Real targets on what every Linux machine has: files in tmpfs, and, for root, loop devices and file systems on
//! them. Without root those tests say so and pass.
#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of tests for outside code")]

mod data;
mod device;
mod directory;
mod file;
mod interrupted;
mod refused;
mod rig;
