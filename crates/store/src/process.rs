//! Distinguishes a running session from one whose process died.
//!
//! A process is identified by boot id, process id and start time (field 22 of `/proc/PID/stat`, proc(5)), because
//! process ids are reused.

use std::fs::read_to_string;

/// Identity of this process; empty if `/proc` is missing.
pub(crate) fn current_process() -> String {
    process_identity(std::process::id()).unwrap_or_default()
}

/// True if the process lives on this machine.
pub(crate) fn is_alive(stored: &str) -> bool {
    let number = stored.split(' ').nth(1).and_then(|n| n.parse().ok());
    number.and_then(process_identity).is_some_and(|now| now == stored)
}

fn process_identity(number: u32) -> Option<String> {
    let boot = read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let stat = read_to_string(format!("/proc/{number}/stat")).ok()?;
    // The second field is the program's name in brackets, which may contain any character.
    let (_, fields) = stat.rsplit_once(')')?;
    let state = fields.split_whitespace().next()?;
    let started = fields.split_whitespace().nth(19)?;
    // Z: a zombie, which its parent has not reaped.
    (state != "Z").then(|| format!("{} {number} {started}", boot.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_same_boot_and_start_time_count_as_alive() {
        let me = current_process();
        assert!(is_alive(&me), "{me}");
        assert!(
            !is_alive(&me.replacen(&me[..4], "beef", 1)) && !is_alive(&format!("{me}1")) && !is_alive("")
        );
    }
}
