//! Questions that a card's controller answers without touching its flash: how long a command takes by itself, and
//! what the card counts of itself.
//!
//! SD: CMD13 SEND_STATUS. USB and other SCSI: TEST UNIT READY. NVMe: Get Features, and the SMART log (sd-facts
//! sections 3.3, 7 and 8). Each device is opened for reading only, and none of the commands writes.

mod asked;
mod mmc;
mod scsi;

use crate::block::BlockDevice;
use crate::list::{Bus, bus};
use crate::nvme;
use crate::system::{System, number};
use asked::Asked;
use cardscope_sd::nvme::SmartLog;
use rustix::io::Errno;
use std::time::{Duration, Instant};

/// What a device can be asked.
#[derive(Debug, Default)]
pub struct Asking {
    /// A command without flash, where the device has one that we may send.
    pub ping: Option<Ping>,
    /// The SMART log, where the device has one that we may read.
    pub health: Option<Health>,
    /// Why one of them is missing that the device would have; ready to stand as a caveat.
    pub missing: Vec<String>,
    /// True where the card was found missing, or changed for another. It tells so once only: whoever goes on may meet
    /// the other one.
    pub gone: bool,
}

/// A command that the controller answers by itself.
#[derive(Debug)]
pub struct Ping {
    asked: Asked,
    command: Command,
}

/// Which command, in which words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Command {
    /// Relative card address.
    SendStatus {
        rca: u16,
    },
    TestUnitReady,
    GetFeatures,
}

impl Ping {
    /// Sends the command and waits for its answer; gives the time between.
    ///
    /// # Errors
    /// As the kernel or the card says; `NXIO` where there is no such device any more or another one has its name,
    /// `NOMEDIUM` where the card is out or may have been changed.
    pub fn ping(&self) -> Result<Duration, Errno> {
        let fd = self.asked.open()?;
        let start = Instant::now();
        match self.command {
            Command::SendStatus { rca } => mmc::send_status(&fd, rca)?,
            Command::TestUnitReady => scsi::test_unit_ready(&fd)?,
            Command::GetFeatures => nvme::ping(&fd)?,
        }
        Ok(start.elapsed())
    }

    /// The command's name.
    #[must_use]
    pub fn command(&self) -> &'static str {
        match self.command {
            Command::SendStatus { .. } => "SD send status (CMD13)",
            Command::TestUnitReady => "SCSI test unit ready",
            Command::GetFeatures => "NVMe get features",
        }
    }
}

/// The SMART log of an NVMe card.
#[derive(Debug)]
pub struct Health {
    controller: Asked,
}

impl Health {
    /// Reads it now; `None` where the card does not answer, or another one would.
    #[must_use]
    pub fn read(&self) -> Option<SmartLog> {
        let log = nvme::smart_log(self.controller.path()).ok()?;
        // Asked afterwards, so that what was read is this card's.
        self.controller.is_same().then(|| SmartLog::decode(&log).ok()).flatten()
    }
}

/// Finds out what a device (a name or path of a disk) can be asked, by asking it once. Devices without such a command
/// (loop, virtio, network) and recorded ones answer nothing, and nothing is missing.
#[must_use]
pub fn asking(system: &System, device: &str) -> Asking {
    let mut asking = Asking::default();
    let Some(disk) = BlockDevice::find(system, device).map(|device| device.disk()) else { return asking };
    let Some(ping) = system.is_live().then(|| ping_of(system, &disk)).flatten() else { return asking };
    if ping.command == Command::GetFeatures {
        match nvme::smart_log(ping.asked.path()) {
            Ok(_) => asking.health = Some(Health { controller: ping.asked.clone() }),
            Err(reason) => asking.missing.push(format!("the card's SMART log could not be read: {reason}")),
        }
    }
    match ping.ping() {
        Ok(_) => asking.ping = Some(ping),
        Err(Errno::NOMEDIUM) => asking.gone = true,
        Err(errno) => asking.missing.push(refused(&ping, errno)),
    }
    asking
}

