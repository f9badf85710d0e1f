//! An NVMe card: its answers decoded, and what sysfs and hwmon tell without root.
//!
//! sd-facts section 7.

use crate::block::BlockDevice;
use crate::hwmon;
use crate::nvme::{self, Answers};
use crate::system::{System, base_name, text};
use cardscope_sd::bus::PcieLink;
use cardscope_sd::nvme::{
    ExpressArea, ExpressIdentity, IdentifyController, IdentifyNamespace, NvmeError, NvmeIdentity, SmartLog,
    ThermalFeatures,
};

/// Bytes of an Identify Controller answer, and the places of serial, model and firmware in it.
const IDENTIFY_BYTES: usize = 4096;
const NAMES: [(&str, usize, usize); 3] = [("serial", 4, 20), ("model", 24, 40), ("firmware_rev", 64, 8)];

/// What was found, and what could not be had: what, and why.
pub(crate) struct Inspected {
    pub(crate) nvme: NvmeIdentity,
    pub(crate) missing: Vec<(&'static str, String)>,
}

/// Describes the controller behind a disk.
pub(crate) fn controller(system: &System, disk: &BlockDevice) -> Inspected {
    let answers = nvme::ask(system, disk);
    let mut missing = answers.missing.clone();
    let mut nvme = decode(&answers, &mut missing);
    let hwmon = hwmon::of_nvme(system, disk);
    let reading = |name: &str| hwmon.as_ref().and_then(|dir| hwmon::celsius(dir, name));
    let by_log = nvme.smart.as_ref().and_then(|log| log.temperature_celsius).map(f64::from);
    nvme.temperature_celsius = by_log.or_else(|| reading("temp1_input"));
    if answers.feature_04.is_none() {
        let threshold = reading("temp1_max").map(kelvin);
        nvme.features = ThermalFeatures::from_results(threshold, answers.feature_10);
    }
    if nvme.sd_express.is_none() {
        nvme.sd_express = names(system, disk).and_then(|names| ExpressIdentity::from_names(&names));
    }
    Inspected { nvme, missing }
}

fn decode(answers: &Answers, missing: &mut Vec<(&'static str, String)>) -> NvmeIdentity {
    let identify =
        take(answers.identify.as_deref(), "Identify Controller", IdentifyController::decode, missing);
    let area =
        take(answers.identify.as_deref(), "vendor area", |data| ExpressArea::decode(data, false), missing);
    NvmeIdentity {
        sd_express: identify.as_ref().and_then(ExpressIdentity::from_names),
        express_area: area.flatten(),
        identify,
        namespace: take(
            answers.namespace.as_deref(),
            "Identify Namespace",
            IdentifyNamespace::decode,
            missing,
        ),
        smart: take(answers.smart.as_deref(), "SMART log", SmartLog::decode, missing),
        features: ThermalFeatures::from_results(answers.feature_04, answers.feature_10),
        temperature_celsius: None,
    }
}

fn take<T>(
    data: Option<&[u8]>,
    what: &'static str,
    decode: impl FnOnce(&[u8]) -> Result<T, NvmeError>,
    missing: &mut Vec<(&'static str, String)>,
) -> Option<T> {
    decode(data?).map_err(|error| missing.push((what, error.to_string()))).ok()
}

/// hwmon subtracts 273.15 from whole kelvin.
fn kelvin(celsius: f64) -> u32 {
    (celsius + 273.15).round() as u32
}

/// Names alone, as sysfs has them for everybody, in the form that the SD names are read from.
fn names(system: &System, disk: &BlockDevice) -> Option<IdentifyController> {
    let dir = nvme::controller(system, disk)?;
    let mut data = vec![b' '; IDENTIFY_BYTES];
    for (name, place, length) in NAMES {
        let text = text(dir.join(name)).unwrap_or_default();
        let bytes = &text.as_bytes()[..text.len().min(length)];
        data[place..place + bytes.len()].copy_from_slice(bytes);
    }
    IdentifyController::decode(&data).ok()
}

/// The link of the controller behind a disk.
pub(crate) fn link(system: &System, disk: &BlockDevice) -> Option<PcieLink> {
    let dir = nvme::pci_place(system, &nvme::controller(system, disk)?)?;
    let word = |name: &str| text(dir.join(name));
    let now = (word("current_link_speed"), word("current_link_width"));
    let most = (word("max_link_speed"), word("max_link_width"));
    let mut link =
        PcieLink::from_sysfs((now.0.as_deref(), now.1.as_deref()), (most.0.as_deref(), most.1.as_deref()));
    link.address = base_name(&dir).filter(|name| name.contains(':')).map(str::to_owned);
    Some(link)
}
