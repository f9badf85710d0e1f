//! Identify Controller (CNS 01h): names, firmware, temperature limits, power states.

use super::bytes::{Bytes, NvmeError};
use super::{PowerState, celsius};
use serde::{Deserialize, Serialize};

/// Bytes of the structure.
const LENGTH: usize = 4096;

/// A decoded Identify Controller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IdentifyController {
    /// PCI vendor id.
    pub vid: u16,
    /// The same in hex.
    pub vid_hex: String,
    /// PCI subsystem vendor id.
    pub ssvid: u16,
    /// The same in hex.
    pub ssvid_hex: String,
    /// Serial number.
    pub sn: String,
    /// Model; inner blanks kept.
    pub mn: String,
    /// Firmware revision.
    pub fr: String,
    /// Recommended burst, power of two of commands.
    pub rab: u8,
    /// IEEE number of the maker, six hex digits.
    pub ieee: String,
    /// Largest transfer, power of two of the smallest memory page; 0: no limit.
    pub mdts: u8,
    /// The same in bytes for pages of 4 KiB; `None` for no limit.
    pub mdts_bytes: Option<u64>,
    /// Controller id.
    pub cntlid: u16,
    /// Version of NVMe, `1.3`; `None` where not reported.
    pub ver: Option<String>,
    /// Optional admin commands, one bit each.
    pub oacs: u16,
    /// Highest power state; one more than it are there.
    pub npss: u8,
    /// Autonomous power state transitions are supported.
    pub apsta: bool,
    /// Warning temperature in K.
    pub wctemp_kelvin: u16,
    /// Warning temperature in °C.
    pub wctemp_celsius: Option<i32>,
    /// Critical temperature in K.
    pub cctemp_kelvin: u16,
    /// Critical temperature in °C.
    pub cctemp_celsius: Option<i32>,
    /// Host memory that the card would like, in units of 4 KiB.
    pub hmpre: u32,
    /// Host memory that it needs at least, in units of 4 KiB.
    pub hmmin: u32,
    /// Capacity of all namespaces in bytes; 0: not reported.
    pub tnvmcap: u64,
    /// Capacity not given to a namespace, in bytes.
    pub unvmcap: u64,
    /// Host controlled thermal management is supported.
    pub hctma: bool,
    /// Lowest temperature that the host may set, in K.
    pub mntmt_kelvin: u16,
    /// The same in °C.
    pub mntmt_celsius: Option<i32>,
    /// Highest temperature that the host may set, in K.
    pub mxtmt_kelvin: u16,
    /// The same in °C.
    pub mxtmt_celsius: Option<i32>,
    /// Namespaces.
    pub nn: u32,
    /// Optional NVM commands, one bit each.
    pub oncs: u16,
    /// A volatile write cache is present.
    pub vwc: bool,
    /// Name of the subsystem.
    pub subnqn: String,
    /// Power states, from the hungriest.
    pub power_states: Vec<PowerState>,
}

