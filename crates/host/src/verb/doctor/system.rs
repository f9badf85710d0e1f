//! Kernel (io_uring, version, virtual machine, USB quirks), tools and drivers that some verbs need, programs that
//! disturb tests (automounters, indexers, trimmers), and permissions. Capabilities: `capabilities(7)`.

use cardscope_device::permission::can_request;
use cardscope_device::system::SystemRoots;
use cardscope_device::{host, vitals};
use cardscope_engine::real::check_io_uring;
use cardscope_model::device::DeviceInfo;
use cardscope_model::doctor::{DoctorPoint, DoctorTopic, PointState};
use cardscope_session::file_system_tool::find_tool;
use rustix::fs::{Access, access};
use std::path::Path;

/// First kernel that numbers inserted disks (`diskseq`), which reveals a swapped card.
const NUMBERS_DISKS: (u32, u32) = (5, 15);

pub(super) fn points(system: &SystemRoots, cards: &[DeviceInfo]) -> Vec<DoctorPoint> {
    let mut points = vec![io_uring_point(system), kernel_version_point(system)];
    points.push(virtual_machine_point(system));
    points.extend(permission_points(system, cards));
    points.extend(service_points(system));
    points.extend(usb_quirks_point(system));
    points.extend(helper_points(system));
    points
}

fn io_uring_point(system: &SystemRoots) -> DoctorPoint {
    let why = "without io_uring, threads emulate deep queues, which takes processor time and understates \
               fast cards";
    let point = DoctorTopic::Kernel.define_point("io-uring", why);
    let setting = vitals::io_uring_disabled(system);
    let allow = "sudo sysctl kernel.io_uring_disabled=0";
    let container = "run outside of the container, or with --security-opt seccomp=unconfined";
    if !system.is_live() {
        return match setting {
            None => point.unknown("not in the recording"),
            Some(0) => point.ok("allowed"),
            Some(n) => point.warn(format!("kernel.io_uring_disabled is {n}"), allow),
        };
    }
    match (check_io_uring(), setting) {
        (Ok(()), _) => point.ok("allowed"),
        (Err(_), Some(n @ 1..)) => point.warn(format!("kernel.io_uring_disabled is {n}"), allow),
        (Err(error), _) => point.warn(format!("refused: {error}"), container),
    }
}

fn kernel_version_point(system: &SystemRoots) -> DoctorPoint {
    let why = "kernels before 5.15 do not report a card swapped for one of the same size during a test";
    let point = DoctorTopic::Kernel.define_point("kernel", why);
    let Some(release) = host::kernel_release(system) else {
        return point.unknown("unknown");
    };
    match parse_release(&release) {
        Some(version) if version >= NUMBERS_DISKS => point.ok(release),
        Some(_) => point.warn(release, "do not swap cards during a test, or use a newer kernel"),
        None => point.unknown(release),
    }
}

