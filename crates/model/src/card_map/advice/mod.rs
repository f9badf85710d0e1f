//! What follows from a map for whoever partitions, formats and uses the card. Pure: figures in, advice out.
//!
//! Nothing is advised that was not measured; where the erase block is not known, the words say which default is safe
//! and why. What the options mean: manuals of mke2fs(8), mkfs.f2fs(8), mkfs.exfat(8), sfdisk(8), mount(8), ext4(5) and
//! the kernel's page on F2FS. That ext4's stride stands for the page and its stripe width for the erase block is the
//! custom of Linaro's flash card survey.

mod facts;
mod layout;
mod speed;
#[cfg(test)]
mod tests;
mod tried;

use super::{MapAdvice, MeasuredMap};

pub use facts::{AdviceFacts, TargetKind};
pub use speed::{smallest_reaching, write_curve};
pub use tried::{AFTER_DISCARD, AS_IT_WAS, apart};

/// Advice from what was measured.
pub fn advise(measured: &MeasuredMap, facts: &AdviceFacts) -> MapAdvice {
    let mut advice = MapAdvice { tried: facts.tried.clone(), ..MapAdvice::default() };
    if facts.target_kind == TargetKind::Directory {
        advice.words.push(
            "Map the card's device for advice on partitions and file systems; in a directory they cannot \
             change."
                .to_owned(),
        );
    } else {
        layout::advise(measured, facts, &mut advice);
    }
    speed::advise(measured, facts, &mut advice);
    tried::advise(facts, &mut advice);
    if !facts.block_device {
        advice.commands.clear();
    }
    advice
}
