//! Identity of a card from sysfs, debugfs and NVMe answers.
//!
//! Sources: docs/reference/linux.md#sd-cards-in-sysfs and the sections after it. Unreadable or undecodable data stays
//! unknown and becomes a finding; only a missing device is an error.

pub(crate) mod mmc;

use crate::block::BlockDevice;
use crate::bus::{disk_bus, is_emmc};
use crate::commands;
use crate::hwmon;
use crate::nvme::{self, ControllerData};
use crate::system::{SystemRoots, base_name, errno_reason, read_text};
use crate::usb;
use cardscope_model::device::Bus;
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::identity::Identity;
use cardscope_sd::bus::PcieLink;
use cardscope_sd::health::{CardHealth, HealthLayout};
use cardscope_sd::nvme::{
    ExpressArea, ExpressIdentity, IdentifyController, IdentifyNamespace, NvmeError, NvmeIdentity, SmartLog,
    ThermalFeatures,
};
use cardscope_sd::registers::{Cid, Csd, EmmcCid, HexFault, Ocr, RegisterError, Scr, Ssr};
use std::path::Path;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InspectError {
    #[error("{device} does not exist{place}; `cardscope list` shows the devices")]
    NotFound {
        device: String,
        /// Phrase for the sentence: the recording searched, empty on this computer.
        place: String,
    },
    #[error("{0} is not a block device; name the card itself, as `cardscope list` shows it")]
    NotABlockDevice(String),
}

/// Collects the identity of a device, named `sda`, `/dev/sda`, `/dev/nvme0` or by any link; for a partition, that of
/// its disk. Findings only mention unreadable data; [`Identity::judged`], which needs today's date, replaces them.
pub fn inspect_card(system: &SystemRoots, name_or_path: &str) -> Result<Identity, InspectError> {
    let disk = find_disk(system, name_or_path)?;
    let capacity_bytes = disk.bytes().filter(|bytes| *bytes > 0);
    let mut identity = Identity { capacity_bytes, ..Identity::default() };
    let mut remarks = Vec::new();
    if disk.bytes() == Some(0) {
        let what =
            "The slot is empty, or its card does not answer this reader; only the reader is described.";
        remarks.push(note_finding("empty-slot", what));
    }
    match disk_bus(system, &disk) {
        Bus::Mmc => add_mmc(system, &disk, &mut identity, &mut remarks),
        Bus::Usb => identity.usb = usb::describe_reader(system, &disk),
        Bus::Nvme => add_nvme(system, &disk, &mut identity, &mut remarks),
        _ => {
            let name = &disk.name;
            let what =
                format!("The device {name} is not on an SD slot, USB or NVMe, so it has no card data.");
            remarks.push(note_finding("not-a-card-bus", what));
        }
    }
    identity.derive_fields();
    identity.findings = remarks;
    Ok(identity)
}

fn find_disk(system: &SystemRoots, device: &str) -> Result<BlockDevice, InspectError> {
    let by_controller = || nvme::first_namespace(system, base_name(Path::new(device))?);
    if let Some(found) = BlockDevice::find(system, device).or_else(by_controller) {
        return Ok(found.disk());
    }
    let device = device.to_owned();
    if system.is_live() && Path::new(&device).exists() {
        return Err(InspectError::NotABlockDevice(device));
    }
    let place =
        if system.is_live() { String::new() } else { format!(" in the recording {}", system.sys.display()) };
    Err(InspectError::NotFound { device, place })
}

fn add_mmc(system: &SystemRoots, disk: &BlockDevice, identity: &mut Identity, remarks: &mut Vec<Finding>) {
    let (bus, unknown) = mmc::read_bus(system, disk);
    if let Some(unknown) = unknown {
        remarks.push(unknown.unknown_finding(&bus));
    }
    let card = disk.hardware_dir(system);
    let register = |name: &str| read_text(card.join(name));
    let csd = register("csd").map(|hex| Csd::from_hex(&hex));
    let emmc = bus.kind.as_deref() == Some("MMC")
        || matches!(csd, Some(Err(RegisterError { fault: HexFault::Emmc, .. })));
    if emmc {
        identity.emmc = decode_register(register("cid"), EmmcCid::from_hex, remarks);
    } else {
        identity.csd = decode_register(register("csd"), Csd::from_hex, remarks);
        identity.cid = decode_register(register("cid"), Cid::from_hex, remarks);
        identity.scr = decode_register(register("scr"), Scr::from_hex, remarks);
        identity.ssr = match register("ssr") {
            None if system.is_live() => read_ssr(system, disk, remarks),
            shown => decode_register(shown, Ssr::from_hex, remarks),
        };
        identity.ocr = decode_register(register("ocr"), Ocr::from_hex, remarks);
    }
    identity.mmc = Some(bus);
}

