//! The name of a target, resolved once: what a request is checked against is the very object that is opened after it.

use crate::error::{Failure, Result};
use crate::opened::TargetType;
use cardscope_device::held::{HoldError, ResolvedPath};
use cardscope_device::object::{ObjectError, check_object};
use cardscope_simulator::target_spec;
use std::path::Path;

/// A target that is not open yet.
#[derive(Debug)]
pub struct ResolvedTarget {
    pub(super) name: String,
    pub(super) found: ResolvedKind,
    /// Name of the very card that it must hold.
    pub(super) object: Option<String>,
}

/// What its name leads to.
#[derive(Debug)]
pub(super) enum ResolvedKind {
    /// A simulated card.
    Simulated,
    /// A directory, file or device; or nothing that could be opened, which is said when it is to be opened.
    Real(std::result::Result<ResolvedPath, HoldError>),
}

impl ResolvedTarget {
    /// Resolves a name.
    pub fn of(name: &str) -> ResolvedTarget {
        let found = match target_spec::is_simulated(name) {
            true => ResolvedKind::Simulated,
            false => ResolvedKind::Real(ResolvedPath::of(Path::new(name))),
        };
        ResolvedTarget { name: name.to_owned(), found, object: None }
    }

    /// The same, to be opened only while it holds the card that this object names.
    pub fn with_object(self, object: Option<&str>) -> ResolvedTarget {
        ResolvedTarget { object: object.map(str::to_owned), ..self }
    }

    /// Refuses a target that does not hold the card that was named, or cannot hold one.
    pub(super) fn check_object(&self) -> Result<()> {
        let (Some(object), ResolvedKind::Simulated | ResolvedKind::Real(Ok(_))) = (&self.object, &self.found)
        else {
            return Ok(());
        };
        let device = if let ResolvedKind::Real(Ok(pinned)) = &self.found { pinned.device() } else { None };
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
            ResolvedKind::Simulated => TargetType::Simulated,
            ResolvedKind::Real(Ok(pinned)) if pinned.is_directory() => TargetType::Directory,
            ResolvedKind::Real(Err(HoldError::KernelFile(why))) => return Err(Failure::refused(why.clone())),
            ResolvedKind::Real(_) => TargetType::Card,
        })
    }
}
