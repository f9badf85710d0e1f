//! PCIe link of a card, from sysfs: `current_link_speed`, `max_link_width` and related files.
//!
//! Rates and line codes: PCI Express Base Specification as summarized by the SD Express chapter (Physical Layer
//! Specification 8): 8b/10b up to 5 GT/s, 128b/130b from 8 GT/s on.

use serde::{Deserialize, Serialize};

/// PCIe link, as negotiated and as the card supports it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PcieLink {
    /// PCI address, e.g. `0000:02:00.0`.
    pub address: Option<String>,
    pub current_speed_gt_s: Option<f64>,
    pub current_width: Option<u8>,
    pub max_speed_gt_s: Option<f64>,
    /// Highest supported number of lanes.
    pub max_width: Option<u8>,
    /// Rate of the negotiated link after its line code, in MB/s (10^6).
    pub ceiling_mb_s: Option<f64>,
    /// True if the link is slower or narrower than the card supports.
    pub limited: bool,
}

impl PcieLink {
    /// Parses the sysfs files: negotiated speed and width, then the highest ones. `Unknown` and absent values give
    /// None.
    pub fn from_sysfs(now: (Option<&str>, Option<&str>), most: (Option<&str>, Option<&str>)) -> Self {
        let (current_speed_gt_s, current_width) = (now.0.and_then(parse_speed), now.1.and_then(parse_width));
        let (max_speed_gt_s, max_width) = (most.0.and_then(parse_speed), most.1.and_then(parse_width));
        let slower = current_speed_gt_s.zip(max_speed_gt_s).is_some_and(|(now, most)| now < most);
        let narrower = current_width.zip(max_width).is_some_and(|(now, most)| now < most);
        PcieLink {
            address: None,
            current_speed_gt_s,
            current_width,
            max_speed_gt_s,
            max_width,
            ceiling_mb_s: current_speed_gt_s.zip(current_width).map(|(s, w)| lane_mb_s(s) * f64::from(w)),
            limited: slower || narrower,
        }
    }

    /// Returns the mode as text, e.g. `PCIe 3.0 x1`, or None if rate or width is unknown.
    pub fn mode(&self) -> Option<String> {
        let (speed, width) = self.current_speed_gt_s.zip(self.current_width)?;
        let row = GENERATIONS.iter().find(|(rate, _)| (rate - speed).abs() < 0.01);
        let generation = row.map_or_else(|| format!("{speed} GT/s"), |(_, name)| (*name).to_owned());
        Some(format!("PCIe {generation} x{width}"))
    }
}

/// Parses GT/s from `8.0 GT/s PCIe`, `2.5 GT/s` or lspci's `8GT/s`.
fn parse_speed(text: &str) -> Option<f64> {
    let (number, _) = text.split_once("GT/s")?;
    number.trim().parse::<f64>().ok().filter(|gt_s| gt_s.is_finite() && *gt_s > 0.0)
}

/// Parses lanes from `2` or lspci's `x2`. The kernel's 0 and 255 mean that it does not know.
fn parse_width(text: &str) -> Option<u8> {
    text.trim().trim_start_matches('x').parse().ok().filter(|lanes| (1..=32).contains(lanes))
}

fn lane_mb_s(gt_s: f64) -> f64 {
    let payload = if gt_s < 8.0 { 8.0 / 10.0 } else { 128.0 / 130.0 };
    gt_s * payload / 8.0 * 1000.0
}

const GENERATIONS: &[(f64, &str)] = &[(2.5, "1.0"), (5.0, "2.0"), (8.0, "3.0"), (16.0, "4.0"), (32.0, "5.0")];

/// Returns the rate in MB/s of a mode in the form of [`PcieLink::mode`], e.g. `PCIe 2.0 x1`.
pub(super) fn pcie_mode_ceiling(mode: &str) -> Option<f64> {
    let (generation, lanes) = mode.trim().strip_prefix("PCIe ")?.split_once(' ')?;
    let (rate, _) = GENERATIONS.iter().find(|(_, name)| *name == generation)?;
    Some(lane_mb_s(*rate) * f64::from(parse_width(lanes)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(speed: &str, width: &str, max_speed: &str, max_width: &str) -> PcieLink {
        PcieLink::from_sysfs((Some(speed), Some(width)), (Some(max_speed), Some(max_width)))
    }

    #[test]
    fn pcie_3_x1_link_has_ceiling_of_985_mb_s() {
        let link = link("8.0 GT/s PCIe\n", "1\n", "8.0 GT/s PCIe", "1");
        assert_eq!(link.ceiling_mb_s.map(f64::round), Some(985.0));
        assert_eq!((link.mode().as_deref(), link.limited), (Some("PCIe 3.0 x1"), false));
    }

    #[test]
    fn link_ceilings_match_the_specification() {
        for (speed, width, mb_s) in [
            ("2.5 GT/s", "1", 250.0),
            ("5.0 GT/s", "1", 500.0),
            ("8.0 GT/s", "2", 1969.0),
            ("16.0 GT/s PCIe", "2", 3938.0),
        ] {
            let ceiling = link(speed, width, "", "").ceiling_mb_s.map(f64::round);
            assert_eq!(ceiling, Some(mb_s), "{speed} x{width}");
        }
    }

    #[test]
    fn ceiling_is_derived_from_mode_name() {
        let known = ["PCIe 2.0 x1", "PCIe 3.0 x2", "PCIe 3.0 x", "PCIe 9.0 x1", "SDR104"];
        let ceilings = known.map(|mode| pcie_mode_ceiling(mode).map(f64::round));
        assert_eq!(ceilings, [Some(500.0), Some(1969.0), None, None, None]);
    }

    #[test]
    fn slower_or_narrower_link_is_limited() {
        assert!(link("2.5 GT/s PCIe", "1", "8.0 GT/s PCIe", "1").limited);
        assert!(link("8.0 GT/s PCIe", "1", "8.0 GT/s PCIe", "2").limited);
    }

    #[test]
    fn unknown_sysfs_values_give_default_link() {
        let link = link("Unknown", "255", "Unknown", "0");
        assert_eq!(link, PcieLink::default());
        assert_eq!(link.mode(), None);
    }
}
