//! Findings on registers of real cards and on modified ones.

use super::finding_kinds::{STRONG, WEAK};
use super::*;
use crate::finding::FindingWeight;
use crate::identity::{HexRegisters, from_hex};
use crate::usb::UsbReader;
use cardscope_sd::bus::{MmcBus, PcieLink};
use cardscope_sd::health::{CardHealth, PAGE_BYTES};
use cardscope_sd::nvme::{NvmeIdentity, SmartLog};
use rstest::rstest;

const TODAY: (u16, u8) = (2026, 11);
const CSD_4_GB: &str = "400e00325b5900001d8a7f800a4040b9";

fn identity(cid: &str, csd: &str) -> Identity {
    from_hex(HexRegisters { cid: Some(cid), csd: Some(csd), ..HexRegisters::default() }).unwrap()
}

fn claims_of(identity: &Identity) -> Vec<String> {
    judge_registers(identity, TODAY).into_iter().map(|finding| finding.claim).collect()
}

fn claims(cid: &str, csd: &str) -> Vec<String> {
    claims_of(&identity(cid, csd))
}

fn finding(identity: &Identity, claim: &str) -> Option<Finding> {
    judge_registers(identity, TODAY).into_iter().find(|finding| finding.claim == claim)
}

fn has(claims: &[String], claim: &str) -> bool {
    claims.iter().any(|c| c == claim)
}

fn with_ssr(head: &str) -> Identity {
    from_hex(HexRegisters { ssr: Some(&format!("{head:0<128}")), ..HexRegisters::default() }).unwrap()
}

#[test]
fn genuine_sandisk_cards_get_only_the_quirk_note() {
    assert_eq!(claims("035344535530344780811ea6ab00b37f", CSD_4_GB), ["kernel-quirk"]);
    assert_eq!(
        claims("0353445355303147800008fe40006cfd", "002600325f5983c8befbcfff924040d7"),
        ["kernel-quirk"]
    );
}

// CID, and CSD unless it is that of the 4 GB card. First, names that fit the capacity or contain no size.
#[rstest]
#[case("capacity-against-name", "02544d5344303634055744cb0f003401 002d0032135983c9f6d9cf8016400001", false)]
#[case("capacity-against-name", "1b534d30303030301000ca9e3d00b201", false)]
#[case("serial-zero", "03534453553034478000000000016300", true)]
// 0x40000811 is not a low serial; 0x0811 is.
#[case("serial-low", "824a544e43617264204000081100e200", false)]
#[case("serial-low", "824a544e43617264200000081100e200", true)]
// Phison's genuine cards count from low numbers.
#[case("serial-low", "275048534430344730000000110144aa", false)]
#[case("cid-blank-but-serial", "0000000000000000001234567801b300", true)]
#[case("maker-unregistered", "0000000000000000001234567801b300", true)]
#[case("name-smi", "6f0013534d4920201012345678016300", true)]
#[case("maker-against-oid", "6f0013534d4920201012345678016300", false)]
#[case("maker-against-oid", "0383684e4361726410e000035d00e200", true)]
#[case("sandisk-name", "0383684e4361726410e000035d00e200", true)]
#[case("name-as", "0353444153202020101234567801b300", true)]
// SanDisk's MID with a name of Phison.
#[case("sandisk-name", "0353445344344742307c7762c900e100 400e00325b5900001da77f800a400000", true)]
#[case("oid-42", "41343253443847423043f65dc900f4a1 400e00325b5900003a8f7f800a400087", false)]
// Five zeros are a name of Samsung only.
#[case("name-zeros", "1b534d3030303030107d11463800c199 400e00325b590000e9e57f800a4040f1", false)]
#[case("name-zeros", "744a60303030303000000001c9017709 400e00325b590000e8f57f800a4000d1", true)]
#[case("cid-careless", "6f001353440000001f1234567801b300", true)]
#[case("cid-careless", "744a60555344202010a5a2038a00f601 400e00325b5900003c1d7f800a400001", false)]
// C_SIZE ff60 lies between the families; 4 GB of SDSC has READ_BL_LEN 11.
#[case("capacity-outside-family", "035344535533324780811ea6ab00b37f 400e00325b590000ff607f800a404000", true)]
#[case("capacity-outside-family", "035344535530344780811ea6ab00b37f 002600325f5b83febefbcfff92c04000", true)]
#[case("cid-crc", "035344535530344780811ea6ab00b355", true)]
#[case("csd-crc", "035344535530344780811ea6ab00b37f 400e00325b5900001d8a7f800a404055", true)]
#[case("write-protected", "035344535530344780811ea6ab00b37f 400e00325b5900001d8a7f800a406000", true)]
// The kernel's workarounds depend on the date, too.
#[case("kernel-quirk", "9f544953443634476136980065013b00 400e00325b590001cfff7f800a400000", true)]
#[case("kernel-quirk", "9f54495344363447614b1004af017400 400e00325b590001cfff7f800a400000", false)]
fn cid_and_csd_findings_match_expectations(
    #[case] claim: &str,
    #[case] registers: &str,
    #[case] shown: bool,
) {
    let (cid, csd) = registers.split_once(' ').unwrap_or((registers, CSD_4_GB));
    let claims = claims(cid, csd);
    assert_eq!(has(&claims, claim), shown, "{claims:?}");
}

