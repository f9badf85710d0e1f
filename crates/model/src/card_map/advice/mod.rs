//! What follows from a map for whoever partitions, formats and uses the card. Pure: figures in, advice out.
//!
//! Nothing is advised that was not measured; where the erase block is not known, the words say which default is safe
//! and why. What the options mean: manuals of mke2fs(8), mkfs.f2fs(8), mkfs.exfat(8), sfdisk(8), mount(8), ext4(5) and
//! the kernel's page on F2FS. That ext4's stride stands for the page and its stripe width for the erase block is the
//! custom of Linaro's flash card survey.

mod layout;
mod speed;
#[cfg(test)]
mod tests;
mod tried;

use super::{Advice, Command, Measured, Tried};
use crate::present_layout::PresentLayout;
use serde::{Deserialize, Serialize};

pub use speed::{smallest_reaching, write_curve};
pub use tried::{AFTER_DISCARD, AS_IT_WAS, apart};

/// Where the I/O went, as far as advice depends on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
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
pub struct Facts {
    /// The target as it was named.
    pub target: String,
    /// Bytes that it announces.
    pub bytes: u64,
    /// Where the I/O went.
    pub place: Place,
    /// Allocation unit that the card claims.
    pub claimed_unit: Option<u64>,
    /// What stands on it.
    pub layout: Option<PresentLayout>,
    /// What was tried.
    pub tried: Vec<Tried>,
}

/// Advice from what was measured.
#[must_use]
pub fn advise(measured: &Measured, facts: &Facts) -> Advice {
    let mut advice = Advice { tried: facts.tried.clone(), ..Advice::default() };
    if facts.place == Place::Directory {
        advice.words.push(
            "Partitions and file systems are settled where a directory is named, and its file system decides where data go: name the card's device for advice on those.".to_owned(),
        );
    } else {
        layout::advise(measured, facts, &mut advice);
    }
    speed::advise(measured, facts, &mut advice);
    tried::advise(facts, &mut advice);
    if facts.place == Place::Card && !facts.target.starts_with("/dev/") && !advice.commands.is_empty() {
        advice.words.push(format!(
            "The commands want a device: put the card's (`cardscope list`) in place of {}.",
            facts.target
        ));
    }
    advice
}

/// A speed with its unit, with two digits at least where it is small.
pub(super) fn speed(mb_s: f64) -> String {
    let digits = if mb_s < 0.1 { 4 } else { 2 };
    format!("{mb_s:.digits$} MB/s")
}

/// A name as a shell takes it.
/// A name as a shell takes it.
#[must_use]
pub fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:+=,@%".contains(c);
    if name.chars().all(plain) { name.to_owned() } else { format!("'{}'", name.replace('\'', "'\\''")) }
}

fn command(what: &str, command: String) -> Command {
    Command { what: what.to_owned(), command }
}

/// The name of the first partition of a disk, as the kernel makes it: a `p` between where the disk's name ends in a
/// digit. As a shell takes it.
fn first_partition(facts: &Facts) -> String {
    let target = &facts.target;
    quoted(&match (facts.place, target.ends_with(|c: char| c.is_ascii_digit())) {
        (Place::Partition, _) => target.clone(),
        (_, true) => format!("{target}p1"),
        (_, false) => format!("{target}1"),
    })
}
