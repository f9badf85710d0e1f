//! Power state descriptors of Identify Controller, 32 bytes each from byte 2048.

use super::bytes::Bytes;
use serde::{Deserialize, Serialize};

/// One power state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PowerState {
    /// Its number; 0 is the hungriest.
    pub number: u8,
    /// Most power in W.
    pub max_power_w: f64,
    /// The card works in it.
    pub operational: bool,
    /// Longest time to enter it in µs.
    pub enlat_us: u32,
    /// Longest time to leave it in µs.
    pub exlat_us: u32,
    /// Rank of its read throughput, 0 is best.
    pub rrt: u8,
    /// Rank of its read latency.
    pub rrl: u8,
    /// Rank of its write throughput.
    pub rwt: u8,
    /// Rank of its write latency.
    pub rwl: u8,
    /// Power when idle in W, where reported.
    pub idle_power_w: Option<f64>,
    /// Power at work in W, where reported.
    pub active_power_w: Option<f64>,
}

impl PowerState {
    /// Decodes a descriptor; bytes that are missing count as 0.
    pub(super) fn decode(number: u8, descriptor: &[u8]) -> Self {
        let b = Bytes::whole(descriptor);
        // Bit 0 of the flags: steps of 0.1 mW in place of 10 mW.
        let steps_per_w = if b.u8(3) & 1 == 1 { 10_000.0 } else { 100.0 };
        PowerState {
            number,
            max_power_w: f64::from(b.u16(0)) / steps_per_w,
            operational: b.u8(3) & 2 == 0,
            enlat_us: b.u32(4),
            exlat_us: b.u32(8),
            rrt: b.u8(12) & 31,
            rrl: b.u8(13) & 31,
            rwt: b.u8(14) & 31,
            rwl: b.u8(15) & 31,
            idle_power_w: scaled_power(b.u16(16), b.u8(18) >> 6),
            active_power_w: scaled_power(b.u16(20), b.u8(22) >> 6),
        }
    }
}

/// Scale 0 says that nothing is reported, 1 is 0.1 mW, 2 is 10 mW.
fn scaled_power(value: u16, scale: u8) -> Option<f64> {
    match scale {
        1 => Some(f64::from(value) / 10_000.0),
        2 => Some(f64::from(value) / 100.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deep_state_of_the_sandisk_card_draws_25_milliwatts() {
        // 0.0250 W in steps of 0.1 mW, not operational, 11 and 16 ms; idle the same.
        let mut bytes = [0; 32];
        bytes[..12].copy_from_slice(&[0xfa, 0, 0, 3, 0xf8, 0x2a, 0, 0, 0x80, 0x3e, 0, 0]);
        bytes[16..19].copy_from_slice(&[0xfa, 0, 0x40]);
        let state = PowerState::decode(3, &bytes);
        assert_eq!((state.max_power_w, state.operational), (0.025, false));
        assert_eq!((state.enlat_us, state.exlat_us), (11_000, 16_000));
        assert_eq!((state.idle_power_w, state.active_power_w), (Some(0.025), None));
    }

    #[test]
    fn a_working_state_reports_its_active_power() {
        let mut bytes = [0; 32];
        bytes[..2].copy_from_slice(&180u16.to_le_bytes());
        bytes[16..19].copy_from_slice(&[0x70, 0x17, 0x40]);
        bytes[20..23].copy_from_slice(&[180, 0, 0x81]);
        let state = PowerState::decode(0, &bytes);
        assert_eq!(
            (state.max_power_w, state.idle_power_w, state.active_power_w),
            (1.8, Some(0.6), Some(1.8))
        );
    }
}
