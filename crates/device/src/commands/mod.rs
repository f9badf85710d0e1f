//! Commands answered by a card's controller without its flash, to time a command and to read health data.
//!
//! SD: CMD13 SEND_STATUS; ACMD13, the SD status; CMD56, the health page of some makers. USB and other SCSI: TEST UNIT
//! READY. NVMe: Get Features, and the SMART log (docs/reference/linux.md#raw-commands, docs/reference/linux.md#nvme).
//! Devices are opened for reading only, and no command writes to flash.

mod mmc;
mod scsi;

use crate::block::BlockDevice;
use crate::bus::disk_bus;
use crate::nvme;
use crate::system::{SystemRoots, errno_reason, read_number};
use cardscope_model::device::Bus;
use cardscope_sd::health::{HealthQuery, PAGE_BYTES};
use cardscope_sd::nvme::SmartLog;
use rustix::fd::OwnedFd;
use rustix::fs::{Dev, Mode, OFlags};
use rustix::io::Errno;
use std::path::PathBuf;
use std::time::{Duration, Instant};

#[derive(Debug, Default)]
pub struct DeviceCommands {
    /// Command without flash access.
    pub ping: Option<PingCommand>,
    pub health: Option<HealthCommand>,
    /// Reasons why a supported command is missing, worded as caveats.
    pub missing: Vec<String>,
    /// True if the card is missing or was swapped. Readers report that only once, so the caller must not go on.
    pub card_gone: bool,
}

/// Device that is opened anew for each command and identified each time: after a re-plug another card may have its
/// name.
#[derive(Debug, Clone)]
struct ReopenedDevice {
    /// Disk, or controller of an NVMe card.
    path: PathBuf,
    /// Number behind the path; `None` if there was nothing.
    number: Option<Dev>,
    disk: BlockDevice,
    /// Disk sequence number; `None` before Linux 5.15.
    sequence: Option<u64>,
}

impl ReopenedDevice {
    fn for_path(path: PathBuf, disk: &BlockDevice) -> ReopenedDevice {
        let number = rustix::fs::stat(&path).ok().map(|stat| stat.st_rdev);
        ReopenedDevice { number, sequence: disk.sequence(), disk: disk.clone(), path }
    }

    /// Opens the device for one command, since a descriptor kept open would keep the page cache; `NXIO` if it is gone
    /// or another one.
    fn open(&self) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = rustix::fs::open(&self.path, flags, Mode::empty()).map_err(|errno| match errno {
            // The device file disappears with the device.
            Errno::NOENT | Errno::NODEV => Errno::NXIO,
            other => other,
        })?;
        // Checked after opening, which makes the kernel notice another card in a reader.
        let same = self.number == Some(rustix::fs::fstat(&fd)?.st_rdev) && self.has_same_medium();
        if same { Ok(fd) } else { Err(Errno::NXIO) }
    }

    /// False if the disk is gone or was replaced.
    fn has_same_medium(&self) -> bool {
        self.disk.sequence() == self.sequence
    }
}

#[derive(Debug)]
pub struct PingCommand {
    device: ReopenedDevice,
    command: CommandWords,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CommandWords {
    SendStatus { rca: u16 },
    TestUnitReady,
    GetFeatures,
}

impl PingCommand {
    /// Times the command until its answer; `NXIO` if the device is gone or another one, `NOMEDIUM` if the card was
    /// removed or may have been swapped.
    pub fn ping(&self) -> Result<Duration, Errno> {
        let fd = self.device.open()?;
        let start = Instant::now();
        match self.command {
            CommandWords::SendStatus { rca } => mmc::send_status(&fd, rca)?,
            CommandWords::TestUnitReady => scsi::test_unit_ready(&fd)?,
            CommandWords::GetFeatures => nvme::ping_controller(&fd)?,
        }
        Ok(start.elapsed())
    }

    pub fn command_name(&self) -> &'static str {
        match self.command {
            CommandWords::SendStatus { .. } => "SD send status (CMD13)",
            CommandWords::TestUnitReady => "SCSI test unit ready",
            CommandWords::GetFeatures => "NVMe get features",
        }
    }
}

