//! Tools and drivers that some verbs need, and what each would give.

use cardscope_device::system::System;
use cardscope_device::vitals;
use cardscope_model::doctor::{Point, State, Topic};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Where administrators' tools lie when the user's search path does not lead there.
const ALSO: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/// A tool, what it would give, and the Debian package that has it.
const TOOLS: &[(&str, &str, &str)] = &[
    ("mkfs.ext4", "`map` tries small writes on ext4", "e2fsprogs"),
    ("mkfs.f2fs", "`map` tries small writes on F2FS", "f2fs-tools"),
    ("mkfs.exfat", "`map` tries exFAT", "exfatprogs"),
    ("mkfs.vfat", "`map` tries FAT", "dosfstools"),
    ("mkfs.nilfs2", "`map` tries small writes on NILFS2", "nilfs-tools"),
    ("fusermount3", "`sim serve` serves a simulated card without root", "fuse3"),
];

pub(super) fn points(system: &System) -> Vec<Point> {
    let mut points = Vec::new();
    if system.is_live() {
        points.push(tools());
        points.push(fuse(system));
    }
    points.push(nvme(system));
    points
}

fn tools() -> Point {
    let missing: Vec<_> = TOOLS.iter().filter(|(tool, _, _)| find(tool).is_none()).collect();
    let why = "some verbs use the tools of others; without one, they say so and leave its part out";
    if missing.is_empty() {
        return Point::new("tools", Topic::Helpers, State::Ok, format!("all {} are there", TOOLS.len()), why);
    }
    let seen: Vec<String> = missing.iter().map(|(tool, gives, _)| format!("{tool} ({gives})")).collect();
    let packages: Vec<&str> = missing.iter().map(|(_, _, package)| *package).collect();
    Point::new("tools", Topic::Helpers, State::Warn, format!("missing: {}", seen.join(", ")), why)
        .advise(format!("sudo apt install {}", packages.join(" ")))
}

fn find(tool: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).chain(ALSO.iter().map(PathBuf::from));
    places.map(|dir| dir.join(tool)).find(|file| runs(file))
}

fn runs(file: &Path) -> bool {
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

fn fuse(system: &System) -> Point {
    let why = "a simulated card is served to other programs through FUSE";
    let new = |state, seen: &str| Point::new("fuse", Topic::Helpers, state, seen, why);
    if Path::new("/dev/fuse").exists() || vitals::file_systems(system).iter().any(|name| name == "fuse") {
        return new(State::Ok, "the kernel has it");
    }
    new(State::Warn, "the kernel has no FUSE").advise("sudo modprobe fuse; or use `sim serve --nbd`")
}

fn nvme(system: &System) -> Point {
    let why = "SD Express cards speak NVMe";
    if vitals::nvme_driver(system) {
        return Point::new("nvme-driver", Topic::Helpers, State::Ok, "the kernel has it at hand", why);
    }
    let seen = "not loaded; it comes by itself with the first NVMe card where the kernel has it";
    Point::new("nvme-driver", Topic::Helpers, State::Unknown, seen, why).advise("sudo modprobe nvme")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_found_and_what_is_none_is_not() {
        assert!(find("sh").is_some());
        assert!(find("no-such-tool-at-all").is_none());
    }
}