// An SDXC card of version 2 is inconsistent; one without content protection is genuine.
#[rstest]
#[case("scr-against-capacity", Some("0235000000000000"), None, true)]
#[case("scr-against-capacity", Some("0245848700000000"), None, false)]
#[case("scr-against-capacity", Some("0205848700000000"), None, false)]
// The OCR counts only after power-up.
#[case("ocr-against-csd", None, Some("80ff8000"), true)]
#[case("ocr-against-csd", None, Some("00200000"), false)]
#[case("ocr-against-csd", None, Some("c0ff8000"), false)]
fn scr_and_ocr_are_checked_against_an_sdxc_csd(
    #[case] claim: &str,
    #[case] scr: Option<&str>,
    #[case] ocr: Option<&str>,
    #[case] shown: bool,
) {
    let csd = Some("400e0032db790001dbd37f800a4040f9");
    let registers = HexRegisters { csd, scr, ocr, ..HexRegisters::default() };
    assert_eq!(has(&claims_of(&from_hex(registers).unwrap()), claim), shown);
}

#[test]
fn capacity_against_name_finding_has_both_sizes() {
    // Phison's SD16G with the CSD of a 32 GB Samsung, 31 393 316 864 bytes.
    let identity = identity("275048534431364730da89b82900fb61", "400e00325b590000e9e57f800a4040f1");
    let finding = finding(&identity, "capacity-against-name").unwrap();
    assert!(finding.verdict.contains("16 GB") && finding.verdict.contains("31.4 GB"), "{}", finding.verdict);
    assert_eq!(finding.evidence[1], ("capacity_bytes".to_owned(), "31393316864".to_owned()));
    assert_eq!((finding.weight, finding.confidence), (FindingWeight::Hint, STRONG));
}

#[test]
fn oid_42_finding_has_counter_evidence() {
    let identity = identity("003432534431364720000003fb0192d5", "400e00325b590000770b7f800a40004f");
    assert!(finding(&identity, "oid-42").unwrap().verdict.contains("Gigastone"));
}

#[test]
fn impossible_dates_are_reported_with_reason() {
    // Month 0; December 2026, which is next month; November 2026, which is not; SDHC in 2005.
    for (cid, reason) in [
        ("035344535530344780811ea6ab00b07f", Some("month 0")),
        ("035344535530344780811ea6ab01ac00", Some("is after")),
        ("035344535530344780811ea6ab01ab00", None),
        ("035344535530344780811ea6ab005300", Some("2006")),
    ] {
        let verdict = finding(&identity(cid, CSD_4_GB), "date-impossible").map(|f| f.verdict);
        assert_eq!(verdict.is_some(), reason.is_some(), "{cid}");
        assert!(verdict.unwrap_or_default().contains(reason.unwrap_or_default()), "{cid}");
    }
}

#[test]
fn wrong_csd_constants_are_weak_hints() {
    // TAAC 0f in place of 0e, ERASE_BLK_EN cleared.
    let card = identity("035344535530344780811ea6ab00b37f", "400f00325b5900001d8a3f800a404000");
    let finding = finding(&card, "csd-constants").unwrap();
    assert_eq!((finding.evidence[1].1.as_str(), finding.confidence), ("TAAC, ERASE_BLK_EN", WEAK));
}

