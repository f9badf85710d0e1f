//! Findings about CSD and SCR (fixed fields, protection, versions), and about a capacity that contradicts the name,
//! the host or the family.

use super::finding_kinds::{STRONG, WEAK, certain_note, crc_mismatch, sizes_in_name, verify_hint};
use crate::finding::Finding;
use crate::identity::Identity;
use crate::units::{DecimalSize, group_digits};
use cardscope_sd::registers::{CrcStatus, Csd, CsdFamily, RawRegister, Scr};

pub(super) fn judge_csd_and_scr(identity: &Identity, findings: &mut Vec<Finding>) {
    findings.extend(blank_register_notes(identity));
    if let Some(csd) = identity.csd.as_ref().filter(|csd| csd.blank.is_none()) {
        findings.extend(check_constants(csd));
        findings.extend(protection_note(csd));
        if csd.crc == CrcStatus::Mismatch {
            findings.push(crc_mismatch("csd-crc", "CSD", csd.crc7, csd.crc7_computed));
        }
        findings.extend(identity.scr.as_ref().and_then(|scr| check_scr_family(scr, csd)));
    }
}

/// Notes each blank register. The CID has a separate note.
fn blank_register_notes(identity: &Identity) -> Vec<Finding> {
    fn blank<const N: usize>(claim: &str, name: &str, raw: Option<RawRegister<N>>) -> Option<Finding> {
        let (raw, upper) = (raw?, name.to_uppercase());
        let text = format!("The {upper} is {}: the card or the host did not deliver it.", raw.blank()?);
        Some(certain_note(claim, text).because(name, raw))
    }
    let found = [
        blank("csd-blank", "csd", identity.csd.as_ref().map(|r| r.raw)),
        blank("scr-blank", "scr", identity.scr.as_ref().map(|r| r.raw)),
        blank("ssr-blank", "ssr", identity.ssr.as_ref().map(|r| r.raw)),
        blank("ocr-blank", "ocr", identity.ocr.as_ref().map(|r| r.raw)),
    ];
    found.into_iter().flatten().collect()
}

/// Checks the fields with one value in the specification (5.3.2 to 5.3.4).
fn check_constants(csd: &Csd) -> Option<Finding> {
    let fields = if csd.csd_structure == 0 { version_1_constants(csd) } else { later_version_constants(csd) };
    let wrong = fields.into_iter().filter(|(right, _)| !right).map(|(_, name)| name);
    let wrong = wrong.collect::<Vec<_>>().join(", ");
    let text = format!("Fields with values fixed by the specification differ: {wrong}.");
    let found = verify_hint("csd-constants", WEAK, text).because("csd", csd.raw);
    (!wrong.is_empty()).then(|| found.because("fields", wrong))
}

fn version_1_constants(csd: &Csd) -> Vec<(bool, &'static str)> {
    vec![
        // The specification has 01x1 1011 0101b, but genuine cards add write protection (class 6), and those of
        // version 1.0x lack lock and switch. So only the classes of reading, writing and erasing are checked.
        (csd.ccc & 0x135 == 0x135, "CCC"),
        ((9..=11).contains(&csd.read_bl_len), "READ_BL_LEN"),
        (csd.write_bl_len == csd.read_bl_len, "WRITE_BL_LEN"),
        (csd.read_bl_partial, "READ_BL_PARTIAL"),
        (matches!(csd.tran_speed, 0x32 | 0x5a), "TRAN_SPEED"),
    ]
}

fn later_version_constants(csd: &Csd) -> Vec<(bool, &'static str)> {
    vec![
        (csd.taac == 0x0e, "TAAC"),
        (csd.nsac == 0, "NSAC"),
        (matches!(csd.tran_speed, 0x32 | 0x5a | 0x0b | 0x2b), "TRAN_SPEED"),
        // Fixed bits: x1x1 1011 01x1b.
        (csd.ccc & 0b0101_1111_1101 == 0b0101_1011_0101, "CCC"),
        (csd.read_bl_len == 9, "READ_BL_LEN"),
        (!csd.read_bl_partial, "READ_BL_PARTIAL"),
        (!csd.write_blk_misalign, "WRITE_BLK_MISALIGN"),
        (!csd.read_blk_misalign, "READ_BLK_MISALIGN"),
        (csd.erase_blk_en, "ERASE_BLK_EN"),
        (csd.sector_size == 0x7f, "SECTOR_SIZE"),
        (csd.wp_grp_size == 0, "WP_GRP_SIZE"),
        (!csd.wp_grp_enable, "WP_GRP_ENABLE"),
        (csd.r2w_factor == 2, "R2W_FACTOR"),
        (csd.write_bl_len == 9, "WRITE_BL_LEN"),
        (!csd.write_bl_partial, "WRITE_BL_PARTIAL"),
        (!csd.file_format_grp && csd.file_format == 0, "FILE_FORMAT"),
    ]
}

fn protection_note(csd: &Csd) -> Option<Finding> {
    let kind = match (csd.perm_write_protect, csd.tmp_write_protect) {
        (true, _) => "permanently, so the kernel makes it a read-only device",
        (false, true) => "temporarily; rewriting the CSD lifts it",
        _ => return None,
    };
    let note = certain_note("write-protected", format!("The card is write-protected {kind}."));
    let note = note.because("perm_write_protect", csd.perm_write_protect);
    Some(note.because("tmp_write_protect", csd.tmp_write_protect))
}