/// Major and minor number of a kernel release.
fn parse_release(release: &str) -> Option<(u32, u32)> {
    let mut parts = release.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

fn virtual_machine_point(system: &SystemRoots) -> DoctorPoint {
    let why = "in a virtual machine each I/O and timer goes through the host and its caches";
    let point = DoctorTopic::Kernel.define_point("machine", why);
    match vitals::detect_hypervisor(system) {
        None => point.ok("none"),
        Some(found) => {
            let name = found.name.map_or_else(String::new, |name| format!(" ({name})"));
            let advice = "measure on the host itself, or compare only with results of this machine";
            point.warn(format!("a virtual machine{name}"), advice)
        }
    }
}

/// USB quirks. `usb-storage.quirks` can turn off UAS and its queue.
fn usb_quirks_point(system: &SystemRoots) -> Option<DoctorPoint> {
    let set = vitals::module_parameter(system, "usb_storage", "quirks").filter(|text| text.contains(':'))?;
    let why = "quirks change how the kernel drives a reader; `u` turns off UAS and its queue";
    let advice = "remove it from the kernel command line or /etc/modprobe.d unless the reader needs it";
    let point = DoctorTopic::Kernel.define_point("usb-quirks", why);
    Some(point.warn(format!("usb-storage.quirks={set}"), advice))
}

/// Tools with their use and Debian package.
const TOOLS: &[(&str, &str, &str)] = &[
    ("mkfs.fat", "`format` makes FAT on cards up to 32 GB", "dosfstools"),
    ("mkfs.exfat", "`format` makes exFAT on larger cards, and `map` tries small writes on it", "exfatprogs"),
    ("mkfs.ext4", "`map` tries small writes on ext4", "e2fsprogs"),
    ("mkfs.f2fs", "`map` tries small writes on F2FS", "f2fs-tools"),
    ("mkfs.nilfs2", "`map` tries small writes on NILFS2", "nilfs-tools"),
    ("fusermount3", "`sim serve` serves a simulated card without root", "fuse3"),
];

fn helper_points(system: &SystemRoots) -> Vec<DoctorPoint> {
    let mut points = Vec::new();
    if system.is_live() {
        points.extend([tools_point(), fuse_point(system)]);
    }
    points.push(nvme_point(system));
    points
}

fn tools_point() -> DoctorPoint {
    let missing: Vec<_> = TOOLS.iter().filter(|(tool, _, _)| find_tool(tool).is_none()).collect();
    let why = "some verbs use these tools, and skip a test without them";
    let point = DoctorTopic::Helpers.define_point("tools", why);
    if missing.is_empty() {
        return point.ok(format!("all {} installed", TOOLS.len()));
    }
    let seen: Vec<String> = missing.iter().map(|(tool, gives, _)| format!("{tool} ({gives})")).collect();
    let packages: Vec<&str> = missing.iter().map(|(_, _, package)| *package).collect();
    point.warn(format!("missing: {}", seen.join(", ")), format!("sudo apt install {}", packages.join(" ")))
}

fn fuse_point(system: &SystemRoots) -> DoctorPoint {
    let why = "simulated cards are served to other programs through FUSE";
    let point = DoctorTopic::Helpers.define_point("fuse", why);
    if Path::new("/dev/fuse").exists() || vitals::file_systems(system).iter().any(|name| name == "fuse") {
        return point.ok("available");
    }
    point.warn("missing in the kernel", "sudo modprobe fuse; or use `sim serve --nbd`")
}

fn nvme_point(system: &SystemRoots) -> DoctorPoint {
    let point = DoctorTopic::Helpers.define_point("nvme-driver", "SD Express cards use NVMe");
    if vitals::has_nvme_driver(system) {
        return point.ok("available");
    }
    let seen = "not loaded; it comes by itself with the first NVMe card where available";
    point.unknown(seen).with_advice("sudo modprobe nvme")
}

const MOUNTS_CARDS: &str = "mounts cards as they come";
const READS_FILES: &str = "reads every file of a mounted card";
const WAIT_FOR_END: &str = "wait until it finishes";

/// Programs that disturb tests: prefix of the name in `/proc/N/comm` (at most 15 bytes), effect, and how to stop it.
const DISTURBERS: &[(&str, &str, &str)] = &[
    ("gvfs-udisks2-vo", MOUNTS_CARDS, "gsettings set org.gnome.desktop.media-handling automount false"),
    ("udiskie", MOUNTS_CARDS, "pkill udiskie"),
    ("usbmount", MOUNTS_CARDS, "sudo systemctl mask usbmount"),
    ("tracker-miner", READS_FILES, "tracker3 daemon --terminate"),
    ("localsearch", READS_FILES, "localsearch daemon --terminate"),
    ("baloo_file", READS_FILES, "balooctl6 suspend"),
    ("updatedb", "walks through every file", "wait until it finishes, or sudo pkill updatedb"),
    (
        "fstrim",
        "discards what is free on mounted cards",
        "wait until it finishes; sudo systemctl stop fstrim.timer",
    ),
    ("smartd", "asks disks for their health every half hour", "sudo systemctl stop smartd"),
    ("fsck", "checks a file system", WAIT_FOR_END),
    ("dd", "copies", WAIT_FOR_END),
    ("fio", "measures a disk", WAIT_FOR_END),
    ("badblocks", "reads or writes a whole disk", WAIT_FOR_END),
    ("f3write", "fills a card", WAIT_FOR_END),
    ("f3read", "reads a card", WAIT_FOR_END),
    ("f3probe", "probes a card", WAIT_FOR_END),
    (
        "unattended-upgr",
        "installs updates",
        "wait until it finishes, or sudo systemctl stop unattended-upgrades",
    ),
    ("packagekitd", "may install updates", "sudo systemctl stop packagekit"),
];

fn service_points(system: &SystemRoots) -> Vec<DoctorPoint> {
    let why = "other I/O on the card, its reader or the processor disturbs the test";
    let point = DoctorTopic::Services.define_point("services", why);
    let running = vitals::running_programs(system);
    if running.is_empty() {
        return vec![point.unknown("no programs visible")];
    }
    let runs = |(name, does, stop): &(&str, &str, &str)| {
        let program = running.iter().find(|program| is_program(program, name))?;
        Some(point.warn(format!("{program} is running: it {does}"), *stop))
    };
    let found: Vec<DoctorPoint> = DISTURBERS.iter().filter_map(runs).collect();
    if found.is_empty() { vec![point.ok("none known")] } else { found }
}

/// Matches short names exactly and others by prefix (`tracker-miner-fs-3`, `fsck.ext4`).
fn is_program(program: &str, name: &str) -> bool {
    program == name || (name.len() > 3 && program.starts_with(name))
}

/// Capabilities: number, name, and use.
const NEEDED: [(u32, &str, &str); 2] =
    [(21, "cap-sys-admin", SYS_ADMIN_USE), (17, "cap-sys-rawio", "needed to send SD commands to the card")];

const SYS_ADMIN_USE: &str = "needed to empty the page cache of a device, and to read an NVMe card's SMART log \
                             and an SD slot's bus mode";

fn permission_points(system: &SystemRoots, cards: &[DeviceInfo]) -> Vec<DoctorPoint> {
    if !system.is_live() {
        return Vec::new();
    }
    let mut points = vec![device_access_point(cards)];
    points.extend(NEEDED.iter().map(|(bit, name, why)| capability_point(system, *bit, name, why)));
    points
}

fn device_access_point(cards: &[DeviceInfo]) -> DoctorPoint {
    const WHY: &str = "without access to the block device, only directories can be tested";
    let point = DoctorTopic::Rights.define_point("block-devices", WHY);
    let advice = "sudo usermod -aG disk $USER, then log in again; or run with sudo";
    let allowed = |card: &&DeviceInfo| access(card.path.as_str(), Access::READ_OK | Access::WRITE_OK).is_ok();
    let refused = cards.iter().filter(|card| !allowed(card)).map(|card| card.path.as_str());
    let refused: Vec<&str> = refused.collect();
    let root = rustix::process::geteuid().is_root();
    let asked = || !root && can_request();
    match (cards.is_empty(), refused.is_empty()) {
        (true, _) if root => point.ok("running as root; no card is present"),
        (true, _) if asked() => point.unknown(format!("no card is present; {UDISKS_HINT}")),
        (true, _) => point.unknown("no card is present").with_advice(advice),
        (false, true) => point.ok(format!("all {} cards and readers can be opened", cards.len())),
        (false, false) if asked() => point.ok(format!("not directly: {}; {UDISKS_HINT}", refused.join(", "))),
        (false, false) => {
            let state = if refused.len() == cards.len() { PointState::Fail } else { PointState::Warn };
            let seen = format!("this user cannot open {}", refused.join(", "));
            point.with_state(state, seen).with_advice(advice)
        }
    }
}

/// Access that remains for a user without permissions.
const UDISKS_HINT: &str =
    "UDisks2 opens a card for this user, if a polkit rule or an administrator's password allows it";

fn capability_point(system: &SystemRoots, bit: u32, name: &str, why: &str) -> DoctorPoint {
    let point = DoctorTopic::Rights.define_point(name, why);
    match vitals::capabilities(system) {
        Some(set) if set >> bit & 1 == 1 => point.ok("yes"),
        Some(_) => point.warn("no", "run with sudo"),
        None => point.unknown("not reported by the system"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_releases_compare_by_number() {
        assert_eq!(parse_release("6.12.25+rpt-rpi-2712"), Some((6, 12)));
        assert!(parse_release("5.4.0-42-generic").unwrap() < NUMBERS_DISKS);
        assert!(
            parse_release("5.15.0").unwrap() >= NUMBERS_DISKS
                && parse_release("10.0").unwrap() >= NUMBERS_DISKS
        );
        assert_eq!(parse_release("unknown"), None);
    }

    #[test]
    fn tool_descriptions_name_the_verbs_that_use_them() {
        let gives = |tool: &str| TOOLS.iter().find(|(name, _, _)| *name == tool).map(|(_, gives, _)| *gives);
        for tool in ["mkfs.ext4", "mkfs.f2fs", "mkfs.nilfs2", "mkfs.exfat"] {
            assert!(gives(tool).is_some_and(|gives| gives.contains("`map`")), "{tool}");
        }
        let fat = gives("mkfs.fat").unwrap();
        assert!(fat.contains("`format`") && !fat.contains("map"), "{fat}");
    }

    #[test]
    fn program_names_match_after_truncation_to_15_bytes() {
        assert!(DISTURBERS.iter().all(|(name, _, _)| name.len() <= 15));
        assert!(
            is_program("tracker-miner-f", "tracker-miner")
                && is_program("fsck.ext4", "fsck")
                && is_program("dd", "dd")
        );
        assert!(!is_program("ddrescue", "dd") && !is_program("fiona", "fio"));
    }
}
