//! Tools and drivers that some verbs need, and what each would give.

use crate::format;
use cardscope_device::system::System;
use cardscope_device::vitals;
use cardscope_model::doctor::{Point, State, Topic};
use std::path::Path;

/// A tool, what it would give, and the Debian package that has it.
const TOOLS: &[(&str, &str, &str)] = &[
    ("mkfs.fat", "`format` makes FAT on cards up to 32 GB", "dosfstools"),
    ("mkfs.exfat", "`format` makes exFAT on larger cards, and `map` tries small writes on it", "exfatprogs"),
    ("mkfs.ext4", "`map` tries small writes on ext4", "e2fsprogs"),
    ("mkfs.f2fs", "`map` tries small writes on F2FS", "f2fs-tools"),
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
    let missing: Vec<_> = TOOLS.iter().filter(|(tool, _, _)| format::find(tool).is_none()).collect();
    let why = "some verbs use the tools of others; without one, they say so and leave its part out";
    if missing.is_empty() {
        return Point::new("tools", Topic::Helpers, State::Ok, format!("all {} are there", TOOLS.len()), why);
    }
    let seen: Vec<String> = missing.iter().map(|(tool, gives, _)| format!("{tool} ({gives})")).collect();
    let packages: Vec<&str> = missing.iter().map(|(_, _, package)| *package).collect();
    Point::new("tools", Topic::Helpers, State::Warn, format!("missing: {}", seen.join(", ")), why)
        .advise(format!("sudo apt install {}", packages.join(" ")))
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
    fn what_a_missing_tool_would_give_is_what_the_verbs_do_with_it() {
        let gives = |tool: &str| TOOLS.iter().find(|(name, _, _)| *name == tool).map(|(_, gives, _)| *gives);
        for tool in ["mkfs.ext4", "mkfs.f2fs", "mkfs.nilfs2", "mkfs.exfat"] {
            assert!(gives(tool).is_some_and(|gives| gives.contains("`map`")), "{tool}");
        }
        let fat = gives("mkfs.fat").unwrap();
        assert!(fat.contains("`format`") && !fat.contains("map"), "{fat}");
    }
}