/// Reads the SD status from the card, for kernels without a file for it.
fn read_ssr(system: &SystemRoots, disk: &BlockDevice, remarks: &mut Vec<Finding>) -> Option<Ssr> {
    let unread =
        |errno| format!("The SD status, and the marks in it, could not be read: {}.", errno_reason(errno));
    let status = commands::read_sd_status(system, disk).map(Ssr::decode);
    status.map_err(|errno| remarks.push(note_finding("ssr-unread", unread(errno)))).ok()
}

/// Reads the vendor-specific health page in the given layout, or in that of the maker in the CID. A missing page
/// becomes a finding.
pub fn add_health(system: &SystemRoots, name: &str, layout: Option<HealthLayout>, identity: &mut Identity) {
    let maker = identity.cid.as_ref().map(|cid| cid.mid);
    let asked =
        find_disk(system, name).ok().filter(|disk| system.is_live() && is_sd_card(system, disk, identity));
    let health = match (asked, layout.or_else(|| maker.and_then(HealthLayout::for_maker))) {
        (None, _) => Err("only a card in an SD slot of this computer can be asked".to_owned()),
        (Some(_), None) => {
            let names = HealthLayout::ALL.map(HealthLayout::name).join(", ");
            Err(format!(
                "its maker's layout is not known; if the card is of one of these, name it: --health={names}"
            ))
        }
        (Some(disk), Some(layout)) => commands::read_health_page(system, &disk, layout.health_query())
            .map_err(errno_reason)
            .and_then(|page| CardHealth::decode(page).map_err(|error| error.to_string())),
    };
    match health {
        Ok(health) => identity.health = Some(health),
        Err(why) => {
            let what = format!("Health page not read: {why}.");
            identity.findings.push(note_finding("health-unread", what));
        }
    }
}

/// False for eMMC, whose CMD56 is another command, even if its registers are unreadable.
fn is_sd_card(system: &SystemRoots, disk: &BlockDevice, identity: &Identity) -> bool {
    disk_bus(system, disk) == Bus::Mmc && identity.emmc.is_none() && !is_emmc(system, disk)
}

type Decoded<T> = Result<T, RegisterError>;

fn decode_register<T>(
    hex: Option<String>,
    decode: fn(&str) -> Decoded<T>,
    out: &mut Vec<Finding>,
) -> Option<T> {
    let finding = |error: RegisterError| {
        let what = format!("The system reports an invalid {}: {error}.", error.register);
        note_finding("register-unreadable", what)
            .because("register", error.register)
            .with_advice("Remove the card, insert it again and run `cardscope info` again.")
    };
    decode(&hex?).map_err(|error| out.push(finding(error))).ok()
}

fn add_nvme(system: &SystemRoots, disk: &BlockDevice, identity: &mut Identity, remarks: &mut Vec<Finding>) {
    let (nvme, missing) = describe_nvme(system, disk);
    remarks.extend(missing_finding(&missing));
    identity.nvme = Some(nvme);
    identity.pcie = pcie_link(system, disk);
}

