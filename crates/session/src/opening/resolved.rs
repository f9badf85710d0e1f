//! The name of a target, resolved once: what a request is checked against is the very object that is opened after it.

use crate::opened::TargetType;
use cardscope_device::held::{HoldError, Pinned};
use cardscope_simulator::target_spec;
use std::path::Path;

/// A target that is not open yet.
#[derive(Debug)]
pub struct Resolved {
    pub(super) name: String,
    pub(super) found: Found,
}

/// What its name leads to.
#[derive(Debug)]
pub(super) enum Found {
    /// A simulated card.
    Simulated,
    /// A directory, file or device; or nothing that could be opened, which is said when it is to be opened.
    Real(Result<Pinned, HoldError>),
}

impl Resolved {
    /// Resolves a name.
    pub(crate) fn of(name: &str) -> Resolved {
        let found = match target_spec::is_simulated(name) {
            true => Found::Simulated,
            false => Found::Real(Pinned::of(Path::new(name))),
        };
        Resolved { name: name.to_owned(), found }
    }

    /// What it is.
    pub(crate) fn target_type(&self) -> TargetType {
        match &self.found {
            Found::Simulated => TargetType::Simulated,
            Found::Real(Ok(pinned)) if pinned.is_directory() => TargetType::Directory,
            Found::Real(_) => TargetType::Card,
        }
    }
}
