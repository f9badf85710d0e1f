//! Facts about the target that advice depends on, apart from measurements; shell commands.

use crate::card_map::{AdviceCommand, TriedState};
use crate::present_layout::PresentLayout;
use crate::shell::shell_quote;
use crate::units::KIB;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// Block device, or a file or simulation in place of one.
    #[default]
    Card,
    Partition,
    /// Directory on a mounted file system, where partition and file system cannot change.
    Directory,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct AdviceFacts {
    pub target: String,
    pub bytes: u64,
    pub target_kind: TargetKind,
    pub block_device: bool,
    pub claimed_unit: Option<u64>,
    pub layout: Option<PresentLayout>,
    pub trials: Vec<TriedState>,
}

/// Unit of ext4's stride and stripe width.
pub(super) const EXT4_BLOCK: u64 = 4 * KIB;

pub(super) fn advice_command(what: &str, command: String) -> AdviceCommand {
    AdviceCommand { what: what.to_owned(), command }
}

/// Returns the shell-quoted name of a disk's first partition. As in the kernel, a `p` separates the number if the
/// disk's name ends in a digit.
pub(super) fn first_partition(facts: &AdviceFacts) -> String {
    let target = &facts.target;
    shell_quote(&match (facts.target_kind, target.ends_with(|c: char| c.is_ascii_digit())) {
        (TargetKind::Partition, _) => target.clone(),
        (_, true) => format!("{target}p1"),
        (_, false) => format!("{target}1"),
    })
}
