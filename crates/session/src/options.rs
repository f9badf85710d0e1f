//! Options that several verbs have, each described once. A verb for which one means something more says so with `mut_arg`.

use crate::arguments::size;
use crate::error::{Failure, Result};
use crate::option_json;
use cardscope_device::system::SystemRoots;
use cardscope_model::condition::Condition;
use clap::Args;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Where the archive is.
#[derive(Debug, Clone, Default, Args)]
pub struct ArchiveAt {
    /// Archive to store the results in: a file, or postgres://... [default: in the XDG data folder]
    #[arg(long, value_name = "FILE|URL", env = "CARDSCOPE_ARCHIVE", hide_env_values = true)]
    pub archive: Option<PathBuf>,
}

impl ArchiveAt {
    /// The archive that is named; `None` is the user's own.
    pub fn named(&self) -> Option<&Path> {
        self.archive.as_deref()
    }
}

/// What the user states of card and rig.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub struct ConditionOptions {
    /// Condition of the card and its setup, e.g. reader=internal (repeatable)
    #[arg(long = "condition", value_name = "KEY=VALUE")]
    pub conditions: Vec<String>,
}

impl ConditionOptions {
    /// The condition that they make.
    ///
    /// # Errors
    /// A refusal: a word that is not known, or a value that it cannot have.
    pub fn stated(&self) -> Result<Condition> {
        let mut stated = Condition::default();
        self.conditions.iter().try_for_each(|text| stated.state(text)).map_err(Failure::refused)?;
        Ok(stated)
    }
}

/// Consent that is given before anybody is asked, and the card that it is for.
#[derive(Debug, Clone, Default, Args)]
pub struct GivenConsent {
    /// Agree to lose the data on TARGET without being asked; must equal TARGET as typed
    #[arg(long, value_name = "TARGET")]
    pub yes_destroy: Option<String>,
    /// Test TARGET only while it holds this very card, named as the field "object" of `cardscope list --json`
    #[arg(long, value_name = "OBJECT")]
    pub object: Option<String>,
}

/// How much may be written.
#[derive(Debug, Clone, Copy, Default, Args, Serialize, Deserialize)]
pub struct WriteLimit {
    /// Write at most this much, restoring not counted, e.g. 4G [default: 256M in a directory on the disk that
    /// holds
    /// the running system]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    #[serde(with = "option_json")]
    pub max_write: Option<u64>,
}

/// Which machine is looked at.
#[derive(Debug, Clone, Default, Args)]
pub struct MachineOptions {
    /// Read this copy of a machine's /sys tree instead of the live one
    #[arg(long, value_name = "DIR")]
    pub sysfs: Option<PathBuf>,
}

impl MachineOptions {
    /// This machine, or the copy of another one's `/sys` tree.
    ///
    /// # Errors
    /// A refusal: the folder holds no such copy.
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
