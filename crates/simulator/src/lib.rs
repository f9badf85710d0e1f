//! Simulated SD cards: archetypes as data, a flash model on a virtual clock behind the `Target` trait, and a server
//! that shows the same card in real time, as a file or over NBD.
//!
//! Each module and each card's file names the sources of its numbers. This crate knows neither devices nor the
//! archive, and code that measures cannot distinguish its cards from real ones.

#![forbid(unsafe_code)]

pub mod archetype;
mod card;
mod content;
mod identify;
mod page_cache;
pub mod random;
mod rig;
mod seeded_choice;
pub mod serve;
mod simulated_device;
mod state_file;
pub mod target;
pub mod target_spec;

pub use archetype::{Archetype, describe_card, load_builtin};
pub use identify::decode_identity;
pub use state_file::StateError;
pub use target::SimTarget;
pub use target_spec::{CardStorage, TargetSpec};
