//! CRC7 of CID and CSD.
//!
//! Physical Layer Specification 4.5. Many hosts do not deliver the last byte (SDHCI drops it, i.MX leaves junk), so a
//! wrong byte counts as a mismatch only if it is not such junk.

use serde::{Deserialize, Serialize};

/// Result of a CRC check of a CID or CSD.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CrcStatus {
    Ok,
    /// The host does not deliver the CRC.
    Absent,
    /// The CRC is wrong, because of a copying error, a transfer error or, least likely, a careless maker.
    Mismatch,
}

/// Last bytes that hosts deliver in place of the card's: 00 SDHCI, 01 and 08 i.MX and others.
const HOST_JUNK_BYTES: [u8; 3] = [0x00, 0x01, 0x08];

/// CRC7: polynomial x^7 + x^3 + 1, start 0, most significant bit first.
pub fn crc7(message: &[u8]) -> u8 {
    message.iter().fold(0, |crc: u8, &byte| {
        let register =
            (0..8).fold(crc << 1 ^ byte, |r, _| if r & 0x80 != 0 { r << 1 ^ 0x12 } else { r << 1 });
        register >> 1
    })
}

/// Checks the last byte of a 16-byte register. Ignores the end bit, because some hosts clear it.
pub fn check_crc(register: &[u8; 16]) -> CrcStatus {
    let last = register[15];
    match last >> 1 == crc7(&register[..15]) {
        // A blank register has no CRC, although the CRC of zeros is 0.
        _ if register.iter().all(|b| *b == 0) => CrcStatus::Absent,
        _ if register.iter().all(|b| *b == 0xff) => CrcStatus::Absent,
        true => CrcStatus::Ok,
        false if HOST_JUNK_BYTES.contains(&last) => CrcStatus::Absent,
        false => CrcStatus::Mismatch,
    }
}

/// Checks two registers of one host together. A wrong byte that both share comes from the host, so it becomes
/// `Absent`.
pub fn clear_shared_mismatch(cid: (&[u8; 16], &mut CrcStatus), csd: (&[u8; 16], &mut CrcStatus)) {
    if cid.0[15] == csd.0[15] {
        for crc in [cid.1, csd.1] {
            if *crc == CrcStatus::Mismatch {
                *crc = CrcStatus::Absent;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registers::hex;

    #[test]
    fn crc7_matches_specification_examples() {
        assert_eq!(crc7(&[0x40, 0, 0, 0, 0]), 0b100_1010);
        assert_eq!(crc7(&[0x51, 0, 0, 0, 0]), 0b010_1010);
        assert_eq!(crc7(&[0x11, 0, 0, 0x09, 0]), 0b011_0011);
    }

    fn checked(text: &str) -> CrcStatus {
        check_crc(&hex::parse("CID", text).unwrap())
    }

    #[test]
    fn correct_crc_is_ok_without_end_bit() {
        assert_eq!(checked("035344535530344780811ea6ab00b37f"), CrcStatus::Ok);
        assert_eq!(checked("035344535530344780811ea6ab00b37e"), CrcStatus::Ok);
    }

    #[test]
    fn host_junk_is_absent_and_other_bytes_mismatch() {
        for junk in ["00", "01", "08"] {
            assert_eq!(
                checked(&format!("03534453553034478022ed3d8100db{junk}")),
                CrcStatus::Absent,
                "{junk}"
            );
        }
        assert_eq!(checked("035344535530344780811ea6ab00b355"), CrcStatus::Mismatch);
    }

    #[test]
    fn shared_wrong_byte_becomes_absent() {
        let cid: [u8; 16] = hex::parse("CID", "03534453553034478022ed3d8100dbaa").unwrap();
        let csd: [u8; 16] = hex::parse("CSD", "400e00325b5900001d8a7f800a4040aa").unwrap();
        let (mut a, mut b) = (check_crc(&cid), check_crc(&csd));
        assert_eq!((a, b), (CrcStatus::Mismatch, CrcStatus::Mismatch));
        clear_shared_mismatch((&cid, &mut a), (&csd, &mut b));
        assert_eq!((a, b), (CrcStatus::Absent, CrcStatus::Absent));
    }

    proptest::proptest! {
        #[test]
        fn crc7_detects_every_single_bit_flip(mut register: [u8; 16], bit in 0usize..127) {
            register[15] = crc7(&register[..15]) << 1 | 1;
            proptest::prop_assume!(check_crc(&register) == CrcStatus::Ok);
            register[bit / 8] ^= 0x80 >> (bit % 8);
            proptest::prop_assert_ne!(check_crc(&register), CrcStatus::Ok);
        }
    }
}
