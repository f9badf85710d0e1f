//! Decoders of the makers' health pages. Each line can be checked against the maker's table: offset, length, meaning.

use super::{CardHealth, HealthError, HealthFields, HealthLayout, PAGE_BYTES};
use crate::registers::raw::visible_ascii;
use crate::registers::{RawRegister, hex};

struct HealthBytes<'a>(&'a [u8; PAGE_BYTES]);

impl HealthBytes<'_> {
    fn byte_at(&self, at: usize) -> u64 {
        self.0[at].into()
    }

    fn big_endian(&self, at: usize, bytes: usize) -> u64 {
        self.0[at..at + bytes].iter().fold(0, |n, byte| n << 8 | u64::from(*byte))
    }

    fn little_endian(&self, at: usize, bytes: usize) -> u64 {
        self.0[at..at + bytes].iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte))
    }

    fn text_at(&self, at: usize, bytes: usize) -> Option<String> {
        let field = &self.0[at..at + bytes];
        let end = field.iter().position(|byte| matches!(byte, 0 | 0xff)).unwrap_or(bytes);
        let text = visible_ascii(&field[..end]).trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    fn date_at(&self, at: usize) -> Option<String> {
        let digits = std::str::from_utf8(&self.0[at..at + 6]).ok()?;
        let number = |at: usize| digits.get(at..at + 2)?.parse::<u8>().ok();
        let (year, month, day) = (number(0)?, number(2)?, number(4)?);
        let real = (1..=12).contains(&month) && (1..=31).contains(&day);
        real.then(|| format!("20{year:02}-{month:02}-{day:02}"))
    }
}

impl CardHealth {
    /// Decodes the 512 bytes in the layout of their signature, or in Apacer's if its figures are plausible.
    ///
    /// # Errors
    /// If the page is blank or fits no layout.
    pub fn decode(page: [u8; PAGE_BYTES]) -> Result<CardHealth, HealthError> {
        let raw = RawRegister(page);
        if let Some(blank) = raw.blank() {
            return Err(HealthError::Blank(blank));
        }
        let bytes = HealthBytes(&page);
        // Apacer's layout has no signature and is recognized by plausible figures.
        let (layout, fields) = match [page[0], page[1]] {
            [b'D', b'S' | b'W'] => (HealthLayout::SanDisk, decode_sandisk(&bytes)),
            [0x70, 0x58] => (HealthLayout::Longsys, decode_longsys(&bytes)),
            [b'M', b'E'] => (HealthLayout::Micron, decode_micron(&bytes)),
            [b'S', b'w'] => (HealthLayout::Swissbit, decode_swissbit(&bytes)),
            _ if is_plausible_page(&bytes) => (HealthLayout::Apacer, decode_apacer(&bytes)),
            signature => return Err(HealthError::Unknown(signature)),
        };
        Ok(CardHealth { raw, layout, fields })
    }

    /// Decodes a page from hex text.
    ///
    /// # Errors
    /// As [`Self::decode`], and if the text is not 1024 hex digits.
    pub fn from_hex(text: &str) -> Result<CardHealth, HealthError> {
        Self::decode(hex::parse("health page", text)?)
    }
}

/// Converts the percent of life begun to the percent used: 01h is up to 0.99 % used, 64h up to 99.99 %.
fn used_from_begun_percent(percent: u64) -> Option<f64> {
    percent.checked_sub(1).map(|over| over as f64)
}

/// Converts the percent of life left to the percent used, or returns None for more than 100.
fn used_from_left_percent(left: u64) -> Option<f64> {
    100u64.checked_sub(left).map(|used| used as f64)
}

fn decode_sandisk(page: &HealthBytes<'_>) -> HealthFields {
    HealthFields {
        made: page.date_at(2),
        life_used_percent: used_from_begun_percent(page.byte_at(8)),
        power_cycles: Some(page.big_endian(24, 3)),
        product: page.text_at(49, 32),
        ..HealthFields::default()
    }
}