#[test]
fn shared_wrong_crc_gives_no_finding() {
    let shared = claims("035344535530344780811ea6ab00b355", "400e00325b5900001d8a7f800a404055");
    assert_eq!(shared, ["kernel-quirk"]);
}

#[test]
fn each_blank_register_gets_a_note() {
    let zeros = "0".repeat(128);
    let registers = HexRegisters {
        cid: Some(&zeros[..32]),
        csd: Some(&zeros[..32]),
        scr: Some(&zeros[..16]),
        ssr: Some(&zeros),
        ocr: Some(&zeros[..8]),
        kind: None,
    };
    assert_eq!(
        claims_of(&from_hex(registers).unwrap()),
        ["cid-blank", "csd-blank", "scr-blank", "ssr-blank", "ocr-blank"]
    );
}

#[test]
fn host_capacity_differing_from_csd_is_reported() {
    let mut card = identity("035344535530344780811ea6ab00b37f", CSD_4_GB);
    card.capacity_bytes = Some(3_965_190_144 - 512);
    assert!(has(&claims_of(&card), "capacity-against-csd"));
}

#[test]
fn uhs_grade_zero_is_a_note_only_without_1_8_v() {
    let mut card = with_ssr("0000000004000000040090000f050a");
    assert_eq!(claims_of(&card), ["uhs-grade-zero"]);
    card.mmc = Some(MmcBus { signal_voltage_v: Some(1.8), ..MmcBus::default() });
    assert!(claims_of(&card).is_empty());
    assert!(claims_of(&with_ssr("8000000003000000020290000b0500")).is_empty());
}

#[test]
fn a2_on_linux_is_explained() {
    let card = with_ssr("000000000800000004009000011b391e000800000002ff0003");
    assert!(finding(&card, "a2-on-linux").unwrap().advice.unwrap().contains("1500"));
}

#[test]
fn slow_clock_is_noted_but_rounded_clock_is_not() {
    let bus = |hz: u64| Identity {
        mmc: Some(MmcBus::from_ios(&format!(
            "clock: {hz} Hz\nbus width: 2 (4 bits)\ntiming spec: 6 (sd uhs SDR104)\n"
        ))),
        ..Identity::default()
    };
    let verdict = finding(&bus(50_000_000), "clock-below-timing").unwrap().verdict;
    assert!(verdict.contains("runs at 50 of 208 MHz and carries at most 25 MB/s"), "{verdict}");
    assert!(claims_of(&bus(200_000_000)).is_empty());
}

#[test]
fn a_narrow_link_and_a_reader_are_noted() {
    let pcie = PcieLink::from_sysfs((Some("2.5 GT/s PCIe"), Some("1")), (Some("8.0 GT/s PCIe"), Some("1")));
    let card = Identity { pcie: Some(pcie), usb: Some(UsbReader::default()), ..Identity::default() };
    assert_eq!(claims_of(&card), ["pcie-link-below-card", "reader-hides-registers"]);
}

#[test]
fn smart_warnings_become_findings() {
    let mut log = vec![0; 512];
    (log[0], log[5], log[216]) = (0b1000, 104, 3);
    let nvme = NvmeIdentity { smart: Some(SmartLog::decode(&log).unwrap()), ..NvmeIdentity::default() };
    let card = Identity { nvme: Some(nvme), ..Identity::default() };
    assert_eq!(claims_of(&card), ["nvme-critical-warning", "nvme-worn", "nvme-throttled"]);
}

#[test]
fn worn_health_page_becomes_a_finding() {
    let page = |used: u8| {
        let mut page = [0; PAGE_BYTES];
        (page[0], page[1], page[8]) = (b'D', b'S', used);
        Identity { health: Some(CardHealth::decode(page).unwrap()), ..Identity::default() }
    };
    // The number counts the percent begun, so 100 means that the last percent is not over.
    assert_eq!(claims_of(&page(101)), ["card-worn"]);
    assert!(claims_of(&page(100)).is_empty());
}

#[test]
fn register_findings_are_never_bad() {
    for cid in ["0".repeat(32), "f".repeat(32), format!("{:0>28}f000", "")] {
        let findings = judge_registers(&identity(&cid, CSD_4_GB), TODAY);
        assert!(findings.iter().all(|f| f.weight < FindingWeight::Bad && f.confidence <= 1.0));
    }
}
