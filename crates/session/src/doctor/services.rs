//! Programs that are known to disturb: those that mount what comes, read what is mounted, or trim what is idle.

use cardscope_device::system::System;
use cardscope_device::vitals;
use cardscope_model::doctor::{Point, State, Topic};

/// Beginning of a program's name as `/proc/N/comm` has it (15 letters at most), what it does, and how to stop it.
const DISTURBERS: &[(&str, &str, &str)] = &[
    (
        "gvfs-udisks2-vo",
        "mounts cards as they come",
        "gsettings set org.gnome.desktop.media-handling automount false",
    ),
    ("udiskie", "mounts cards as they come", "pkill udiskie"),
    ("usbmount", "mounts cards as they come", "sudo systemctl mask usbmount"),
    ("tracker-miner", "reads every file of a mounted card", "tracker3 daemon --terminate"),
    ("localsearch", "reads every file of a mounted card", "localsearch daemon --terminate"),
    ("baloo_file", "reads every file of a mounted card", "balooctl6 suspend"),
    ("updatedb", "walks through every file", "wait for its end, or sudo pkill updatedb"),
    (
        "fstrim",
        "discards what is free on mounted cards",
        "wait for its end; sudo systemctl stop fstrim.timer",
    ),
    ("smartd", "asks disks for their health every half hour", "sudo systemctl stop smartd"),
    ("fsck", "checks a file system", "wait for its end"),
    ("dd", "copies", "wait for its end"),
    ("fio", "measures", "wait for its end"),
    ("badblocks", "reads or writes a whole disk", "wait for its end"),
    ("f3write", "fills a card", "wait for its end"),
    ("f3read", "reads a card", "wait for its end"),
    ("f3probe", "probes a card", "wait for its end"),
    ("unattended-upgr", "installs updates", "wait for its end, or sudo systemctl stop unattended-upgrades"),
    ("packagekitd", "may install updates", "sudo systemctl stop packagekit"),
];

pub(super) fn points(system: &System) -> Vec<Point> {
    let why = "I/O of others on the card, its reader or the processor goes into the figures";
    let point = Topic::Services.asks("services", why);
    let running = vitals::programs(system);
    if running.is_empty() {
        return vec![point.is(State::Unknown, "no program is shown")];
    }
    let found: Vec<Point> = DISTURBERS
        .iter()
        .filter_map(|(name, does, stop)| {
            let program = running.iter().find(|program| is(program, name))?;
            let seen = format!("{program} runs: it {does}");
            Some(point.is(State::Warn, seen).advise(*stop))
        })
        .collect();
    if !found.is_empty() {
        return found;
    }
    vec![point.is(State::Ok, "nothing that is known to disturb")]
}

/// Short names must be whole, others may go on (`tracker-miner-fs-3`, `fsck.ext4`).
fn is(program: &str, name: &str) -> bool {
    program == name || (name.len() > 3 && program.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_to_fifteen_letters_by_the_kernel_and_found_so() {
        assert!(DISTURBERS.iter().all(|(name, _, _)| name.len() <= 15));
        assert!(is("tracker-miner-f", "tracker-miner") && is("fsck.ext4", "fsck") && is("dd", "dd"));
        assert!(!is("ddrescue", "dd") && !is("fiona", "fio"));
    }
}