/// Numbers are little-endian; wear is in thousandths of a cycle, data in sectors of 512 bytes.
fn decode_longsys(page: &HealthBytes<'_>) -> HealthFields {
    HealthFields {
        bad_blocks_at_first: Some(page.little_endian(16, 4)),
        bad_blocks_since: Some(page.little_endian(20, 4)),
        written_bytes: Some(page.little_endian(24, 8).saturating_mul(512)),
        spare_blocks: Some(page.little_endian(32, 4)),
        erase_cycles: Some(page.little_endian(36, 4) as f64 / 1000.0),
        life_used_percent: used_from_left_percent(page.little_endian(44, 4)),
        erase_cycles_rated: Some(page.little_endian(52, 4) as f64),
        ..HealthFields::default()
    }
}

/// Life used is coded as SanDisk's. The next bytes, the shares of the TLC and the SLC area, are not decoded.
fn decode_micron(page: &HealthBytes<'_>) -> HealthFields {
    HealthFields { life_used_percent: used_from_begun_percent(page.byte_at(7)), ..HealthFields::default() }
}

/// Numbers are big-endian. Those of the user area are decoded; those of the system area follow each of them.
fn decode_swissbit(page: &HealthBytes<'_>) -> HealthFields {
    HealthFields {
        firmware: page.text_at(32, 16),
        erase_cycles_rated: Some(page.big_endian(48, 4) as f64),
        erase_cycles_most: Some(page.big_endian(52, 4) as f64),
        erase_cycles: Some(page.big_endian(60, 4) as f64),
        life_used_percent: used_from_left_percent(page.byte_at(80)),
        spare_blocks: Some(page.big_endian(88, 4)),
        bad_blocks_since: Some(page.big_endian(96, 4)),
        refreshes: Some(page.big_endian(104, 4)),
        bus_crc_errors: Some(page.big_endian(112, 4)),
        power_cycles: Some(page.big_endian(116, 4)),
        ..HealthFields::default()
    }
}

/// Numbers are big-endian. Bad blocks have one byte per die; erase counts are split in two halves.
fn decode_apacer(page: &HealthBytes<'_>) -> HealthFields {
    let dies = |at: usize| page.0[at..at + 32].iter().map(|blocks| u64::from(*blocks)).sum();
    HealthFields {
        firmware: Some(format!("{}.{}", page.0[11], page.0[12])),
        spare_blocks: Some(page.big_endian(16, 2)),
        bad_blocks_at_first: Some(dies(32)),
        bad_blocks_since: Some(dies(184)),
        // Life left in hundredths of a percent: 99.97 left gives 0.03 used.
        life_used_percent: Some((10_000 - page.big_endian(96, 2).min(10_000)) as f64 / 100.0),
        erase_cycles: Some(apacer_erase_count(page, 0) as f64),
        erase_cycles_most: Some(apacer_erase_count(page, 2) as f64),
        power_cycles: Some(page.big_endian(112, 4)),
        unsafe_shutdowns: Some(page.big_endian(128, 2)),
        refreshes: Some(page.big_endian(160, 2)),
        ..HealthFields::default()
    }
}

/// Erases of a block: average (0), least (1) or most (2). The high half is at 104, the low half at 98.
fn apacer_erase_count(page: &HealthBytes<'_>, which: usize) -> u64 {
    page.big_endian(104 + 2 * which, 2) << 16 | page.big_endian(98 + 2 * which, 2)
}

/// Returns true if the figures of a page without a signature are consistent: shares of at most 100.00 %, good blocks
/// at manufacture, at least one power-up, and an average erase count between least and most.
fn is_plausible_page(page: &HealthBytes<'_>) -> bool {
    let share = |at| page.big_endian(at, 2) <= 10_000;
    let good = page.big_endian(64, 2);
    let [average, least, most] = [0, 1, 2].map(|which| apacer_erase_count(page, which));
    share(96) && share(64) && good > 0 && page.big_endian(112, 4) > 0 && least <= average && average <= most
}
