//! Advice for partitioning, formatting and mounting a card, computed from its map. No I/O.
//!
//! Only measured properties lead to advice; if the erase block is unknown, the text names a safe default and the
//! reason. Options: manuals of mke2fs(8), mkfs.f2fs(8), mkfs.exfat(8), sfdisk(8), mount(8), ext4(5) and the kernel's
//! page on F2FS. Linaro's flash card survey uses ext4's stride for the page and its stripe width for the erase block.

mod layout;
mod speed;
#[cfg(test)]
mod tests;

use super::{MapAdvice, MeasuredMap, TriedState};

pub use super::{AdviceFacts, TargetKind};
pub use speed::{smallest_reaching, write_curve};

/// Computes the advice.
pub fn advise_for_map(measured: &MeasuredMap, facts: &AdviceFacts) -> MapAdvice {
    let mut advice = MapAdvice { tried: facts.trials.clone(), ..MapAdvice::default() };
    if facts.target_kind == TargetKind::Directory {
        advice.words.push(
            "Map the card's device for advice on partitions and file systems; in a directory they cannot change."
                .to_owned(),
        );
    } else {
        layout::advise_layout(measured, facts, &mut advice);
    }
    speed::advise_use(measured, facts, &mut advice);
    advise_from_trials(facts, &mut advice);
    // The commands partition, format or mount, which only works on a block device.
    if !facts.block_device {
        advice.commands.clear();
    }
    advice
}

/// Name of the first measurement, on the bare card before discard.
pub const BEFORE_DISCARD: &str = "as it was";
/// Name of the measurement on the bare card after discard.
pub const AFTER_DISCARD: &str = "after discard";

/// Returns true if the second is faster, false if slower, and None if the intervals overlap or one is missing.
pub fn compare_trials(first: &TriedState, second: &TriedState) -> Option<bool> {
    let ((low, high), (other_low, other_high)) = (first.ci95?, second.ci95?);
    (other_low > high || other_high < low).then_some(other_low > high)
}

/// Adds advice from the measured effects of discard and file systems. An effect counts only if the 95 % intervals do
/// not overlap.
fn advise_from_trials(facts: &AdviceFacts, advice: &mut MapAdvice) {
    let tried = &facts.trials;
    let named = |what: &str| tried.iter().find(|t| t.what == what);
    if let Some(after) = named(AFTER_DISCARD) {
        advise_discard(named(BEFORE_DISCARD), after, advice);
    }
    let is_bare = |t: &&TriedState| [BEFORE_DISCARD, AFTER_DISCARD].contains(&t.what.as_str());
    let others: Vec<&TriedState> = tried.iter().filter(|t| !is_bare(t)).collect();
    if !others.is_empty() {
        advise_file_systems(&others, advice);
    }
}

fn advise_discard(before: Option<&TriedState>, after: &TriedState, advice: &mut MapAdvice) {
    if let Some(reason) = &after.reason {
        advice.words.push(format!("Discard was not tested: {reason}."));
        return;
    }
    let Some(before) = before else { return };
    let (Some(was), Some(is)) = (trial_figures(before), trial_figures(after)) else { return };
    match compare_trials(before, after) {
        Some(true) => {
            advice.words.push(format!(
                "Run fstrim weekly (fstrim.timer): small writes reach {is} after a discard and {was} before. Leave out the \
                 mount option discard, which can stall the card."
            ));
            let weekly = "systemctl enable --now fstrim.timer".to_owned();
            advice.add_command("discard free space every week:", weekly);
        }
        Some(false) => advice.words.push(format!(
            "Mount without discard and leave fstrim.timer off: small writes reach {is} after a discard and {was} before."
        )),
        None => advice.words.push(format!(
            "Discard does not change the speed: small writes reach {was} before and {is} after it, and the intervals overlap."
        )),
    }
}

fn trial_figures(tried: &TriedState) -> Option<String> {
    let iops = tried.iops?;
    let interval = tried.ci95.map_or_else(String::new, |(low, high)| format!(" ({low:.1} to {high:.1})"));
    let longest = tried.longest_s.map_or_else(String::new, |s| format!(", the longest {s:.2} s"));
    Some(format!("{iops:.1} per second{interval}{longest}"))
}

fn advise_file_systems(others: &[&TriedState], advice: &mut MapAdvice) {
    let row = |t: &&TriedState| Some(format!("{} {}", t.what, trial_figures(t)?));
    let rows = others.iter().filter_map(row).collect::<Vec<_>>().join("; ");
    let untested = |t: &&TriedState| Some(format!("{} was not tested: {}.", t.what, t.reason.as_ref()?));
    advice.words.extend(others.iter().filter_map(untested));
    let mut measured: Vec<&&TriedState> = others.iter().filter(|t| t.iops.is_some()).collect();
    measured.sort_by(|a, b| b.iops.partial_cmp(&a.iops).unwrap_or(std::cmp::Ordering::Equal));
    let [best, rest @ ..] = measured.as_slice() else { return };
    let Some(next) = rest.first() else {
        advice.words.push(format!("Only one file system was tested: {rows}."));
        return;
    };
    advice.words.push(match compare_trials(next, best) {
        Some(true) => format!("Use {}, the fastest for small writes: {rows}.", best.what),
        _ => format!("All file systems are equally fast for small writes: {rows}; the intervals overlap."),
    });
}
