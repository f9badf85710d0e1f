//! Simulated cards: archetypes as data, the flash model on a virtual clock behind the `Target` trait, and a server
//! that shows the same card as a file in real time.
//!
//! Where the model and its numbers come from stands in each module and in each card's file. It knows neither
//! devices nor the archive, and whoever measures cannot tell it from a real card.

#![forbid(unsafe_code)]

pub mod archetype;
mod card;
mod chance;
mod content;
mod device;
mod identify;
mod page_cache;
pub mod random;
mod reader;
mod rig;
pub mod serve;
mod state_file;
pub mod target;
pub mod target_spec;

pub use archetype::{Archetype, archetypes, describe};
pub use identify::identity;
pub use state_file::StateError;
pub use target::SimTarget;
pub use target_spec::{CardStorage, TargetSpec};
