//! SD Express additions to NVMe: SD names inside `mn` and `sn`, SD Express class in the vendor area.
//!
//! Physical Layer Specification 8.1.7 and 8.4. The names are checked on three cards; the rule for `fr` is omitted
//! because none of the three follows it. The vendor area is valid if it was read with the UUID index of
//! [`EXPRESS_UUID`], or if it contains that UUID.

use super::bytes::{NvmeError, StructureBytes, kelvin_to_celsius};
use super::identify::IdentifyController;
use crate::mark::Mark;
use serde::{Deserialize, Serialize};

/// UUID of the SD Express data, in stored byte order.
pub const EXPRESS_UUID: [u8; 16] =
    [0x72, 0x4e, 0x2d, 0xb4, 0x85, 0x69, 0x40, 0x6b, 0x8e, 0xcc, 0xb3, 0xf2, 0x7f, 0x89, 0x16, 0x9e];

/// Offset of the vendor area and of the SD Express class in it.
const VENDOR_AREA: usize = 3072;
const THERMAL_LIMITS: usize = 3184;

/// SD identity of an SD Express card, from its NVMe names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpressIdentity {
    pub pnm: String,
    /// Version of the SD specification, `7.1`.
    pub spec: String,
    pub psn: Option<u32>,
    /// Date of manufacture, `2024-10`, if the text is a date.
    pub mdt: Option<String>,
}

impl ExpressIdentity {
    /// Parses the names, or returns None if the model does not have the form of SD Express cards.
    pub fn from_names(identify: &IdentifyController) -> Option<Self> {
        let model = identify.mn.as_bytes();
        let (pnm, version) = (model.get(..5)?, model.get(5..7)?);
        let ends = model.get(7).is_none_or(|b| !b.is_ascii_alphanumeric());
        // SD Express was introduced with version 7.0.
        let plausible = (b'7'..=b'9').contains(&version[0]) && version[1].is_ascii_digit() && ends;
        plausible.then(|| ExpressIdentity {
            pnm: String::from_utf8_lossy(pnm).trim_end().to_owned(),
            spec: format!("{}.{}", version[0] as char, version[1] as char),
            psn: identify.sn.get(..8).and_then(parse_hex),
            mdt: identify.sn.get(8..11).and_then(parse_date),
        })
    }
}

/// Accepts hex digits only, because the standard parser would also accept a sign.
fn parse_hex(text: &str) -> Option<u32> {
    let digits = text.bytes().all(|b| b.is_ascii_hexdigit());
    u32::from_str_radix(text, 16).ok().filter(|_| digits)
}

/// Parses `18a` as October 2024: two hex digits of the year, one of the month.
fn parse_date(text: &str) -> Option<String> {
    let code = parse_hex(text)?;
    let (year, month) = (2000 + (code >> 4), code & 15);
    (1..=12).contains(&month).then(|| format!("{year}-{month:02}"))
}

/// SD Express class and thermal limits of a card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpressArea {
    pub class: Mark,
    pub sctmt1_celsius: Option<i32>,
    pub sctmt2_celsius: Option<i32>,
}

impl ExpressArea {
    /// Decodes the vendor area of Identify Controller. `selected` means that it was read with the UUID's index.
    /// Returns None if the area is not that of SD Express or has no valid class.
    ///
    /// # Errors
    /// If there are fewer than 4096 bytes.
    pub fn decode(data: &[u8], selected: bool) -> Result<Option<Self>, NvmeError> {
        let b = StructureBytes::new("Identify Controller", data, 4096)?;
        let vendor_area = b.range_or_empty(VENDOR_AREA, 1024);
        if !selected && !vendor_area.windows(16).any(|window| window == EXPRESS_UUID) {
            return Ok(None);
        }
        let limits = b.u32(THERMAL_LIMITS);
        Ok(Mark::new('E', b.u16(VENDOR_AREA)).map(|class| ExpressArea {
            class,
            sctmt1_celsius: kelvin_to_celsius((limits >> 16) as u16),
            sctmt2_celsius: kelvin_to_celsius(limits as u16),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::identify::tests::{adata, structure};
    use super::*;

    fn names(mn: &str, sn: &str) -> Option<ExpressIdentity> {
        let mut data = adata();
        data[4..24].copy_from_slice(format!("{sn:<20}").as_bytes());
        data[24..64].copy_from_slice(format!("{mn:<40}").as_bytes());
        ExpressIdentity::from_names(&IdentifyController::decode(&data).unwrap())
    }

    #[test]
    fn sd_names_of_three_real_cards_are_parsed() {
        let lexar = names("LX1TB71", "0012abcd18a").unwrap();
        assert_eq!((lexar.pnm.as_str(), lexar.spec.as_str()), ("LX1TB", "7.1"));
        assert_eq!((lexar.psn, lexar.mdt.as_deref()), (Some(0x0012_abcd), Some("2024-10")));
        assert_eq!(names("SD   71", "").unwrap().pnm, "SD");
        assert_eq!(names("ST25671_WDC SanDisk SD Express SDSQXFN", "x").unwrap().pnm, "ST256");
    }

    #[test]
    fn ordinary_ssds_have_no_sd_identity() {
        for model in [
            "Samsung SSD 970 EVO 1TB",
            "WDS500G3X0C-00SJG0",
            "CT1000P1SSD8",
            "SD",
            "KXG60ZNV512G",
            "MZVLB512HAJQ",
            "",
        ] {
            assert_eq!(names(model, "S4EWNX0M"), None, "{model}");
        }
    }

    #[test]
    fn redacted_serial_gives_no_number_or_date() {
        let card = names("SD   71", "AXXXXXXXXXX").unwrap();
        assert_eq!((card.psn, card.mdt), (None, None));
    }

    #[test]
    fn express_class_needs_uuid_or_selected_area() {
        let mut data = structure(4096, &[(3072, &[0xc2, 0x01]), (3184, &0x0162_0166u32.to_le_bytes())]);
        assert_eq!(ExpressArea::decode(&data, false), Ok(None));
        let area = ExpressArea::decode(&data, true).unwrap().unwrap();
        assert_eq!(area.class.to_string(), "E450");
        assert_eq!((area.sctmt1_celsius, area.sctmt2_celsius), (Some(81), Some(85)));
        data[3200..3216].copy_from_slice(&EXPRESS_UUID);
        assert!(ExpressArea::decode(&data, false).unwrap().is_some());
        data[3072] = 7;
        assert_eq!(ExpressArea::decode(&data, true), Ok(None));
    }
}
