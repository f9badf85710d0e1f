use super::*;
use crate::target_spec::DEFAULT_SEED;

#[test]
fn every_built_in_card_loads_under_the_name_of_its_file() {
    for name in names() {
        assert_eq!(Archetype::load(name).unwrap().name, name);
    }
    assert_eq!(archetypes().unwrap().len(), names().len());
}

#[test]
fn the_truth_in_each_file_is_what_its_parameters_say() {
    for card in archetypes().unwrap() {
        assert_eq!(card.truth, Truth::of(&card, DEFAULT_SEED), "{}", card.name);
    }
}

#[test]
fn a_key_that_nobody_knows_is_refused() {
    let card = FILES.iter().find(|f| f.0 == "constant").unwrap().1;
    let text = card.replace("[constant]", "[constant]\nspeed = 3");
    let error = Archetype::from_toml("odd", &text).unwrap_err().to_string();
    assert!(error.contains("odd") && error.contains("speed"), "{error}");
}

#[test]
fn a_key_that_the_engine_does_not_have_is_refused() {
    let card = FILES.iter().find(|f| f.0 == "lexar-16g-c10").unwrap().1;
    let error = Archetype::from_toml("odd", &card.replace("close_s", "clos_s")).unwrap_err().to_string();
    assert!(error.contains("clos_s"), "{error}");
}

#[test]
fn impossible_values_are_refused_by_key() {
    let card = FILES.iter().find(|f| f.0 == "lexar-1tb-express").unwrap().1;
    for (from, to, part) in [
        ("announced_bytes = 1000865792000", "announced_bytes = 1000865792001", "announced_bytes"),
        ("tmt1_c = 81.0 ", "tmt1_c = 99.0 ", "tmt1_c"),
        ("\ndepth = 32", "\ndepth = 0", "queue.depth"),
        ("au_bytes = 33554432", "au_bytes = 33554944", "au_bytes"),
        ("mb_s = 784.3", "mb_s = 0.0", "read.mb_s"),
        ("reopen_bytes = 76100000000", "reopen_bytes = 761000000000", "reopen_bytes"),
        ("base_s = 0.0001848", "base_s = -1.0", "read.base_s"),
    ] {
        assert!(card.contains(from), "{from}");
        let error = Archetype::from_toml("odd", &card.replace(from, to)).unwrap_err().to_string();
        assert!(error.contains(part), "{to}: {error}");
    }
}

#[test]
fn the_registers_of_each_card_are_sound_and_fit_its_capacity() {
    for card in archetypes().unwrap() {
        let Some(sd) = &card.identity.sd else { continue };
        let csd = bytes(&sd.csd);
        assert_eq!(crc7(&csd[..15]), csd[15] >> 1, "{} CSD", card.name);
        let cid = bytes(&sd.cid);
        assert_eq!(crc7(&cid[..15]), cid[15] >> 1, "{} CID", card.name);
        assert_eq!((bytes(&sd.scr).len(), bytes(&sd.ssr).len(), bytes(&sd.ocr).len()), (8, 64, 4));
        assert_eq!(capacity(&csd), card.announced_bytes, "{}", card.name);
    }
}

#[test]
fn the_express_card_says_its_limits_as_the_model_keeps_them() {
    let card = Archetype::load("lexar-1tb-express").unwrap();
    let nvme = card.identity.nvme.unwrap();
    let thermal = card.thermal.unwrap();
    assert_eq!(f64::from(nvme.tmt1_k) - 273.0, thermal.tmt1_c);
    assert_eq!(f64::from(nvme.tmt2_k) - 273.0, thermal.tmt2_c);
    assert_eq!(nvme.tnvmcap, card.announced_bytes);
}

#[test]
fn each_card_can_be_told_in_words() {
    for card in archetypes().unwrap() {
        let text = describe(&card);
        assert!(text.contains(&card.name) && text.contains("Announces"), "{text}");
        assert!(!summary(&card).contains('\n'));
    }
    let fake = describe(&Archetype::load("sandian-1tb-52g").unwrap());
    assert!(fake.contains("Fake: only 52 000 002 048 bytes"), "{fake}");
    let hybrid = describe(&Archetype::load("lexar-16g-c10").unwrap());
    assert!(hybrid.contains("5 blocks may be open in order"), "{hybrid}");
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

/// By the formulas of the specification, version 1 of the register for SDSC and version 2 above.
fn capacity(csd: &[u8]) -> u64 {
    let whole = csd[..15].iter().fold(0u128, |all, byte| all << 8 | u128::from(*byte)) << 8;
    let field = |high: u32, low: u32| (whole >> low) as u64 & ((1 << (high - low + 1)) - 1);
    if field(127, 126) == 0 {
        (field(73, 62) + 1) << (field(49, 47) + 2 + field(83, 80))
    } else {
        (field(69, 48) + 1) * 524_288
    }
}

/// By the specification's polynomial, bit by bit: independent of the decoder that reads these registers.
fn crc7(bytes: &[u8]) -> u8 {
    bytes.iter().flat_map(|b| (0..8).rev().map(move |i| b >> i & 1)).fold(0u8, |crc, bit| {
        let top = crc >> 6 & 1;
        (crc << 1 & 0x7f) ^ if top ^ bit == 1 { 0x09 } else { 0 }
    })
}
