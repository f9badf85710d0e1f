//! Programs that use a mounted file system by working directory, root, executable or open file (proc(5)), as far as
//! `/proc` may be read, and loop devices over files of it.

use crate::block::BlockDevice;
use crate::system::{SystemRoots, dir_entries, dir_names, read_text};
use std::path::Path;

const MAX_NAMED_USERS: usize = 4;

/// Users of a mount point, worded for a sentence; empty if none is visible.
pub(super) fn mount_users_text(point: &Path) -> String {
    let processes = dir_names("/proc").into_iter().filter(|name| name.bytes().all(|b| b.is_ascii_digit()));
    let mut found: Vec<String> = processes.filter_map(|process| describe_user(&process, point)).collect();
    let loops = BlockDevice::all_disks(&SystemRoots::host()).into_iter();
    let loops =
        loops.filter(|disk| disk.backing_file().is_some_and(|file| Path::new(&file).starts_with(point)));
    found.extend(loops.map(|disk| format!("the loop device /dev/{}", disk.name)));
    let more = found.len().saturating_sub(MAX_NAMED_USERS);
    found.truncate(MAX_NAMED_USERS);
    if more > 0 {
        found.push(format!("{more} more"));
    }
    if found.is_empty() { String::new() } else { format!(" ({})", found.join("; ")) }
}

fn describe_user(process: &str, point: &Path) -> Option<String> {
    let dir = Path::new("/proc").join(process);
    // Reading a link accesses no file system; following it could hang on a dead one.
    let leads_there = |link: &Path| std::fs::read_link(link).is_ok_and(|target| target.starts_with(point));
    let own = ["cwd", "root", "exe"].iter().any(|name| leads_there(&dir.join(name)));
    let uses = own || dir_entries(dir.join("fd")).iter().any(|link| leads_there(link));
    let program = read_text(dir.join("comm")).unwrap_or_else(|| "unknown".to_owned());
    uses.then(|| format!("{program}, process {process}"))
}
