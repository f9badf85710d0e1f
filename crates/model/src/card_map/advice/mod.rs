//! Advice for partitioning, formatting and mounting a card, computed from its map. No I/O.
//!
//! Only measured properties lead to advice; if the erase block is unknown, the text names a safe default and the
//! reason. Options: manuals of mke2fs(8), mkfs.f2fs(8), mkfs.exfat(8), sfdisk(8), mount(8), ext4(5) and the kernel's
//! page on F2FS. Linaro's flash card survey uses ext4's stride for the page and its stripe width for the erase block.

mod layout;
mod speed;
#[cfg(test)]
mod tests;
mod trials;

use super::{MapAdvice, MeasuredMap};

pub use super::{AdviceFacts, TargetKind};
pub use speed::{smallest_reaching, write_curve};
pub use trials::{AFTER_DISCARD, BEFORE_DISCARD, compare_trials};

/// Computes the advice.
pub fn advise_for_map(measured: &MeasuredMap, facts: &AdviceFacts) -> MapAdvice {
    let mut advice = MapAdvice { tried: facts.trials.clone(), ..MapAdvice::default() };
    if facts.target_kind == TargetKind::Directory {
        advice.words.push(
            "Map the card's device for advice on partitions and file systems; in a directory they cannot \
             change."
                .to_owned(),
        );
    } else {
        layout::advise_layout(measured, facts, &mut advice);
    }
    speed::advise_use(measured, facts, &mut advice);
    trials::advise_from_trials(facts, &mut advice);
    // The commands partition, format or mount, which only works on a block device.
    if !facts.block_device {
        advice.commands.clear();
    }
    advice
}
