//! CSD, the card-specific data register: capacity, commands, write protection.
//!
//! Physical Layer Specification 5.3.2 (version 1.0), 5.3.3 (2.0) and 5.3.4 (3.0). Fields that a version lacks are
//! `None`. TRAN_SPEED does not give a card's real speed, since it applies before the bus is switched up.

use super::crc7::{self, CrcStatus};
use super::hex::{self, HexFault, RegisterError};
use super::raw::{BlankRegister, RawRegister, text_of_code, texts_of_bits};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Bytes per unit of C_SIZE in versions 2.0 and 3.0.
const C_SIZE_UNIT: u64 = 512 << 10;

/// Lowest C_SIZE of an SDXC card with version 2.0 (kernel, drivers/mmc/core/sd.c).
const SDXC_FROM_C_SIZE: u32 = 0xffff;

/// Capacity family of SD cards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum CsdFamily {
    /// Up to 2 GB, CSD version 1.0.
    Sdsc,
    /// Over 2 GB to 32 GB.
    Sdhc,
    /// Over 32 GB to 2 TB.
    Sdxc,
    /// Over 2 TB to 128 TB, CSD version 3.0.
    Sduc,
}

impl fmt::Display for CsdFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

decoded! {
    /// Decoded CSD of an SD card. Each code keeps its name from the specification and is followed by its meaning.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct Csd {
        raw: RawRegister<16> = raw, "The 16 bytes.";
        csd_structure: u8 = byte(127, 126), "Layout: 0 is version 1.0, 1 is 2.0, 2 is 3.0.";
        csd_version: Option<String> = (csd_structure < 3).then(|| format!("{}.0", csd_structure + 1)), "`2.0`.";
        taac: u8 = byte(119, 112), "Read access time, code.";
        taac_s: Option<f64> = taac_seconds(taac), "Read access time in seconds.";
        nsac: u8 = byte(111, 104), "Read access time, clock-dependent part, in units of 100 clocks.";
        tran_speed: u8 = byte(103, 96), "Speed of one line, code.";
        tran_speed_mbit_s: Option<f64> = tran_speed_mbit_s(tran_speed), "Speed of one line in Mbit/s.";
        ccc: u16 = raw.bits(95, 84) as u16, "Command classes, one bit each.";
        ccc_classes: Vec<u8> = (0..12).filter(|class| ccc >> class & 1 == 1).collect(), "Command classes by number.";
        ccc_names: Vec<String> = texts_of_bits(&CCC_CLASSES, ccc), "Command classes by name.";
        read_bl_len: u8 = byte(83, 80), "Read block, power of two.";
        read_bl_len_bytes: u32 = 1 << read_bl_len, "Read block in bytes.";
        read_bl_partial: bool = raw.bit(79), "Parts of a block may be read.";
        write_blk_misalign: bool = raw.bit(78), "Writes may cross a block's border.";
        read_blk_misalign: bool = raw.bit(77), "Reads may cross a block's border.";
        dsr_imp: bool = raw.bit(76), "The card has a driver stage register.";
        c_size: u32 = c_size(&raw, csd_structure), "Device size, the field that capacity comes from.";
        vdd_r_curr_min: Option<u8> = only_v1(61, 59), "Lowest read current at minimal voltage, code (version 1.0).";
        vdd_r_curr_min_ma: Option<f64> = vdd_r_curr_min.map(|code| CURRENT_MIN_MA[usize::from(code)]), "The same in mA.";
        vdd_r_curr_max: Option<u8> = only_v1(58, 56), "Highest read current, code.";
        vdd_r_curr_max_ma: Option<f64> = vdd_r_curr_max.map(|code| CURRENT_MAX_MA[usize::from(code)]), "The same in mA.";
        vdd_w_curr_min: Option<u8> = only_v1(55, 53), "Lowest write current, code.";
        vdd_w_curr_min_ma: Option<f64> = vdd_w_curr_min.map(|code| CURRENT_MIN_MA[usize::from(code)]), "The same in mA.";
        vdd_w_curr_max: Option<u8> = only_v1(52, 50), "Highest write current, code.";
        vdd_w_curr_max_ma: Option<f64> = vdd_w_curr_max.map(|code| CURRENT_MAX_MA[usize::from(code)]), "The same in mA.";
        c_size_mult: Option<u8> = only_v1(49, 47), "Multiplier of C_SIZE: 2 to the power of it plus 2.";
        erase_blk_en: bool = raw.bit(46), "Single write blocks can be erased.";
        sector_size: u8 = byte(45, 39), "Erase sector, write blocks less one.";
        sector_size_blocks: u16 = u16::from(sector_size) + 1, "Erase sector in write blocks.";
        wp_grp_size: u8 = byte(38, 32), "Write-protect group, erase sectors less one.";
        wp_grp_size_sectors: u16 = u16::from(wp_grp_size) + 1, "Write-protect group in erase sectors.";
        wp_grp_enable: bool = raw.bit(31), "Groups can be write-protected.";
        r2w_factor: u8 = byte(28, 26), "Write time as a power of two of the read time.";
        write_bl_len: u8 = byte(25, 22), "Write block, power of two.";
        write_bl_len_bytes: u32 = 1 << write_bl_len, "Write block in bytes.";
        write_bl_partial: bool = raw.bit(21), "Parts of a block may be written.";
        file_format_grp: bool = raw.bit(15), "Group of file formats.";
        copy: bool = raw.bit(14), "Content is a copy. Set on nearly all genuine cards of one maker.";
        perm_write_protect: bool = raw.bit(13), "Write-protected for good.";
        tmp_write_protect: bool = raw.bit(12), "Write-protected for now.";
        file_format: u8 = byte(11, 10), "File format, code.";
        file_format_text: Option<String> = text_of_code(&FILE_FORMATS, file_format).filter(|_| !file_format_grp);
        wp_upc: bool = raw.bit(9), "Write-protected until the next power cycle, if the SSR has WP_UPC_SUPPORT.";
        capacity_bytes: Option<u64> = full.then(|| user_area_bytes(c_size, c_size_mult, read_bl_len)), "User area.";
        family: Option<CsdFamily> = if full { family(csd_structure, c_size) } else { None }, "Capacity family.";
        crc7: u8 = raw.0[15] >> 1, "The CRC as delivered.";
        crc7_computed: u8 = crc7::crc7(&raw.0[..15]), "The CRC that the other bytes ask for.";
        crc: CrcStatus = crc7::check_crc(&raw.0), "What the two say.";
        #[serde(skip_serializing_if = "Option::is_none", default)]
        blank: Option<BlankRegister> = raw.blank(), "Set where the register holds nothing.";
    }

    fn decode(raw: RawRegister<16>) {
        let byte = |high, low| raw.bits(high, low) as u8;
        let only_v1 = |high, low| (byte(127, 126) == 0).then(|| byte(high, low));
        let full = raw.blank().is_none();
    }
}

