//! Registers published by owners of real cards: a collection, and the two cards of
//! docs/reference/reports.md#sd-card-round-up.
//!
//! The collection is not part of the repository. It is expected next to the folder in `CARDSCOPE_DATA` (default
//! `../shared/data` from the repository's root); without it the tests print a note and pass.

use cardscope_model::finding::FindingWeight;
use cardscope_model::identity::{HexRegisters, Identity, from_hex};
use cardscope_sd::bus::MmcBus;
use cardscope_sd::registers::{CrcStatus, HexFault, RegisterError};
use std::path::PathBuf;

/// Row of the collection; empty texts if not published.
struct Row {
    label: String,
    cid: String,
    csd: String,
    scr: String,
    ssr: String,
    capacity: Option<u64>,
}

/// Reads a file of the collection, or prints that it is missing.
fn collected(name: &str) -> Option<String> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let data = std::env::var_os("CARDSCOPE_DATA").map_or_else(|| root.join("../shared/data"), PathBuf::from);
    let text = std::fs::read_to_string(data.join(name)).ok();
    if text.is_none() {
        println!("no {name} in {}: nothing tested", data.display());
    }
    text
}

fn collection() -> Option<Vec<Row>> {
    Some(collected("../reference/registers.csv")?.lines().skip(1).map(row).collect())
}

fn row(line: &str) -> Row {
    let fields = fields(line);
    let field = |n: usize| fields.get(n).cloned().unwrap_or_default();
    Row {
        label: field(0),
        cid: field(1),
        csd: field(2),
        scr: field(3),
        ssr: field(4),
        capacity: field(5).parse().ok(),
    }
}

/// Splits a CSV line; quoted fields may contain commas.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut field, mut quoted) = (Vec::new(), String::new(), false);
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(std::mem::take(&mut field)),
            c => field.push(c),
        }
    }
    fields.push(field);
    fields
}

fn decode(row: &Row) -> Result<Identity, RegisterError> {
    fn given(text: &str) -> Option<&str> {
        Some(text).filter(|text| !text.is_empty())
    }
    from_hex(HexRegisters {
        cid: given(&row.cid),
        csd: given(&row.csd),
        scr: given(&row.scr),
        ssr: given(&row.ssr),
        ..HexRegisters::default()
    })
}

/// Decodes and judges all rows except the eMMC.
fn cards() -> Option<Vec<(Row, Identity)>> {
    let rows = collection()?;
    let cards = rows.into_iter().filter(|row| !row.label.starts_with("NOT SD"));
    let decoded = cards.map(|row| {
        let identity = decode(&row).unwrap_or_else(|error| panic!("{}: {error}", row.label));
        (row, identity.judged((2026, 11)))
    });
    Some(decoded.collect())
}

#[test]
fn csd_capacities_match_published_ones() {
    let Some(cards) = cards() else { return };
    let mut compared = 0;
    for (row, identity) in &cards {
        if let (Some(published), Some(csd)) = (row.capacity, &identity.csd) {
            assert_eq!(csd.capacity_bytes, Some(published), "{}", row.label);
            compared += 1;
        }
    }
    assert!(compared >= 15, "only {compared} rows have a capacity");
}

#[test]
fn collection_has_no_crc_mismatch() {
    let Some(cards) = cards() else { return };
    let mut right = 0;
    for (row, identity) in &cards {
        for crc in
            [identity.cid.as_ref().map(|r| r.crc), identity.csd.as_ref().map(|r| r.crc)].into_iter().flatten()
        {
            assert_ne!(crc, CrcStatus::Mismatch, "{}", row.label);
            right += usize::from(crc == CrcStatus::Ok);
        }
    }
    assert!(right >= 40, "only {right} registers carry their CRC");
}

#[test]
fn collection_emmc_is_refused() {
    let Some(rows) = collection() else { return };
    let emmc = rows.iter().find(|row| row.label.starts_with("NOT SD")).unwrap();
    assert_eq!(decode(emmc).unwrap_err(), RegisterError { register: "CSD", fault: HexFault::Emmc });
}

#[test]
fn retail_cards_get_no_strong_hint() {
    let Some(cards) = cards() else { return };
    for (row, identity) in &cards {
        for finding in &identity.findings {
            assert!(finding.weight < FindingWeight::Bad, "{}: {}", row.label, finding.verdict);
            let strong = finding.weight == FindingWeight::Hint && finding.confidence > 0.7;
            assert!(!strong, "{}: {}", row.label, finding.verdict);
        }
    }
}

#[test]
fn retail_cards_have_valid_constants() {
    let Some(cards) = cards() else { return };
    for (row, identity) in &cards {
        for claim in ["csd-constants", "capacity-outside-family", "scr-against-capacity"] {
            assert!(!identity.findings.iter().any(|f| f.claim == claim), "{}: {claim}", row.label);
        }
    }
}

#[test]
fn seed_cards_have_published_capacities() {
    let text = include_str!("fixtures/seed_registers.csv");
    for line in text.lines().skip(1) {
        let fields = fields(line);
        let registers =
            HexRegisters { cid: Some(&fields[1]), csd: Some(&fields[2]), ..HexRegisters::default() };
        let identity = from_hex(registers).unwrap();
        assert_eq!(identity.capacity_bytes, fields[3].parse().ok(), "{}", fields[0]);
        assert_eq!(identity.cid.map(|cid| cid.crc), Some(CrcStatus::Ok), "{}", fields[0]);
    }
}

#[test]
fn collected_ios_files_give_clock_based_ceilings() {
    for (file, mode, ceiling) in [
        ("phytium-sdr104-50mhz-no-actual.txt", "SDR104", 25.0),
        ("rpi4-mmc0-ddr50.txt", "DDR50", 50.0),
        ("rpi4-mmc0-highspeed.txt", "High Speed", 25.0),
    ] {
        let Some(text) = collected(&format!("mmc-ios/{file}")) else { return };
        let bus = MmcBus::from_ios(&text);
        assert_eq!((bus.mode.as_deref(), bus.ceiling_mb_s), (Some(mode), Some(ceiling)), "{file}");
        assert_eq!((bus.bus_width, bus.power_mode.as_deref()), (Some(4), Some("on")), "{file}");
    }
}

#[test]
fn decoded_fields_match_fifteen_published_cards() {
    let Some(text) = collected("registers/cards.csv") else { return };
    for line in text.lines().skip(1) {
        let f = fields(line);
        let registers = HexRegisters {
            cid: Some(&f[1]),
            csd: Some(&f[2]),
            ocr: Some(&f[3]),
            scr: Some(&f[4]),
            ..HexRegisters::default()
        };
        let identity = from_hex(registers).unwrap();
        let (cid, scr) = (identity.cid.unwrap(), identity.scr.unwrap());
        let published = [&f[5], &f[6], &f[7], &f[8], &f[9], &f[10]].map(String::as_str);
        let decoded =
            [&cid.mid_hex, &cid.oid, &cid.pnm, &cid.prv, &cid.psn_hex, &cid.mdt].map(String::as_str);
        assert_eq!(decoded, published, "{}", f[0]);
        assert_eq!(
            identity.capacity_bytes.map(|bytes| bytes.to_string()).as_deref(),
            Some(f[11].as_str()),
            "{}",
            f[0]
        );
        assert_eq!((cid.crc, identity.csd.unwrap().crc), (CrcStatus::Ok, CrcStatus::Ok), "{}", f[0]);
        assert_eq!(scr.version.map(|v| v[..2].to_owned()).as_deref(), Some(&f[14][..2]), "{}", f[0]);
    }
}
