//! Capacity against everything else that has an opinion about it: the name, the host, the family's range.

use super::hint::{STRONG, WEAK, hint, note};
use super::name;
use crate::finding::Finding;
use crate::identity::Identity;
use crate::units::Capacity;
use cardscope_sd::registers::{Csd, Family};

/// A card holds at least this share of the size in its name …
const NAME_FROM: f64 = 0.85;
/// … and at most this: 2^30 bytes are 1.074 GB.
const NAME_TO: f64 = 1.10;

/// The most that a data area of an SDSC card may have, in sectors (Physical Layer Specification, 2 GB cards).
const SDSC_MOST_SECTORS: u64 = 4_153_344;

/// Looks at the capacity.
pub(super) fn judge(identity: &Identity, findings: &mut Vec<Finding>) {
    findings.extend(against_name(identity));
    findings.extend(against_host(identity));
    findings.extend(identity.csd.as_ref().and_then(outside_family));
    findings.extend(against_ocr(identity));
}

fn against_name(identity: &Identity) -> Option<Finding> {
    let name = &identity.cid.as_ref()?.pnm;
    let bytes = identity.capacity_bytes.or(identity.csd.as_ref()?.capacity_bytes)?;
    let sizes = name::sizes_in(name);
    let fits = |size: &f64| (NAME_FROM..=NAME_TO).contains(&(bytes as f64 / size));
    if sizes.is_empty() || sizes.iter().any(fits) {
        return None;
    }
    let said = sizes.last().map_or(0.0, |size| size / 1e9);
    Some(
        hint(
            "capacity-against-name",
            STRONG,
            format!("the name {name} says {said} GB, the card announces {}", Capacity(bytes)),
        )
        .because("pnm", name)
        .because("capacity_bytes", bytes),
    )
}

fn against_host(identity: &Identity) -> Option<Finding> {
    let (host, announced) = (identity.capacity_bytes?, identity.csd.as_ref()?.capacity_bytes?);
    (host != announced).then(|| {
        hint(
            "capacity-against-csd",
            STRONG,
            format!("the host sees {}, the CSD announces {}", Capacity(host), Capacity(announced)),
        )
        .because("capacity_bytes", host)
        .because("csd.capacity_bytes", announced)
    })
}

/// C_SIZE outside the range that the specification gives each family.
fn outside_family(csd: &Csd) -> Option<Finding> {
    let (family, bytes) = (csd.family?, csd.capacity_bytes?);
    let (range, text) = match family {
        Family::Sdsc if bytes / 512 > SDSC_MOST_SECTORS => (0..=0, "at most 2 GB"),
        Family::Sdsc => return None,
        Family::Sdhc => (0x1010..=0xff5f, "over 2 GB to 32 GB, C_SIZE 0x001010 to 0x00ff5f"),
        Family::Sdxc => (0xffff..=0x3f_feff, "over 32 GB to 2 TB, C_SIZE 0x00ffff to 0x3ffeff"),
        Family::Sduc => (0x40_0000..=0xfff_ffff, "over 2 TB to 128 TB, C_SIZE from 0x0400000"),
    };
    let outside = family == Family::Sdsc || !range.contains(&csd.c_size);
    outside.then(|| {
        hint(
            "capacity-outside-family",
            WEAK,
            format!(
                "{} is outside what {family} cards may have ({text}); it is computed all the same",
                Capacity(bytes)
            ),
        )
        .because("c_size", format!("0x{:06x}", csd.c_size))
        .because("capacity_bytes", bytes)
    })
}

/// CCS and CO2T say the family again, where the card had finished waking up.
fn against_ocr(identity: &Identity) -> Option<Finding> {
    let (ocr, family) = (identity.ocr.as_ref()?, identity.csd.as_ref()?.family?);
    let says = (ocr.ccs, ocr.co2t);
    let wanted = (family > Family::Sdsc, family == Family::Sduc);
    if ocr.blank.is_some() || !ocr.power_up_status || says == wanted {
        return None;
    }
    Some(
        note(
            "ocr-against-csd",
            format!("the OCR's capacity bits do not fit a {family} card, which the CSD announces"),
        )
        .because("ccs", ocr.ccs)
        .because("co2t", ocr.co2t)
        .because("family", family),
    )
}
