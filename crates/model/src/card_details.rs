//! Details of a card apart from its name: controller, link, temperatures and their limits, flash geometry. Collected
//! from the card's identity, from logs of other tools and from maps.

use crate::card_map::FlashGeometry;
use crate::card_map::property::PropertyStatus;
use crate::condition::Condition;
use crate::sustain::TemperatureLimits;
use cardscope_sd::bus::PcieLink;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Temperatures of a card in use, in °C.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CardTemperatures {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cooling: Option<String>,
    /// Lowest temperature at the start of a test.
    pub idle_c: Option<f64>,
    pub peak_c: Option<f64>,
}

#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CardDetails {
    /// Controller name from the list of PCI ids.
    pub controller: Option<String>,
    pub pcie_link: Option<String>,
    #[serde(skip_serializing_if = "is_default", default)]
    pub limits: TemperatureLimits,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub temperatures: Vec<CardTemperatures>,
    pub geometry: Option<FlashGeometry>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl CardDetails {
    pub fn is_empty(&self) -> bool {
        is_default(self)
    }

    /// Adds the details in an identity or a log with the same keys: `nvme`, `pcie`, `lspci`. Later values replace
    /// earlier ones.
    pub fn add_identity_json(&mut self, said: &Value) {
        let device = said.pointer("/lspci/device").and_then(Value::as_str);
        replace_if_some(&mut self.controller, device.and_then(parse_controller));
        let link = said.get("pcie").and_then(|link| PcieLink::deserialize(link).ok());
        replace_if_some(&mut self.pcie_link, link.and_then(|link| link.mode()));
        let nvme = |pointer: &str| said.get("nvme")?.pointer(pointer)?.as_f64();
        replace_if_some(&mut self.limits.tmpth_celsius, nvme("/tmpth_celsius"));
        replace_if_some(&mut self.limits.tmt1_celsius, nvme("/tmt1_celsius"));
        replace_if_some(&mut self.limits.tmt2_celsius, nvme("/tmt2_celsius"));
        replace_if_some(&mut self.limits.warning_celsius, nvme("/identify/wctemp_celsius"));
        replace_if_some(&mut self.limits.critical_celsius, nvme("/identify/cctemp_celsius"));
    }

    /// Replaces the geometry, unless nothing in the new one was tested.
    pub fn add_geometry(&mut self, found: FlashGeometry) {
        let open = [&found.open_blocks.linear, &found.open_blocks.random].map(|open| open.status);
        let units = [&found.page_bytes, &found.erase_block_bytes].map(|unit| unit.status);
        if open.into_iter().chain(units).any(|status| status != PropertyStatus::NotTested) {
            self.geometry = Some(found);
        }
    }

    /// Adds the temperatures in the condition's note, e.g. `20°C idle, up to 82°C during test`.
    pub fn add_note_temperatures(&mut self, condition: &Condition) {
        let note = condition.get("note").unwrap_or_default();
        self.add_temperatures(condition, celsius_before(note, "idle"), celsius_after(note, "up to"));
    }

    /// Adds the temperatures of a test: keeps the lowest idle and the highest peak of each cooling.
    pub fn add_temperatures(&mut self, condition: &Condition, idle_c: Option<f64>, peak_c: Option<f64>) {
        if idle_c.is_none() && peak_c.is_none() {
            return;
        }
        let cooling = condition.get("cooling").map(str::to_owned);
        match self.temperatures.iter_mut().find(|known| known.cooling == cooling) {
            Some(known) => {
                known.idle_c = [known.idle_c, idle_c].into_iter().flatten().reduce(f64::min);
                known.peak_c = [known.peak_c, peak_c].into_iter().flatten().reduce(f64::max);
            }
            None => self.temperatures.push(CardTemperatures { cooling, idle_c, peak_c }),
        }
    }
}

fn replace_if_some<T>(known: &mut Option<T>, said: Option<T>) {
    *known = said.or(known.take());
}

