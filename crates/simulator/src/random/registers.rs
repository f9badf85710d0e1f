//! Registers of a random SD card, as a maker would write them for its capacity and speed (Physical Layer Specification
//! 4.10: 5.2 CID, 5.3 CSD version 2.0, 4.10.2 SD status). The manufacturer ID is not assigned.

use crate::archetype::{Archetype, SdRegisters, WriteTimes};
use cardscope_sd::registers::crc7::crc7;
use cardscope_sd::registers::csd::Csd;

/// Unit of C_SIZE in a CSD of version 2.0.
pub(super) const CAPACITY_UNIT: u64 = 512 << 10;

/// Largest value of the 28 bits of C_SIZE in a CSD of version 3.0: 128 TiB.
const MAX_C_SIZE_UNITS: u64 = (1 << 28) - 1;

/// AU_SIZE in MiB by code from 7 on (table 4-47).
const AU_MIB: [u64; 9] = [1, 2, 4, 8, 12, 16, 24, 32, 64];

/// Registers that fit a card without them.
pub(super) fn registers_of_card(card: &Archetype, serial: u32) -> SdRegisters {
    SdRegisters {
        cid: hex(&encode_cid(serial)),
        csd: hex(&encode_csd(card.announced_bytes)),
        scr: "0235804300000000".to_owned(),
        ssr: hex(&encode_ssr(card)),
        ocr: "c0ff8000".to_owned(),
    }
}

/// CID: the unassigned MID 0xFE, "RN", name RANDM, revision 1.0, made in January 2024.
fn encode_cid(serial: u32) -> [u8; 16] {
    let mut cid = *b"\xfeRNRANDM\x10....\x01\x81.";
    cid[9..13].copy_from_slice(&serial.to_be_bytes());
    cid[15] = crc7(&cid[..15]) << 1 | 1;
    cid
}

fn encode_csd(announced_bytes: u64) -> [u8; 16] {
    let csd = [0x40, 0x0e, 0x00, 0x32, 0x5b, 0x59, 0, 0, 0, 0, 0x7f, 0x80, 0x0a, 0x40, 0x00, 0];
    csd_with_capacity(csd, announced_bytes)
}

/// CSD of version 2.0, or 3.0 (SDUC) above 2 TiB, with another capacity in whole units.
fn csd_with_capacity(mut csd: [u8; 16], announced_bytes: u64) -> [u8; 16] {
    let c_size = (announced_bytes / CAPACITY_UNIT).saturating_sub(1).min(MAX_C_SIZE_UNITS) as u32;
    csd[0] = if c_size < 1 << 22 { 0x40 } else { 0x80 };
    csd[6..10].copy_from_slice(&c_size.to_be_bytes());
    csd[15] = crc7(&csd[..15]) << 1 | 1;
    csd
}

impl SdRegisters {
    /// Writes the capacity into the CSD. A CSD of version 1.0 becomes one of a later version; a blank one stays blank.
    pub(crate) fn set_csd_capacity(&mut self, bytes: u64) {
        let csd = match Csd::from_hex(&self.csd) {
            Ok(old) if old.blank.is_some() => return,
            Ok(old) if old.csd_structure > 0 => csd_with_capacity(old.raw.0, bytes),
            _ => encode_csd(bytes),
        };
        self.csd = hex(&csd);
    }
}

fn encode_ssr(card: &Archetype) -> [u8; 64] {
    let mb_s = card.write.as_ref().map_or(0.0, WriteTimes::mb_s);
    let code = AU_MIB.iter().position(|mib| mib << 20 >= card.flash.au_bytes).unwrap_or(8) as u8 + 7;
    let mut ssr = [0u8; 64];
    ssr[0] = 0x80;
    let mark = |steps: &[(f64, u8)]| steps.iter().find(|step| mb_s >= step.0).map_or(0, |step| step.1);
    ssr[8] = mark(&[(10.0, 4), (6.0, 3), (4.0, 2), (2.0, 1)]);
    ssr[10] = code << 4;
    let grade = mark(&[(30.0, 3), (10.0, 1)]);
    ssr[14] = grade << 4 | if grade > 0 { code } else { 0 };
    ssr[15] = mark(&[(90.0, 90), (60.0, 60), (30.0, 30), (10.0, 10), (6.0, 6)]);
    // Application performance class.
    ssr[21] = u8::from(matches!(card.write, Some(WriteTimes::Log(log)) if log.random_s < 0.001));
    ssr
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