impl IdentifyController {
    /// Decodes the 4096 bytes.
    ///
    /// # Errors
    /// If there are fewer.
    pub fn decode(data: &[u8]) -> Result<Self, NvmeError> {
        let b = Bytes::new("Identify Controller", data, LENGTH)?;
        let (vid, ssvid, mdts, npss) = (b.u16(0), b.u16(2), b.u8(77), b.u8(263));
        let (wctemp, cctemp, mntmt, mxtmt) = (b.u16(266), b.u16(268), b.u16(324), b.u16(326));
        Ok(IdentifyController {
            vid,
            vid_hex: format!("0x{vid:04x}"),
            ssvid,
            ssvid_hex: format!("0x{ssvid:04x}"),
            sn: b.text(4, 20),
            mn: b.text(24, 40),
            fr: b.text(64, 8),
            rab: b.u8(72),
            ieee: format!("{:06x}", b.number(73, 3)),
            mdts,
            mdts_bytes: (mdts > 0).then(|| 1u64.checked_shl(12 + u32::from(mdts)).unwrap_or(u64::MAX)),
            cntlid: b.u16(78),
            ver: version(b.u32(80)),
            oacs: b.u16(256),
            npss,
            apsta: b.u8(265) & 1 == 1,
            wctemp_kelvin: wctemp,
            wctemp_celsius: celsius(wctemp),
            cctemp_kelvin: cctemp,
            cctemp_celsius: celsius(cctemp),
            hmpre: b.u32(272),
            hmmin: b.u32(276),
            tnvmcap: b.counter(280),
            unvmcap: b.counter(296),
            hctma: b.u8(322) & 1 == 1,
            mntmt_kelvin: mntmt,
            mntmt_celsius: celsius(mntmt),
            mxtmt_kelvin: mxtmt,
            mxtmt_celsius: celsius(mxtmt),
            nn: b.u32(516),
            oncs: b.u16(520),
            vwc: b.u8(525) & 1 == 1,
            subnqn: b.text(768, 256),
            // The structure has room for 32 states; more cannot be true.
            power_states: (0..=npss.min(31))
                .map(|n| PowerState::decode(n, b.slice(2048 + 32 * usize::from(n), 32)))
                .collect(),
        })
    }
}

/// `10300h` is 1.3, `10201h` is 1.2.1.
fn version(ver: u32) -> Option<String> {
    let (major, minor, tertiary) = (ver >> 16, ver >> 8 & 0xff, ver & 0xff);
    match (ver, tertiary) {
        (0, _) => None,
        (_, 0) => Some(format!("{major}.{minor}")),
        _ => Some(format!("{major}.{minor}.{tertiary}")),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Writes bytes at their places.
    pub(in crate::nvme) fn structure(len: usize, fields: &[(usize, &[u8])]) -> Vec<u8> {
        let mut data = vec![0; len];
        for (offset, bytes) in fields {
            data[*offset..offset + bytes.len()].copy_from_slice(bytes);
        }
        data
    }

    /// The ADATA card of the reference, byte by byte from what nvme-cli printed of it.
    pub(in crate::nvme) fn adata() -> Vec<u8> {
        structure(
            LENGTH,
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
    fn the_adata_card_reads_as_nvme_cli_printed_it() {
        let id = IdentifyController::decode(&adata()).unwrap();
        assert_eq!(
            (id.vid_hex.as_str(), id.ssvid_hex.as_str(), id.ieee.as_str()),
            ("0x1cc1", "0x5433", "486834")
        );
        assert_eq!((id.sn.as_str(), id.mn.as_str(), id.fr.as_str()), ("AXXXXXXXXXX", "SD   71", "W0926A"));
        assert_eq!((id.mdts, id.mdts_bytes, id.ver.as_deref()), (6, Some(256 << 10), Some("1.3")));
        assert_eq!((id.wctemp_celsius, id.cctemp_celsius), (Some(83), Some(85)));
        assert_eq!((id.mntmt_celsius, id.mxtmt_celsius, id.hctma), (Some(30), Some(85), true));
        assert_eq!((id.tnvmcap, id.hmpre, id.hmmin), (252_874_588_160, 16384, 16384));
        assert_eq!((id.nn, id.oncs, id.vwc, id.npss, id.apsta), (1, 0x15, false, 4, true));
        assert_eq!(id.power_states.len(), 5);
        assert_eq!((id.power_states[0].max_power_w, id.power_states[0].operational), (1.8, true));
        let last = &id.power_states[4];
        assert_eq!(
            (last.max_power_w, last.operational, last.enlat_us, last.exlat_us),
            (0.72, false, 6000, 8000)
        );
    }

    #[test]
    fn an_answer_cut_short_is_named() {
        let error = IdentifyController::decode(&[0; 100]).unwrap_err();
        assert!(error.to_string().contains("100 bytes; it should have 4096"), "{error}");
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic(data in proptest::collection::vec(proptest::num::u8::ANY, 4096)) {
            let id = IdentifyController::decode(&data).unwrap();
            proptest::prop_assert!(serde_json::to_string(&id).is_ok());
        }
    }
}
