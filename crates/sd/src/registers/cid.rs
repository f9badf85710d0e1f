//! CID, the card identification register: maker, product name, serial number, date.
//!
//! Physical Layer Specification 5.2, Table 5-2. Names end at the first NUL and have no trailing blanks, as in the
//! kernel.

use super::crc7::{self, CrcStatus};
use super::hex::from_hex;
use super::raw::{BlankRegister, RawRegister, visible_ascii};
use crate::maker;
use serde::{Deserialize, Serialize};

decoded! {
    /// Decoded CID of an SD card.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Cid {
        raw: RawRegister<16> = raw, "The 16 bytes.";
        mid: u8 = bytes[0], "Maker's number, given by SD-3C LLC.";
        mid_hex: String = format!("0x{mid:02x}"), "The same in hex, `0x03`.";
        maker: Option<String> = known.as_ref().map(|m| m.name.to_owned()), "Usual holder of the number, a hint.";
        maker_note: Option<String> = known.and_then(|m| m.note).map(str::to_owned), "Other holders, or doubts.";
        oid: String = visible_ascii(&bytes[1..3]), r"OEM id, two characters; unprintable bytes as `\xNN`.";
        oid_hex: String = format!("0x{:04x}", oid_number(&raw)), "The same in hex, `0x5344`.";
        pnm: String = kernel_name(&bytes[3..8]), "Product name, at most five characters.";
        prv: String = format!("{}.{}", bytes[8] >> 4, bytes[8] & 15), "Product revision, `n.m`.";
        hwrev: u8 = bytes[8] >> 4, "Its first digit, in the kernel's words the hardware's revision.";
        fwrev: u8 = bytes[8] & 15, "Its second digit, in the kernel's words the firmware's.";
        psn: u32 = raw.bits(55, 24) as u32, "Serial number.";
        psn_hex: String = format!("0x{psn:08x}"), "The same in hex, `0x811ea6ab`.";
        mdt: String = format!("{year}-{month:02}"), "Date of manufacture, `2011-03`.";
        mdt_year: u16 = year, "Its year.";
        mdt_month: u8 = month, "Its month, 1 is January; 0 and 13 to 15 are impossible and kept as they are.";
        crc7: u8 = bytes[15] >> 1, "The CRC as delivered.";
        crc7_computed: u8 = crc7::crc7(&bytes[..15]), "The CRC that the other bytes ask for.";
        crc: CrcStatus = crc7::check_crc(&bytes), "What the two say.";
        #[serde(skip_serializing_if = "Option::is_none", default)]
        blank: Option<BlankRegister> = raw.blank(), "Set where the register holds nothing.";
    }

    /// Decodes the 16 bytes; every value is valid.
    pub fn decode(bytes: [u8; 16]) {
        let raw = RawRegister(bytes);
        let (year, month) = (2000 + raw.bits(19, 12) as u16, raw.bits(11, 8) as u8);
        let known = maker::find_maker(bytes[0], oid_number(&raw));
    }
}

from_hex!(Cid, "CID", "32");

impl Cid {
    /// Returns the OEM id as a number.
    pub fn oid_number(&self) -> u16 {
        oid_number(&self.raw)
    }

    /// Returns the five bytes of the name, including padding.
    pub fn name_bytes(&self) -> &[u8] {
        &self.raw.0[3..8]
    }
}

fn oid_number(raw: &RawRegister<16>) -> u16 {
    raw.bits(119, 104) as u16
}

fn kernel_name(bytes: &[u8]) -> String {
    let text = bytes.split(|&b| b == 0).next().unwrap_or_default();
    visible_ascii(text.trim_ascii_end())
}

decoded! {
    /// Decoded CID of an eMMC, whose sysfs `type` is `MMC` and whose CSD has CSD_STRUCTURE 3. Layout: kernel,
    /// drivers/mmc/core/mmc.c.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct EmmcCid {
        raw: RawRegister<16> = raw, "The 16 bytes.";
        mid: u8 = raw.0[0], "Maker's number, from a list of its own.";
        cbx: u8 = raw.0[1] & 3, "Kind of housing: 0 removable card, 1 soldered (BGA), 2 package on package.";
        oid: u8 = raw.0[2], "OEM id.";
        pnm: String = kernel_name(&raw.0[3..9]), "Product name, at most six characters.";
        prv: String = format!("{}.{}", raw.0[9] >> 4, raw.0[9] & 15), "Product revision, `n.m`.";
        psn: u32 = raw.bits(47, 16) as u32, "Serial number.";
        mdt_month: u8 = raw.0[14] >> 4, "Month of manufacture.";
        mdt_year: u16 = 1997 + u16::from(raw.0[14] & 15), "Year; from version 4.51 on 0 to 12 count from 2013.";
    }

    fn decode(bytes: [u8; 16]) {
        let raw = RawRegister(bytes);
    }
}

from_hex!(EmmcCid, "CID", "32");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sandisk_4_gb_cid_decodes() {
        let cid = Cid::from_hex("035344535530344780811ea6ab00b37f").unwrap();
        assert_eq!((cid.mid, cid.oid.as_str(), cid.oid_hex.as_str()), (3, "SD", "0x5344"));
        assert_eq!((cid.pnm.as_str(), cid.prv.as_str()), ("SU04G", "8.0"));
        assert_eq!((cid.psn, cid.psn_hex.as_str()), (0x811e_a6ab, "0x811ea6ab"));
        assert_eq!((cid.mdt.as_str(), cid.mdt_year, cid.mdt_month), ("2011-03", 2011, 3));
        assert_eq!((cid.crc7, cid.crc), (0x3f, CrcStatus::Ok));
        assert_eq!(cid.maker.as_deref(), Some("SanDisk / Western Digital"));
    }

    #[test]
    fn product_name_has_no_padding() {
        assert_eq!(Cid::from_hex("744a60555344202010a5a2038a00f601").unwrap().pnm, "USD");
        assert_eq!(kernel_name(b"SD\0\0\0"), "SD");
        assert_eq!(kernel_name(&[0; 5]), "");
    }

    #[test]
    fn unprintable_oid_is_escaped() {
        let cid = Cid::from_hex("0383684e4361726410e000035d00e200").unwrap();
        assert_eq!(
            (cid.oid.as_str(), cid.oid_hex.as_str(), cid.crc),
            ("\\x83h", "0x8368", CrcStatus::Absent)
        );
    }

    #[test]
    fn blank_cid_is_flagged() {
        assert_eq!(Cid::decode([0; 16]).blank, Some(BlankRegister::AllZeros));
        assert_eq!(Cid::decode([0xff; 16]).crc, CrcStatus::Absent);
    }

    #[test]
    fn non_bcd_revision_is_formatted_as_two_numbers() {
        assert_eq!(Cid::from_hex("0000003030303030ff000016ca00e200").unwrap().prv, "15.15");
    }

    #[test]
    fn samsung_emmc_cid_decodes() {
        let cid = EmmcCid::from_hex("1501004d384731474303dc0db061506f").unwrap();
        assert_eq!((cid.mid, cid.cbx, cid.oid, cid.pnm.as_str()), (0x15, 1, 0, "M8G1GC"));
        assert_eq!((cid.psn, cid.mdt_month, cid.mdt_year), (0xdc0d_b061, 5, 1997));
    }
}
