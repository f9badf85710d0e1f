//! Mounts of all visible mount namespaces, and swap areas.
//!
//! Formats: `proc_pid_mountinfo(5)` and `proc_swaps(5)`. Mounts of a container are missing in our own table, so those
//! of all other processes are read as far as permitted.

use crate::block::DeviceNumber;
use crate::system::{SystemRoots, dir_names, read_text};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MountEntry {
    /// Mount ID, unique while the mount lasts.
    pub(crate) id: u64,
    /// Device number; anonymous (`0:n`) for btrfs, overlayfs and others.
    pub(crate) number: DeviceNumber,
    pub(crate) point: PathBuf,
    /// File system type, such as `ext4`, `vfat`, `fuse.sshfs`.
    pub(crate) kind: String,
    /// Mounted device, such as `/dev/sda1`, or `tmpfs`.
    pub(crate) source: String,
    /// Options of the file system, such as `rw,compress=zstd:1`.
    pub(crate) options: String,
    pub(crate) in_other_namespace: bool,
}

pub(crate) fn own_mounts(system: &SystemRoots) -> Vec<MountEntry> {
    ["self/mountinfo", "1/mountinfo", "mountinfo"]
        .iter()
        .find_map(|name| read_text(system.proc.join(name)))
        .map(|text| parse_mounts(&text, false))
        .unwrap_or_default()
}

/// Mounts of all namespaces, ours first; each namespace is read once.
pub(crate) fn all_mounts(system: &SystemRoots) -> Vec<MountEntry> {
    let mut mounts = own_mounts(system);
    let mut seen: HashSet<PathBuf> = mount_namespace(&system.proc.join("self")).into_iter().collect();
    for process in dir_names(system.proc).iter().filter(|name| name.bytes().all(|b| b.is_ascii_digit())) {
        let dir = system.proc.join(process);
        if mount_namespace(&dir).is_some_and(|namespace| !seen.insert(namespace)) {
            continue;
        }
        if let Some(text) = read_text(dir.join("mountinfo")) {
            mounts.extend(parse_mounts(&text, true));
        }
    }
    mounts
}

fn mount_namespace(process: &Path) -> Option<PathBuf> {
    std::fs::read_link(process.join("ns/mnt")).ok()
}

pub(crate) fn parse_mounts(text: &str, elsewhere: bool) -> Vec<MountEntry> {
    text.lines().filter_map(|line| parse_mount(line, elsewhere)).collect()
}

fn parse_mount(line: &str, elsewhere: bool) -> Option<MountEntry> {
    // 36 35 98:0 /root /point rw,noatime [optional fields …] - ext3 /dev/root rw,errors=continue
    let (place, what) = line.split_once(" - ")?;
    let mut place = place.split(' ');
    let id = place.next()?.parse().unwrap_or_default();
    let mut place = place.skip(1);
    let number = DeviceNumber::parse(place.next()?)?;
    let point = PathBuf::from(unescape(place.nth(1)?));
    let mut what = what.split(' ');
    Some(MountEntry {
        id,
        number,
        point,
        kind: what.next()?.to_owned(),
        source: unescape(what.next().unwrap_or_default()),
        options: what.next().unwrap_or_default().to_owned(),
        in_other_namespace: elsewhere,
    })
}

pub(crate) fn swap_paths(system: &SystemRoots) -> Vec<PathBuf> {
    let Some(text) = read_text(system.proc.join("swaps")) else { return Vec::new() };
    text.lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next())
        .map(|path| PathBuf::from(unescape(path)))
        .collect()
}

/// Mount of a path: the longest matching mount point, the last of equals.
pub(crate) fn mount_of<'a>(mounts: &'a [MountEntry], path: &Path) -> Option<&'a MountEntry> {
    mounts
        .iter()
        .filter(|mount| !mount.in_other_namespace && path.starts_with(&mount.point))
        .max_by_key(|mount| mount.point.as_os_str().len())
}

/// Decodes the kernel's octal escapes of blanks and backslashes (`\040`).
fn unescape(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let escaped = (first == b'\\').then(|| tail.get(..3)).flatten().and_then(parse_octal);
        out.push(escaped.unwrap_or(first));
        rest = if escaped.is_some() { &tail[3..] } else { tail };
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn parse_octal(digits: &[u8]) -> Option<u8> {
    let text = std::str::from_utf8(digits).ok()?;
    u8::from_str_radix(text, 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LINE: &str = "36 35 8:1 / /media/My\\040Card rw,noatime shared:1 master:2 - vfat /dev/sda1 rw,utf8";

    #[test]
    fn mount_point_with_blank_is_decoded() {
        let mounts = parse_mounts(LINE, false);
        assert_eq!(mounts[0].point, Path::new("/media/My Card"));
        assert_eq!((mounts[0].kind.as_str(), mounts[0].source.as_str()), ("vfat", "/dev/sda1"));
        assert_eq!(mounts[0].number, DeviceNumber { major: 8, minor: 1 });
    }

    #[test]
    fn path_belongs_to_innermost_mount() {
        let root = "1 0 8:2 / / rw - ext4 /dev/sda2 rw";
        let mounts = parse_mounts(&format!("{root}\n{LINE}"), false);
        assert_eq!(mount_of(&mounts, Path::new("/media/My Card/x")).unwrap().kind, "vfat");
        assert_eq!(mount_of(&mounts, Path::new("/media/My Cards")).unwrap().kind, "ext4");
    }

    #[test]
    fn last_mount_on_one_point_wins() {
        let mounts = parse_mounts("1 0 8:2 / /a rw - ext4 x rw\n2 0 8:3 / /a rw - xfs y rw", false);
        assert_eq!(mount_of(&mounts, Path::new("/a/b")).unwrap().kind, "xfs");
    }

    proptest! {
        #[test]
        fn garbage_in_mountinfo_never_panics(text in "\\PC*", tail in "[ -~\\\\\n]{0,200}") {
            parse_mounts(&format!("{text} - {tail}"), false);
            parse_mounts(&format!("1 2 3:4 / {text} - {tail}"), true);
        }
    }
}
