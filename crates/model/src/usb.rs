//! USB reader: identity, line rate, and the registers that it hides.
//!
//! Kernel: drivers/usb/storage and sysfs. A reader answers SCSI commands itself, so the card's registers are not
//! readable through it.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UsbProtocol {
    /// Bulk-Only Transport, one command at a time (`usb-storage`, interface protocol 50h).
    Bot,
    /// USB Attached SCSI, with a queue (`uas`, interface protocol 62h).
    Uas,
}

with_defaults! {
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct UsbReader {
        pub vendor_id: Option<String> = None,
        pub product_id: Option<String> = None,
        pub vendor: Option<String> = None,
        pub product: Option<String> = None,
        /// Serial number of the reader, not of the card.
        pub serial: Option<String> = None,
        pub speed_mbit_s: Option<u32> = None,
        pub protocol: Option<UsbProtocol> = None,
        pub driver: Option<String> = None,
        pub inquiry_vendor: Option<String> = None,
        pub inquiry_model: Option<String> = None,
        pub inquiry_rev: Option<String> = None,
        /// Always true, because readers hide the card's registers.
        pub hides_cid: bool = true,
        pub ceiling_mb_s: Option<f64> = None,
    }
}

impl UsbReader {
    pub fn set_speed(&mut self, text: &str) {
        self.speed_mbit_s = text.trim().parse().ok();
        self.ceiling_mb_s = self.speed_mbit_s.and_then(link_ceiling_mb_s);
    }

    pub fn set_interface_protocol(&mut self, text: &str) {
        self.protocol = match text.trim() {
            "50" => Some(UsbProtocol::Bot),
            "62" => Some(UsbProtocol::Uas),
            _ => None,
        };
    }

    /// Returns e.g. `USB 5000 Mbit/s UAS`, or None if the speed is unknown.
    pub fn mode(&self) -> Option<String> {
        let protocol = match self.protocol {
            Some(UsbProtocol::Bot) => " BOT",
            Some(UsbProtocol::Uas) => " UAS",
            None => "",
        };
        Some(format!("USB {} Mbit/s{protocol}", self.speed_mbit_s?))
    }
}

/// Returns the line rate in MB/s (10^6) of a mode in the form of [`UsbReader::mode`].
pub(crate) fn usb_mode_ceiling(mode: &str) -> Option<f64> {
    let (mbit_s, _) = mode.trim().strip_prefix("USB ")?.split_once(" Mbit/s")?;
    link_ceiling_mb_s(mbit_s.parse().ok()?)
}

/// Returns the payload rate in MB/s: for full and high speed the most bulk packets per frame (19 of 64 bytes in 1 ms,
/// 13 of 512 bytes in 125 µs; USB 2.0, tables 5-9 and 5-10), above by the line code (8b/10b at 5, 128b/132b from 10
/// Gbit/s on; USB 3.2).
fn link_ceiling_mb_s(mbit_s: u32) -> Option<f64> {
    match mbit_s {
        12 => Some(1.216),
        480 => Some(53.248),
        5_000 => Some(500.0),
        10_000.. => Some(f64::from(mbit_s) / 8.0 * 128.0 / 132.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usb_3_reader_has_ceiling_of_500_mb_s() {
        let mut reader = UsbReader::default();
        reader.set_speed("5000\n");
        reader.set_interface_protocol("62\n");
        assert_eq!((reader.ceiling_mb_s, reader.hides_cid), (Some(500.0), true));
        assert_eq!(reader.mode().as_deref(), Some("USB 5000 Mbit/s UAS"));
    }

    #[test]
    fn usb_ceilings_follow_link_speed() {
        // 13 × 512 × 8000 and 19 × 64 × 1000 bytes per second.
        for (mbit_s, mb_s) in [(480, 53.248), (12, 1.216), (10_000, 1212.0), (20_000, 2424.0)] {
            assert!((link_ceiling_mb_s(mbit_s).unwrap() - mb_s).abs() < 0.5, "{mbit_s}");
        }
        assert_eq!(link_ceiling_mb_s(1), None);
    }

    #[test]
    fn invalid_usb_speed_is_unknown() {
        let mut reader = UsbReader::default();
        reader.set_speed("fast");
        assert_eq!((reader.speed_mbit_s, reader.mode()), (None, None));
    }
}
