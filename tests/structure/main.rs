//! The house itself: which crate may use which, and what the documents promise of the code.

mod budgets;
mod claims;
mod commands;
mod features;
mod house;
mod licences;
mod orphans;
mod packaging;
mod paths;
mod promises;
mod rates;
mod sentences;
mod sources;
mod touched;
mod voice;
