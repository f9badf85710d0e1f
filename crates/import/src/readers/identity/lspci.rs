//! `lspci -vv`: current and possible PCIe link of a card.
//!
//! Its names come from a list of PCI numbers, which has the name under which a controller is sold elsewhere ("IX SN530 NVMe
//! SSD" for an SD Express card), so they never become the name of a card.

use crate::readers::{LogText, ReaderOutcome, add_doubts, add_other, new_log, set_word};
use cardscope_model::log::CardLog;
use cardscope_sd::bus::PcieLink;
use serde_json::json;

/// Device classes of cards and of slots.
const CARD_CLASSES: [&str; 2] = ["Non-Volatile memory controller", "SD Host controller"];

struct LspciDevice<'a> {
    address: &'a str,
    title: &'a str,
    lines: Vec<&'a str>,
}

pub(crate) fn recognise(text: &LogText) -> bool {
    let has_link = |d: &LspciDevice<'_>| ["LnkSta:", "LnkCap:"].iter().any(|n| d.find_line(n).is_some());
    split_devices(text).iter().any(has_link)
}

/// Reads the text; each card, or each slot that could hold one, is a log.
pub(crate) fn read(text: &LogText) -> ReaderOutcome {
    let mut devices = split_devices(text);
    devices.retain(|device| CARD_CLASSES.iter().any(|kind| device.title.starts_with(kind)));
    if devices.is_empty() {
        return Err(format!("none of its devices is a {}", CARD_CLASSES.join(" or a ")));
    }
    Ok(devices.iter().map(LspciDevice::to_log).collect())
}

impl<'a> LspciDevice<'a> {
    fn to_log(&self) -> CardLog {
        let mut log = new_log("lspci", None);
        log.part = Some(self.address.to_owned());
        let (now, most) = (self.link("LnkSta:"), self.link("LnkCap:"));
        let link = PcieLink { address: Some(self.address.to_owned()), ..PcieLink::from_sysfs(now, most) };
        set_word(&mut log, "bus_mode", link.mode());
        let limited = "the link runs below the card's maximum: the slot limits the speed";
        add_doubts(&mut log, [(link.limited, limited)]);
        add_other(&mut log, "pcie", json!(link));
        add_other(&mut log, "lspci", json!({ "device": self.title }));
        log
    }

    fn find_line(&self, name: &str) -> Option<&'a str> {
        self.lines.iter().find_map(|line| line.strip_prefix(name))
    }

    /// Speed and width in `Speed 5GT/s (downgraded), Width x1 (ok)`.
    fn link(&self, name: &str) -> (Option<&'a str>, Option<&'a str>) {
        let line = self.find_line(name).unwrap_or_default();
        let word = |n: &str| line.split_once(n)?.1.split([',', ' ', '\t']).find(|word| !word.is_empty());
        (word("Speed "), word("Width "))
    }
}

/// Splits the text into devices. Each begins in the first column, perhaps with a domain: `02:00.0 Non-Volatile memory
/// controller: …`.
fn split_devices<'a>(text: &'a LogText<'_>) -> Vec<LspciDevice<'a>> {
    let mut devices: Vec<LspciDevice<'_>> = Vec::new();
    for line in text.lines() {
        match line.split_once(' ').filter(|(address, _)| is_address(address)) {
            Some((address, title)) => devices.push(LspciDevice { address, title, lines: Vec::new() }),
            None => devices.iter_mut().last().into_iter().for_each(|device| device.lines.push(line.trim())),
        }
    }
    devices
}

/// `02:00.0`, `0000:02:00.0`
fn is_address(text: &str) -> bool {
    let (numbers, function) = text.split_once('.').unwrap_or_default();
    let hex = |part: &str, digits: usize| part.len() == digits && part.bytes().all(|b| b.is_ascii_hexdigit());
    let numbers: Vec<&str> = numbers.split(':').collect();
    hex(function, 1)
        && match numbers[..] {
            [domain, bus, slot] => hex(domain, 4) && hex(bus, 2) && hex(slot, 2),
            [bus, slot] => hex(bus, 2) && hex(slot, 2),
            _ => false,
        }
}
