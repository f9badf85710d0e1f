//! Types of the HTTP API. The OpenAPI document and the app's TypeScript types are generated from them.
//!
//! Sizes are bytes, times seconds, speeds MB/s (10^6 bytes a second), temperatures °C, probabilities 0 to 1.

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

pub use analysis::{
    Excluded, JobInfo, JobList, JobWorkload, NamedTitle, RankOrder, RankedCards, RankedPlace, RenderedPage,
};
pub use cards::{CardChange, CardFact, CardQuery, CardResource, CardWindow, NewEvent};
pub use cardscope_model::card::{CardEvent, CardPrice};
pub use cardscope_model::report::NewsTone;
pub use common::ApiProblem;
pub use devices::{CardObject, Device, DeviceList};
pub use host::{ClientNonce, HostInfo, Journal, JournalList, TokenProof};
pub use imports::{FileName, ImportOrder, ImportedFile, ImportedLogs, UploadedFile};
pub use recipes::{RecipeCheck, RecipeLine, RecipeList, RecipeResource, RecipeText};
pub use sessions::{ListWindow, SessionLine, SessionResource, SessionWindow};
pub use simulated::{CardKnob, SimulatedCard, SimulatedCards, SimulatedLine};
pub use tasks::{TaskList, TaskResource, TaskSample, TaskState};
pub use verbs::Verbs;
