//! CSD, the card-specific data: capacity, commands, write protection.
//!
//! Physical Layer Specification 5.3.2 (version 1.0), 5.3.3 (2.0) and 5.3.4 (3.0). Fields that a version lacks are
//! `None`. TRAN_SPEED says nothing about a card's real speed: it is read before the bus is switched up.

use super::crc7::{self, Crc};
use super::csd_values::{self as values, CCC_CLASSES, FILE_FORMATS};
use super::raw::{Blank, Raw};
use super::{RegisterError, hex};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Bytes that one step of C_SIZE stands for in versions 2.0 and 3.0.
const C_SIZE_UNIT: u64 = 512 << 10;

/// C_SIZE from which a version 2.0 card is SDXC (kernel, drivers/mmc/core/sd.c).
const SDXC_FROM_C_SIZE: u32 = 0xffff;

/// Capacity family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Family {
    /// Up to 2 GB, CSD version 1.0.
    #[serde(rename = "SDSC")]
    Sdsc,
    /// Over 2 GB to 32 GB.
    #[serde(rename = "SDHC")]
    Sdhc,
    /// Over 32 GB to 2 TB.
    #[serde(rename = "SDXC")]
    Sdxc,
    /// Over 2 TB to 128 TB, CSD version 3.0.
    #[serde(rename = "SDUC")]
    Sduc,
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Family::Sdsc => "SDSC",
            Family::Sdhc => "SDHC",
            Family::Sdxc => "SDXC",
            Family::Sduc => "SDUC",
        })
    }
}

/// A decoded CSD of an SD card. Codes stand under the specification's names, what they mean beside them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Csd {
    /// The 16 bytes.
    pub raw: Raw<16>,
    /// Layout: 0 is version 1.0, 1 is 2.0, 2 is 3.0.
    pub csd_structure: u8,
    /// The layout's name, `2.0`.
    pub csd_version: Option<String>,
    /// Read access time, code.
    pub taac: u8,
    /// Read access time in seconds.
    pub taac_s: Option<f64>,
    /// Read access time, clock-dependent part, in units of 100 clocks.
    pub nsac: u8,
    /// Speed of one line, code.
    pub tran_speed: u8,
    /// Speed of one line in Mbit/s.
    pub tran_speed_mbit_s: Option<f64>,
    /// Command classes, one bit each.
    pub ccc: u16,
    /// Command classes by number.
    pub ccc_classes: Vec<u8>,
    /// Command classes by name.
    pub ccc_names: Vec<String>,
    /// Read block, power of two.
    pub read_bl_len: u8,
    /// Read block in bytes.
    pub read_bl_len_bytes: u32,
    /// Parts of a block may be read.
    pub read_bl_partial: bool,
    /// Writes may cross a block's border.
    pub write_blk_misalign: bool,
    /// Reads may cross a block's border.
    pub read_blk_misalign: bool,
    /// The card has a driver stage register.
    pub dsr_imp: bool,
    /// Device size, the field that capacity comes from.
    pub c_size: u32,
    /// Lowest read current at minimal voltage, code (version 1.0 only, as the next seven and the multiplier).
    pub vdd_r_curr_min: Option<u8>,
    /// The same in mA.
    pub vdd_r_curr_min_ma: Option<f64>,
    /// Highest read current, code.
    pub vdd_r_curr_max: Option<u8>,
    /// The same in mA.
    pub vdd_r_curr_max_ma: Option<f64>,
    /// Lowest write current, code.
    pub vdd_w_curr_min: Option<u8>,
    /// The same in mA.
    pub vdd_w_curr_min_ma: Option<f64>,
    /// Highest write current, code.
    pub vdd_w_curr_max: Option<u8>,
    /// The same in mA.
    pub vdd_w_curr_max_ma: Option<f64>,
    /// Multiplier of C_SIZE: 2 to the power of it plus 2.
    pub c_size_mult: Option<u8>,
    /// Single write blocks can be erased.
    pub erase_blk_en: bool,
    /// Erase sector, write blocks less one.
    pub sector_size: u8,
    /// Erase sector in write blocks.
    pub sector_size_blocks: u16,
    /// Write-protect group, erase sectors less one.
    pub wp_grp_size: u8,
    /// Write-protect group in erase sectors.
    pub wp_grp_size_sectors: u16,
    /// Groups can be write-protected.
    pub wp_grp_enable: bool,
    /// Write time as a power of two of the read time.
    pub r2w_factor: u8,
    /// Write block, power of two.
    pub write_bl_len: u8,
    /// Write block in bytes.
    pub write_bl_len_bytes: u32,
    /// Parts of a block may be written.
    pub write_bl_partial: bool,
    /// Group of file formats.
    pub file_format_grp: bool,
    /// Content is a copy. Set on nearly all genuine cards of one maker: no sign of anything.
    pub copy: bool,
    /// Write-protected for good.
    pub perm_write_protect: bool,
    /// Write-protected for now.
    pub tmp_write_protect: bool,
    /// File format, code.
    pub file_format: u8,
    /// File format in words; `None` for the reserved group.
    pub file_format_text: Option<String>,
    /// Write-protected until the next power cycle; means something where SSR says WP_UPC is supported.
    pub wp_upc: bool,
    /// User area in bytes; `None` for an empty register.
    pub capacity_bytes: Option<u64>,
    /// Capacity family.
    pub family: Option<Family>,
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

