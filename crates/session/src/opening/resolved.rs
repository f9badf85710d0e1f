//! Resolved target: a name is resolved once, so that the object that is checked is the one that is opened.

use crate::error::{Failure, Result};
use crate::open_target::TargetType;
use cardscope_device::claimed::{HoldError, ResolvedPath};
use cardscope_device::object::{ObjectError, check_object};
use cardscope_simulator::target_spec;
use std::path::Path;

#[derive(Debug)]
pub struct ResolvedTarget {
    pub(super) name: String,
    pub(super) found: ResolvedKind,
    /// Object id of the card that the target must hold.
    pub(super) object: Option<String>,
}

#[derive(Debug)]
pub(super) enum ResolvedKind {
    Simulated,
    /// Directory, file or device, or the error to report when it is opened.
    RealObject(std::result::Result<ResolvedPath, HoldError>),
}

impl ResolvedTarget {
    pub fn from_name(name: &str) -> ResolvedTarget {
        let found = match target_spec::is_simulated(name) {
            true => ResolvedKind::Simulated,
            false => ResolvedKind::RealObject(ResolvedPath::resolve(Path::new(name))),
        };
        ResolvedTarget { name: name.to_owned(), found, object: None }
    }

    pub fn with_object(self, object: Option<&str>) -> ResolvedTarget {
        ResolvedTarget { object: object.map(str::to_owned), ..self }
    }

    /// Refuses a target that does not hold the required card.
    pub(super) fn check_object(&self) -> Result<()> {
        let Some(object) = &self.object else { return Ok(()) };
        let device = match &self.found {
            ResolvedKind::RealObject(Ok(pinned)) => pinned.device_number(),
            ResolvedKind::Simulated => None,
            // This error is reported when the target is opened.
            ResolvedKind::RealObject(Err(_)) => return Ok(()),
        };
        let checked = match device {
            Some(number) => check_object(number, object, Path::new(&self.name)),
            None => Err(ObjectError::NotADevice { name: self.name.clone() }),
        };
        checked.map_err(Failure::refused)
    }

    /// Type of the target. Refuses kernel files (proc, sysfs), whose reported type and size are meaningless.
    pub(crate) fn target_type(&self) -> Result<TargetType> {
        match &self.found {
            ResolvedKind::Simulated => Ok(TargetType::Simulated),
            ResolvedKind::RealObject(Ok(pinned)) if pinned.is_directory() => Ok(TargetType::Directory),
            ResolvedKind::RealObject(Err(HoldError::KernelFile(why))) => Err(Failure::refused(why.clone())),
            ResolvedKind::RealObject(_) => Ok(TargetType::Card),
        }
    }
}
