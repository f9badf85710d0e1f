//! The kernel (io_uring, its age, whether it runs in a virtual machine, quirks that somebody has set), and the tools and
//! drivers that some verbs need.

use crate::format;
use cardscope_device::system::System;
use cardscope_device::{host, vitals};
use cardscope_engine::real::io_uring_allowed;
use cardscope_model::doctor::{Point, State, Topic};
use std::path::Path;

/// First kernel that numbers the coming of disks, by which a swapped card is noticed (`diskseq`).
const NUMBERS_DISKS: (u32, u32) = (5, 15);

pub(super) fn points(system: &System) -> Vec<Point> {
    let mut points = vec![io_uring(system), age(system), machine(system)];
    points.extend(quirks(system));
    points.extend(helpers(system));
    points
}

fn io_uring(system: &System) -> Point {
    let point = Topic::Kernel.asks("io-uring", "deep queues are kept by io_uring; without it threads keep them, which costs processor time and understates fast cards");
    let setting = vitals::io_uring_disabled(system);
    let allow = "sudo sysctl kernel.io_uring_disabled=0";
    if !system.is_live() {
        return match setting {
            None => point.is(State::Unknown, "the recording does not tell"),
            Some(0) => point.is(State::Ok, "allowed"),
            Some(n) => point.is(State::Warn, format!("kernel.io_uring_disabled is {n}")).advise(allow),
        };
    }
    match (io_uring_allowed(), setting) {
        (Ok(()), _) => point.is(State::Ok, "allowed"),
        (Err(_), Some(n @ 1..)) => point.is(State::Warn, format!("kernel.io_uring_disabled is {n}")).advise(allow),
        (Err(error), _) => point.is(State::Warn, format!("refused: {error}")).advise(
            "a container's seccomp profile is the usual reason: run outside of it, or with --security-opt seccomp=unconfined",
        ),
    }
}

fn age(system: &System) -> Point {
    let why = "a kernel before 5.15 does not number the coming of disks: a card that is swapped for one of the same size during a test is not noticed";
    let point = Topic::Kernel.asks("kernel", why);
    let Some(release) = host::kernel(system) else {
        return point.is(State::Unknown, "unknown");
    };
    match version(&release) {
        Some(version) if version >= NUMBERS_DISKS => point.is(State::Ok, release),
        Some(_) => point
            .is(State::Warn, release)
            .advise("do not swap cards during a test; a newer kernel would notice"),
        None => point.is(State::Unknown, release),
    }
}

fn version(release: &str) -> Option<(u32, u32)> {
    let mut parts = release.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

fn machine(system: &System) -> Point {
    let why = "in a virtual machine each I/O and each timer goes through its host, whose caches and other guests take part";
    let point = Topic::Kernel.asks("machine", why);
    match vitals::hypervisor(system) {
        None => point.is(State::Ok, "no virtual machine"),
        Some(found) => {
            let name = found.name.map_or_else(String::new, |name| format!(" ({name})"));
            point
                .is(State::Warn, format!("a virtual machine{name}"))
                .advise("measure on the host itself; or compare only with results of this machine")
        }
    }
}

/// `usb-storage.quirks` can turn UAS off, and with it the queue.
fn quirks(system: &System) -> Option<Point> {
    let set = vitals::module_parameter(system, "usb_storage", "quirks").filter(|text| text.contains(':'))?;
    let seen = format!("usb-storage.quirks={set}");
    let why = "quirks change how the kernel speaks to a reader; `u` turns UAS off, and with it the queue";
    Some(
        Topic::Kernel
            .asks("usb-quirks", why)
            .is(State::Warn, seen)
            .advise("take it from the kernel's command line or /etc/modprobe.d unless the reader needs it"),
    )
}

/// A tool, what it would give, and the Debian package that has it.
const TOOLS: &[(&str, &str, &str)] = &[
    ("mkfs.fat", "`format` makes FAT on cards up to 32 GB", "dosfstools"),
    ("mkfs.exfat", "`format` makes exFAT on larger cards, and `map` tries small writes on it", "exfatprogs"),
    ("mkfs.ext4", "`map` tries small writes on ext4", "e2fsprogs"),
    ("mkfs.f2fs", "`map` tries small writes on F2FS", "f2fs-tools"),
    ("mkfs.nilfs2", "`map` tries small writes on NILFS2", "nilfs-tools"),
    ("fusermount3", "`sim serve` serves a simulated card without root", "fuse3"),
];

fn helpers(system: &System) -> Vec<Point> {
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
    let point = Topic::Helpers.asks("tools", why);
    if missing.is_empty() {
        return point.is(State::Ok, format!("all {} are there", TOOLS.len()));
    }
    let seen: Vec<String> = missing.iter().map(|(tool, gives, _)| format!("{tool} ({gives})")).collect();
    let packages: Vec<&str> = missing.iter().map(|(_, _, package)| *package).collect();
    point
        .is(State::Warn, format!("missing: {}", seen.join(", ")))
        .advise(format!("sudo apt install {}", packages.join(" ")))
}

fn fuse(system: &System) -> Point {
    let why = "a simulated card is served to other programs through FUSE";
    let point = Topic::Helpers.asks("fuse", why);
    if Path::new("/dev/fuse").exists() || vitals::file_systems(system).iter().any(|name| name == "fuse") {
        return point.is(State::Ok, "the kernel has it");
    }
    point.is(State::Warn, "the kernel has no FUSE").advise("sudo modprobe fuse; or use `sim serve --nbd`")
}

fn nvme(system: &System) -> Point {
    let point = Topic::Helpers.asks("nvme-driver", "SD Express cards speak NVMe");
    if vitals::nvme_driver(system) {
        return point.is(State::Ok, "the kernel has it at hand");
    }
    let seen = "not loaded; it comes by itself with the first NVMe card where the kernel has it";
    point.is(State::Unknown, seen).advise("sudo modprobe nvme")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_compared_by_number() {
        assert_eq!(version("6.12.25+rpt-rpi-2712"), Some((6, 12)));
        assert!(version("5.4.0-42-generic").unwrap() < NUMBERS_DISKS);
        assert!(version("5.15.0").unwrap() >= NUMBERS_DISKS && version("10.0").unwrap() >= NUMBERS_DISKS);
        assert_eq!(version("unknown"), None);
    }

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
