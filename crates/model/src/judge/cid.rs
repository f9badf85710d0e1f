//! Signs in the CID: numbers nobody registered, names left at a controller's default, impossible dates.

use super::hint::{MEDIUM, STRONG, WEAK, crc_mismatch, hint, note};
use super::name;
use crate::finding::Finding;
use crate::identity::Identity;
use cardscope_sd::maker::{self, OidFit, UNREGISTERED};
use cardscope_sd::registers::{Cid, Crc, Family};

/// Serials below this come from small batches.
const LOW_SERIAL: u32 = 0x1_0000;

/// Makers whose honest cards have low serials: ADATA, Phison, Transcend.
const LOW_SERIALS_ARE_USUAL: [u8; 3] = [0x1d, 0x27, 0x74];

/// OEM id `42`, which is Kingston's with MID 41.
const OID_42: u16 = 0x3432;

/// Looks at the CID.
pub(super) fn judge(identity: &Identity, today: (u16, u8), findings: &mut Vec<Finding>) {
    let Some(cid) = &identity.cid else { return };
    if let Some(blank) = cid.blank {
        findings.push(
            note("cid-blank", format!("the CID is {blank}: the card or the host did not deliver it"))
                .because("cid", cid.raw),
        );
        return;
    }
    let family = identity.csd.as_ref().and_then(|csd| csd.family);
    findings
        .extend([blank_but_serial(cid), serial_zero(cid), serial_low(cid), crc(cid)].into_iter().flatten());
    findings
        .extend([default_name(cid), name_as(cid), zeros_name(cid), sandisk_name(cid)].into_iter().flatten());
    findings.extend([oid_42(cid), unregistered(cid), foreign_oid(cid), careless(cid)].into_iter().flatten());
    findings.extend(impossible_date(cid, family, today));
}

fn blank_but_serial(cid: &Cid) -> Option<Finding> {
    cid.raw.0[..9].iter().all(|b| *b == 0).then(|| {
        hint("cid-blank-but-serial", STRONG, "maker, name and revision are all zero, only serial and date are set: seen on a card that held an eighth of its capacity")
            .because("cid", cid.raw)
    })
}

fn serial_zero(cid: &Cid) -> Option<Finding> {
    (cid.psn == 0).then(|| {
        hint("serial-zero", STRONG, "the serial number is 0: no honest card with it is known")
            .because("psn", &cid.psn_hex)
    })
}

fn serial_low(cid: &Cid) -> Option<Finding> {
    let low = (1..LOW_SERIAL).contains(&cid.psn) && !LOW_SERIALS_ARE_USUAL.contains(&cid.mid);
    low.then(|| {
        hint("serial-low", WEAK, "the serial number is very low; small honest brands have such too")
            .because("psn", &cid.psn_hex)
            .because("mid", &cid.mid_hex)
    })
}

fn crc(cid: &Cid) -> Option<Finding> {
    (cid.crc == Crc::Mismatch).then(|| crc_mismatch("cid", cid.crc7, cid.crc7_computed))
}

fn default_name(cid: &Cid) -> Option<Finding> {
    (cid.pnm == "SMI").then(|| {
        hint(
            "name-smi",
            STRONG,
            "the name is SMI, the default of a controller that its maker never set: a common counterfeit",
        )
        .because("pnm", &cid.pnm)
        .because("mid/oid", format!("{}/{}", cid.mid_hex, cid.oid_hex))
    })
}

fn name_as(cid: &Cid) -> Option<Finding> {
    (cid.pnm == "AS" && cid.mid == 0x03).then(|| {
        hint("name-as", STRONG, "the name AS under SanDisk's number is known from counterfeits only")
            .because("pnm", &cid.pnm)
            .because("mid", &cid.mid_hex)
    })
}

fn zeros_name(cid: &Cid) -> Option<Finding> {
    let samsung = cid.mid == 0x1b && cid.oid == "SM";
    (cid.pnm == "00000" && !samsung).then(|| {
        hint("name-zeros", MEDIUM, "the name is 00000, which is Samsung's habit, under another maker's number; honest Gigastone cards do it too")
            .because("pnm", &cid.pnm)
            .because("mid/oid", format!("{}/{}", cid.mid_hex, cid.oid_hex))
    })
}

