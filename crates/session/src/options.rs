//! Options shared by several verbs. A verb changes the help text of one with `mut_arg`.

use crate::arguments::parse_size_argument;
use crate::error::{Failure, Result};
use crate::option_json;
use cardscope_device::system::SystemRoots;
use cardscope_model::condition::Condition;
use clap::Args;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Location of the archive.
#[derive(Debug, Clone, Default, Args)]
pub struct ArchiveAt {
    /// Archive to store the results in: a file, or postgres://... [default: in the XDG data folder]
    #[arg(long, value_name = "FILE|URL", env = "CARDSCOPE_ARCHIVE", hide_env_values = true)]
    pub archive: Option<PathBuf>,
}

impl ArchiveAt {
    /// Archive that the user names, None for the default one.
    pub fn named_path(&self) -> Option<&Path> {
        self.archive.as_deref()
    }
}

/// Conditions of card and setup.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub struct ConditionOptions {
    /// Condition of the card and its setup, e.g. reader=internal (repeatable)
    #[arg(long = "condition", value_name = "KEY=VALUE")]
    pub conditions: Vec<String>,
}

impl ConditionOptions {
    /// Parses the conditions. Refuses unknown keys and invalid values.
    pub fn parse_conditions(&self) -> Result<Condition> {
        let mut stated = Condition::default();
        self.conditions.iter().try_for_each(|text| stated.set_stated(text)).map_err(Failure::refused)?;
        Ok(stated)
    }
}

/// Consent given on the command line, and the card that it is limited to.
#[derive(Debug, Clone, Default, Args)]
pub struct GivenConsent {
    /// Agree to lose the data on TARGET without being asked; must equal TARGET as typed
    #[arg(long, value_name = "TARGET")]
    pub yes_destroy: Option<String>,
    /// Test TARGET only while it holds this very card, named as the field "object" of `cardscope list --json`
    #[arg(long, value_name = "OBJECT")]
    pub object: Option<String>,
}

/// Write limit.
#[derive(Debug, Clone, Copy, Default, Args, Serialize, Deserialize)]
pub struct WriteLimit {
    /// Write at most this much, restoring not counted, e.g. 4G [default: 256M in a directory on the disk that
    /// holds
    /// the running system]
    #[arg(long, value_name = "SIZE", value_parser = parse_size_argument)]
    #[serde(with = "option_json")]
    pub max_write: Option<u64>,
}

/// Computer to inspect.
#[derive(Debug, Clone, Default, Args)]
pub struct MachineOptions {
    /// Read this copy of a machine's /sys tree instead of the live one
    #[arg(long, value_name = "DIR")]
    pub sysfs: Option<PathBuf>,
}

impl MachineOptions {
    /// This computer, or a recorded copy of another one's `/sys` tree. Refuses a folder that holds no such copy.
    pub fn system(&self) -> Result<SystemRoots> {
        match self.sysfs.as_deref() {
            None => Ok(SystemRoots::host()),
            Some(dir) if SystemRoots::is_recorded(dir) => Ok(SystemRoots::recorded(dir)),
            Some(dir) => Err(Failure::refused(format!(
                "{} is not a copy of a /sys tree: neither {0}/block nor {0}/sys/block exists",
                dir.display()
            ))),
        }
    }
}