fn celsius_before(text: &str, word: &str) -> Option<f64> {
    let before = text.split_once(word)?.0.trim_end().strip_suffix("°C")?.trim_end();
    before.rsplit(|c: char| !c.is_ascii_digit() && c != '.').next()?.parse().ok()
}

fn celsius_after(text: &str, word: &str) -> Option<f64> {
    let (degrees, _) = text.split_once(word)?.1.split_once("°C")?;
    degrees.trim().parse().ok().filter(|celsius: &f64| celsius.is_finite())
}

/// Parses lspci's `Non-Volatile memory controller: Maker Name (prog-if 02 [NVM Express])`.
fn parse_controller(device: &str) -> Option<String> {
    let name = device.split_once(": ").map_or(device, |(_, name)| name);
    let name = name.split(" (prog-if").next().unwrap_or(name).trim();
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card_map::property::{Property, PropertyEvidence};
    use crate::condition::ConditionOrigin;
    use serde_json::json;

    #[test]
    fn details_are_read_from_identity_json() {
        let mut details = CardDetails::default();
        details.add_identity_json(
            &json!({ "nvme": { "tmpth_celsius": 83, "tmt1_celsius": 81, "tmt2_celsius": 85 } }),
        );
        details.add_identity_json(&json!({
            "pcie": { "current_speed_gt_s": 8.0, "current_width": 1, "limited": false },
            "lspci": { "device": "Non-Volatile memory controller: Acme Device 1234 (prog-if 02 [NVM Express])" },
        }));
        details.add_identity_json(&json!({ "cid": {} }));
        let TemperatureLimits { tmpth_celsius, tmt1_celsius, tmt2_celsius, .. } = details.limits;
        assert_eq!([tmpth_celsius, tmt1_celsius, tmt2_celsius], [83.0, 81.0, 85.0].map(Some));
        assert_eq!(details.pcie_link.as_deref(), Some("PCIe 3.0 x1"));
        assert_eq!(details.controller.as_deref(), Some("Acme Device 1234"));
    }

    #[test]
    fn temperatures_merge_to_lowest_idle_and_highest_peak() {
        let mut details = CardDetails::default();
        let mut passive = Condition::default();
        passive.set("cooling", "passive", ConditionOrigin::Stated);
        details.add_temperatures(&passive, Some(22.0), Some(71.0));
        details.add_temperatures(&passive, Some(20.0), Some(82.0));
        details.add_temperatures(&Condition::default(), None, Some(41.0));
        details.add_temperatures(&Condition::default(), None, None);
        let found: Vec<_> =
            details.temperatures.iter().map(|t| (t.cooling.as_deref(), t.idle_c, t.peak_c)).collect();
        assert_eq!(found, [(Some("passive"), Some(20.0), Some(82.0)), (None, None, Some(41.0))]);
    }

    #[test]
    fn temperatures_are_parsed_from_condition_note() {
        let noted = |note: &str| {
            let mut condition = Condition::default();
            condition.set("note", note, ConditionOrigin::Read);
            let mut details = CardDetails::default();
            details.add_note_temperatures(&condition);
            details.temperatures.first().map(|heat| (heat.idle_c, heat.peak_c))
        };
        assert_eq!(
            noted("20°C idle, up to 82°C during test; published 2025"),
            Some((Some(20.0), Some(82.0)))
        );
        assert_eq!(noted("warm, up to 41 °C"), Some((None, Some(41.0))));
        for other in ["", "an idle card", "up to 82 MB/s", "°C idle", "up to NaN°C"] {
            assert_eq!(noted(other), None, "{other}");
        }
    }

    #[test]
    fn untested_geometry_does_not_replace_a_tested_one() {
        let mut details = CardDetails::default();
        let unit = Property::measured(4 << 20, 0.99, PropertyEvidence::default());
        details.add_geometry(FlashGeometry { erase_block_bytes: unit.clone(), ..FlashGeometry::default() });
        details.add_geometry(FlashGeometry::default());
        assert_eq!(details.geometry.unwrap().erase_block_bytes, unit);
    }
}