/// Checks that the version supports the card's family, and that SD_SECURITY names that family.
fn check_scr_family(scr: &Scr, csd: &Csd) -> Option<Finding> {
    let family = csd.family?;
    // Least versions of SDSC, SDHC, SDXC and SDUC. SD_SECURITY has codes for the first three, from 2 on.
    let least = [1, 2, 3, 7][family as usize];
    let codes = [None, None, Some(CsdFamily::Sdsc), Some(CsdFamily::Sdhc), Some(CsdFamily::Sdxc)];
    let security = codes.get(usize::from(scr.sd_security)).copied().flatten();
    let old = scr.major_version().is_some_and(|major| major < least);
    let other = security.is_some_and(|named| named != family);
    let needs = format!("version {least} and its family in SD_SECURITY");
    let text = format!("The SCR does not match a {family} card, which needs {needs}.");
    let hint = verify_hint("scr-against-capacity", WEAK, text)
        .because("version", scr.version.as_deref().unwrap_or("reserved code"))
        .because("sd_security", scr.sd_security_text.as_deref().unwrap_or("reserved code"));
    (scr.blank.is_none() && (old || other)).then(|| hint.because("family", family))
}

/// Smallest share of the size in the name that a card may hold …
const MIN_SHARE_OF_NAME: f64 = 0.85;
/// … and the largest; 2^30 bytes are 1.074 GB.
const MAX_SHARE_OF_NAME: f64 = 1.10;

/// Largest data area of an SDSC card in sectors (Physical Layer Specification, 2 GB cards).
const MAX_SDSC_SECTORS: u64 = 4_153_344;

pub(super) fn judge_capacity(identity: &Identity, findings: &mut Vec<Finding>) {
    findings.extend(compare_with_name(identity));
    findings.extend(compare_with_host(identity));
    findings.extend(identity.csd.as_ref().and_then(check_family_range));
    findings.extend(compare_with_ocr(identity));
}

fn compare_with_name(identity: &Identity) -> Option<Finding> {
    let name = &identity.cid.as_ref()?.pnm;
    let bytes = identity.capacity_bytes.or(identity.csd.as_ref()?.capacity_bytes)?;
    let sizes = sizes_in_name(name);
    let fits = |size: &f64| (MIN_SHARE_OF_NAME..=MAX_SHARE_OF_NAME).contains(&(bytes as f64 / size));
    if sizes.is_empty() || sizes.iter().any(fits) {
        return None;
    }
    let gb = sizes.last().map_or(0.0, |size| size / 1e9);
    let text = format!("The name {name} says {gb} GB, but the card announces {}.", DecimalSize(bytes));
    let found = verify_hint("capacity-against-name", STRONG, text).because("pnm", name);
    Some(found.because("capacity_bytes", bytes))
}

fn compare_with_host(identity: &Identity) -> Option<Finding> {
    let (host, announced) = (identity.capacity_bytes?, identity.csd.as_ref()?.capacity_bytes?);
    let (seen, stated) = (group_digits(host), group_digits(announced));
    let text = format!("The host sees {seen} bytes, but the CSD announces {stated}.");
    let found = verify_hint("capacity-against-csd", STRONG, text).because("capacity_bytes", host);
    (host != announced).then(|| found.because("csd.capacity_bytes", announced))
}

/// Checks C_SIZE against the range of the family in the specification.
fn check_family_range(csd: &Csd) -> Option<Finding> {
    let (family, bytes) = (csd.family?, csd.capacity_bytes?);
    let (range, text) = match family {
        CsdFamily::Sdsc if bytes / 512 > MAX_SDSC_SECTORS => (0..=0, "at most 2 GB"),
        CsdFamily::Sdsc => return None,
        CsdFamily::Sdhc => (0x1010..=0xff5f, "over 2 GB to 32 GB, C_SIZE 0x001010 to 0x00ff5f"),
        CsdFamily::Sdxc => (0xffff..=0x3f_feff, "over 32 GB to 2 TB, C_SIZE 0x00ffff to 0x3ffeff"),
        CsdFamily::Sduc => (0x40_0000..=0xfff_ffff, "over 2 TB to 128 TB, C_SIZE from 0x0400000"),
    };
    let (outside, size) = (family == CsdFamily::Sdsc || !range.contains(&csd.c_size), DecimalSize(bytes));
    let text = format!("A capacity of {size} is outside the range of {family} cards ({text}).");
    let hint = verify_hint("capacity-outside-family", WEAK, text);
    let hint = hint.because("c_size", format!("0x{:06x}", csd.c_size));
    outside.then(|| hint.because("capacity_bytes", bytes))
}

/// Checks CCS and CO2T against the family. They are valid only after power-up.
fn compare_with_ocr(identity: &Identity) -> Option<Finding> {
    let (ocr, family) = (identity.ocr.as_ref()?, identity.csd.as_ref()?.family?);
    let says = (ocr.ccs, ocr.co2t);
    let wanted = (family > CsdFamily::Sdsc, family == CsdFamily::Sduc);
    if ocr.blank.is_some() || !ocr.power_up_status || says == wanted {
        return None;
    }
    let text = format!("The OCR's capacity bits contradict the CSD, which announces a {family} card.");
    let found = certain_note("ocr-against-csd", text).because("ccs", ocr.ccs).because("co2t", ocr.co2t);
    Some(found.because("family", family))
}