impl Csd {
    /// Decodes a CSD from hex text.
    ///
    /// # Errors
    /// If the text is not 32 hex digits, or the register is an eMMC's (CSD_STRUCTURE 3).
    pub fn from_hex(text: &str) -> Result<Self, RegisterError> {
        let raw = RawRegister(hex::parse("CSD", text)?);
        if raw.bits(127, 126) == 3 && raw.blank().is_none() {
            return Err(RegisterError { register: "CSD", fault: HexFault::Emmc });
        }
        Ok(Self::decode(raw))
    }
}

/// The position of C_SIZE differs between the versions.
fn c_size(raw: &RawRegister<16>, structure: u8) -> u32 {
    let (high, low) = [(73, 62), (69, 48)].get(usize::from(structure)).copied().unwrap_or((75, 48));
    raw.bits(high, low) as u32
}

/// Returns the user area in bytes. Only version 1.0 has a multiplier.
fn user_area_bytes(c_size: u32, c_size_mult: Option<u8>, read_bl_len: u8) -> u64 {
    let steps = u64::from(c_size) + 1;
    let block = |mult: u8| steps << (u32::from(mult) + 2 + u32::from(read_bl_len));
    c_size_mult.map_or(steps * C_SIZE_UNIT, block)
}

fn family(structure: u8, c_size: u32) -> Option<CsdFamily> {
    match structure {
        0 => Some(CsdFamily::Sdsc),
        1 if c_size >= SDXC_FROM_C_SIZE => Some(CsdFamily::Sdxc),
        1 => Some(CsdFamily::Sdhc),
        2 => Some(CsdFamily::Sduc),
        _ => None,
    }
}

/// Mantissas of TAAC and TRAN_SPEED in tenths; code 0 is reserved. Tables 5-5 to 5-12 of the specification.
const MANTISSA_TENTHS: [u32; 16] = [0, 10, 12, 13, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 70, 80];

/// VDD_x_CURR_MIN in mA.
const CURRENT_MIN_MA: [f64; 8] = [0.5, 1.0, 5.0, 10.0, 25.0, 35.0, 60.0, 100.0];

/// VDD_x_CURR_MAX in mA.
const CURRENT_MAX_MA: [f64; 8] = [1.0, 5.0, 10.0, 25.0, 35.0, 45.0, 80.0, 200.0];

const CCC_CLASSES: [&str; 12] = [
    "basic",
    "command queue",
    "block read",
    "reserved (3)",
    "block write",
    "erase",
    "write protection",
    "card lock",
    "application",
    "I/O",
    "switch",
    "extension",
];

const FILE_FORMATS: [&str; 4] =
    ["partitioned like a hard disk", "floppy-like, boot sector only", "universal file format", "other"];

fn taac_seconds(code: u8) -> Option<f64> {
    let tenths = mantissa_tenths(code)?;
    // Division of whole numbers keeps 1.5 ms exactly 0.0015; the unit is 1 ns times ten to the unit code.
    Some(f64::from(tenths) / (10.0 * 10f64.powi(9 - i32::from(code & 7))))
}

fn tran_speed_mbit_s(code: u8) -> Option<f64> {
    let unit_kbit_s = [100u32, 1_000, 10_000, 100_000].get(usize::from(code & 7))?;
    Some(f64::from(mantissa_tenths(code)? * unit_kbit_s) / 10_000.0)
}

