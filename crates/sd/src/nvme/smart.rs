//! SMART / Health Information (log page 02h): temperature, wear, traffic, throttling. Get Features 04h and 10h:
//! warning and throttling temperatures.

use super::bytes::{NvmeError, StructureBytes, from_bytes, kelvin_to_celsius};
use crate::registers::raw::texts_of_bits;
use serde::{Deserialize, Serialize};

/// Bytes of a data unit: a thousand blocks of 512 bytes. Cards round up.
const DATA_UNIT: u64 = 512_000;

const WARNINGS: [&str; 5] = [
    "spare blocks below the threshold",
    "temperature beyond a threshold",
    "reliability degraded",
    "read-only",
    "backup of the volatile memory failed",
];

decoded! {
    /// Decoded SMART log. Counters beyond 64 bits are capped at 2^64 - 1.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct SmartLog {
        critical_warning: u8 = b.u8(0), "Warnings, one bit each.";
        critical_warnings: Vec<String> = texts_of_bits(&WARNINGS, critical_warning), "The warnings in words.";
        temperature_kelvin: u16 = b.u16(1), "Composite temperature in K.";
        temperature_celsius: Option<i32> = kelvin_to_celsius(temperature_kelvin), "Composite temperature in °C.";
        available_spare: u8 = b.u8(3), "Spare blocks left in percent.";
        available_spare_threshold: u8 = b.u8(4), "Spare below which the card warns, in percent.";
        percentage_used: u8 = b.u8(5), "Life used in percent; may pass 100.";
        data_units_read: u64 = b.capped_counter(32), "Units read.";
        data_read_bytes: u64 = data_units_read.saturating_mul(DATA_UNIT), "In whole units.";
        data_units_written: u64 = b.capped_counter(48), "Units written.";
        data_written_bytes: u64 = data_units_written.saturating_mul(DATA_UNIT), "In whole units.";
        host_read_commands: u64 = b.capped_counter(64), "Read commands.";
        host_write_commands: u64 = b.capped_counter(80), "Write commands.";
        controller_busy_minutes: u64 = b.capped_counter(96), "Minutes busy.";
        power_cycles: u64 = b.capped_counter(112), "Times switched on.";
        power_on_hours: u64 = b.capped_counter(128), "Hours on.";
        unsafe_shutdowns: u64 = b.capped_counter(144), "Times the power went without warning.";
        media_errors: u64 = b.capped_counter(160), "Errors of the medium that were not corrected.";
        num_err_log_entries: u64 = b.capped_counter(176), "Entries in the error log.";
        warning_temperature_minutes: u32 = b.u32(192), "Minutes above the warning temperature.";
        critical_temperature_minutes: u32 = b.u32(196), "Minutes above the critical temperature.";
        temperature_sensors_celsius: Vec<Option<i32>> = (0..8).map(|n| kelvin_to_celsius(b.u16(200 + 2 * n))).collect();
        thermal_management_t1_transitions: u32 = b.u32(216), "Times that light throttling (TMT1) began.";
        thermal_management_t2_transitions: u32 = b.u32(220), "Times that heavy throttling (TMT2) began.";
        thermal_management_t1_seconds: u32 = b.u32(224), "Seconds in light throttling.";
        thermal_management_t2_seconds: u32 = b.u32(228), "Seconds in heavy throttling.";
    }

    fn of(b: StructureBytes<'_>) {}
}

from_bytes!(SmartLog, "SMART log", 512);

decoded! {
    /// Current thermal limits. None if not read or switched off.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct ThermalFeatures {
        tmpth_kelvin: Option<u16> = kelvin(feature_04, 0).filter(|k| *k < u16::MAX), "Over-temperature threshold.";
        tmpth_celsius: Option<i32> = tmpth_kelvin.and_then(kelvin_to_celsius), "The same in °C.";
        tmt1_kelvin: Option<u16> = kelvin(feature_10, 16), "Where light throttling begins, in K.";
        tmt1_celsius: Option<i32> = tmt1_kelvin.and_then(kelvin_to_celsius), "The same in °C.";
        tmt2_kelvin: Option<u16> = kelvin(feature_10, 0), "Where heavy throttling begins, in K.";
        tmt2_celsius: Option<i32> = tmt2_kelvin.and_then(kelvin_to_celsius), "The same in °C.";
    }

    /// Decodes the result dwords of features 04h (composite, over) and 10h, each None if not answered.
    pub fn from_results(feature_04: Option<u32>, feature_10: Option<u32>) {
        let kelvin = |dword: Option<u32>, shift| dword.map(|dword| (dword >> shift) as u16).filter(|k| *k > 0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::identify::tests::structure;
    use super::*;

    #[test]
    fn adata_smart_log_matches_nvme_cli() {
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
        // nvme-cli prints 98.22 and 53.14 GB for these counters.
        assert_eq!((smart.data_read_bytes, smart.data_written_bytes), (98_223_104_000, 53_144_064_000));
        assert_eq!((smart.host_read_commands, smart.host_write_commands), (12_869_959, 10_105_711));
        assert_eq!((smart.power_cycles, smart.unsafe_shutdowns, smart.controller_busy_minutes), (19, 16, 8));
        assert_eq!((smart.thermal_management_t1_transitions, smart.thermal_management_t1_seconds), (10, 509));
        assert_eq!((smart.thermal_management_t2_transitions, smart.thermal_management_t2_seconds), (7, 50));
        assert_eq!(smart.temperature_sensors_celsius[..2], [Some(26), None]);
    }

    #[test]
    fn warning_bits_become_texts() {
        let mut data = vec![0; 512];
        data[0] = 0b1010;
        let warnings = SmartLog::decode(&data).unwrap().critical_warnings;
        assert_eq!(warnings, ["temperature beyond a threshold", "read-only"]);
    }

    #[test]
    fn counters_beyond_64_bits_are_capped() {
        let smart = SmartLog::decode(&[0xff; 512]).unwrap();
        assert_eq!((smart.power_cycles, smart.data_read_bytes), (u64::MAX, u64::MAX));
    }

    #[test]
    fn adata_thermal_limits_decode() {
        let limits = ThermalFeatures::from_results(Some(0x164), Some(0x0162_0166));
        assert_eq!((limits.tmpth_kelvin, limits.tmpth_celsius), (Some(356), Some(83)));
        assert_eq!((limits.tmt1_kelvin, limits.tmt2_kelvin), (Some(354), Some(358)));
        assert_eq!((limits.tmt1_celsius, limits.tmt2_celsius), (Some(81), Some(85)));
    }

    #[test]
    fn threshold_ignores_hysteresis_and_zero_means_off() {
        assert_eq!(ThermalFeatures::from_results(Some(0x0540_0164), None).tmpth_kelvin, Some(356));
        assert_eq!(ThermalFeatures::from_results(None, Some(0)), ThermalFeatures::default());
    }
}
