//! SCR, the SD configuration register: version of the specification and optional commands.
//!
//! Physical Layer Specification 5.6.

use super::hex::from_hex;
use super::raw::{BlankRegister, RawRegister, text_of_code, texts_of_bits};
use serde::{Deserialize, Serialize};

const SECURITY: [&str; 5] =
    ["none", "not used", "SDSC (version 1.01)", "SDHC (version 2.00)", "SDXC (version 3.xx)"];

/// Commands of the bits of CMD_SUPPORT, lowest bit first.
const COMMANDS: [&str; 5] = ["CMD20", "CMD23", "CMD48/49", "CMD58/59", "ACMD53/54"];

decoded! {
    /// Decoded SCR.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Scr {
        raw: RawRegister<8> = raw, "The 8 bytes.";
        scr_structure: u8 = byte(63, 60), "Layout of the register, 0.";
        sd_spec: u8 = byte(59, 56), "First part of the version.";
        sd_spec3: bool = raw.bit(47), "Second part of the version.";
        sd_spec4: bool = raw.bit(42), "Third part of the version.";
        sd_specx: u8 = byte(41, 38), "Last part of the version: 4 more than it, from 1 on.";
        version: Option<String> = version(sd_spec, sd_spec3, sd_spec4, sd_specx).filter(|_| blank.is_none()), "`3.0x`.";
        data_stat_after_erase: bool = raw.bit(55), "Bits read 1 after an erase.";
        sd_security: u8 = byte(54, 52), "Content protection, code.";
        sd_security_text: Option<String> = text_of_code(&SECURITY, sd_security), "`None` for reserved codes.";
        sd_bus_widths: u8 = byte(51, 48), "Bus widths, one bit each: bit 0 one line, bit 2 four lines.";
        bus_widths: Vec<u8> = [1, 2, 4, 8].into_iter().filter(|width| sd_bus_widths & width > 0).collect(), "In lines.";
        ex_security: u8 = byte(46, 43), "Extended security.";
        cmd_support: u8 = byte(36, 32), "Commands the card adds, one bit each.";
        cmd_support_list: Vec<String> = texts_of_bits(&COMMANDS, cmd_support), "Their names.";
        maker_bits: String = format!("{:08x}", raw.bits(31, 0)), "The maker's own 32 bits, in hex.";
        #[serde(skip_serializing_if = "Option::is_none", default)]
        blank: Option<BlankRegister> = blank, "Set where the register holds nothing.";
    }

    /// Decodes the 8 bytes.
    pub fn decode(bytes: [u8; 8]) {
        let raw = RawRegister(bytes);
        let byte = |high, low| raw.bits(high, low) as u8;
        let blank = raw.blank();
    }
}

from_hex!(Scr, "SCR", "16");

impl Scr {
    /// Returns the major number of the version, or None for reserved codes.
    pub fn major_version(&self) -> Option<u8> {
        self.version.as_deref()?.split('.').next()?.parse().ok()
    }
}

fn version(spec: u8, spec3: bool, spec4: bool, specx: u8) -> Option<String> {
    let text = match (spec, spec3, spec4, specx) {
        (0, false, false, 0) => "1.0x",
        (1, false, false, 0) => "1.10",
        (2, false, false, 0) => "2.00",
        (2, true, false, 0) => "3.0x",
        (2, true, true, 0) => "4.xx",
        (2, true, _, 1..=5) => return Some(format!("{}.xx", 4 + specx)),
        _ => return None,
    };
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scr(text: &str) -> Scr {
        Scr::from_hex(text).unwrap()
    }

    #[test]
    fn scr_version_combines_four_fields() {
        for (text, wanted) in [
            ("00a5000008070302", "1.0x"),
            ("0125000000000000", "1.10"),
            ("0235000000000000", "2.00"),
            ("0235800100000000", "3.0x"),
            ("0235840000000000", "4.xx"),
            ("0245844300000000", "5.xx"),
            ("0245848700000000", "6.xx"),
            ("024580c700000000", "7.xx"),
            ("0245854700000000", "9.xx"),
        ] {
            assert_eq!(scr(text).version.as_deref(), Some(wanted), "{text}");
        }
        assert_eq!(scr("0300000000000000").version, None);
    }

    #[test]
    fn sandisk_scr_decodes() {
        let scr = scr("0245848700000000");
        assert_eq!((scr.sd_spec, scr.sd_spec3, scr.sd_spec4, scr.sd_specx), (2, true, true, 2));
        assert_eq!((scr.sd_security, scr.sd_bus_widths, scr.bus_widths.as_slice()), (4, 5, &[1, 4][..]));
        assert_eq!((scr.data_stat_after_erase, scr.ex_security), (false, 0));
        assert_eq!((scr.cmd_support, scr.cmd_support_list.join(" ")), (7, "CMD20 CMD23 CMD48/49".to_owned()));
        assert_eq!(scr.major_version(), Some(6));
    }

    #[test]
    fn samsung_scr_reports_ones_after_erase() {
        let scr = scr("02c5800300000000");
        assert_eq!((scr.data_stat_after_erase, scr.sd_security, scr.cmd_support), (true, 4, 3));
    }

    #[test]
    fn scr_maker_bits_decode_as_hex() {
        assert_eq!(scr("0205848701006432").maker_bits, "01006432");
    }
}
