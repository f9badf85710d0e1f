//! Bus mode of an SD card in a slot of the computer, from debugfs for root, or from the kernel log.
//!
//! docs/reference/linux.md#bus-mode. Recorded trees may have the kernel log as `dmesg` next to `sys`.

use crate::block::BlockDevice;
use crate::system::{SystemRoots, base_name, read_number, read_text};
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_sd::bus::MmcBus;
use rustix::fs::{Mode, OFlags};
use rustix::process::geteuid;
use std::path::PathBuf;

/// Longest record of `/dev/kmsg` (`CONSOLE_EXT_LOG_MAX`, include/linux/console.h), and limit of records.
const RECORD_BYTES: usize = 8192;
const MOST_RECORDS: usize = 100_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BusUnknown {
    NeedsRoot,
    /// Root may not read debugfs either.
    Closed,
    /// There is no debugfs, or no entry of this host.
    NotShown,
}

/// Name of a card's MMC host, and the directory of its controller if sysfs links to it.
pub(crate) fn mmc_host(system: &SystemRoots, disk: &BlockDevice) -> Option<(String, Option<PathBuf>)> {
    let above = disk.ancestors(system);
    let known = above.iter().find(|dir| dir.parent().and_then(base_name) == Some("mmc_host"));
    if let Some(dir) = known {
        let controller = dir.parent().and_then(|hosts| hosts.parent()).map(PathBuf::from);
        return Some((base_name(dir)?.to_owned(), controller));
    }
    // mmcblk has the number of its host since Linux 4.6 (drivers/mmc/core/block.c).
    let number = disk.name.strip_prefix("mmcblk")?;
    Some((format!("mmc{number}"), None))
}

/// Bus data from debugfs, sysfs and the kernel log, and the reason if the clock is unknown.
pub(crate) fn read_bus(system: &SystemRoots, disk: &BlockDevice) -> (MmcBus, Option<BusUnknown>) {
    let host = mmc_host(system, disk).map(|(host, _)| host);
    let debug = system.sys.join("kernel/debug");
    let ios = host.as_ref().and_then(|host| read_text(debug.join(host).join("ios")));
    let unknown = ios.is_none().then(|| unknown_reason(system));
    let by_log = || last_insertion(&kernel_log(system)?, host.as_ref()?);
    let mut bus = ios.map(|ios| MmcBus::from_ios(&ios)).or_else(by_log).unwrap_or_default();
    let card = disk.hardware_dir(system);
    bus.kind = read_text(card.join("type"));
    bus.erase_size = read_number(card.join("erase_size"));
    bus.preferred_erase_size = read_number(card.join("preferred_erase_size"));
    (bus, unknown)
}

fn unknown_reason(system: &SystemRoots) -> BusUnknown {
    let closed = std::fs::read_dir(system.sys.join("kernel/debug"))
        .is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied);
    match system.is_live() && closed {
        false => BusUnknown::NotShown,
        true if geteuid().is_root() => BusUnknown::Closed,
        true => BusUnknown::NeedsRoot,
    }
}

impl BusUnknown {
    /// Finding that states the unknown properties; `bus` has the known ones.
    pub(crate) fn unknown_finding(self, bus: &MmcBus) -> Finding {
        let what = match &bus.mode {
            Some(mode) => format!("The bus clock is unknown, and its mode {mode} is from the kernel log"),
            None => "The bus mode and clock are unknown".to_owned(),
        };
        let (why, advice) = match self {
            BusUnknown::NeedsRoot => {
                ("debugfs needs root", Some("Run `sudo cardscope info` to see the bus mode."))
            }
            BusUnknown::Closed => ("debugfs is closed here, even to root", None),
            BusUnknown::NotShown => {
                let advice =
                    "Run `mount -t debugfs none /sys/kernel/debug` as root, then `cardscope info` again.";
                ("debugfs has no ios file for this slot", Some(advice))
            }
        };
        let note = Finding::new("bus-mode-unread", FindingWeight::Note, 1.0, format!("{what}: {why}."));
        match advice {
            Some(advice) => note.with_advice(advice),
            None => note,
        }
    }
}

/// Bus data from the latest log line about a card inserted into this host.
fn last_insertion(log: &str, host: &str) -> Option<MmcBus> {
    let start = format!("{host}: new ");
    log.lines().rev().filter(|line| line.contains(&start)).find_map(MmcBus::from_kernel_line)
}

fn kernel_log(system: &SystemRoots) -> Option<String> {
    if system.is_live() { read_kmsg() } else { read_text(system.proc.parent()?.join("dmesg")) }
}

/// Reads the records of `/dev/kmsg`; many systems allow that to root only.
fn read_kmsg() -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let fd = rustix::fs::open("/dev/kmsg", flags, Mode::empty()).ok()?;
    let mut record = vec![0; RECORD_BYTES];
    let mut log = String::new();
    for _ in 0..MOST_RECORDS {
        match rustix::io::read(&fd, &mut record) {
            // A record was overwritten while reading; the next read continues after it.
            Err(rustix::io::Errno::PIPE) => {}
            Ok(0) | Err(_) => break,
            Ok(length) => log.push_str(&String::from_utf8_lossy(&record[..length])),
        }
    }
    Some(log)
}

/// Mode in a few words, such as `SDR104`; with the clock if it differs from the nominal one.
pub(crate) fn mode_text(bus: &MmcBus) -> Option<String> {
    let mode = bus.mode.clone()?;
    let nominal = bus.timing_row().and_then(|timing| timing.nominal_hz);
    match (bus.running_hz(), nominal) {
        // Hosts round clocks down, so up to a tenth below nominal is normal.
        (Some(hz), Some(nominal)) if hz < nominal / 10 * 9 || hz > nominal => {
            Some(format!("{mode} at {} MHz", hz as f64 / 1e6))
        }
        _ => Some(mode),
    }
}