fn ping_of(system: &System, disk: &BlockDevice) -> Option<Ping> {
    let at = |path| Asked::at(path, disk);
    match bus(system, disk) {
        Bus::Mmc => {
            let rca = number(disk.hardware(system).join("rca")).and_then(|rca| u16::try_from(rca).ok())?;
            Some(Ping { asked: at(disk.path(system)), command: Command::SendStatus { rca } })
        }
        Bus::Usb => Some(Ping { asked: at(disk.path(system)), command: Command::TestUnitReady }),
        Bus::Nvme => {
            let controller = nvme::controller_device(system, disk)?;
            Some(Ping { asked: at(controller), command: Command::GetFeatures })
        }
        // libata answers TEST UNIT READY itself, without asking the disk.
        Bus::Ata | Bus::Virtio | Bus::Loop | Bus::Nbd | Bus::Other => None,
    }
}

fn refused(ping: &Ping, errno: Errno) -> String {
    let why = match errno {
        Errno::ACCESS | Errno::PERM => "asking needs root: run with sudo".to_owned(),
        other => std::io::Error::from(other).to_string(),
    };
    format!("what a command costs without flash ({}) could not be measured: {why}", ping.command())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ping(path: &str, command: Command) -> Ping {
        let disk = BlockDevice { name: "none".to_owned(), dir: "/none".into(), whole: None };
        Ping { asked: Asked::at(path.into(), &disk), command }
    }

    #[test]
    fn a_recorded_card_and_a_name_that_is_none_answer_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let card = dir.path().join("block/mmcblk0/device");
        std::fs::create_dir_all(&card).unwrap();
        std::fs::write(card.join("rca"), "0xaaaa\n").unwrap();
        let system = System::recorded(dir.path());
        for device in ["mmcblk0", "sdz", ""] {
            let asking = asking(&system, device);
            assert!(
                asking.ping.is_none() && asking.health.is_none() && asking.missing.is_empty(),
                "{device}"
            );
        }
    }

    #[test]
    fn each_bus_has_its_own_command_and_the_card_s_own_address_is_used() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, content: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        };
        file("block/mmcblk0/device/rca", "0xaaaa\n");
        file("block/mmcblk1/size", "8\n");
        file("block/nvme0n1/size", "8\n");
        file("block/sda/size", "8\n");
        file("bus/usb/devices/1-2/idVendor", "05e3\n");
        file("bus/usb/devices/1-2/idProduct", "0749\n");
        file("bus/usb/devices/1-2/1-2:1.0/host1/target1:0:0/1:0:0:0/block/sda/size", "8\n");
        file("block/sdb/size", "8\n");
        file("block/vda/size", "8\n");
        file("block/loop0/size", "8\n");
        let system = System::recorded(dir.path());
        let command = |name| ping_of(&system, &BlockDevice::named(&system, name).unwrap()).map(|p| p.command);
        assert_eq!(command("mmcblk0"), Some(Command::SendStatus { rca: 0xaaaa }));
        assert_eq!(command("mmcblk1"), None, "without its address a card is not addressed");
        assert_eq!(command("sda"), Some(Command::TestUnitReady));
        assert_eq!(command("nvme0n1"), Some(Command::GetFeatures));
        assert_eq!([command("sdb"), command("vda"), command("loop0")], [None; 3]);
    }

    #[test]
    fn a_device_that_went_away_is_told_as_gone() {
        let ping = ping("/dev/mmcblk99", Command::SendStatus { rca: 1 });
        assert_eq!(ping.ping(), Err(Errno::NXIO));
    }

    #[test]
    fn what_is_no_such_device_refuses_every_command() {
        for command in [Command::SendStatus { rca: 1 }, Command::TestUnitReady, Command::GetFeatures] {
            assert_eq!(ping("/dev/null", command).ping().err(), Some(Errno::NOTTY), "{command:?}");
        }
    }

    #[test]
    fn a_missing_right_is_told_with_what_to_do() {
        let ping = ping("/dev/mmcblk0", Command::SendStatus { rca: 1 });
        let told = refused(&ping, Errno::PERM);
        assert!(told.contains("CMD13") && told.contains("sudo"), "{told}");
    }
}
