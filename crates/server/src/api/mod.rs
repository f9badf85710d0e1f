//! What goes over the wire: one type each, from which the OpenAPI document and the app's TypeScript types are made.
//!
//! Sizes are bytes, times seconds, speeds MB/s (10^6 bytes a second), temperatures °C, chances 0 to 1.

mod analysis;
mod cards;
mod common;
mod devices;
mod host;
mod imports;
mod recipes;
mod sessions;
mod simulated;
mod tasks;
mod verbs;

pub use analysis::{Excluded, Job, Jobs, Made, Named, Place, RankOrder, Ranked, Workload};
pub use cards::{Card, CardChange, CardQuery, Cards, Fact, NewEvent};
pub use cardscope_model::card::{Event, Price};
pub use cardscope_model::report::Tone;
pub use common::Problem;
pub use devices::{CardObject, Device, Devices};
pub use host::{Host, Journal, Journals, Nonce, Proof};
pub use imports::{FileName, ImportOrder, Imported, ImportedFile, Upload};
pub use recipes::{Recipe, RecipeCheck, RecipeLine, RecipeText, Recipes};
pub use sessions::{Session, SessionLine, Sessions, Window};
pub use simulated::{Knob, SimulatedCard, SimulatedCards, SimulatedLine};
pub use tasks::{State, Task, TaskSample, Tasks};
pub use verbs::Verbs;