/// SMART log of an NVMe card.
#[derive(Debug)]
pub struct HealthCommand {
    controller: ReopenedDevice,
}

impl HealthCommand {
    /// Reads the log now; `None` if the card does not answer or was replaced.
    pub fn read_log(&self) -> Option<SmartLog> {
        let log = nvme::read_smart_log(&self.controller.path).ok()?;
        // Checked afterwards, so that the log is certainly this card's.
        self.controller.has_same_medium().then(|| SmartLog::decode(&log).ok()).flatten()
    }
}

/// Detects the commands of a disk, given by name or path, by sending each once. Devices without such commands (loop,
/// virtio, network) and recorded ones get none, and nothing counts as missing.
pub fn detect_commands(system: &SystemRoots, device: &str) -> DeviceCommands {
    let mut found = DeviceCommands::default();
    let Some(disk) = BlockDevice::find(system, device).map(|device| device.disk()) else { return found };
    let Some(ping) = system.is_live().then(|| ping_for(system, &disk)).flatten() else { return found };
    if ping.command == CommandWords::GetFeatures {
        match nvme::read_smart_log(&ping.device.path) {
            Ok(_) => found.health = Some(HealthCommand { controller: ping.device.clone() }),
            Err(reason) => found.missing.push(format!("SMART log not read: {reason}")),
        }
    }
    match ping.ping() {
        Ok(_) => found.ping = Some(ping),
        Err(Errno::NOMEDIUM) => found.card_gone = true,
        Err(errno) => found.missing.push(timing_refused_text(&ping, errno)),
    }
    found
}

/// Reads the SD status by ACMD13, since kernels before 4.14 have no file for it; `PERM` without the right to send
/// commands, `NXIO` if the card was replaced.
pub(crate) fn read_sd_status(system: &SystemRoots, disk: &BlockDevice) -> Result<[u8; 64], Errno> {
    mmc::read_sd_status(&ReopenedDevice::for_path(disk.path(system), disk).open()?)
}

type HealthPage = Result<[u8; PAGE_BYTES], Errno>;

/// Cards may need this long to prepare their page.
const PAGE_READY: Duration = Duration::from_secs(1);

/// Reads the vendor-specific health page by CMD56; most cards fail or do not answer. Errors are those of [`read_sd_status`].
pub(crate) fn read_health_page(system: &SystemRoots, disk: &BlockDevice, query: HealthQuery) -> HealthPage {
    let asked = ReopenedDevice::for_path(disk.path(system), disk);
    let fd = asked.open()?;
    if let Some(argument) = query.prepare {
        mmc::prepare_page(&fd, argument)?;
        std::thread::sleep(PAGE_READY);
    }
    let page = mmc::read_page(&fd, query.read)?;
    // Checked afterwards, so that the page is certainly this card's.
    if asked.has_same_medium() { Ok(page) } else { Err(Errno::NXIO) }
}

fn ping_for(system: &SystemRoots, disk: &BlockDevice) -> Option<PingCommand> {
    let (path, command) = match disk_bus(system, disk) {
        Bus::Mmc => {
            let rca = u16::try_from(read_number(disk.hardware_dir(system).join("rca"))?).ok()?;
            (disk.path(system), CommandWords::SendStatus { rca })
        }
        Bus::Usb => (disk.path(system), CommandWords::TestUnitReady),
        Bus::Nvme => (nvme::controller_device(system, disk)?, CommandWords::GetFeatures),
        // libata answers TEST UNIT READY itself, without the disk.
        Bus::Ata | Bus::Virtio | Bus::Loop | Bus::Nbd | Bus::Other => return None,
    };
    Some(PingCommand { device: ReopenedDevice::for_path(path, disk), command })
}

