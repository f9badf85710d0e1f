//! Identify Controller (CNS 01h): names, firmware, temperature limits, power states. Identify Namespace (CNS 00h):
//! capacity and block size.

use super::bytes::{NvmeError, StructureBytes, from_bytes, kelvin_to_celsius};
use serde::{Deserialize, Serialize};

decoded! {
    /// Decoded Identify Controller.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct IdentifyController {
        vid: u16 = b.u16(0), "PCI vendor id.";
        vid_hex: String = format!("0x{vid:04x}"), "The same in hex.";
        ssvid: u16 = b.u16(2), "PCI subsystem vendor id.";
        ssvid_hex: String = format!("0x{ssvid:04x}"), "The same in hex.";
        sn: String = b.text(4, 20), "Serial number.";
        mn: String = b.text(24, 40), "Model; inner blanks kept.";
        fr: String = b.text(64, 8), "Firmware revision.";
        rab: u8 = b.u8(72), "Recommended burst, power of two of commands.";
        ieee: String = format!("{:06x}", b.little_endian(73, 3)), "IEEE number of the maker, six hex digits.";
        mdts: u8 = b.u8(77), "Largest transfer, power of two of the smallest memory page; 0: no limit.";
        mdts_bytes: Option<u64> = (mdts > 0).then(|| 1u64.checked_shl(12 + u32::from(mdts)).unwrap_or(u64::MAX));
        cntlid: u16 = b.u16(78), "Controller id.";
        ver: Option<String> = format_version(b.u32(80)), "Version of NVMe, `1.3`; `None` where not reported.";
        oacs: u16 = b.u16(256), "Optional admin commands, one bit each.";
        npss: u8 = b.u8(263), "Highest power state; one more than it are there.";
        apsta: bool = b.u8(265) & 1 == 1, "Autonomous power state transitions are supported.";
        wctemp_kelvin: u16 = b.u16(266), "Warning temperature in K.";
        wctemp_celsius: Option<i32> = kelvin_to_celsius(wctemp_kelvin), "Warning temperature in °C.";
        cctemp_kelvin: u16 = b.u16(268), "Critical temperature in K.";
        cctemp_celsius: Option<i32> = kelvin_to_celsius(cctemp_kelvin), "Critical temperature in °C.";
        hmpre: u32 = b.u32(272), "Host memory that the card would like, in units of 4 KiB.";
        hmmin: u32 = b.u32(276), "Host memory that it needs at least, in units of 4 KiB.";
        tnvmcap: u64 = b.capped_counter(280), "Capacity of all namespaces in bytes; 0: not reported.";
        unvmcap: u64 = b.capped_counter(296), "Capacity not given to a namespace, in bytes.";
        hctma: bool = b.u8(322) & 1 == 1, "Host controlled thermal management is supported.";
        mntmt_kelvin: u16 = b.u16(324), "Lowest temperature that the host may set, in K.";
        mntmt_celsius: Option<i32> = kelvin_to_celsius(mntmt_kelvin), "The same in °C.";
        mxtmt_kelvin: u16 = b.u16(326), "Highest temperature that the host may set, in K.";
        mxtmt_celsius: Option<i32> = kelvin_to_celsius(mxtmt_kelvin), "The same in °C.";
        nn: u32 = b.u32(516), "Namespaces.";
        oncs: u16 = b.u16(520), "Optional NVM commands, one bit each.";
        vwc: bool = b.u8(525) & 1 == 1, "A volatile write cache is present.";
        subnqn: String = b.text(768, 256), "Name of the subsystem.";
        power_states: Vec<PowerState> = (0..=npss.min(31)).map(|n| PowerState::decode(n, descriptor(n))).collect();
    }

    fn of(b: StructureBytes<'_>) {
        let descriptor = |n: u8| b.range_or_empty(2048 + 32 * usize::from(n), 32);
    }
}

from_bytes!(IdentifyController, "Identify Controller", 4096);

