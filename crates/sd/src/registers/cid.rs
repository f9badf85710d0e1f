//! CID, the card's identification: who made it, what it is called, its serial and date.
//!
//! Physical Layer Specification 5.2, Table 5-2. Names are shown as the kernel shows them: up to the first NUL,
//! without trailing blanks.

use super::crc7::{self, Crc};
use super::raw::{Blank, Raw, visible_ascii};
use super::{RegisterError, hex};
use crate::maker;
use serde::{Deserialize, Serialize};

/// A decoded CID of an SD card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cid {
    /// The 16 bytes.
    pub raw: Raw<16>,
    /// Maker's number, given by SD-3C LLC.
    pub mid: u8,
    /// The same in hex, `0x03`.
    pub mid_hex: String,
    /// Who is known to use that number: a hint, since the list was never published.
    pub maker: Option<String>,
    /// Where sources disagree about the maker, or others share the number.
    pub maker_note: Option<String>,
    /// OEM id, two characters; unprintable bytes as `\xNN`.
    pub oid: String,
    /// The same in hex, `0x5344`.
    pub oid_hex: String,
    /// Product name, at most five characters.
    pub pnm: String,
    /// Product revision, `n.m`.
    pub prv: String,
    /// Its first digit, in the kernel's words the hardware's revision.
    pub hwrev: u8,
    /// Its second digit, in the kernel's words the firmware's.
    pub fwrev: u8,
    /// Serial number.
    pub psn: u32,
    /// The same in hex, `0x811ea6ab`.
    pub psn_hex: String,
    /// Date of manufacture, `2011-03`.
    pub mdt: String,
    /// Its year.
    pub mdt_year: u16,
    /// Its month, 1 is January; 0 and 13 to 15 are impossible and kept as they are.
    pub mdt_month: u8,
    /// The CRC as delivered.
    pub crc7: u8,
    /// The CRC that the other bytes ask for.
    pub crc7_computed: u8,
    /// What the two say.
    pub crc: Crc,
    /// Set where the register holds nothing.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub blank: Option<Blank>,
}

impl Cid {
    /// Reads a CID from hex text.
    ///
    /// # Errors
    /// If the text is not 32 hex digits.
    pub fn from_hex(text: &str) -> Result<Self, RegisterError> {
        hex::parse("CID", text).map(Self::decode)
    }

    /// Decodes the 16 bytes; every value of them means something.
    #[must_use]
    pub fn decode(bytes: [u8; 16]) -> Self {
        let raw = Raw(bytes);
        let (mid, oid, psn) = (bytes[0], raw.bits(119, 104) as u16, raw.bits(55, 24) as u32);
        let (year, month) = (2000 + raw.bits(19, 12) as u16, raw.bits(11, 8) as u8);
        let maker = maker::look_up(mid, oid);
        Cid {
            raw,
            mid,
            mid_hex: format!("0x{mid:02x}"),
            maker: maker.as_ref().map(|m| m.name.to_owned()),
            maker_note: maker.and_then(|m| m.note).map(str::to_owned),
            oid: visible_ascii(&bytes[1..3]),
            oid_hex: format!("0x{oid:04x}"),
            pnm: kernel_name(&bytes[3..8]),
            prv: format!("{}.{}", bytes[8] >> 4, bytes[8] & 15),
            hwrev: bytes[8] >> 4,
            fwrev: bytes[8] & 15,
            psn,
            psn_hex: format!("0x{psn:08x}"),
            mdt: format!("{year}-{month:02}"),
            mdt_year: year,
            mdt_month: month,
            crc7: bytes[15] >> 1,
            crc7_computed: crc7::crc7(&bytes[..15]),
            crc: crc7::check(&bytes),
            blank: raw.blank(),
        }
    }

    /// The OEM id as a number.
    #[must_use]
    pub fn oid_number(&self) -> u16 {
        self.raw.bits(119, 104) as u16
    }

    /// The five bytes of the name, padding included.
    #[must_use]
    pub fn name_bytes(&self) -> &[u8] {
        &self.raw.0[3..8]
    }
}

/// A name as the kernel shows it.
pub(super) fn kernel_name(bytes: &[u8]) -> String {
    let text = bytes.split(|&b| b == 0).next().unwrap_or_default();
    visible_ascii(text.trim_ascii_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sandisk_4_gb_of_seed_002_reads_field_by_field() {
        let cid = Cid::from_hex("035344535530344780811ea6ab00b37f").unwrap();
        assert_eq!((cid.mid, cid.oid.as_str(), cid.oid_hex.as_str()), (3, "SD", "0x5344"));
        assert_eq!((cid.pnm.as_str(), cid.prv.as_str()), ("SU04G", "8.0"));
        assert_eq!((cid.psn, cid.psn_hex.as_str()), (0x811e_a6ab, "0x811ea6ab"));
        assert_eq!((cid.mdt.as_str(), cid.mdt_year, cid.mdt_month), ("2011-03", 2011, 3));
        assert_eq!((cid.crc7, cid.crc), (0x3f, Crc::Ok));
        assert_eq!(cid.maker.as_deref(), Some("SanDisk / Western Digital"));
    }

    #[test]
    fn trailing_blanks_and_nul_padding_of_a_name_are_not_shown() {
        assert_eq!(Cid::from_hex("744a60555344202010a5a2038a00f601").unwrap().pnm, "USD");
        assert_eq!(kernel_name(b"SD\0\0\0"), "SD");
        assert_eq!(kernel_name(&[0; 5]), "");
    }

    #[test]
    fn an_oid_that_is_no_text_stays_visible() {
        let cid = Cid::from_hex("0383684e4361726410e000035d00e200").unwrap();
        assert_eq!((cid.oid.as_str(), cid.oid_hex.as_str(), cid.crc), ("\\x83h", "0x8368", Crc::Absent));
    }

    #[test]
    fn an_empty_cid_is_decoded_and_flagged() {
        assert_eq!(Cid::decode([0; 16]).blank, Some(Blank::AllZeros));
        assert_eq!(Cid::decode([0xff; 16]).crc, Crc::Absent);
    }

    #[test]
    fn a_revision_beyond_bcd_is_shown_as_its_two_halves() {
        assert_eq!(Cid::from_hex("0000003030303030ff000016ca00e200").unwrap().prv, "15.15");
    }
}
