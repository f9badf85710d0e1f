//! Structure of the workspace: which crate may use which, and promises of the documents about the code.

mod budgets;
mod claims;
mod commands;
mod features;
mod house;
mod licences;
mod orphans;
mod packaging;
mod paths;
mod pinned;
mod promises;
mod rates;
mod sentences;
mod sources;
mod touched;
mod voice;
