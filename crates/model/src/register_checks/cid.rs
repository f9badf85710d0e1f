//! Findings about the CID: unregistered makers, default names of controllers, impossible dates, and models with
//! workarounds in the kernel.

use super::finding_kinds::{MEDIUM, STRONG, WEAK, certain_note, crc_mismatch, is_sandisk_name, verify_hint};
use crate::finding::Finding;
use crate::identity::Identity;
use cardscope_sd::maker::{self, OidFit, UNREGISTERED};
use cardscope_sd::registers::{Cid, CrcStatus, CsdFamily};

/// Serial numbers below this indicate small batches.
const LOW_SERIAL_LIMIT: u32 = 0x1_0000;

/// Makers of genuine cards with low serials: ADATA, Phison, Transcend.
const LOW_SERIALS_ARE_USUAL: [u8; 3] = [0x1d, 0x27, 0x74];

/// OEM id `42`, which belongs to Kingston's MID 41.
const OID_42: u16 = 0x3432;

type Field = (&'static str, fn(&Cid) -> String);

const RAW: Field = ("cid", |cid| cid.raw.to_string());
const MID: Field = ("mid", |cid| cid.mid_hex.clone());
const MAKER: Field = ("mid/oid", |cid| format!("{}/{}", cid.mid_hex, cid.oid_hex));
const PNM: Field = ("pnm", |cid| cid.pnm.clone());
const PRV: Field = ("prv", |cid| cid.prv.clone());
const PSN: Field = ("psn", |cid| cid.psn_hex.clone());

/// Suspicious pattern within a CID: claim, strength, sentence in which `{pnm}` is replaced by the card's name, evidence,
/// and the test for it.
type CidSign = (&'static str, f64, &'static str, &'static [Field], fn(&Cid) -> bool);

const SERIALS: &[CidSign] = &[
    (
        "cid-blank-but-serial",
        STRONG,
        "Maker, name and revision are zero, as on a known fake with an eighth of its capacity.",
        &[RAW],
        |cid| cid.raw.0[..9].iter().all(|b| *b == 0),
    ),
    ("serial-zero", STRONG, "The serial number is 0, as on fakes only.", &[PSN], |cid| cid.psn == 0),
    (
        "serial-low",
        WEAK,
        "The serial number is very low, as on fakes and some small brands.",
        &[PSN, MID],
        |cid| (1..LOW_SERIAL_LIMIT).contains(&cid.psn) && !LOW_SERIALS_ARE_USUAL.contains(&cid.mid),
    ),
];

const NAMES: &[CidSign] = &[
    (
        "name-smi",
        STRONG,
        "The name is SMI, the controller's default, as on many counterfeits.",
        &[PNM, MAKER],
        |cid| cid.pnm == "SMI",
    ),
    (
        "name-as",
        STRONG,
        "The name AS with SanDisk's maker number is found on counterfeits only.",
        &[PNM, MID],
        |cid| cid.pnm == "AS" && cid.mid == 0x03,
    ),
    (
        "name-zeros",
        MEDIUM,
        "The name 00000 is Samsung's, but the maker number is not; genuine Gigastone cards do this too.",
        &[PNM, MAKER],
        |cid| cid.pnm == "00000" && !(cid.mid == 0x1b && cid.oid == "SM"),
    ),
    (
        "sandisk-name",
        MEDIUM,
        "The maker number is SanDisk's, but the name {pnm} is not (expected like SU08G, SR128, AGGCE, WX64G).",
        &[MID, PNM, PRV],
        |cid| cid.mid == 0x03 && cid.pnm != "AS" && !is_sandisk_name(&cid.pnm),
    ),
    (
        "oid-42",
        MEDIUM,
        "The OEM id 42 is Kingston's (maker 0x41), but the card has another maker number, as one Gigastone card does.",
        &[MAKER],
        |cid| cid.oid_number() == OID_42 && cid.mid != 0x41,
    ),
    (
        "maker-unregistered",
        MEDIUM,
        "The maker number is not registered, as on counterfeits and cheap rebrands (Gigastone ships 0x12/0x3456 ASTC).",
        &[MAKER, PNM],
        |cid| {
            let placeholder = cid.mid == 0x12 && matches!(cid.oid_number(), 0x3456 | 0x5678);
            UNREGISTERED.contains(&cid.mid) || placeholder || cid.pnm == "ASTC"
        },
    ),
];

pub(super) fn judge_cid(identity: &Identity, today: (u16, u8), findings: &mut Vec<Finding>) {
    let Some(cid) = &identity.cid else { return };
    if let Some(blank) = cid.blank {
        let text = format!("The CID is {blank}: the card or the host did not deliver it.");
        findings.push(certain_note("cid-blank", text).because("cid", cid.raw));
        return;
    }
    let family = identity.csd.as_ref().and_then(|csd| csd.family);
    let finding = |&(claim, strength, verdict, evidence, _): &CidSign| {
        let hint = verify_hint(claim, strength, verdict.replace("{pnm}", &cid.pnm));
        evidence.iter().fold(hint, |hint, (name, read)| hint.because(name, read(cid)))
    };
    let of = |signs: &'static [CidSign]| signs.iter().filter(|sign| sign.4(cid)).map(finding);
    findings.extend(of(SERIALS));
    if cid.crc == CrcStatus::Mismatch {
        findings.push(crc_mismatch("cid-crc", "CID", cid.crc7, cid.crc7_computed));
    }
    findings.extend(of(NAMES));
    findings.extend(check_oid(cid).into_iter().chain(check_cid_format(cid)));
    findings.extend(check_date(cid, family, today));
}

fn check_oid(cid: &Cid) -> Option<Finding> {
    let maker = maker::find_maker(cid.mid, cid.oid_number())?;
    let known: Vec<String> = maker.usual_oids.iter().map(|oid| format!("0x{oid:04x}")).collect();
    let (oid, mid, name) = (&cid.oid_hex, &cid.mid_hex, maker.name);
    let text = format!("The OEM id {oid} is unusual for the maker number {mid} ({name}).");
    let found = verify_hint("maker-against-oid", MEDIUM, text).because("oid", oid);
    // The OEM id 42 has a separate finding.
    (maker.oid_fit == OidFit::Unusual && cid.oid_number() != OID_42)
        .then(|| found.because("oids known with it", known.join(", ")))
}

fn check_cid_format(cid: &Cid) -> Option<Finding> {
    let printable = |bytes: &[u8]| bytes.iter().all(|b| (0x20..0x7f).contains(b));
    let faults = [
        (!printable(&cid.raw.0[1..3]), "the OEM id is not text"),
        (cid.hwrev > 9 || cid.fwrev > 9, "the revision is not in BCD"),
        (cid.pnm.is_empty() || !printable(cid.name_bytes()), "the name is empty or not filled with blanks"),
    ];
    let faults: Vec<&str> = faults.into_iter().filter(|(there, _)| *there).map(|(_, fault)| fault).collect();
    let list = faults.join(", ");
    let text = format!("The CID is malformed ({list}), as on fakes and some cards of Kodak, Team and Netac.");
    (!faults.is_empty()).then(|| verify_hint("cid-careless", WEAK, text).because("cid", cid.raw))
}

/// Reports months out of range, future dates, and dates before the card's family existed.
fn check_date(cid: &Cid, family: Option<CsdFamily>, today: (u16, u8)) -> Option<Finding> {
    let (year, month) = (cid.mdt_year, cid.mdt_month);
    // Years of the specifications that introduced SDSC, SDHC, SDXC and SDUC.
    let first_year = family.map_or(0, |family| [2000, 2006, 2009, 2018][family as usize]);
    let fault = if !(1..=12).contains(&month) {
        format!("month {month} does not exist (an eMMC's CID also looks like this)")
    } else if (year, month) > today {
        format!("it is after {}-{:02} (or this computer's clock is wrong)", today.0, today.1)
    } else if year < first_year {
        let family = family.map(|family| family.to_string()).unwrap_or_default();
        format!("the first {family} cards appeared in {first_year}")
    } else {
        return None;
    };
    let text = format!("The date of manufacture {} is impossible: {fault}.", cid.mdt);
    let found = verify_hint("date-impossible", STRONG, text).because("mdt", &cid.mdt);
    Some(found.because("today", format!("{}-{:02}", today.0, today.1)))
}

/// MID, OEM id, name and date of a row of the kernel's table (drivers/mmc/core/quirks.h, `mmc_sd_fixups`), and its
/// effect; None matches any name or date.
type KernelQuirk = (u8, u16, Option<&'static str>, Option<(u16, u8)>, &'static str);

static QUIRKS: [KernelQuirk; 4] = [
    (0x9f, 0x5449, Some("SD64G"), Some((2019, 11)), CANVAS_QUIRK),
    (0x12, 0x3456, Some("ASTC"), Some((2022, 2)), GIGASTONE_QUIRK),
    (0x5d, 0x5342, Some("0016G"), Some((2019, 1)), SWISSBIT_QUIRK),
    (0x03, 0x5344, None, None, "SanDisk: discard is broken, so the kernel erases instead and trims slower"),
];

const CANVAS_QUIRK: &str =
    "Kingston Canvas Go Plus of this date: cache flush is broken, so the kernel turns the cache off";
const GIGASTONE_QUIRK: &str =
    "Gigastone of this date: cache and power-off notification are broken, so the kernel uses neither";
const SWISSBIT_QUIRK: &str = "Swissbit of this date: tuning fails in DDR50, so the kernel skips it";

pub(super) fn add_quirk_notes(identity: &Identity, findings: &mut Vec<Finding>) {
    let Some(cid) = &identity.cid else { return };
    let fits = |&&(mid, oid, name, date, _): &&KernelQuirk| {
        (mid, oid) == (cid.mid, cid.oid_number())
            && name.is_none_or(|name| name == cid.pnm)
            && date.is_none_or(|date| date == (cid.mdt_year, cid.mdt_month))
    };
    findings.extend(QUIRKS.iter().filter(fits).map(|(.., text)| {
        certain_note("kernel-quirk", format!("Linux works around a bug of this model ({text})."))
            .because("mid/oid", format!("{}/{}", cid.mid_hex, cid.oid_hex))
            .because("pnm", &cid.pnm)
            .because("mdt", &cid.mdt)
    }));
}