fn format_version(ver: u32) -> Option<String> {
    let (major, minor, tertiary) = (ver >> 16, ver >> 8 & 0xff, ver & 0xff);
    match (ver, tertiary) {
        (0, _) => None,
        (_, 0) => Some(format!("{major}.{minor}")),
        _ => Some(format!("{major}.{minor}.{tertiary}")),
    }
}

decoded! {
    /// Power state: a descriptor of Identify Controller, 32 bytes each from byte 2048.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct PowerState {
        number: u8 = number, "Its number; 0 is the hungriest.";
        max_power_w: f64 = f64::from(b.u16(0)) / steps_per_w, "Most power in W.";
        operational: bool = b.u8(3) & 2 == 0, "The card works in it.";
        enlat_us: u32 = b.u32(4), "Longest time to enter it in µs.";
        exlat_us: u32 = b.u32(8), "Longest time to leave it in µs.";
        rrt: u8 = b.u8(12) & 31, "Rank of its read throughput, 0 is best.";
        rrl: u8 = b.u8(13) & 31, "Rank of its read latency.";
        rwt: u8 = b.u8(14) & 31, "Rank of its write throughput.";
        rwl: u8 = b.u8(15) & 31, "Rank of its write latency.";
        idle_power_w: Option<f64> = scaled_power(b.u16(16), b.u8(18) >> 6), "Power when idle in W.";
        active_power_w: Option<f64> = scaled_power(b.u16(20), b.u8(22) >> 6), "Power at work in W.";
    }

    /// Decodes a descriptor. Missing bytes count as 0.
    fn decode(number: u8, descriptor: &[u8]) {
        let b = StructureBytes::from_all(descriptor);
        // Bit 0 of the flags selects steps of 0.1 mW in place of 10 mW.
        let steps_per_w = if b.u8(3) & 1 == 1 { 10_000.0 } else { 100.0 };
    }
}

/// Scale 0 means "not reported", 1 is 0.1 mW, 2 is 10 mW.
fn scaled_power(value: u16, scale: u8) -> Option<f64> {
    match scale {
        1 => Some(f64::from(value) / 10_000.0),
        2 => Some(f64::from(value) / 100.0),
        _ => None,
    }
}

decoded! {
    /// Size fields of Identify Namespace.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct IdentifyNamespace {
        nsze: u64 = b.little_endian(0, 8) as u64, "Size in blocks.";
        ncap: u64 = b.little_endian(8, 8) as u64, "Capacity in blocks.";
        nuse: u64 = b.little_endian(16, 8) as u64, "Blocks in use.";
        block_bytes: Option<u64> = (9..=30).contains(&power).then(|| 1u64 << power), "`None` without a format.";
        size_bytes: Option<u64> = block_bytes.and_then(|bytes| nsze.checked_mul(bytes)), "Size in bytes.";
    }

    fn of(b: StructureBytes<'_>) {
        // Bits 3:0 of FLBAS select one of the formats from byte 128 on; bits 6:5 are the upper part of the index.
        let flbas = b.u8(26);
        let power = b.u8(128 + 4 * usize::from(flbas & 15 | flbas >> 1 & 0x30) + 2);
    }
}