impl Csd {
    /// Reads a CSD from hex text.
    ///
    /// # Errors
    /// If the text is not 32 hex digits, or the register is an eMMC's (CSD_STRUCTURE 3).
    pub fn from_hex(text: &str) -> Result<Self, RegisterError> {
        let raw = Raw(hex::parse("CSD", text)?);
        if raw.bits(127, 126) == 3 && raw.blank().is_none() {
            return Err(RegisterError::Emmc { register: "CSD" });
        }
        Ok(decode(raw))
    }
}

fn decode(raw: Raw<16>) -> Csd {
    let byte = |high, low| raw.bits(high, low) as u8;
    let structure = byte(127, 126);
    let (blank, v1) = (raw.blank(), structure == 0);
    let only_v1 = |high, low| v1.then(|| byte(high, low));
    let (r_min, r_max) = (only_v1(61, 59), only_v1(58, 56));
    let (w_min, w_max) = (only_v1(55, 53), only_v1(52, 50));
    let (taac, tran_speed, ccc) = (byte(119, 112), byte(103, 96), raw.bits(95, 84) as u16);
    let (read_bl_len, write_bl_len) = (byte(83, 80), byte(25, 22));
    let (sector_size, wp_grp_size, file_format) = (byte(45, 39), byte(38, 32), byte(11, 10));
    let (c_size, c_size_mult) = (c_size(&raw, structure), only_v1(49, 47));
    Csd {
        raw,
        csd_structure: structure,
        csd_version: (structure < 3).then(|| format!("{}.0", structure + 1)),
        taac,
        taac_s: values::taac_seconds(taac),
        nsac: byte(111, 104),
        tran_speed,
        tran_speed_mbit_s: values::tran_speed_mbit_s(tran_speed),
        ccc,
        ccc_classes: classes(ccc).collect(),
        ccc_names: classes(ccc).map(|class| CCC_CLASSES[usize::from(class)].to_owned()).collect(),
        read_bl_len,
        read_bl_len_bytes: 1 << read_bl_len,
        read_bl_partial: raw.bit(79),
        write_blk_misalign: raw.bit(78),
        read_blk_misalign: raw.bit(77),
        dsr_imp: raw.bit(76),
        c_size,
        vdd_r_curr_min: r_min,
        vdd_r_curr_min_ma: r_min.map(values::current_min_ma),
        vdd_r_curr_max: r_max,
        vdd_r_curr_max_ma: r_max.map(values::current_max_ma),
        vdd_w_curr_min: w_min,
        vdd_w_curr_min_ma: w_min.map(values::current_min_ma),
        vdd_w_curr_max: w_max,
        vdd_w_curr_max_ma: w_max.map(values::current_max_ma),
        c_size_mult,
        erase_blk_en: raw.bit(46),
        sector_size,
        sector_size_blocks: u16::from(sector_size) + 1,
        wp_grp_size,
        wp_grp_size_sectors: u16::from(wp_grp_size) + 1,
        wp_grp_enable: raw.bit(31),
        r2w_factor: byte(28, 26),
        write_bl_len,
        write_bl_len_bytes: 1 << write_bl_len,
        write_bl_partial: raw.bit(21),
        file_format_grp: raw.bit(15),
        copy: raw.bit(14),
        perm_write_protect: raw.bit(13),
        tmp_write_protect: raw.bit(12),
        file_format,
        file_format_text: (!raw.bit(15)).then(|| FILE_FORMATS[usize::from(file_format)].to_owned()),
        wp_upc: raw.bit(9),
        capacity_bytes: if blank.is_none() { capacity(c_size, c_size_mult, read_bl_len) } else { None },
        family: if blank.is_none() { family(structure, c_size) } else { None },
        crc7: raw.0[15] >> 1,
        crc7_computed: crc7::crc7(&raw.0[..15]),
        crc: crc7::check(&raw.0),
        blank,
    }
}

