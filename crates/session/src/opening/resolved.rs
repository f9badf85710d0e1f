//! The name of a target, resolved once: what a request is checked against is the very object that is opened after it.

use crate::error::{Failure, Result};
use crate::opened::TargetType;
use cardscope_device::held::{HoldError, Pinned};
use cardscope_device::object::{ObjectError, check_object};
use cardscope_simulator::target_spec;
use std::path::Path;

/// A target that is not open yet.
#[derive(Debug)]
pub struct Resolved {
    pub(super) name: String,
    pub(super) found: Found,
    /// Name of the very card that it must hold.
    pub(super) object: Option<String>,
}

/// What its name leads to.
#[derive(Debug)]
pub(super) enum Found {
    /// A simulated card.
    Simulated,
    /// A directory, file or device; or nothing that could be opened, which is said when it is to be opened.
    Real(std::result::Result<Pinned, HoldError>),
}

impl Resolved {
    /// Resolves a name.
    pub fn of(name: &str) -> Resolved {
        let found = match target_spec::is_simulated(name) {
            true => Found::Simulated,
            false => Found::Real(Pinned::of(Path::new(name))),
        };
        Resolved { name: name.to_owned(), found, object: None }
    }

    /// The same, to be opened only while it holds the card that this object names.
    pub fn with_object(self, object: Option<&str>) -> Resolved {
        Resolved { object: object.map(str::to_owned), ..self }
    }

    /// Refuses a target that does not hold the card that was named, or cannot hold one.
    pub(super) fn check_object(&self) -> Result<()> {
        let (Some(object), Found::Simulated | Found::Real(Ok(_))) = (&self.object, &self.found) else {
            return Ok(());
        };
        let device = if let Found::Real(Ok(pinned)) = &self.found { pinned.device() } else { None };
        let checked = match device {
            Some(number) => check_object(number, object, Path::new(&self.name)),
            None => Err(ObjectError::NotADevice { name: self.name.clone() }),
        };
        checked.map_err(Failure::refused)
    }

    /// What it is.
    ///
    /// # Errors
    /// A refusal: the kernel shows its own state there, of whatever type and size it looks.
    pub(crate) fn target_type(&self) -> Result<TargetType> {
        Ok(match &self.found {
            Found::Simulated => TargetType::Simulated,
            Found::Real(Ok(pinned)) if pinned.is_directory() => TargetType::Directory,
            Found::Real(Err(HoldError::KernelFile(why))) => return Err(Failure::refused(why.clone())),
            Found::Real(_) => TargetType::Card,
        })
    }
}