from_bytes!(IdentifyNamespace, "Identify Namespace", 4096);

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Builds a structure with these bytes at these offsets.
    pub(in crate::nvme) fn structure(len: usize, fields: &[(usize, &[u8])]) -> Vec<u8> {
        let mut data = vec![0; len];
        for (offset, bytes) in fields {
            data[*offset..offset + bytes.len()].copy_from_slice(bytes);
        }
        data
    }

    /// ADATA card of docs/reference, from the output of nvme-cli.
    pub(in crate::nvme) fn adata() -> Vec<u8> {
        structure(
            4096,
            &[
                (0, &[0xc1, 0x1c, 0x33, 0x54]),
                (4, b"AXXXXXXXXXX         "),
                (24, b"SD   71                                 "),
                (64, b"W0926A  "),
                (72, &[6, 0x34, 0x68, 0x48, 0, 6, 1, 0]),
                (80, &0x10300u32.to_le_bytes()),
                (256, &0x16u16.to_le_bytes()),
                (263, &[4, 0, 1]),
                (266, &356u16.to_le_bytes()),
                (268, &358u16.to_le_bytes()),
                (272, &16384u32.to_le_bytes()),
                (276, &16384u32.to_le_bytes()),
                (280, &252_874_588_160u128.to_le_bytes()),
                (322, &[1, 0, 0x2f, 0x01, 0x66, 0x01]),
                (516, &[1]),
                (520, &[0x15]),
                (768, b"nqn.2024-05.com.siliconmotion:nvm-subsystem-sn-A0200079"),
                (2048, &180u16.to_le_bytes()),
                (2048 + 128, &[0x48, 0, 0, 2, 0x70, 0x17, 0, 0, 0x40, 0x1f, 0, 0, 4, 4, 4, 4]),
            ],
        )
    }

    #[test]
    fn adata_identify_matches_nvme_cli() {
        let id = IdentifyController::decode(&adata()).unwrap();
        assert_eq!([id.vid_hex, id.ssvid_hex, id.ieee], ["0x1cc1", "0x5433", "486834"]);
        assert_eq!((id.sn.as_str(), id.mn.as_str(), id.fr.as_str()), ("AXXXXXXXXXX", "SD   71", "W0926A"));
        assert_eq!((id.mdts, id.mdts_bytes, id.ver.as_deref()), (6, Some(256 << 10), Some("1.3")));
        assert_eq!((id.wctemp_celsius, id.cctemp_celsius), (Some(83), Some(85)));
        assert_eq!((id.mntmt_celsius, id.mxtmt_celsius, id.hctma), (Some(30), Some(85), true));
        assert_eq!((id.tnvmcap, id.hmpre, id.hmmin), (252_874_588_160, 16384, 16384));
        assert_eq!((id.nn, id.oncs, id.vwc, id.npss, id.apsta), (1, 0x15, false, 4, true));
        assert_eq!(id.power_states.len(), 5);
        assert_eq!((id.power_states[0].max_power_w, id.power_states[0].operational), (1.8, true));
        let last = &id.power_states[4];
        assert_eq!((last.max_power_w, last.operational), (0.72, false));
        assert_eq!((last.enlat_us, last.exlat_us), (6000, 8000));
    }

    #[test]
    fn truncated_identify_error_has_both_lengths() {
        let error = IdentifyController::decode(&[0; 100]).unwrap_err();
        assert!(error.to_string().contains("100 bytes; it should have 4096"), "{error}");
    }

    proptest::proptest! {
        #[test]
        fn identify_decoder_never_panics(data in proptest::collection::vec(proptest::num::u8::ANY, 4096)) {
            let id = IdentifyController::decode(&data).unwrap();
            proptest::prop_assert!(serde_json::to_string(&id).is_ok());
        }
    }

    #[test]
    fn deep_power_state_decodes_steps_of_100_microwatts() {
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
    fn working_power_state_has_active_power() {
        let mut bytes = [0; 32];
        bytes[..2].copy_from_slice(&180u16.to_le_bytes());
        bytes[16..19].copy_from_slice(&[0x70, 0x17, 0x40]);
        bytes[20..23].copy_from_slice(&[180, 0, 0x81]);
        let state = PowerState::decode(0, &bytes);
        assert_eq!((state.max_power_w, state.idle_power_w), (1.8, Some(0.6)));
        assert_eq!(state.active_power_w, Some(1.8));
    }

    #[test]
    fn namespace_size_uses_the_format_in_use() {
        let blocks = 493_895_680u64.to_le_bytes();
        let data =
            structure(4096, &[(0, &blocks), (8, &blocks), (26, &[1]), (128, &[0, 0, 12, 0, 0, 0, 9, 0])]);
        let namespace = IdentifyNamespace::decode(&data).unwrap();
        assert_eq!((namespace.block_bytes, namespace.size_bytes), (Some(512), Some(252_874_588_160)));
    }

    #[test]
    fn absent_format_gives_no_size() {
        assert_eq!(IdentifyNamespace::decode(&[0; 4096]).unwrap().size_bytes, None);
    }
}
