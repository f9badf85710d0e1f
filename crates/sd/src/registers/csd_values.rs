//! Tables of the CSD's coded values: Physical Layer Specification 5.3.2, tables 5-5 to 5-12 in our order.

/// Mantissas of TAAC and TRAN_SPEED in tenths; code 0 is reserved.
const MANTISSA_TENTHS: [u32; 16] = [0, 10, 12, 13, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 70, 80];

/// VDD_x_CURR_MIN in mA.
const CURRENT_MIN_MA: [f64; 8] = [0.5, 1.0, 5.0, 10.0, 25.0, 35.0, 60.0, 100.0];

/// VDD_x_CURR_MAX in mA.
const CURRENT_MAX_MA: [f64; 8] = [1.0, 5.0, 10.0, 25.0, 35.0, 45.0, 80.0, 200.0];

/// Names of the command classes, by bit of CCC.
pub(super) const CCC_CLASSES: [&str; 12] = [
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

/// Names of FILE_FORMAT with FILE_FORMAT_GRP 0.
pub(super) const FILE_FORMATS: [&str; 4] =
    ["partitioned like a hard disk", "floppy-like, boot sector only", "universal file format", "other"];

/// Seconds of a TAAC code; `None` for the reserved mantissa.
pub(super) fn taac_seconds(code: u8) -> Option<f64> {
    let tenths = mantissa(code)?;
    // 1 ns times ten to the unit code: dividing whole numbers keeps 1.5 ms exactly 0.0015.
    Some(f64::from(tenths) / (10.0 * 10f64.powi(9 - i32::from(code & 7))))
}

/// Mbit/s of a TRAN_SPEED code on one line; `None` for reserved codes.
pub(super) fn tran_speed_mbit_s(code: u8) -> Option<f64> {
    let unit_kbit_s = [100u32, 1_000, 10_000, 100_000].get(usize::from(code & 7))?;
    Some(f64::from(mantissa(code)? * unit_kbit_s) / 10_000.0)
}

fn mantissa(code: u8) -> Option<u32> {
    Some(MANTISSA_TENTHS[usize::from(code >> 3 & 15)]).filter(|tenths| *tenths > 0)
}

/// mA of a minimum-current code.
pub(super) fn current_min_ma(code: u8) -> f64 {
    CURRENT_MIN_MA[usize::from(code & 7)]
}

/// mA of a maximum-current code.
pub(super) fn current_max_ma(code: u8) -> f64 {
    CURRENT_MAX_MA[usize::from(code & 7)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_speeds_that_cards_use() {
        let speeds = [0x32, 0x5a, 0x0b, 0x2b].map(tran_speed_mbit_s);
        assert_eq!(speeds, [Some(25.0), Some(50.0), Some(100.0), Some(200.0)]);
        assert_eq!((tran_speed_mbit_s(0x02), tran_speed_mbit_s(0x0c)), (None, None));
    }

    #[test]
    fn access_times_are_exact() {
        assert_eq!(taac_seconds(0x0e), Some(0.001));
        assert_eq!(taac_seconds(0x26), Some(0.0015));
        assert_eq!(taac_seconds(0x7f), Some(0.08));
        assert_eq!((taac_seconds(0x08), taac_seconds(0x07)), (Some(1e-9), None));
    }
}
