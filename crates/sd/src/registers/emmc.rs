//! The CID of an eMMC, told apart from an SD card's.
//!
//! sysfs says `type` = `MMC`, and its CSD has CSD_STRUCTURE 3. Layout: kernel, drivers/mmc/core/mmc.c.

use super::cid::kernel_name;
use super::raw::Raw;
use super::{RegisterError, hex};
use serde::{Deserialize, Serialize};

/// A decoded CID of an eMMC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmmcCid {
    /// The 16 bytes.
    pub raw: Raw<16>,
    /// Maker's number, from a list of its own.
    pub mid: u8,
    /// Kind of housing: 0 removable card, 1 soldered (BGA), 2 package on package.
    pub cbx: u8,
    /// OEM id.
    pub oid: u8,
    /// Product name, at most six characters.
    pub pnm: String,
    /// Product revision, `n.m`.
    pub prv: String,
    /// Serial number.
    pub psn: u32,
    /// Month of manufacture.
    pub mdt_month: u8,
    /// Year as first defined (1997 + n); devices from version 4.51 on count from 2013 for n up to 12.
    pub mdt_year: u16,
}

impl EmmcCid {
    /// Reads an eMMC's CID from hex text.
    ///
    /// # Errors
    /// If the text is not 32 hex digits.
    pub fn from_hex(text: &str) -> Result<Self, RegisterError> {
        let bytes: [u8; 16] = hex::parse("CID", text)?;
        let raw = Raw(bytes);
        Ok(EmmcCid {
            raw,
            mid: bytes[0],
            cbx: bytes[1] & 3,
            oid: bytes[2],
            pnm: kernel_name(&bytes[3..9]),
            prv: format!("{}.{}", bytes[9] >> 4, bytes[9] & 15),
            psn: raw.bits(47, 16) as u32,
            mdt_month: bytes[14] >> 4,
            mdt_year: 1997 + u16::from(bytes[14] & 15),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_samsung_emmc_has_six_letters_and_its_own_date() {
        let cid = EmmcCid::from_hex("1501004d384731474303dc0db061506f").unwrap();
        assert_eq!((cid.mid, cid.cbx, cid.oid, cid.pnm.as_str()), (0x15, 1, 0, "M8G1GC"));
        assert_eq!((cid.psn, cid.mdt_month, cid.mdt_year), (0xdc0d_b061, 5, 1997));
    }
}