fn mantissa_tenths(code: u8) -> Option<u32> {
    Some(MANTISSA_TENTHS[usize::from(code >> 3 & 15)]).filter(|tenths| *tenths > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sdhc_csd_decodes() {
        let csd = Csd::from_hex("400e00325b5900001d8a7f800a4040b9").unwrap();
        assert_eq!((csd.csd_structure, csd.csd_version.as_deref()), (1, Some("2.0")));
        assert_eq!((csd.taac, csd.taac_s, csd.nsac), (0x0e, Some(0.001), 0));
        assert_eq!((csd.tran_speed, csd.tran_speed_mbit_s), (0x32, Some(25.0)));
        assert_eq!((csd.ccc, csd.ccc_classes.as_slice()), (0x5b5, &[0, 2, 4, 5, 7, 8, 10][..]));
        assert_eq!((csd.read_bl_len, csd.write_bl_len, csd.r2w_factor), (9, 9, 2));
        assert_eq!((csd.c_size, csd.c_size_mult, csd.vdd_r_curr_min), (0x1d8a, None, None));
        assert_eq!((csd.erase_blk_en, csd.sector_size, csd.sector_size_blocks), (true, 127, 128));
        assert_eq!((csd.copy, csd.perm_write_protect, csd.tmp_write_protect), (true, false, false));
        // 7563 steps of 512 KiB.
        assert_eq!((csd.capacity_bytes, csd.family), (Some(3_965_190_144), Some(CsdFamily::Sdhc)));
        assert_eq!(csd.crc, CrcStatus::Ok);
    }

    #[test]
    fn sdsc_csd_has_currents_and_multiplier() {
        let csd = Csd::from_hex("002600325f5983c8befbcfff924040d7").unwrap();
        assert_eq!((csd.csd_structure, csd.family), (0, Some(CsdFamily::Sdsc)));
        assert_eq!((csd.taac_s, csd.read_bl_partial), (Some(0.0015), true));
        // 1111 0010 0010b, then the currents 7 6 7 6 and the multiplier 7, decoded by hand from c8 be fb cf.
        assert_eq!((csd.c_size, csd.c_size_mult), (0xf22, Some(7)));
        assert_eq!((csd.vdd_r_curr_min, csd.vdd_r_curr_max), (Some(7), Some(6)));
        assert_eq!((csd.vdd_w_curr_min_ma, csd.vdd_w_curr_max_ma), (Some(100.0), Some(80.0)));
        // (3874 + 1) x 512 x 512
        assert_eq!(csd.capacity_bytes, Some(1_015_808_000));
    }

    #[test]
    fn sduc_csd_uses_28_bits_of_c_size() {
        let csd = Csd::from_hex("800e0032db7900747fff7f800a40001f").unwrap();
        assert_eq!((csd.c_size, csd.capacity_bytes), (0x74_7fff, Some(4_002_909_519_872)));
        assert_eq!((csd.family, csd.crc7, csd.crc), (Some(CsdFamily::Sduc), 0x0f, CrcStatus::Ok));
    }

    #[test]
    fn emmc_csd_is_refused() {
        let error = Csd::from_hex("d02701320f5903fff6dbffef8e40400d").unwrap_err();
        assert!(error.to_string().contains("eMMC"), "{error}");
    }

    #[test]
    fn blank_csd_has_no_capacity() {
        for text in ["00", "ff"] {
            let csd = Csd::from_hex(&text.repeat(16)).unwrap();
            assert!(csd.blank.is_some() && csd.capacity_bytes.is_none() && csd.family.is_none(), "{text}");
        }
    }

    #[test]
    fn sdxc_starts_at_the_kernels_c_size() {
        assert_eq!((family(1, 0xfffe), family(1, 0xffff)), (Some(CsdFamily::Sdhc), Some(CsdFamily::Sdxc)));
    }

    proptest::proptest! {
        #[test]
        fn csd_capacity_never_overflows(mut bytes: [u8; 16], structure in 0u8..3) {
            bytes[0] = structure << 6 | bytes[0] & 0x3f;
            let csd = Csd::decode(RawRegister(bytes));
            // Version 3.0 has room for 128 TiB at most.
            proptest::prop_assert!(csd.capacity_bytes.is_none_or(|c| c > 0 && c <= 128 << 40));
        }
    }

    #[test]
    fn tran_speed_codes_decode() {
        let speeds = [0x32, 0x5a, 0x0b, 0x2b].map(tran_speed_mbit_s);
        assert_eq!(speeds, [Some(25.0), Some(50.0), Some(100.0), Some(200.0)]);
        assert_eq!((tran_speed_mbit_s(0x02), tran_speed_mbit_s(0x0c)), (None, None));
    }

    #[test]
    fn taac_codes_decode_exactly() {
        assert_eq!(taac_seconds(0x0e), Some(0.001));
        assert_eq!(taac_seconds(0x26), Some(0.0015));
        assert_eq!(taac_seconds(0x7f), Some(0.08));
        assert_eq!((taac_seconds(0x08), taac_seconds(0x07)), (Some(1e-9), None));
    }
}