fn missing_finding(missing: &[(&'static str, String)]) -> Option<Finding> {
    let (_, reason) = missing.first()?;
    let names: Vec<&str> = missing.iter().map(|(what, _)| *what).collect();
    let verdict = format!("Not available from the card: {} ({reason}).", names.join(", "));
    let found = note_finding("nvme-answers-missing", verdict);
    Some(missing.iter().fold(found, |found, (what, reason)| found.because(what, reason)))
}

fn note_finding(claim: &str, verdict: impl Into<String>) -> Finding {
    Finding::new(claim, FindingWeight::Note, 1.0, verdict)
}

/// Bus mode in a few words, such as `SDR104`, `PCIe 3.0 x1`, `USB 5000 Mbit/s UAS`.
pub fn bus_mode(system: &SystemRoots, disk: &BlockDevice) -> Option<String> {
    match disk_bus(system, disk) {
        Bus::Mmc => mmc::mode_text(&mmc::read_bus(system, disk).0),
        Bus::Usb => usb::describe_reader(system, disk)?.mode(),
        Bus::Nvme => pcie_link(system, disk)?.mode(),
        _ => None,
    }
}

/// Names of missing answers, with reasons.
type MissingAnswers = Vec<(&'static str, String)>;

fn describe_nvme(system: &SystemRoots, disk: &BlockDevice) -> (NvmeIdentity, MissingAnswers) {
    let answers = nvme::query_controller(system, disk);
    let mut missing = answers.missing.clone();
    let mut identity = decode_answers(&answers, &mut missing);
    let hwmon = hwmon::nvme_hwmon_dir(system, disk);
    let reading = |name: &str| hwmon.as_ref().and_then(|dir| hwmon::read_celsius(&dir.join(name)));
    let by_log = identity.smart.as_ref().and_then(|log| log.temperature_celsius).map(f64::from);
    identity.temperature_celsius = by_log.or_else(|| reading("temp1_input"));
    if answers.feature_04.is_none() {
        let threshold = reading("temp1_max").map(to_kelvin);
        identity.features = ThermalFeatures::from_results(threshold, answers.feature_10);
    }
    let by_names = || ExpressIdentity::from_names(&nvme::sysfs_names(system, disk)?);
    identity.sd_express = identity.sd_express.or_else(by_names);
    (identity, missing)
}

fn decode_answers(answers: &ControllerData, missing: &mut MissingAnswers) -> NvmeIdentity {
    let ControllerData { identify, namespace, smart, feature_04, feature_10, .. } = answers;
    let area = |data: &[u8]| ExpressArea::decode(data, false);
    let decoded = decode_answer(identify, "Identify Controller", IdentifyController::decode, missing);
    NvmeIdentity {
        sd_express: decoded.as_ref().and_then(ExpressIdentity::from_names),
        express_area: decode_answer(identify, "vendor area", area, missing).flatten(),
        identify: decoded,
        namespace: decode_answer(namespace, "Identify Namespace", IdentifyNamespace::decode, missing),
        smart: decode_answer(smart, "SMART log", SmartLog::decode, missing),
        features: ThermalFeatures::from_results(*feature_04, *feature_10),
        temperature_celsius: None,
    }
}

fn decode_answer<T>(
    data: &Option<Vec<u8>>,
    what: &'static str,
    decode: impl FnOnce(&[u8]) -> Result<T, NvmeError>,
    missing: &mut MissingAnswers,
) -> Option<T> {
    decode(data.as_ref()?).map_err(|error| missing.push((what, error.to_string()))).ok()
}

/// Converts back: hwmon subtracts 273.15 from whole kelvin.
fn to_kelvin(celsius: f64) -> u32 {
    (celsius + 273.15).round() as u32
}

fn pcie_link(system: &SystemRoots, disk: &BlockDevice) -> Option<PcieLink> {
    let dir = nvme::pci_dir(system, &nvme::controller_dir(system, disk)?)?;
    let word = |name: &str| read_text(dir.join(name));
    let now = (word("current_link_speed"), word("current_link_width"));
    let most = (word("max_link_speed"), word("max_link_width"));
    let [now, most] = [&now, &most].map(|(speed, width)| (speed.as_deref(), width.as_deref()));
    let mut link = PcieLink::from_sysfs(now, most);
    link.address = base_name(&dir).filter(|name| name.contains(':')).map(str::to_owned);
    Some(link)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emmc_without_readable_registers_is_no_sd_card() {
        let (_dir, system) = crate::testing::machine(
            "
            sys/block/mmcblk0/dev = 179:0
            sys/block/mmcblk0/device/type = MMC
            sys/block/mmcblk1/dev = 179:8
            sys/block/mmcblk1/device/type = SD
            ",
        );
        let is_sd = |name| {
            let identity = inspect_card(&system, name).unwrap();
            assert_eq!(identity.emmc, None);
            is_sd_card(&system, &find_disk(&system, name).unwrap(), &identity)
        };
        assert_eq!((is_sd("mmcblk0"), is_sd("mmcblk1")), (false, true));
    }
}