fn sandisk_name(cid: &Cid) -> Option<Finding> {
    (cid.mid == 0x03 && cid.pnm != "AS" && !name::is_sandisk(&cid.pnm)).then(|| {
        hint("sandisk-name", MEDIUM, format!("SanDisk's number with the name {}, which is not built as SanDisk's are (SU08G, SR128, AGGCE, WX64G)", cid.pnm))
            .because("mid", &cid.mid_hex)
            .because("pnm", &cid.pnm)
            .because("prv", &cid.prv)
    })
}

fn oid_42(cid: &Cid) -> Option<Finding> {
    (cid.oid_number() == OID_42 && cid.mid != 0x41).then(|| {
        hint("oid-42", MEDIUM, "the OEM id 42 belongs with Kingston's number 0x41, which this is not; a Gigastone retail card has it too")
            .because("mid/oid", format!("{}/{}", cid.mid_hex, cid.oid_hex))
    })
}

fn unregistered(cid: &Cid) -> Option<Finding> {
    let placeholder = cid.mid == 0x12 && matches!(cid.oid_number(), 0x3456 | 0x5678);
    (UNREGISTERED.contains(&cid.mid) || placeholder || cid.pnm == "ASTC").then(|| {
        hint("maker-unregistered", MEDIUM, "the maker's number was never registered: cheap rebrands, honest ones among them (Gigastone ships 0x12/0x3456 ASTC), and counterfeits")
            .because("mid/oid", format!("{}/{}", cid.mid_hex, cid.oid_hex))
            .because("pnm", &cid.pnm)
    })
}

fn foreign_oid(cid: &Cid) -> Option<Finding> {
    let maker = maker::look_up(cid.mid, cid.oid_number())?;
    // The OEM id 42 has a finding of its own.
    (maker.oid == OidFit::Foreign && cid.oid_number() != OID_42).then(|| {
        let known: Vec<String> = maker.known_oids.iter().map(|oid| format!("0x{oid:04x}")).collect();
        hint(
            "maker-against-oid",
            MEDIUM,
            format!(
                "the OEM id {} was never seen with the maker's number {} ({})",
                cid.oid_hex, cid.mid_hex, maker.name
            ),
        )
        .because("oid", &cid.oid_hex)
        .because("oids known with it", known.join(", "))
    })
}

fn careless(cid: &Cid) -> Option<Finding> {
    let printable = |bytes: &[u8]| bytes.iter().all(|b| (0x20..0x7f).contains(b));
    let mut faults = Vec::new();
    if !printable(&cid.raw.0[1..3]) {
        faults.push("the OEM id is no text");
    }
    if cid.hwrev > 9 || cid.fwrev > 9 {
        faults.push("the revision is not in BCD");
    }
    if cid.pnm.is_empty() || !printable(cid.name_bytes()) {
        faults.push("the name is empty or not filled with blanks");
    }
    (!faults.is_empty()).then(|| {
        hint(
            "cid-careless",
            WEAK,
            format!(
                "carelessly written: {}; honest cards of Kodak, Team and Netac are too",
                faults.join(", ")
            ),
        )
        .because("cid", cid.raw)
    })
}

/// Months that do not exist, dates to come, and dates before the family did.
fn impossible_date(cid: &Cid, family: Option<Family>, today: (u16, u8)) -> Option<Finding> {
    let (year, month) = (cid.mdt_year, cid.mdt_month);
    let first_year = family.map_or(0, first_year);
    let fault = if !(1..=12).contains(&month) {
        format!("month {month} does not exist; an eMMC's CID read as a card's looks so too")
    } else if (year, month) > today {
        format!("it lies in the future of {}-{:02}; this computer's clock may be wrong", today.0, today.1)
    } else if year < first_year {
        format!("the first {} cards came in {first_year}", family.map(|f| f.to_string()).unwrap_or_default())
    } else {
        return None;
    };
    Some(
        hint(
            "date-impossible",
            STRONG,
            format!("the date of manufacture {} is impossible: {fault}", cid.mdt),
        )
        .because("mdt", &cid.mdt)
        .because("today", format!("{}-{:02}", today.0, today.1)),
    )
}

/// Year of the specification that made each family.
fn first_year(family: Family) -> u16 {
    match family {
        Family::Sdsc => 2000,
        Family::Sdhc => 2006,
        Family::Sdxc => 2009,
        Family::Sduc => 2018,
    }
}
