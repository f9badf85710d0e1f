//! OCR, the operation conditions register: voltage windows and power-up status.
//!
//! Physical Layer Specification 5.1. Linux keeps only the selected voltage in sysfs `ocr`. The status bits are valid
//! only if bit 31 reports that the power-up was finished.

use super::hex::from_hex;
use super::raw::{BlankRegister, RawRegister};
use serde::{Deserialize, Serialize};

/// Tenths of a volt at bit 0. Bit 15 is the lowest window, 2.7 to 2.8 V; each higher bit up to 23 is 0.1 V more.
const BIT_0_TENTHS: usize = 12;

decoded! {
    /// Decoded OCR.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct Ocr {
        raw: RawRegister<4> = raw, "The 4 bytes.";
        voltage_windows: Vec<String> = windows.iter().map(window_text).collect(), "Windows in volts, `2.7-2.8`.";
        vdd_min_v: Option<f64> = windows.first().map(|n| volts(*n)), "Lowest voltage of them, V.";
        vdd_max_v: Option<f64> = windows.last().map(|n| volts(n + 1)), "Highest voltage of them, V.";
        low_voltage_range: bool = raw.bit(7), "Bit 7: the low-voltage range.";
        s18a: bool = raw.bit(24), "Bit 24: switching to 1.8 V accepted.";
        co2t: bool = raw.bit(27), "Bit 27: a card over 2 TB (SDUC).";
        uhs_ii: bool = raw.bit(29), "Bit 29: UHS-II card status.";
        ccs: bool = raw.bit(30), "Bit 30, card capacity status: 0 SDSC, 1 SDHC and above.";
        power_up_status: bool = raw.bit(31), "Bit 31, `busy` in older texts: power-up has finished.";
        #[serde(skip_serializing_if = "Option::is_none", default)]
        blank: Option<BlankRegister> = raw.blank(), "Set where the register holds nothing.";
    }

    /// Decodes the 4 bytes.
    pub fn decode(bytes: [u8; 4]) {
        let raw = RawRegister(bytes);
        // Lower ends of the windows, in tenths of a volt.
        let windows: Vec<u32> = (27..36).filter(|tenths| raw.bit(*tenths as usize - BIT_0_TENTHS)).collect();
        let volts = |tenths: u32| f64::from(tenths) / 10.0;
        let window_text = |tenths: &u32| format!("{:.1}-{:.1}", volts(*tenths), volts(tenths + 1));
    }
}

from_hex!(Ocr, "OCR", "8");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typical_ocr_decodes() {
        let ocr = Ocr::from_hex("c0ff8000").unwrap();
        assert_eq!(ocr.voltage_windows.len(), 9);
        assert_eq!((ocr.vdd_min_v, ocr.vdd_max_v), (Some(2.7), Some(3.6)));
        assert!(ocr.power_up_status && ocr.ccs && !ocr.s18a && !ocr.uhs_ii && !ocr.co2t);
    }

    #[test]
    fn ocr_status_bits_decode() {
        assert!(Ocr::from_hex("01000000").unwrap().s18a);
        assert!(Ocr::from_hex("08000000").unwrap().co2t);
        assert!(Ocr::from_hex("20000000").unwrap().uhs_ii);
        assert!(Ocr::from_hex("40000000").unwrap().ccs);
        assert!(Ocr::from_hex("80000000").unwrap().power_up_status);
    }

    #[test]
    fn sysfs_ocr_has_one_voltage_window() {
        let ocr = Ocr::from_hex("0x00200000").unwrap();
        assert_eq!((ocr.voltage_windows.join(" "), ocr.power_up_status), ("3.3-3.4".to_owned(), false));
    }
}