/// Numbers of the command classes in CCC, 12 bits.
fn classes(ccc: u16) -> impl Iterator<Item = u8> {
    (0..12).filter(move |class| ccc >> class & 1 == 1)
}

/// C_SIZE lies elsewhere in each version.
fn c_size(raw: &Raw<16>, structure: u8) -> u32 {
    let (high, low) = [(73, 62), (69, 48)].get(usize::from(structure)).copied().unwrap_or((75, 48));
    raw.bits(high, low) as u32
}

/// User area in bytes; a multiplier is what makes a version 1.0 register.
fn capacity(c_size: u32, c_size_mult: Option<u8>, read_bl_len: u8) -> Option<u64> {
    let steps = u64::from(c_size) + 1;
    match c_size_mult {
        Some(mult) => Some(steps << (u32::from(mult) + 2 + u32::from(read_bl_len))),
        None => Some(steps * C_SIZE_UNIT),
    }
}

fn family(structure: u8, c_size: u32) -> Option<Family> {
    match structure {
        0 => Some(Family::Sdsc),
        1 if c_size >= SDXC_FROM_C_SIZE => Some(Family::Sdxc),
        1 => Some(Family::Sdhc),
        2 => Some(Family::Sduc),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sdhc_card_of_seed_002_has_the_constants_of_version_2() {
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
        assert_eq!((csd.capacity_bytes, csd.family), (Some(3_965_190_144), Some(Family::Sdhc)));
        assert_eq!(csd.crc, Crc::Ok);
    }

    #[test]
    fn the_sdsc_card_of_seed_002_has_currents_and_a_multiplier() {
        let csd = Csd::from_hex("002600325f5983c8befbcfff924040d7").unwrap();
        assert_eq!((csd.csd_structure, csd.family), (0, Some(Family::Sdsc)));
        assert_eq!((csd.taac_s, csd.read_bl_partial), (Some(0.0015), true));
        // 1111 0010 0010b, then the currents 7 6 7 6 and the multiplier 7, by hand from c8 be fb cf.
        assert_eq!((csd.c_size, csd.c_size_mult), (0xf22, Some(7)));
        assert_eq!((csd.vdd_r_curr_min, csd.vdd_r_curr_max), (Some(7), Some(6)));
        assert_eq!((csd.vdd_w_curr_min_ma, csd.vdd_w_curr_max_ma), (Some(100.0), Some(80.0)));
        // (3874 + 1) x 512 x 512
        assert_eq!(csd.capacity_bytes, Some(1_015_808_000));
    }

    #[test]
    fn an_sduc_card_counts_with_28_bits() {
        let csd = Csd::from_hex("800e0032db7900747fff7f800a40001f").unwrap();
        assert_eq!((csd.c_size, csd.capacity_bytes), (0x74_7fff, Some(4_002_909_519_872)));
        assert_eq!((csd.family, csd.crc7, csd.crc), (Some(Family::Sduc), 0x0f, Crc::Ok));
    }

    #[test]
    fn an_emmcs_csd_is_refused_by_name() {
        let error = Csd::from_hex("d02701320f5903fff6dbffef8e40400d").unwrap_err();
        assert!(error.to_string().contains("eMMC"), "{error}");
    }

    #[test]
    fn an_empty_csd_announces_no_capacity() {
        for text in ["00", "ff"] {
            let csd = Csd::from_hex(&text.repeat(16)).unwrap();
            assert!(csd.blank.is_some() && csd.capacity_bytes.is_none() && csd.family.is_none(), "{text}");
        }
    }

    #[test]
    fn sdxc_begins_where_the_kernel_lets_it_begin() {
        assert_eq!((family(1, 0xfffe), family(1, 0xffff)), (Some(Family::Sdhc), Some(Family::Sdxc)));
    }

    proptest::proptest! {
        #[test]
        fn the_largest_field_of_each_version_still_fits(mut bytes: [u8; 16], structure in 0u8..3) {
            bytes[0] = structure << 6 | bytes[0] & 0x3f;
            let csd = decode(Raw(bytes));
            // 128 TiB is the most that version 3.0 can say.
            proptest::prop_assert!(csd.capacity_bytes.is_none_or(|c| c > 0 && c <= 128 << 40));
        }
    }
}
