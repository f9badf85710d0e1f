//! Snapshots of the document of `decode --json` for the two cards of docs/reference/reports.md#sd-card-round-up.
//!
//! Unit tests of the registers check the values; the snapshots pin names, order and nulls.

use cardscope_model::identity::{HexRegisters, from_hex};

fn document(cid: &str, csd: &str) -> serde_json::Value {
    let registers = HexRegisters { cid: Some(cid), csd: Some(csd), ..HexRegisters::default() };
    let identity = from_hex(registers).expect("registers of a real card").judged((2026, 11));
    serde_json::to_value(identity).expect("plain data")
}

#[test]
fn sandisk_4_gb_microsdhc_snapshot() {
    let document = document("035344535530344780811ea6ab00b37f", "400e00325b5900001d8a7f800a4040b9");
    insta::assert_json_snapshot!("seed_002_sandisk_4_gb", document);
}

#[test]
fn sandisk_1_gb_microsd_snapshot() {
    let document = document("0353445355303147800008fe40006cfd", "002600325f5983c8befbcfff924040d7");
    insta::assert_json_snapshot!("seed_002_sandisk_1_gb", document);
}

#[test]
fn card_with_all_registers_snapshot() {
    let ssr = format!("{:0<128}", "000000000800000004009000011b391e000800000002ff0003");
    let registers = HexRegisters {
        cid: Some("9f544953443634476136980065013b00"),
        csd: Some("400e00325b590001cfff7f800a400000"),
        scr: Some("0205848701006432"),
        ssr: Some(&ssr),
        ocr: Some("0xc0ff8000"),
        kind: None,
    };
    let identity = from_hex(registers).unwrap().judged((2026, 11));
    insta::assert_json_snapshot!("kingston_canvas_go_plus", serde_json::to_value(identity).unwrap());
}