fn timing_refused_text(ping: &PingCommand, errno: Errno) -> String {
    format!("{} could not be timed: {}", ping.command_name(), errno_reason(errno))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::machine;

    fn ping(path: &str, command: CommandWords) -> PingCommand {
        let disk = BlockDevice { name: "none".to_owned(), dir: "/none".into(), whole: None };
        PingCommand { device: ReopenedDevice::for_path(path.into(), &disk), command }
    }

    #[test]
    fn recorded_or_unknown_device_has_no_commands() {
        let (_dir, system) = machine("sys/block/mmcblk0/device/rca = 0xaaaa");
        for device in ["mmcblk0", "sdz", ""] {
            let found = detect_commands(&system, device);
            assert!(found.ping.is_none() && found.health.is_none() && found.missing.is_empty(), "{device}");
        }
    }

    #[test]
    fn each_bus_has_its_ping_command() {
        let (_dir, system) = machine(
            "
            sys/block/mmcblk0/device/rca = 0xaaaa
            sys/block/mmcblk1/size = 8
            sys/block/nvme0n1/size = 8
            sys/block/sda/size = 8
            sys/block/sdb/size = 8
            sys/block/vda/size = 8
            sys/block/loop0/size = 8
            sys/bus/usb/devices/1-2/idVendor = 05e3
            sys/bus/usb/devices/1-2/idProduct = 0749
            sys/bus/usb/devices/1-2/1-2:1.0/host1/target1:0:0/1:0:0:0/block/sda/size = 8
            ",
        );
        let command =
            |name| ping_for(&system, &BlockDevice::by_name(&system, name).unwrap()).map(|p| p.command);
        assert_eq!(command("mmcblk0"), Some(CommandWords::SendStatus { rca: 0xaaaa }));
        assert_eq!(command("mmcblk1"), None, "without its address a card is not addressed");
        assert_eq!(command("sda"), Some(CommandWords::TestUnitReady));
        assert_eq!(command("nvme0n1"), Some(CommandWords::GetFeatures));
        assert_eq!([command("sdb"), command("vda"), command("loop0")], [None; 3]);
    }

    #[test]
    fn ping_of_removed_device_fails_with_nxio() {
        let ping = ping("/dev/mmcblk99", CommandWords::SendStatus { rca: 1 });
        assert_eq!(ping.ping(), Err(Errno::NXIO));
    }

    #[test]
    fn ping_of_wrong_device_kind_fails_with_notty() {
        for command in
            [CommandWords::SendStatus { rca: 1 }, CommandWords::TestUnitReady, CommandWords::GetFeatures]
        {
            assert_eq!(ping("/dev/null", command).ping().err(), Some(Errno::NOTTY), "{command:?}");
        }
    }

    #[test]
    fn missing_permission_is_reported_with_advice() {
        let ping = ping("/dev/mmcblk0", CommandWords::SendStatus { rca: 1 });
        let told = timing_refused_text(&ping, Errno::PERM);
        assert!(told.contains("CMD13") && told.contains("root"), "{told}");
    }

    #[test]
    fn replaced_card_is_not_queried() {
        let (dir, system) = machine("sys/block/sda/diskseq = 7");
        let sequence = dir.path().join("sys/block/sda/diskseq");
        let disk = BlockDevice::by_name(&system, "sda").unwrap();
        let asked = ReopenedDevice::for_path("/dev/null".into(), &disk);
        assert!(asked.open().is_ok());
        std::fs::write(&sequence, "8\n").unwrap();
        assert_eq!(asked.open().map(drop), Err(Errno::NXIO), "it came anew");
        std::fs::write(&sequence, "7\n").unwrap();
        let other = ReopenedDevice { path: "/dev/zero".into(), ..asked.clone() };
        assert_eq!(other.open().map(drop), Err(Errno::NXIO), "another number");
        std::fs::remove_dir_all(dir.path().join("sys/block/sda")).unwrap();
        assert_eq!(asked.open().map(drop), Err(Errno::NXIO), "it went");
    }

    #[test]
    fn without_disk_sequence_number_identifies_device() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("sys/block/sda")).unwrap();
        let disk = BlockDevice::by_name(&SystemRoots::recorded(dir.path()), "sda").unwrap();
        assert!(ReopenedDevice::for_path("/dev/null".into(), &disk).open().is_ok());
        assert_eq!(
            ReopenedDevice::for_path("/dev/none-such".into(), &disk).open().map(drop),
            Err(Errno::NXIO)
        );
    }
}
