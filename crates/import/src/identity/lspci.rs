//! `lspci -vv`: which link a card has, and which it could have.
//!
//! Its names come from a list of PCI numbers that holds what a controller is sold as elsewhere ("IX SN530 NVMe SSD" for an
//! SD Express card): they are no card's name and never become one.

use crate::error::ImportError;
use crate::text::Text;
use cardscope_model::condition::Origin;
use cardscope_model::log::{Log, Tool};
use cardscope_sd::bus::PcieLink;
use serde_json::json;

/// Kinds of devices that a card can be, or sit in.
const KINDS: [&str; 2] = ["Non-Volatile memory controller", "SD Host controller"];

/// A device's lines.
struct Device<'a> {
    address: &'a str,
    /// Kind and name.
    title: &'a str,
    lines: Vec<&'a str>,
}

/// True where a device with a link stands in it.
pub(crate) fn recognise(text: &Text) -> bool {
    devices(text).iter().any(|device| device.line("LnkSta:").is_some() || device.line("LnkCap:").is_some())
}

/// Reads it: each card, or each device that could hold one, is a log.
///
/// # Errors
/// If there is no such device.
pub(crate) fn read(text: &Text) -> Result<Vec<Log>, ImportError> {
    let mut devices = devices(text);
    devices.retain(|device| KINDS.iter().any(|kind| device.title.starts_with(kind)));
    if devices.is_empty() {
        let why = format!("no device of it is a {}", KINDS.join(" or a "));
        return Err(ImportError::Empty { format: "lspci", why });
    }
    Ok(devices.iter().map(Device::log).collect())
}

impl<'a> Device<'a> {
    fn log(&self) -> Log {
        let mut log = Log::new("lspci");
        log.tool = Some(Tool { name: "lspci".into(), version: None });
        log.part = Some(self.address.to_owned());
        let (now, most) = (self.link("LnkSta:"), self.link("LnkCap:"));
        let link = PcieLink { address: Some(self.address.to_owned()), ..PcieLink::from_sysfs(now, most) };
        if let Some(mode) = link.mode() {
            log.condition.set("bus_mode", mode, Origin::Read);
        }
        if link.limited {
            log.doubts.push("the link runs below what the card could: its speeds are the slot's".to_owned());
        }
        log.other.insert("pcie".into(), json!(link));
        log.other.insert("lspci".into(), json!({ "device": self.title }));
        log
    }

    fn line(&self, name: &str) -> Option<&'a str> {
        self.lines.iter().find_map(|line| line.strip_prefix(name))
    }

    /// Speed and width in `Speed 5GT/s (downgraded), Width x1 (ok)`.
    fn link(&self, name: &str) -> (Option<&'a str>, Option<&'a str>) {
        let line = self.line(name).unwrap_or_default();
        let word =
            |name: &str| line.split_once(name)?.1.split([',', ' ', '\t']).find(|word| !word.is_empty());
        (word("Speed "), word("Width "))
    }
}

/// Devices begin in the first column: `02:00.0 Non-Volatile memory controller: …`, perhaps with a domain before.
fn devices<'a>(text: &'a Text<'_>) -> Vec<Device<'a>> {
    let mut devices: Vec<Device<'_>> = Vec::new();
    for line in text.lines() {
        match line.split_once(' ').filter(|(address, _)| is_address(address)) {
            Some((address, title)) => devices.push(Device { address, title, lines: Vec::new() }),
            None => devices.iter_mut().last().into_iter().for_each(|device| device.lines.push(line.trim())),
        }
    }
    devices
}

/// `02:00.0`, `0000:02:00.0`
fn is_address(text: &str) -> bool {
    let hex = |part: &str, digits: usize| part.len() == digits && part.bytes().all(|b| b.is_ascii_hexdigit());
    let (domain, rest) = match text.split(':').count() {
        3 => text.split_once(':').unwrap_or_default(),
        _ => ("0000", text),
    };
    let Some((bus, slot)) = rest.split_once(':') else { return false };
    let Some((slot, function)) = slot.split_once('.') else { return false };
    hex(domain, 4) && hex(bus, 2) && hex(slot, 2) && hex(function, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CARD: &str = "# lspci -vv\n03:00.0 Non-Volatile memory controller: Sample Corp IX 99 NVMe SSD (prog-if 02 [NVM Express])\n\tSubsystem: Sample Corp Device 0001\n\tCapabilities: [70] Express (v2) Endpoint\n\t\tLnkCap:\tPort #0, Speed 8GT/s, Width x1, ASPM L1\n\t\tLnkSta:\tSpeed 5GT/s (downgraded), Width x1 (ok)\n\t\tLnkCap2: Supported Link Speeds: 2.5-8GT/s\n";

    #[test]
    fn a_card_has_its_link_and_no_name() {
        let log = read(&Text::of(CARD)).unwrap().remove(0);
        assert_eq!(log.condition.get("bus_mode"), Some("PCIe 2.0 x1"));
        insta::assert_snapshot!(log.other["pcie"], @r#"{"address":"03:00.0","current_speed_gt_s":5.0,"current_width":1,"max_speed_gt_s":8.0,"max_width":1,"ceiling_mb_s":500.0,"limited":true}"#);
        assert!(log.card.is_empty());
        assert_eq!(log.doubts.len(), 1);
    }

    #[test]
    fn among_all_devices_of_a_computer_only_cards_are_taken() {
        let text =
            format!("0000:00:02.0 VGA compatible controller: X\n\tLnkSta:\tSpeed 8GT/s, Width x16\n{CARD}");
        let logs = read(&Text::of(&text)).unwrap();
        assert_eq!((logs.len(), logs[0].part.as_deref()), (1, Some("03:00.0")));
        let none = &text[..text.find("# lspci").unwrap()];
        assert!(read(&Text::of(none)).is_err());
    }

    #[test]
    fn a_capture_cut_before_the_link_knows_none() {
        let log = read(&Text::of(&CARD[..CARD.find("Speed 5").unwrap()])).unwrap().remove(0);
        assert_eq!((log.condition.get("bus_mode"), log.other["pcie"]["max_width"].as_u64()), (None, Some(1)));
    }
}
