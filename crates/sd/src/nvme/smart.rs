//! SMART / Health Information (log page 02h): temperature, wear, traffic, throttling.

use super::bytes::{Bytes, NvmeError};
use super::celsius;
use serde::{Deserialize, Serialize};

/// Bytes of a data unit: thousands of 512-byte blocks, rounded up by the card.
const DATA_UNIT: u64 = 512_000;

/// Meaning of the bits of the critical warning.
const WARNINGS: [&str; 5] = [
    "spare blocks below the threshold",
    "temperature beyond a threshold",
    "reliability degraded",
    "read-only",
    "backup of the volatile memory failed",
];

/// A decoded SMART log. Counters beyond 64 bits stay at 2^64 - 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SmartLog {
    /// Warnings, one bit each.
    pub critical_warning: u8,
    /// The warnings in words.
    pub critical_warnings: Vec<String>,
    /// Composite temperature in K.
    pub temperature_kelvin: u16,
    /// Composite temperature in °C.
    pub temperature_celsius: Option<i32>,
    /// Spare blocks left in percent.
    pub available_spare: u8,
    /// Spare below which the card warns, in percent.
    pub available_spare_threshold: u8,
    /// Life used in percent; may pass 100.
    pub percentage_used: u8,
    /// Units read.
    pub data_units_read: u64,
    /// Bytes read, in whole units.
    pub data_read_bytes: u64,
    /// Units written.
    pub data_units_written: u64,
    /// Bytes written, in whole units.
    pub data_written_bytes: u64,
    /// Read commands.
    pub host_read_commands: u64,
    /// Write commands.
    pub host_write_commands: u64,
    /// Minutes busy.
    pub controller_busy_minutes: u64,
    /// Times switched on.
    pub power_cycles: u64,
    /// Hours on.
    pub power_on_hours: u64,
    /// Times the power went without warning.
    pub unsafe_shutdowns: u64,
    /// Errors of the medium that were not corrected.
    pub media_errors: u64,
    /// Entries in the error log.
    pub num_err_log_entries: u64,
    /// Minutes above the warning temperature.
    pub warning_temperature_minutes: u32,
    /// Minutes above the critical temperature.
    pub critical_temperature_minutes: u32,
    /// Sensors 1 to 8 in °C; `None` for those that are not there.
    pub temperature_sensors_celsius: Vec<Option<i32>>,
    /// Times that light throttling (TMT1) began.
    pub thermal_management_t1_transitions: u32,
    /// Times that heavy throttling (TMT2) began.
    pub thermal_management_t2_transitions: u32,
    /// Seconds in light throttling.
    pub thermal_management_t1_seconds: u32,
    /// Seconds in heavy throttling.
    pub thermal_management_t2_seconds: u32,
}

impl SmartLog {
    /// Decodes the 512 bytes.
    ///
    /// # Errors
    /// If there are fewer.
    pub fn decode(data: &[u8]) -> Result<Self, NvmeError> {
        let b = Bytes::new("SMART log", data, 512)?;
        let (warning, kelvin) = (b.u8(0), b.u16(1));
        let (read, written) = (b.counter(32), b.counter(48));
        Ok(SmartLog {
            critical_warning: warning,
            critical_warnings: warnings(warning),
            temperature_kelvin: kelvin,
            temperature_celsius: celsius(kelvin),
            available_spare: b.u8(3),
            available_spare_threshold: b.u8(4),
            percentage_used: b.u8(5),
            data_units_read: read,
            data_read_bytes: read.saturating_mul(DATA_UNIT),
            data_units_written: written,
            data_written_bytes: written.saturating_mul(DATA_UNIT),
            host_read_commands: b.counter(64),
            host_write_commands: b.counter(80),
            controller_busy_minutes: b.counter(96),
            power_cycles: b.counter(112),
            power_on_hours: b.counter(128),
            unsafe_shutdowns: b.counter(144),
            media_errors: b.counter(160),
            num_err_log_entries: b.counter(176),
            warning_temperature_minutes: b.u32(192),
            critical_temperature_minutes: b.u32(196),
            temperature_sensors_celsius: (0..8).map(|n| celsius(b.u16(200 + 2 * n))).collect(),
            thermal_management_t1_transitions: b.u32(216),
            thermal_management_t2_transitions: b.u32(220),
            thermal_management_t1_seconds: b.u32(224),
            thermal_management_t2_seconds: b.u32(228),
        })
    }
}

fn warnings(bits: u8) -> Vec<String> {
    let set = WARNINGS.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1);
    set.map(|(_, text)| (*text).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::identify::tests::structure;
    use super::*;

    #[test]
    fn the_adata_card_counts_its_throttling() {
        let data = structure(
            512,
            &[
                (0, &[0, 0x35, 0x01, 100, 5, 0]),
                (32, &191_842u32.to_le_bytes()),
                (48, &103_797u32.to_le_bytes()),
                (64, &12_869_959u32.to_le_bytes()),
                (80, &10_105_711u32.to_le_bytes()),
                (96, &[8]),
                (112, &[19]),
                (144, &[16]),
                (200, &299u16.to_le_bytes()),
                (216, &[10, 0, 0, 0, 7, 0, 0, 0, 0xfd, 1, 0, 0, 50]),
            ],
        );
        let smart = SmartLog::decode(&data).unwrap();
        assert_eq!((smart.temperature_kelvin, smart.temperature_celsius), (309, Some(36)));
        // nvme-cli prints 98.22 and 53.14 GB.
        assert_eq!((smart.data_read_bytes, smart.data_written_bytes), (98_223_104_000, 53_144_064_000));
        assert_eq!((smart.host_read_commands, smart.host_write_commands), (12_869_959, 10_105_711));
        assert_eq!((smart.power_cycles, smart.unsafe_shutdowns, smart.controller_busy_minutes), (19, 16, 8));
        assert_eq!((smart.thermal_management_t1_transitions, smart.thermal_management_t1_seconds), (10, 509));
        assert_eq!((smart.thermal_management_t2_transitions, smart.thermal_management_t2_seconds), (7, 50));
        assert_eq!(smart.temperature_sensors_celsius[..2], [Some(26), None]);
    }

    #[test]
    fn warnings_are_put_in_words() {
        let mut data = vec![0; 512];
        data[0] = 0b1010;
        assert_eq!(
            SmartLog::decode(&data).unwrap().critical_warnings,
            ["temperature beyond a threshold", "read-only"]
        );
    }

    #[test]
    fn counters_beyond_64_bits_stay_at_their_end() {
        let smart = SmartLog::decode(&[0xff; 512]).unwrap();
        assert_eq!((smart.power_cycles, smart.data_read_bytes), (u64::MAX, u64::MAX));
    }
}
