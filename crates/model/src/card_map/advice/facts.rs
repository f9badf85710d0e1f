//! What advice rests on beside the measurements, and how commands are written.

use crate::card_map::{AdviceCommand, TriedState};
use crate::present_layout::PresentLayout;
use crate::shell::quoted;
use crate::units::KIB;
use serde::{Deserialize, Serialize};

/// Where the I/O went, as far as advice depends on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// A block device, or a file or simulation that stands for one.
    #[default]
    Card,
    /// A partition of a card.
    Partition,
    /// A directory on a mounted file system: partitions and file systems are settled already.
    Directory,
}

/// What is known beside the measurements.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AdviceFacts {
    /// The target as it was named.
    pub target: String,
    /// Bytes that it announces.
    pub bytes: u64,
    /// Where the I/O went.
    pub target_kind: TargetKind,
    /// Whether it is a block device, so that commands on partitions and file systems have something to work on.
    pub block_device: bool,
    /// Allocation unit that the card claims.
    pub claimed_unit: Option<u64>,
    /// What stands on it.
    pub layout: Option<PresentLayout>,
    /// What was tried.
    pub tried: Vec<TriedState>,
}

/// ext4 counts stride and stripe width in blocks of 4 KiB.
pub(super) const EXT4_BLOCK: u64 = 4 * KIB;

pub(super) fn command(what: &str, command: String) -> AdviceCommand {
    AdviceCommand { what: what.to_owned(), command }
}

/// The name of the first partition of a disk, as the kernel makes it: a `p` between where the disk's name ends in a
/// digit. As a shell takes it.
pub(super) fn first_partition(facts: &AdviceFacts) -> String {
    let target = &facts.target;
    quoted(&match (facts.target_kind, target.ends_with(|c: char| c.is_ascii_digit())) {
        (TargetKind::Partition, _) => target.clone(),
        (_, true) => format!("{target}p1"),
        (_, false) => format!("{target}1"),
    })
}
